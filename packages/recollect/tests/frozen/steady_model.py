"""A model whose vectors are bit for bit the same on every machine, and so are their cosines.

Each feature of a text votes with 256 signs; a vector is the signs of the sums, each as plus or minus 1/16.
So all of it is whole numbers, and a cosine is exact in whatever order it is summed up.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.records import Model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.stores.port import Vector, Vectors

STEADY = "steady@1"
_DIMS = 256
_WORD = re.compile(r"\w+")
_SAME = {
    "te": "tea",
    "infusion": "tea",
    "cafe": "coffee",
    "espresso": "coffee",
    "caldera": "boiler",
    "heating": "boiler",
    "calefaccion": "boiler",
    "cumpleanos": "birthday",
    "alergia": "allergic",
    "alergica": "allergic",
    "nueces": "nuts",
    "puerto": "harbour",
    "port": "harbour",
    "faro": "lighthouse",
    "plazo": "deadline",
    "due": "deadline",
    "vive": "lives",
    "moves": "lives",
    "muda": "lives",
    "barco": "boat",
    "velero": "boat",
    "sailing": "boat",
    "sails": "boat",
    "navega": "boat",
    "vet": "veterinario",
    "dog": "perro",
}
"""So that there is meaning beyond the word, and between the two languages."""


class SteadyEmbedder:
    @property
    def model(self) -> Model:
        return Model(STEADY, _DIMS)

    def documents(self, texts: Sequence[str]) -> Vectors:
        rows = [_signs(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), _DIMS) / np.float32(16)

    def query(self, text: str) -> Vector:
        row: Vector = self.documents([text])[0]
        return row


def _signs(text: str) -> list[int]:
    sums = np.zeros(_DIMS, np.int64)
    for feature, votes in _features(text):
        digest = np.frombuffer(blake2b(feature.encode(), digest_size=_DIMS // 8).digest(), np.uint8)
        sums += votes * (2 * np.unpackbits(digest).astype(np.int64) - 1)
    return [1 if each >= 0 else -1 for each in sums.tolist()]


def _features(text: str) -> Iterator[tuple[str, int]]:
    """Each word once, without case and accents; long words count by their beginning, too."""
    apart = unicodedata.normalize("NFKD", text.casefold())
    words = dict.fromkeys(_WORD.findall("".join(c for c in apart if not unicodedata.combining(c))))
    for word in words:
        known = _SAME.get(word, word)
        if len(known) > 3:
            yield known, 4
            yield known[:4], 1
        else:
            yield known, 1
