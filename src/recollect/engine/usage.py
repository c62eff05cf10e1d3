"""Recording what callers were shown, after the answer, without the answer waiting for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import TYPE_CHECKING

from recollect.changes import Logged, RecordUse
from recollect.engine.worker import Priority, Worker
from recollect.errors import RecollectError
from recollect.ranking.factors.recency import microseconds
from recollect.records import Scope

if TYPE_CHECKING:
    from recollect.engine.repository import Repository

LogEntry = Callable[[], Logged | None]
"""What the log is to keep of an answer, worked out when nobody waits for it; None: nothing."""

_log = logging.getLogger(__name__)
# A note takes milliseconds to write. Only where another program holds the file does it take longer, and
# then an answer that lacks the latest note is better than one that is late.
_PATIENCE_SECONDS = 0.05
# Who asks faster than the store can note leaves notes behind, and does not wait minutes for them at the end.
_CLOSING_SECONDS = 10.0
_SIZED_EVERY = 100


class UsageRecorder:
    """Writes in the background, best effort: a failure is logged and counted, and reaches no caller."""

    def __init__(
        self,
        store: Repository,
        session: str,
        patience_seconds: float = _PATIENCE_SECONDS,
        worker: Worker | None = None,
        closing_seconds: float = _CLOSING_SECONDS,
    ) -> None:
        self.session = session
        self.patience_seconds = patience_seconds
        self.closing_seconds = closing_seconds
        self.worker = worker or Worker()
        self.failures = 0
        """Of this process. The store learns of them with the next answer that can be noted."""
        self.last_failure: str | None = None
        self.after_recording: list[Callable[[Scope], None]] = []
        """What to look at once an answer was given and noted, in the background as well."""
        self._store = store
        self._answers = count(1)
        self._failing = threading.Lock()
        self._untold = 0
        self._sized = 0
        self._store_size = 0, 1
        self._last: tuple[RecordUse, datetime] | None = None

    def record(
        self,
        scope: Scope,
        ids: Sequence[int],
        at: datetime,
        query: str | None = None,
        profile: str | None = None,
        *,
        opened: bool = False,
        log: LogEntry | None = None,
    ) -> None:
        """What the caller was shown, best first, and what for; or asked for itself, and so opened.

        `log` gives what else to keep of the answer. It is called in the background.
        """
        if not ids or self._store.read_only:
            return
        use = RecordUse(scope, tuple(ids), self.session, query=query, profile=profile, opened=opened)
        if not self.worker.submit(Priority.USAGE, lambda: self._write(use, at, log)):
            self._fail("the memory was closed meanwhile")

    def handle(self, at: datetime) -> str:
        """A name for an answer that nobody else has, known before it is noted."""
        return f"{self.session}:{microseconds(at):x}:{next(self._answers)}"

    def store_size(self) -> tuple[int, int]:
        """How many bytes and scopes the store has. Looked at once in a hundred answers."""
        if self._sized % _SIZED_EVERY == 0:
            with self._store.read() as snapshot:
                scopes = snapshot.count("scope")[None]
            self._store_size = self._store.size()[0], scopes
        self._sized += 1
        return self._store_size

    def settle(self, at_most_seconds: float | None) -> None:
        """Wait for what was noted before, so that one call after another always gives the same answers."""
        self.worker.settle_usage(at_most_seconds)

    def close(self) -> None:
        """Write what is left, and let the store at least know how many answers it does not know of."""
        if not self.worker.settle_usage(self.closing_seconds) and (left := self.worker.drop_usage()):
            self._fail(f"{left:,} notes still waited when the memory was closed", left)
        self.worker.close()
        if self._untold and self._last is not None:
            use, at = self._last
            with suppress(RecollectError):  # it was logged when it happened
                self._apply(replace(use, ids=(), log=None), at)

    def _write(self, use: RecordUse, at: datetime, log: LogEntry | None) -> None:
        try:
            self._apply(replace(use, log=_kept(log)), at)
        except Exception as error:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            self._fail(str(error))
        for look in self.after_recording:
            look(use.scope)

    def _apply(self, use: RecordUse, at: datetime) -> None:
        self._last = use, at
        missed = self._untold
        self._store.apply([replace(use, missed=missed)], at=at)
        with self._failing:
            # More may have been missed meanwhile.
            self._untold -= missed

    def _fail(self, why: str, answers: int = 1) -> None:
        with self._failing:
            self._untold += answers
            self.failures += answers
            self.last_failure = why
        _log.warning("What was recalled could not be noted: %s", why)


def _kept(log: LogEntry | None) -> Logged | None:
    """What the log is to keep. That it cannot be told is no reason not to count what was seen."""
    try:
        return None if log is None else log()
    except Exception as error:  # noqa: BLE001  # best effort, as above
        _log.warning("An answer could not be logged: %s", error)
        return None
