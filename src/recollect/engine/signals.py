"""Signals: noting what a caller saw, after the answer, without the answer waiting for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import count
from queue import SimpleQueue
from typing import TYPE_CHECKING

from recollect.changes import Logged, RecordUse
from recollect.errors import RecollectError
from recollect.factors.recency import microseconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recollect.ports import Store
    from recollect.records import Scope

Log = Callable[[], Logged | None]
"""What the log is to keep of an answer, worked out when nobody waits for it; None: nothing."""

_log = logging.getLogger(__name__)
# A note takes milliseconds to write. Only where another program holds the file does it take longer, and
# then an answer that lacks the latest note is better than one that is late.
_PATIENCE_SECONDS = 0.05


class Signals:
    """Writes in the background, best effort: a failure is logged and counted, and reaches no caller."""

    def __init__(self, store: Store, session: str, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        self.session = session
        self.patience_seconds = patience_seconds
        self.failures = 0
        """Of this process. The store learns of them with the next answer that can be noted."""
        self.last_failure: str | None = None
        self.then: Callable[[], None] | None = None
        """What to do once an answer was given and noted, in the background as well."""
        self.later: Callable[[Scope], None] | None = None
        """And what to do after that; told whose memory answered."""
        self._store = store
        self._waiting: SimpleQueue[tuple[RecordUse, datetime, Log | None] | None] = SimpleQueue()
        self._answers = count(1)
        self._idle = threading.Condition()
        self._unwritten = 0
        self._untold = 0
        self._last: tuple[RecordUse, datetime] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None

    def seen(
        self,
        scope: Scope,
        ids: Sequence[int],
        at: datetime,
        query: str | None = None,
        profile: str | None = None,
        *,
        opened: bool = False,
        log: Log | None = None,
    ) -> None:
        """What the caller was shown, best first, and what for; or asked for itself, and so opened.

        `log` gives what else to keep of the answer. It is called in the background.
        """
        if not ids:
            return
        # One lock for all of it, so that nothing is put behind the end that `close` puts.
        with self._idle:
            if self._closed:
                self._failed("the memory was closed meanwhile")
                return
            self._unwritten += 1
            use = RecordUse(scope, tuple(ids), self.session, query=query, profile=profile, opened=opened)
            self._waiting.put((use, at, log))
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="recollect-signals", daemon=True)
                self._thread.start()

    def handle(self, at: datetime) -> str:
        """A name for an answer that nobody else has, known before it is noted."""
        return f"{self.session}:{microseconds(at):x}:{next(self._answers)}"

    def settle(self, at_most_seconds: float | None) -> None:
        """Wait for what was noted before, so that one call after another always gives the same answers."""
        with self._idle:
            self._idle.wait_for(lambda: self._unwritten == 0, at_most_seconds)

    def close(self) -> None:
        """Write what is left, and stop."""
        with self._idle:
            self._closed = True
            thread, self._thread = self._thread, None
            if thread is not None:
                self._waiting.put(None)
        if thread is not None:
            thread.join()

    def _write_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            change, at, log = item
            try:
                self._tell(replace(change, log=self._kept(log)), at)
            except Exception as error:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
                with self._idle:
                    self._failed(str(error))
            finally:
                with self._idle:
                    self._unwritten -= 1
                    self._idle.notify_all()
            if self.then is not None:
                self.then()
            if self.later is not None:
                self.later(change.scope)

        self._tell_the_rest()

    def _tell(self, change: RecordUse, at: datetime) -> None:
        self._last = change, at
        self._store.apply([replace(change, missed=self._untold)], at=at)
        self._untold = 0

    def _kept(self, log: Log | None) -> Logged | None:
        """What the log is to keep. That it cannot be told is no reason not to count what was seen."""
        try:
            return None if log is None else log()
        except Exception as error:  # noqa: BLE001  # best effort, as above
            _log.warning("An answer could not be logged: %s", error)
            return None

    def _tell_the_rest(self) -> None:
        """At the end, let the store at least know how many answers it does not know of."""
        if self._untold and self._last is not None:
            change, at = self._last
            with suppress(RecollectError):  # it was logged when it happened
                self._tell(replace(change, ids=(), log=None), at)

    def _failed(self, why: str) -> None:
        self._untold += 1
        self.failures += 1
        self.last_failure = why
        _log.warning("What was recalled could not be noted: %s", why)
