"""Confidence and the relevance gate: signals and probabilities by hand, and laws for any candidates."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, fields, replace
from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.limits import confidence_label
from recollect.domain.numbers import auroc
from recollect.domain.records import Kind
from recollect.language.questions import prompt_signs
from recollect.ranking.confidence import (
    SIGNALS,
    ConfidenceInput,
    ConfidenceWeights,
    CosineScale,
    GateSignals,
    QueryTerms,
    estimate_confidence,
    fitted_confidence,
    gate_signals,
    gate_weights,
    memory_needed,
    prompt_stems,
    signal_rows,
    weigh_query_terms,
)
from recollect.text.tokens import coarse_stem, matched_terms, query_terms

NAN = float("nan")
SCALE = CosineScale(cosine=0.7, spread=0.05, background=0.6)
KEYS = QueryTerms({"key": 2.0, "spare": 1.0, "march": 1.0}, frozenset({"march"}))
# near, above, held, ahead, agreed, share, fits, timed
WEIGHTS = ConfidenceWeights(
    hit=(0.0, 0.5, 1.0, 0.5, 0.25, 1.0, 0.5, 1.0),
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


def column(inputs: ConfidenceInput, name: str, scale: CosineScale | None = SCALE) -> list[float]:
    return [float(each) for each in signal_rows(inputs, KEYS, scale)[:, SIGNALS.index(name)]]


def test_the_signals_of_two_candidates() -> None:
    two = confidence_input([0.8, 0.65], [3.0, NAN], [{"key"}, {"spare"}], [2.0, 0.0])
    # near    (0.8 - 0.7) / 0.05 = 2       (0.65 - 0.7) / 0.05 = -1
    # above   (0.8 - 0.6) / 0.05 = 4       (0.65 - 0.6) / 0.05 = 1     the list is too short to show its own
    # held    2 / 4                        1 / 4
    # ahead   (3 - 1.5) / 3 = 0.5          (0 - 1.5) / 3 = -0.5        by what is no time: 2 + 1
    # agreed  1/1 + 1/1 = 2                1/2 + 0
    # share   z is 1 and -1: ln(e / (e + 1/e)) = -ln(1 + e^-2), and -ln(1 + e^2)
    shares = [-log(1 + exp(-2)), -log(1 + exp(2))]
    expected = [[2, 4, 0.5, 0.5, 2, shares[0], 1, 0], [-1, 1, 0.25, -0.5, 0.5, shares[1], 1, 0]]
    assert signal_rows(two, KEYS, SCALE).tolist() == pytest.approx(np.array(expected))


def test_ahead_is_told_from_the_mean_of_the_best_five() -> None:
    six = confidence_input([NAN] * 6, [9.0, 5.0, 4.0, 3.0, 2.0, 1.0], [set() for _ in range(6)])
    # The best five are 4.6 in the mean: 4.4 above it, 0.4 above it, 3.6 below it; all by 3.
    assert [column(six, "ahead")[place] for place in (0, 1, 5)] == pytest.approx([4.4 / 3, 0.4 / 3, -1.2])


def test_the_background_is_the_eleventh_to_the_thirtieth() -> None:
    # From 0.99 down by hundredths: places 11 to 30 are 0.89 to 0.70, in the mean 0.795.
    many = confidence_input([0.99 - place / 100 for place in range(50)], [NAN] * 50, [set()] * 50)
    assert column(many, "above")[0] == pytest.approx((0.99 - 0.795) / 0.05)
    # For an unknown model, in standard deviations of the first thirty, 0.00 to 0.29: 0.0866.
    assert column(many, "above", None)[0] == pytest.approx((0.99 - 0.795) / 0.0865544)
    assert column(many, "near", None) == [0.0] * 50


def test_single_signals_by_hand() -> None:
    words = confidence_input([NAN, NAN], [2.0, 1.0], [{"key"}, set()])
    assert column(words, "near") == column(words, "above") == [0.0, 0.0]
    pair = confidence_input([0.8, NAN], [NAN, 4.0], [{"key"}, {"key"}])
    # No cosine: that of what is far down the list, 0.6, which is (0.6 - 0.7) / 0.05 = -2 and above nothing.
    assert (column(pair, "near")[1], column(pair, "above")[1]) == pytest.approx((-2, 0))
    known = replace(pair, near=np.array([0.8, 0.65]))
    assert (column(known, "near")[1], column(known, "above")[1]) == pytest.approx((-1, 1))
    one = confidence_input([NAN], [1.0], [{"key"}])
    # 2 of 4; in March, 3 of 4
    assert column(one, "held") == pytest.approx([0.5])
    assert column(replace(one, timed=np.array([1.0])), "held") == pytest.approx([0.75])


def test_a_hit_and_its_answer_by_hand() -> None:
    two = confidence_input(
        [0.8, 0.65], [3.0, NAN], [{"key"}, {"spare"}], [2.0, 0.0], [Kind.NOTE, Kind.ENTITY]
    )
    done = estimate_confidence(two, KEYS, WEIGHTS, SCALE)
    # answer: 0.5 * 2 + 0.5 + 0.5 = 2, and 0.5 * -1 + 0.25 + 0.5 = 0.25
    # -2 + ln((e^2 + e^0.25) / 2) = -0.53292
    logit = -2 + log((exp(2) + exp(0.25)) / 2)
    # the note's -1 + 0.5 * 4 + 0.5 + 0.5 * 0.5 + 0.25 * 2 - ln(1 + e^-2) + 0.5 = 2.62307
    # the entity's -3 + 0.5 * 1 + 0.25 - 0.5 * 0.5 + 0.25 * 0.5 - ln(1 + e^2) + 0.5 = -4.00193
    # Odds of 9 rather than 5 / 3: 5.4 times as much.
    there = 1 / (1 + exp(-(logit + log(5.4))))
    hits = [there / (1 + exp(-2.62307)), there / (1 + exp(4.00193))]
    assert done.hits.tolist() == pytest.approx(hits, abs=1e-5)
    # 1 / (1 + e^0.53292) = 0.37, and the best hit is 0.71: it is an answer.
    assert done.answer == pytest.approx(max(hits), abs=1e-5)


def test_where_no_hit_stands_out_the_answer_has_its_own_probability() -> None:
    flat = confidence_input([0.7] * 30, [NAN] * 30, [set()] * 30)
    done = estimate_confidence(replace(flat, first=10), KEYS, WEIGHTS, SCALE)
    # Each of the first ten has 0.5 * 0 + 0 + 0.5: -2 + ln(e^0.5) = -1.5
    assert done.answer == pytest.approx(1 / (1 + exp(1.5)))
    assert done.hits.max() < 0.1


def test_what_shares_no_word_and_points_elsewhere_is_no_candidate() -> None:
    assert estimate_confidence(confidence_input([], [], []), KEYS, WEIGHTS, SCALE).answer == 0.0
    for said, is_candidate in ((set[str](), False), ({"key"}, True)):
        pair = confidence_input([0.8, 0.01], [NAN, NAN], [{"key"}, said])
        assert bool(estimate_confidence(pair, KEYS, WEIGHTS, SCALE).hits[1] > 0.0) is is_candidate
    nothing = estimate_confidence(confidence_input([0.01], [NAN], [set()]), KEYS, WEIGHTS, SCALE)
    assert (nothing.hits.tolist(), nothing.answer) == ([0.0], 0.0)


def test_what_lies_beyond_the_thirtieth_place_says_nothing() -> None:
    # Falling by hundredths and by tenths; the 31st and 32nd by each search are there in one list only.
    cosine, bm25 = [0.9 - place / 100 for place in range(32)], [9 - place / 10 for place in range(32)]
    score = [1 - place / 50 for place in range(32)]
    deep = confidence_input(cosine, bm25, [{"key"}] * 32, score)
    shallow = confidence_input([*cosine[:30], NAN, NAN], [*bm25[:30], NAN, NAN], [{"key"}] * 32, score)
    # Their cosines are known all the same, from their own vectors.
    shallow = replace(shallow, near=deep.near, first=5)
    for scale in (SCALE, None):
        one = estimate_confidence(replace(deep, first=5), KEYS, WEIGHTS, scale)
        two = estimate_confidence(shallow, KEYS, WEIGHTS, scale)
        assert (one.hits.tolist(), one.answer) == (two.hits.tolist(), two.answer)
    # agreed: 1/30 + 1/30, and then 0
    assert column(deep, "agreed")[29:] == pytest.approx([2 / 30, 0, 0])


# Weights whose sum depends on the order, and sets whose order depends on the process.
_UNORDERED = """
import numpy as np
from recollect.ranking.confidence import ConfidenceInput, CosineScale, QueryTerms, estimate_confidence
from recollect.ranking.confidence import signal_rows
from recollect.ranking.confidence import fitted_confidence
from recollect.domain.records import Kind
words = [f"word{place}" for place in range(60)]
terms = QueryTerms({word: 1 / (3 + place) for place, word in enumerate(words)}, frozenset(words[:3]))
said = [frozenset(words[start : start + 40]) for start in range(20)]
scores, rows, scale = np.linspace(0.9, 0.5, 20), np.arange(20), CosineScale(0.7, 0.05, 0.6)
inputs = ConfidenceInput(
    scores, 9 * scores, rows, scores, rows, 10, [Kind.NOTE] * 20, said, scores, scores > 0.6, scores
)
done = estimate_confidence(inputs, terms, fitted_confidence().known, scale)
numbers = [*signal_rows(inputs, terms, scale).ravel().tolist(), *done.hits.tolist(), done.answer]
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


