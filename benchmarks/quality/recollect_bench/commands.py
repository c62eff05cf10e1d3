"""The commands `recollect bench quality` and `recollect bench abstention`."""

from __future__ import annotations

import json
import re
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recollect.cli.command import command, group
from recollect.cli.options import complete_profile
from recollect.cli.rendering import Result, progress, right_aligned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from recollect.cli.command import Call
    from recollect_bench.halves import Half
    from recollect_bench.models import Models
    from recollect_bench.runs import Monitors

    _Function = TypeVar("_Function", bound=Callable[..., object])

_FILE = click.Path(dir_okay=False, path_type=Path)


_half_option = click.option(
    "--half",
    type=click.Choice(["a", "b"]),
    help="Only this half of the questions, split by a hash of store and id.",
)


def _shared_options(function: _Function) -> _Function:
    for option in (
        click.option("--save", type=_FILE, metavar="FILE", help="Also write the JSON there."),
        click.option("--no-cache", is_flag=True, help="Embed all texts again, and keep no vectors."),
        click.option(
            "--cache",
            type=click.Path(file_okay=False, path_type=Path),
            metavar="DIR",
            help="Folder that keeps vectors between runs (default: your cache folder).",
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
    help="Profile to compare the others with.",
)
@_half_option
@click.option("--ablate", is_flag=True, help="Also our profile without one part at a time.")
@click.option("--rerank", is_flag=True, help="Also our profile with its first hits re-ranked by a model.")
@click.option("--extract", is_flag=True, help="Also the other profiles over extracted notes.")
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the intervals there, as SVG.")
def quality(
    call: Call,
    data: tuple[Path, ...],
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
    names: tuple[str, ...],
    baseline: str,
    half: Half | None,
    ablate: bool,
    rerank: bool,
    extract: bool,
    plot: Path | None,
) -> Result:
    """Measure how well each profile finds what is asked for.

    Reads LoCoMo, REALTALK, LongMemEval, XQuAD-R, BEIR, and folders of memories.jsonl and questions.jsonl.
    Every text goes into a store in a temporary folder, at its own time. The row `recollect` is what you get
    by default, with notes extracted from messages; `recollect (plain)` and the other profiles, among them
    plain BM25, vectors and rank fusion, answer over the texts alone. The report gives recall at 1, 5, 10 and
    20 (any, all, fraction), NDCG, MRR, and how often an outdated fact comes first. Differences have
    95 % intervals. Your own memory is not touched.
    """
    from recollect import bootstrap  # loads NumPy and the engine
    from recollect_bench.loading import load_datasets
    from recollect_bench.plot import draw_svg
    from recollect_bench.profiles import select_profiles
    from recollect_bench.quality import QualityOptions, measure, report_json
    from recollect_bench.tables import report_view

    settings, _ = call.settings()
    reranker = bootstrap.reranker(settings) if rerank else None
    profiles = select_profiles(names, baseline, settings.profiles)
    datasets = load_datasets(data)
    _check_writable(save, plot)
    options = QualityOptions(baseline, ablate, extract, half)
    with _models(call, cache, no_cache) as models, _monitors() as monitors:
        report = measure(datasets, profiles, models, options, reranker=reranker, monitors=monitors)
    plain = _save(call, report_json(report), save)
    if plot is not None:
        plot.write_text(draw_svg(report), encoding="utf-8")
    return Result(plain, report_view(report))


@command(
    "abstention",
    "recollect bench abstention --data locomo.json",
    "recollect bench abstention --data benchmarks/everyday --save results.json --plot reliability.svg",
    "recollect bench abstention --data locomo.json --data scifact/ --json | jq '.data[].auroc'",
    "recollect bench abstention --data scifact/ --questions 100 --absent 20",
)
@_shared_options
@_half_option
@click.option("--profile", metavar="NAME", help="Profile (default: the default profile).")
@click.option(
    "--questions", type=click.IntRange(1), metavar="N", help="Random sample of this size per store."
)
@click.option(
    "--absent", type=click.IntRange(0), metavar="N", help="Maximum per store to ask without their answer."
)
@click.option("--plot", type=_FILE, metavar="FILE", help="Draw the reliability of hits there, as SVG.")
def abstention(
    call: Call,
    data: tuple[Path, ...],
    cache: Path | None,
    no_cache: bool,
    save: Path | None,
    half: Half | None,
    profile: str | None,
    questions: int | None,
    absent: int | None,
    plot: Path | None,
) -> Result:
    """Measure whether confidence separates questions with an answer from those without.

    Every answerable question is asked twice: with its answer in the store, and with it removed (removed).
    Questions about other topics (other) and those that the data calls unanswerable (unsaid) are asked, too.
    AUROC is how often a question with an answer gets more confidence than one without; cosine, its z-score
    and BM25 are simple baselines. Error is the calibration error over ten bins of equal size. "Told
    nothing" is the share of answers that said nothing seems to match, answerable questions first. The last
    line is for single hits; the JSON and the plot also give them in tenths of their confidence.
    """
    from recollect_bench.abstention import AbstentionOptions, measure_abstention  # loads NumPy and the engine
    from recollect_bench.loading import load_datasets
    from recollect_bench.quality import dataset_files
    from recollect_bench.reliability_plot import draw_reliability
    from recollect_bench.tables import ABSTENTION_COLUMNS, abstention_rows

    datasets = load_datasets(data)
    _check_writable(save, plot)
    options = AbstentionOptions(profile, questions, absent, half)
    with _models(call, cache, no_cache) as models, _monitors() as monitors:
        results = measure_abstention(datasets, models, options, monitors)
    figures = {
        "model": models.setting,
        "settings": asdict(options),
        "files": {each.name: dataset_files(each) for each in datasets},
        "data": [asdict(each) for each in results],
    }
    plain = _save(call, figures, save)
    if plot is not None:
        plot.write_text(draw_reliability(results), encoding="utf-8")
    return _table(plain, ABSTENTION_COLUMNS, abstention_rows(results), left=2)


@command(
    "context",
    "recollect bench context --data benchmarks/everyday",
    "recollect bench context --data benchmarks/everyday/ines --model e5-memory --json",
)
@_shared_options
def context(
    call: Call, data: tuple[Path, ...], cache: Path | None, no_cache: bool, save: Path | None
) -> Result:
    """Measure the memories that `context` returns for a prompt.

    Reads folders of memories.jsonl and prompts.jsonl. Silent: of the prompts that need nothing remembered,
    how many get nothing. Helped: of those that do, how many get at least one memory that helps. Precision and
    recall are of memories; the last column is what a helpful memory costs in tokens.
    """
    from recollect_bench.loading import load_datasets  # loads the engine
    from recollect_bench.prompts import measure_prompts, prompts_json
    from recollect_bench.quality import dataset_files
    from recollect_bench.tables import PROMPT_COLUMNS, prompt_rows

    datasets = load_datasets(data)
    _check_writable(save)
    with _models(call, cache, no_cache) as models, _monitors() as monitors:
        results = measure_prompts(datasets, models, monitors)
    figures = {
        "model": models.setting,
        "files": {each.name: dataset_files(each) for each in datasets},
        "data": prompts_json(results),
    }
    return _table(_save(call, figures, save), PROMPT_COLUMNS, prompt_rows(results), left=2)


@command("precision", "recollect bench precision --data precisionMemBench/fixtures")
@_shared_options
def precision(
    call: Call, data: tuple[Path, ...], cache: Path | None, no_cache: bool, save: Path | None
) -> Result:
    """Measure on PrecisionMemBench whether only the requested facts come back.

    Reads its beliefs.seed.json and retrieval.cases.json. Beliefs are notes with their scope as a tag, asked
    with the tag of the case and nothing else: no limit, no threshold. Precision and recall are means over
    cases; a case passes where everything it expects holds, actively where something was expected or found.
    """
    from recollect_bench.formats.precision import load_precision  # loads pydantic
    from recollect_bench.precision import measure_precision, precision_json
    from recollect_bench.quality import sha256
    from recollect_bench.tables import PRECISION_COLUMNS, precision_rows

    if len(data) > 1:
        raise click.UsageError("--data names one folder here.")
    fixtures = load_precision(data[0])
    _check_writable(save)
    with _models(call, cache, no_cache) as models, _monitors() as monitors:
        result = measure_precision(fixtures, models, monitors.asking)
    figures = {
        "model": models.setting,
        "files": {path.name: sha256(path) for path in fixtures.files},
        **precision_json(result),
    }
    return _table(_save(call, figures, save), PRECISION_COLUMNS, precision_rows(result), left=1)


@group("bench", (quality, abstention, context, precision), "recollect bench quality --data locomo.json")
def bench(_: Call) -> None:
    """Measure the profiles on judged questions.

    The data is public and not part of Recollect: name the path of what you have downloaded.
    """


def _table(plain: object, columns: Sequence[str], rows: Iterable[tuple[str, ...]], *, left: int) -> Result:
    """Align the first columns as names and the others as numbers."""
    return Result.table(plain, (*columns[:left], *right_aligned(*columns[left:])), list(rows))


def _check_writable(*paths: Path | None) -> None:
    """Create the output files now, so that a wrong path fails before minutes of work."""
    for path in filter(None, paths):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.open("a").close()
        except OSError as error:
            raise click.UsageError(f"{path} cannot be written: {error.strerror}.") from error


@contextmanager
def _models(call: Call, cache: Path | None, no_cache: bool) -> Iterator[Models]:
    """Return the models, with the cached vectors of earlier runs."""
    if cache is not None and no_cache:
        raise click.UsageError("--cache names a folder, and --no-cache wants none; give one of them.")
    from recollect.settings import program_folder  # loads the engine
    from recollect_bench.models import cached_models

    settings, _ = call.settings()
    with cached_models(settings, None if no_cache else cache or program_folder("cache") / "bench") as models:
        yield models


@contextmanager
def _monitors() -> Iterator[Monitors]:
    from recollect_bench.runs import Monitors  # loads the engine

    with progress("Storing", "Asking") as (storing, asking):
        yield Monitors(storing, asking)


def _save(call: Call, figures: dict[str, Any], path: Path | None) -> dict[str, Any]:
    """Return the figures, which are equal on every run, followed by facts of machine and time."""
    from recollect_bench.environment import facts

    plain = {**figures, "facts": facts(call.now())}
    if path is not None:
        path.write_text(_lines(plain), encoding="utf-8")
    return plain


def _lines(plain: object) -> str:
    """Return JSON with one line per innermost object, which is smaller and gives short diffs."""
    text = json.dumps(plain, ensure_ascii=False, indent=1)
    return re.sub(r"\{[^{}]*\}", lambda match: re.sub(r"\n *", " ", match[0]), text) + "\n"
