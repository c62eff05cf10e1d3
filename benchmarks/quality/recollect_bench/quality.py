"""The quality benchmark whole: data sets in; means by group and intervals of differences out."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.errors import InvalidInput
from recollect.ranking.profiles import DEFAULT, PROFILES
from recollect.ranking.steps.plain import to_plain
from recollect.ranking.steps.rerank import RerankBlend
from recollect.statistics import Interval, bootstrap_interval
from recollect_bench.datasets import Dataset
from recollect_bench.measures import COMPARED, MEASURES, Scores, library, scores
from recollect_bench.profiles import ablations
from recollect_bench.runs import Contender, Monitors, Run, run

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.ports import Embedder, Reranker
    from recollect.ranking.pipeline import Profile

ALL = "all"
NAMES_TIME = "speaks of a time"
RESAMPLES = 10_000
SEED = 20_260_301
Means = Mapping[str, float]
Compared = Mapping[str, Mapping[str, Interval]]
"""By measure and name."""


@dataclass(frozen=True, slots=True)
class Result:
    """One data set, by every profile. Means are shares of 1."""

    dataset: Dataset
    counts: Mapping[str, int]
    """Questions in each group: all, each category where there are several, and those that speak of a time."""
    means: Mapping[str, Mapping[str, Means]]
    """By profile, group and measure."""
    over_baseline: Compared
    """Every other profile minus the baseline."""
    over_others: Compared
    """The default profile minus every other."""
    parts: Compared
    """The default profile minus itself without a part: what the part brings."""
    milliseconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    results: tuple[Result, ...]
    profiles: tuple[Profile, ...]
    variants: tuple[Profile, ...]
    """The default profile, each time with one part left out."""
    baseline: str
    model: str
    extract: bool = False
    reranker: str | None = None
    """The model that read the first places of the default profile again, if one did."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that stand side by side."""
        return (*(each.name for each in self.profiles), *([RERANKED] if self.reranker else []))


RERANKED = f"{DEFAULT} + rerank"


def measure(
    datasets: Sequence[Dataset],
    profiles: Sequence[Profile],
    embedder: Embedder,
    *,
    baseline: str,
    ablate: bool = False,
    reranker: Reranker | None = None,
    extract: bool = False,
    monitors: Monitors | None = None,
) -> Report:
    """Every profile on every data set; the baseline is one of them.

    With `ablate`, also the default profile with one part left out at a time; with a re-ranker, also the
    default profile, its first places read again. It joins where it is not named.
    """
    library()  # before minutes of work that it would be missed after
    by_name = {each.name: each for each in profiles}
    if ablate or reranker is not None:
        by_name.setdefault(DEFAULT, PROFILES[DEFAULT])
    variants = ablations(by_name[DEFAULT]) if ablate else ()
    contenders = [Contender(each.name, each) for each in (*by_name.values(), *variants)]
    if reranker is not None:
        if RERANKED in by_name:
            raise InvalidInput(
                f"The re-ranked profile is reported as {RERANKED!r}; rename the one of that name."
            )
        contenders.append(Contender(RERANKED, by_name[DEFAULT], rerank=True))
    results = [
        summarize(
            run(dataset, contenders, embedder, reranker=reranker, extract=extract, monitors=monitors),
            [each.name for each in variants],
            baseline,
        )
        for dataset in datasets
    ]
    return Report(
        results=tuple(results),
        profiles=tuple(by_name.values()),
        variants=variants,
        baseline=baseline,
        model=embedder.model.name,
        extract=extract,
        reranker=None if reranker is None else reranker.name,
    )


def summarize(answers: Run, variants: Sequence[str], baseline: str) -> Result:
    """The variants are told apart from the profiles: they are compared with the default one alone."""
    relevant = [question.relevant for question in answers.questions]
    rows = {name: scores(found, relevant) for name, found in answers.found.items()}
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
        parts=_compared({name: rows[name] for name in (DEFAULT, *variants)}, DEFAULT) if variants else {},
        milliseconds=answers.milliseconds,
    )


def _groups(answers: Run) -> dict[str, list[int]]:
    """Places of the questions. A category that holds them all is no group of its own."""
    groups: dict[str, list[int]] = {}
    for category in sorted({question.category for question in answers.questions}):
        groups[category] = [n for n, each in enumerate(answers.questions) if each.category == category]
    groups[NAMES_TIME] = [n for n, each in enumerate(answers.questions) if each.names_time]
    whole = list(range(len(answers.questions)))
    return {ALL: whole} | {name: places for name, places in groups.items() if 0 < len(places) < len(whole)}


def _means(rows: Sequence[Scores], places: Sequence[int]) -> Means:
    return {measure_: fmean(rows[place][measure_] for place in places) for measure_ in MEASURES}


def _compared(rows: Mapping[str, Sequence[Scores]], one: str) -> Compared:
    """One minus each other, with intervals of 95 % by paired bootstrap over the questions."""

    def interval(other: str, measure_: str) -> Interval:
        pairs = zip(rows[one], rows[other], strict=True)
        differences = np.array([mine[measure_] - theirs[measure_] for mine, theirs in pairs])
        return bootstrap_interval(differences, np.random.default_rng(SEED), RESAMPLES)

    others = [name for name in rows if name != one]
    return {measure_: {other: interval(other, measure_) for other in others} for measure_ in COMPARED}


def report_json(report: Report) -> dict[str, Any]:
    """The same on every run of the same program on the same data, but for `milliseconds`."""
    plain: dict[str, Any] = {
        "model": report.model,
        "extract": report.extract,
        "baseline": report.baseline,
        "intervals": {"resamples": RESAMPLES, "seed": SEED, "share": 0.95, "paired": True},
        "profiles": {each.name: to_plain(each) for each in (*report.profiles, *report.variants)},
    }
    if report.reranker is not None:
        # With the numbers of the blend, which every profile has alike.
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
        "files": {path.name: _sha256(path) for path in result.dataset.files},
        "haystacks": len(haystacks),
        "documents": sum(len(each.documents) for each in haystacks),
        "questions": sum(each.is_judged for each in questions),
        "questions_without_evidence": sum(each.answerable and not each.is_judged for each in questions),
        "questions_without_answer": sum(not each.answerable for each in questions),
        "results": {
            name: {
                group: {
                    "questions": result.counts[group],
                    **{key: points(mean) for key, mean in means.items()},
                }
                for group, means in groups.items()
            }
            for name, groups in result.means.items()
        },
        f"minus {report.baseline}": _intervals_json(result.over_baseline),
        f"{DEFAULT} minus": _intervals_json(result.over_others),
    }
    if result.parts:
        plain[f"{DEFAULT} minus itself without a part"] = _intervals_json(result.parts)
    return plain


def _intervals_json(compared: Compared) -> dict[str, Any]:
    return {
        measure_: {
            name: {key: points(value) for key, value in asdict(interval).items()}
            for name, interval in of.items()
        }
        for measure_, of in compared.items()
    }


def points(share: float) -> float:
    """Of a hundred, without a negative zero."""
    return round(100 * share, 2) + 0.0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
