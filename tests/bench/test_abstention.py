"""Confidence: how well it separates stored answers from missing ones, its logistic models, its picture."""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judged import Counting, conversation, write_locomo

from recollect.domain.errors import InvalidInput
from recollect.models.embedders import embedder_named
from recollect_bench.abstention import (
    AbstentionOptions,
    ScoredAnswer,
    brier,
    calibration_error,
    measure_abstention,
    summarize_abstention,
)
from recollect_bench.loading import load_datasets
from recollect_bench.logistic import LogisticProblem, fit_logistic
from recollect_bench.models import Models
from recollect_bench.reliability import JudgedHit, by_kind, tenths
from recollect_bench.reliability_plot import draw_reliability

if TYPE_CHECKING:
    from pathlib import Path
    from random import Random

    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Embedder


@pytest.fixture
def embedder() -> Embedder:
    found = embedder_named("hashing")
    assert found is not None
    return found


def test_calibration_error_over_two_bins_by_hand() -> None:
    probability = np.array([0.9, 0.1, 0.7, 0.3])
    true = np.array([True, False, False, True])
    # 0.1 and 0.3: mean 0.2, half true: 0.3 off. 0.7 and 0.9: mean 0.8, half true: 0.3 off.
    assert calibration_error(probability, true, bins=2) == pytest.approx(0.3)
    # One bin: mean 0.5, half true.
    assert calibration_error(probability, true, bins=1) == pytest.approx(0.0)


def test_bins_hold_equally_many_and_weigh_by_what_they_hold() -> None:
    # Three in two bins: 0.0 and 0.2 (mean 0.1, none true: 0.1 off), then 1.0 (true: 0 off): (2 * 0.1 + 0) / 3
    error = calibration_error(np.array([1.0, 0.0, 0.2]), np.array([True, False, False]), bins=2)
    assert error == pytest.approx(0.2 / 3)


def test_equal_probabilities_are_told_together_in_whichever_order_they_come() -> None:
    # Always 0.5, and right half of the time: as it says.
    halves = np.repeat([True, False], 50)
    assert calibration_error(np.full(100, 0.5), halves) == 0.0
    assert calibration_error(np.full(100, 0.5), halves[::-1]) == 0.0
    # 0.2 thrice (one true), 0.8 thrice (one true), over three bins: (|0.6 - 1| + |2.4 - 1|) / 6
    probability = np.array([0.2, 0.8, 0.2, 0.8, 0.2, 0.8])
    true = np.array([True, True, False, False, False, False])
    assert calibration_error(probability, true, bins=3) == pytest.approx(1.8 / 6)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.3, 0.9, 1.0]), st.booleans()), min_size=1), st.randoms()
)
def test_the_order_of_the_questions_does_not_move_the_error(
    rows: list[tuple[float, bool]], random: Random
) -> None:
    def error() -> float:
        probability, true = zip(*rows, strict=True)
        return calibration_error(np.array(probability), np.array(true))

    before = error()
    random.shuffle(rows)
    assert error() == pytest.approx(before)


def test_brier_by_hand() -> None:
    # (0.1² + 0.3²) / 2 = 0.05
    assert brier(np.array([0.9, 0.3]), np.array([True, False])) == pytest.approx(0.05)


def sure(
    kind: str, confidence: float, cosine: float, *hits: tuple[float, bool], category: str = ""
) -> ScoredAnswer:
    judged = tuple(JudgedHit("note", *hit) for hit in hits)
    scores = {"confidence": confidence, "cosine": cosine}
    return ScoredAnswer(kind, scores, confidence < 0.25, judged, category)


def test_a_data_set_is_summed_by_kind() -> None:
    result = summarize_abstention(
        "harbour",
        [
            sure("present", 0.9, 0.7, (0.8, True), (0.2, False)),
            sure("present", 0.2, 0.9, (0.6, False)),
            sure("removed", 0.4, 0.8),
            sure("removed", 0.1, 0.6),
        ],
    )
    assert result.questions == {"present": 2, "removed": 2}
    # Confidence: 0.9 beats both, 0.2 beats one of two: 3/4. Cosine: 0.7 beats one, 0.9 both: 3/4.
    assert result.auroc == {"confidence": {"removed": 0.75}, "cosine": {"removed": 0.75}}
    # (0.1² + 0.8² + 0.4² + 0.1²) / 4
    assert result.brier["removed"] == pytest.approx(0.82 / 4)
    # One of two that have an answer, one of two that have none.
    assert result.told_nothing == {"present": 0.5, "removed": 0.5}
    assert result.hits["relevant"] == pytest.approx(1 / 3)
    assert result.hits["auroc"] == 1.0
    assert [tenth.hits for tenth in result.reliability["note"]] == [1, 1, 1]


def test_unanswerable_questions_of_several_categories_are_also_told_apart() -> None:
    result = summarize_abstention(
        "harbour",
        [
            sure("present", 0.5, 0.7),
            sure("unsaid", 0.1, 0.8, category="absent"),
            sure("unsaid", 0.6, 0.6, category="near-miss"),
        ],
    )
    assert result.questions == {"present": 1, "unsaid": 2, "unsaid: absent": 1, "unsaid: near-miss": 1}
    assert result.auroc["confidence"] == {"unsaid": 0.5, "unsaid: absent": 1, "unsaid: near-miss": 0}
    assert result.told_nothing["unsaid: absent"] == 1


def test_the_very_question_is_asked_with_its_answer_and_without(tmp_path: Path, embedder: Embedder) -> None:
    counting = Counting(embedder)
    (result,) = measure_abstention(
        load_datasets([write_locomo(tmp_path, conversation())]), Models.only(counting)
    )
    # Three point to a turn, each asked twice; then the one that is unanswerable.
    assert result.questions == {"present": 3, "removed": 3, "unsaid": 1}
    heard = [text for text in counting.asked if text.startswith("? ")]
    present, removed = heard[0:6:2], heard[1:6:2]
    assert present == removed
    assert len({*present}) == 3
    assert len(heard) == 7


