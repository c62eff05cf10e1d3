"""Scheduled dreams: started when due, one at a time, without delaying other calls."""

from __future__ import annotations

import logging
import threading
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENCE_SECONDS

from recollect.domain.changes import TakeLease
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Scope
from recollect.dreams.dreaming import DreamCancelled, DreamScheduler
from recollect.dreams.knobs import Knobs
from recollect.dreams.state import dream_records
from recollect.engine import Engine
from recollect.models.embedders import embedder_named
from recollect.search.recording import UsageRecorder
from recollect.search.rows import scope_id
from recollect.services import Services
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import FixedClock

HOUR, DAY = 3_600, 86_400
EVERY = timedelta(hours=20)


class Sleeper:
    """An engine that dreams by itself, and what happened around its dreams."""

    def __init__(
        self, store: Repository, clock: FixedClock, every: timedelta = EVERY, **parts: object
    ) -> None:
        self.backups: list[tuple[datetime, int]] = []
        """When each was made, and how many dreams there were by then."""
        self.before: Callable[[], None] = lambda: None
        """Called just before a dream begins."""
        recorder = UsageRecorder(store, "test", PATIENCE_SECONDS)
        self.parts = replace(
            Services(store, clock, embedder_named, "hashing", Scope(), recorder),
            **parts,  # type: ignore[arg-type]
        )
        self.scheduler = DreamScheduler(self.parts, every, self._back_up)
        self.engine = Engine(self.parts)
        self.engine.remember("the kettle is red")

    def _back_up(self, now: datetime) -> None:
        self.backups.append((now, len(self.engine.dreams.history())))
        self.before()

    def run_if_due(self) -> int:
        """How many dreams there are once one that may have been due is over."""
        self.scheduler.run_if_due()
        self.parts.worker.settle_jobs()
        return len(self.engine.dreams.history())

    def live(self, clock: FixedClock, seconds: float) -> None:
        """Time passes, and something is worth dreaming of."""
        clock.tick(seconds)
        self.engine.record_shown([1])
        self.parts.usage.settle(None)


@pytest.fixture
def sleeper(store: Repository, clock: FixedClock) -> Sleeper:
    sleeper = Sleeper(store, clock)
    sleeper.live(clock, DAY)
    return sleeper


def test_after_an_answer_the_store_dreams_by_itself(store: Repository, clock: FixedClock) -> None:
    sleeper = Sleeper(store, clock)
    sleeper.parts.usage.after_recording.append(lambda _: sleeper.scheduler.run_if_due())
    assert sleeper.engine.recall("kettle").hits
    sleeper.parts.usage.settle(None)
    sleeper.parts.worker.settle_jobs()
    (dream,) = sleeper.engine.dreams.history()
    assert (dream.at, dream.report["answers"]) == (clock.now, 1)


def test_it_is_due_again_only_after_the_interval(sleeper: Sleeper, clock: FixedClock) -> None:
    assert sleeper.run_if_due() == 1
    sleeper.live(clock, EVERY.total_seconds() - 1)
    assert sleeper.run_if_due() == 1
    sleeper.live(clock, 1)
    assert sleeper.run_if_due() == 2


def test_what_another_process_dreamt_counts(sleeper: Sleeper, store: Repository, clock: FixedClock) -> None:
    assert sleeper.engine.dream().id == 1
    sleeper.live(clock, HOUR)
    other = Sleeper(store, clock, process_id="another")
    assert other.run_if_due() == 1
    # It looks again when that one's interval is over, not its own.
    other.live(clock, EVERY.total_seconds() - HOUR)
    assert other.run_if_due() == 2


def test_a_long_dream_stays_alone_and_holds_up_no_caller(sleeper: Sleeper, clock: FixedClock) -> None:
    asleep, morning = threading.Event(), threading.Event()

    def sleep() -> None:
        asleep.set()
        assert morning.wait(PATIENCE_SECONDS)

    sleeper.before = sleep
    sleeper.scheduler.run_if_due()
    assert asleep.wait(PATIENCE_SECONDS)
    # In the middle of the night, all of it works.
    assert sleeper.engine.recall("kettle").hits
    assert sleeper.engine.remember("the gate is green").created
    assert sleeper.engine.dreams.history() == ()
    for _ in range(3):
        clock.tick(2 * EVERY.total_seconds())
        sleeper.scheduler.run_if_due()
    morning.set()
    sleeper.parts.worker.settle_jobs(PATIENCE_SECONDS)
    assert len(sleeper.backups) == 1
    assert len(sleeper.engine.dreams.history()) == 1


