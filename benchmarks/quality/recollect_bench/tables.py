"""A benchmark's report for a terminal, and as lines for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recollect.cli.visible import visible
from recollect_bench.measures import COMPARED, CUTS
from recollect_bench.profiles import LESS
from recollect_bench.report import ALL

if TYPE_CHECKING:
    from recollect_bench.intervals import Interval
    from recollect_bench.report import Compared, Report, Result

_SURE = "* the interval of 95 % excludes zero"
_MAIN = ("ndcg@10", "mrr@10", *(f"fraction@{k}" for k in CUTS))
_OTHER = tuple(f"{name}@{k}" for name in ("any", "all") for k in CUTS)


def print_report(report: Report, *, color: bool | None) -> None:
    console = Console(
        highlight=False, force_terminal=True if color else None, no_color=True if color is False else None
    )
    for result in report.results:
        console.print(Text(f"\n{visible(result.dataset.name)}", "bold"), Text(_size(result), "dim"))
        for title, table in _tables(result, report):
            # Not the table's own title, which would be folded to the table's width.
            console.print(Text(title), table, sep="\n")


def lines(report: Report) -> Iterator[str]:
    """Fields with tabs between; shares and differences in points."""
    for result in report.results:
        name = visible(result.dataset.name)
        for profile, groups in result.means.items():
            for group, means in groups.items():
                for measure, mean in means.items():
                    yield _line(
                        "mean", name, profile, group, result.counts[group], measure, f"{100 * mean:.2f}"
                    )
        for minuend, of in _minus(result, report):
            for measure, by_name in of.items():
                for other, interval in by_name.items():
                    one, two = (minuend, other) if minuend else (other, report.baseline)
                    yield _line("minus", name, one, two, measure, *_numbers(interval))
        for profile, taken in result.milliseconds.items():
            yield _line("milliseconds", name, profile, f"{taken:.2f}")


def _minus(result: Result, report: Report) -> Iterator[tuple[str | None, Compared]]:
    """The profile that the others are taken from; None: they are compared with the baseline."""
    yield None, result.over_baseline
    if report.chief != report.baseline:
        yield report.chief, result.over_others
    yield report.chief, result.parts


def _line(*fields: object) -> str:
    return "\t".join(map(str, fields))


def _numbers(interval: Interval) -> tuple[str, ...]:
    return tuple(_signed(value, 2) for value in (interval.mean, interval.low, interval.high))


def _signed(share: float, digits: int) -> str:
    """In points, without a negative zero."""
    return f"{round(100 * share, digits) + 0.0:+.{digits}f}"


def _size(result: Result) -> str:
    documents = sum(len(haystack.documents) for haystack in result.dataset.haystacks)
    stores = len(result.dataset.haystacks)
    told = f"{result.counts[ALL]:,} questions, {documents:,} texts"
    return f"{told} in {stores:,} stores" if stores > 1 else told


def _tables(result: Result, report: Report) -> Iterator[tuple[str, Table]]:
    """Each with its title."""
    names = report.names
    yield "Whole, % (ms: half of the answers took less)", _figures(result, names, _MAIN, times=True)
    yield "Found one of the relevant, found all of them, %", _figures(result, names, _OTHER)
    if len(result.counts) > 1:
        yield "By category: fraction@10 and NDCG@10, %", _by_group(result, names)
    if result.over_baseline[COMPARED[0]]:
        yield f"Minus {report.baseline}, points", _differences(result.over_baseline)
    if result.over_others and report.chief != report.baseline:
        yield f"{report.chief} minus the other, points", _differences(result.over_others)
    if result.parts:
        yield f"What each part brings to {report.chief}, points", _differences(result.parts, part=True)


def _figures(result: Result, names: Sequence[str], measures: Sequence[str], *, times: bool = False) -> Table:
    table = _table("profile", *(_heading(measure) for measure in measures), *(["ms"] if times else []))
    columns = {name: [result.means[name][ALL][measure] for measure in measures] for name in names}
    best = [max(of[place] for of in columns.values()) for place in range(len(measures))]
    for name, values in columns.items():
        cells = [
            Text(f"{100 * value:.1f}", "bold" if value == top else "")
            for value, top in zip(values, best, strict=True)
        ]
        table.add_row(visible(name), *cells, *([f"{result.milliseconds[name]:.1f}"] if times else []))
    return table


def _by_group(result: Result, names: Sequence[str]) -> Table:
    groups = [group for group in result.counts if group != ALL]
    table = _table(
        "profile",
        *(f"{visible(group)}\n{result.counts[group]:,}" for group in groups),
    )
    for name in names:
        means = result.means[name]
        table.add_row(
            visible(name),
            *(" ".join(f"{100 * means[group][each]:.1f}" for each in COMPARED) for group in groups),
        )
    return table


def _differences(compared: Compared, *, part: bool = False) -> Table:
    table = _table("without" if part else "profile", *COMPARED)
    table.caption, table.caption_justify = _SURE, "left"
    for name in compared[COMPARED[0]]:
        shown = name.partition(LESS)[2] if part else name
        table.add_row(visible(shown), *(_difference(compared[measure][name]) for measure in COMPARED))
    return table


def _difference(interval: Interval) -> Text:
    mean, low, high = (_signed(value, 1) for value in (interval.mean, interval.low, interval.high))
    style = "" if not interval.is_sure else "green" if interval.mean > 0 else "red"
    return Text(f"{mean} [{low}, {high}]{'*' if interval.is_sure else ' '}", style)


def _heading(measure: str) -> str:
    """Short, so that all fit into eighty columns."""
    name, _, k = measure.partition("@")
    return f"{_SHORT.get(name, name)}\n@{k}"


_SHORT: Mapping[str, str] = {"ndcg": "NDCG", "mrr": "MRR", "fraction": "fract."}


def _table(first: str, *rest: str) -> Table:
    table = Table(box=SIMPLE_HEAD, padding=(0, 1))
    table.add_column(first)
    for heading in rest:
        table.add_column(heading, justify="right", min_width=4)
    return table
