"""Signals: noting what a caller saw, after the answer, without the answer waiting for it."""

from __future__ import annotations

import logging
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

from recollect.records import RecordUse

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from recollect.ports import Store
    from recollect.records import Scope

_log = logging.getLogger(__name__)


class Signals:
    """Writes in the background, best effort: a failure is logged and counted, and reaches no caller."""

    def __init__(self, store: Store, session: str) -> None:
        self.session = session
        self.failures = 0
        self.last_failure: str | None = None
        self._store = store
        self._waiting: SimpleQueue[tuple[RecordUse, datetime] | None] = SimpleQueue()
        self._idle = threading.Condition()
        self._unwritten = 0
        self._thread: threading.Thread | None = None

    def seen(self, scope: Scope, ids: Sequence[int], at: datetime) -> None:
        """What the caller was shown, best first."""
        if not ids:
            return
        with self._idle:
            self._unwritten += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="recollect-signals", daemon=True)
                self._thread.start()
        self._waiting.put((RecordUse(scope, tuple(ids), self.session), at))

    def settle(self) -> None:
        """Wait for what was noted before, so that one call after another always gives the same answers."""
        with self._idle:
            self._idle.wait_for(lambda: self._unwritten == 0)

    def close(self) -> None:
        """Write what is left, and stop."""
        self.settle()
        with self._idle:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._waiting.put(None)
            thread.join()

    def _write_all(self) -> None:
        while (item := self._waiting.get()) is not None:
            change, at = item
            try:
                self._store.apply([change], at=at)
            except Exception as error:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
                self.failures += 1
                self.last_failure = str(error)
                _log.warning("What was recalled could not be noted: %s", error)
            finally:
                with self._idle:
                    self._unwritten -= 1
                    self._idle.notify_all()
