"""Splitting an entity that has grown too large: by topics, all or nothing, and back again."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import pytest
from overgrown import APOLLO, DATABASE, LOGIN, TEAM

from recollect.domain.changes import NewObservation
from recollect.domain.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.domain.tables import TABLES
from recollect.models.embedders import embedder_named
from recollect.models.registry import availability
from recollect.review.results import SplitPart
from recollect.review.split import limit_for

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from conftest import FixedClock, MakeEngine

    from recollect.domain.records import Memory
    from recollect.domain.tables import Table
    from recollect.engine import Engine
    from recollect.review.results import SplitAnalysis, SplitResult

ARCTIC = availability("arctic-memory")
# A model is loaded once for all tests.
loaded = lru_cache(embedder_named)
every_model = pytest.mark.parametrize(
    "model",
    [
        "none",
        "hashing",
        pytest.param("arctic-memory", marks=pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)),
    ],
)


def part(name: str, observations: Any) -> dict[str, Any]:
    return {"name": name, "observations": observations}


HALVES = [part("Apollo - Login", LOGIN), part("Apollo - Database", DATABASE) | {"entity_type": "component"}]


@pytest.fixture(autouse=True)
def nothing_is_out_of_step(engine: Engine) -> Iterator[None]:
    yield
    assert list(engine.upkeep.verify()) == []


def apollo(engine: Engine) -> None:
    engine.create_entities([{"name": "Apollo", "type": "project", "observations": APOLLO}])


def opened(engine: Engine, name: str) -> Memory:
    (entity,) = engine.graph.open_nodes([name], record=False).entities
    return entity


def contents(entity: Memory) -> list[str]:
    return [seen.content for seen in entity.in_force]


def links(engine: Engine) -> set[tuple[str, str, str]]:
    return {(each.source_name, each.type, each.target_name) for each in engine.graph.read_graph().relations}


def topic_groups(analysis: SplitAnalysis) -> set[frozenset[str]]:
    return {frozenset(seen.content for seen in topic.observations) for topic in analysis.topics}


def test_the_limit_is_by_type() -> None:
    limits = {"project": 25, "Proyecto": 25, "session": 15, "Sesión": 15, "person": 20, "unknown": 20}
    assert {type_: limit_for(type_) for type_ in limits} == limits


@pytest.mark.skipif(not ARCTIC.ready, reason=ARCTIC.reason)
def test_topics_are_found_by_meaning(make_engine: MakeEngine) -> None:
    engine = make_engine(loaded, "arctic-memory")
    apollo(engine)
    found = engine.upkeep.propose_split("apollo").analysis
    assert topic_groups(found) == {frozenset(LOGIN), frozenset(DATABASE), frozenset(TEAM)}
    assert [topic.name for topic in found.topics] == ["Login User", "Database Table", "Team Lisbon"]
    assert (found.observations, found.limit, found.needs_split, found.rest) == (27, 25, True, ())
    # 27/25 + 3/27
    assert found.score == pytest.approx(1.08 + 1 / 9)
    assert (found.compared_by, found.silhouette > 0.1) == ("meaning", True)


@every_model
def test_topics_keep_every_observation_once_whatever_compares_them(
    make_engine: MakeEngine, model: str
) -> None:
    engine = make_engine(loaded, model)
    apollo(engine)
    found = engine.upkeep.propose_split("Apollo").analysis
    placed = [seen.content for topic in found.topics for seen in topic.observations]
    assert sorted([*placed, *(seen.content for seen in found.rest)]) == sorted(APOLLO)
    assert len(found.topics) > 1
    assert all(len(topic.observations) >= 3 for topic in found.topics)
    assert len({topic.name for topic in found.topics}) == len(found.topics)
    assert engine.upkeep.propose_split("Apollo").analysis == found
    assert found.compared_by == ("words" if model == "none" else "meaning")


def test_vectors_that_wait_are_made_on_the_way_and_not_kept(make_engine: MakeEngine) -> None:
    apollo(make_engine(model="none"))
    engine = make_engine()
    before = engine.counts()
    assert engine.upkeep.propose_split("Apollo").analysis.compared_by == "meaning"
    assert engine.counts() == before


def test_what_is_small_does_not_fall_apart_and_topics_alone_need_no_split(engine: Engine) -> None:
    for name, observations in {"Ada": [], "Bob": ["one"], "Cy": ["one", "two"]}.items():
        engine.create_entities([{"name": name, "observations": observations}])
        proposal = engine.upkeep.propose_split(name)
        found = proposal.analysis
        assert (found.topics, found.needs_split, len(found.rest)) == ((), False, len(observations))
        assert found.score == pytest.approx(len(observations) / 20)
        assert (proposal.parts, proposal.relations) == ((), ())
    engine.create_entities([{"name": "Apollo", "type": "project", "observations": APOLLO[:24]}])
    found = engine.upkeep.propose_split("Apollo").analysis
    assert (len(found.topics) > 1, found.needs_split) == (True, False)


def test_candidates_are_too_large_and_fall_apart_the_most_urgent_first(engine: Engine) -> None:
    apollo(engine)
    engine.create_entities(
        [
            {"name": "Talk", "type": "session", "observations": APOLLO},
            {"name": "Small", "type": "project", "observations": APOLLO[:25]},
            # All alike, but for a number.
            {"name": "Log", "observations": [f"{number}" for number in range(30)]},
        ]
    )
    found = engine.upkeep.find_split_candidates()
    assert [each.name for each in found] == ["Talk", "Apollo"]
    assert engine.scoped("you").upkeep.find_split_candidates() == ()


def test_a_proposal_names_parts_and_relations_goes_round_taken_names_and_writes_nothing(
    engine: Engine,
) -> None:
    apollo(engine)
    before = engine.graph.read_graph()
    proposal = engine.upkeep.propose_split("Apollo")
    assert [part.name for part in proposal.parts] == [
        f"Apollo - {topic.name}" for topic in proposal.analysis.topics
    ]
    assert {part.type for part in proposal.parts} == {"project"}
    first = proposal.parts[0].name
    assert [(each.source, each.type, each.target) for each in proposal.relations[:2]] == [
        ("Apollo", "contains", first),
        (first, "part_of", "Apollo"),
    ]
    assert len(proposal.relations) == 2 * len(proposal.parts)
    engine.upkeep.find_split_candidates()
    assert engine.graph.read_graph() == before
    engine.create_entities([first])
    assert engine.upkeep.propose_split("Apollo").parts[0].name == f"{first} 2"


def test_names_that_are_not_there_are_told(engine: Engine) -> None:
    for ask in (engine.upkeep.propose_split, lambda name: engine.upkeep.execute_split(name, HALVES)):
        with pytest.raises(NotFound, match="Nobody"):
            ask("Nobody")


@every_model
def test_a_proposal_is_carried_out_and_taken_back(make_engine: MakeEngine, model: str) -> None:
    engine = make_engine(loaded, model)
    apollo(engine)
    before = opened(engine, "Apollo")
    proposal = engine.upkeep.propose_split("Apollo")
    done = engine.upkeep.execute_split("Apollo", proposal.parts)
    assert done.moved + done.remaining == len(APOLLO)
    assert done.relations == 2 * len(proposal.parts)
    for part in proposal.parts:
        assert contents(opened(engine, part.name)) == list(part.observations)
    undone = engine.upkeep.undo_split(done.undo)
    assert (undone.restored, undone.forgotten) == (done.moved, done.undo.parts)
    after = opened(engine, "Apollo")
    assert replace(after, updated_at=before.updated_at) == before
    assert [entity.name for entity in engine.graph.read_graph().entities] == ["Apollo"]
    assert links(engine) == set()
    assert list(engine.upkeep.verify()) == []


def test_an_undone_split_leaves_nothing_of_its_parts(engine: Engine, clock: FixedClock) -> None:
    apollo(engine)
    tables: tuple[Table, ...] = ("memory", "observation", "relation", "passage", "document", "mention")
    before = _keys(engine, tables)
    clock.tick(60)
    done = engine.upkeep.execute_split("Apollo", HALVES)
    during = clock.now
    clock.tick(60)
    engine.upkeep.undo_split(done.undo)
    assert _keys(engine, tables) == before
    assert engine.counts().forgotten == 0
    assert all(engine.get(part) is None for part in done.undo.parts)
    for as_of in (None, during):
        hits = engine.recall("slow database queries", kinds=["entity"], as_of=as_of).hits
        assert [hit.memory.name for hit in hits] == ["Apollo"]
    assert list(engine.upkeep.verify()) == []


def _keys(engine: Engine, tables: Iterable[Table]) -> dict[Table, list[tuple[Any, ...]]]:
    with engine._services.read() as view:
        keys = {table: view.rows(table, TABLES[table].key) for table in tables}
        return keys | {"term": sorted(view.rows("term", ("pair", "term")))}


def halved(engine: Engine) -> SplitResult:
    apollo(engine)
    return engine.upkeep.execute_split("Apollo", HALVES)


def test_observations_move_and_are_found_there_and_the_rest_stays(engine: Engine, clock: FixedClock) -> None:
    apollo(engine)
    note = engine.remember("Apollo is late")
    then = clock.now
    clock.tick(60)
    done = engine.upkeep.execute_split("Apollo", HALVES)
    assert contents(opened(engine, "Apollo")) == TEAM
    assert contents(opened(engine, "Apollo - Login")) == LOGIN
    assert contents(opened(engine, "Apollo - Database")) == DATABASE
    assert links(engine) == {
        ("Apollo", "contains", "Apollo - Login"),
        ("Apollo - Login", "part_of", "Apollo"),
        ("Apollo", "contains", "Apollo - Database"),
        ("Apollo - Database", "part_of", "Apollo"),
    }
    assert (done.moved, done.remaining, done.relations, done.note) == (18, 9, 4, None)
    assert [(part.name, part.type, part.observations) for part in done.parts] == [
        ("Apollo - Login", "project", 9),
        ("Apollo - Database", "component", 9),
    ]
    assert tuple(part.id for part in done.parts) == done.undo.parts
    (hit, *_) = engine.recall("slow database queries", kinds=["entity"]).hits
    assert hit.memory.name == "Apollo - Database"
    assert [node.name for node in engine.graph.search_nodes("PostgreSQL").entities] == ["Apollo - Database"]
    # The past is unchanged, and mentions of the original stay.
    clock.tick(60)
    hits = engine.recall("slow database queries", kinds=["entity"], as_of=then).hits
    assert [(hit.memory.name, len(hit.memory.in_force)) for hit in hits] == [("Apollo", 27)]
    kept = engine.get(note.id)
    assert kept is not None
    assert kept.mentions == (opened(engine, "Apollo").id,)
    with pytest.raises(NotFound, match="Nothing was split"):
        engine.upkeep.execute_split("Apollo", HALVES)


def test_kinds_times_and_flags_go_along(engine: Engine, clock: FixedClock) -> None:
    born = clock.now
    moved = NewObservation("drinks green tea", kind="habit", happened_at=born)
    engine.create_entities([{"name": "Ada", "type": "person", "status": "paused", "importance": 0.9}])
    engine.graph.add_observations({"Ada": [moved, "every day she drinks green tea with milk", "plays chess"]})
    flagged = opened(engine, "Ada").in_force[1]
    assert flagged.similar_to is not None
    split_at = clock.tick(3600)
    parts = [
        SplitPart("Ada's tea", (flagged.content, moved.content)),
        SplitPart("Ada's chess", ("plays chess",)),
    ]
    engine.upkeep.execute_split("Ada", parts)
    tea = opened(engine, "Ada's tea")
    assert (tea.type, tea.status, tea.importance, tea.created_at) == ("person", "paused", 0.9, split_at)
    by_text = {seen.content: seen for seen in tea.in_force}
    habit = by_text["drinks green tea"]
    assert (habit.kind, habit.created_at, habit.happened_at) == ("habit", born, born)
    again = by_text[flagged.content]
    assert (again.similar_to, again.similarity) == (habit.id, flagged.similarity)


def test_a_flag_whose_other_half_moves_elsewhere_is_dropped_until_the_split_is_undone(engine: Engine) -> None:
    texts = ["drinks green tea", "every day she drinks green tea with milk"]
    engine.create_entities([{"name": "Ada", "observations": texts}])
    flagged = opened(engine, "Ada").in_force[1]
    done = engine.upkeep.execute_split("Ada", [{"name": "B", "observations": [texts[1]]}])
    (moved,) = opened(engine, "B").in_force
    assert (moved.similar_to, moved.similarity) == (None, None)
    engine.upkeep.undo_split(done.undo)
    assert opened(engine, "Ada").in_force[1] == flagged


@pytest.mark.parametrize(
    ("parts", "error", "words"),
    [
        ([], InvalidInput, "at least one part"),
        ("Login", InvalidInput, "Parts come as a list"),
        (HALVES[0], InvalidInput, "Parts come as a list"),
        ([3], InvalidInput, "a SplitPart or a mapping"),
        ([part("A", [])], InvalidInput, "no observations"),
        ([part("A", LOGIN[0])], InvalidInput, "come as a list"),
        ([part("A", [3])], InvalidInput, "must be text"),
        ([part(" ", LOGIN)], InvalidInput, "name of the part"),
        ([part("A", LOGIN) | {"kind": "x"}], InvalidInput, "no 'kind'"),
        ([part("A", [LOGIN[0], "nothing of the sort"])], NotFound, "nothing of the sort"),
        ([part("A", [LOGIN[0], LOGIN[0]])], InvalidInput, "named twice"),
        ([part("A", LOGIN), part("B", LOGIN[:1])], InvalidInput, "named twice"),
        ([part("A", LOGIN), part("A", TEAM)], InvalidInput, "Two parts"),
        ([part("A", LOGIN), part("Zeus", TEAM)], Conflict, "'Zeus'"),
        ([part("Apollo", LOGIN)], Conflict, "'Apollo'"),
    ],
)
def test_a_split_that_cannot_be_made_leaves_everything_as_it_was(
    engine: Engine, parts: Any, error: type[RecollectError], words: str
) -> None:
    apollo(engine)
    engine.create_entities(["Zeus"])
    before = engine.graph.read_graph()
    with pytest.raises(error, match=words):
        engine.upkeep.execute_split("Apollo", parts)
    assert engine.graph.read_graph() == before


def test_a_crash_in_the_middle_leaves_the_state_before(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from recollect.domain.changes import RemoveObservations
    from recollect.write import apply

    class Crash(Exception):
        pass

    def crash(*_: object) -> None:
        raise Crash

    apollo(engine)
    before = engine.graph.read_graph()
    # The last of the changes: by then the parts are made and related.
    with monkeypatch.context() as patch:
        patch.setitem(apply._RULES, RemoveObservations, crash)
        with pytest.raises(Crash):
            engine.upkeep.execute_split("Apollo", HALVES)
    assert engine.graph.read_graph() == before
    assert engine.counts().forgotten == 0


def test_one_store_write_does_it_all(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    apollo(engine)
    writes = []
    apply = type(engine._services.store).apply

    def counting_apply(store: Any, changes: Any, **options: Any) -> Any:
        writes.append([type(change).__name__ for change in changes])
        return apply(store, changes, **options)

    monkeypatch.setattr(type(engine._services.store), "apply", counting_apply)
    done = engine.upkeep.execute_split("Apollo", HALVES)
    assert writes[0] == ["Adopt", "Relate", "Adopt", "Relate", "RemoveObservations"]
    assert all(set(write) == {"PutVectors"} for write in writes[1:])
    writes.clear()
    engine.upkeep.undo_split(done.undo)
    assert writes[0] == ["RestoreObservation"] * 18 + ["Unmake"]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda engine: engine.create_entities([{"name": "Apollo - Login", "observations": ["theirs"]}]),
            "Another process created 'Apollo - Login'",
        ),
        (
            lambda engine: engine.graph.delete_observations({"Apollo": LOGIN[:1]}),
            "Another process changed 'Apollo'",
        ),
    ],
)
def test_changes_by_another_process_during_a_split_are_reported(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, edit: Any, words: str
) -> None:
    apollo(engine)
    apply = type(engine._services.store).apply

    def after_another(store: Any, changes: Any, **options: Any) -> Any:
        monkeypatch.undo()
        edit(engine)
        return apply(store, changes, **options)

    monkeypatch.setattr(type(engine._services.store), "apply", after_another)
    done = engine.upkeep.execute_split("Apollo", HALVES)
    assert done.note is not None
    assert words in done.note
    held = [text for entity in engine.graph.read_graph().entities for text in contents(entity)]
    assert set(APOLLO) <= set(held)


def test_another_scope_is_neither_split_nor_undone(engine: Engine) -> None:
    done = halved(engine)
    other = engine.scoped("you")
    before = engine.graph.read_graph()
    with pytest.raises(NotFound):
        other.upkeep.execute_split("Apollo", HALVES)
    with pytest.raises(NotFound):
        other.upkeep.undo_split(done.undo)
    assert engine.graph.read_graph() == before


def test_a_split_can_be_made_again_after_it_was_undone(engine: Engine, clock: FixedClock) -> None:
    done = halved(engine)
    clock.tick()
    engine.upkeep.undo_split(done.undo)
    clock.tick()
    again = engine.upkeep.execute_split("Apollo", HALVES)
    assert set(again.undo.parts).isdisjoint(done.undo.parts)
    with pytest.raises(NotFound, match=f"There is no entity {done.undo.parts[0]}"):
        engine.upkeep.undo_split(done.undo)
    engine.upkeep.undo_split(again.undo)
    assert contents(opened(engine, "Apollo")) == APOLLO


def test_moves_between_parts_and_additions_to_the_original_do_not_hinder_an_undo(engine: Engine) -> None:
    done = halved(engine)
    engine.graph.add_observations({"Apollo": ["a new thing"]})
    engine.graph.delete_observations({"Apollo - Login": LOGIN[:1]})
    engine.graph.add_observations({"Apollo - Database": LOGIN[:1]})
    # The undo survives as plain data.
    engine.upkeep.undo_split(asdict(done.undo))
    assert contents(opened(engine, "Apollo")) == [*APOLLO, "a new thing"]


PART = "Apollo - Login"


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (
            lambda graph: graph.add_observations({PART: ["a new thing"]}),
            "'Apollo - Login' has gained the observation 'a new thing'",
        ),
        (lambda graph: graph.delete_observations({PART: LOGIN[:1]}), "No part has the observation"),
        (
            lambda graph: graph.add_observations({PART: [{"content": "corrected", "supersedes": LOGIN[0]}]}),
            "has gained the observation 'corrected'",
        ),
        (
            lambda graph: graph.create_relations([("Zeus", "owns", PART)], create_missing=True),
            "has gained a relation: 'Zeus' owns 'Apollo - Login'",
        ),
        (lambda graph: graph.delete_entities([PART]), "'Apollo - Login' was forgotten since"),
        (lambda graph: graph.delete_entities(["Apollo"]), "'Apollo' was forgotten since"),
        (
            lambda graph: graph.delete_relations([("Apollo", "contains", PART)]),
            "does not contain 'Apollo - Login' any more",
        ),
        (lambda graph: graph.add_observations({"Apollo": LOGIN[:1]}), "equal observation in force"),
    ],
)
def test_later_edits_that_undoing_would_hide_are_named_and_kept(
    engine: Engine, clock: FixedClock, edit: Any, words: str
) -> None:
    done = halved(engine)
    clock.tick()
    edit(engine.graph)
    before = engine.graph.read_graph()
    with pytest.raises(Conflict, match=words):
        engine.upkeep.undo_split(done.undo)
    assert engine.graph.read_graph() == before


def test_an_undo_that_is_none_is_refused(engine: Engine) -> None:
    done = halved(engine)
    good = asdict(done.undo)
    (zeus,) = engine.create_entities([{"name": "Zeus", "observations": LOGIN}]).entities
    (team, *_) = opened(engine, "Apollo").in_force
    before = engine.graph.read_graph()
    wrong: list[tuple[Any, type[RecollectError]]] = [
        (3, InvalidInput),
        ({}, InvalidInput),
        (good | {"parts": ["Zeus"]}, InvalidInput),
        (good | {"parts": []}, NotFound),
        (good | {"original": 10_000}, NotFound),
        (good | {"observations": [10_000]}, NotFound),
        # Ids of something else than a split.
        (good | {"parts": [zeus.id]}, Conflict),
        (good | {"observations": [team.id]}, Conflict),
        (good | {"observations": good["observations"][:9]}, Conflict),
        (good | {"parts": good["parts"][:1]}, Conflict),
    ]
    for undo, error in wrong:
        with pytest.raises(error):
            engine.upkeep.undo_split(undo)
    assert engine.graph.read_graph() == before


def test_a_refusal_quotes_the_beginning_of_a_long_text(engine: Engine) -> None:
    name, text = "word " * 190 + "end", "said " * 2_000 + "end"
    engine.create_entities([{"name": name, "type": "thing", "observations": ["is red"]}])
    calls = (
        lambda: engine.upkeep.execute_split(name, [{"name": "Part", "observations": [text]}]),
        lambda: engine.graph.add_observations({name: [{"content": "is blue", "supersedes": text}]}),
        lambda: engine.graph.end_relation(name, "leads", name),
    )
    for call in calls:
        with pytest.raises(NotFound) as refused:
            call()
        assert "word word word" in str(refused.value)
        assert len(str(refused.value)) < 700
