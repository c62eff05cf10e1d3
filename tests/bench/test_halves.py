"""The halves of a data set: fixed for each question, and about even."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b

from recollect_bench.halves import half_of


def test_the_half_of_a_question_is_the_lowest_bit_of_its_hash() -> None:
    first = blake2b(b"ana\x00q1", digest_size=8).digest()[0]
    assert half_of("ana", "q1") == "ab"[first & 1]


def test_the_half_depends_on_the_store_too() -> None:
    assert len({half_of(f"store-{n}", "q1") for n in range(20)}) == 2


def test_halves_are_about_even() -> None:
    counts = Counter(half_of("ana", f"q{n}") for n in range(1000))
    assert 450 < counts["a"] < 550
