"""Learning how sure one may be, by itself: after an answer, in the background, when the store has grown."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.engine.calibrating import LEAST_QUESTIONS, GivenUp, calibrate, how_many, model_of
from recollect.engine.calibration_rows import read_calibration
from recollect.errors import RecollectError

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.parts import Parts
    from recollect.records import Scope

_log = logging.getLogger(__name__)
_EVERY = timedelta(minutes=10)
"""Whoever has just looked does not look again so soon."""
_GROWN = 1.5
# A question of our own takes milliseconds, but where another machine has the model, as long as that likes.
_AT_LATEST_SECONDS = 2.0
# Of so many memories it is learnt within a second, so that it is waited for rather than given up: the command
# line opens and closes the memory with every question.
_FEW = 100


class Learning:
    """Calibrates whose memory is asked when it is due, one at a time. Two processes learn the same."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._next: dict[Scope, datetime] = {}
        self._thread: threading.Thread | None = None
        self._closing = threading.Event()
        self._closed = threading.Event()

    def falls(self, scope: Scope) -> None:
        """An answer was given there: look whether there is something to learn. Returns at once."""
        now = self._parts.clock()
        with self._lock:
            self._next = {known: at for known, at in self._next.items() if now < at}
            if not self._wanted() or scope in self._next:
                return
            # Whoever comes while another learns is looked at with a later answer.
            if self._thread is not None and self._thread.is_alive():
                return
            self._next[scope] = now + _EVERY
            self._thread = threading.Thread(
                target=self._learn, args=(scope,), name="recollect-learning", daemon=True
            )
            self._thread.start()

    def settle(self, at_most_seconds: float | None = None) -> None:
        """Wait for what is under way."""
        with self._lock:
            thread = self._thread
        if thread is not None:
            thread.join(at_most_seconds)

    def close(self) -> None:
        """Give up what is under way, unless it is done in a moment: the next process begins anew.

        A model that does not come back is not waited for; once it does, the store is left alone.
        """
        self._closing.set()
        self.settle(_AT_LATEST_SECONDS)
        self._closed.set()

    def _wanted(self) -> bool:
        return not (self._closing.is_set() or self._parts.ends.is_set())

    def _open(self) -> bool:
        return not (self._closed.is_set() or self._parts.ends.is_set())

    def _learn(self, scope: Scope) -> None:
        parts = replace(self._parts, scope=scope)
        try:
            if is_due(parts):
                calibrate(parts, wanted=self._open if _is_small(parts) else self._wanted)
        except GivenUp:
            _log.info("The store was closed before it had learnt how sure it may be.")
        except RecollectError as error:
            _log.warning("The store could not learn how sure it may be: %s", error)
        except Exception:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            _log.exception("The store could not learn how sure it may be")


def _is_small(parts: Parts) -> bool:
    with parts.store.read() as view:
        return how_many(view, parts) <= _FEW


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
