"""`recollect bench abstention`: does a memory know when it does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.results import right_aligned, table_result
from recollect_bench.options import cache_options, data_option, embedding, save_option, watched, writable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.cli.call import Call
    from recollect.cli.results import Result
    from recollect_bench.abstention import Abstention

_COLUMNS = ("data", "absent")
_NUMBERS = ("questions", "AUROC", "cosine", "cosine, z", "bm25", "error", "Brier", "below")
_BASELINES = ("cosine", "cosine, z", "bm25")


@command(
    "abstention",
    "recollect bench abstention --data locomo.json",
    "recollect bench abstention --data locomo.json --data scifact/ --json | jq '.data[].auroc'",
    "recollect bench abstention --data scifact/ --questions 100 --save results.json",
)
@data_option
@click.option("--profile", default="recollect", show_default=True, metavar="NAME", help="Who ranks the hits.")
@click.option(
    "--calibrate/--no-calibrate",
    default=True,
    show_default=True,
    help="Let each store learn of itself first.",
)
@click.option("--questions", type=click.IntRange(1), metavar="N", help="Only so many of each store, by lot.")
@cache_options
@save_option
def abstention(
    call: Call,
    data: tuple[Path, ...],
    profile: str,
    calibrate: bool,
    questions: int | None,
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
) -> Result:
    """Measure whether confidence tells questions with an answer from those without.

    Every question that has an answer is asked with it there, and with it taken out of the store (removed);
    beside them stand questions about other things (other), and those that the data calls unanswerable
    (unsaid). AUROC is how often one with an answer gets more than one without; cosine, its z-score and BM25
    are what simple means reach. Error is the calibration error over ten bins of equally many; below, how many
    are told that nothing seems to answer, those with an answer first. A last line tells of single hits.
    """
    from recollect_bench.abstention import measure, plain  # loads NumPy and the engine
    from recollect_bench.environment import facts
    from recollect_bench.loading import read_all

    datasets = read_all(data)
    if save is not None:
        writable(save)
    with embedding(call, cache, no_cache) as embedder, watched() as watching:
        results = measure(
            datasets,
            embedder,
            profile=profile,
            calibrate=calibrate,
            most=questions,
            watching=lambda _: watching,
        )
    told = {"data": plain(results), "facts": facts(call.now())}
    if save is not None:
        save.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return table_result(told, (*_COLUMNS, *right_aligned(*_NUMBERS)), list(_rows(results)))


def _rows(results: Sequence[Abstention]) -> Iterator[tuple[str, ...]]:
    for each in results:
        for kind, error in each.error.items():
            yield (
                each.name,
                kind,
                f"{each.counts['present']:,} and {each.counts[kind]:,}",
                f"{each.auroc['confidence'][kind]:.3f}",
                *(f"{each.auroc[means][kind]:.3f}" for means in _BASELINES),
                f"{error:.3f}",
                f"{each.brier[kind]:.3f}",
                f"{each.below['present']:.0%}, {each.below[kind]:.0%}",
            )
        if each.hits:
            yield (
                each.name,
                "single hits",
                f"{each.hits['relevant']:.1%} relevant",
                f"{each.hits['auroc']:.3f}",
                *("" for _ in _BASELINES),
                f"{each.hits['error']:.3f}",
                f"{each.hits['brier']:.3f}",
                "",
            )
