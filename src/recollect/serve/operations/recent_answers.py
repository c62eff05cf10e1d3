"""What a server remembers of searches, so that the next page of one need not search again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import field
from typing import TYPE_CHECKING, Generic, TypeVar

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.engine.results import Answer

_Value = TypeVar("_Value")


class RecentValues(Generic[_Value]):
    """The values that were kept or asked for last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, key: Hashable, value: _Value) -> None:
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._most:
                self._values.popitem(last=False)

    def get(self, key: Hashable) -> _Value | None:
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)


@dataclass(frozen=True, slots=True)
class RecentAnswers:
    """What a server remembers of the searches that a caller may page through."""

    shown: RecentValues[frozenset[int]] = field(default_factory=lambda: RecentValues(256))
    """The ids on a first page."""
    answers: RecentValues[Answer] = field(default_factory=lambda: RecentValues(8))
    """Searches to the bottom, each for one state of the store."""
