"""The token vectors of a text, as late interaction compares them: which are kept, and relative to what."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recollect.text.tokens import fold
from recollect.text.word_lists import STOPWORDS
from recollect.vectors import normalised, pack_signs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ports import Vector, Vectors

MOST_DOCUMENT_TOKENS = 256
MOST_QUERY_TOKENS = 128
"""A text that is longer is no question, and each of its tokens is compared with all of every candidate."""
_MANY = 65_536


def centred_tokens(tokens: Vectors, centre: Vector) -> Vectors:
    """Without the direction that all tokens share, which says nothing; of length one."""
    return normalised(normalised(tokens) - centre)


def document_signs(pieces: Sequence[str], tokens: Vectors, centre: Vector) -> bytes:
    """One bit for each number of the tokens that tell something; of all tokens where none does."""
    telling = np.fromiter(map(tells_something, pieces), bool, len(pieces))
    kept = (tokens[telling] if telling.any() else tokens)[:MOST_DOCUMENT_TOKENS]
    # The signs of `centred_tokens`: to scale a vector to length one moves none of its numbers past zero.
    return pack_signs(normalised(kept) - centre)


def query_tokens(tokens: Vectors, centre: Vector) -> Vectors | None:
    return centred_tokens(tokens[:MOST_QUERY_TOKENS], centre) if len(tokens) else None


@lru_cache(maxsize=_MANY)
def tells_something(piece: str) -> bool:
    """Whether a token, as a vocabulary writes it, is more than punctuation or a stopword."""
    word = fold(piece.removeprefix("##").lstrip("▁"))
    return word not in STOPWORDS and any(map(str.isalnum, word))