def test_without_an_absent_answer_there_is_nothing_to_measure() -> None:
    with pytest.raises(InvalidInput, match="no question"):
        summarize_abstention("harbour", [sure("present", 0.9, 0.7)])


def test_the_bench_asks_with_and_without_the_answer_and_leaves_the_store_as_it_was(
    tmp_path: Path, embedder: Embedder
) -> None:
    second = conversation() | {"sample_id": "talk-2"}
    second["conversation"] = {
        **second["conversation"],
        "session_1": [
            {**turn, "text": f"{turn['text']} Indeed!"} for turn in second["conversation"]["session_1"]
        ],
        "session_2": [
            {**turn, "text": f"{turn['text']} Truly!"} for turn in second["conversation"]["session_2"]
        ],
    }
    datasets = load_datasets([write_locomo(tmp_path, conversation(), second)])
    models = Models.only(embedder)
    (result,) = measure_abstention(datasets, models)
    # In each of two talks: three questions point to a turn, one is unanswerable.
    assert result.questions["present"] == result.questions["removed"] == 6
    assert result.questions["unsaid"] == 2
    # The talks have so few texts that a removed one hardly changes the rest.
    assert result.auroc["confidence"]["removed"] >= 0.5
    assert (result,) == measure_abstention(datasets, models)
    (fewer,) = measure_abstention(datasets, models, AbstentionOptions(most=1, absent=0))
    assert fewer.questions == {"present": 2, "other": 2, "unsaid": 2}


def linear(table: Floats, true: list[float], floor: list[float]) -> LogisticProblem:
    return LogisticProblem(
        lambda numbers: (table @ numbers, table),
        np.array(true),
        np.ones(len(true)),
        np.array(floor),
        np.zeros(table.shape[1]),
    )


def test_a_constant_becomes_the_odds() -> None:
    # Three of four: ln(3 / 1)
    fitted = fit_logistic(linear(np.ones((4, 1)), [1, 1, 1, 0], [-np.inf]))
    assert fitted.tolist() == pytest.approx([log(3)], abs=1e-4)


def test_a_signal_becomes_the_ratio_of_odds() -> None:
    # With it two of three, odds 2; without it one of three, odds 1/2: the constant is -ln 2, the signal ln 4.
    table = np.array([[1.0, 1.0]] * 3 + [[0.0, 1.0]] * 3)
    fitted = fit_logistic(linear(table, [1, 1, 0, 1, 0, 0], [0.0, -np.inf]))
    assert fitted.tolist() == pytest.approx([log(4), -log(2)], abs=1e-4)


def test_a_signal_that_speaks_against_itself_gets_no_weight() -> None:
    table = np.array([[1.0, 1.0]] * 3 + [[0.0, 1.0]] * 3)
    fitted = fit_logistic(linear(table, [0, 0, 1, 1, 1, 0], [0.0, -np.inf]))
    # Half of all are true: the constant is 0.
    assert fitted.tolist() == pytest.approx([0.0, 0.0], abs=1e-4)


def note(confidence: float, right: bool) -> JudgedHit:
    return JudgedHit("note", confidence, right)


def test_a_tenth_worked_by_hand() -> None:
    first, last = tenths([note(0.25, True), note(0.2, False), note(1.0, True)])
    # 0.25 and 0.2: mean 0.225, half right; sqrt(0.25 * 0.75 + 0.2 * 0.8) / 2 = sqrt(0.3475) / 2 = 0.2947
    assert (first.low, first.hits, first.right) == (0.2, 2, 0.5)
    assert first.confidence == pytest.approx(0.225)
    assert first.standard_error == pytest.approx(0.2947, abs=1e-4)
    # 0.275 off, and two standard errors are 0.589.
    assert first.holds
    # Quite sure, and right: in the last tenth, and nothing is off.
    assert (last.low, last.right, last.error, last.holds) == (0.9, 1.0, 0.0, True)


def test_far_off_or_a_little_off_in_many_is_told() -> None:
    # 0.9 and never right: 0.9 off, standard error 0.3 / sqrt(10) = 0.095.
    (wrong,) = tenths([note(0.9, False)] * 10)
    assert not wrong.holds
    # 0.55 said, 0.49 right: 0.06 off. Of 100 hits a standard error is 0.0497; of 400, 5 points are too much.
    for hits, holds in ((100, True), (400, False)):
        rows = [note(0.55, place % 100 < 49) for place in range(hits)]
        assert tenths(rows)[0].holds is holds


def test_kinds_are_told_apart() -> None:
    found = by_kind([note(0.5, True), JudgedHit("message", 0.5, False)])
    assert {kind: each[0].right for kind, each in found.items()} == {"message": 0.0, "note": 1.0}


def test_the_picture_has_a_panel_for_each_kind_and_marks_what_is_off() -> None:
    hits = tuple([note(0.9, False)] * 10 + [JudgedHit("message", 1.0, True)])
    answers = [
        ScoredAnswer("present", {"confidence": 0.9}, hits=hits),
        ScoredAnswer("other", {"confidence": 0.1}),
    ]
    drawn = draw_reliability([summarize_abstention("a<b", answers)])
    picture = ET.fromstring(drawn)  # noqa: S314  # our own
    texts = ["".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"a<b", "note: 10 hits", "message: 1 hits"} <= set(texts)
    circles = [each.get("fill") for each in picture.iter("{http://www.w3.org/2000/svg}circle")]
    assert circles == ["#cf3b3b", "#1f9d6b"]
