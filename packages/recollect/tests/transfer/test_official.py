"""The official server's format, in and out."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest
from transfer_world import entity, exported, relation

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import NAME_LIMIT, TEXT_LIMIT
from recollect.domain.records import Kind
from recollect.transfer import BadLine, ImportReport, export_file, import_file
from recollect.transfer.moved_rows import importing
from recollect.transfer.reports import SHOWN

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.engine import Engine


pytest_plugins = ["transfer_stores"]


def load(mine: Engine, text: str, *, keep_going: bool = True) -> ImportReport:
    return import_file(mine, io.StringIO(text), keep_going=keep_going)


def test_entities_come_with_their_observations_and_relations(mine: Engine) -> None:
    report = load(mine, entity("Ada", "wrote", "counted") + entity("Bob") + relation("Ada", "knew", "Bob"))
    # Embedded: two names, two observations.
    created: dict[str, Any] = {
        "entities_created": 2,
        "observations_added": 2,
        "relations_created": 1,
        "embedded": 4,
    }
    assert report == ImportReport("official", lines=3, **created)
    graph = mine.graph.read_graph()
    known = {one.name: [seen.content for seen in one.in_force] for one in graph.entities}
    assert known == {"Ada": ["wrote", "counted"], "Bob": []}
    assert [(r.source_name, r.type, r.target_name) for r in graph.relations] == [("Ada", "knew", "Bob")]
    assert set(mine.search("counted").hits[0].places) == {"words", "meaning"}


def test_what_only_relations_name_is_created_and_reported(mine: Engine) -> None:
    relations = relation("Ada", "sees", "Ghost") + relation("Phantom", "sees", "Ada")
    report = load(mine, relations + entity("Ada"))
    also: dict[str, Any] = {"also_created": ("Ghost", "Phantom"), "also_created_count": 2, "embedded": 3}
    assert report == ImportReport("official", lines=3, entities_created=1, relations_created=2, **also)
    unknown = entity("Ghost", type_="unknown") + entity("Phantom", type_="unknown")
    assert exported(mine, "official") == entity("Ada") + unknown + relations


def test_an_end_that_stands_later_in_the_file_has_its_type_from_there(mine: Engine) -> None:
    # More lines than one write takes, so that the end is far behind the relation.
    text = relation("Ada", "knew", "Last") + "".join(entity(f"e{n}") for n in range(1_500)) + entity("Last")
    report = load(mine, text)
    assert report.also_created == ("Ada",)
    types = {one.name: one.type for one in mine.graph.open_nodes(["Ada", "Last"]).entities}
    assert types == {"Ada": "unknown", "Last": "thing"}


def test_an_end_that_was_missing_gets_its_type_from_a_later_file(mine: Engine) -> None:
    load(mine, entity("Ada") + relation("Ada", "sees", "Ghost"))
    # A relation may lead to what the store had before.
    assert load(mine, relation("Ada", "hears", "Ghost")).also_created == ()
    report = load(mine, entity("Ghost", type_="spirit"))
    assert (report.entities_merged, report.types_taken, report.types_kept, report.changed) == (1, 1, 0, True)
    assert mine.graph.open_nodes(["Ghost"]).entities[0].type == "spirit"
    assert mine.counts().due == 0
    assert list(mine.upkeep.verify()) == []


def test_a_thousand_missing_ends_or_bad_lines_are_counted_and_the_first_are_named(mine: Engine) -> None:
    report = load(mine, "oops\n" * 1_000)
    assert (report.bad_count, len(report.bad_lines), report.bad_lines[-1].line) == (1_000, SHOWN, SHOWN)
    report = load(mine, entity("a") + "".join(relation("a", "to", f"b{n}") for n in range(1_500)))
    assert (report.also_created_count, len(report.also_created)) == (1_500, SHOWN)
    assert report.also_created[-1] == f"b{SHOWN - 1}"


def test_lines_of_the_same_name_are_one_entity(mine: Engine) -> None:
    report = load(mine, entity("Ada", "one", type_="person") + entity("Ada", "two", "one", type_="ship"))
    assert (report.entities_created, report.entities_merged, report.observations_added) == (1, 1, 2)
    assert report.types_kept == 1
    assert (mine.graph.read_graph().entities[0].type, exported(mine, "official")) == (
        "person",
        entity("Ada", "one", "two", type_="person"),
    )


def test_names_that_differ_by_case_are_two_entities_and_in_two_unicode_forms_one(mine: Engine) -> None:
    text = entity("Ada", "upper") + entity("ada", "lower") + relation("Ada", "is not", "ada")
    assert load(mine, text).entities_created == 2
    assert exported(mine, "official") == text
    hers = mine.scoped("bob")
    load(hers, entity("Café") + entity("Cafe\u0301", "open") + relation("Cafe\u0301", "is", " Café "))
    assert exported(hers, "official") == entity("Café", "open") + relation("Café", "is", "Café")


def test_any_script_goes_in_and_out_unchanged(mine: Engine) -> None:
    text = (
        entity("東京タワー", "東京にある", "高さは333メートル", type_="場所")
        + entity("🐞 bug", 'was a moth 🦋\u2028\u0085 \\ " \t end', type_="událost")
        + entity("مرحبا", "שלום", type_="ελληνικά")
        + relation("東京タワー", "関係", "🐞 bug")
    )
    load(mine, text)
    assert exported(mine, "official") == text


def test_importing_again_changes_not_even_a_time(mine: Engine) -> None:
    text = entity("Ada", "one", "two") + entity("Ada", "three") + entity("House") + entity("ADA")
    text += relation("House", "contains", "Ada") + relation("Ada", "part_of", "House")
    text += relation("Ada", "sees", "Ghost") + relation("ghost", "sees", "ada")
    load(mine, text)
    before = exported(mine)
    report = load(mine, text)
    assert exported(mine) == before
    assert not report.changed
    assert (report.entities_merged, report.relations_known, report.also_created_count) == (4, 4, 0)


def test_an_empty_type_is_unknown_and_left_to_another_line(mine: Engine) -> None:
    # A key that the official server does not know is passed over.
    report = load(mine, '{"type":"entity","name":"Ada","version":7}\n' + entity("Bob", type_=" "))
    assert report.bad_count == 0
    assert {one.type for one in mine.graph.read_graph().entities} == {"unknown"}
    load(mine, entity("Ada", "one", type_="person"))
    assert exported(mine, "official").startswith(entity("Ada", "one", type_="person"))


def test_a_file_that_was_imported_is_remembered_and_a_stream_or_a_useless_file_is_not(
    mine: Engine, tmp_path: Path
) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text(entity("Ada"), encoding="utf-8")
    bad.write_text("oops\n", encoding="utf-8")
    for source in (str(good), bad, io.StringIO(entity("Bob"))):
        import_file(mine, source)
    assert [importing(mine).was_recorded(file) for file in (good, bad)] == [True, False]
    assert importing(mine).was_recorded(tmp_path / "other" / ".." / "good.jsonl")
    assert not importing(mine.scoped("bob")).was_recorded(good)


BAD = {
    "no JSON": ("{oops", "not JSON"),
    "half a line": ('{"type":"entity","name":"A', "not JSON"),
    "a list": ("[1, 2]", "a list"),
    "null": ("null", "null"),
    "no type": ('{"name":"A"}', "no `type`"),
    "an unknown type": ('{"type":"dream","name":"A"}', "'dream'"),
    "a type that is no text": ('{"type":{},"name":"A"}', "entity or relation"),
    "no name": ('{"type":"entity","entityType":"x","observations":[]}', "no `name`"),
    "an empty name": (entity("").strip(), "`name` is empty"),
    "a blank name": (entity(" \t ").strip(), "`name` is empty"),
    "a name that is a number": ('{"type":"entity","name":7,"entityType":"x","observations":[]}', "int"),
    "a long name": (entity("x" * (NAME_LIMIT + 1)).strip(), "1,001 characters"),
    "a NUL": ('{"type":"entity","name":"a\\u0000b","entityType":"x","observations":[]}', "NUL"),
    "half a pair": ('{"type":"entity","name":"\\ud800","entityType":"x","observations":[]}', "surrogate"),
    "an entity type that is null": ('{"type":"entity","name":"a","entityType":null}', "`entityType`"),
    "observations that are text": ('{"type":"entity","name":"a","observations":"x"}', "must be a list"),
    "no end": ('{"type":"relation","from":"a","relationType":"x"}', "no `to`"),
    "an empty relation type": ('{"type":"relation","from":"a","to":"b","relationType":""}', "is empty"),
    "brackets without end": ("[" * 100_000, "JSON"),
    "an endless number": ('{"type":"entity","name":' + "9" * 10_000 + "}", ""),
    "not a number": ("NaN", "a number"),
}


def test_bad_lines_are_named_and_the_rest_is_imported(mine: Engine) -> None:
    text = "".join(f"{line}\n" for line, _ in BAD.values())
    report = load(mine, entity("Before") + text + entity("After"))
    assert (report.bad_count, report.entities_created, report.lines) == (len(BAD), 2, len(BAD) + 2)
    for number, (bad, (what, (_, reason))) in enumerate(zip(report.bad_lines, BAD.items(), strict=True), 2):
        assert (bad.line, reason in bad.reason) == (number, True), (what, bad)


def test_told_to_stop_at_a_bad_line_nothing_is_imported(mine: Engine) -> None:
    text = "".join(entity(f"e{n}") for n in range(1_500)) + "\n{oops"
    with pytest.raises(InvalidInput, match=r"Line 1502: .*not JSON.*Nothing was imported"):
        load(mine, text, keep_going=False)
    assert mine.counts().entities == 0


def test_a_line_that_is_not_utf8_or_holds_half_a_surrogate_pair_is_named(mine: Engine) -> None:
    content = entity("Before").encode() + b'{"name":"\xff"}\n' + entity("After").encode()
    report = import_file(mine, io.BytesIO(content))
    assert report.entities_created == 2
    assert report.bad_lines == (BadLine(2, "The line is not UTF-8 text: byte 10 is wrong."),)
    assert load(mine, entity("\ud800") + entity("After")).bad_lines[0].line == 1


def test_a_bad_observation_is_left_out_and_its_entity_is_not(mine: Engine) -> None:
    wrong: list[object] = ["", "  ", 7, None, ["x"], "a\0b", "\ud834", "x" * (TEXT_LIMIT + 1)]
    lines = [
        json.dumps({"type": "entity", "name": f"Ada {n}", "observations": ["good", each, "fine"]})
        for n, each in enumerate(wrong)
    ]
    link = relation("Ada 0", "is", "Ada 1")
    report = load(mine, "\n".join(lines) + "\n" + link)
    kept = "".join(entity(f"Ada {n}", "good", "fine", type_="unknown") for n in range(len(wrong)))
    assert exported(mine, "official") == kept + link
    assert [bad.line for bad in report.bad_lines] == list(range(1, len(wrong) + 1))
    assert all("observation 2" in bad.reason for bad in report.bad_lines)
    with pytest.raises(InvalidInput, match="Line 1: "):
        load(mine, lines[0], keep_going=False)


def test_a_declared_inverse_goes_out_too_and_only_what_holds_now(mine: Engine) -> None:
    text = entity("House") + entity("Room") + relation("House", "contains", "Room")
    bob = mine.scoped("bob")
    load(bob, text)
    assert exported(bob, "official") == text + relation("Room", "part_of", "House")
    mine.create_entities([{"name": "Ada", "observations": ["old", "removed"]}, "Gone", "Here"])
    mine.graph.add_observations({"Ada": [{"content": "new", "supersedes": "old"}]})
    mine.graph.delete_observations({"Ada": ["removed"]})
    mine.graph.create_relations([("Ada", "knew", "Gone"), ("Ada", "knows", "Here"), ("Ada", "met", "Here")])
    mine.graph.end_relation("Ada", "knows", "Here")
    mine.graph.delete_entities(["Gone"])
    entities = entity("Ada", "new", type_="unknown") + entity("Here", type_="unknown")
    assert exported(mine, "official") == entities + relation("Ada", "met", "Here")


def test_things_go_out_in_the_order_in_which_they_came(mine: Engine) -> None:
    names = [f"e{n * 7919 % 1_301}" for n in range(1_301)]
    text = "".join(entity(name, f"about {name}") for name in names)
    text += "".join(relation(names[-1 - n], "to", names[n * 31 % 1_301]) for n in range(1_200))
    load(mine, text)
    assert exported(mine, "official") == text


def test_each_scope_has_its_own_graph(mine: Engine) -> None:
    bob = mine.scoped("bob")
    load(mine, entity("Ada", "mine"))
    his = entity("Ada", "his") + entity("Bob") + relation("Ada", "knew", "Bob")
    load(bob, his)
    assert exported(mine, "official") == entity("Ada", "mine")
    assert exported(bob, "official") == his


def test_an_export_says_what_it_has_no_place_for(mine: Engine) -> None:
    assert "Notes" not in exported(mine, "official")
    change = PutText(mine.scope, NewText(Kind.NOTE, "buy milk"))
    mine._services.store.apply([change], at=mine._services.clock())
    report = export_file(mine, io.StringIO(), format="official")
    assert report.note is not None
    assert "Left out: notes, messages, times" in report.note
