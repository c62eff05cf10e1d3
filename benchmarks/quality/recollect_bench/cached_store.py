"""A store that is asked each question once: many profiles read what the first of them was told.

Only the very same question is answered from memory, its depth included: a search for 30 need not be the first
30 of a search for 100 (on large stores both searches spend a budget), and what a benchmark reports must be
what a caller gets.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.changes import Change, Receipt
    from recollect.ports import Progress, Store, View
    from recollect.records import Memory, Problem

_MOST = 1_000
"""Answers to keep: those of a few questions, by all profiles."""


class AskedOnce:
    """Beside another store. A write through it forgets all answers; nobody else may write meanwhile."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._answers: dict[Hashable, Any] = {}

    @contextmanager
    def read(self) -> Iterator[View]:
        with self.store.read() as view:
            # Every method of a view only reads, so that each can be answered so.
            yield cast("View", _Remembering(view, self._answers))

    def apply(
        self,
        changes: Sequence[Change],
        *,
        at: datetime,
        key: str | None = None,
        keep_going: bool = False,
    ) -> Receipt:
        self._answers.clear()
        return self.store.apply(changes, at=at, key=key, keep_going=keep_going)

    def version(self) -> int:
        return self.store.version()

    def backup(self, path: str, progress: Progress | None = None) -> None:
        self.store.backup(path, progress)

    def scrub(self) -> None:
        self.store.scrub()

    def verify(self) -> Sequence[Problem]:
        return self.store.verify()

    def repair(self) -> Sequence[Problem]:
        self._answers.clear()
        return self.store.repair()

    def close(self) -> None:
        self.store.close()


class _Remembering:
    """A view; its answers are those of all views since the last write."""

    def __init__(self, view: View, answers: dict[Hashable, Any]) -> None:
        self._view = view
        self._answers = answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._asked, name)

    def memories(self, ids: Sequence[int]) -> Mapping[int, Memory]:
        """One by one: profiles show much the same, each in another order."""
        known = self._answers.setdefault("memories", {})
        if lacking := [id_ for id_ in ids if id_ not in known]:
            known |= self._view.memories(lacking)
        return {id_: known[id_] for id_ in ids if id_ in known}

    def _asked(self, name: str, *given: Any, **named: Any) -> Any:
        key = (name, *map(_key, given), *((each, _key(value)) for each, value in sorted(named.items())))
        if key not in self._answers:
            if len(self._answers) >= _MOST:
                self._answers.clear()
            self._answers[key] = getattr(self._view, name)(*given, **named)
        return self._answers[key]


def _key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    if isinstance(value, list):
        return tuple(value)
    return cast("Hashable", value)
