"""Draw how each operation's time grows with the store, from saved runs: one panel each, in plain SVG.

python benchmarks/speed/growth_plot.py            # writes docs/images/performance.svg
python benchmarks/speed/growth_plot.py --check    # fails if the picture is outdated
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from recollect_bench.svg import EVEN, FAINT, circle, label, line, picture, translate_shapes

ROOT = Path(__file__).parents[2]
RESULTS, PICTURE = ROOT / "benchmarks" / "results", ROOT / "docs" / "images" / "performance.svg"
_WIDE, _HIGH, _LEFT, _TOP, _MARGIN, _COLUMNS = 250, 170, 44, 34, 28, 3
_HEAD = 96
_COLOURS = {"before": "#9aa3ad", "after": "#2f6fdb", "by hand": "#cf7a1f", "the floor": "#1f9d6b"}
_PANELS: Mapping[str, tuple[str, str, str]] = {
    "recall, notes": ("recall", "notes", "recall"),
    "recall, conversations": ("recall", "conversations", "recall"),
    "recall, graph": ("recall", "graph", "recall"),
    "context, notes": ("recall", "notes", "context"),
    "remember": ("write", "notes", "remember"),
    "add_messages, two": ("write", "conversations", "add_messages, two"),
    "create_entities, one": ("write", "graph", "create_entities, one"),
    "bulk load, each note": ("bulk", "notes", "recollect"),
    "import, each line": ("import", "graph", "recollect"),
}
Points = list[tuple[int, float]]


def drawn() -> str:
    runs = {
        name: json.loads((RESULTS / f"{file}.json").read_text(encoding="utf-8"))["results"]
        for name, file in (("before", "speed-before"), ("after", "speed"))
        if (RESULTS / f"{file}.json").exists()
    }
    panels = [
        translate_shapes(
            _MARGIN + place % _COLUMNS * (_WIDE + _MARGIN),
            _HEAD + place // _COLUMNS * (_HIGH + _TOP + 2 * _MARGIN),
            _panel(title, _series(runs, *which)),
        )
        for place, (title, which) in enumerate(_PANELS.items())
    ]
    rows = -(-len(_PANELS) // _COLUMNS)
    width = _MARGIN + _COLUMNS * (_WIDE + _MARGIN)
    height = _HEAD + rows * (_HIGH + _TOP + 2 * _MARGIN)
    title = label(_MARGIN, 36, "CPU milliseconds of each operation, by the size of the store", "h")
    return picture(width, height, title + _key(runs) + "".join(panels))


def _series(runs: Mapping[str, Sequence[Any]], part: str, kind: str, way: str) -> dict[str, Points]:
    """Each run; and beside it, of the latest, the floor of a recall and what is made by hand."""
    found = {name: _points(rows, part, kind, way) for name, rows in runs.items()}
    latest = list(runs.values())[-1]
    if (part, way) == ("recall", "recall"):
        found["the floor"] = _points(latest, "recall", kind, "floor")
    found["by hand"] = _points(latest, part, kind, "by hand") if way != "context" else []
    return {name: points for name, points in found.items() if points}


def _points(rows: Sequence[Any], part: str, kind: str, way: str) -> Points:
    wanted = {"part": part, "kind": kind, "way": way}
    return sorted((row["size"], row["cpu_ms"]) for row in rows if wanted.items() <= row.items())


def _panel(title: str, series: Mapping[str, Points]) -> str:
    """Both axes by powers of ten: what grows as the store does rises by one step with each step."""
    sizes = [size for points in series.values() for size, _ in points] or [1_000, 10_000]
    values = [value for points in series.values() for _, value in points] or [1.0, 10.0]
    left, right = math.floor(math.log10(min(sizes))), max(4, math.ceil(math.log10(max(sizes))))
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values) * 1.01))

    def x(size: float) -> float:
        return _LEFT + (_WIDE - _LEFT) * (math.log10(size) - left) / (right - left)

    def y(value: float) -> float:
        return _TOP + _HIGH * (high - math.log10(value)) / (high - low)

    shapes = [label(0, 14, title, "t")]
    for power in range(low, high + 1):
        shapes += [line(_LEFT, y(10**power), _WIDE, y(10**power), FAINT, 1)]
        shapes += [label(_LEFT - 8, y(10**power) + 4, f"{10.0**power:g}", "s", anchor="end")]
    for power in range(left, right + 1):
        name = f"{10**power:,}"
        shapes += [label(x(10**power), _TOP + _HIGH + 16, name, "s", anchor="middle")]
    for name, points in series.items():
        ends = pairwise(points)
        shapes += [line(x(a), y(v), x(b), y(w), _COLOURS[name], 2.2) for (a, v), (b, w) in ends]
        shapes += [circle(x(size), y(value), 3.5, _COLOURS[name], "#fff") for size, value in points]
    shapes.append(line(_LEFT, _TOP + _HIGH, _WIDE, _TOP + _HIGH, EVEN, 1))
    return "".join(shapes)


def _key(runs: Mapping[str, Any]) -> str:
    shapes, at = [], _MARGIN
    for name in (*runs, "the floor", "by hand"):
        shapes += [line(at, 62, at + 22, 62, _COLOURS[name], 2.5), label(at + 28, 66, name, "b")]
        at += 110
    shapes.append(label(at, 66, "by hand: sqlite-vec and FTS5 in forty lines", "s"))
    return "".join(shapes)


def main() -> None:
    made = drawn()
    if "--check" in sys.argv[1:]:
        if not PICTURE.exists() or PICTURE.read_text(encoding="utf-8") != made:
            sys.exit(f"{PICTURE.relative_to(ROOT)} is outdated; run: make docs")
        return
    PICTURE.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
