"""The results of the benchmarks, and Markdown tables of them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

_RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"
BEFORE = "-v1"
"""Suffix of the names of the first version's runs."""
Plain = Mapping[str, Any]


def run_of(*names: str) -> str:
    """Return a line with date, commit and machine for each existing run."""
    lines = []
    for name in names:
        if not has_run(name):
            continue
        run = read_run(name)
        facts = run["facts"]
        machine = f"{facts['cpu']}, {facts['cores']} cores, Python {facts['python']}, model `{run['model']}`"
        lines.append(
            f"[{name}.json](../../benchmarks/results/{name}.json): {facts['date'][:10]}, "
            f"commit `{facts['commit'][:12]}`, {machine}."
        )
    return "\n" + "  \n".join(lines) + "\n"


def has_run(name: str) -> bool:
    return (_RESULTS / f"{name}.json").exists()


@cache
def read_run(name: str) -> Plain:
    found: Plain = json.loads((_RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def points(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"


def interval(value: Mapping[str, float]) -> str:
    sure = "**" if value["low"] > 0 or value["high"] < 0 else ""
    # Avoid a negative zero.
    mean, low, high = (f"{round(value[key], 1) + 0.0:+.1f}" for key in ("mean", "low", "high"))
    return f"{sure}{mean}{sure} [{low},\N{NO-BREAK SPACE}{high}]"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
