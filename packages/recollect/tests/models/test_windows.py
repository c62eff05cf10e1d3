"""Reading in pieces what is too long to be read at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.packaged import PiecewiseEmbedder, Role, as_one, halves, in_pieces, readable, windows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.stores.port import Vectors


def test_windows_are_equal_and_share_their_edges() -> None:
    assert windows(10, 10, 2) == [slice(0, 10)]
    # 18 tokens by 10 with 2 shared: ceil(16 / 8) = 2 windows of ceil((18 + 2) / 2) = 10.
    assert windows(18, 10, 2) == [slice(0, 10), slice(8, 18)]


@given(st.integers(1, 5000), st.integers(10, 512), st.integers(0, 9))
def test_windows_cover_everything_and_never_exceed_their_size(length: int, size: int, overlap: int) -> None:
    found = windows(length, size, overlap)
    assert {i for window in found for i in range(window.start, window.stop)} == set(range(length))
    assert all(window.stop - window.start <= size for window in found)


def test_pieces_point_together_and_halves_share_an_eighth() -> None:
    # (1, 0) and (0, 1) average to (.5, .5), of length one: (.7071, .7071)
    rows = np.array([[1, 0], [0, 1]], dtype=np.float32)
    assert as_one(rows) == pytest.approx([0.7071, 0.7071], abs=1e-4)
    assert halves("0123456789abcdef") == ("012345678", "789abcdef")
    assert readable("caf\u00e9 \ud800") == "caf\u00e9 ?"


@given(st.text(max_size=500), st.integers(1, 50))
def test_every_piece_fits_and_nothing_is_lost(text: str, size: int) -> None:
    pieces = in_pieces(text, lambda piece: len(piece) <= size)
    assert all(len(piece) <= size for piece in pieces)
    assert set("".join(pieces)) == set(text)


def test_every_text_gets_one_row_however_long() -> None:
    class Lengths(PiecewiseEmbedder):
        def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
            return np.array([[len(text), 1] for text in texts], dtype=np.float32)

        def _fits(self, text: str) -> bool:
            return len(text) <= 4

    assert Lengths("lengths").documents(["ab", "abcdefgh", "abc"]).shape == (3, 2)
