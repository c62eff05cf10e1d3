"""Learning how sure one may be, by itself: after an answer, in the background, when the store has grown."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.engine.calibrating import LEAST_QUESTIONS, GivenUp, calibrate, how_many, model_of
from recollect.engine.calibration_rows import read_calibration
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.parts import Parts

_log = logging.getLogger(__name__)
_EVERY = timedelta(minutes=10)
"""Whoever has just looked does not look again so soon."""
_GROWN = 1.5


class Learning:
    """Calibrates a store when it is due, in one thread. Two processes that do so learn the same."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._next: datetime | None = None
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()

    def falls(self) -> None:
        """An answer was given: look whether there is something to learn. Returns at once."""
        now = self._parts.clock()
        with self._lock:
            if self._closing.is_set() or (self._next is not None and now < self._next):
                return
            if self._thread is not None and self._thread.is_alive():
                return
            self._next = now + _EVERY
            self._thread = threading.Thread(target=self._learn, name="recollect-learning", daemon=True)
            self._thread.start()

    def settle(self) -> None:
        """Wait for what is under way."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join()

    def close(self) -> None:
        """Give up what is under way: the next process begins anew."""
        self._closing.set()
        self.settle()

    def _learn(self) -> None:
        try:
            if is_due(self._parts):
                calibrate(self._parts, wanted=lambda: not self._closing.is_set())
        except GivenUp:
            _log.info("The store was closed before it had learnt how sure it may be.")
        except RecollectError as error:
            _log.warning("The store could not learn how sure it may be: %s", error)
        except Exception:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            _log.exception("The store could not learn how sure it may be")


def is_due(parts: Parts) -> bool:
    """Whether nothing was learnt by this model, or the store has grown or shrunk by half since."""
    model = model_of(parts)
    with parts.store.read() as view:
        memories = how_many(view, parts)
        kept = view.calibration(parts.scope, model)
        known = read_calibration(view, parts.scope, model)
    if memories < LEAST_QUESTIONS:
        return False
    if kept is None or known is None:
        return True
    return not kept.memories / _GROWN <= memories <= kept.memories * _GROWN
