"""Which tokens of a text are kept, shown on made-up ones."""

from __future__ import annotations

import numpy as np

from recollect.domain.numbers import pack_signs
from recollect.models.packaged import centred_tokens, document_signs, tells_something

CENTRE = np.zeros(8, np.float32)


def test_words_numbers_and_their_parts_tell_something_and_stopwords_and_punctuation_nothing() -> None:
    telling = ["kettle", "##ing", "▁café", "42", "ñ", "茶"]
    pieces = [*telling, ",", "##.", "▁", "the", "▁The", "##s", "él", "…", "😀"]
    assert list(filter(tells_something, pieces)) == telling


def test_only_tokens_that_tell_something_are_kept_or_all() -> None:
    tokens = np.eye(3, 8, dtype=np.float32)
    assert document_signs(["the", "kettle", "."], tokens, CENTRE) == bytes([0b01000000])
    tokens = np.eye(2, 8, dtype=np.float32)
    assert document_signs(["to", "be"], tokens, CENTRE) == bytes([0b10000000, 0b01000000])


def test_signs_are_those_of_the_tokens_that_queries_are_compared_with() -> None:
    random = np.random.default_rng(7)
    tokens, centre = random.standard_normal((2, 5, 8)).astype(np.float32)
    tokens[2] = 0
    assert document_signs(["kettle"] * 5, tokens, centre[0]) == pack_signs(centred_tokens(tokens, centre[0]))
