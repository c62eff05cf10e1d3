"""Draw the share of right hits by confidence, for each data set and kind of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log10
from typing import TYPE_CHECKING

from recollect_bench.svg import BAD, EVEN, FAINT, GOOD, circle, label, line, picture, translate_shapes

if TYPE_CHECKING:
    from recollect_bench.abstention import Abstention
    from recollect_bench.reliability import Tenth

_MARGIN, _TOP, _SIDE, _NAMES, _GAP = 28, 106, 180, 180, 40
_KINDS = ("note", "message", "entity")
_CAPTION = (
    "Right: the share of hits that were what was asked for. On the diagonal, confidence is what it says."
)
_KEY = (
    "Bars: two standard errors around the mean confidence. Red: outside, or 5 points off with 400 hits. "
    "Larger: more hits."
)


def draw_reliability(results: Sequence[Abstention]) -> str:
    kinds = [kind for kind in _KINDS if any(kind in each.reliability for each in results)]
    width = 2 * _MARGIN + _NAMES + max(3, len(kinds)) * (_SIDE + _GAP)
    height = _TOP + len(results) * (_SIDE + 2 * _GAP)
    shapes = [
        label(_MARGIN, 40, "Are hits right as often as they say?", "h"),
        label(_MARGIN, 62, _CAPTION, "s"),
        label(_MARGIN, 78, _KEY, "s"),
    ]
    for row, result in enumerate(results):
        y = _TOP + row * (_SIDE + 2 * _GAP)
        shapes.append(label(_MARGIN, y + 14, result.data, "t"))
        for column, kind in enumerate(kinds):
            x = _MARGIN + _NAMES + column * (_SIDE + _GAP)
            shapes.append(translate_shapes(x, y, _panel(kind, result.reliability)))
    return picture(width, height, "".join(shapes))


def _panel(kind: str, reliability: Mapping[str, Sequence[Tenth]]) -> str:
    tenths = reliability.get(kind, ())
    hits = sum(tenth.hits for tenth in tenths)
    shapes = [label(0, 10, f"{kind}: {hits:,} hits" if hits else f"{kind}: none", "s")]
    shapes.append(line(0, _y(0), _SIDE, _y(1), EVEN, 1))
    for tick in (0.0, 0.5, 1.0):
        shapes.append(line(0, _y(tick), _SIDE, _y(tick), FAINT, 1))
        shapes.append(line(_SIDE * tick, _y(0), _SIDE * tick, _y(1), FAINT, 1))
        shapes.append(label(-6, _y(tick) + 4, f"{tick:g}", "s", anchor="end"))
        shapes.append(label(_SIDE * tick, _y(0) + 15, f"{tick:g}", "s", anchor="middle"))
    for tenth in tenths:
        x, colour = _SIDE * tenth.confidence, GOOD if tenth.holds else BAD
        low, high = (
            min(1.0, max(0.0, tenth.confidence + sign * 2 * tenth.standard_error)) for sign in (-1, 1)
        )
        shapes.append(line(x, _y(low), x, _y(high), EVEN, 1.5))
        shapes.append(circle(x, _y(tenth.right), 2 + 1.2 * log10(tenth.hits), colour))
    return "".join(shapes)


def _y(share: float) -> float:
    return 20 + _SIDE * (1 - share)