# The backup


def test_a_backup_is_asked_for_before_every_dream(store: Repository, clock: FixedClock) -> None:
    sleeper = Sleeper(store, clock, timedelta(hours=1))
    for dreams in (1, 2, 3):
        sleeper.live(clock, HOUR)
        assert sleeper.run_if_due() == dreams
    assert sleeper.backups == [
        (datetime(2026, 3, 1, hour, tzinfo=UTC), dreams) for dreams, hour in enumerate((13, 14, 15))
    ]


def test_who_undoes_a_dream_is_not_given_it_again_at_once(store: Repository, clock: FixedClock) -> None:
    sleeper = Sleeper(store, clock, timedelta(hours=1))
    sleeper.live(clock, HOUR)
    assert sleeper.run_if_due() == 1
    clock.tick(HOUR - 60)
    sleeper.engine.dreams.undo(1)
    sleeper.live(clock, 120)
    assert sleeper.run_if_due() == 1
    sleeper.live(clock, HOUR)
    assert sleeper.run_if_due() == 2


# Trouble


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreUnavailable("The disk is full."), "The dream failed: The disk is full."),
        (RuntimeError("a bug of ours"), "a bug of ours"),
    ],
)
def test_a_dream_whose_backup_fails_is_logged_and_tried_again_later(
    sleeper: Sleeper, clock: FixedClock, caplog: pytest.LogCaptureFixture, error: Exception, told: str
) -> None:
    def fail() -> None:
        raise error

    sleeper.before = fail
    with caplog.at_level(logging.WARNING):
        assert sleeper.run_if_due() == 0
    assert told in caplog.text
    sleeper.before = lambda: None
    assert sleeper.engine.recall("kettle").hits
    clock.tick(EVERY.total_seconds())
    assert sleeper.run_if_due() == 1


def test_who_finds_another_process_at_it_looks_again_after_five_minutes(
    sleeper: Sleeper, store: Repository, clock: FixedClock
) -> None:
    store.apply([TakeLease("dream", "another", 60)], at=clock.now)
    assert sleeper.run_if_due() == 0
    clock.tick(5 * 60 - 1)
    assert sleeper.run_if_due() == 0
    clock.tick(1)
    assert sleeper.run_if_due() == 1


def test_a_phase_that_would_hide_what_people_find_is_left_out_and_told(
    store: Repository, clock: FixedClock, caplog: pytest.LogCaptureFixture
) -> None:
    keen = Knobs(prune_echo=0, prune_signal=1, prune_strength=1.1)
    sleeper = Sleeper(store, clock, knobs=keen)
    sleeper.engine.recall("kettle")
    clock.tick(400 * DAY)
    with caplog.at_level(logging.WARNING):
        assert sleeper.run_if_due() == 1
    (dream,) = sleeper.engine.dreams.history()
    assert dream.report["skipped"] == ["prune"]
    assert "left out prune" in caplog.text
    memory = sleeper.engine.get(1)
    assert memory is not None
    assert memory.deleted_at is None


# Waking


def test_closing_gives_up_a_dream_that_is_not_written(tmp_path: Path, clock: FixedClock) -> None:
    path = tmp_path / "memory.db"
    sleeper = Sleeper(Repository(SqliteStore(path)), clock)
    sleeper.live(clock, DAY)
    asleep = threading.Event()

    def sleep() -> None:
        asleep.set()
        # Wait until the memory is closed.
        assert sleeper.parts.worker.stopping.wait(PATIENCE_SECONDS)

    sleeper.before = sleep
    sleeper.scheduler.run_if_due()
    assert asleep.wait(PATIENCE_SECONDS)
    sleeper.engine.close()
    with closing(Repository(SqliteStore(path))) as store, store.read() as view:
        assert dream_records(view, scope_id(view, Scope()), 9) == []
        assert view.rows("lease", ("holder",)) == []


def test_what_is_written_is_not_given_up(sleeper: Sleeper) -> None:
    sleeper.parts.worker.close()
    for stage in range(1, 6):
        with pytest.raises(DreamCancelled):
            sleeper.scheduler._step(stage, 6)
    sleeper.scheduler._step(6, 6)
    # After closing, no dream begins.
    assert sleeper.run_if_due() == 0
    assert sleeper.backups == []
