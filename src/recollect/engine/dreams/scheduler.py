"""Dreaming by itself, without a daemon: after an answer, in the background, when a while has passed."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import datetime, timedelta

from recollect.engine.dreams.dreaming import DreamOptions, dream
from recollect.engine.dreams.dreams import Dreams
from recollect.engine.services import Services
from recollect.engine.worker import Priority
from recollect.errors import Conflict, RecollectError

Backup = Callable[[datetime], None]
"""Told the time before every dream; it makes one a day."""

_log = logging.getLogger(__name__)
# Whoever finds another process at it looks again after so long.
_PATIENCE = timedelta(minutes=5)


class DreamCancelled(Exception):
    """The memory is being closed: a dream that has not been written yet is given up."""


class DreamScheduler:
    """Lets a store dream when it is due; at most one dream at a time."""

    def __init__(self, services: Services, every: timedelta, backup: Backup | None = None) -> None:
        self._services = services
        self._every = every
        self._backup = backup
        self._lock = threading.Lock()
        self._next: datetime | None = None
        self._is_submitted = False

    def run_if_due(self) -> None:
        """An answer was given: dream now, if it is time. Returns at once."""
        now = self._services.clock()
        with self._lock:
            if self._is_submitted or (self._next is not None and now < self._next):
                return
            self._next = now + self._every
            self._is_submitted = self._services.worker.submit(Priority.DREAM, self._run)

    def _run(self) -> None:
        try:
            self._dream()
        except DreamCancelled:
            _log.info("A dream was given up, since the memory was closed.")
        except Conflict:
            self._look_again(self._services.clock() + _PATIENCE)
        except RecollectError as error:
            _log.warning("The dream came to nothing: %s", error)
        except Exception:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            _log.exception("The dream came to nothing")
        finally:
            with self._lock:
                self._is_submitted = False

    def _dream(self) -> None:
        if self._services.worker.stopping.is_set():
            raise DreamCancelled
        now = self._services.clock()
        # Whoever has just undone a dream does not want it again at once.
        due = max((each.undone_at or each.at for each in Dreams(self._services).history(1)), default=None)
        if due is not None and now < due + self._every:
            self._look_again(due + self._every)
            return
        if self._backup is not None:
            self._backup(now)
        options = DreamOptions(phases=self._services.phases, knobs=self._services.knobs, drop_failing=True)
        done = dream(self._services, options, self._step)
        for phase in done.report.skipped:
            _log.warning("The dream left out %s: people would have found less.", phase)

    def _step(self, done: int, of: int | None) -> None:
        # After the last step it is written.
        if self._services.worker.stopping.is_set() and done != of:
            raise DreamCancelled

    def _look_again(self, at: datetime) -> None:
        with self._lock:
            self._next = at
