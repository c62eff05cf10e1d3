"""The background worker: what is next, what never waits, and what closing does to a job under way."""

from __future__ import annotations

import logging
import threading
from functools import partial
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENCE_SECONDS

from recollect.admin import Internals
from recollect.models.hashing import HashingEmbedder
from recollect.write import embedding as meaning
from recollect.write.repository import Priority, Worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import MakeEngine

    from recollect.engine import Engine
    from recollect.stores.port import Vectors

TEXTS = 200
BATCH = 64
"""Of `engine.embedding`: what is embedded between two looks at whether to go on."""


@pytest.fixture
def worker() -> Worker:
    return Worker()


def held_up(worker: Worker, priority: Priority = Priority.VECTORS) -> threading.Event:
    """A job that is under way until the event is set."""
    begun, go_on = threading.Event(), threading.Event()

    def run() -> None:
        begun.set()
        assert go_on.wait(PATIENCE_SECONDS)

    assert worker.submit(priority, run)
    assert begun.wait(PATIENCE_SECONDS)
    return go_on


def test_of_the_jobs_that_wait_the_most_urgent_is_next_and_the_older_of_two_alike(worker: Worker) -> None:
    done: list[str] = []
    go_on = held_up(worker)
    for priority, name in ((2, "mine"), (2, "hers"), (1, "vectors")):
        worker.submit(Priority(priority), partial(done.append, name))
    go_on.set()
    worker.settle_jobs(PATIENCE_SECONDS)
    assert done == ["vectors", "mine", "hers"]


def test_a_note_of_use_never_waits_behind_a_longer_job(worker: Worker) -> None:
    noted: list[int] = []
    go_on = held_up(worker, Priority.DREAM)
    for number in range(3):
        worker.submit(Priority.USAGE, partial(noted.append, number))
    worker.settle_usage(PATIENCE_SECONDS)
    assert noted == [0, 1, 2]
    go_on.set()


def test_two_threads_at_most_and_none_before_there_is_something_to_do(worker: Worker) -> None:
    def threads() -> int:
        return sum(each.name.startswith("recollect-") for each in threading.enumerate())

    before = threads()
    go_on = [held_up(worker, Priority.DREAM), held_up(worker, Priority.USAGE)]
    for priority in Priority:
        worker.submit(priority, lambda: None)
    assert threads() == before + 2
    for each in go_on:
        each.set()
    worker.close()


def test_a_job_that_fails_is_logged_and_the_next_has_its_turn(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    done = threading.Event()

    def fail() -> None:
        raise RuntimeError("a bug of ours")

    with caplog.at_level(logging.ERROR):
        worker.submit(Priority.VECTORS, fail)
        worker.submit(Priority.VECTORS, done.set)
        worker.settle_jobs(PATIENCE_SECONDS)
    assert done.is_set()
    assert "a bug of ours" in caplog.text


def test_closing_runs_what_waits_lets_it_know_and_takes_nothing_more(worker: Worker) -> None:
    told: list[bool] = []
    go_on = held_up(worker)
    worker.submit(Priority.DREAM, lambda: told.append(worker.stopping.is_set()))
    worker.submit(Priority.USAGE, lambda: told.append(True))
    closing = threading.Thread(target=worker.close, daemon=True)
    closing.start()
    assert worker.stopping.wait(PATIENCE_SECONDS)
    go_on.set()
    closing.join(PATIENCE_SECONDS)
    assert not closing.is_alive()
    assert told == [True, True]
    assert not worker.submit(Priority.USAGE, lambda: None)
    worker.close()


# Embedding in the background


class PausingEmbedder(HashingEmbedder):
    """Says when it has begun, and goes on when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.may_go_on = threading.Event(), threading.Event()

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.begun.set()
        assert self.may_go_on.wait(PATIENCE_SECONDS)
        return super().documents(texts)


@pytest.fixture
def unembedded(make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> MakeEngine:
    """A store whose texts all wait, since they were saved without a model."""
    monkeypatch.setattr(meaning, "GIVE_WAY_SECONDS", 0)
    names = [{"name": f"Imp {number}", "type": "sprite"} for number in range(TEXTS)]
    make_engine(lambda _: None, model="none").create_entities(names)
    return make_engine


def embed_all(memory: Engine) -> None:
    Internals(memory).embed_in_background()
    memory._services.worker.settle_jobs(PATIENCE_SECONDS)


def test_who_closes_the_memory_stops_embedding_after_the_batch_and_the_next_goes_on(
    unembedded: MakeEngine,
) -> None:
    nothing = unembedded(lambda _: None, model="none")
    embed_all(nothing)
    assert nothing.counts().due == TEXTS
    slow = PausingEmbedder()
    memory = unembedded(lambda _: slow)
    Internals(memory).embed_in_background()
    assert slow.begun.wait(PATIENCE_SECONDS)
    memory._services.worker.stopping.set()
    slow.may_go_on.set()
    memory._services.worker.close()
    again = unembedded()
    assert (again.counts().due, again.counts().vectors) == (TEXTS - BATCH, BATCH)
    embed_all(again)
    assert (again.counts().due, again.counts().vectors) == (0, TEXTS)
