"""Dreaming by itself, without a daemon: after an answer, in the background, when a while has passed."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.engine.dreaming import Wish, dream, dreams
from recollect.errors import Conflict, RecollectError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from recollect.engine.parts import Parts
    from recollect.rank.pipeline import Profile

    Backup = Callable[[datetime], None]
    """Told the time before every dream; it makes one a day."""

_log = logging.getLogger(__name__)
# Whoever finds another process at it looks again after so long.
_PATIENCE = timedelta(minutes=5)


class Woken(Exception):
    """The memory is being closed: a dream that has not been written yet is given up."""


class Night:
    """Lets a store dream when it is due; at most one dream at a time, in one thread of one process."""

    def __init__(
        self, parts: Parts, profiles: Mapping[str, Profile], every: timedelta, backup: Backup | None = None
    ) -> None:
        self._parts = parts
        self._profiles = profiles
        self._every = every
        self._backup = backup
        self._lock = threading.Lock()
        self._next: datetime | None = None
        self._thread: threading.Thread | None = None
        self._waking = threading.Event()

    def falls(self) -> None:
        """An answer was given: dream now, if it is time. Returns at once."""
        now = self._parts.clock()
        with self._lock:
            if self._waking.is_set() or (self._next is not None and now < self._next):
                return
            if self._thread is not None and self._thread.is_alive():
                return
            self._next = now + self._every
            self._thread = threading.Thread(target=self._sleep, name="recollect-dream", daemon=True)
            self._thread.start()

    def settle(self) -> None:
        """Wait for a dream that is under way."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        self._waking.set()
        self.settle()

    def _sleep(self) -> None:
        try:
            self._dream()
        except Woken:
            _log.info("A dream was given up, since the memory was closed.")
        except Conflict:
            self._look_again(self._parts.clock() + _PATIENCE)
        except RecollectError as error:
            _log.warning("The dream came to nothing: %s", error)
        except Exception:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            _log.exception("The dream came to nothing")

    def _dream(self) -> None:
        now = self._parts.clock()
        # Whoever has just undone a dream does not want it again at once.
        due = max((each.undone_at or each.at for each in dreams(self._parts, 1)), default=None)
        if due is not None and now < due + self._every:
            self._look_again(due + self._every)
            return
        if self._backup is not None:
            self._backup(now)
        done = dream(
            self._parts,
            self._profiles,
            Wish(phases=self._parts.phases, knobs=self._parts.knobs, drop_failing=True),
            self._step,
        )
        for phase in done.report.skipped:
            _log.warning("The dream left out %s: people would have found less.", phase)

    def _step(self, done: int, of: int | None) -> None:
        # After the last step it is written.
        if self._waking.is_set() and done != of:
            raise Woken

    def _look_again(self, at: datetime) -> None:
        with self._lock:
            self._next = at
