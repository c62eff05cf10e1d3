"""The engine's access to a store, its background worker, and names of processes that hold leases."""

from __future__ import annotations

import dataclasses
import logging
import os
import secrets
import threading
from collections.abc import Callable, Sequence
from dataclasses import field
from datetime import datetime
from enum import IntEnum
from heapq import heappop, heappush
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.domain.changes import Change, Receipt
from recollect.domain.records import Model
from recollect.stores.port import Store

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from recollect.domain.records import Problem, Scope
    from recollect.stores.port import Progress, Snapshot
    from recollect.write.apply import BeforeCommit, Precondition


class Repository:
    """A store. `apply` makes all writes, and each read sees one snapshot."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.size: Callable[[], tuple[int, int]] = store.size
        self.version: Callable[[], int] = store.version
        self.compact: Callable[[], bool] = store.compact
        self.close: Callable[[], None] = store.close
        self.repair: Callable[[], Sequence[Problem]] = store.repair
        self.last_model: Model | None = None
        """The model of the last search. The next query is embedded with it before the store is read."""
        self.changing_model = False
        """Whether a job of this process is switching the model."""

    def read(self, within: Scope | None = None) -> AbstractContextManager[Snapshot]:
        return self.store.read(within)

    def backup(self, path: str, progress: Progress | None = None) -> None:
        self.store.backup(path, progress)

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        return self.store.verify(quick=quick)

    def apply(
        self,
        changes: Sequence[Change],
        *,
        at: datetime,
        key: str | None = None,
        keep_going: bool = False,
        precondition: Precondition | None = None,
        before_commit: BeforeCommit | None = None,
    ) -> Receipt:
        """Apply all changes in one transaction, or none; see `recollect.write.apply`."""
        from recollect.write.apply import apply  # noqa: PLC0415  # not needed by calls that only read

        return apply(
            self.store,
            changes,
            at=at,
            key=key,
            keep_going=keep_going,
            precondition=precondition,
            before_commit=before_commit,
        )

    @property
    def place(self) -> str:
        """The path of the store's file, `:memory:`, or its URL without the password."""
        return str(getattr(self.store, "location", type(self.store)))

    @property
    def read_only(self) -> bool:
        """Whether nothing can be written, as on a read-only disk. Optional writes are then skipped."""
        return bool(getattr(self.store, "read_only", False))


# The background worker

_log = logging.getLogger(__name__)


class Priority(IntEnum):
    """The priority of a waiting job; the lowest number comes first."""

    USAGE = 0
    """For jobs that take milliseconds; the next answer waits for them."""
    VECTORS = 1
    DREAM = 2


@dataclasses.dataclass(order=True, slots=True)
class _Job:
    priority: Priority
    number: int
    run: Callable[[], None] = field(compare=False)


class Worker:
    """A runner of background jobs, in two lanes with a thread each.

    Usage records have their own lane: answers read what earlier ones recorded, and must not wait for a dream
    or a slow model. All other jobs share the second lane, so only one of them runs at a time.

    Jobs of the second lane end early once `stopping` is set.
    """

    def __init__(self) -> None:
        self.stopping: threading.Event = threading.Event()
        """Set when the memory is being closed."""
        self._numbers = count()
        self._usage = _Lane("recollect-usage")
        self._jobs = _Lane("recollect-jobs")

    def submit(self, priority: Priority, run: Callable[[], None]) -> bool:
        """Queue a job; return False if the worker is closed."""
        lane = self._usage if priority is Priority.USAGE else self._jobs
        return lane.put(_Job(priority, next(self._numbers), run))

    def settle_usage(self, at_most_seconds: float | None = None) -> bool:
        """Wait until usage records are written. Return False if some are still waiting."""
        return self._usage.settle(at_most_seconds)

    def drop_usage(self) -> int:
        """Drop the queued usage records, and return how many there were."""
        return self._usage.drop()

    def settle_jobs(self, at_most_seconds: float | None = None) -> None:
        """Wait until the longer jobs have ended."""
        self._jobs.settle(at_most_seconds)

    def close(self) -> None:
        """Stop the longer jobs early, write the remaining usage records, and refuse new jobs."""
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
        # Hold the lock throughout, so that no job is queued after closing.
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
        """Refuse new jobs, and wait for the queued ones."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._next() is None)

    def _next(self) -> _Job | None:
        """Return the running job, or else the next one, if any."""
        return self._running or (self._queue[0] if self._queue else None)

    def _run_all(self) -> None:
        while (job := self._take()) is not None:
            try:
                job.run()
            except Exception:  # noqa: BLE001  # the other jobs must still run
                _log.exception("A background job failed")
            with self._changed:
                self._running = None
                self._changed.notify_all()

    def _take(self) -> _Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._is_closed)
            self._running = heappop(self._queue) if self._queue else None
            return self._running


# Names of lease holders. From a name, other processes on the same machine can see that the holder has died.

_PARTS = 5


def process_identity() -> str:
    """Return a unique name for this process. Its last parts say where and when it was started."""
    started = _start_ticks(os.getpid())
    return "/".join((secrets.token_hex(8), _boot(), _namespace(), str(os.getpid()), started))


def is_dead(holder: str) -> bool:
    """Whether the process of this name has certainly ended. False if that is unknown."""
    parts = holder.partition(" ")[0].split("/")
    if len(parts) != _PARTS or not parts[3].isdecimal():
        return False
    _, boot, namespace, pid, started = parts
    # Process ids are comparable only within one boot of one machine, and within one container.
    if not boot or boot != _boot() or not namespace or namespace != _namespace():
        return False
    return started != _start_ticks(int(pid))


def _boot() -> str:
    """Return the id of this boot of the machine, which its containers share; empty if unknown."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:  # only Linux has this file; elsewhere, leases must expire
        return ""


def _namespace() -> str:
    try:
        return str(Path("/proc/self/ns/pid").readlink()).replace("/", "-")
    except OSError:
        return ""


def _start_ticks(pid: int) -> str:
    """Return the start of a process in ticks since boot; empty without such a process."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    # Skip the program's name: it is in parentheses, and may contain any character.
    fields = status.rpartition(")")[2].split()
    # A zombie process has ended.
    return "" if fields[0] in "ZX" else fields[19]
