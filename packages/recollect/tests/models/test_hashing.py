"""The model without weights."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.models.hashing import HashingEmbedder

hashing = HashingEmbedder()


def test_likeness_is_the_share_of_common_words() -> None:
    # two of three words in common, each once: 2 / (sqrt(3) * sqrt(3))
    one, other = hashing.documents(["red tea cup", "red tea pot"])
    assert one @ other == pytest.approx(2 / 3)
    # A word said often weighs by the root of its count.
    # tea four times, cup once: (2, 1) against (1, 0), so 2 / sqrt(5)
    assert hashing.query("tea tea tea tea cup") @ hashing.query("tea") == pytest.approx(2 / 5**0.5)
    # Case accents and order do not matter.
    assert hashing.query("Café con leche").tobytes() == hashing.query("LECHE con cafe").tobytes()
    # A text without words is zero.
    assert not hashing.query(" … !").any()
    # The width is part of the name.
    assert (hashing.model.name, HashingEmbedder(64).model.name) == ("hashing@1", "hashing@1-64")


def test_another_process_finds_the_same_vector() -> None:
    script = (
        "from recollect.models.hashing import HashingEmbedder as H; print(H().query('tea cup').nonzero())"
    )
    again = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert again.stdout.strip() == str(hashing.query("tea cup").nonzero())


@given(st.lists(st.text(), min_size=1), st.text())
def test_no_cosine_is_below_zero_and_company_does_not_matter(others: list[str], text: str) -> None:
    rows = hashing.documents([*others, text])
    assert (rows @ rows.T >= 0).all()
    assert rows[-1].tobytes() == hashing.query(text).tobytes()
