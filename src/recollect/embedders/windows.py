"""Reads texts longer than a model's limit in overlapping pieces, and averages the vectors of the pieces."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from recollect.records import Model
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

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


class Role(StrEnum):
    """Models tell a question from what may answer it."""

    QUERY = "query"
    DOCUMENT = "document"


_SEARCHING = "Represent this sentence for searching relevant passages: "
# What open models were trained to see before a query and before a document, where neither server nor library
# adds it. The first part that a name contains decides.
_PREFIXES = (
    ("instruct", "", ""),  # these want an instruction that only the user knows
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed-large", _SEARCHING, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _SEARCHING, ""),
    ("bge-small-en", _SEARCHING, ""),
    ("bge-base-en", _SEARCHING, ""),
    ("bge-large-en", _SEARCHING, ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("e5-small", "query: ", "passage: "),
    ("e5-base", "query: ", "passage: "),
    ("e5-large", "query: ", "passage: "),
)


def prefixes(model: str) -> Mapping[Role, str]:
    """What stands before a text; nothing where we know of nothing."""
    plain = model.lower()
    found = next((rest for part, *rest in _PREFIXES if part in plain), ["", ""])
    return {Role.QUERY: found[0], Role.DOCUMENT: found[1]}


class PiecewiseEmbedder(ABC):
    """A model that others run. It learns its width from the first vector: `model` may ask for one."""

    def __init__(self, full_name: str) -> None:
        self._full_name = full_name
        self._dims: int | None = None

    @property
    def model(self) -> Model:
        if self._dims is None:
            self.query("width")
        return Model(name=self._full_name, dims=self._dims or 0)

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.model.dims), dtype=np.float32)
        return self._whole(texts, Role.DOCUMENT)

    def query(self, text: str) -> Vector:
        row: Vector = self._whole([text], Role.QUERY)[0]
        return row

    def _whole(self, texts: Sequence[str], role: Role) -> Vectors:
        """One row for each text, whatever its length, from a model that reads only what fits."""
        pieces = [in_pieces(readable(text), self._fits) for text in texts]
        rows = self._vectors([piece for of_text in pieces for piece in of_text], role)
        ends = np.cumsum([len(of_text) for of_text in pieces])
        self._dims = rows.shape[1]
        return np.stack([as_one(part) for part in np.split(rows, ends[:-1])])

    @abstractmethod
    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """One normalised row for each text, all of which fit."""

    @abstractmethod
    def _fits(self, text: str) -> bool: ...
