"""The knowledge graph through the façade: the official server's operations, and what goes beyond them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from recollect.domain.changes import NewEntity, NewObservation, NewRelation
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import FixedClock

    from recollect.domain.results import Graph
    from recollect.engine import Engine

NAIVE = datetime(2026, 3, 1)  # noqa: DTZ001  # what is tested


pytestmark = pytest.mark.usefixtures("nothing_is_out_of_step")


def plain(graph: Graph) -> dict[str, object]:
    """As the official server would answer."""
    return {
        "entities": [
            {
                "name": entity.name,
                "entityType": entity.type,
                "observations": [seen.content for seen in entity.in_force],
            }
            for entity in graph.entities
        ],
        "relations": [
            {"from": relation.source_name, "to": relation.target_name, "relationType": relation.type}
            for relation in graph.relations
        ],
    }


def names(graph: Graph) -> list[str]:
    return [entity.name for entity in graph.entities]


def triples(graph: Graph) -> list[tuple[str, str, str]]:
    return [(seen.source_name, seen.type, seen.target_name) for seen in graph.relations]


PEOPLE: dict[str, list[dict[str, Any]]] = {
    "entities": [
        {"name": "Ada", "entityType": "person", "observations": ["writes programs", "likes tea"]},
        {"name": "Bob", "entityType": "person", "observations": ["plays chess"]},
        {"name": "Paris", "entityType": "city", "observations": []},
    ],
    "relations": [
        {"from": "Ada", "to": "Bob", "relationType": "knows"},
        {"from": "Bob", "to": "Paris", "relationType": "lives_in"},
    ],
}


def ada_and_bob(engine: Engine) -> None:
    """Two people, a place, and how they hang together, in the official server's own form."""
    engine.create_entities(PEOPLE["entities"])
    engine.graph.create_relations(PEOPLE["relations"])


# The nine operations of the official server


def test_what_was_told_is_read_back_in_order_and_told_once(engine: Engine) -> None:
    ada_and_bob(engine)
    assert plain(engine.graph.read_graph()) == PEOPLE
    assert names(engine.graph.open_nodes(["Bob", "Nobody", "Ada", "Bob", "bob"])) == ["Bob", "Ada"]
    assert names(engine.graph.open_nodes([])) == []
    (row,) = engine.graph.add_observations({"Ada": ["likes tea", "has a cat", "has a cat"]}).entities
    assert (row.name, row.created, [seen.content for seen in row.added]) == ("Ada", False, ["has a cat"])
    batch = engine.graph.create_relations([("Ada", "knows", "Bob"), ("Bob", "knows", "Ada")])
    assert [(row.source, row.type, row.target, row.created) for row in batch.relations] == [
        ("Ada", "knows", "Bob", False),
        ("Bob", "knows", "Ada", True),
    ]
    assert len(engine.graph.read_graph().relations) == 3
    # The type of a relation is read alike when it is made and ended.
    engine.graph.create_relations([("Ada", " admires\u0301 ", "Bob")])
    engine.graph.end_relation(" Ada ", " admires\u0301 ", "Bob")
    assert len(engine.graph.read_graph().relations) == 3


def test_creating_tells_created_from_merged(engine: Engine) -> None:
    engine.create_entities([NewEntity("Ada", "person", (NewObservation("likes tea"),))])
    batch = engine.create_entities(
        [
            {"name": "Ada", "entityType": "robot", "observations": ["likes tea", "plays chess"]},
            "Bob",
            {"name": "Bob", "observations": ["is new too"]},
        ]
    )
    assert [(row.name, row.created, [seen.content for seen in row.added]) for row in batch.entities] == [
        ("Ada", False, ["plays chess"]),
        ("Bob", True, []),
        ("Bob", False, ["is new too"]),
    ]
    (ada,) = engine.graph.open_nodes(["Ada"]).entities
    assert (ada.type, [seen.content for seen in ada.in_force]) == ("person", ["likes tea", "plays chess"])
    # The result names the type that was kept.
    assert batch.entities[0].kept_type == "person"
    again, silent = engine.create_entities([NewEntity("Ada", "ship"), "Ada"]).entities
    assert (again.kept_type, again.changed) == ("person", False)
    assert (silent.kept_type, silent.changed) == (None, False)


