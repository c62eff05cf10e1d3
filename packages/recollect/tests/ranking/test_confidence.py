"""Confidence: signals and probabilities by hand, and laws for any candidates."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.limits import confidence_label
from recollect.domain.numbers import auroc
from recollect.domain.records import Kind
from recollect.ranking.confidence import (
    SIGNALS,
    SIGNS,
    ConfidenceInput,
    ConfidenceWeights,
    ModelRanges,
    QueryTerms,
    ScoreRange,
    TextWeights,
    estimate_confidence,
    fitted_confidence,
    query_signs,
    signal_rows,
    text_logit,
    weigh_query_terms,
)
from recollect.text.tokens import coarse_stem, matched_terms, query_terms

NAN = float("nan")
RANGES = ModelRanges(ScoreRange(mean=0.6, spread=0.1), ScoreRange(mean=0.2, spread=0.05))
KEYS = QueryTerms({"key": 2.0, "spare": 1.0, "march": 1.0}, frozenset({"spare"}), frozenset({"march"}))
# near, tokens, held, ahead, named, share, fits, timed
WEIGHTS = ConfidenceWeights(
    hit=(0.5, 0.5, 1.0, 0.5, 0.25, 1.0, 0.5, 1.0),
    kind={"note": -1.0, "message": -2.0, "entity": -3.0},
    answer=(0.5, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5, 0.5),
    constant=-2.0,
)


def confidence_input(
    cosine: list[float],
    bm25: list[float],
    said: list[set[str]],
    score: list[float] | None = None,
    kinds: list[Kind] | None = None,
) -> ConfidenceInput:
    """Candidates in the order of the ranking; without a score, all are ranked alike."""
    rows = np.arange(len(said))
    return ConfidenceInput(
        cosine=np.array(cosine, float),
        bm25=np.array(bm25, float),
        tokens=np.full(len(said), NAN),
        order=rows,
        score=np.zeros(len(said)) if score is None else np.array(score, float),
        rows=rows,
        first=len(rows),
        kinds=kinds or [Kind.NOTE] * len(said),
        matched=[frozenset(each) for each in said],
        near=np.array(cosine, float),
        fits=np.ones(len(said), bool),
        timed=np.zeros(len(said)),
    )


def column(inputs: ConfidenceInput, name: str, ranges: ModelRanges | None = RANGES) -> list[float]:
    return [float(each) for each in signal_rows(inputs, KEYS, ranges)[:, SIGNALS.index(name)]]


# Two cosines, 0.8 and 0.65, and ten at the usual 0.6 with a deviation of 0.1:
# the mean is (0.8 + 0.65 + 6) / 12 = 0.620833, and the sum of squares
# (0.8 - mean)² + (0.65 - mean)² + 10 (0.1² + (0.6 - mean)²) = 0.032101 + 0.000851 + 0.104340 = 0.137292,
# whose root mean is sqrt(0.137292 / 12) = 0.106962.
NEAR = [(0.8 - 0.620833) / 0.106962, (0.65 - 0.620833) / 0.106962]


def test_the_signals_of_two_candidates() -> None:
    two = confidence_input([0.8, 0.65], [3.0, NAN], [{"key"}, {"spare"}], [2.0, 0.0])
    # held    2 / 4                        1 / 4
    # ahead   (3 - 1.5) / 3 = 0.5          (0 - 1.5) / 3 = -0.5        by what is no time: 2 + 1
    # named   spare is written as a name   0 / 1 and 1 / 1
    # share   z is 1 and -1: ln(e / (e + 1/e)) = -ln(1 + e^-2), and -ln(1 + e^2)
    shares = [-log(1 + exp(-2)), -log(1 + exp(2))]
    # tokens  as near, since there are no token vectors
    expected = [
        [NEAR[0], NEAR[0], 0.5, 0.5, 0, shares[0], 1, 0],
        [NEAR[1], NEAR[1], 0.25, -0.5, 1, shares[1], 1, 0],
    ]
    assert signal_rows(two, KEYS, RANGES).tolist() == pytest.approx(np.array(expected), abs=1e-4)


def test_bm25_is_compared_with_the_mean_of_the_best_five() -> None:
    six = confidence_input([NAN] * 6, [9.0, 5.0, 4.0, 3.0, 2.0, 1.0], [set() for _ in range(6)])
    # The best five are 4.6 in the mean: 4.4 above it, 0.4 above it, 3.6 below it; all by 3.
    assert [column(six, "ahead")[place] for place in (0, 1, 5)] == pytest.approx([4.4 / 3, 0.4 / 3, -1.2])


def test_without_a_known_range_the_list_alone_says_which_cosines_are_high() -> None:
    # From 0.99 down by hundredths, 50 of them: the mean is 0.745, the deviation sqrt((50² - 1) / 12) / 100;
    # of a list of 50, 50 / (50 + 2) of a deviation counts.
    many = confidence_input([0.99 - place / 100 for place in range(50)], [NAN] * 50, [set()] * 50)
    assert column(many, "near", None)[0] == pytest.approx(50 / 52 * (0.99 - 0.745) / (0.01 * sqrt(2499 / 12)))
    # Four texts do not show what is usual, so each counts as a little above it. With a known range, one does.
    few = confidence_input([0.9, 0.5, 0.5, 0.5], [NAN] * 4, [set()] * 4)
    assert column(few, "near", None) == [1.0] * 4
    # (0.9 + 10 * 0.6) / 11 = 0.627273; sqrt(((0.9 - mean)² + 10 (0.1² + (0.6 - mean)²)) / 11) = 0.128565
    one = confidence_input([0.9], [NAN], [set()])
    assert column(one, "near") == pytest.approx([(0.9 - 0.627273) / 0.128565], abs=1e-4)


def test_single_signals_by_hand() -> None:
    words = confidence_input([NAN, NAN], [2.0, 1.0], [{"key"}, set()])
    assert column(words, "near") == column(words, "tokens") == [0.0, 0.0]
    # A text that only words found is compared by its own vector.
    pair = confidence_input([0.8, NAN], [NAN, 4.0], [{"key"}, {"key"}])
    assert column(pair, "near")[1] == 0.0
    assert 0 < column(replace(pair, near=np.array([0.8, 0.65])), "near")[1] < column(pair, "near")[0]
    # Token matches have a range of their own; far away, a score says no more.
    assert column(replace(pair, tokens=np.array([9.0, 0.2])), "tokens")[0] == pytest.approx(3.3166, abs=1e-3)
    one = confidence_input([NAN], [1.0], [{"key"}])
    # 2 of 4; in March, 3 of 4
    assert column(one, "held") == pytest.approx([0.5])
    assert column(replace(one, timed=np.array([1.0])), "held") == pytest.approx([0.75])


def test_a_hit_and_its_answer_by_hand() -> None:
    two = confidence_input(
        [0.8, 0.65], [3.0, NAN], [{"key"}, {"spare"}], [2.0, 0.0], [Kind.NOTE, Kind.ENTITY]
    )
    done = estimate_confidence(replace(two, text=3.5), KEYS, WEIGHTS, RANGES)
    # answer: 0.5 * 1.67504 + 0.5 + 0.5 = 1.83752, and 0.5 * 0.27268 + 0.25 + 0.5 = 0.88634
    # -2 - ln(1 + e^-3.5) + 1.2 * (1 - 2 / 5) + ln((e^(4 * 1.83752) + e^(4 * 0.88634)) / 2) / 4 = 0.35998
    logit = -1.30975 + log((exp(4 * 1.83752) + exp(4 * 0.88634)) / 2) / 4
    # the note's -1 + 0.5 * (1.67504 + 1.67504) + 0.5 + 0.5 * 0.5 - ln(1 + e^-2) + 0.5 = 1.79811
    # the entity's -3 + 0.5 * (0.27268 + 0.27268) + 0.25 - 0.5 * 0.5 + 0.25 - ln(1 + e^2) + 0.5 = -4.10425
    # Odds of 4 rather than 11 / 9: 36 / 11 times as much.
    there = 1 / (1 + exp(-(logit + log(36 / 11))))
    hits = [there / (1 + exp(-1.79811)), there / (1 + exp(4.10425))]
    assert done.hits.tolist() == pytest.approx(hits, abs=1e-4)
    # 1 / (1 + e^-0.35998) = 0.589, below the best hit's 0.708
    assert done.answer == pytest.approx(max(1 / (1 + exp(-logit)), float(hits[0])), abs=1e-4)
    # If the words of the query ask for nothing personal, neither is likely: -6.00248 - -0.02975 = -5.97273
    idle = estimate_confidence(replace(two, text=-6.0), KEYS, WEIGHTS, RANGES)
    assert idle.answer == pytest.approx(max(1 / (1 + exp(5.97273 - logit)), float(idle.hits[0])), abs=1e-4)


def test_words_alone_never_make_an_answer_likely() -> None:
    far = confidence_input([0.3, 0.2], [1.0, NAN], [{"key"}, set()])
    answers = [
        estimate_confidence(replace(far, text=text), KEYS, WEIGHTS, RANGES).answer
        for text in (0.0, 5.0, 50.0)
    ]
    # Personal words raise a logit by at most ln 2 from where nothing is known of them.
    logits = [log(answer / (1 - answer)) for answer in answers]
    assert logits[0] < logits[1] < logits[2] == pytest.approx(logits[0] + log(2))


def test_an_answer_is_as_likely_as_its_best_hit() -> None:
    sure = ConfidenceWeights((0.0,) * 8, {"note": 9.0}, (0.0,) * 8, constant=0.0)
    asked = replace(confidence_input([0.7], [NAN], [{"key"}]), text=1e9)
    done = estimate_confidence(asked, KEYS, sure, RANGES)
    # The answer's own logit is ln sigmoid(1e9) + 1.2 * (1 - 1 / 5) = 0.96; the hit's is ln(36 / 11) more,
    # of which sigmoid(9) is left.
    assert done.answer == done.hits[0] == pytest.approx(1 / (1 + 11 / 36 * exp(-0.96)) / (1 + exp(-9)))


def test_what_shares_no_word_and_points_elsewhere_is_no_candidate() -> None:
    assert estimate_confidence(confidence_input([], [], []), KEYS, WEIGHTS, RANGES).answer == 0.0
    for said, is_candidate in ((set[str](), False), ({"key"}, True)):
        pair = confidence_input([0.8, 0.01], [NAN, NAN], [{"key"}, said])
        assert bool(estimate_confidence(pair, KEYS, WEIGHTS, RANGES).hits[1] > 0.0) is is_candidate
    nothing = estimate_confidence(confidence_input([0.01], [NAN], [set()]), KEYS, WEIGHTS, RANGES)
    assert (nothing.hits.tolist(), nothing.answer) == ([0.0], 0.0)


def test_hits_beyond_the_thirtieth_place_by_words_say_nothing() -> None:
    bm25 = [9 - place / 10 for place in range(32)]
    score = [1 - place / 50 for place in range(32)]
    deep = replace(confidence_input([0.5] * 32, bm25, [{"key"}] * 32, score), first=5)
    shallow = replace(deep, bm25=np.array([*bm25[:30], NAN, NAN]))
    one, two = (estimate_confidence(each, KEYS, WEIGHTS, RANGES) for each in (deep, shallow))
    assert (one.hits.tolist(), one.answer) == (two.hits.tolist(), two.answer)


# Weights whose sum depends on the order, and sets whose order depends on the process.
_UNORDERED = """
import numpy as np
from recollect.ranking.confidence import ConfidenceInput, ModelRanges, QueryTerms, ScoreRange
from recollect.ranking.confidence import estimate_confidence, fitted_confidence, signal_rows
from recollect.domain.records import Kind
words = [f"word{place}" for place in range(60)]
weights = {word: 1 / (3 + place) for place, word in enumerate(words)}
terms = QueryTerms(weights, frozenset(words[3:6]), frozenset(words[:3]))
said = [frozenset(words[start : start + 40]) for start in range(20)]
scores, rows, ranges = np.linspace(0.9, 0.5, 20), np.arange(20), ModelRanges(ScoreRange(0.7, 0.05))
inputs = ConfidenceInput(
    scores, 9 * scores, scores, rows, scores, rows, 10, [Kind.NOTE] * 20, said, scores, scores > 0.6, scores
)
done = estimate_confidence(inputs, terms, fitted_confidence().meaning, ranges)
numbers = [*signal_rows(inputs, terms, ranges).ravel().tolist(), *done.hits.tolist(), done.answer]
print([each.hex() for each in numbers])
"""


def test_every_process_judges_alike_to_the_last_bit() -> None:
    def output_with_seed(seed: int) -> str:
        run = [sys.executable, "-c", _UNORDERED]
        environment = os.environ | {"PYTHONHASHSEED": str(seed)}
        return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout

    first = output_with_seed(0)
    assert len(first.split()) == 20 * 8 + 20 + 1
    assert [output_with_seed(seed) for seed in (1, 2, 3)] == [first] * 3


def test_the_fitted_weights_are_complete() -> None:
    fitted = fitted_confidence()
    for weights in (fitted.meaning, fitted.words):
        assert len(weights.hit) == len(weights.answer) == len(SIGNALS)
        assert min(*weights.hit, *weights.answer) >= 0
        assert set(weights.kind) == set(Kind)
    for name, text in fitted.texts.items():
        assert len(text.signs) == len(SIGNS)
        assert bool(text.vector) == bool(name)
        # The default models have a range and a text model, of the revision that is installed.
        assert not name or name.partition("@")[0] in fitted.ranges
    name = next(iter(fitted.ranges))
    assert fitted.for_model(f"{name}@1") == (fitted.meaning, fitted.ranges[name])
    assert fitted.for_model("of my own") == (fitted.meaning, None)
    assert fitted.for_model(None) == (fitted.words, None)
    assert fitted.text_weights("of my own") == fitted.text_weights(None) == fitted.texts[""]


# What the query says


def test_the_signs_of_a_query() -> None:
    def signs_of(query: str, *, timed: bool = False) -> set[str]:
        signs = query_signs(query, timed=timed)
        return {name for name, sign in zip(SIGNS, signs, strict=True) if sign}

    assert signs_of("Draft a mail to Ana about my boiler") == {"personal", "errand"}
    assert signs_of("Translate “good morning, neighbour” to Polish") == {"general", "quotes"}
    assert signs_of("why does df.groupby() drop rows in python", timed=True) == {"code", "timed"}


def test_the_logit_of_a_query_by_hand() -> None:
    weights = TextWeights(-1.0, (2.0, 1.0, -3.0, -2.0, -2.0, 0.5), (1.0, -2.0))
    # -1 + 2 + 0.5 + 0.25 * 1 - 0.5 * 2
    assert text_logit((1, 0, 0, 0, 0, 1), [0.25, 0.5], weights) == pytest.approx(0.75)
    # Without a vector, the signs count alone.
    assert text_logit((1, 0, 0, 0, 0, 1), None, weights) == pytest.approx(1.5)


def test_prompts_that_need_nothing_are_told_from_errands_without_a_vector() -> None:
    weights = fitted_confidence().text_weights(None)
    idle = ["translate “see you on Monday” to Polish", "what is the capital of Peru", "a haiku about rain"]
    errands = ["write to my landlord about the boiler", "plan my sister's birthday dinner"]
    logits = [text_logit(query_signs(each, timed=False), None, weights) for each in (*idle, *errands)]
    assert max(logits[:3]) < 0 < min(logits[3:])


def test_auroc_counts_pairs_and_halves_ties() -> None:
    # Of 6 pairs: 3 beats 1 and 2; 2 beats 1 and ties with 2; 1 ties with 1: 2 + 1.5 + 0.5 = 4
    assert auroc(np.array([3.0, 2.0, 1.0]), np.array([1.0, 2.0])) == pytest.approx(4 / 6)
    assert auroc(np.array([]), np.array([1.0])) == 0.5


def test_probabilities_in_words() -> None:
    words = [confidence_label(each) for each in (0.0, 0.499, 0.5, 0.749, 0.75, 1.0)]
    assert words == ["unlikely", "unlikely", "possible", "possible", "likely", "likely"]


cosines = st.one_of(st.just(NAN), st.floats(-1, 1))
scores = st.one_of(st.just(NAN), st.floats(0, 30))
candidates = st.lists(
    st.tuples(cosines, scores, st.sets(st.sampled_from(sorted(KEYS.weights))), st.floats(-5, 5)),
    min_size=1,
    max_size=40,
)
Rows = list[tuple[float, float, set[str], float]]


def ranked(rows: Rows) -> ConfidenceInput:
    best_first = sorted(rows, key=lambda row: -row[3])
    cosine, bm25, said, score = (list(each) for each in zip(*best_first, strict=True))
    return confidence_input(cosine, bm25, said, score)


@given(candidates, st.booleans())
def test_every_confidence_is_a_probability_and_no_hit_is_likelier_than_the_answer(
    rows: Rows, known: bool
) -> None:
    weights = fitted_confidence().meaning
    done = estimate_confidence(ranked(rows), KEYS, weights, RANGES if known else None)
    assert np.isfinite(done.hits).all()
    assert ((done.hits >= 0) & (done.hits <= 1)).all()
    assert done.hits.max() <= done.answer <= 1


@given(candidates, st.integers(0, 39))
def test_more_evidence_never_makes_a_hit_or_the_answer_less_likely(rows: Rows, place: int) -> None:
    place %= len(rows)
    plain = replace(ranked(rows), fits=np.zeros(len(rows), bool))
    fits, timed, said = plain.fits.copy(), plain.timed.copy(), list(plain.matched)
    fits[place], timed[place], said[place] = True, 1.0, frozenset(KEYS.weights)
    weights = fitted_confidence().meaning
    before = estimate_confidence(plain, KEYS, weights, RANGES)
    # It contains every word; it has what the question asks for; it is of the time that is asked for.
    for more in (replace(plain, matched=said), replace(plain, fits=fits), replace(plain, timed=timed)):
        after = estimate_confidence(more, KEYS, weights, RANGES)
        assert after.hits[place] >= before.hits[place] - 1e-12
        assert after.answer >= before.answer - 1e-12


@given(candidates)
def test_naming_the_right_time_never_makes_a_hit_less_likely(rows: Rows) -> None:
    """`The March outage` against `the outage`, of what happened in March."""
    weights = fitted_confidence().meaning
    without = QueryTerms({"key": 2.0, "spare": 1.0}, frozenset({"spare"}))
    plain = ranked([(cosine, bm25, said - {"march"}, score) for cosine, bm25, said, score in rows])
    timed = replace(plain, timed=np.ones(len(rows)))
    before = estimate_confidence(plain, without, weights, RANGES)
    after = estimate_confidence(timed, KEYS, weights, RANGES)
    assert (after.hits >= before.hits - 1e-12).all()
    assert after.answer >= before.answer - 1e-12


# The words that a question looks for


def test_the_rarer_word_weighs_more_and_an_unknown_one_the_most() -> None:
    asked = weigh_query_terms("Where is the spare boiler?", {"spare": 3, "boiler": 0}, 7)
    # ln(1 + 7 / 3.5) = ln 3; ln(1 + 7 / 0.5) = ln 15
    assert dict(asked.weights) == pytest.approx(
        {coarse_stem("spare"): log(3), coarse_stem("boiler"): log(15)}
    )
    assert asked.total_weight == pytest.approx(log(45))


def test_a_question_of_common_words_alone_looks_for_all_of_them() -> None:
    assert query_terms("Who is it?") == ["who", "is", "it"]
    assert query_terms("Who is Ana?") == ["ana"]


def test_words_for_a_time_are_known_among_the_others() -> None:
    asked = weigh_query_terms("boiler September", {"boiler": 3, "september": 3}, 7, "in September")
    assert asked.of_time == {coarse_stem("september")}
    # Both weigh ln 3; what was searched for beside the time is the boiler.
    assert asked.total_weight == pytest.approx(2 * log(3))
    assert asked.searched_weight == pytest.approx(log(3))
    assert asked.matched_share({coarse_stem("boiler")}, of_that_time=False) == pytest.approx(0.5)
    assert asked.matched_share({coarse_stem("boiler")}, of_that_time=True) == pytest.approx(1.0)


@given(st.text(max_size=80))
def test_a_question_holds_all_that_it_looks_for(query: str) -> None:
    asked = weigh_query_terms(query, {}, 5)
    assert matched_terms(query, asked.weights.keys()) == asked.weights.keys()
