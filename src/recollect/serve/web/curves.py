"""The curve of the confidence as a drawing: where hits are right as often as it says, dots lie on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.lazy_dataclass import dataclass
from recollect.statistics import wilson_interval

if TYPE_CHECKING:
    from recollect.engine.tuning.confidence_curve import ConfidenceBin, ConfidenceCurve

SIZE = 320
"""Of the square from 0 to 1, in units of the drawing."""
_LARGEST_DOT, _SMALLEST_DOT = 11.0, 3.5


@dataclass(frozen=True, slots=True)
class CurveDot:
    """A bin, and where it is drawn."""

    bin: ConfidenceBin
    low: float
    high: float
    """The 95 % interval of the share that proved right."""
    x: float
    y: float
    radius: float
    """By its hits."""
    y_low: float
    y_high: float


@dataclass(frozen=True, slots=True)
class CurveDrawing:
    dots: tuple[CurveDot, ...]
    points: str
    """Of the line through them."""
    ticks: tuple[tuple[float, str], ...]
    size: int = SIZE


def curve_drawing(curve: ConfidenceCurve) -> CurveDrawing:
    most = max((each.count for each in curve.bins), default=1)
    dots = []
    for each in curve.bins:
        low, high = wilson_interval(round(each.found * each.count), each.count)
        # The area tells how many.
        radius = max(_SMALLEST_DOT, _LARGEST_DOT * (each.count / most) ** 0.5)
        places = (each.stated, 1 - each.found, 1 - low, 1 - high)
        x, y, y_low, y_high = (round(SIZE * place, 1) for place in places)
        dots.append(CurveDot(each, low, high, x, y, round(radius, 1), y_low, y_high))
    points = " ".join(f"{dot.x},{dot.y}" for dot in dots)
    return CurveDrawing(tuple(dots), points, tuple((SIZE * part / 4, f"{25 * part} %") for part in range(5)))
