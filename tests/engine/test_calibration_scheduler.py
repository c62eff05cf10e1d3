"""A store learns of itself how sure it may be, by itself and for whose memory was asked."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING

import pytest
from harbour_notes import NOTES

from conftest import PATIENCE_SECONDS
from recollect.changes import Calibrate
from recollect.embedders.choose import embedder_named
from recollect.engine.confidence import read_calibration
from recollect.engine.engine import Engine
from recollect.engine.upkeep.calibration import (
    LEAST_QUESTIONS,
    CalibrationCancelled,
    calibrate,
    calibration_questions,
    model_of,
)
from recollect.engine.upkeep.calibration_scheduler import CalibrationScheduler, is_due
from recollect.records import Scope
from recollect.retrieval.answer_log import stored_calibration
from recollect.retrieval.records import scope_id

if TYPE_CHECKING:
    from conftest import FixedClock, MakeEngine
    from recollect.ports import Embedder, Vector
    from recollect.records import Calibrated


@pytest.fixture
def harbour(make_engine: MakeEngine) -> Engine:
    engine = make_engine()
    engine.remember_many(NOTES)
    return engine


def test_the_same_store_asks_itself_the_same(harbour: Engine) -> None:
    with harbour._services.store.read() as view:
        one = calibration_questions(view, harbour.scope, 200)
        assert one == calibration_questions(view, harbour.scope, 200)
        fewer = calibration_questions(view, harbour.scope, 5)
    assert len(one) == len(NOTES)
    assert 0 < len(fewer) <= 5
    for query, memory in one:
        assert query != memory.text


def test_what_was_learnt_is_kept_and_the_same_each_time(harbour: Engine, clock: FixedClock) -> None:
    first = harbour.upkeep.calibrate()
    assert first.calibration is not None
    assert first.calibration.questions == len(NOTES)
    assert first.calibration.present > first.calibration.absent
    clock.tick()
    assert harbour.upkeep.calibrate() == first
    with harbour._services.store.read() as view:
        row = stored_calibration(view, scope_id(view, harbour.scope), first.model)
        assert read_calibration(view, harbour.scope, first.model) == first.calibration
        assert stored_calibration(view, scope_id(view, harbour.scope), "another") is None
        assert stored_calibration(view, scope_id(view, Scope("someone", "else")), first.model) is None
    assert row is not None
    assert (row.memories, row.at) == (len(NOTES), clock.now)


def test_the_answer_is_moved_by_what_was_learnt(harbour: Engine, clock: FixedClock) -> None:
    query = "Where does the spare key of the boathouse hang?"
    before = harbour.search(query).confidence
    learnt = harbour.upkeep.calibrate()
    with harbour._services.store.read() as view:
        row = stored_calibration(view, scope_id(view, harbour.scope), learnt.model)
    assert row is not None
    assert before is not None
    # As if unanswerable questions scored ever so high here.
    high = json.dumps({**json.loads(row.value), "questions": 200, "absent": 3.0, "scale": None})
    harbour._services.store.apply([Calibrate(harbour.scope, learnt.model, 12, high)], at=clock.tick())
    after = harbour.search(query).confidence
    assert after is not None
    assert after < before


def test_what_another_version_has_measured_is_not_read(harbour: Engine, clock: FixedClock) -> None:
    learnt = harbour.upkeep.calibrate()
    harbour._services.store.apply(
        [Calibrate(harbour.scope, learnt.model, 12, '{"version": 0}')], at=clock.tick()
    )
    with harbour._services.store.read() as view:
        assert read_calibration(view, harbour.scope, learnt.model) is None
    assert harbour.search("spare key").confidence is not None
    assert is_due(harbour._services)


def test_a_small_store_learns_nothing_and_answers_all_the_same(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.remember_many(NOTES[: LEAST_QUESTIONS - 1])
    assert engine.upkeep.calibrate().calibration is None
    assert not is_due(engine._services)
    assert (engine.search("spare key of the boathouse").confidence or 0) > 0.6


def test_it_is_due_at_first_and_once_the_store_has_grown_by_half(harbour: Engine) -> None:
    assert is_due(harbour._services)
    harbour.upkeep.calibrate()
    assert not is_due(harbour._services)
    # 12 notes become 18: grown by half, not by more.
    harbour.remember_many([f"Buoy number {place} was painted again" for place in range(6)])
    assert not is_due(harbour._services)
    harbour.remember("The last buoy was taken ashore")
    assert is_due(harbour._services)


def test_learning_goes_on_behind_an_answer_and_not_twice(harbour: Engine, clock: FixedClock) -> None:
    def kept() -> Calibrated | None:
        with harbour._services.store.read() as view:
            return stored_calibration(view, scope_id(view, harbour.scope), model_of(harbour._services))

    scheduler = CalibrationScheduler(harbour._services)
    scheduler.run_if_due(harbour.scope)
    harbour._services.worker.settle_jobs()
    first = kept()
    assert first is not None
    assert first.at == clock.now
    # An hour later the store is what it was.
    clock.tick(3600)
    scheduler.run_if_due(harbour.scope)
    harbour._services.worker.settle_jobs()
    assert kept() == first


def test_it_learns_for_whose_memory_was_asked(harbour: Engine) -> None:
    engine = harbour
    engine._services.usage.after_recording.append(CalibrationScheduler(engine._services).run_if_due)
    hers = engine.scoped("ana")
    hers.remember_many(NOTES)
    hers.recall("spare key of the boathouse")
    # All was noted, and what follows it begun.
    engine._services.usage.settle(None)
    engine._services.worker.settle_jobs()
    assert not is_due(hers._services)
    assert is_due(engine._services)


def test_one_memory_that_has_learnt_does_not_keep_another_from_it(harbour: Engine) -> None:
    hers = harbour.scoped("ana")
    hers.remember_many(NOTES)
    scheduler = CalibrationScheduler(harbour._services)
    for scope in (harbour.scope, hers.scope):
        scheduler.run_if_due(scope)
        harbour._services.worker.settle_jobs()
    assert not is_due(harbour._services)
    assert not is_due(hers._services)


class Hosted:
    """A model elsewhere, which does not come back."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.documents = embedder.documents
        self.asked, self.back = threading.Event(), threading.Event()

    def query(self, text: str) -> Vector:
        self.asked.set()
        # So that what waits without an end fails rather than hangs.
        self.back.wait(PATIENCE_SECONDS)
        return self._embedder.query(text)


