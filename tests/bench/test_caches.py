"""What was read once is not read again, and is told as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from readers import Arbitrary
from token_model import WordTokens

from recollect.models.hashing import HashingEmbedder
from recollect_bench.caches import CachedReranker, cached_vectors

if TYPE_CHECKING:
    from pathlib import Path


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


def test_tokens_are_kept_beside_vectors(tmp_path: Path) -> None:
    with cached_vectors(HashingEmbedder(), tmp_path) as kept:
        kept.documents(["green tea"])  # as a file from before tokens were kept
        assert not kept.gives_tokens
        assert kept.query_with_tokens("tea")[1] is None
    model = WordTokens()
    for _ in range(2):
        with cached_vectors(model, tmp_path) as kept:
            rows, signs = kept.documents_with_tokens(["green tea", "tea", "green tea"])
            vector, tokens = kept.query_with_tokens("some tea")
            assert kept.query("some tea").tobytes() == vector.tobytes()
    expected = WordTokens().documents_with_tokens(["green tea", "tea", "green tea"])
    assert np.array_equal(rows, expected[0])
    assert signs == expected[1]
    assert tokens is not None
    assert np.array_equal(tokens, HashingEmbedder().documents(["some", "tea"]))
    assert model.read == ["green tea", "tea", "some tea"]


def test_a_query_that_was_asked_without_tokens_gets_them_when_they_are_asked_for() -> None:
    with cached_vectors(WordTokens(), None) as kept:
        kept.query("tea")
        assert kept.query_with_tokens("tea")[1] is not None