def test_an_entity_that_exists_keeps_its_status(engine: Engine) -> None:
    engine.create_entities([{"name": "Ada", "status": "pausada"}])
    engine.create_entities([{"name": "Ada", "status": "archived"}])
    assert engine.graph.open_nodes(["Ada"]).entities[0].status is Status.PAUSED
    assert engine.graph.set_status("ada", "COMPLETADO") is Status.COMPLETED
    assert engine.graph.open_nodes(["Ada"]).entities[0].status is Status.COMPLETED
    with pytest.raises(NotFound, match="Nobody"):
        engine.graph.set_status("Nobody", "paused")
    with pytest.raises(InvalidInput, match="sleepy"):
        engine.graph.set_status("Ada", "sleepy")
    assert engine.graph.set_status("  Ada ", "paused") is Status.PAUSED


def test_a_deleted_entity_takes_its_relations_and_comes_back_whole(engine: Engine, clock: FixedClock) -> None:
    ada_and_bob(engine)
    clock.tick()
    (bob,) = engine.graph.delete_entities(["Bob", "Nobody", "Bob"])
    assert names(engine.graph.read_graph()) == ["Ada", "Paris"]
    assert triples(engine.graph.read_graph()) == []
    assert engine.graph.delete_entities(["Bob"]) == ()
    clock.tick()
    assert engine.restore(bob).name == "Bob"
    assert plain(engine.graph.read_graph()) == PEOPLE
    assert names(engine.graph.search_nodes("chess")) == ["Bob"]
    # A name that is created again is a new entity, and the old one cannot be restored.
    engine.graph.delete_entities(["Bob"])
    engine.create_entities(["Bob"])
    assert engine.graph.open_nodes(["Bob"]).entities[0].observations == ()
    with pytest.raises(Conflict, match="Bob"):
        engine.restore(bob)


def test_deleting_is_by_exact_text_and_silent_on_the_absent(engine: Engine) -> None:
    ada_and_bob(engine)
    assert engine.graph.delete_observations({"Ada": ["likes tea", "LIKES TEA"], "Nobody": ["x"]}) == 1
    (ada,) = engine.graph.open_nodes(["Ada"]).entities
    assert [seen.content for seen in ada.in_force] == ["writes programs"]
    gone = [("Ada", "knows", "Bob"), ("Ada", "hates", "Bob"), ("X", "y", "Z")]
    assert engine.graph.delete_relations(gone) == 1
    assert triples(engine.graph.read_graph()) == [("Bob", "lives_in", "Paris")]


def test_search_finds_names_types_and_observations_in_any_case(engine: Engine) -> None:
    ada_and_bob(engine)
    for query, expected in {
        "Ada": ["Ada"],
        "ada": ["Ada"],
        "person": ["Ada", "Bob"],
        "chess": ["Bob"],
        "hess": ["Bob"],  # inside a word, as the official server finds it
        "plays chess": ["Bob"],
        "rogram": ["Ada"],
        **{absent: [] for absent in ("nothing of this", "%", "_", "\0", "\ud800")},
    }.items():
        assert sorted(names(engine.graph.search_nodes(query))) == expected, ascii(query)
    engine.create_entities(["Árboles y ñandúes"])
    for query in ("ÁRBOL", "árbol", "Árbol", "arboles", "RBOLE", "ñandú", "ÑAND"):
        assert names(engine.graph.search_nodes(query)) == ["Árboles y ñandúes"], query


def test_search_and_open_show_relations_that_touch_what_they_found(engine: Engine) -> None:
    ada_and_bob(engine)
    both = [("Ada", "knows", "Bob"), ("Bob", "lives_in", "Paris")]
    assert triples(engine.graph.search_nodes("chess")) == both
    assert triples(engine.graph.open_nodes(["Bob"])) == both
    assert triples(engine.graph.open_nodes(["Paris"])) == both[1:]


