"""An answer says how sure it is, abstains where asked to, and learns from its own store."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from recollect.changes import Calibrate
from recollect.engine.calibrating import LEAST_QUESTIONS, GivenUp, calibrate
from recollect.engine.calibration_rows import read_calibration
from recollect.engine.learning import Learning, is_due
from recollect.engine.own_questions import own_questions
from recollect.errors import InvalidInput
from recollect.rank.likely import UNLIKELY
from recollect.rank.profiles import PROFILES
from recollect.records import Scope

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine
    from recollect.engine.engine import Engine

NOTES = (
    "Marisol Vega is allergic to hazelnuts and carries an antihistamine",
    "The harbour office opens at nine on weekdays",
    "Ana moved from Porto to a small flat in Lisbon",
    "We decided to keep the tide tables in SQLite",
    "The grey cat of the lighthouse is called Biscuit",
    "Tomas repairs outboard engines behind the fish market",
    "The annual regatta starts at the northern breakwater",
    "Ingrid bakes rye bread for the whole street on Fridays",
    "The spare key of the boathouse hangs behind the barometer",
    "A dredger will deepen the channel before the winter storms",
    "Old charts of the estuary are kept in the mapping room",
    "Captain Reyes retired after forty years on the ferry",
)


@pytest.fixture
def harbour(make_engine: MakeEngine) -> Engine:
    engine = make_engine()
    engine.remember_many(NOTES)
    return engine


def test_what_is_stored_gets_more_than_what_never_was(harbour: Engine) -> None:
    known = harbour.search("Where does the spare key of the boathouse hang?")
    assert known.hits[0].memory.text == NOTES[8]
    unknown = harbour.search("Which orchestra performed Mahler's symphony in Vienna?")
    assert known.confidence is not None
    assert unknown.confidence is not None
    assert known.confidence > 0.6
    assert not known.doubtful
    assert unknown.confidence < UNLIKELY
    assert unknown.doubtful
    assert known.hits[0].confidence == max(hit.confidence or 0 for hit in known.hits)


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_gives_a_probability_to_every_hit(harbour: Engine, profile: str) -> None:
    for query in ("boathouse key", "Who is allergic to nuts?", "symphony orchestra", "?"):
        answer = harbour.search(query, profile=profile)
        assert answer.confidence is not None
        for hit in answer.hits:
            assert hit.confidence is not None
            assert 0 <= hit.confidence <= answer.confidence <= 1


@pytest.mark.parametrize("limit", [1, 3, 10, 50])
def test_the_limit_does_not_move_the_confidence_of_an_answer(harbour: Engine, limit: int) -> None:
    # Of a dozen notes every limit gathers all, so that nothing but the limit differs.
    whole = harbour.search("spare key of the boathouse")
    assert harbour.search("spare key of the boathouse", limit=limit).confidence == whole.confidence


def test_words_alone_tell_too(make_engine: MakeEngine) -> None:
    engine = make_engine(model="none")
    engine.remember_many(NOTES)
    known = engine.search("Where does the spare key of the boathouse hang?").confidence
    assert known is not None
    assert known > 0.6
    assert engine.search("Which orchestra performed Mahler's symphony?").doubtful


def test_abstaining_withholds_guesses_and_nothing_else(harbour: Engine) -> None:
    silent = harbour.recall("Which orchestra performed Mahler's symphony in Vienna?", abstain=True)
    guesses = harbour.search("Which orchestra performed Mahler's symphony in Vienna?")
    assert (silent.hits, silent.abstained, silent.withheld) == ((), True, len(guesses.hits))
    assert silent.confidence == guesses.confidence
    sure = harbour.search("Where does the spare key of the boathouse hang?")
    assert harbour.recall("Where does the spare key of the boathouse hang?", abstain=True).hits == sure.hits


def test_what_was_withheld_was_not_seen(harbour: Engine) -> None:
    harbour.recall("Which orchestra performed Mahler's symphony in Vienna?", abstain=True)
    harbour.recall("spare key of the boathouse", min_confidence=0.5)
    harbour.parts.signals.settle(None)
    with harbour.store.read() as view:
        asked = view.questions(harbour.scope, 10)
    assert [(each.query, len(each.shown)) for each in asked] == [("spare key of the boathouse", 1)]


def test_the_least_confidence_leaves_out_what_is_below(harbour: Engine) -> None:
    query = "spare key of the boathouse"
    every = harbour.search(query).hits
    some = harbour.recall(query, min_confidence=0.5)
    assert some.hits == tuple(hit for hit in every if (hit.confidence or 0) >= 0.5)
    assert some.withheld == len(every) - len(some.hits) > 0
    assert harbour.recall(query, min_confidence=0.0).hits == every


@pytest.mark.parametrize("least", [-0.1, 1.1, "much", True, float("nan")])
def test_a_least_confidence_that_is_no_share_is_refused(harbour: Engine, least: object) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        harbour.recall("key", min_confidence=least)  # type: ignore[arg-type]


def test_an_empty_question_has_no_confidence(harbour: Engine) -> None:
    answer = harbour.search("  ")
    assert (answer.confidence, answer.doubtful) == (None, False)


def test_what_happened_in_a_time_that_is_all_that_was_asked_for_is_an_answer(harbour: Engine) -> None:
    answer = harbour.search("What happened today?")
    assert answer.confidence == 0.95
    assert {hit.confidence for hit in answer.hits} == {0.95}


def test_the_same_store_asks_itself_the_same(harbour: Engine) -> None:
    with harbour.store.read() as view:
        one = own_questions(view, harbour.scope, 200)
        assert one == own_questions(view, harbour.scope, 200)
        fewer = own_questions(view, harbour.scope, 5)
    assert len(one) == len(NOTES)
    assert 0 < len(fewer) <= 5
    for question in one:
        assert question.query != question.memory.text


def test_what_was_learnt_is_kept_and_the_same_each_time(harbour: Engine, clock: FixedClock) -> None:
    first = harbour.calibrate()
    assert first.calibration is not None
    assert first.calibration.questions == len(NOTES)
    assert first.calibration.present > first.calibration.absent
    clock.tick()
    assert harbour.calibrate() == first
    with harbour.store.read() as view:
        row = view.calibration(harbour.scope, first.model)
        assert read_calibration(view, harbour.scope, first.model) == first.calibration
        assert view.calibration(harbour.scope, "another") is None
        assert view.calibration(Scope("someone", "else"), first.model) is None
    assert row is not None
    assert (row.memories, row.at) == (len(NOTES), clock.now)


def test_the_answer_is_moved_by_what_was_learnt(harbour: Engine, clock: FixedClock) -> None:
    query = "Where does the spare key of the boathouse hang?"
    before = harbour.search(query).confidence
    learnt = harbour.calibrate()
    with harbour.store.read() as view:
        row = view.calibration(harbour.scope, learnt.model)
    assert row is not None
    assert before is not None
    # As if unanswerable questions scored ever so high here.
    high = json.dumps({**json.loads(row.value), "questions": 200, "absent": 3.0, "scale": None})
    harbour.store.apply([Calibrate(harbour.scope, learnt.model, 12, high)], at=clock.tick())
    after = harbour.search(query).confidence
    assert after is not None
    assert after < before


def test_what_another_version_has_measured_is_not_read(harbour: Engine, clock: FixedClock) -> None:
    learnt = harbour.calibrate()
    harbour.store.apply([Calibrate(harbour.scope, learnt.model, 12, '{"version": 0}')], at=clock.tick())
    with harbour.store.read() as view:
        assert read_calibration(view, harbour.scope, learnt.model) is None
    assert harbour.search("spare key").confidence is not None
    assert is_due(harbour.parts)


def test_a_small_store_learns_nothing_and_answers_all_the_same(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.remember_many(NOTES[: LEAST_QUESTIONS - 1])
    assert engine.calibrate().calibration is None
    assert not is_due(engine.parts)
    assert (engine.search("spare key of the boathouse").confidence or 0) > 0.6


def test_it_is_due_at_first_and_once_the_store_has_grown_by_half(harbour: Engine) -> None:
    assert is_due(harbour.parts)
    harbour.calibrate()
    assert not is_due(harbour.parts)
    # 12 notes become 18: grown by half, not by more.
    harbour.remember_many([f"Buoy number {place} was painted again" for place in range(6)])
    assert not is_due(harbour.parts)
    harbour.remember("The last buoy was taken ashore")
    assert is_due(harbour.parts)


def test_learning_goes_on_behind_an_answer_and_not_twice(harbour: Engine, clock: FixedClock) -> None:
    learning = Learning(harbour.parts)
    learning.falls()
    learning.settle()
    with harbour.store.read() as view:
        row = view.calibration(harbour.scope, harbour.calibrate().model)
    assert row is not None
    began = clock.now
    clock.tick(3600)
    learning.falls()
    learning.settle()
    with harbour.store.read() as view:
        again = view.calibration(harbour.scope, harbour.calibrate().model)
    assert row.at == began
    assert again is not None
    learning.close()


def test_who_closes_the_memory_does_not_wait_for_it_to_learn(harbour: Engine) -> None:
    with pytest.raises(GivenUp):
        calibrate(harbour.parts, wanted=lambda: False)
    learning = Learning(harbour.parts)
    learning.close()
    learning.falls()
    learning.settle()
    assert is_due(harbour.parts)


def test_copies_of_the_answer_go_with_it(make_engine: MakeEngine) -> None:
    single = make_engine()
    doubled = single.scoped("twice")
    single.remember_many(NOTES)
    doubled.remember_many([*NOTES, *(f"{note}, as everybody here knows" for note in NOTES)])
    one, two = single.calibrate().calibration, doubled.calibrate().calibration
    assert one is not None
    assert two is not None
    # Were the copies left in, a question without its answer would score as one that has it.
    assert two.auroc > 0.8
