"""A re-ranker that needs no model, for what the benchmark does with one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ranking.candidates import Floats


@dataclass
class Arbitrary:
    """Its likings have nothing to do with any profile's, are always the same, and differ by query."""

    read: list[tuple[str, str]] = field(default_factory=list)
    name: str = "arbitrary@1"

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        self.read += [(query, text) for text in texts]
        return np.array([crc32(f"{query}\n{text}".encode()) / 2**32 for text in texts])