def test_a_search_gives_at_most_what_is_asked_for(engine: Engine) -> None:
    engine.create_entities([{"name": f"e{number}", "observations": ["tea"]} for number in range(5)])
    first = engine.graph.search_nodes("tea", limit=2)
    assert (names(first), first.cursor) == (["e0", "e1"], 2)
    last = engine.graph.search_nodes("tea", limit=3, after=2)
    assert (names(last), last.cursor) == (["e2", "e3", "e4"], None)
    for wrong in (-1, 0, 100_000):
        with pytest.raises(InvalidInput):
            engine.graph.search_nodes("tea", limit=wrong)


def test_the_graph_is_read_in_pages(engine: Engine) -> None:
    engine.create_entities([f"e{number}" for number in range(5)])
    engine.graph.create_relations([("e0", "next", "e4")])
    seen: list[str] = []
    links: set[tuple[str, str, str]] = set()
    cursor: int | None = 0
    pages = 0
    while cursor is not None:
        page = engine.graph.read_graph(limit=2, after=cursor)
        seen += names(page)
        links |= set(triples(page))
        cursor = page.cursor
        pages += 1
    assert (seen, links, pages) == ([f"e{number}" for number in range(5)], {("e0", "next", "e4")}, 3)
    assert engine.graph.read_graph(limit=5).cursor is None
    for wrong in (0, -1, 1_001):
        with pytest.raises(InvalidInput):
            engine.graph.read_graph(limit=wrong)


# Beyond the official server


def test_a_correction_wins_and_the_old_stays(engine: Engine, clock: FixedClock) -> None:
    engine.create_entities([{"name": "Ada", "observations": ["lives in Paris"]}])
    clock.tick()
    engine.graph.add_observations(
        {"Ada": [{"content": "lives in Rome", "kind": "state", "supersedes": "lives in Paris"}]}
    )
    (ada,) = engine.graph.read_graph().entities
    assert [seen.content for seen in ada.in_force] == ["lives in Rome"]
    assert ada.observations[0].superseded_at == clock.now
    assert names(engine.graph.search_nodes("Paris")) == []
    assert names(engine.graph.search_nodes("Rome")) == ["Ada"]


def test_a_relation_has_context_and_a_span_and_ends_by_names(engine: Engine, clock: FixedClock) -> None:
    ada_and_bob(engine)
    since = clock.now - timedelta(days=9)
    engine.graph.create_relations([NewRelation("Ada", "Paris", "lives_in", "for work", since=since)])
    (seen,) = engine.graph.open_nodes(["Ada", "Paris"]).relations[-1:]
    assert (seen.context, seen.since, seen.until) == ("for work", since, None)
    engine.graph.end_relation("ada", "lives_in", "PARIS")
    assert ("Ada", "lives_in", "Paris") not in triples(engine.graph.read_graph())
    with pytest.raises(NotFound, match="Ada"):
        engine.graph.end_relation("Ada", "lives_in", "Paris")


def test_a_relation_holds_until_its_end_has_come(engine: Engine, clock: FixedClock) -> None:
    ada_and_bob(engine)
    engine.graph.delete_relations([("Ada", "knows", "Bob"), ("Bob", "lives_in", "Paris")])
    until = clock.now + timedelta(days=1)
    engine.graph.create_relations([NewRelation("Ada", "Paris", "visits", until=until)])
    for seen in ([("Ada", "visits", "Paris")], []):
        graph = engine.graph
        for found in (graph.read_graph(), graph.open_nodes(["Ada"]), graph.search_nodes("Paris")):
            assert triples(found) == seen
        clock.tick(86_400)


def test_declared_pairs_go_both_ways(engine: Engine) -> None:
    engine.create_entities(["House", "Room"])
    (row,) = engine.graph.create_relations([("House", "contains", "Room")]).relations
    assert row.inverse
    assert triples(engine.graph.read_graph()) == [("House", "contains", "Room"), ("Room", "part_of", "House")]
    engine.graph.delete_relations([("Room", "part_of", "House")])
    assert triples(engine.graph.read_graph()) == []


