"""The reliability of the confidence as a drawing: where hits are right as often as it says, dots lie on the line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.engine.self_test.reliability import Reliability

SIZE = 320
"""Of the square from 0 to 1, in units of the drawing."""
_LARGEST_DOT, _SMALLEST_DOT = 11.0, 3.5


@dataclass(frozen=True, slots=True)
class CurveDot:
    x: float
    y: float
    radius: float
    """By its hits."""
    low: float
    high: float
    """Where the 95 % interval ends, as y."""


@dataclass(frozen=True, slots=True)
class Curve:
    dots: tuple[CurveDot, ...]
    points: str
    """Of the line through them."""
    ticks: tuple[tuple[float, str], ...]
    size: int = SIZE


def reliability_curve(found: Reliability) -> Curve:
    most = max((each.hits for each in found.bins), default=1)
    dots = tuple(
        CurveDot(
            round(SIZE * each.confidence, 1),
            round(SIZE * (1 - each.share), 1),
            # The area tells how many.
            round(max(_SMALLEST_DOT, _LARGEST_DOT * (each.hits / most) ** 0.5), 1),
            round(SIZE * (1 - each.share_low), 1),
            round(SIZE * (1 - each.share_high), 1),
        )
        for each in found.bins
    )
    points = " ".join(f"{dot.x},{dot.y}" for dot in dots)
    return Curve(dots, points, tuple((SIZE * part / 4, f"{25 * part} %") for part in range(5)))
