"""Dreams on a real store: what they leave in ranking, what they leave alone, and how they are taken back."""

from __future__ import annotations

import io
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from recollect.admin import Internals
from recollect.domain.errors import Conflict, InvalidInput, NotFound
from recollect.domain.records import Consolidation
from recollect.domain.tables import OneOf
from recollect.dreams.dreaming import gate_questions
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.state import dream_state, past_questions
from recollect.engine import Engine
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import PROFILES
from recollect.ranking.steps import Cut, Order
from recollect.search.rows import scope_id
from recollect.search.texts import passages_of
from recollect.transfer import export_file
from recollect.tuning.knobs import with_knobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conftest import FixedClock, MakeEngine

    from recollect.domain.records import Memory
    from recollect.dreams.plan import DreamReport

DAY = 86_400
FINISH = (Order(), Cut())
# Prunes whatever is stale, however strong it is, and whether or not anything else says it.
KEEN = Knobs(prune_echo=0, prune_signal=1, prune_strength=1.1)
QUERIES = ("kettle", "tea in the garden", "Alice Google", "Ada")
COLOURS = ("red", "blue", "green", "black", "white", "brown", "grey", "pink", "gold", "silver") * 4
# All that a dream may write, and all that it must not. Caches, indexes and the journal itself are left out.
TABLES = (
    "memory", "observation", "relation", "passage", "tag", "usage", "usage_day", "cooccurrence", "link",
    "revision", "absence", "mention", "recall", "recall_hit",
)  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_out_of_step(engine: Engine) -> Iterator[None]:
    yield
    assert list(engine.upkeep.verify()) == []


def exported(engine: Engine) -> str:
    out = io.StringIO()
    export_file(engine, out, format="full", learning=False)
    return out.getvalue()


def lines(engine: Engine) -> dict[int, str]:
    """The memories of an export, by id."""
    rows = [(json.loads(line), line) for line in exported(engine).splitlines()]
    return {row["id"]: line for row, line in rows if row.get("record") == "memory"}


