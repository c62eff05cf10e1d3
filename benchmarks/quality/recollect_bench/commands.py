"""The commands `recollect bench quality` and `recollect bench abstention`."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command import command, group
from recollect.cli.options import complete_profile
from recollect.cli.progress import progress
from recollect.cli.rendering import Result, right_aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect.cli.command import Call
    from recollect.ports import Embedder
    from recollect_bench.runs import Monitors

    _Function = TypeVar("_Function", bound=Callable[..., object])

_FILE = click.Path(dir_okay=False, path_type=Path)


def _shared_options(function: _Function) -> _Function:
    for option in (
        click.option("--save", type=_FILE, metavar="FILE", help="Also write the JSON there."),
        click.option("--no-cache", is_flag=True, help="Embed everything anew, and keep nothing."),
        click.option(
            "--cache",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Where vectors are kept from run to run; without it, your cache folder.",
        ),
        click.option(
            "--data",
            type=click.Path(exists=True, path_type=Path),
            multiple=True,
            required=True,
            metavar="PATH",
            help="A file or a folder of judged questions; repeatable.",
        ),
    ):
        function = option(function)
    return function


@command(
    "quality",
    "recollect bench quality --data locomo.json",
    "recollect bench quality --data scifact/ --profile recollect --profile bm25 --baseline bm25",
    "recollect bench quality --data locomo.json --ablate --save results.json --plot results.svg",
    "recollect bench quality --data locomo.json --profile recollect --rerank",
    "recollect bench quality --data xquad_r/ --model potion --json | jq .data",
)
@_shared_options
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
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the intervals there, as SVG.")
def quality(
    call: Call,
    data: tuple[Path, ...],
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
    names: tuple[str, ...],
    baseline: str,
    ablate: bool,
    rerank: bool,
    extract: bool,
    plot: Path | None,
) -> Result:
    """Measure how well each profile finds what is asked for.

    Reads LoCoMo, REALTALK, LongMemEval, XQuAD-R and BEIR. Every text goes into a store of its own, in a
    temporary folder, and all profiles answer over it: the built-in ones, and plain BM25, vectors and rank
    fusion. The report gives recall at 1, 5, 10 and 20 (any, all, fraction), NDCG and MRR, with 95 % intervals
    of the differences. Your own memory is not touched.

    In a pipe, each line begins with what it is: `mean`, data set, profile, group, questions, measure, value;
    `minus`, data set, profile, the other, measure, difference, low, high; `milliseconds`, data set, profile,
    value.
    """
    from recollect import bootstrap  # loads NumPy and the engine
    from recollect_bench.loading import load_datasets
    from recollect_bench.plot import draw_svg
    from recollect_bench.profiles import select_profiles
    from recollect_bench.quality import measure, report_json
    from recollect_bench.tables import report_lines, report_view

    settings, _ = call.settings()
    reranker = bootstrap.reranker(settings) if rerank else None
    profiles = select_profiles(names, baseline, settings.profiles)
    datasets = load_datasets(data)
    _check_writable(save, plot)
    with _embedder(call, cache, no_cache) as embedder, _monitors() as monitors:
        report = measure(
            datasets,
            profiles,
            embedder,
            baseline=baseline,
            ablate=ablate,
            reranker=reranker,
            extract=extract,
            monitors=monitors,
        )
    plain = _save(call, report_json(report), save)
    if plot is not None:
        plot.write_text(draw_svg(report), encoding="utf-8")
    return Result(plain, report_view(report), report_lines(report))


@command(
    "abstention",
    "recollect bench abstention --data locomo.json",
    "recollect bench abstention --data locomo.json --data scifact/ --json | jq '.data[].auroc'",
    "recollect bench abstention --data scifact/ --questions 100 --save results.json",
)
@_shared_options
@click.option("--profile", default="recollect", show_default=True, metavar="NAME", help="Who ranks the hits.")
@click.option(
    "--calibrate/--no-calibrate",
    default=True,
    show_default=True,
    help="Let each store learn of itself first.",
)
@click.option("--questions", type=click.IntRange(1), metavar="N", help="Only so many of each store, by lot.")
def abstention(
    call: Call,
    data: tuple[Path, ...],
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
    profile: str,
    calibrate: bool,
    questions: int | None,
) -> Result:
    """Measure whether confidence tells questions with an answer from those without.

    Every question that has an answer is asked with it there, and with it taken out of the store (removed);
    beside them stand questions about other things (other), and those that the data calls unanswerable
    (unsaid). AUROC is how often one with an answer gets more than one without; cosine, its z-score and BM25
    are what simple means reach. Error is the calibration error over ten bins of equally many; below, how many
    are told that nothing seems to answer, those with an answer first. A last line tells of single hits.
    """
    from recollect_bench.abstention import AbstentionOptions, measure_abstention  # loads NumPy and the engine
    from recollect_bench.loading import load_datasets
    from recollect_bench.tables import ABSTENTION_COLUMNS, abstention_rows

    datasets = load_datasets(data)
    _check_writable(save)
    with _embedder(call, cache, no_cache) as embedder, _monitors() as monitors:
        options = AbstentionOptions(profile, calibrate, questions)
        results = measure_abstention(datasets, embedder, options, monitors)
    plain = _save(call, {"data": [asdict(each) for each in results]}, save)
    first, second, *numbers = ABSTENTION_COLUMNS
    return Result.table(plain, (first, second, *right_aligned(*numbers)), list(abstention_rows(results)))


@group("bench", (quality, abstention), "recollect bench quality --data locomo.json")
def bench(_: Call) -> None:
    """Measure the profiles on judged questions.

    The data is public and not part of Recollect: name the path of what you have downloaded.
    """


def _check_writable(*paths: Path | None) -> None:
    """Make the files that are to be written: minutes of work are too late to learn that they cannot be."""
    for path in filter(None, paths):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a").close()
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def _embedder(call: Call, cache: Path | None, no_cache: bool) -> Iterator[Embedder]:
    """The model, with the vectors that it has made before."""
    if cache is not None and no_cache:
        raise click.UsageError("--cache names a folder, and --no-cache wants none; give one of them.")
    from recollect.bootstrap import embedder, model_name  # loads the engine
    from recollect.errors import ModelUnavailable
    from recollect.settings import cache_folder
    from recollect_bench.caches import cached_vectors

    settings, _ = call.settings()
    model = embedder(model_name(settings), settings)
    if model is None:
        raise ModelUnavailable(
            "Without a model there is no meaning to measure; name one of `recollect models` with --model."
        )
    with cached_vectors(model, None if no_cache else cache or cache_folder() / "bench") as cached:
        yield cached


@contextmanager
def _monitors() -> Iterator[Monitors]:
    from recollect_bench.runs import Monitors  # loads the engine

    with progress("Storing", "Asking") as (storing, asking):
        yield Monitors(storing, asking)


def _save(call: Call, figures: dict[str, Any], path: Path | None) -> dict[str, Any]:
    """Figures first, the same on every run; then what is of this machine and this moment."""
    from recollect_bench.environment import facts

    plain = {**figures, "facts": facts(call.now())}
    if path is not None:
        path.write_text(json.dumps(plain, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return plain
