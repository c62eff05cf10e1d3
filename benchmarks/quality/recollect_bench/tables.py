"""The benchmarks' reports as tables for a terminal, and as lines for a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.cli.rendering import Column, Paragraph, Styled, Table
from recollect.ranking.profiles import DEFAULT
from recollect_bench.measures import COMPARED, CUTS, STALE
from recollect_bench.profiles import WITHOUT
from recollect_bench.quality import ALL

if TYPE_CHECKING:
    from recollect.cli.rendering import Block, Role
    from recollect.domain.numbers import Interval
    from recollect_bench.abstention import Abstention
    from recollect_bench.precision import PrecisionFigures
    from recollect_bench.prompts import PromptFigures
    from recollect_bench.quality import Compared, Report, Result

_CAPTION = "* the interval of 95 % excludes zero"
_MAIN = ("ndcg@10", "mrr@10", *(f"fraction@{k}" for k in CUTS))
_SHOWN = COMPARED[:2]
"""Number of intervals that fit into eighty columns."""
_OTHER = tuple(f"{name}@{k}" for name in ("any", "all") for k in CUTS)
_SHORT: Mapping[str, str] = {"ndcg": "NDCG", "mrr": "MRR", "fraction": "fract."}
_SIMPLE_METHODS = ("cosine", "cosine, z", "bm25")
PROMPT_COLUMNS = ("data", "store", "silent", "helped", "precision", "recall", "tokens a helpful one")
PRECISION_COLUMNS = ("category", "cases", "precision", "recall", "passes", "active passes")
ABSTENTION_COLUMNS = (
    "data",
    "absent",
    "questions",
    "AUROC",
    *_SIMPLE_METHODS,
    "error",
    "Brier",
    "told nothing",
)


def report_view(report: Report) -> Iterator[Block]:
    for result in report.results:
        yield Paragraph((Styled(f"\n{result.dataset.name}", "strong"), " ", Styled(_size(result), "muted")))
        for title, table in _tables(result, report):
            yield Paragraph(title)
            yield table
            if "points" in title:
                yield Paragraph(Styled(_CAPTION, "muted"))


def abstention_rows(results: Sequence[Abstention]) -> Iterator[tuple[str, ...]]:
    for each in results:
        for kind in each.calibration_error:
            yield (
                each.data,
                kind,
                f"{each.questions['present']:,} and {each.questions[kind]:,}",
                *(f"{each.auroc[method][kind]:.3f}" for method in ("confidence", *_SIMPLE_METHODS)),
                f"{each.calibration_error[kind]:.3f}",
                f"{each.brier[kind]:.3f}",
                f"{each.told_nothing['present']:.0%}, {each.told_nothing[kind]:.0%}",
            )
        if each.hits:
            auroc, error, brier = (f"{each.hits[name]:.3f}" for name in ("auroc", "error", "brier"))
            share, blank = f"{each.hits['relevant']:.1%} relevant", ("" for _ in _SIMPLE_METHODS)
            yield (each.data, "single hits", share, auroc, *blank, error, brier, "")


def prompt_rows(results: Mapping[str, Mapping[str, PromptFigures]]) -> Iterator[tuple[str, ...]]:
    for name, groups in results.items():
        for group, each in groups.items():
            yield (
                name,
                group,
                "" if each.silent is None else f"{each.silent:.0%} of {each.needing_nothing}",
                "" if each.helped is None else f"{each.helped:.0%} of {each.needing}",
                _percent(each.precision),
                _percent(each.recall),
                "" if each.tokens_per_helpful is None else f"{each.tokens_per_helpful:.0f}",
            )


def precision_rows(figures: PrecisionFigures) -> Iterator[tuple[str, ...]]:
    for name, each in ((ALL, figures), *figures.categories.items()):
        shares = ("" if share is None else f"{share:.3f}" for share in (each.precision, each.recall))
        yield name, str(each.cases), *shares, f"{each.passes}", f"{each.active_passes}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0%}"


def _signed(interval: Interval, digits: int) -> tuple[str, ...]:
    """Mean, low and high in points, without a negative zero."""
    shares = (interval.mean, interval.low, interval.high)
    return tuple(f"{round(100 * share, digits) + 0.0:+.{digits}f}" for share in shares)


def _size(result: Result) -> str:
    documents = sum(len(haystack.documents) for haystack in result.dataset.haystacks)
    stores = len(result.dataset.haystacks)
    size = f"{result.counts[ALL]:,} questions, {documents:,} texts"
    return f"{size} in {stores:,} stores" if stores > 1 else size


def _tables(result: Result, report: Report) -> Iterator[tuple[str, Table]]:
    """Return the tables, each with its title."""
    names = report.names
    yield "Whole, % (ms: half of the answers took less)", _figures(result, names, _MAIN, times=True)
    yield "Found one of the relevant, found all of them, %", _figures(result, names, _OTHER)
    if any(measure in result.means[name][ALL] for name in names for measure in STALE):
        yield "Where something is no longer true, %", _figures(result, names, STALE)
    if any(group != ALL and not group.startswith("half ") for group in result.counts):
        yield "By category: fraction@10 and NDCG@10, %", _by_group(result, names)
    if result.over_baseline[COMPARED[0]]:
        yield f"Minus {report.baseline}, points", _differences(result.over_baseline)
    if result.over_others and report.baseline != DEFAULT:
        yield f"{DEFAULT} minus the other, points", _differences(result.over_others)
    if result.parts:
        yield f"What each part brings to {DEFAULT}, points", _differences(result.parts, part=True)


def _figures(result: Result, names: Sequence[str], measures: Sequence[str], *, times: bool = False) -> Table:
    columns = {name: [result.means[name][ALL].get(measure) for measure in measures] for name in names}
    best = [
        (min if measure == "stale_first" else max)(
            [value for value in values if value is not None], default=0
        )
        for measure, values in zip(measures, zip(*columns.values(), strict=True), strict=True)
    ]
    rows: list[tuple[str | Styled, ...]] = []
    for name, values in columns.items():
        cells = [
            Styled("" if value is None else f"{100 * value:.1f}", "strong" if value == top else "")
            for value, top in zip(values, best, strict=True)
        ]
        rows.append((name, *cells, *([f"{result.milliseconds[name]:.1f}"] if times else [])))
    return _table("profile", [*map(_heading, measures), *(["ms"] if times else [])], rows)


def _by_group(result: Result, names: Sequence[str]) -> Table:
    groups = [group for group in result.counts if group != ALL and not group.startswith("half ")]
    rows = []
    for name in names:
        means = [result.means[name][group] for group in groups]
        rows.append((name, *(" ".join(f"{100 * each[key]:.1f}" for key in _SHOWN) for each in means)))
    return _table("profile", [f"{group}\n{result.counts[group]:,}" for group in groups], rows)


def _differences(compared: Compared, *, part: bool = False) -> Table:
    rows: list[tuple[str | Styled, ...]] = []
    for name in compared[COMPARED[0]]:
        shown = name.partition(WITHOUT)[2] if part else name
        rows.append((shown, *(_difference(compared[measure][name]) for measure in _SHOWN)))
    return _table("without" if part else "profile", _SHOWN, rows)


def _difference(interval: Interval) -> Styled:
    mean, low, high = _signed(interval, 1)
    role: Role = "" if not interval.excludes_zero else "good" if interval.mean > 0 else "bad"
    return Styled(f"{mean} [{low}, {high}]{'*' if interval.excludes_zero else ' '}", role)


def _heading(measure: str) -> str:
    """Return a short name, so that all fit into eighty columns."""
    name, _, k = measure.partition("@")
    return f"{_SHORT.get(name, name)}\n@{k}" if k else measure.replace("_", "\n")


def _table(first: str, rest: Sequence[str], rows: Sequence[Sequence[str | Styled]]) -> Table:
    return Table((Column(first), *(Column(title, right=True) for title in rest)), rows)
