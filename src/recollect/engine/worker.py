"""The one background worker: notes of use at once and in order, longer jobs one after the other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count

_log = logging.getLogger(__name__)


class Priority(IntEnum):
    """Which of the waiting jobs is next: the lowest."""

    USAGE = 0
    """Takes milliseconds, and the next answer waits for it: never behind one of the others."""
    VECTORS = 1
    DREAM = 2


@dataclass(order=True, slots=True)
class _Job:
    priority: Priority
    number: int
    run: Callable[[], None] = field(compare=False)


class Worker:
    """Runs jobs in the background, each in the thread of its lane.

    Notes of use have a lane of their own: a dream or a slow model may take minutes, and an answer is to read
    what earlier answers noted. All other jobs share a second lane, so that at most one of them runs.

    A job ends early once `stopping` is set.
    """

    def __init__(self) -> None:
        self.stopping = threading.Event()
        """Somebody closes the memory."""
        self._numbers = count()
        self._usage = _Lane("recollect-usage")
        self._jobs = _Lane("recollect-jobs")

    def submit(self, priority: Priority, run: Callable[[], None]) -> bool:
        """Run this when its turn comes; False: the worker is closed."""
        lane = self._usage if priority is Priority.USAGE else self._jobs
        return lane.put(_Job(priority, next(self._numbers), run))

    def settle_usage(self, at_most_seconds: float | None = None) -> bool:
        """Wait for the notes of use; False: some still wait."""
        return self._usage.settle(at_most_seconds)

    def drop_usage(self) -> int:
        """Take back the notes of use whose turn has not come; how many there were."""
        return self._usage.drop()

    def settle_jobs(self, at_most_seconds: float | None = None) -> None:
        """Wait for the longer jobs."""
        self._jobs.settle(at_most_seconds)

    def close(self) -> None:
        """Let the longer jobs end early, write what is left to be noted, and take nothing more."""
        self.stopping.set()
        self._jobs.close()
        self._usage.close()


class _Lane:
    """A queue with a thread of its own, which starts with the first job."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._queue: list[_Job] = []
        self._running: _Job | None = None
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread: threading.Thread | None = None

    def put(self, job: _Job) -> bool:
        # One lock for all of it, so that nothing is put behind the end.
        with self._changed:
            if self._is_closed:
                return False
            heappush(self._queue, job)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run_all, name=self._name, daemon=True)
                self._thread.start()
            self._changed.notify_all()
            return True

    def settle(self, at_most_seconds: float | None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: self._next() is None, at_most_seconds)

    def drop(self) -> int:
        with self._changed:
            dropped = len(self._queue)
            self._queue.clear()
            self._changed.notify_all()
            return dropped

    def close(self) -> None:
        """Take no more jobs, and wait for those that are there."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._next() is None)

    def _next(self) -> _Job | None:
        """What runs, or else what will."""
        return self._running or (self._queue[0] if self._queue else None)

    def _run_all(self) -> None:
        while (job := self._take()) is not None:
            try:
                job.run()
            except Exception:  # noqa: BLE001  # whatever it is, the jobs behind it have their turn
                _log.exception("A job in the background came to nothing")
            with self._changed:
                self._running = None
                self._changed.notify_all()

    def _take(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            self._running = heappop(self._queue) if self._queue else None
            return self._running
