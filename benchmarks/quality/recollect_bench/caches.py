"""What many profiles ask alike is answered once: a store and a re-ranker that remember their answers.

The store answers only the very same question from memory, its depth included: a search for 30 need not be the
first 30 of a search for 100 (on large stores both spend a budget), and a benchmark must report what a caller
gets.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from recollect.engine.repository import Repository
    from recollect.ports import Reranker
    from recollect.ranking.candidates import Floats

_MOST = 1_000
"""Answers to keep: those of a few questions, by all profiles."""


class CachedStore:
    """Stands for a store. Whatever may write forgets all answers; nobody else may write meanwhile."""

    def __init__(self, store: Repository) -> None:
        self.store = store
        self._answers: dict[Hashable, Any] = {}

    @contextmanager
    def read(self) -> Iterator[Any]:
        with self.store.read() as snapshot:
            yield _CachedSnapshot(snapshot, self._answers)

    def version(self) -> int:
        return self.store.version()

    def __getattr__(self, name: str) -> Any:
        self._answers.clear()
        return getattr(self.store, name)


class _CachedSnapshot:
    def __init__(self, snapshot: Any, answers: dict[Hashable, Any]) -> None:
        self._snapshot = snapshot
        self._answers = answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self._ask, name)

    def _ask(self, name: str, *given: Any, **named: Any) -> Any:
        key = (name, *map(_key, given), *((each, _key(value)) for each, value in sorted(named.items())))
        if key not in self._answers:
            if len(self._answers) >= _MOST:
                self._answers.clear()
            self._answers[key] = getattr(self._snapshot, name)(*given, **named)
        return self._answers[key]


def _key(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    try:
        hash(value)
    except TypeError:  # conditions on rows hold lists
        return repr(value)
    hashable: Hashable = value
    return hashable


class CachedReranker:
    """Stands for a re-ranker whose score of a text does not depend on the other texts."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._scores: dict[tuple[str, str], float] = {}

    @property
    def name(self) -> str:
        return self._reranker.name

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        missing = [text for text in dict.fromkeys(texts) if (query, text) not in self._scores]
        if missing:
            scores = self._reranker.scores(query, missing).tolist()
            self._scores |= {(query, text): score for text, score in zip(missing, scores, strict=True)}
        return np.array([self._scores[query, text] for text in texts], dtype=np.float64)
