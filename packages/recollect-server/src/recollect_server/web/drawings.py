"""Texts of the dashboard, and drawings that need no script: axes, waterfalls, the confidence curve."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, tzinfo
from math import ceil, log1p
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import wilson_interval
from recollect.plugin import ConfidenceBin, ConfidenceCurve, Reason, effect_text

TEXTS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("texts.toml").read_text(encoding="utf-8"))

# Axes. Positions are in percent of the drawing's width or height.

_MAX_TICKS = 8
_HOURS = (1, 3, 6, 12, 24, 48, 168)
_MONTHS = (1, 2, 3, 6, 12, 24, 60, 120)
_POWERS = [int(10**power) for power in range(12)]
_STEPS = [digit * power for power in _POWERS for digit in (1, 2, 5)]
# A count above `_LARGE` and above `_OUTLIER` times the median would flatten the other bars.
_LARGE, _OUTLIER = 40, 8


class Tick(NamedTuple):
    at: float
    label: str


@dataclass(frozen=True, slots=True)
class CountScale:
    top: int
    is_log: bool

    def height(self, count: float) -> float:
        share = log1p(count) / log1p(self.top) if self.is_log else count / self.top
        return round(100 * share, 2)

    @property
    def ticks(self) -> list[Tick]:
        numbers: Iterable[int] = _POWERS if self.is_log else range(0, self.top + 1, _linear_step(self.top))
        return [Tick(self.height(each), f"{each:,}") for each in numbers if each <= self.top]


def count_scale(counts: Sequence[int]) -> CountScale:
    """Return a scale for bars: logarithmic if one count is far above the others, else linear."""
    most = max(counts, default=1)
    if most > _LARGE and most > _OUTLIER * median(counts):
        return CountScale(most, is_log=True)
    step = _linear_step(most)
    return CountScale(ceil(most / step) * step, is_log=False)


def _linear_step(most: int) -> int:
    return next(step for step in _STEPS if most <= 5 * step)


def place_between(at: datetime, begin: datetime, end: datetime) -> float:
    return round(100 * ((at - begin) / (end - begin)), 3)


def time_ticks(begin: datetime, end: datetime, zone: tzinfo) -> list[Tick]:
    """Return at most eight ticks at whole hours, days or months."""
    first = begin.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    hours = (end - begin) / timedelta(hours=1)
    step = next((each for each in _HOURS if hours / each <= _MAX_TICKS), None)
    if step is not None:
        form = "%H:%M" if step < 24 else "%-d %b"
        found = [first + timedelta(hours=step) * number for number in range(ceil(hours / step) + 24)]
    else:
        form, first = "%b %Y", first.replace(day=1)
        every = next((each for each in _MONTHS if hours / 730 / each <= _MAX_TICKS), _MONTHS[-1])
        months = range((first.month - 1) // every * every, ceil(hours / 730) + 12 + every, every)
        found = [first.replace(year=first.year + each // 12, month=each % 12 + 1) for each in months]
    return [Tick(place_between(at, begin, end), f"{at:{form}}") for at in found if begin <= at < end]


# Waterfalls

_SMALLEST_DELTA = 0.00005


class WaterfallRow(NamedTuple):
    """One step of a score; `x`, `width` and `zero` are in percent of the drawing's width."""

    step: str
    effect: str
    kind: str
    score: float
    x: float
    width: float
    zero: float


def waterfall_rows(reasons: Iterable[Reason]) -> list[WaterfallRow]:
    """Return a bar for each step, from the score before it to the score after it."""
    listed = list(reasons)
    scores = [0.0, *(each.score for each in listed)]
    low, high = min(scores), max(scores)

    def place(score: float) -> float:
        return 100 * (score - low) / ((high - low) or 1.0)

    rows = []
    for before, reason in zip(scores, listed, strict=False):
        left, right = sorted((place(before), place(reason.score)))
        delta = reason.score - before
        kind = "same" if abs(delta) < _SMALLEST_DELTA else "up" if delta > 0 else "down"
        bar = round(left, 2), round(max(right - left, 0.4), 2), round(place(0.0), 2)
        rows.append(WaterfallRow(reason.step, effect_text(reason), kind, reason.score, *bar))
    return rows


# The confidence curve

PERCENT_TICKS = [Tick(each, f"{each} %") for each in range(0, 101, 25)]
_LARGEST_DOT, _SMALLEST_DOT = 11.0, 3.5


class CurveDot(NamedTuple):
    bin: ConfidenceBin
    low: float
    high: float
    """`low` to `high` is the 95 % interval of the share of right answers."""
    radius: float


def curve_dots(curve: ConfidenceCurve) -> list[CurveDot]:
    """Return a dot for each bin, with an area that shows its count."""
    most = max((each.count for each in curve.bins), default=1)
    return [
        CurveDot(
            each,
            *wilson_interval(round(each.found * each.count), each.count),
            round(max(_SMALLEST_DOT, _LARGEST_DOT * (each.count / most) ** 0.5), 1),
        )
        for each in curve.bins
    ]
