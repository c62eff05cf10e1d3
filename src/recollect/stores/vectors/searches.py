"""The questions of a snapshot about vectors, over whatever caches its store keeps of them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from recollect.conditions import OneOf
from recollect.stores.vectors.filters import MOST_LISTED, ROWS_PER_QUESTION, VectorFilter
from recollect.stores.vectors.prefix import nearest_by_prefix
from recollect.stores.vectors.search import cosines, nearest, vector_passages
from recollect.stores.vectors.source import check_width

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.conditions import Where
    from recollect.ports import Vector
    from recollect.records import Found
    from recollect.stores.vectors.cache import VectorCache
    from recollect.stores.vectors.scan import Allowed
    from recollect.stores.vectors.source import VectorQueries, VectorSource
    from recollect.tables import Row, Table


class CachedVectors:
    """The vectors of one model in one or more caches, searched as one."""

    def __init__(self, model: str, caches: Sequence[tuple[VectorCache, VectorQueries, VectorSource]]) -> None:
        self.model = model
        self.source = caches[0][2]
        self._caches = caches
        self._states = [cache.state(queries, source) for cache, queries, source in caches]
        self._runs = list(chain.from_iterable(state.runs for state in self._states))

    def search(self, query: Vector, k: int, allowed: Allowed, shortlist: int | None = None) -> list[Found]:
        """The best `k` memories among those allowed.

        With a `shortlist`, only that many memories, the nearest by a prefix of their vectors, are compared in
        full.
        """
        query = np.ascontiguousarray(query, np.float32)
        if shortlist is None:
            return nearest(self._runs, query, k, allowed, self.source.centre)
        cache, queries, source = self._caches[0]
        parts = list(chain.from_iterable(state.parts for state in self._states))
        return nearest_by_prefix(parts, cache.prefixes_of(queries, source), query, k, allowed, shortlist)

    def size(self) -> int:
        """How many vectors there are, give or take those that died."""
        return sum(state.rows for state in self._states)

    def cosines(self, query: Vector, ids: Collection[int]) -> list[Found]:
        """The cosine of each of these memories, by id."""
        return cosines(self._runs, np.ascontiguousarray(query, np.float32), ids)

    def passages(self, ids: Collection[int]) -> list[tuple[int, int]]:
        """The passages of these memories that have a vector, each with its memory, by passage."""
        return vector_passages(self._runs, ids)


class VectorSearches:
    """Searches by vector, for a snapshot that knows its rows and its caches."""

    def nearest(
        self, vector: Vector, k: int, scopes: Sequence[int], where: Where, shortlist: int | None = None
    ) -> Sequence[Found]:
        if not scopes or k <= 0:
            return []
        vectors = self._vectors_of(scopes)
        if vectors is None:
            return []
        check_width(vector, vectors.model, vectors.source.dims)
        reach = VectorFilter.of(where)
        allowed = reach.allowed(scopes)
        if not reach.others:
            return vectors.search(vector, k, allowed, shortlist)
        ids = None
        if reach.is_narrow or shortlist is not None:
            ids = self._ids(scopes, reach, None if shortlist is not None else MOST_LISTED)
        if ids is None:
            found = self._first_that_meet(vectors, vector, k, allowed, reach.others)
            if found is not None:
                return found
            ids = self._ids(scopes, reach) or []
        return vectors.search(vector, k, reach.allowed(scopes, ids), shortlist)

    def cosines(self, vector: Vector, ids: Collection[int]) -> Sequence[Found]:
        vectors = self._vectors_with(ids)
        if vectors is None:
            return []
        check_width(vector, vectors.model, vectors.source.dims)
        return vectors.cosines(vector, ids)

    def embedded_passages(self, ids: Collection[int]) -> Sequence[tuple[int, int]]:
        vectors = self._vectors_with(ids)
        return [] if vectors is None else vectors.passages(ids)

    def _first_that_meet(
        self, vectors: CachedVectors, vector: Vector, k: int, allowed: Allowed, others: Where
    ) -> list[Found] | None:
        """The best hits that meet conditions which only the tables know. None: listing costs less."""
        wanted = 2 * k
        most = vectors.size() // ROWS_PER_QUESTION
        while True:
            hits = vectors.search(vector, wanted, allowed)
            asked = (OneOf("id", [hit.id for hit in hits]), *others)
            meet = {id_ for (id_,) in self.rows("memory", ("id",), asked)}
            found = [hit for hit in hits if hit.id in meet]
            if len(found) >= k or len(hits) < wanted:
                return found[:k]
            # As many as it takes if others meet them as often as these, and some more.
            wanted = max(4 * wanted, 2 * wanted * k // (len(found) or 1))
            if wanted > most:
                return None

    # Of each store

    def rows(self, table: Table, columns: Sequence[str], where: Where = ()) -> list[Row]:
        raise NotImplementedError

    def _vectors_of(self, scopes: Sequence[int]) -> CachedVectors | None:
        """The vectors of these scopes, and perhaps others; None where no model is in use."""
        raise NotImplementedError

    def _vectors_with(self, ids: Collection[int]) -> CachedVectors | None:
        """The vectors of these memories, and perhaps others; None where no model is in use."""
        raise NotImplementedError

    def _ids(self, scopes: Sequence[int], reach: VectorFilter, most: int | None = None) -> list[int] | None:
        """All memories that meet the conditions, wherever they are. None: there are more than that."""
        raise NotImplementedError
