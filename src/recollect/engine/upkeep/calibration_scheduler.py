"""Calibrating by itself: after an answer, in the background, when the store has grown."""

from __future__ import annotations

import logging
import threading
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.engine.confidence import read_calibration
from recollect.engine.services import Services
from recollect.engine.upkeep.calibration import (
    LEAST_QUESTIONS,
    CalibrationCancelled,
    calibrate,
    how_many,
    model_of,
)
from recollect.engine.worker import Priority
from recollect.errors import RecollectError
from recollect.records import Scope
from recollect.retrieval.answer_log import stored_calibration
from recollect.retrieval.records import scope_id

_log = logging.getLogger(__name__)
_EVERY = timedelta(minutes=10)
"""Whoever has just looked does not look again so soon."""
_GROWN = 1.5
# A question of our own takes milliseconds, but where another machine has the model, as long as that likes.
_CLOSE_WITHIN_SECONDS = 2.0
# Of so many memories it is learnt within a second, so that it is waited for rather than given up: the command
# line opens and closes the memory with every question.
_FEW = 100


class CalibrationScheduler:
    """Calibrates whose memory is asked when it is due. Two processes learn the same.

    Closing gives up what is under way, unless it is done in a moment: the next process begins anew. A model
    that does not come back is not waited for; once it does, the store is left alone.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._next: dict[Scope, datetime] = {}

    def run_if_due(self, scope: Scope) -> None:
        """An answer was given there: look whether there is something to learn. Returns at once."""
        now = self._services.clock()
        with self._lock:
            self._next = {known: at for known, at in self._next.items() if now < at}
            if scope in self._next or not self._is_wanted():
                return
            self._next[scope] = now + _EVERY
        self._services.worker.submit(
            Priority.CALIBRATION, lambda: self._run(scope), close_within_seconds=_CLOSE_WITHIN_SECONDS
        )

    def _is_wanted(self) -> bool:
        return not (self._services.worker.stopping.is_set() or self._services.shutdown.is_set())

    def _is_open(self) -> bool:
        return not (self._services.worker.abandoned.is_set() or self._services.shutdown.is_set())

    def _run(self, scope: Scope) -> None:
        services = replace(self._services, scope=scope)
        try:
            if self._is_open() and is_due(services):
                calibrate(services, wanted=self._is_open if _is_small(services) else self._is_wanted)
        except CalibrationCancelled:
            _log.info("The store was closed before it had learnt how sure it may be.")
        except RecollectError as error:
            _log.warning("The store could not learn how sure it may be: %s", error)
        except Exception:  # noqa: BLE001  # best effort: whatever it is, no caller may feel it
            _log.exception("The store could not learn how sure it may be")


def _is_small(services: Services) -> bool:
    with services.store.read() as view:
        return how_many(view, services) <= _FEW


def is_due(services: Services) -> bool:
    """Whether nothing was learnt by this model, or the store has grown or shrunk by half since."""
    model = model_of(services)
    with services.store.read() as view:
        memories = how_many(view, services)
        kept = stored_calibration(view, scope_id(view, services.scope), model)
        known = read_calibration(view, services.scope, model)
    if memories < LEAST_QUESTIONS:
        return False
    if kept is None or known is None:
        return True
    return not kept.memories / _GROWN <= memories <= kept.memories * _GROWN
