"""What a server remembers of searches, so that the next page of one need not search again."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from recollect.engine.results import Answer

_KEEP_SECONDS = 600.0
_Value = TypeVar("_Value")


class RecentValues(Generic[_Value]):
    """The values that were kept or asked for last, for a while."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._values: OrderedDict[Hashable, tuple[float, _Value]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: Hashable, value: _Value) -> None:
        with self._lock:
            self._values[key] = self._clock(), value
            self._values.move_to_end(key)
            while len(self._values) > self._most:
                self._values.popitem(last=False)

    def get(self, key: Hashable) -> _Value | None:
        with self._lock:
            since, value = self._values.get(key, (0.0, None))
            if value is None or self._clock() - since > _KEEP_SECONDS:
                self._values.pop(key, None)
                return None
            self._values.move_to_end(key)
            return value


@dataclass(frozen=True, slots=True)
class RecentAnswers:
    """What a server remembers of the searches that a caller may page through.

    It only saves searches: where something is not remembered, the search is made again.
    """

    shown: RecentValues[frozenset[int]] = field(default_factory=lambda: RecentValues(256))
    """The ids on a first page."""
    answers: RecentValues[Answer] = field(default_factory=lambda: RecentValues(8))
    """Searches to the bottom, each for one state of the store."""