def test_the_fitted_weights_are_complete_and_an_unknown_model_is_judged_by_its_list() -> None:
    fitted = fitted_confidence()
    for weights in (fitted.known, fitted.unknown, fitted.words):
        assert len(weights.hit) == len(weights.answer) == len(SIGNALS)
        assert min(*weights.hit, *weights.answer) >= 0
        assert set(weights.kind) == set(Kind)
    assert {"arctic-s", "e5-small"} <= fitted.scales.keys()
    assert fitted.for_model("arctic-s@1") == (fitted.known, fitted.scales["arctic-s"])
    assert fitted.for_model("of my own") == (fitted.unknown, None)
    assert fitted.for_model(None) == (fitted.words, None)


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
    weights = fitted_confidence().known if known else fitted_confidence().unknown
    done = estimate_confidence(ranked(rows), KEYS, weights, SCALE if known else None)
    assert np.isfinite(done.hits).all()
    assert ((done.hits >= 0) & (done.hits <= 1)).all()
    assert done.hits.max() <= done.answer <= 1


@given(candidates, st.integers(0, 39))
def test_more_evidence_never_makes_a_hit_or_the_answer_less_likely(rows: Rows, place: int) -> None:
    place %= len(rows)
    plain = replace(ranked(rows), fits=np.zeros(len(rows), bool))
    fits, timed, said = plain.fits.copy(), plain.timed.copy(), list(plain.matched)
    fits[place], timed[place], said[place] = True, 1.0, frozenset(KEYS.weights)
    weights = fitted_confidence().known
    before = estimate_confidence(plain, KEYS, weights, SCALE)
    # It contains every word; it has what the question asks for; it is of the time that is asked for.
    for more in (replace(plain, matched=said), replace(plain, fits=fits), replace(plain, timed=timed)):
        after = estimate_confidence(more, KEYS, weights, SCALE)
        assert after.hits[place] >= before.hits[place] - 1e-12
        assert after.answer >= before.answer - 1e-12