def test_create_missing_makes_entities_that_can_be_found(engine: Engine) -> None:
    batch = engine.graph.create_relations([("Ada", "knows", "Bob")], create_missing=True)
    assert batch.relations[0].also_created == ("Ada", "Bob")
    made = engine.graph.read_graph().entities
    assert [(entity.name, entity.type) for entity in made] == [("Ada", "unknown"), ("Bob", "unknown")]
    assert engine.counts().due == 0


def test_what_a_relation_named_gets_its_type_when_someone_knows_it(engine: Engine) -> None:
    engine.graph.create_relations([("Zed", "works_at", "Acme")], create_missing=True)
    acme, zed = engine.create_entities(
        [
            {"name": "Acme", "entityType": "company", "observations": ["makes anvils"]},
            {"name": "Zed", "entityType": "person", "observations": []},
        ]
    ).entities
    assert (acme.took_type, acme.changed, zed.took_type, zed.changed) == ("company", True, "person", True)
    known = engine.graph.read_graph().entities
    assert [(entity.name, entity.type) for entity in known] == [("Zed", "person"), ("Acme", "company")]
    # The history shows the type from the start.
    assert engine.history(acme.id).events[0].detail == "Acme (company)"
    assert names(engine.graph.search_nodes("company")) == ["Acme"]
    assert names(engine.graph.search_nodes("unknown")) == []
    assert engine.counts().due == 0
    assert engine.search("Acme (company)").hits[0].places["meaning"].score == pytest.approx(1)


def test_scopes_do_not_meet(engine: Engine) -> None:
    other = engine.scoped("other", "agent")
    engine.create_entities([{"name": "Ada", "observations": ["mine"]}])
    other.create_entities([{"name": "Ada", "observations": ["theirs"]}])
    (mine,), (theirs,) = engine.graph.read_graph().entities, other.graph.read_graph().entities
    assert [entity.in_force[0].content for entity in (mine, theirs)] == ["mine", "theirs"]
    assert engine.get(theirs.id) is None
    assert engine.forget([theirs.id]) == ()
    assert names(engine.graph.search_nodes("theirs")) == []
    assert [hit.memory.id for hit in other.search("mine theirs").hits] == [theirs.id]


def test_the_same_key_is_answered_and_not_repeated(engine: Engine) -> None:
    first = engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}], key="k")
    engine.graph.delete_entities(["Ada"])
    again = engine.create_entities([{"name": "Ada", "observations": ["likes tea"]}], key="k")
    assert again.entities == first.entities
    assert names(engine.graph.read_graph()) == []
    with pytest.raises(Conflict):
        engine.create_entities(["Bob"], key="k")


def test_removed_observations_come_back_and_purged_ones_do_not(engine: Engine, clock: FixedClock) -> None:
    (row,) = engine.create_entities([{"name": "Ada", "observations": ["tea", "chess"]}]).entities
    engine.graph.delete_observations({"Ada": ["tea", "chess"]})
    engine.graph.restore_observation(row.added[0].id)
    clock.tick()
    assert engine.purge(clock.now) == 0
    with pytest.raises(NotFound):
        engine.graph.restore_observation(row.added[1].id)
    assert [seen.content for seen in engine.graph.open_nodes(["Ada"]).entities[0].observations] == ["tea"]


# Bad input: each with its error, and nothing lost

