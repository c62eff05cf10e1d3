"""The model of "the newer text makes the older one untrue": its arithmetic, and worked pairs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking import replaces
from recollect.ranking.candidates import DAY, NEVER
from recollect.ranking.replaces import PairText, are_later, pair_signs, replacing_chances
from recollect.search.contradictions import LIKELY, SURE

OLD = PairText("Rent is 780 euros", 0)
NEW = PairText("Rent is now 840 euros", 6 * DAY)


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / name).read_text("utf-8").splitlines()
    split = [line.split(" | ") for line in lines if line and not line.startswith("#")]
    return [(one, other) for one, other in split]


REPLACED, COMPATIBLE = pairs("contradictions.txt"), pairs("compatible.txt")


def chance(older: str, newer: str) -> float:
    """Return the chance by words alone, in a store of these two and unrelated texts."""
    others = ("The kettle leaks.", "Tom owes me a lunch.", "The bus was late again.")
    texts = [PairText(text, place * DAY) for place, text in enumerate((*others, older, newer))]
    return float(replacing_chances(texts, None, "", [4])[0, 3])


def test_the_chance_is_a_logistic_regression_over_the_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = {"change": 2.0, "other_numbers": 1.0, "days": 0.5, "constant": -3.0}
    monkeypatch.setattr(replaces, "WEIGHTS_OF_WORDS", weights)
    # One word of change, each has a number that the other lacks, and six days lie between them:
    # 2 * 1 + 1 * 1 + 0.5 * ln 7 - 3 = 0.5 * ln 7, so that the odds are the root of 7.
    assert replacing_chances([OLD, NEW], None, "")[1, 0] == pytest.approx(math.sqrt(7) / (1 + math.sqrt(7)))


def test_a_cosine_counts_by_how_far_it_stands_out_whatever_the_spread_of_the_model() -> None:
    texts = [PairText(word, place * DAY) for place, word in enumerate(("a", "b", "c", "d") * 8)]
    spread = np.random.default_rng(0).uniform(0, 1, (32, 32))
    wide = (spread + spread.T) / 2
    narrow = 0.9 + 0.1 * wide
    one, other = (pair_signs(texts, cosines, "unknown") for cosines in (wide, narrow))
    apart = ~np.eye(32, dtype=bool)
    assert np.corrcoef(one["cosine"][apart], other["cosine"][apart])[0, 1] > 0.99
    assert np.array_equal(one["rank"], other["rank"])


def test_a_stated_beginning_decides_which_is_later_and_unknown_times_give_no_order() -> None:
    first, second = PairText("from 2023", 0, since=9), PairText("from 2019", 1, since=5)
    assert are_later([first, second])[0, 1]
    assert not are_later([first, second])[1, 0]
    assert not are_later([OLD._replace(at=NEVER), NEW]).any()
    assert not are_later([OLD, NEW._replace(at=0)]).any()
    assert are_later([OLD, NEW._replace(at=0)], ties=True).tolist() == [[False, False], [True, False]]


def test_most_pairs_that_cannot_both_hold_reach_the_ranking_without_vectors() -> None:
    found = [chance(*pair) >= LIKELY for pair in REPLACED]
    assert np.mean(found) >= 0.6


def test_nine_of_ten_pairs_that_can_both_hold_are_not_named_without_vectors() -> None:
    named = [pair for pair in COMPATIBLE if chance(*pair) >= SURE]
    # Of these, most are events of two days: words alone do not tell them from changes.
    assert len(named) <= 5, named


@given(st.lists(st.text(max_size=60), min_size=2, max_size=6))
def test_any_texts_have_chances_and_rows_alone_have_the_same(written: list[str]) -> None:
    texts = [PairText(text, place * DAY) for place, text in enumerate(written)]
    whole = replacing_chances(texts, None, "")
    assert ((whole >= 0) & (whole <= 1)).all()
    np.testing.assert_allclose(replacing_chances(texts, None, "", [1]), whole[[1]])
