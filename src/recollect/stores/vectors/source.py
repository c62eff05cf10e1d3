"""Whose vectors are cached, and the questions by which a cache keeps in step with their store."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.stores.vectors.block import Shape
from recollect.vectors import Rows, unpack_vector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.ports import Vector
    from recollect.stores.vectors.block import VectorRow

FORMAT = 2
"""Raised whenever the cache's rows would be laid out or computed otherwise."""

KIND_CODES = {kind: code for code, kind in enumerate(Kind)}


class Version(NamedTuple):
    """A moment in a store's history. The first two only grow, and no row changes without one growing."""

    vectors: int
    life: int
    newest: int
    """The model's highest vector: it falls when a dropped model's vectors go, which no log tells."""

    def follows(self, earlier: Version) -> bool:
        return self.vectors >= earlier.vectors and self.life >= earlier.life


@dataclass(frozen=True, slots=True)
class VectorSource:
    """One model's vectors in one store."""

    store_id: str
    model_id: int
    dims: int
    packed_centre: bytes | None = field(repr=False)

    @property
    def centre(self) -> Rows | None:
        return None if self.packed_centre is None else unpack_vector(self.packed_centre)

    @property
    def shape(self) -> Shape:
        return Shape.of(self.dims, self.centre)

    def digest(self) -> bytes:
        """Of all that decides what the cache's bytes mean; a cache with another digest is not ours."""
        facts = (FORMAT, sys.byteorder, self.store_id, self.model_id, self.dims, self.packed_centre)
        return hashlib.sha256(repr(facts).encode()).digest()


def check_width(query: Vector, model: str, dims: int) -> None:
    if query.shape != (dims,):
        raise InvalidInput(
            f"The query's vector has {query.shape[-1]} numbers and those of {model} have {dims}; "
            f"embed the query with {model}."
        )


class VectorQueries(Protocol):
    """What a cache asks of a snapshot of the store."""

    def version(self, source: VectorSource) -> Version: ...

    def live_rows(self, source: VectorSource, after: int) -> Iterator[VectorRow]:
        """Vectors of live passages, by ascending id."""
        ...

    def life_since(self, source: VectorSource, seq: int) -> dict[int, bool] | None:
        """Vectors that died or came back since, and whether they live now. None: the log no longer tells."""
        ...

    def holds(self, source: VectorSource, vector_id: int, passage_id: int, vector: Rows) -> bool:
        """Is this still that vector? In an older copy of the store that went its own way, it is not."""
        ...

    def rotation(self, source: VectorSource) -> bytes | None: ...

    def is_writing(self) -> bool:
        """Whether the snapshot is of a transaction whose writes may yet be undone."""
        ...
