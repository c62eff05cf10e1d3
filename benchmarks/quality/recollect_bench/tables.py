"""A benchmark's report as tables for a terminal, and as lines for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.cli.results import Column, Paragraph, Styled, Table
from recollect_bench.measures import COMPARED, CUTS
from recollect_bench.profiles import LESS
from recollect_bench.report import ALL

if TYPE_CHECKING:
    from recollect.cli.results import Block, Role
    from recollect_bench.intervals import Interval
    from recollect_bench.report import Compared, Report, Result

_SURE = "* the interval of 95 % excludes zero"
_MAIN = ("ndcg@10", "mrr@10", *(f"fraction@{k}" for k in CUTS))
_OTHER = tuple(f"{name}@{k}" for name in ("any", "all") for k in CUTS)


def report_view(report: Report) -> Iterator[Block]:
    for result in report.results:
        yield Paragraph((Styled(f"\n{result.dataset.name}", "strong"), " ", Styled(_size(result), "muted")))
        for title, table in _tables(result, report):
            yield Paragraph(title)
            yield table
            if "points" in title:
                yield Paragraph(Styled(_SURE, "muted"))


def report_lines(report: Report) -> Iterator[tuple[str, ...]]:
    """Shares and differences in points."""
    for result in report.results:
        name = result.dataset.name
        for profile, groups in result.means.items():
            for group, means in groups.items():
                for measure, mean in means.items():
                    count = str(result.counts[group])
                    yield "mean", name, profile, group, count, measure, f"{100 * mean:.2f}"
        for minuend, of in _minus(result, report):
            for measure, by_name in of.items():
                for other, interval in by_name.items():
                    one, two = (minuend, other) if minuend else (other, report.baseline)
                    yield "minus", name, one, two, measure, *_numbers(interval)
        for profile, taken in result.milliseconds.items():
            yield "milliseconds", name, profile, f"{taken:.2f}"


def _minus(result: Result, report: Report) -> Iterator[tuple[str | None, Compared]]:
    """The profile that the others are taken from; None: they are compared with the baseline."""
    yield None, result.over_baseline
    if report.chief != report.baseline:
        yield report.chief, result.over_others
    yield report.chief, result.parts


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
    columns = {name: [result.means[name][ALL][measure] for measure in measures] for name in names}
    best = [max(of[place] for of in columns.values()) for place in range(len(measures))]
    rows: list[tuple[str | Styled, ...]] = []
    for name, values in columns.items():
        cells = [
            Styled(f"{100 * value:.1f}", "strong" if value == top else "")
            for value, top in zip(values, best, strict=True)
        ]
        rows.append((name, *cells, *([f"{result.milliseconds[name]:.1f}"] if times else [])))
    return _table("profile", [*map(_heading, measures), *(["ms"] if times else [])], rows)


def _by_group(result: Result, names: Sequence[str]) -> Table:
    groups = [group for group in result.counts if group != ALL]
    rows = [
        (
            name,
            *(
                " ".join(f"{100 * result.means[name][group][each]:.1f}" for each in COMPARED)
                for group in groups
            ),
        )
        for name in names
    ]
    return _table("profile", [f"{group}\n{result.counts[group]:,}" for group in groups], rows)


def _differences(compared: Compared, *, part: bool = False) -> Table:
    rows: list[tuple[str | Styled, ...]] = [
        (
            name.partition(LESS)[2] if part else name,
            *(_difference(compared[measure][name]) for measure in COMPARED),
        )
        for name in compared[COMPARED[0]]
    ]
    return _table("without" if part else "profile", COMPARED, rows)


def _difference(interval: Interval) -> Styled:
    mean, low, high = (_signed(value, 1) for value in (interval.mean, interval.low, interval.high))
    role: Role = "" if not interval.is_sure else "good" if interval.mean > 0 else "bad"
    return Styled(f"{mean} [{low}, {high}]{'*' if interval.is_sure else ' '}", role)


def _heading(measure: str) -> str:
    """Short, so that all fit into eighty columns."""
    name, _, k = measure.partition("@")
    return f"{_SHORT.get(name, name)}\n@{k}"


_SHORT: Mapping[str, str] = {"ndcg": "NDCG", "mrr": "MRR", "fraction": "fract."}


def _table(first: str, rest: Sequence[str], rows: Sequence[Sequence[str | Styled]]) -> Table:
    return Table((Column(first), *(Column(title, right=True) for title in rest)), rows)
