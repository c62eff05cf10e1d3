"""Draw the intervals as SVG, with a panel for each data set."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from recollect.domain.numbers import Interval
from recollect.ranking.profiles import DEFAULT
from recollect_bench.measures import COMPARED
from recollect_bench.quality import ALL, EXTRACTED, Report, Result
from recollect_bench.svg import BAD, EVEN, FAINT, GOOD, INK, circle, label, line, picture, translate_shapes

_NAMES, _FOREST, _FIGURE, _GAP = 120, 230, 44, 28
_ROW, _MARGIN, _TOP, _TITLE, _AXIS = 24, 28, 106, 46, 34
_SERIES = _FOREST + _FIGURE + _GAP
_WIDE = 2 * _MARGIN + _NAMES + len(COMPARED) * _SERIES - _GAP
_KEY = "Green and red: better and worse, zero being outside of the interval. Open circle: the baseline."
_SPOKEN = {"fraction@10": "recall@10 (fraction)", "ndcg@10": "NDCG@10", "any@1": "hit@1"}


def draw_svg(report: Report) -> str:
    """Draw each profile minus the baseline, in points, with 95 % intervals and its own figure."""
    panels = []
    y = _TOP
    for result in report.results:
        panels.append(translate_shapes(_MARGIN, y, _panel(result, report)))
        y += _TITLE + _ROW * len(_names_to_draw(report)) + _AXIS + _GAP
    caption = (
        f"Points above or below {report.baseline}, with 95 % of paired resamples; the profile's own figure "
        f"at the right. Model: {report.model}."
    )
    title = label(_MARGIN, 40, "How well each profile finds what is asked for", "h")
    shapes = (title, label(_MARGIN, 62, caption, "s"), label(_MARGIN, 78, _KEY, "s"), *panels)
    return picture(_WIDE, y, "".join(shapes))


def _names_to_draw(report: Report) -> list[str]:
    """Leave out the other profiles over extracted notes; they are in a table."""
    return [name for name in report.names if not name.endswith(EXTRACTED)]


def _panel(result: Result, report: Report) -> str:
    names = sorted(
        _names_to_draw(report),
        key=lambda name: (-result.means[name][ALL]["ndcg@10"], name),
    )
    title = f"{result.dataset.name}: {result.counts[ALL]:,} questions"
    shapes = [label(0, 14, title, "t")]
    shapes += [
        label(_NAMES - 12, _TITLE + _ROW * (row + 0.5) + 4, name, _weight(name), anchor="end")
        for row, name in enumerate(names)
    ]
    shapes += [
        translate_shapes(_NAMES + place * _SERIES, 0, _forest(result, measure, names))
        for place, measure in enumerate(COMPARED)
    ]
    return "".join(shapes)


def _forest(result: Result, measure: str, names: Sequence[str]) -> str:
    differences = result.over_baseline[measure]
    ends = [100 * value for each in map(differences.get, names) if each for value in (each.low, each.high)]
    low, high, step = _scale(min([0.0, *ends]), max([0.0, *ends]))
    bottom = _TITLE + _ROW * len(names)

    def x(points: float) -> float:
        return _FOREST * (points - low) / (high - low)

    shapes = [label(0, _TITLE - 10, _SPOKEN[measure], "s")]
    for tick in range(round((high - low) / step) + 1):
        points = low + tick * step
        colour, width = (EVEN, 1.2) if abs(points) < step / 2 else (FAINT, 1)
        shapes.append(line(x(points), _TITLE, x(points), bottom, colour, width))
        shapes.append(label(x(points), bottom + 15, f"{points:+g}" if points else "0", "s", anchor="middle"))
    for row, name in enumerate(names):
        y = _TITLE + _ROW * (row + 0.5)
        if name in differences:
            shapes.append(_dot(differences[name], x, y))
        else:
            shapes.append(circle(x(0), y, 4, "#fff", INK))
        figure = f"{100 * result.means[name][ALL][measure]:.1f}"
        shapes.append(label(_FOREST + _FIGURE - 4, y + 4, figure, _weight(name), anchor="end"))
    return "".join(shapes)


def _dot(interval: Interval, x: Callable[[float], float], y: float) -> str:
    colour = EVEN if not interval.excludes_zero else GOOD if interval.mean > 0 else BAD
    whisker = line(x(100 * interval.low), y, x(100 * interval.high), y, colour, 2.2)
    return whisker + circle(x(100 * interval.mean), y, 4, colour)


def _scale(low: float, high: float) -> tuple[float, float, float]:
    """Return an axis that ends on whole steps, with four to nine of them."""
    reach = max(high - low, 1.0)
    step = next(size for size in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0) if reach / size <= 7 or size == 50.0)
    first = step * (low // step)
    last = -step * (-high // step)
    return first, max(last, first + step), step


def _weight(name: str) -> str:
    return "b" if name == DEFAULT else ""
