"""Run the quality benchmark: from data sets to means by group and intervals of differences."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.errors import InvalidInput
from recollect.domain.numbers import Interval, bootstrap_interval
from recollect.ranking.profiles import DEFAULT, PROFILES, to_plain
from recollect.ranking.routing import RerankBlend
from recollect_bench.datasets import Dataset, halved
from recollect_bench.halves import HALVES
from recollect_bench.measures import COMPARED, LIMITS, MEASURES, STALE, Scores, library, scores
from recollect_bench.profiles import ablations
from recollect_bench.runs import Contender, Monitors, Run, run

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.ranking.candidates import Profile
    from recollect.stores.port import Reranker
    from recollect_bench.halves import Half
    from recollect_bench.models import Models

ALL = "all"
NAMES_TIME = "speaks of a time"
RESAMPLES = 10_000
SEED = 20_260_301
Means = Mapping[str, float]
Compared = Mapping[str, Mapping[str, Interval]]
"""Values by measure and name."""


PLAIN = f"{DEFAULT} (plain)"
"""The default profile over the messages alone, as the other profiles are asked."""
RERANKED = f"{DEFAULT} + rerank"
EXTRACTED = " + extraction"
"""Suffix of another profile's name when it searches the store with extracted notes."""
_MOST_CATEGORIES = 12


@dataclass(frozen=True, slots=True)
class Result:
    """The figures of every contender on one data set. Means are shares of 1."""

    dataset: Dataset
    counts: Mapping[str, int]
    """Questions in each group: all, each category if there are several, and those that name a time."""
    means: Mapping[str, Mapping[str, Means]]
    """Means by profile, group and measure."""
    over_baseline: Compared
    """Every other contender minus the baseline."""
    over_others: Compared
    """The default path minus every other."""
    over_others_by_half: Mapping[Half, Compared]
    """The same for each half of the questions, one of which may have been used to choose parameters."""
    parts: Compared
    """The default path minus itself without a part: what the part brings."""
    milliseconds: Mapping[str, float]
    unlimited: Mapping[str, float]
    """The default path without a limit: mean number of hits, precision and recall."""
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class QualityOptions:
    """Options: which runs to add to the given profiles."""

    baseline: str = "rrf"
    """One of the profiles."""
    ablate: bool = False
    """Also the default path with one part left out at a time."""
    extract: bool = False
    """Also run every other profile over the store with extracted notes."""
    half: Half | None = None
    """Only the questions of this half."""


@dataclass(frozen=True, slots=True)
class Report:
    results: tuple[Result, ...]
    names: tuple[str, ...]
    """All contenders, in the order of the tables."""
    profiles: tuple[Profile, ...]
    variants: tuple[Profile, ...]
    """The default profile, each time with one part left out."""
    options: QualityOptions
    reranker: str | None = None
    """Model that re-ranked the first hits of the default profile, if any."""

    @property
    def baseline(self) -> str:
        return self.options.baseline

    @property
    def model(self) -> str:
        return ", ".join(dict.fromkeys(model for result in self.results for model in result.models))


def measure(
    datasets: Sequence[Dataset],
    profiles: Sequence[Profile],
    models: Models,
    options: QualityOptions,
    *,
    reranker: Reranker | None = None,
    monitors: Monitors | None = None,
) -> Report:
    """Measure every profile on every data set; the baseline is one of them.

    The default profile is asked the default way, over a store with notes extracted from messages. It and
    every other profile also run over the messages alone. A re-ranker adds the default path with its first
    places re-ranked. The default profile is always included.
    """
    library()  # fails early if it is not installed
    by_name = {each.name: each for each in profiles}
    if options.ablate or reranker is not None:
        by_name.setdefault(DEFAULT, PROFILES[DEFAULT])
    variants = ablations(by_name[DEFAULT]) if options.ablate else ()
    shown = _contenders(by_name, options, with_reranker=reranker is not None)
    contenders = [*shown, *(Contender(each.name, each, extract=True) for each in variants)]
    if options.half is not None:
        datasets = halved(datasets, options.half)
    results = [
        summarize(
            run(dataset, contenders, models, reranker=reranker, monitors=monitors),
            [each.name for each in variants],
            options.baseline,
        )
        for dataset in datasets
    ]
    return Report(
        results=tuple(results),
        names=tuple(each.name for each in shown),
        profiles=tuple(by_name.values()),
        variants=variants,
        options=options,
        reranker=None if reranker is None else reranker.name,
    )


