"""A model without weights that gives tokens: each word is one, as the hashing embedder reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.domain.numbers import pack_signs
from recollect.models.hashing import HashingEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.stores.port import Vector, Vectors


class WordTokens(HashingEmbedder):
    """Remembers what it was given to read, with tokens and without."""

    gives_tokens = True

    def __init__(self, dims: int = 256) -> None:
        super().__init__(dims)
        self.read: list[str] = []

    def documents(self, texts: Sequence[str]) -> Vectors:
        self.read += texts
        return super().documents(texts)

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        words = HashingEmbedder(self.model.dims)
        return self.documents(texts), [pack_signs(words.documents(text.split())) for text in texts]

    def query(self, text: str) -> Vector:
        self.read.append(text)
        row: Vector = super().documents([text])[0]
        return row

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        words = text.split()
        return self.query(text), super().documents(words) if words else None
