"""Draw the results of a year as SVG, with a panel for each profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

_WIDE, _HIGH = 320, 470
_COLUMNS = 3
_MARGIN, _HEAD = 24, 96
_ON, _OFF, _INK, _FAINT = "#2f6fdb", "#9aa3ad", "#1f2933", "#e4e7eb"
_GOOD, _BAD = "#1f9d6b", "#cf3b3b"
_STYLE = (
    "text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#1f2933;font-size:11px}"
    ".h{font-size:20px;font-weight:600}.t{font-size:15px;font-weight:600}.s{fill:#65707c}"
)


@dataclass(frozen=True, slots=True)
class Panel:
    title: str
    on: tuple[float, ...]
    """MRR of each month, with dreams."""
    off: tuple[float, ...]
    recall_on: tuple[float, ...]
    recall_off: tuple[float, ...]
    differences: Mapping[str, tuple[float, ...]]
    """By group of needs, the difference of MRR and its bounds."""
    summary: str
    in_force: tuple[int, ...]
    in_force_off: tuple[int, ...]


def draw_year(panels: Sequence[Panel], caption: str) -> str:
    columns = min(_COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    wide, high = 2 * _MARGIN + columns * (_WIDE + _MARGIN) - _MARGIN, _HEAD + rows * _HIGH + _MARGIN
    low = min(0.5, *(value for panel in panels for value in (*panel.on, *panel.off)))
    body = "".join(
        f'<g transform="translate({_MARGIN + place % columns * (_WIDE + _MARGIN)} '
        f'{_HEAD + place // columns * _HIGH})">{_panel(panel, low)}</g>'
        for place, panel in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">'
        f'<style>{_STYLE}</style><rect width="{wide}" height="{high}" fill="#fff"/>'
        f"{_text(_MARGIN, 38, 'A year, with dreams and without', 'h')}{_text(_MARGIN, 58, caption, 's')}"
        f"{_key(_MARGIN, 78)}{body}</svg>\n"
    )


def _key(x: float, y: float) -> str:
    return (
        f'<line x1="{x}" y1="{y - 4}" x2="{x + 22}" y2="{y - 4}" stroke="{_ON}" stroke-width="2.5"/>'
        f"{_text(x + 28, y, 'with dreams')}"
        f'<line x1="{x + 110}" y1="{y - 4}" x2="{x + 132}" y2="{y - 4}" stroke="{_OFF}" stroke-width="2.5"/>'
        f"{_text(x + 138, y, 'without')}"
        f"{_text(x + 200, y, 'solid: MRR of the needed fact; dashed: recall among ten hits', 's')}"
    )


def _panel(panel: Panel, low: float) -> str:
    return (
        _text(0, 18, panel.title, "t")
        + _text(_WIDE, 18, panel.summary, "s", anchor="end")
        + _lines(panel, low)
        + _sizes(panel)
        + _forest(panel)
    )


def _lines(panel: Panel, low: float) -> str:
    top, left, high, wide = 32, 26, 160, _WIDE - 26
    bottom = int(low * 10) / 10
    made = []
    step = 0.1 if bottom >= 0.4 else 0.2
    for tick in range(round((1 - bottom) / step) + 1):
        value = 1 - tick * step
        y = top + high * (1 - value) / (1 - bottom)
        made.append(f'<line x1="{left}" y1="{y:.1f}" x2="{_WIDE}" y2="{y:.1f}" stroke="{_FAINT}"/>')
        made.append(_text(left - 5, y + 4, f"{value:.1f}", "s", anchor="end"))
    for values, colour, dash in (
        (panel.recall_off, _OFF, "3 3"),
        (panel.recall_on, _ON, "3 3"),
        (panel.off, _OFF, ""),
        (panel.on, _ON, ""),
    ):
        gap = wide / max(len(values) - 1, 1)
        points = " ".join(
            f"{left + place * gap:.1f},{top + high * (1 - value) / (1 - bottom):.1f}"
            for place, value in enumerate(values)
        )
        width = 1.3 if dash else 2.5
        made.append(
            f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="{width}" '
            f'stroke-dasharray="{dash}" stroke-linejoin="round"/>'
        )
    made.append(_text(left, top + high + 16, "month 1", "s"))
    made.append(_text(_WIDE, top + high + 16, str(len(panel.on)), "s", anchor="end"))
    return "".join(made)


def _sizes(panel: Panel) -> str:
    """Return bars of the current memories of each month, in front of those without dreams."""
    top, left, high = 222, 26, 36
    most = max(*panel.in_force, *panel.in_force_off)
    gap = (_WIDE - left) / len(panel.in_force)
    bars = "".join(
        f'<rect x="{left + place * gap:.1f}" y="{top + high * (1 - size / most):.1f}" width="{gap - 3:.1f}" '
        f'height="{high * size / most:.1f}" fill="{colour}" rx="1.5"/>'
        for sizes, colour in ((panel.in_force_off, _FAINT), (panel.in_force, "#a9c4f2"))
        for place, size in enumerate(sizes)
    )
    ends = f"{panel.in_force[-1]:,} current at the end; without dreams, {panel.in_force_off[-1]:,}"
    return bars + _text(left, top + high + 14, ends, "s")


def _forest(panel: Panel) -> str:
    reach = max(0.02, *(abs(value) for one in panel.differences.values() for value in one))
    top, left = 300, 140
    middle, half = left + (_WIDE - left) / 2, (_WIDE - left) / 2 - 6
    bottom = top + 22 * len(panel.differences)
    made = [
        _text(0, top - 8, "MRR, with dreams minus without", "s"),
        f'<line x1="{middle}" y1="{top}" x2="{middle}" y2="{bottom}" stroke="{_OFF}"/>',
    ]
    for place, (group, (mean, low, high)) in enumerate(panel.differences.items()):
        y = top + 12 + 22 * place
        colour = _GOOD if low > 0 else _BAD if high < 0 else _INK
        a, b, c = (middle + half * value / reach for value in (low, high, mean))
        made.append(_text(0, y + 4, group.replace("one-off, 60 to 330 days later", "… 60–330 days later")))
        made.append(
            f'<line x1="{a:.1f}" y1="{y}" x2="{b:.1f}" y2="{y}" stroke="{colour}" stroke-width="2" '
            f'stroke-linecap="round"/><circle cx="{c:.1f}" cy="{y}" r="3.6" fill="{colour}"/>'
        )
    y = bottom + 12
    made.append(_text(middle - half, y, f"−{reach:.2f}", "s", anchor="start"))
    made.append(_text(middle + half, y, f"+{reach:.2f}", "s", anchor="end"))
    return "".join(made)


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'
