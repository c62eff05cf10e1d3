"""Confidence: the signs and the map by hand, and what holds for any candidates."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking.confidence import (
    MEANING,
    WORDS,
    Calibration,
    ConfidenceInput,
    CosineScale,
    QueryTerms,
    background,
    blended_scale,
    estimate_confidence,
    signal_rows,
)
from recollect.ranking.confidence_label import confidence_label
from recollect.statistics import auroc

NAN = float("nan")
SCALE = CosineScale(cosine=0.7, spread=0.05, background=0.6)
KEYS = QueryTerms({"key": 2.0, "spare": 1.0, "ana": 1.0}, frozenset({"ana"}))


def looked(
    cosine: list[float],
    bm25: list[float],
    said: list[set[str]],
    speakers: list[set[str]] | None = None,
) -> ConfidenceInput:
    rows = np.arange(len(said))
    spoken = speakers or [set() for _ in said]
    return ConfidenceInput(
        np.array(cosine, float),
        np.array(bm25, float),
        rows,
        len(rows),
        [frozenset(each) for each in said],
        [frozenset(each) for each in spoken],
        np.array(cosine, float),
    )


def test_the_signs_of_two_candidates() -> None:
    two = looked([0.8, 0.65], [4.0, NAN], [{"key", "ana"}, {"spare"}])
    # near    (0.8 - 0.7) / 0.05 = 2       (0.65 - 0.7) / 0.05 = -1
    # above   (0.8 - 0.6) / 0.05 = 4       (0.65 - 0.6) / 0.05 = 1     the list is too short to show its own
    # held    (2 + 1) / 4 = 0.75           1 / 4
    # ahead   (4 - 0) / 4 = 1              (0 - 4) / 4 = -1
    # agreed  1/1 + 1/1 = 2                1/2 + 0
    # named   holds Ana: 1                 0
    expected = [[2, 4, 0.75, 1, 2, 1], [-1, 1, 0.25, -1, 0.5, 0]]
    assert signal_rows(two, KEYS, SCALE).tolist() == pytest.approx(np.array(expected))


def test_ahead_is_told_from_the_mean_of_the_best_four_others() -> None:
    six = looked([NAN] * 6, [9.0, 5.0, 4.0, 3.0, 2.0, 1.0], [set() for _ in range(6)])
    # 9 - (5+4+3+2)/4 = 5.5    5 - (9+4+3+2)/4 = 0.5    1 - (9+5+4+3)/4 = -4.25; all by the weight of 4
    ahead = signal_rows(six, KEYS, SCALE)[:, 3]
    assert ahead[[0, 1, 5]].tolist() == pytest.approx([5.5 / 4, 0.5 / 4, -4.25 / 4])


def test_the_background_is_the_eleventh_to_the_thirtieth() -> None:
    # From 0.99 down by hundredths: places 11 to 30 are 0.89 to 0.70, in the mean 0.795.
    assert background(np.array([0.99 - place / 100 for place in range(50)])) == pytest.approx(0.795)
    assert background(np.array([0.9] * 19)) is None
    assert background(np.array([NAN] * 40)) is None


def test_whoever_is_named_and_speaks_here_is_meant() -> None:
    said_by = looked([NAN] * 3, [3.0, 2.0, 1.0], [{"ana"}, {"ana"}, {"ana"}], [{"ana"}, {"tom"}, set()])
    # Ana speaks; Tom only speaks of her; a note that names her counts as hers.
    assert signal_rows(said_by, KEYS, SCALE)[:, 5].tolist() == [1, 0, 1]
    nobody = looked([NAN] * 2, [3.0, 2.0], [{"ana"}, set()], [{"tom"}, {"tom"}])
    assert signal_rows(nobody, KEYS, SCALE)[:, 5].tolist() == [1, 0]
    unnamed = QueryTerms({"key": 2.0}, frozenset())
    assert signal_rows(nobody, unnamed, SCALE)[:, 5].tolist() == [1, 1]


def test_a_hit_and_its_answer_by_hand() -> None:
    one = looked([0.8], [4.0], [{"key", "ana"}])
    weights = MEANING
    logit = (
        weights.constant
        + 2 * weights.near
        + 4 * weights.above
        + 0.75 * weights.held
        + 1 * weights.ahead
        + 2 * weights.agreed
        + 1 * weights.named
    )
    done = estimate_confidence(one, KEYS, SCALE, None)
    assert done.hits.tolist() == pytest.approx([1 / (1 + exp(-logit))])
    # Of one candidate, the sum is its own.
    assert done.total == pytest.approx(logit)
    assert done.answer == pytest.approx(1 / (1 + exp(-(weights.offset + weights.slope * logit))))


def test_the_example_that_the_documentation_works_out() -> None:
    # near (0.79 - 0.70) / 0.045 = 2, above (0.79 - 0.61) / 0.045 = 4, held 3/4, ahead 4/4 = 1,
    # agreed 1 + 1 = 2, named 1:
    # -5.85 + 0.25 * 2 + 0.25 * 4 + 2.05 * 0.75 + 1.2 * 1 + 1.5 * 2 + 0.75 * 1 = 2.1375
    one = looked([0.79], [4.0], [{"key", "ana"}], [{"ana"}])
    done = estimate_confidence(one, KEYS, CosineScale(cosine=0.70, spread=0.045, background=0.61), None)
    assert done.total == pytest.approx(2.1375)
    # 1 / (1 + e^-2.1375) and, of the answer, 1 / (1 + e^-(0.65 + 2.1375))
    assert done.hits.tolist() == pytest.approx([0.8945], abs=5e-5)
    assert done.answer == pytest.approx(0.9420, abs=5e-5)


def test_the_same_example_by_words_alone() -> None:
    # -5.9 + 2.65 * 0.75 + 3.8 * 1 + 1.8 * 1 + 1.2 * 1 = 2.8875; the answer's 0.75 + 0.9 * 2.8875 = 3.34875
    done = estimate_confidence(looked([NAN], [4.0], [{"key", "ana"}], [{"ana"}]), KEYS, None, None)
    assert done.total == pytest.approx(2.8875)
    assert done.answer == pytest.approx(0.9661, abs=5e-5)


def test_what_lies_beyond_the_thirtieth_place_says_nothing() -> None:
    # Falling by hundredths and by tenths; the 31st and 32nd by each search are there in one list only.
    cosine, bm25 = [0.9 - place / 100 for place in range(32)], [9 - place / 10 for place in range(32)]
    said: list[set[str]] = [{"key"}] * 32
    deep = looked(cosine, bm25, said)
    shallow = looked([*cosine[:30], NAN, NAN], [*bm25[:30], NAN, NAN], said)
    # Their cosines are known all the same, from their own vectors.
    shallow = replace(shallow, near=deep.near, first=5)
    for scale in (SCALE, None):
        one = estimate_confidence(replace(deep, first=5), KEYS, scale, None)
        two = estimate_confidence(shallow, KEYS, scale, None)
        assert (one.hits.tolist(), one.answer) == (two.hits.tolist(), two.answer)
    # agreed: 1/30 + 1/30, and then 0
    assert signal_rows(deep, KEYS, SCALE)[29:, 4].tolist() == pytest.approx([2 / 30, 0, 0])


def test_what_is_shown_beside_the_first_moves_neither_them_nor_the_answer() -> None:
    # The third, which only the longer list shows, is said by Ana, who is named, and holds all of it.
    three = looked(
        [0.5, 0.45, 0.95],
        [1.0, 0.5, 9.0],
        [{"key", "ana"}, {"ana"}, set(KEYS.weights)],
        [{"tom"}, set(), {"ana"}],
    )
    longer = estimate_confidence(replace(three, first=2), KEYS, SCALE, None)
    two = replace(three, rows=three.rows[:2], first=2, matched=three.matched[:2], speakers=three.speakers[:2])
    shorter = estimate_confidence(replace(two, near=three.near[:2]), KEYS, SCALE, None)
    assert longer.hits[:2].tolist() == shorter.hits.tolist()
    assert longer.answer == shorter.answer
    assert longer.hits[2] <= longer.answer


def test_a_candidate_without_a_vector_counts_as_far() -> None:
    pair = looked([0.8, NAN], [NAN, 4.0], [{"key"}, {"key"}])
    # No cosine: that of what is far down the list, 0.6, which is (0.6 - 0.7) / 0.05 = -2 and above nothing.
    assert signal_rows(pair, KEYS, SCALE)[1, :2].tolist() == pytest.approx([-2, 0])
    known = replace(pair, near=np.array([0.8, 0.65]))
    assert signal_rows(known, KEYS, SCALE)[1, :2].tolist() == pytest.approx([-1, 1])


# Weights whose sum depends on the order, and sets whose order depends on the process.
_UNORDERED = """
import numpy as np
from recollect.ranking.confidence import ConfidenceInput, CosineScale, estimate_confidence, signal_rows
from recollect.ranking.confidence import QueryTerms
words = [f"word{place}" for place in range(60)]
sought = QueryTerms({word: 1 / (3 + place) for place, word in enumerate(words)}, frozenset(words[:3]))
said = [frozenset(words[start : start + 40]) for start in range(20)]
scores, nobody, scale = np.linspace(0.9, 0.5, 20), [frozenset()] * 20, CosineScale(0.7, 0.05, 0.6)
looked = ConfidenceInput(scores, 9 * scores, np.arange(20), 20, said, nobody, scores)
done = estimate_confidence(looked, sought, scale, None)
numbers = [*signal_rows(looked, sought, scale).ravel().tolist(), *done.hits.tolist(), done.answer, done.total]
print([each.hex() for each in numbers])
"""


def test_every_process_judges_alike_to_the_last_bit() -> None:
    def said(seed: int) -> str:
        run = [sys.executable, "-c", _UNORDERED]
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout

    first = said(0)
    assert len(first.split()) == 20 * 6 + 20 + 2
    assert [said(seed) for seed in (1, 2, 3)] == [first] * 3


def test_two_candidates_add_their_odds() -> None:
    alike = looked([0.8, 0.8], [NAN, NAN], [{"key"}, {"key"}])
    done = estimate_confidence(alike, KEYS, SCALE, None)
    odds = done.hits / (1 - done.hits)
    assert done.total == pytest.approx(log(odds.sum()))


def test_a_store_whose_unanswerable_questions_score_high_is_believed_less() -> None:
    one = looked([0.75], [4.0], [{"key"}])
    plain = estimate_confidence(one, KEYS, SCALE, None)
    # Of one unit above the usual, 0.5 * 200 / (200 + 10) = 0.476190 counts.
    high = Calibration(200, None, absent=MEANING.usual + 1, present=1.0, auroc=0.8)
    moved = estimate_confidence(one, KEYS, SCALE, high)
    logit = MEANING.offset + MEANING.slope * (plain.total - 0.476190476)
    assert moved.answer == pytest.approx(max(1 / (1 + exp(-logit)), moved.hits.max()))
    assert moved.hits.tolist() == plain.hits.tolist()
    assert moved.answer < plain.answer


def test_a_model_that_was_measured_moves_towards_the_store_and_another_takes_its_scale() -> None:
    one = looked([0.3, 0.2, 0.1], [NAN] * 3, [set()] * 3)
    own = CosineScale(0.4, 0.1, 0.1)
    learnt = Calibration(100, own, -2.0, 0.0, 0.9)
    # 0.5 * 100 / (100 + 10) = 0.454545 of the way from what was measured; the spread stays.
    moved = blended_scale(one, SCALE, learnt)
    assert moved.cosine == pytest.approx(SCALE.cosine + 0.454545 * (0.4 - SCALE.cosine), abs=1e-6)
    assert moved.background == pytest.approx(SCALE.background + 0.454545 * (0.1 - SCALE.background), abs=1e-6)
    assert moved.spread == SCALE.spread
    assert blended_scale(one, SCALE, None) == SCALE
    assert blended_scale(one, None, learnt) == own
    seeming = blended_scale(one, None, None)
    # The standard deviation of 0.3, 0.2, 0.1 is 0.0816; the best stands 0.35 spreads of 2.1 times it above.
    assert seeming.spread == pytest.approx(2.1 * 0.0816497, rel=1e-5)
    assert (0.3 - seeming.cosine) / seeming.spread == pytest.approx(0.35)
    assert seeming.background == 0.1


def test_nothing_found_is_no_answer() -> None:
    assert estimate_confidence(looked([], [], []), KEYS, SCALE, None).answer == 0.0


def test_without_meaning_the_words_decide_alone() -> None:
    one = looked([NAN], [4.0], [{"key", "ana", "spare"}])
    logit = WORDS.constant + WORDS.held + WORDS.ahead + WORDS.agreed + WORDS.named
    assert estimate_confidence(one, KEYS, None, None).hits.tolist() == pytest.approx([1 / (1 + exp(-logit))])


def test_auroc_counts_pairs_and_halves_ties() -> None:
    # Of 6 pairs: 3 beats 1 and 2; 2 beats 1 and ties with 2; 1 ties with 1: 2 + 1.5 + 0.5 = 4
    assert auroc(np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0])) == pytest.approx(4 / 6)
    assert auroc(np.array([]), np.array([1.0])) == 0.5


def test_probabilities_in_words() -> None:
    words = [confidence_label(each) for each in (0.0, 0.249, 0.25, 0.599, 0.6, 1.0)]
    assert words == ["unlikely", "unlikely", "possible", "possible", "likely", "likely"]


cosines = st.one_of(st.just(NAN), st.floats(-1, 1))
scores = st.one_of(st.just(NAN), st.floats(0, 30))
candidates = st.lists(
    st.tuples(cosines, scores, st.sets(st.sampled_from(sorted(KEYS.weights)))), min_size=1, max_size=40
)


@given(candidates, st.booleans())
def test_every_confidence_is_a_probability_and_no_hit_is_likelier_than_the_answer(
    rows: list[tuple[float, float, set[str]]], known: bool
) -> None:
    cosine, bm25, said = (list(each) for each in zip(*rows, strict=True))
    done = estimate_confidence(looked(cosine, bm25, said), KEYS, SCALE if known else None, None)
    assert np.isfinite(done.hits).all()
    assert ((done.hits >= 0) & (done.hits <= 1)).all()
    assert done.hits.max() <= done.answer <= 1


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0.1, 30)),
        min_size=1,
        max_size=30,
        unique_by=(lambda row: row[0], lambda row: row[1]),
    )
)
def test_the_order_in_which_candidates_come_does_not_matter(rows: list[tuple[float, float]]) -> None:
    def answer(order: list[tuple[float, float]]) -> float:
        cosine, bm25 = (list(each) for each in zip(*order, strict=True))
        return estimate_confidence(looked(cosine, bm25, [{"key"} for _ in order]), KEYS, SCALE, None).answer

    assert answer(rows) == pytest.approx(answer(sorted(rows, key=lambda row: row[1])))


@given(candidates, st.integers(0, 39))
def test_holding_more_of_what_is_sought_never_makes_a_hit_less_likely(
    rows: list[tuple[float, float, set[str]]], place: int
) -> None:
    cosine, bm25, said = (list(each) for each in zip(*rows, strict=True))
    place %= len(rows)
    before = estimate_confidence(looked(cosine, bm25, said), KEYS, SCALE, None).hits[place]
    said[place] = set(KEYS.weights)
    assert estimate_confidence(looked(cosine, bm25, said), KEYS, SCALE, None).hits[place] >= before - 1e-12