@given(candidates)
def test_naming_the_right_time_never_makes_a_hit_less_likely(rows: Rows) -> None:
    """`The March outage` against `the outage`, of what happened in March."""
    weights = fitted_confidence().known
    without = QueryTerms({"key": 2.0, "spare": 1.0})
    plain = ranked([(cosine, bm25, said - {"march"}, score) for cosine, bm25, said, score in rows])
    timed = replace(plain, timed=np.ones(len(rows)))
    before = estimate_confidence(plain, without, weights, SCALE)
    after = estimate_confidence(timed, KEYS, weights, SCALE)
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


# Whether a prompt calls for something remembered


def signals(prompt: str, *contained: str, confidence: float = 0.5) -> GateSignals:
    """Signals for a prompt; `contained` are the words of it that each memory contains."""
    matched = [frozenset(coarse_stem(word) for word in words.split()) for words in contained]
    return gate_signals(prompt_signs(prompt), prompt_stems(prompt), confidence, matched, timed=False)


def test_the_signals_of_a_prompt() -> None:
    found = signals("Draft a mail to Ana about my boiler", "ana", "boiler mail", confidence=0.8)
    # draft, mail, ana, boiler: three of them are contained, one of them a name; ln(0.8 / 0.2) = ln 4
    assert (found.answer, found.known, found.names) == pytest.approx((log(4), log(4), 1.0))
    assert (found.strangers, found.personal, found.errand, found.general, found.topic) == (0, 1, 1, 0, 0)
    assert signals("Draft a mail to Ana").strangers == 1


def test_a_topic_is_what_one_memory_contains_whole() -> None:
    assert signals("boathouse key", "boathouse key").topic == 1
    assert signals("boathouse key", "boathouse", "key").topic == 0
    assert signals("the spare key of the red boathouse", "spare key red boathouse").topic == 0


def test_the_probability_by_hand() -> None:
    weights = dict.fromkeys((field.name for field in fields(GateSignals)), 0.0)
    weights |= {"answer": 1.0, "personal": 2.0, "general": -3.0, "constant": -1.0}
    # ln 4 + 2 - 1 = 2.386; a greeting takes 3 of it
    asked = signals("a cake for my sister", confidence=0.8)
    assert memory_needed(asked, weights) == pytest.approx(1 / (1 + exp(-(log(4) + 1))))
    assert memory_needed(replace(asked, general=1.0), weights) == pytest.approx(1 / (1 + exp(-(log(4) - 2))))


def test_there_is_a_weight_for_every_signal() -> None:
    assert gate_weights().keys() == {*(field.name for field in fields(GateSignals)), "constant"}


unit = st.floats(0, 1)


@given(st.builds(GateSignals, st.floats(-7, 7), *[unit] * 10), st.sampled_from(["answer", "known", "names"]))
def test_what_the_store_knows_never_speaks_against_it(found: GateSignals, name: str) -> None:
    more = replace(found, **{name: asdict(found)[name] + 0.5})
    assert memory_needed(more) >= memory_needed(found)
