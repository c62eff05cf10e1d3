"""Confidence in tenths against the share that was right: by hand, and as a picture."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from recollect_bench.abstention import ScoredAnswer, summarize_abstention
from recollect_bench.reliability import JudgedHit, by_kind, tenths
from recollect_bench.reliability_plot import draw_reliability


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
