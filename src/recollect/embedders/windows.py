"""Texts longer than a model can read are read in overlapping pieces, and the pieces' vectors averaged."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.ports import Vector, Vectors


def readable(text: str) -> str:
    """The text with half characters (lone surrogates), which no encoder takes, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def windows(length: int, size: int, overlap: int) -> Sequence[slice]:
    """Slices of at most `size` that cover `length`, of equal length but for rounding.

    Equal, so that the plain mean of their vectors weighs every part of the text alike.
    """
    if length <= size:
        return [slice(0, length)]
    count = ceil((length - overlap) / (size - overlap))
    even = ceil((length + (count - 1) * overlap) / count)
    starts = [round(i * (length - even) / (count - 1)) for i in range(count)]
    return [slice(start, start + even) for start in starts]


def as_one(rows: Vectors) -> Vector:
    """The direction in which the vectors of a text's pieces point together."""
    return rows[0] if len(rows) == 1 else normalised(rows.mean(axis=0))


def halves(text: str) -> tuple[str, str]:
    """The text in two, which share an eighth around the middle, so that no sentence there is only cut."""
    middle, shared = len(text) // 2, len(text) // 16
    return text[: middle + shared], text[middle - shared :]


def in_pieces(text: str, fits: Callable[[str], bool]) -> Sequence[str]:
    """The text, halved until every piece fits: for models whose tokens we cannot cut ourselves."""
    if len(text) < 2 or fits(text):
        return [text]
    return [piece for half in halves(text) for piece in in_pieces(half, fits)]


def read_whole(
    encode: Callable[[Sequence[str]], Vectors], texts: Sequence[str], fits: Callable[[str], bool]
) -> Vectors:
    """One row per text, whatever its length, from an encoder that reads only what fits. At least one text."""
    pieces = [in_pieces(readable(text), fits) for text in texts]
    rows = encode([piece for of_text in pieces for piece in of_text])
    ends = np.cumsum([len(of_text) for of_text in pieces])
    return np.stack([as_one(part) for part in np.split(rows, ends[:-1])])