def _contenders(
    profiles: Mapping[str, Profile], options: QualityOptions, *, with_reranker: bool
) -> list[Contender]:
    """Return the contenders, in the order of the tables."""
    contenders = []
    for name, profile in profiles.items():
        if name != DEFAULT:
            contenders.append(Contender(name, profile))
            continue
        # The built-in profile answers callers who name none.
        asked = None if profile == PROFILES[DEFAULT] else profile
        contenders += [Contender(DEFAULT, asked, extract=True), Contender(PLAIN, asked)]
    if with_reranker:
        contenders.append(Contender(RERANKED, profiles[DEFAULT], extract=True, rerank=True))
    if options.extract:
        others = [each for each in profiles if each != DEFAULT]
        contenders += [Contender(name + EXTRACTED, profiles[name], extract=True) for name in others]
    names = [each.name for each in contenders]
    if twice := [name for name in names if names.count(name) > 1]:
        raise InvalidInput(f"One of the rows is reported as {twice[0]!r}; rename the profile of that name.")
    return contenders


def summarize(answers: Run, variants: Sequence[str], baseline: str) -> Result:
    """Return the figures of a data set. Variants are only compared with the default profile."""
    rows = {name: scores(found) for name, found in answers.found.items()}
    groups = _groups(answers)
    whole = {name: of for name, of in rows.items() if name not in variants}
    turned = _compared(whole, baseline)
    return Result(
        dataset=answers.dataset,
        counts={group: len(places) for group, places in groups.items()},
        means={
            name: {group: _means(of, places) for group, places in groups.items()} for name, of in rows.items()
        },
        over_baseline={
            measure_: {name: interval.negated() for name, interval in of.items()}
            for measure_, of in turned.items()
        },
        over_others=_compared(whole, DEFAULT) if DEFAULT in whole else {},
        over_others_by_half=_by_half(whole, groups) if DEFAULT in whole else {},
        parts=_compared({name: rows[name] for name in (DEFAULT, *variants)}, DEFAULT) if variants else {},
        milliseconds=answers.milliseconds,
        unlimited=answers.unlimited,
        models=answers.models,
    )


def _groups(answers: Run) -> dict[str, list[int]]:
    """Return the positions of questions by group. A category with all questions, or dozens, are no groups."""
    groups: dict[str, list[int]] = {}
    categories = sorted({question.category for question in answers.questions})
    for category in categories if len(categories) <= _MOST_CATEGORIES else ():
        groups[category] = [n for n, each in enumerate(answers.questions) if each.category == category]
    groups[NAMES_TIME] = [n for n, each in enumerate(answers.questions) if each.names_time]
    for half in HALVES:
        groups[f"half {half}"] = [n for n, each in enumerate(answers.questions) if each.half == half]
    whole = list(range(len(answers.questions)))
    return {ALL: whole} | {name: places for name, places in groups.items() if 0 < len(places) < len(whole)}


def _means(rows: Sequence[Scores], places: Sequence[int]) -> Means:
    """Return the mean of each measure over the questions that it applies to."""
    values = {
        measure_: [rows[place][measure_] for place in places if measure_ in rows[place]]
        for measure_ in (*MEASURES, *STALE)
    }
    return {measure_: fmean(each) for measure_, each in values.items() if each}


def _by_half(
    rows: Mapping[str, Sequence[Scores]], groups: Mapping[str, Sequence[int]]
) -> dict[Half, Compared]:
    places = {half: groups[f"half {half}"] for half in HALVES if f"half {half}" in groups}
    return {
        half: _compared({name: [of[place] for place in each] for name, of in rows.items()}, DEFAULT)
        for half, each in places.items()
    }


