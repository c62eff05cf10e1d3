"""A model without weights, for tests and as a last resort: the hash of a word chooses its dimension."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.numbers import normalised
from recollect.domain.records import Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.stores.port import Vector, Vectors

_WORD = re.compile(r"\w+")


class HashingEmbedder:
    """An embedder that compares words, not meaning.

    No cosine is negative. Two texts that share a word have a positive cosine.
    """

    def __init__(self, dims: int = 256) -> None:
        self.model: Model = Model(name="hashing@1" if dims == 256 else f"hashing@1-{dims}", dims=dims)

    def documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.model.dims), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            # Words without case or accents.
            decomposed = unicodedata.normalize("NFKD", text.casefold())
            words = _WORD.findall("".join(c for c in decomposed if not unicodedata.combining(c)))
            for word, count in Counter(words).items():
                # Not Python's hash(), which differs from one process to the next.
                digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                # The square root, so that a word that occurs nine times weighs three times as much as one.
                row[int.from_bytes(digest, "little") % self.model.dims] += count**0.5
        return normalised(rows)

    def query(self, text: str) -> Vector:
        row: Vector = self.documents([text])[0]
        return row
