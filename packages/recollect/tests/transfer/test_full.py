"""Our own format, which keeps everything."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from transfer_world import entity, exported

from recollect.domain.changes import Amend, NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Kind, Status
from recollect.transfer import BadLine, Dangling, ImportReport, import_file

if TYPE_CHECKING:
    from recollect.engine import Engine

pytest_plugins = ["transfer_stores"]

HEADER = '{"recollect":1}\n'
MOMENT = "2026-01-02T03:04:05.000006Z"


def load(mine: Engine, text: str, *, keep_going: bool = True) -> ImportReport:
    return import_file(mine, io.StringIO(text), keep_going=keep_going, embed=False)


def line(**fields: object) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n"


def person(id_: int, name: str, **fields: object) -> str:
    return line(record="memory", id=id_, kind="entity", created_at=MOMENT, name=name, type="person", **fields)


def note(id_: int, text: str, **fields: object) -> str:
    return line(record="memory", id=id_, kind="note", created_at=MOMENT, text=text, **fields)


def link(id_: int, source: int, target: int, type_: str = "knows", **fields: object) -> str:
    ends = {"source": source, "target": target, "type": type_, "created_at": MOMENT}
    return line(record="relation", id=id_, **ends, **fields)


def put(mine: Engine, *texts: NewText) -> None:
    mine._services.store.apply([PutText(mine.scope, text) for text in texts], at=mine._services.clock())


def a_life(mine: Engine) -> None:
    """Something of everything, in two scopes."""
    mine.create_entities(
        [
            {"name": "Ada", "type": "person", "observations": ["old", "removed", "kept"]},
            {"name": "House", "status": "paused", "importance": 0.9},
            "Gone",
        ]
    )
    mine.graph.add_observations({"Ada": [{"content": "new", "kind": "fact", "supersedes": "old"}]})
    mine.graph.delete_observations({"Ada": ["removed"]})
    mine.graph.create_relations([("House", "contains", "Ada"), ("Ada", "knew", "Gone")])
    mine.graph.create_relations([{"from": "Ada", "to": "House", "type": "likes"}])
    mine.graph.end_relation("Ada", "likes", "House")
    mine.graph.delete_entities(["Gone"])
    mine.create_entities(["Gone"])
    put(
        mine,
        NewText(Kind.NOTE, "buy milk", category="errand", source="phone", importance=0.1),
        NewText(Kind.MESSAGE, "hello", session="s", role="user", speaker="Ada"),
        NewText(Kind.MESSAGE, "hello", session="s", role="assistant"),
        NewText(Kind.MESSAGE, "ok"),
        NewText(Kind.MESSAGE, "ok"),
        NewText(Kind.NOTE, "dated", happened_at=datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)),
    )
    mine._services.store.apply(
        [Amend(mine.scope, 1, status=Status.COMPLETED, importance=1 / 3, pinned=True)],
        at=mine._services.clock(),
    )
    bob = mine.scoped("bob", "helper")
    bob.create_entities([{"name": "Ada", "observations": ["another one"]}])
    bob.forget(one.id for one in bob.graph.read_graph().entities)


def test_the_format_is_what_its_page_says(mine: Engine) -> None:
    mine.create_entities([{"name": "Ada", "type": "person", "observations": ["wrote"]}])
    mine.graph.create_relations([("Ada", "is", "Ada")])
    at_one, at_three = "2026-03-01T00:00:01.000000Z", "2026-03-01T00:00:03.000000Z"
    wrote = {"id": 1, "content": "wrote", "kind": "generic", "created_at": at_one}
    ada = {"id": 1, "kind": "entity", "created_at": at_one, "name": "Ada", "type": "person"}
    assert plain(exported(mine)) == [
        {"recollect": 1},
        {"record": "memory", **ada, "observations": [wrote]},
        {"record": "relation", "id": 1, "source": 1, "target": 1, "type": "is", "created_at": at_three},
    ]


def test_a_whole_life_goes_out_and_in_and_is_the_same(mine: Engine, other: Engine) -> None:
    a_life(mine)
    before = exported(mine)
    report = load(other, before)
    assert exported(other) == before
    assert report.lines == len(before.splitlines())
    assert (report.entities_created, report.texts_created, report.forgotten) == (5, 6, 2)
    assert (report.bad_count, report.dangling_count) == (0, 0)
    # Importing again changes nothing.
    for engine in (mine, other):
        assert not load(engine, before).changed
        assert exported(engine) == before
    # The imported memories are unaffected.
    assert [hit.memory.name for hit in other.search("kept").hits] == ["Ada"]
    assert not other.search("removed").hits
    assert other.create_entities(["Next"]).entities[0].id == 12
    other.graph.delete_entities(["Gone"])
    assert other.restore(3).name == "Gone"
    assert [(r.source_name, r.type) for r in other.graph.open_nodes(["Gone"]).relations] == [("Ada", "knew")]
    # The inverse still belongs to its relation.
    assert other.graph.delete_relations([("House", "contains", "Ada")]) == 2


def test_one_scope_can_go_out_alone(mine: Engine, other: Engine) -> None:
    a_life(mine)
    bob = mine.scoped("bob", "helper")
    load(other, exported(bob, scope_only=True))
    assert exported(other) == exported(bob, scope_only=True)
    assert other.scoped("bob", "helper").get(11) is not None
    assert [json.loads(row).get("owner") for row in exported(other).splitlines()] == [None, "bob"]


def test_ids_that_are_taken_give_way_and_relations_follow(mine: Engine) -> None:
    mine.create_entities(["Zoe", "Yan"])
    text = HEADER + person(1, "Ada") + person(2, "Bob") + link(1, 1, 2)
    report = load(mine, text)
    assert (report.entities_created, report.relations_created) == (2, 1)
    names = {one.id: one.name for one in mine.graph.read_graph().entities}
    assert names == {1: "Zoe", 2: "Yan", 3: "Ada", 4: "Bob"}
    assert [(r.source_name, r.target_name) for r in mine.graph.read_graph().relations] == [("Ada", "Bob")]
    before = exported(mine)
    assert not load(mine, text).changed
    assert exported(mine) == before


def test_a_whole_life_goes_into_a_store_that_has_its_own(mine: Engine, other: Engine) -> None:
    a_life(mine)
    other.create_entities([{"name": "Ada", "observations": ["kept", "theirs"]}, "Zoe"])
    other.graph.create_relations([("Zoe", "knows", "Ada")])

    report = load(other, exported(mine))
    before = exported(other)
    again = load(other, exported(mine))

    # Ada was there; two of her four observations that are gone came along, and so did `new`.
    assert (report.entities_created, report.entities_merged, report.observations_added) == (4, 1, 4)
    [ada] = other.graph.open_nodes(["Ada"]).entities
    assert [seen.content for seen in ada.in_force] == ["kept", "theirs", "new"]
    superseded = next(seen for seen in ada.observations if seen.content == "old")
    assert superseded.superseded_by == next(seen.id for seen in ada.observations if seen.content == "new")
    assert not again.changed
    assert exported(other) == before


def test_what_was_forgotten_since_comes_back_and_what_lives_is_not_forgotten(mine: Engine) -> None:
    mine.create_entities([{"name": "Ada", "observations": ["wrote"]}, "Bob"])
    living = exported(mine)
    mine.graph.delete_entities(["Ada"])
    without = exported(mine)
    load(mine, living)
    assert [seen.content for seen in mine.graph.open_nodes(["Ada"]).entities[0].in_force] == ["wrote"]
    assert load(mine, living).changed is False
    load(mine, without)
    assert len(mine.graph.open_nodes(["Ada"]).entities) == 1
    assert load(mine, without).changed is False


LINKED = (
    HEADER
    + note(1, "first draft", superseded_by=9, superseded_at=MOMENT)
    + person(3, "Ada")
    + note(9, "second draft")
    # The inverse before its relation, as in a store that had to give it another id.
    + link(1, 3, 3, inverse_of=7)
    + link(7, 3, 3, "known by")
)


def test_links_lead_to_where_things_are_now_and_survive_a_round_trip(mine: Engine, other: Engine) -> None:
    load(other, LINKED)
    assert exported(other) == LINKED
    mine.create_entities(["Zoe"])
    mine.graph.create_relations([("Zoe", "is", "Zoe")])
    load(mine, LINKED)
    rows = {row.get("text") or row.get("type"): row for row in plain(exported(mine))}
    assert rows["first draft"]["superseded_by"] == rows["second draft"]["id"]
    assert rows["knows"]["inverse_of"] == rows["known by"]["id"]


def plain(text: str) -> list[dict[str, Any]]:
    return [json.loads(row) for row in text.splitlines()]


def test_lines_may_stand_in_any_order_after_the_first(mine: Engine, other: Engine) -> None:
    rows = [person(n, f"p{n}") for n in range(1, 40)] + [link(n, n, 40 - n) for n in range(1, 40)]
    load(mine, HEADER + "".join(rows))
    load(other, HEADER + "".join(reversed(rows)))
    assert exported(mine) == exported(other) == HEADER + "".join(rows)


def test_a_relation_never_lands_on_a_stranger_that_has_its_id(mine: Engine) -> None:
    mine.create_entities(["Stranger", "Ada"])
    report = load(mine, HEADER + person(2, "Ada") + note(3, "x") + link(1, 2, 1) + link(2, 2, 3))
    wrong = "Relation 2 leads to memory 3, which is not an entity here."
    assert report.dangling == (
        Dangling(4, "memory 2", "knows", "memory 1", "The file has no memory 1."),
        Dangling(5, "memory 2", "knows", "memory 3", wrong),
    )
    assert mine.counts().relations == 0


def test_what_is_unknown_here_takes_the_type_that_the_export_knows(mine: Engine) -> None:
    mine.create_entities(["Ada", {"name": "Bo", "type": "ship"}, "Gone"])
    text = HEADER + person(7, "Ada") + person(8, "Bo") + person(9, "Gone", deleted_at=MOMENT)
    report = load(mine, text)
    assert (report.types_taken, report.changed) == (1, True)
    types = {one.name: one.type for one in mine.graph.read_graph().entities}
    assert types == {"Ada": "person", "Bo": "ship", "Gone": "unknown"}
    before = exported(mine)
    assert not load(mine, text).changed
    assert exported(mine) == before
    assert list(mine.upkeep.verify()) == []


def test_twins_stay_two_in_an_empty_store(mine: Engine, other: Engine) -> None:
    put(mine, *[NewText(Kind.MESSAGE, "ok")] * 3)
    load(other, exported(mine))
    assert other.counts().messages == 3
    assert not load(other, exported(mine)).changed


ANSWER: dict[str, Any] = {
    **dict.fromkeys(["id", "ordinal", "size", "before"], 1),
    **dict.fromkeys(["handle", "session", "query", "profile", "against"], ""),
    **{key: [] for key in ("shown", "ranked", "baseline")},
    "at": MOMENT,
    "arm": "ours",
    "candidates": "eJwDAAAAAAE=",
}
GRADED = {"id": 1, "memory": 5, "at": MOMENT, "kind": "said", "grade": 2}
BARE = {"id": 1, "kind": "note", "created_at": MOMENT}
BAD = {
    "no JSON": ("oops", "not JSON"),
    "no record": (line(id=1), "no `record`"),
    "another record": (line(record="mood"), "'mood'"),
    "a usage of nothing": (line(record="usage", count=1), "no `memory`"),
    "a day that is none": (line(record="usage", memory=5, days=["today"]), "`days`"),
    "a grade of 2": (line(record="answer", **ANSWER, feedback=[GRADED]), "`grade`"),
    "a journal that is none": (
        line(record="dream", id=1, at=MOMENT, through=0, phases="[]", report="{}", journal="eJwB"),
        "`journal`",
    ),
    "a setting that holds a secret": (line(record="setting", name="tokens", value="[]"), "`name`"),
    "the official format": (entity("Ada"), "no `record`"),
    "no id": (line(record="memory", kind="note", created_at=MOMENT, text="x"), "no `id`"),
    "an id of 0": (note(0, "x"), "`id`"),
    "an id that is text": (line(record="memory", **BARE | {"id": "1"}, text="x"), "`id`"),
    "an id that is true": (line(record="memory", **BARE | {"id": True}, text="x"), "`id`"),
    "an id that uses up all others": (note(2**63 - 1, "x"), "`id`"),
    "no kind": (line(record="memory", id=1, created_at=MOMENT, text="x"), "`kind`"),
    "a time without a zone": (note(1, "x", updated_at="2026-01-01T00:00:00"), "`updated_at`"),
    "a time that is none": (note(1, "x", deleted_at="yesterday"), "`deleted_at`"),
    "a time before all years": (note(1, "x", happened_at="0001-01-01T00:00:00+10:00"), "`happened_at`"),
    "no text": (line(record="memory", **BARE), "empty"),
    "a note with a name": (note(1, "x", name="Ada"), "neither a name"),
    "an entity with a text": (person(1, "Ada", text="x"), "no `text`"),
    "an entity without a name": (person(1, ""), "name is empty"),
    "an unknown key": (note(1, "x", mood="good"), "'mood'"),
    "a strength of 2": (note(1, "x", strength=2), "strength"),
    "a depth of 4": (note(1, "x", depth=4), "`depth`"),
    "a depth of 1.5": (note(1, "x", depth=1.5), "`depth`"),
    "no stability": (note(1, "x", stability=0), "`stability`"),
    "not a number": (note(1, "x", stability=float("nan")), "`stability`"),
    "an unknown status": (note(1, "x", status="bored"), "`status`"),
    "a pin that is a number": (note(1, "x", pinned=1), "`pinned`"),
    "a NUL": (note(1, "x", session="a\0b"), "NUL"),
    "a blank NUL": (note(1, "x", session=" \0"), "NUL"),
    "half a pair": (note(1, "x", speaker="HALF").replace("HALF", "\\ud800"), "surrogate"),
    "observations that are none": (person(1, "Ada", observations=["x"]), "observation"),
    "an observation without text": (person(1, "Ada", observations=[BARE]), "no `content`"),
    "a relation without a target": (
        line(record="relation", id=1, source=1, type="x"),
        "no `created_at`, `target`",
    ),
}


def test_bad_lines_are_named_and_the_rest_is_imported(mine: Engine) -> None:
    text = "".join(f"{row.strip()}\n" for row, _ in BAD.values())
    report = load(mine, HEADER + person(5, "Before") + text + person(6, "After"))
    assert (report.bad_count, report.entities_created, report.lines) == (len(BAD), 2, len(BAD) + 3)
    for number, (bad, (what, (_, reason))) in enumerate(zip(report.bad_lines, BAD.items(), strict=True), 3):
        assert (bad.line, reason in bad.reason) == (number, True), (what, bad)


def test_told_to_stop_at_a_bad_line_nothing_is_imported(mine: Engine) -> None:
    text = HEADER + person(1, "Ada") + link(1, 1, 1, mood="good")
    with pytest.raises(InvalidInput, match=r"Line 3: The relation has 'mood'.*Nothing was imported"):
        load(mine, text, keep_going=False)
    assert mine.counts().entities == 0
    assert load(mine, HEADER + person(1, "Ada"), keep_going=False).entities_created == 1


@pytest.mark.parametrize("version", [3, "1", True, None])
def test_a_newer_format_is_refused_whole(mine: Engine, version: object) -> None:
    with pytest.raises(InvalidInput, match="pip install --upgrade"):
        load(mine, line(recollect=version) + person(1, "Ada"))
    assert mine.counts().entities == 0


def test_a_format_can_be_asked_for_and_is_recognised(mine: Engine) -> None:
    with pytest.raises(InvalidInput, match="not a full export"):
        import_file(mine, io.StringIO(entity("Ada")), format="full")
    with pytest.raises(InvalidInput, match="is empty"):
        import_file(mine, io.StringIO(""), format="full")
    report = import_file(mine, io.StringIO(HEADER + person(1, "Ada")), format="official")
    assert [bad.line for bad in report.bad_lines] == [1, 2]
    assert report.bad_lines[0] == BadLine(1, "The line has no `type`; it must be entity or relation.")
    told = [load(mine, text).format for text in ("\n\n" + HEADER, "\ufeff" + HEADER, "oops\n" + HEADER)]
    assert told == ["full", "full", "official"]


def test_times_of_any_zone_are_read_and_written_in_one(mine: Engine) -> None:
    load(mine, HEADER + note(1, "x", updated_at="2026-02-01T12:00:00+05:30"))
    [row] = plain(exported(mine))[1:]
    assert row["updated_at"] == "2026-02-01T06:30:00.000000Z"
    memory = mine.get(1)
    assert memory is not None
    assert memory.updated_at - datetime(2026, 2, 1, tzinfo=UTC) == timedelta(hours=6, minutes=30)
