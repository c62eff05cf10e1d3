"""The minimum cost of an answer by meaning and words: a scan of the vectors and of the postings."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from stand_in import COMMON, StandIn

from recollect.domain.numbers import pack_vector
from recollect.stores.port import Vector, Vectors
from recollect.stores.vectors.block import VectorRow, VectorSource
from recollect.stores.vectors.cache import Part, blocks_of
from recollect.stores.vectors.scan import TWO_STAGES_FROM, Allowed, nearest

K = 100
"""Hits per search, as in the default profile."""
_K1, _B = 1.2, 0.75
_WORD = re.compile(r"\w+")
_AT_ONCE = 10_000


class Floor:
    """A search with everything prepared that does not depend on the query. Only the rest is timed."""

    def __init__(self, texts: Sequence[str], embedder: StandIn) -> None:
        self._embedder = embedder
        parts = [embedder.documents(texts[at : at + _AT_ONCE]) for at in range(0, len(texts), _AT_ONCE)]
        self.scan, self.how = _scan_of(np.concatenate(parts), embedder)
        self._postings, self._lengths = _postings(texts)
        self._queries: dict[str, Vector] = {}

    def prepare(self, queries: Sequence[str]) -> None:
        """Embed these queries in advance."""
        self._queries = {query: self._embedder.query(query) for query in queries}

    def vectors(self, query: str) -> object:
        return self.scan(self._queries[query])

    def words(self, query: str) -> NDArray[np.intp]:
        """BM25 over the terms of the query."""
        scores = np.zeros(len(self._lengths), np.float32)
        for word in set(_terms(query)):
            if word in self._postings:
                ids, counts, weight = self._postings[word]
                scores[ids] += weight * counts * (_K1 + 1) / (counts + self._lengths[ids])
        return best(scores)

    def both(self, query: str) -> object:
        return self.vectors(query), self.words(query)


def best(scores: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the best K, in order."""
    if len(scores) <= K:
        return np.argsort(-scores)
    found = np.argpartition(scores, -K)[-K:]
    return found[np.argsort(-scores[found])]


Scan = Callable[[Vector], object]


def _scan_of(rows: Vectors, embedder: StandIn) -> tuple[Scan, str]:
    def exact(query: Vector) -> object:
        return best(np.vecdot(rows, query))

    centre = embedder.model.centre
    if len(rows) < TWO_STAGES_FROM or centre is None:
        return exact, "np.vecdot over float32, and the best of it"
    source = VectorSource("floor", 1, rows.shape[1], centre)
    stored = (
        VectorRow(place, place, place, 1, 0, pack_vector(row)) for place, row in enumerate(rows, start=1)
    )
    runs = [Part(block, block.used, shared=False).run for block in blocks_of(stored, source)]

    def two_stages(query: Vector) -> object:
        return nearest(runs, query, K, Allowed.of([1]), source.centre)

    return two_stages, "the store's own scan: codes first, then in full what they leave in doubt"


Postings = dict[str, tuple[NDArray[np.int64], NDArray[np.float32], float]]


def _postings(texts: Sequence[str]) -> tuple[Postings, NDArray[np.float32]]:
    """Return each word's texts, counts and weight, and each text's length factor."""
    found: dict[str, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    lengths = np.zeros(len(texts), np.float32)
    for place, text in enumerate(texts):
        words = _terms(text)
        lengths[place] = len(words)
        for word, count in Counter(words).items():
            ids, counts = found[word]
            ids.append(place)
            counts.append(count)
    ready: Postings = {}
    for word, (ids, counts) in found.items():
        weight = max(1e-6, float(np.log((len(texts) - len(ids) + 0.5) / (len(ids) + 0.5))))
        ready[word] = np.array(ids), np.array(counts, np.float32), weight
    return ready, _K1 * (1 - _B + _B * lengths / max(1.0, float(lengths.mean())))


def _terms(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower()) if word not in COMMON]