def test_a_model_that_does_not_come_back_does_not_hold_up_closing(
    make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "recollect.engine.upkeep.calibration_scheduler")
    monkeypatch.setattr("recollect.engine.upkeep.calibration_scheduler._CLOSE_WITHIN_SECONDS", 0.01)
    embedder = embedder_named("hashing")
    assert embedder is not None
    hosted = Hosted(embedder)
    engine = make_engine(lambda _: hosted)
    engine.remember_many(NOTES)
    scheduler = CalibrationScheduler(engine._services)
    scheduler.run_if_due(engine.scope)
    assert hosted.asked.wait(PATIENCE_SECONDS)
    engine._services.worker.close()
    assert not hosted.back.is_set()
    # Once the model is back, the store is closed and left alone.
    engine._services.store.close()
    hosted.back.set()
    engine._services.worker.settle_jobs(PATIENCE_SECONDS)
    assert [record.levelname for record in caplog.records] == ["INFO"]


def test_a_small_store_that_is_closed_at_once_has_learnt(harbour: Engine) -> None:
    scheduler = CalibrationScheduler(harbour._services)
    scheduler.run_if_due(harbour.scope)
    harbour._services.worker.close()
    assert not is_due(harbour._services)


def test_once_nobody_waits_nothing_more_is_asked(harbour: Engine) -> None:
    scheduler = CalibrationScheduler(harbour._services)
    harbour._services.shutdown.set()
    scheduler.run_if_due(harbour.scope)
    harbour._services.worker.settle_jobs()
    assert is_due(harbour._services)


def test_who_closes_the_memory_does_not_wait_for_it_to_learn(harbour: Engine) -> None:
    with pytest.raises(CalibrationCancelled):
        calibrate(harbour._services, wanted=lambda: False)
    scheduler = CalibrationScheduler(harbour._services)
    harbour._services.worker.close()
    scheduler.run_if_due(harbour.scope)
    harbour._services.worker.settle_jobs()
    assert is_due(harbour._services)


def test_a_store_that_says_one_thing_over_and_over_learns_all_the_same(make_engine: MakeEngine) -> None:
    engine = make_engine()
    engine.remember_many(f"The crew painted the northern buoy again on day {day}" for day in range(40))
    engine.remember_many(NOTES)
    assert engine.upkeep.calibrate().calibration is not None


def test_copies_of_the_answer_go_with_it(make_engine: MakeEngine) -> None:
    single = make_engine()
    doubled = single.scoped("twice")
    single.remember_many(NOTES)
    doubled.remember_many([*NOTES, *(f"{note}, as everybody here knows" for note in NOTES)])
    one, two = single.upkeep.calibrate().calibration, doubled.upkeep.calibrate().calibration
    assert one is not None
    assert two is not None
    # Were the copies left in, a question without its answer would score as one that has it.
    assert two.auroc > 0.8