def _compared(rows: Mapping[str, Sequence[Scores]], one: str) -> Compared:
    """Return one contender minus each other, with 95 % intervals by paired bootstrap over the questions."""

    def interval(other: str, measure_: str) -> Interval:
        pairs = zip(rows[one], rows[other], strict=True)
        differences = np.array([mine[measure_] - theirs[measure_] for mine, theirs in pairs])
        return bootstrap_interval(differences, np.random.default_rng(SEED), RESAMPLES)

    others = [name for name in rows if name != one]
    return {measure_: {other: interval(other, measure_) for other in others} for measure_ in COMPARED}


def report_json(report: Report) -> dict[str, Any]:
    """Return the JSON. Except for `milliseconds`, equal code and data give equal figures."""
    plain: dict[str, Any] = {
        "model": report.model,
        "settings": {"limit": list(LIMITS), "record": False, **asdict(report.options)},
        "baseline": report.baseline,
        "intervals": {"resamples": RESAMPLES, "seed": SEED, "share": 0.95, "paired": True},
        "profiles": {each.name: to_plain(each) for each in (*report.profiles, *report.variants)},
    }
    if report.reranker is not None:
        # Includes the parameters of the blend, which all profiles share.
        plain["reranked"] = {
            RERANKED: {"profile": DEFAULT, "reranker": report.reranker, **asdict(RerankBlend())}
        }
    plain["data"] = {each.dataset.name: _result_json(each, report) for each in report.results}
    plain["milliseconds"] = {
        each.dataset.name: {name: round(taken, 2) for name, taken in each.milliseconds.items()}
        for each in report.results
    }
    return plain


def _result_json(result: Result, report: Report) -> dict[str, Any]:
    haystacks = result.dataset.haystacks
    questions = [question for haystack in haystacks for question in haystack.questions]
    plain: dict[str, Any] = {
        "model": ", ".join(result.models),
        "files": dataset_files(result.dataset),
        "haystacks": len(haystacks),
        "documents": sum(len(each.documents) for each in haystacks),
        "questions": sum(each.is_judged for each in questions),
        "questions_without_evidence": sum(each.answerable and not each.is_judged for each in questions),
        "questions_without_answer": sum(not each.answerable for each in questions),
        "questions_with_stale": sum(each.is_judged and bool(each.must_not) for each in questions),
        "results": {
            name: {group: _group_json(result, group, means) for group, means in groups.items()}
            for name, groups in result.means.items()
        },
        f"minus {report.baseline}": _intervals_json(result.over_baseline),
        f"{DEFAULT} minus": _intervals_json(result.over_others),
        f"{DEFAULT} minus, by half": {
            half: _intervals_json(each) for half, each in result.over_others_by_half.items()
        },
    }
    if result.unlimited:
        plain["without_limit"] = {
            "hits": round(result.unlimited["hits"], 2),
            **{key: points(result.unlimited[key]) for key in ("precision", "recall")},
        }
    if result.parts:
        plain[f"{DEFAULT} minus itself without a part"] = _intervals_json(result.parts)
    return plain


def _group_json(result: Result, group: str, means: Means) -> dict[str, Any]:
    """Return every measure for all questions, and the compared measures for parts of them."""
    shown = means if group == ALL else [key for key in (*COMPARED, *STALE) if key in means]
    return {"questions": result.counts[group], **{key: points(means[key]) for key in shown}}


def _intervals_json(compared: Compared) -> dict[str, Any]:
    return {
        measure_: {
            name: {key: points(value) for key, value in asdict(interval).items()}
            for name, interval in of.items()
        }
        for measure_, of in compared.items()
    }


def points(share: float) -> float:
    """Return a percentage, without a negative zero."""
    return round(100 * share, 2) + 0.0


def dataset_files(dataset: Dataset) -> dict[str, str]:
    """Return the SHA-256 of each file of a data set; equal names get their folder."""
    names = [path.name for path in dataset.files]
    several = len(set(names)) < len(names)
    return {
        f"{path.parent.name}/{path.name}" if several else path.name: sha256(path) for path in dataset.files
    }


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