BAD_ENTITIES: list[tuple[Any, str]] = [
    ({"name": ""}, "name is empty"),
    ({"name": " \t\n"}, "name is empty"),
    ({"name": "\u200b"}, "name is empty"),
    ({}, "name is empty"),
    ({"name": "a\0b"}, "NUL"),
    ({"name": "a\ud800"}, "surrogate"),
    ({"name": 5}, "int"),
    ({"name": None}, "NoneType"),
    ({"name": "x" * 1_001}, "1,000"),
    ({"name": "Ada", "entityType": ""}, "type is empty"),
    ({"name": "Ada", "entityType": 7}, "int"),
    ({"name": "Ada", "observations": None}, "list"),
    ({"name": "Ada", "observations": [""]}, "observation is empty"),
    ({"name": "Ada", "observations": ["a\0b"]}, "NUL"),
    ({"name": "Ada", "observations": ["\udc00"]}, "surrogate"),
    ({"name": "Ada", "observations": [5]}, "int"),
    ({"name": "Ada", "observations": ["x" * 10_000_000]}, "10,000,000"),
    ({"name": "Ada", "observations": [{"kind": "fact"}]}, "observation is empty"),
    ({"name": "Ada", "observations": [{"content": "x", "colour": "red"}]}, "colour"),
    ({"name": "Ada", "observations": [{"content": "x", "happened_at": NAIVE}]}, "zone"),
    ({"name": "Ada", "observations": [{"content": "x", "happened_at": "yesterday"}]}, "datetime"),
    ({"name": "Ada", "observations": [{"content": "x", "supersedes": 1.5}]}, "supersedes"),
    ({"name": "Ada", "observations": [{"content": "x", "supersedes": True}]}, "supersedes"),
    ({"name": "Ada", "observations": [{"content": "x", "kind": " "}]}, "kind of the observation"),
    ({"name": "Ada", "status": "sleepy"}, "sleepy"),
    ({"name": "Ada", "status": 5}, "status"),
    ({"name": "Ada", "importance": 1.5}, "0 to 1"),
    ({"name": "Ada", "importance": "high"}, "0 to 1"),
    ({"name": "Ada", "nickname": "A"}, "nickname"),
    (5, "int"),
    (None, "NoneType"),
    (("Ada", "person"), "tuple"),
]


def test_a_bad_entity_stops_the_batch_by_its_row_or_is_left_out(
    engine: Engine, subtests: pytest.Subtests
) -> None:
    for number, (bad, why) in enumerate(BAD_ENTITIES):
        with subtests.test(number=number, why=why):
            own = engine.scoped(f"row {number}")
            with pytest.raises(InvalidInput, match=why) as caught:
                own.create_entities(["Bob", bad, "Carol"])
            assert "Row 1" in str(caught.value)
            assert str(caught.value).endswith(".")
            assert len(str(caught.value)) < 1_000
            assert names(own.graph.read_graph()) == []
            batch = own.create_entities(["Bob", bad, "Carol"], keep_going=True)
            assert [(row.index, why in row.reason) for row in batch.rejected] == [(1, True)]
            assert [row.name for row in batch.entities] == names(own.graph.read_graph()) == ["Bob", "Carol"]


BAD_RELATIONS: list[tuple[Any, str]] = [
    (("Ada", "knows", ""), "target of the relation is empty"),
    (("", "knows", "Ada"), "source of the relation is empty"),
    (("Ada", "", "Ada"), "type of the relation is empty"),
    (("Ada", "knows"), "2 parts"),
    (("Ada", 5, "Ada"), "int"),
    ({"from": "Ada", "to": "Ada"}, "type of the relation is empty"),
    ({"from": "Ada", "to": "Ada", "relationType": "is", "weight": 2}, "A relation has no 'weight'"),
    (NewRelation("Ada", "Ada", "is", since=NAIVE), "zone"),
    (NewRelation("Ada", "Ada", "is", context="\0"), "NUL"),
    ("Ada knows Ada", "str"),
    (None, "NoneType"),
]


def test_a_bad_relation_stops_the_batch_or_is_left_out(engine: Engine, subtests: pytest.Subtests) -> None:
    good = ("Ada", "likes", "Ada")
    for number, (bad, why) in enumerate(BAD_RELATIONS):
        with subtests.test(number=number, why=why):
            own = engine.scoped(f"row {number}")
            own.create_entities(["Ada"])
            with pytest.raises(InvalidInput, match=why) as caught:
                own.graph.create_relations([good, bad])
            assert "Row 1" in str(caught.value)
            assert triples(own.graph.read_graph()) == []
            batch = own.graph.create_relations([bad, good], keep_going=True)
            assert [(row.index, why in row.reason) for row in batch.rejected] == [(0, True)]
            assert triples(own.graph.read_graph()) == [good]


