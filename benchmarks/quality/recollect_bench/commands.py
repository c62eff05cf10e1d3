"""`recollect bench`: how well the profiles find what is asked for, on judged questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import command, group
from recollect.cli.resolve import complete_profile
from recollect.cli.results import Result
from recollect_bench.abstention_command import abstention
from recollect_bench.options import cache_options, data_option, embedding, save_option, watched, writable

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect_bench.report import Report


@command(
    "quality",
    "recollect bench quality --data locomo.json",
    "recollect bench quality --data scifact/ --profile recollect --profile bm25 --baseline bm25",
    "recollect bench quality --data locomo.json --ablate --save results.json --plot results.svg",
    "recollect bench quality --data locomo.json --profile recollect --rerank",
    "recollect bench quality --data xquad_r/ --model potion --json | jq .data",
)
@data_option
@click.option(
    "--profile",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="Only this one: built-in, yours, bm25, vectors, rrf, or a .json or .toml file; repeatable.",
)
@click.option(
    "--baseline",
    default="rrf",
    show_default=True,
    metavar="NAME",
    shell_complete=complete_profile,
    help="What the others are compared with.",
)
@click.option("--ablate", is_flag=True, help="Also our profile with one part left out at a time.")
@click.option("--rerank", is_flag=True, help="Also our profile, its first places read again by a model.")
@click.option(
    "--extract", is_flag=True, help="Also draw notes out of messages, by rules; each counts as its own."
)
@cache_options
@save_option
@click.option(
    "--plot",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Draw the intervals there, as SVG.",
)
def quality(
    call: Call,
    data: tuple[Path, ...],
    names: tuple[str, ...],
    baseline: str,
    ablate: bool,
    rerank: bool,
    extract: bool,
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
    plot: Path | None,
) -> Result:
    """Measure how well each profile finds what is asked for.

    Reads LoCoMo, REALTALK, LongMemEval, XQuAD-R and BEIR. Every text goes into a store of its own, in a
    temporary folder, and all profiles answer over it: the built-in ones, and plain BM25, vectors and rank
    fusion. Told are recall at 1, 5, 10 and 20 (any, all, fraction), NDCG and MRR, with 95 % intervals of the
    differences. Your own memory is not touched.

    In a pipe, each line begins with what it is: `mean`, data set, profile, group, questions, measure, value;
    `minus`, data set, profile, the other, measure, difference, low, high; `milliseconds`, data set, profile,
    value.
    """
    from recollect.bootstrap import reranker
    from recollect_bench.loading import read_all
    from recollect_bench.profiles import chosen  # loads NumPy and the engine
    from recollect_bench.quality import measure
    from recollect_bench.tables import report_lines, report_view

    settings, _ = call.settings()
    reader = reranker(settings) if rerank else None
    profiles = chosen(names, baseline, settings.profiles)
    datasets = read_all(data)
    for path in (save, plot):
        if path is not None:
            writable(path)
    with embedding(call, cache, no_cache) as embedder, watched() as watching:
        report = measure(
            datasets,
            profiles,
            embedder,
            baseline=baseline,
            ablate=ablate,
            reranker=reader,
            extract=extract,
            watching=lambda _: watching,
        )
    told = _told(call, report)
    if save is not None:
        save.write_text(json.dumps(told, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    if plot is not None:
        from recollect_bench.plot import drawn  # few want a picture

        plot.write_text(drawn(report), encoding="utf-8")
    return Result(told, report_view(report), report_lines(report))


@group("bench", (quality, abstention), "recollect bench quality --data locomo.json")
def bench(_: Call) -> None:
    """Measure the profiles on judged questions.

    The data is public and not part of Recollect: name the path of what you have downloaded.
    """


def _told(call: Call, report: Report) -> dict[str, Any]:
    """Figures first, the same on every run; then what is of this machine and this moment."""
    from recollect_bench.environment import facts
    from recollect_bench.report import milliseconds, plain

    return {**plain(report), "milliseconds": milliseconds(report), "facts": facts(call.now())}