def content_rows(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table with content."""
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        ask = view.connection.execute  # type: ignore[attr-defined]  # SQLite's own
        return {table: sorted(ask(f"SELECT * FROM {table}"), key=repr) for table in TABLES}


def indexed(engine: Engine) -> set[str]:
    """The words in the index."""
    with engine._services.store.read() as view:
        return {word for row in view.rows("term", ("stem", "term")) for word in row}


def ranked(engine: Engine) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """The answers of every profile, with scores."""
    return {
        (profile, query): [
            (hit.memory.id, hit.score) for hit in engine.recall(query, profile=profile, record=False).hits
        ]
        for profile in PROFILES
        for query in QUERIES
    }


def got(engine: Engine, id_: int) -> Memory:
    memory = engine.get(id_)
    assert memory is not None
    return memory


def ask(engine: Engine, query: str, session: str = "test") -> None:
    engine._services.usage.settle(None)
    engine._services.usage.session = session
    engine.recall(query, limit=4)
    engine._services.usage.settle(None)


def world(engine: Engine, clock: FixedClock) -> None:
    """Something for every phase to do."""
    notes = {
        "the kettle stands in the blue kitchen": ["home"],
        "in the blue kitchen stands the kettle": [],
        "Ada drinks tea in the garden": ["tea"],
        "Ada drinks the tea in the garden!": ["green"],
        "Alice works at Google": [],
    }
    engine.remember_many([{"text": text, "tags": tags} for text, tags in notes.items()])
    engine.supersede(5, "Alice works at Microsoft")
    clock.tick(60)
    engine.remember("Alice works for Google")
    engine.create_entities(
        [{"name": "Ada", "observations": ["likes tea at noon", "likes the tea at noon!"]}, "Bob", "Cleo"]
    )
    engine.graph.create_relations([("Ada", "knows", "Bob"), ("Bob", "knows", "Cleo")])
    engine.update(1, pinned=True)
    for session in ("one", "two", "three"):
        clock.tick(DAY)
        for query in ("tea in the garden", "Ada"):
            ask(engine, query, session)


# The profile that reads what dreams write


def test_before_any_dream_reverie_is_rank_fusion_with_time_decay(engine: Engine, clock: FixedClock) -> None:
    engine.remember("the kettle is red")
    clock.tick(30 * DAY)
    ask(engine, "kettle")
    (hit,) = engine.recall("kettle", profile="reverie", record=False).hits
    # First of both lists: 1/31 + 1/31. A month old: 1 + 0.3 / e.
    assert hit.score == pytest.approx(2 / 31 * (1 + 0.3 / math.e), rel=1e-12)


def test_after_dreams_reverie_differs_by_exactly_what_the_fields_say(
    engine: Engine, clock: FixedClock
) -> None:
    id_ = engine.remember("the kettle is red").id
    for session in ("one", "two", "three"):
        ask(engine, "kettle", session)
        clock.tick(DAY)
    clock.tick(-DAY)
    engine.dream()
    memory = got(engine, id_)
    # Recalled on the day it was made, and one and two days after: 1 -> 1 -> 3.65453 -> 5.96342 (FSRS v4).
    # 3 accesses in its first week, in three sessions: one deeper. Recalled alone: 1 + 0.
    assert (memory.strength, memory.depth, memory.spread) == (1.0, 3, 3)
    assert memory.stability == pytest.approx(5.96342, abs=1e-4)
    clock.tick(2 * DAY)
    engine.dream()
    # 0.95^2
    assert got(engine, id_).strength == pytest.approx(0.9025, rel=1e-12)
    (hit,) = engine.recall("kettle", profile="reverie", record=False).hits
    # new: 1 + 0.3 e^(-4/30) = 1.262552     depth 3: 1.2     spread: ln 4 / ln 2 = 2
    # stability, seen 2 days ago: R = 1/(1 + 2/(9 * 5.96342)) = 0.964074; g = 5.96342^0.2 = 1.429221;
    #   1 + 0.429221 * 0.964074 = 1.413801
    assert hit.score == pytest.approx(2 / 31 * 1.262552 * 0.9025 * 1.2 * 2 * 1.413801, rel=1e-5)


def test_a_dream_edits_nothing_so_nothing_looks_newer(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    before = {id_: got(engine, id_).updated_at for id_ in lines(engine)}
    clock.tick(DAY)
    engine.dream()
    assert {id_: got(engine, id_).updated_at for id_ in before} == before


# Once, twice, and not at all


def test_dreaming_twice_at_one_moment_changes_nothing_more(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    assert engine.dream().id == 1
    before = content_rows(engine)
    assert engine.dream().id is None
    assert content_rows(engine) == before
    assert len(engine.dreams.history()) == 1
    # After an undo, the same dream can run again.
    engine.dreams.undo(1)
    assert engine.dream().id == 2
    assert content_rows(engine) == before


def test_no_answer_is_replayed_twice(engine: Engine, clock: FixedClock) -> None:
    engine.remember_many(["the kettle is red", "the kettle is hot"])
    ask(engine, "kettle")
    assert engine.dream().report.answers == 1
    ask(engine, "kettle")
    assert engine.dream().report.answers == 1


def test_a_dry_run_tells_what_would_be_and_writes_nothing(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    before, export = content_rows(engine), exported(engine)
    tried = engine.dream(dry_run=True)
    assert tried.id is None
    assert tried.report.merged == ((4, 3),)
    assert content_rows(engine) == before
    assert exported(engine) == export
    assert engine.dreams.history() == ()
    done = engine.dream()
    assert done.report == tried.report


def test_a_store_with_nothing_in_it_dreams_of_nothing(engine: Engine) -> None:
    done = engine.dream()
    assert (done.id, done.report.memories) == (None, 0)
    assert engine.dreams.history() == ()


def test_the_world_gives_every_phase_something_to_do(engine: Engine, clock: FixedClock) -> None:
    """Without this, what is said of undoing would be said of nothing."""
    world(engine, clock)
    report = engine.dream().report
    assert report.merged == ((4, 3),)
    assert report.merged_observations
    assert report.corrected == ((7, 6),)
    assert report.links > 0
    assert report.consolidated > 0
    assert report.stabler > 0
    assert report.deeper
    clock.tick(DAY)
    assert engine.dream().report.faded > 0
    clock.tick(400 * DAY)
    later = engine.dream(gate=False, knobs=KEEN).report
    assert set(later.pruned) >= {2, 8, 9, 10}
    assert later.archived == 0  # 400 * 0.5 = 200 > 180, but what is as weak as that was pruned


# How much of a dream is one phase's doing.
DONE_BY: dict[Phase, Callable[[DreamReport], int]] = {
    Phase.CONSOLIDATE: lambda report: report.stronger + report.stabler,
    Phase.DOWNSCALE: lambda report: report.faded,
    Phase.PRUNE: lambda report: len(report.pruned),
    Phase.PLACE: lambda report: report.consolidated + report.archived,
    Phase.PROMOTE: lambda report: len(report.deeper),
    Phase.MERGE: lambda report: len(report.merged) + len(report.merged_observations),
    Phase.CORRECT: lambda report: len(report.corrected),
    Phase.LINK: lambda report: report.links,
    Phase.REPORT: lambda report: len(report.upkeep or ""),
}


@pytest.mark.parametrize("phase", Phase)
def test_a_phase_that_is_switched_off_does_nothing(engine: Engine, clock: FixedClock, phase: Phase) -> None:
    world(engine, clock)
    knobs = Knobs()
    if phase in {Phase.DOWNSCALE, Phase.PRUNE}:
        engine.dream()
        clock.tick(400 * DAY)
        knobs = Knobs() if phase is Phase.DOWNSCALE else KEEN
    assert DONE_BY[phase](engine.dream(dry_run=True, gate=False, knobs=knobs).report) > 0
    report = engine.dream(without=[phase], gate=False, knobs=knobs).report
    assert DONE_BY[phase](report) == 0
    assert phase not in report.phases


def test_no_phase_is_no_dream_and_an_unknown_phase_an_error(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    before = content_rows(engine)
    engine.dream(phases=[])
    assert content_rows(engine) == before
    with pytest.raises(InvalidInput, match=r"No phase named 'rem'; there are: consolidate, downscale"):
        engine.dream(phases=["rem"])


def test_no_dream_destroys_anything(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    texts = {id_: (got(engine, id_).text, got(engine, id_).name) for id_ in lines(engine)}
    for _ in range(4):
        clock.tick(200 * DAY)
        engine.dream(gate=False, knobs=KEEN)
    assert {id_: (got(engine, id_).text, got(engine, id_).name) for id_ in lines(engine)} == texts
    gone = [
        id_ for id_ in texts if id_ != 5 and (got(engine, id_).deleted_at or got(engine, id_).superseded_at)
    ]
    assert len(gone) > 4
    for id_ in gone:
        assert engine.restore(id_).id == id_
        assert got(engine, id_).deleted_at is None
        assert got(engine, id_).superseded_at is None


def test_scopes_do_not_touch_each_other(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    you = engine.scoped("you")
    world_of_you = {"text": "the kettle is yours"}
    you.remember_many([world_of_you, {"text": "the yours is kettle"}])
    clock.tick(DAY)
    mine = lines(engine)
    theirs = {id_: line for id_, line in mine.items() if '"owner":"you"' in line}
    assert theirs
    engine.dream()
    assert {id_: lines(engine)[id_] for id_ in theirs} == theirs
    assert you.dreams.history() == ()
    with pytest.raises(NotFound, match="no dream 1"):
        you.dreams.undo(1)
    with pytest.raises(NotFound, match="no dream 1"):
        you.dreams.journal(1)
    after = {id_: line for id_, line in lines(engine).items() if id_ not in theirs}
    assert you.dream().id == 2
    assert {id_: line for id_, line in lines(engine).items() if id_ not in theirs} == after
    assert engine.dreams.undo(1).ids == (1,)  # the later edit of another memory does not block it


# Undoing


@pytest.mark.parametrize("back", [1, 2, 3])
def test_undoing_the_last_dreams_leaves_no_trace_of_them(
    engine: Engine, clock: FixedClock, back: int
) -> None:
    world(engine, clock)
    states = []
    # After a day, after two more, and after so long that much is pruned.
    for days in (1, 2, 400):
        clock.tick(days * DAY)
        states.append((content_rows(engine), exported(engine), ranked(engine)))
        engine.dream(gate=False, knobs=KEEN)
    assert [dream.id for dream in engine.dreams.history()] == [3, 2, 1]
    rows, export, ranking = states[-back]
    assert exported(engine) != export
    undone = engine.dreams.undo(4 - back, later=True)
    assert undone.ids == (3, 2, 1)[:back]
    assert undone.left == ()
    assert exported(engine) == export
    assert content_rows(engine) == rows
    clock.now = engine.dreams.history()[back - 1].at
    assert ranked(engine) == ranking


def test_answers_between_dreams_stay_known_when_those_are_undone(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    states = []
    for query in ("kettle", "tea in the garden", "Ada"):
        states.append(exported(engine))
        engine.dream(gate=False, knobs=KEEN)
        clock.tick(DAY)
        ask(engine, query)
    used = content_rows(engine)["recall"]
    assert engine.dreams.undo(2, later=True).left == ()
    assert exported(engine) == states[1]
    assert engine.dreams.undo(1).left == ()
    assert exported(engine) == states[0]
    assert content_rows(engine)["recall"] == used
    assert engine.dream(dry_run=True).report.answers == len(used)


def test_writes_to_other_memories_stay_when_a_dream_is_undone(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    before = lines(engine)
    engine.dream()
    clock.tick(60)
    new = engine.remember("the garden has a gate").id
    engine.update(6, importance=0.9)
    engine.forget([10])
    changed = lines(engine)
    assert engine.dreams.undo(1).left == ()
    after = lines(engine)
    for id_ in before.keys() - {6, 10}:
        assert after[id_] == before[id_]
    assert after[new] == changed[new]
    assert got(engine, 6).importance == 0.9
    assert got(engine, 10).deleted_at is not None


def test_an_earlier_dream_is_not_undone_before_a_later_one(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    engine.dream()
    clock.tick(DAY)
    engine.dream()
    before = content_rows(engine)
    with pytest.raises(Conflict, match="Dream 2 came after dream 1"):
        engine.dreams.undo(1)
    assert content_rows(engine) == before
    engine.dreams.undo(2)
    engine.dreams.undo(1)
    with pytest.raises(Conflict, match="Dream 1 was undone already"):
        engine.dreams.undo(1)
    with pytest.raises(NotFound, match="There is no dream 7"):
        engine.dreams.undo(7)


def test_what_was_restored_since_is_reported_and_stays(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    clock.tick(400 * DAY)
    ask(engine, "tea in the garden")
    done = engine.dream(gate=False, knobs=KEEN)
    assert 2 in done.report.pruned
    assert (4, 3) in done.report.merged
    clock.tick(60)
    engine.restore(2)
    engine.restore(4)
    engine.update(4, text="Ada drinks coffee on the roof")
    undone = engine.dreams.undo(1)
    assert undone.left == (2, 4)
    assert got(engine, 2).deleted_at is None
    assert got(engine, 4).text == "Ada drinks coffee on the roof"
    assert got(engine, 4).superseded_at is None


def test_an_edit_made_since_survives_the_undoing(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    engine.dream()
    clock.tick(60)
    engine.update(3, text="Ada drinks tea in the cellar", importance=0.8)
    undone = engine.dreams.undo(1)
    memory = got(engine, 3)
    assert (memory.text, memory.importance) == ("Ada drinks tea in the cellar", 0.8)
    # It speaks for the one that was merged with it, which said what is no longer so; and is no deeper.
    assert (memory.duplicates, memory.tags, memory.depth) == (1, ("green", "tea"), 2)
    assert undone.left == (4,)
    assert got(engine, 4).superseded_by == 3


def test_an_entity_whose_name_was_taken_since_stays_forgotten(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    clock.tick(400 * DAY)
    engine.dream(gate=False, knobs=KEEN)
    (other,) = engine.create_entities(["Bob"]).entities
    undone = engine.dreams.undo(1)
    assert undone.left == (9,)
    assert [entity.id for entity in engine.graph.open_nodes(["Bob"]).entities] == [other.id]
    # Ada and Cleo are back, and what went with Bob waits for him.
    assert engine.graph.open_nodes(["Ada"]).relations == ()


# Merging


@pytest.mark.sqlite
def test_a_survivor_takes_over_repeats_tags_and_uses_and_gives_them_back(
    engine: Engine, clock: FixedClock
) -> None:
    first = engine.remember("Ada drinks tea in the garden", tags=["tea"]).id
    second = engine.remember("Ada drinks the tea in the garden!", tags=["green"]).id
    engine.remember("Ada drinks the tea in the garden!")
    engine.record_shown([first])
    engine.record_shown([first])
    clock.tick(2 * DAY)
    engine.record_shown([second])
    before = content_rows(engine)
    report = engine.dream().report
    assert report.merged == ((second, first),)
    survivor, gone = got(engine, first), got(engine, second)
    # It was said twice more: once as the other, which was itself repeated once.
    assert (survivor.duplicates, survivor.tags) == (2, ("green", "tea"))
    assert (gone.superseded_by, gone.superseded_at) == (first, clock.now)
    used = {row[0]: row[1:] for row in content_rows(engine)["usage"]}
    assert used[first] == (3, microseconds(clock.now))
    assert len([row for row in content_rows(engine)["usage_day"] if row[0] == first]) == 2
    assert ("merged with", f"memory {second}: {gone.text}") in [
        (event.what, event.detail) for event in engine.history(first).events
    ]
    engine.dreams.undo(1)
    assert content_rows(engine) == before


def test_two_that_were_merged_into_one_are_parted_exactly(engine: Engine, clock: FixedClock) -> None:
    texts = (
        "Ada drinks tea in the garden",
        "Ada drinks the tea in the garden",
        "Ada drinks a tea in the garden!",
    )
    ids = [engine.remember(text).id for text in texts]
    engine.record_shown([ids[0]])
    engine.record_shown([ids[0]])
    # The first merge moves the survivor's last use, and the second moves it again.
    for id_ in ids[1:]:
        clock.tick(DAY)
        engine.record_shown([id_])
    before = content_rows(engine)
    merged = engine.dream().report.merged
    assert set(merged) == {(ids[1], ids[0]), (ids[2], ids[0])}
    engine.dreams.undo(1)
    assert content_rows(engine) == before


@pytest.mark.sqlite
def test_a_use_after_the_merge_stays_with_the_survivor(engine: Engine, clock: FixedClock) -> None:
    first = engine.remember("Ada drinks tea in the garden").id
    second = engine.remember("Ada drinks the tea in the garden!").id
    engine.record_shown([first])
    engine.record_shown([first])
    clock.tick(DAY)
    engine.record_shown([second])
    engine.dream()
    clock.tick(DAY)
    engine.record_shown([first])
    engine.dreams.undo(1)
    used = {row[0]: row[1:] for row in content_rows(engine)["usage"]}
    assert used == {
        first: (3, microseconds(clock.now)),
        second: (1, microseconds(clock.now) - DAY * 1_000_000),
    }


def test_who_survives_is_as_strong_and_as_awake_as_whom_it_takes_in(
    engine: Engine, clock: FixedClock
) -> None:
    old = engine.remember("Ada drinks tea in the garden").id
    engine.record_shown([old])
    engine.record_shown([old])
    clock.tick(DAY)
    engine.dream()
    clock.tick(900 * DAY)
    engine.dream(gate=False, without=["prune"])
    # 900 * 0.5 = 450 > 180, and 0.95^900 is below the floor.
    assert (got(engine, old).consolidation, got(engine, old).strength) == ("archived", 0.01)
    new = engine.remember("Ada drinks the tea in the garden!").id
    engine.record_shown([new])
    before = content_rows(engine)
    done = engine.dream(gate=False, without=["prune"])
    assert done.report.merged == ((new, old),)
    assert (got(engine, old).consolidation, got(engine, old).strength) == ("consolidated", 1.0)
    assert engine.dream(gate=False, without=["prune"]).id is None
    assert done.id is not None
    engine.dreams.undo(done.id)
    assert content_rows(engine) == before


def test_what_was_merged_is_no_error_whose_copies_must_go(engine: Engine, clock: FixedClock) -> None:
    engine.remember("Ana likes red apples, green pears, old cheese and fresh bread")
    engine.remember("Ana likes the red apples, green pears, old cheese and fresh bread!")
    assert engine.dream().report.merged == ((2, 1),)
    clock.tick(DAY)
    # It says one thing more.
    more = engine.remember("Ana likes red apples, green pears, old cheese, honey and fresh bread").id
    assert engine.dream().report.corrected == ()
    assert got(engine, more).superseded_at is None


# Searching for copies and repeats


def test_of_two_that_say_the_same_one_is_pruned(engine: Engine, clock: FixedClock) -> None:
    engine.remember_many(
        ["Ada drinks tea in the garden", "Ada drinks the tea in the garden!", "a green gate"]
    )
    clock.tick(DAY)
    engine.dream(phases=["downscale", "place"])
    clock.tick(200 * DAY)  # 201 * 0.5 = 100.5 > 90, and 0.95^200 is below the floor
    phases = ["downscale", "prune"]
    report = engine.dream(phases=phases, gate=False).report
    assert report.pruned == (1,)
    assert report.unique == 2
    clock.tick(DAY)
    assert engine.dream(phases=phases, gate=False).report.pruned == ()


def test_what_is_near_in_meaning_and_tells_another_fact_is_no_echo(engine: Engine, clock: FixedClock) -> None:
    # A model that compares words puts them at 1.0; arctic-s puts them at 0.988.
    engine.remember_many(["Alice manages Bob", "Bob manages Alice"])
    clock.tick(DAY)
    engine.dream()
    clock.tick(200 * DAY)
    report = engine.dream(gate=False).report
    assert report.pruned == ()
    assert report.unique == 2


def test_a_long_text_is_pruned_only_if_another_says_all_of_it(engine: Engine, clock: FixedClock) -> None:
    opening = " ".join(
        f"The {colour} kettle stands on shelf {number}." for number, colour in enumerate(COLOURS)
    )
    rest = " ".join(f"A {colour} gate leads to garden {number}." for number, colour in enumerate(COLOURS))
    long = engine.remember(f"{opening} {rest}").id
    part = engine.remember(opening).id
    with engine._services.store.read() as view:
        assert len(passages_of(view, [long])) > len(passages_of(view, [part])) >= 1
    clock.tick(DAY)
    engine.dream()
    clock.tick(200 * DAY)
    engine.record_shown([part])
    assert engine.dream(gate=False).report.pruned == ()


def test_a_copy_of_an_error_that_came_later_is_retired(engine: Engine, clock: FixedClock) -> None:
    wrong = engine.remember("Alice works at Google").id
    right = engine.supersede(wrong, "Alice works at Microsoft").by.id
    clock.tick(60)
    copy = engine.remember("Alice works for Google").id
    other = engine.remember("Bob works for Google").id
    pinned = engine.remember("Alice is working at Google").id
    engine.update(pinned, pinned=True)
    engine.create_entities([{"name": "Alice", "observations": ["works at Google"]}])
    report = engine.dream().report
    assert (copy, right) in report.corrected
    assert got(engine, copy).superseded_by == right
    assert got(engine, other).superseded_at is None
    assert got(engine, pinned).superseded_at is None
    assert engine.graph.open_nodes(["Alice"]).entities[0].in_force == ()


def test_without_a_model_only_words_tell_what_is_a_copy(make_engine: MakeEngine, clock: FixedClock) -> None:
    engine = make_engine(model="none")
    wrong = engine.remember("Alice was born in Rome").id
    right = engine.supersede(wrong, "Alice was born in Oslo").by.id
    clock.tick(60)
    copy = engine.remember("Alice: born in Rome").id
    # A different word may state a different fact.
    other = engine.remember("Alice lives in Rome").id
    assert engine.dream().report.corrected == ((copy, right),)
    assert got(engine, other).superseded_at is None


def test_without_a_model_nothing_is_pruned(make_engine: MakeEngine, clock: FixedClock) -> None:
    engine = make_engine(model="none")
    engine.remember_many(["the kettle stands in the kitchen", "in the kitchen stands the kettle"])
    clock.tick(DAY)
    engine.dream()
    clock.tick(200 * DAY)
    report = engine.dream().report
    assert (report.pruned, report.unique) == ((), 2)


# The gate


def test_questions_that_people_asked_come_first(engine: Engine, clock: FixedClock) -> None:
    engine.remember_many(["the kettle is red", "the gate is green", "the lamp is blue"])
    for query in ("kettle", "gate", "kettle"):
        ask(engine, query)
    verdicts = [engine.dream(dry_run=True, knobs=Knobs(gate_questions=n)).report.gate for n in (1, 2, 4, 100)]
    # Two that differ were asked, and three memories can ask for themselves.
    assert [(each.questions, each.made) for each in verdicts if each] == [(1, 0), (2, 0), (4, 2), (5, 3)]
    assert [each.before for each in verdicts if each] == [1.0] * 4


def test_the_gate_asks_by_the_tuned_default_profile_whichever_people_asked_by(engine: Engine) -> None:
    engine.create_entities([{"name": f"tea {number}", "observations": ["leaf"]} for number in range(4)])
    engine.recall("tea", profile="reverie")
    engine.tuning.set({"linked.weight": 0.5}, "recollect", exactly=True)
    knobs = Knobs()
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        snapshot = dream_state(
            view, scope_id(view, engine.scope), microseconds(engine._services.clock()), knobs.link_together
        )
    found = gate_questions(engine._services, snapshot, knobs)
    assert {one.profile for one in found} == {with_knobs(PROFILES["recollect"], {"linked.weight": 0.5})}


def test_a_dream_that_would_hide_what_people_find_writes_nothing_or_leaves_out_the_phase(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember_many([f"the kettle number {number} is red" for number in range(6)])
    ask(engine, "kettle")
    clock.tick(400 * DAY)
    before = content_rows(engine)
    stopped = engine.dream(knobs=KEEN)
    assert stopped.id is None
    verdict = stopped.report.gate
    assert verdict is not None
    assert verdict.blame is Phase.PRUNE
    assert verdict.losses
    assert content_rows(engine) == before
    assert engine.dreams.history() == ()
    done = engine.dream(knobs=KEEN, drop_failing=True)
    assert done.id == 1
    assert done.report.skipped == ("prune",)
    assert done.report.pruned == ()
    assert done.report.consolidated == 6
    assert engine.dreams.history()[0].phases == done.report.phases
    assert "prune" not in done.report.phases


def test_what_changed_while_a_dream_was_dreamt_is_left_and_reported(
    engine: Engine, clock: FixedClock
) -> None:
    world(engine, clock)
    clock.tick(400 * DAY)

    def meddle(done: int, of: int | None) -> None:
        if done == 3:  # it has looked, and nothing is written yet
            clock.tick(1)
            engine.update(2, importance=0.9)
            engine.update(4, text="Ada drinks coffee")

    done = engine.dream(gate=False, knobs=KEEN, progress=meddle)
    assert {2, 4} <= set(done.left)
    assert got(engine, 2).deleted_at is None
    assert (got(engine, 4).text, got(engine, 4).superseded_at) == ("Ada drinks coffee", None)


def test_fields_of_what_was_forgotten_while_a_dream_was_dreamt_are_left_and_the_others_written(
    engine: Engine, clock: FixedClock
) -> None:
    world(engine, clock)
    clock.tick(2 * DAY)

    def meddle(done: int, of: int | None) -> None:
        if done == 5:  # all is planned, and nothing is written yet
            engine.forget([2])

    done = engine.dream(phases=("place",), gate=False, progress=meddle)
    assert done.left == (2,)
    assert got(engine, 2).consolidation is Consolidation.STAGED
    assert got(engine, 1).consolidation is Consolidation.CONSOLIDATED
    _, journal = engine.dreams.journal(1)
    assert 1 in journal["lived"][0]["ids"]  # type: ignore[index]
    assert 2 not in journal["lived"][0]["ids"]  # type: ignore[index]


def test_two_dreams_of_one_process_do_not_run_at_once(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)

    def dream_within(stage: int, _: int | None) -> None:
        if stage == 3:
            with pytest.raises(Conflict, match="try again"):
                engine.dream()
            assert engine.dream(dry_run=True).report.merged  # which looks, and takes nothing

    assert engine.dream(progress=dream_within).left == ()
    assert len(engine.dreams.history()) == 1


# The journal


def test_a_dream_is_kept_with_its_report_and_every_change(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    done = engine.dream()
    (record,) = engine.dreams.history()
    assert (record.id, record.at, record.undone_at) == (1, clock.now, None)
    assert record.report["merged"] == [[4, 3]]
    again, journal = engine.dreams.journal(1)
    assert again == record
    assert journal["corrected"] == [[7, 6]]
    fields = {each["field"] for each in journal["lived"]}  # type: ignore[attr-defined]  # as JSON has it
    assert fields >= {"consolidation", "stability", "spread", "depth"}
    clock.tick(60)
    engine.dreams.undo(1)
    assert engine.dreams.history()[0].undone_at == clock.now
    assert done.report == replace(done.report)


def test_the_report_counts_what_the_journal_holds(engine: Engine, clock: FixedClock) -> None:
    world(engine, clock)
    engine.dream(phases=["downscale", "place"])
    clock.tick(400 * DAY)
    ask(engine, "tea in the garden")
    report = engine.dream(gate=False, knobs=replace(KEEN, prune_strength=0.05)).report
    _, journal = engine.dreams.journal(2)
    lived: Any = journal["lived"]
    changed = {each["field"]: len(each["ids"]) for each in lived}
    assert changed["strength"] == report.stronger + report.faded
    assert changed["stability"] == report.stabler
    assert changed.get("consolidation", 0) == report.consolidated + report.archived + report.revived
    assert changed.get("depth", 0) == len(report.deeper)
    pruned: Any = journal["pruned"]
    assert [each["id"] for each in pruned] == list(report.pruned)
    assert pruned


def test_links_lead_to_what_came_up_together(engine: Engine, clock: FixedClock) -> None:
    ids = [engine.remember(text).id for text in ("the kettle is red", "the kettle is hot", "a gate")]
    for _ in range(3):
        engine.record_shown(ids[:2])
    engine.dream()
    assert [(memory.id, weight) for memory, weight in Internals(engine).links(ids[0])] == [(ids[1], 3)]
    assert [(memory.id, weight) for memory, weight in Internals(engine).links(ids[1])] == [(ids[0], 3)]
    assert Internals(engine).links(ids[2]) == ()
    engine.record_shown(ids[:2])
    clock.tick(60)
    engine.dream()
    assert [weight for _, weight in Internals(engine).links(ids[0])] == [4]
    engine.dreams.undo(2)
    assert [weight for _, weight in Internals(engine).links(ids[0])] == [3]
    engine.forget([ids[1]])
    assert Internals(engine).links(ids[0]) == ()


# Edits by people, and purged memories


def test_a_dream_of_one_phase_swallows_nothing_that_others_need(engine: Engine, clock: FixedClock) -> None:
    engine.remember("the kettle is red")
    for session in ("one", "two", "three"):
        ask(engine, "kettle", session)
        clock.tick(DAY)
    whole = engine.dream(dry_run=True, gate=False, phases=["consolidate", "downscale", "promote"]).report
    assert len(whole.deeper) == 1
    done = [engine.dream(gate=False, phases=[phase]) for phase in ("consolidate", "promote", "downscale")]
    assert [each.id for each in done] == [1, 2, 3]
    assert done[0].report.answers == 3
    assert done[0].report.stabler == whole.stabler == 1
    assert done[1].report.deeper == whole.deeper
    assert engine.dream(gate=False, phases=["consolidate", "promote"]).id is None


def test_a_copy_of_an_error_that_was_overlooked_by_a_dream_without_correcting_is_found_later(
    engine: Engine, clock: FixedClock
) -> None:
    wrong = engine.remember("Alice works at Google").id
    right = engine.supersede(wrong, "Alice works at Microsoft").by.id
    clock.tick(60)
    copy = engine.remember("Alice works for Google").id
    clock.tick(2 * DAY)
    assert engine.dream(phases=["place"]).id == 1
    clock.tick(DAY)
    assert engine.dream(phases=["correct"]).report.corrected == ((copy, right),)


def test_who_was_restored_by_hand_is_neither_corrected_nor_merged_again(
    engine: Engine, clock: FixedClock
) -> None:
    world(engine, clock)
    first = engine.dream().report
    assert (first.merged, first.corrected) == (((4, 3),), ((7, 6),))
    (_, repeat, _) = first.merged_observations[0]
    clock.tick(60)
    engine.restore(4)
    engine.restore(7)
    engine.graph.restore_observation(repeat)
    for days in (0, 1, 30):
        clock.tick(days * DAY)
        report = engine.dream(gate=False, without=["prune"]).report
        assert (report.merged, report.corrected, report.merged_observations) == ((), (), ())
    assert [got(engine, id_).superseded_at for id_ in (4, 7)] == [None, None]


def test_an_observation_that_was_restored_by_hand_is_not_corrected_again(
    engine: Engine, clock: FixedClock
) -> None:
    wrong = engine.remember("Alice works at Google").id
    engine.supersede(wrong, "Alice works at Microsoft")
    clock.tick(60)
    engine.create_entities([{"name": "Alice", "observations": ["works at Google"]}])
    engine.dream()
    (alice,) = engine.graph.open_nodes(["Alice"], history=True).entities
    assert alice.in_force == ()
    clock.tick(60)
    engine.graph.restore_observation(alice.observations[0].id)
    engine.dream()
    assert [seen.content for seen in engine.graph.open_nodes(["Alice"]).entities[0].in_force] == [
        "works at Google"
    ]


def test_a_purge_leaves_no_word_of_what_is_gone_in_dreams_questions_and_indexes(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember_many([f"the kettle number {number} is red" for number in range(6)])
    secrets = [engine.remember(f"Zanzibar is the password of vault {number}").id for number in (1, 2)]
    ask(engine, "zanzibar password")
    clock.tick(2 * DAY)
    assert "Zanzibar" in str(engine.dream().report.upkeep)
    assert "zanzibar" in indexed(engine)
    engine.forget(secrets)
    clock.tick(DAY)
    ask(engine, "kettle")
    assert engine.purge(clock.now) == 2
    with engine._services.store.read() as view:
        asked = [question.query for question in past_questions(view, scope_id(view, engine.scope), 9)]
    # Questions from after the forgetting are left out.
    assert asked == ["kettle"]
    assert "zanzibar" not in indexed(engine)
    (record,) = engine.dreams.history()
    assert record.report["upkeep"] is None
    assert record.report["gate"]["losses"] == []
    assert record.report["gate"]["questions"] > 0


def test_a_dream_without_downscaling_takes_none_of_the_nights_from_the_next(
    engine: Engine, clock: FixedClock
) -> None:
    engine.remember("the kettle is red")
    clock.tick(DAY)
    engine.dream(phases=["downscale", "place"])
    clock.tick(3 * DAY)
    engine.record_shown([1])
    assert engine.dream(gate=False, phases=["link", "consolidate"]).id == 2
    before = got(engine, 1).strength
    clock.tick(DAY)
    engine.dream(gate=False, phases=["downscale"])
    # Four nights since strengths were last downscaled: 0.95^4.
    assert got(engine, 1).strength == pytest.approx(before * 0.81450625)


def test_who_took_another_in_may_be_pruned_in_the_same_dream_and_both_come_back(
    engine: Engine, clock: FixedClock
) -> None:
    texts = ("Ada drinks tea in the garden", "Ada drinks the tea in the garden!")
    for text in (*texts, "Bob says that Ada drinks tea in the garden"):
        engine.remember(text)
    clock.tick(DAY)
    engine.dream(gate=False, phases=["downscale", "place"])
    clock.tick(400 * DAY)
    engine.record_shown([3])
    before = content_rows(engine)
    done = engine.dream(gate=False, knobs=Knobs(prune_echo=0.5))
    assert (done.report.merged, done.report.pruned, done.left) == (((2, 1),), (1,), ())
    assert (got(engine, 2).superseded_by, got(engine, 1).deleted_at) == (1, clock.now)
    assert engine.dreams.undo(2).left == ()
    assert content_rows(engine) == before


def test_a_dream_is_found_by_its_id_without_reading_the_others(engine: Engine, clock: FixedClock) -> None:
    for n in range(3):
        engine.remember(f"the kettle whistles in shed {n}")
        engine.recall("kettle")
        clock.tick(DAY)
        engine.dream(gate=False)
    first, second, third = sorted(each.id for each in engine.dreams.history())
    # Reading another dream's report would fail on it.
    store: Any = engine._services.store
    store.store.transact(
        lambda rows: rows.patch("dream", (OneOf("id", [first, third]),), {"report": "no JSON"}),
        [engine.scope],
    )
    record, journal = engine.dreams.journal(second)
    assert record.id == second
    assert record.report["memories"] == 2
    assert journal["lived"]
    assert Internals(engine).dreams_undone_with(second) == (third, second)
    assert engine.dreams.undo(second, later=True).ids == (third, second)
    with pytest.raises(NotFound):
        engine.dreams.journal(third + 1)