def test_a_relation_to_a_missing_entity_is_an_error_that_names_it(engine: Engine) -> None:
    engine.create_entities(["Ada"])
    rows = [("Ada", "likes", "Ada"), ("Ada", "knows", "Bob")]
    with pytest.raises(NotFound, match=r"Row 1.*'Bob'"):
        engine.graph.create_relations(rows)
    assert triples(engine.graph.read_graph()) == []
    batch = engine.graph.create_relations(rows, keep_going=True)
    assert [row.index for row in batch.rejected] == [1]
    assert triples(engine.graph.read_graph()) == rows[:1]


def test_a_batch_that_the_store_refuses_names_the_row_of_the_caller(engine: Engine) -> None:
    """Rows that were left out before must not shift the count."""
    engine.create_entities(["Ada"])
    additions = {"": ["x"], "Ada": ["likes tea"], "Nobody": ["x"]}
    batch = engine.graph.add_observations(additions, keep_going=True)
    assert [row.index for row in batch.rejected] == [0, 2]
    assert [row.name for row in batch.entities] == ["Ada"]
    with pytest.raises(NotFound, match=r"Row 1.*Nobody"):
        engine.graph.add_observations({"Ada": ["plays chess"], "Nobody": ["x"]})
    assert names(engine.graph.search_nodes("chess")) == []


def test_names_are_one_by_unicode_form_and_outer_space_and_two_by_case_or_accent(engine: Engine) -> None:
    batch = engine.create_entities(["Café", "  Cafe\u0301 ", "café", "Cafe", "ＣＡＦＥ"])
    assert [row.created for row in batch.entities] == [True, False, True, True, True]
    assert names(engine.graph.open_nodes(["Cafe\u0301"])) == ["Café"]
    # four differ only in case, accents and width, so none of them is meant by a fifth
    assert names(engine.graph.open_nodes(["CAFÉ"])) == []
    with pytest.raises(NotFound, match="'Café' or 'café'"):
        engine.graph.add_observations({"CAFÉ": ["x"]})
    with pytest.raises(NotFound, match="CAFÉ"):
        engine.graph.set_status("CAFÉ", "paused")


def test_one_row_in_the_place_of_a_list_is_refused_not_spelled_out(engine: Engine) -> None:
    """Text is a sequence of letters, and a mapping one of keys: taken as lists, they would make a mess."""
    engine.create_entities(["A", "name", "Ada"])
    before = plain(engine.graph.read_graph())
    graph, relation = engine.graph, {"from": "A", "to": "Ada", "relationType": "knows"}
    refused: list[tuple[Callable[[Any], object], tuple[Any, ...]]] = [
        (engine.create_entities, ("Ada", {"name": "Eve"}, NewEntity("Eve"), 5, None)),
        (graph.create_relations, ("Ada", relation, None)),
        (graph.delete_relations, ("Ada", relation, None)),
        (graph.delete_entities, (5, None)),
        (graph.open_nodes, (5, None)),
        (graph.delete_observations, ({"Ada": None}, ["Ada"], "Ada", None)),
        (graph.add_observations, ({"Ada": None}, ["Ada"], "Ada", None)),
    ]
    for call, wrong in refused:
        for each in wrong:
            with pytest.raises(InvalidInput, match="list"):
                call(each)
    assert plain(engine.graph.read_graph()) == before


def test_times_without_a_zone_are_refused(engine: Engine) -> None:
    ada_and_bob(engine)
    with pytest.raises(InvalidInput, match="zone"):
        engine.graph.end_relation("Ada", "knows", "Bob", at=NAIVE)
    with pytest.raises(InvalidInput, match="zone"):
        engine.purge(NAIVE)
    beyond = datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=2)))
    with pytest.raises(InvalidInput):
        engine.create_entities([{"name": "Eve", "observations": [{"content": "x", "happened_at": beyond}]}])
    assert len(engine.graph.read_graph().relations) == 2


def test_a_long_observation_within_the_limit_is_kept_whole_and_found_by_its_end(engine: Engine) -> None:
    text = "filler " * 100_000 + "needle"
    engine.create_entities([{"name": "Ada", "observations": [text]}])
    assert engine.graph.open_nodes(["Ada"]).entities[0].in_force[0].content == text
    assert names(engine.graph.search_nodes("needle")) == ["Ada"]
