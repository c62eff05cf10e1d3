"""What was read once is not read again, and is told as it was."""

from __future__ import annotations

import numpy as np
from readers import Arbitrary

from recollect_bench.caches import CachedReranker


def test_a_pair_is_read_once_and_every_place_has_its_score() -> None:
    reader, alone = Arbitrary(), Arbitrary()
    once = CachedReranker(reader)
    asked = ["ferry", "kettle", "ferry"]
    assert np.array_equal(once.scores("tea", asked), alone.scores("tea", asked))
    longer = ["cat", "ferry", "kettle"]
    assert np.array_equal(once.scores("tea", longer), alone.scores("tea", longer))
    assert reader.read == [("tea", "ferry"), ("tea", "kettle"), ("tea", "cat")]
    assert once.name == reader.name


def test_another_query_is_another_pair() -> None:
    reader, alone = Arbitrary(), Arbitrary()
    once = CachedReranker(reader)
    once.scores("tea", ["ferry"])
    assert np.array_equal(once.scores("coffee", ["ferry"]), alone.scores("coffee", ["ferry"]))
    assert reader.read == [("tea", "ferry"), ("coffee", "ferry")]


def test_nothing_to_read_is_not_asked_for() -> None:
    reader = Arbitrary()
    assert CachedReranker(reader).scores("tea", []).shape == (0,)
    assert reader.read == []
