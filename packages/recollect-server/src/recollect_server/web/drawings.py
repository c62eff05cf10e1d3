"""Texts of the dashboard, and drawings that need no script: waterfalls of scores, the confidence curve."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import wilson_interval
from recollect.plugin import ConfidenceBin, ConfidenceCurve, Reason, effect_text

# Waterfalls

TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))
_SMALLEST_DELTA = 0.00005


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """One step of a score: from where to where it took it."""

    step: str
    effect: str
    kind: str
    score: float
    x: float
    width: float
    """In hundredths of the drawing."""
    zero: float


def waterfall_rows(reasons: Iterable[Reason]) -> list[WaterfallRow]:
    """Each step from the score before it to the score after it: the last one ends at the score."""
    listed = list(reasons)
    scores = [0.0, *(each.score for each in listed)]
    low, high = min(scores), max(scores)
    span = (high - low) or 1.0

    def place(score: float) -> float:
        return 100 * (score - low) / span

    rows = []
    for before, reason in zip(scores, listed, strict=False):
        left, right = sorted((place(before), place(reason.score)))
        delta = reason.score - before
        kind = "same" if abs(delta) < _SMALLEST_DELTA else "up" if delta > 0 else "down"
        rows.append(
            WaterfallRow(
                reason.step,
                effect_text(reason),
                kind,
                reason.score,
                round(left, 2),
                round(max(right - left, 0.4), 2),
                round(place(0.0), 2),
            )
        )
    return rows


def step_text(step: str) -> str:
    """A description of a ranking step; empty for a user's own step."""
    # Fused searches are named after how they were fused: `rrf: meaning`.
    before, _, last = step.partition(": ")
    usual = "the kind of question, as the router took it" if before == "routing" else ""
    texts: dict[str, str] = TEXTS["steps"]
    return texts.get(step) or usual or texts.get(last, "")


# The confidence curve

SIZE = 320
"""Side of the drawn square, which spans 0 to 1."""
_LARGEST_DOT, _SMALLEST_DOT = 11.0, 3.5


@dataclass(frozen=True, slots=True)
class CurveDot:
    bin: ConfidenceBin
    low: float
    high: float
    """The 95 % interval of the share that proved right."""
    x: float
    y: float
    radius: float
    y_low: float
    y_high: float


@dataclass(frozen=True, slots=True)
class CurveDrawing:
    dots: tuple[CurveDot, ...]
    points: str
    ticks: tuple[tuple[float, str], ...]
    size: int = SIZE


def curve_drawing(curve: ConfidenceCurve) -> CurveDrawing:
    most = max((each.count for each in curve.bins), default=1)
    dots = []
    for each in curve.bins:
        low, high = wilson_interval(round(each.found * each.count), each.count)
        # The area shows the count.
        radius = max(_SMALLEST_DOT, _LARGEST_DOT * (each.count / most) ** 0.5)
        places = (each.stated, 1 - each.found, 1 - low, 1 - high)
        x, y, y_low, y_high = (round(SIZE * place, 1) for place in places)
        dots.append(CurveDot(each, low, high, x, y, round(radius, 1), y_low, y_high))
    points = " ".join(f"{dot.x},{dot.y}" for dot in dots)
    return CurveDrawing(tuple(dots), points, tuple((SIZE * part / 4, f"{25 * part} %") for part in range(5)))
