"""Numbers as drawings that need no script: waterfalls, and the signs of the screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from recollect.lazy_dataclass import dataclass
from recollect.ranking.explain import effect_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.ranking.explain import Reason

_ICONS = {
    "recall": "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm5 12 5 5",
    "why-not": "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9a2.5 2.5 0 1 1 3.5 2.3c-.7.4-1 .9-1 1.7m0 3v.5",
    "browse": "M4 6h16M4 12h16M4 18h10",
    "graph": "M6 6a2 2 0 1 0 .1 0zM18 9a2 2 0 1 0 .1 0zM9 18a2 2 0 1 0 .1 0zM8 7l8 3M7 8l2 8m2-1 5-4",
    "timeline": "M3 17h18M6 17v-5m5 5V7m5 10v-8",
    "dreams": "M20 14A8 8 0 1 1 10 4a6.5 6.5 0 0 0 10 10z",
    "settle": "M12 4v16M5 8h14M5 8l-2 6h5zm14 0-3 6h5z",
    "answers": "M4 5h16v11H9l-5 4z",
    "quality": "M4 19V5m0 14h16M8 15l3-4 3 2 5-7",
    "health": "M3 12h4l2-6 4 12 2-6h6",
}
_SMALLEST_DELTA = 0.00005


def icon_path(name: str) -> Markup:
    return Markup(
        '<svg viewBox="0 0 24 24" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.8" '
        'stroke-linecap="round" stroke-linejoin="round"><path d="{}"/></svg>'
    ).format(_ICONS[name])


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """One step of a score: from where to where it took it."""

    step: str
    effect: str
    kind: str
    """up, down or same."""
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
