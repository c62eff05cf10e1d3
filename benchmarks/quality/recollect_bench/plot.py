"""The intervals as a picture: a panel for each data set, in plain SVG, which needs no library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

from recollect.ranking.profiles import DEFAULT
from recollect.statistics import Interval
from recollect_bench.measures import COMPARED
from recollect_bench.quality import ALL, Report, Result

_NAMES, _FOREST, _FIGURE, _GAP = 110, 250, 44, 28
_ROW, _MARGIN, _TOP, _TITLE, _AXIS = 24, 28, 106, 46, 34
_SERIES = _FOREST + _FIGURE + _GAP
_WIDE = 2 * _MARGIN + _NAMES + len(COMPARED) * _SERIES - _GAP
_INK, _FAINT, _GOOD, _BAD, _EVEN = "#1f2933", "#e4e7eb", "#1f9d6b", "#cf3b3b", "#65707c"
_STYLE = (
    "text{font-family:Inter,'Helvetica Neue',Arial,sans-serif;fill:#1f2933;font-size:12px}"
    ".h{font-size:20px;font-weight:600}.t{font-size:15px;font-weight:600}.s{fill:#65707c;font-size:11px}"
    ".b{font-weight:600}"
)
_KEY = "Green and red: better and worse, zero being outside of the interval. Open circle: the baseline."
_SPOKEN = {"fraction@10": "recall@10 (fraction)", "ndcg@10": "NDCG@10"}


def draw_svg(report: Report) -> str:
    """Each profile minus the baseline, in points, with 95 % intervals, and its own figure beside."""
    panels = []
    y = _TOP
    for result in report.results:
        panels.append(f'<g transform="translate({_MARGIN} {y})">{_panel(result, report)}</g>')
        y += _TITLE + _ROW * len(report.names) + _AXIS + _GAP
    caption = (
        f"Points above or below {report.baseline}, with 95 % of paired resamples; the profile's own figure "
        f"at the right. Model: {report.model}."
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDE} {y}" width="{_WIDE}" height="{y}">'
        f'<style>{_STYLE}</style><rect width="{_WIDE}" height="{y}" fill="#fff"/>'
        f"{_text(_MARGIN, 40, 'How well each profile finds what is asked for', 'h')}"
        f"{_text(_MARGIN, 62, caption, 's')}{_text(_MARGIN, 78, _KEY, 's')}{''.join(panels)}</svg>\n"
    )


def _panel(result: Result, report: Report) -> str:
    names = sorted(
        report.names,
        key=lambda name: (-result.means[name][ALL][COMPARED[-1]], name),
    )
    title = f"{result.dataset.name}: {result.counts[ALL]:,} questions"
    shapes = [_text(0, 14, title, "t")]
    shapes += [
        _text(_NAMES - 12, _TITLE + _ROW * (row + 0.5) + 4, name, _weight(name), anchor="end")
        for row, name in enumerate(names)
    ]
    shapes += [
        f'<g transform="translate({_NAMES + place * _SERIES} 0)">{_forest(result, measure, names)}</g>'
        for place, measure in enumerate(COMPARED)
    ]
    return "".join(shapes)


def _forest(result: Result, measure: str, names: Sequence[str]) -> str:
    differences = result.over_baseline[measure]
    ends = [100 * value for each in differences.values() for value in (each.low, each.high)]
    low, high, step = _scale(min([0.0, *ends]), max([0.0, *ends]))
    bottom = _TITLE + _ROW * len(names)

    def x(points: float) -> float:
        return _FOREST * (points - low) / (high - low)

    shapes = [_text(0, _TITLE - 10, _SPOKEN[measure], "s")]
    for tick in range(round((high - low) / step) + 1):
        points = low + tick * step
        colour, width = (_EVEN, 1.2) if abs(points) < step / 2 else (_FAINT, 1)
        shapes.append(_line(x(points), _TITLE, x(points), bottom, colour, width))
        shapes.append(_text(x(points), bottom + 15, f"{points:+g}" if points else "0", "s", anchor="middle"))
    for row, name in enumerate(names):
        y = _TITLE + _ROW * (row + 0.5)
        if name in differences:
            shapes.append(_dot(differences[name], x, y))
        else:
            shapes.append(f'<circle cx="{x(0):.1f}" cy="{y:.1f}" r="4" fill="#fff" stroke="{_INK}"/>')
        figure = f"{100 * result.means[name][ALL][measure]:.1f}"
        shapes.append(_text(_FOREST + _FIGURE - 4, y + 4, figure, _weight(name), anchor="end"))
    return "".join(shapes)


def _dot(interval: Interval, x: Callable[[float], float], y: float) -> str:
    colour = _EVEN if not interval.excludes_zero else _GOOD if interval.mean > 0 else _BAD
    return (
        _line(x(100 * interval.low), y, x(100 * interval.high), y, colour, 2.2)
        + f'<circle cx="{x(100 * interval.mean):.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
    )


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Ends on whole steps, of which there are four to nine."""
    reach = max(high - low, 1.0)
    step = next(size for size in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0) if reach / size <= 7 or size == 50.0)
    first = step * (low // step)
    last = -step * (-high // step)
    return first, max(last, first + step), step


def _weight(name: str) -> str:
    return "b" if name == DEFAULT else ""


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}" stroke-linecap="round"/>'
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'
