"""From what was found to what is told: means by group, intervals, what each part brings."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from recollect.rank.pipeline import Profile
from recollect.rank.plain import to_plain
from recollect.rank.reread import Reread
from recollect_bench.asking import Answers
from recollect_bench.datasets import Dataset
from recollect_bench.intervals import RESAMPLES, SEED, Interval, intervals, negative
from recollect_bench.measures import COMPARED, MEASURES, Scores, scores
from recollect_bench.profiles import Reranked

ALL = "all"
TIMELY = "speaks of a time"
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
    """The chief profile minus every other."""
    parts: Compared
    """The chief profile minus itself without a part: what the part brings."""
    milliseconds: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Report:
    results: tuple[Result, ...]
    profiles: tuple[Profile, ...]
    variants: tuple[Profile, ...]
    """The chief profile, each time with one part left out."""
    baseline: str
    chief: str
    model: str
    extract: bool = False
    reranked: Reranked | None = None
    """The chief profile, its first places read again."""

    @property
    def names(self) -> tuple[str, ...]:
        """Of all that stand side by side."""
        return tuple(each.name for each in (*self.profiles, self.reranked) if each is not None)


def result(answers: Answers, variants: Sequence[str], baseline: str, chief: str) -> Result:
    """The variants are told apart from the profiles: they are compared with the chief one alone."""
    relevant = [question.relevant for question in answers.questions]
    rows = {name: scores(found, relevant) for name, found in answers.found.items()}
    groups = _groups(answers)
    whole = {name: of for name, of in rows.items() if name not in variants}
    return Result(
        dataset=answers.dataset,
        counts={group: len(places) for group, places in groups.items()},
        means={
            name: {group: _means(of, places) for group, places in groups.items()} for name, of in rows.items()
        },
        over_baseline=_compared(whole, baseline, turned=True),
        over_others=_compared(whole, chief) if chief in whole else {},
        parts=_compared({name: rows[name] for name in (chief, *variants)}, chief) if variants else {},
        milliseconds=answers.milliseconds,
    )


def plain(report: Report) -> dict[str, Any]:
    """Ready for JSON; the same on every run of the same program on the same data, but for `milliseconds`."""
    told: dict[str, Any] = {
        "model": report.model,
        "extract": report.extract,
        "baseline": report.baseline,
        "intervals": {"resamples": RESAMPLES, "seed": SEED, "share": 0.95, "paired": True},
        "profiles": {each.name: to_plain(each) for each in (*report.profiles, *report.variants)},
    }
    if report.reranked is not None:
        told["reranked"] = {report.reranked.name: _plain_reranked(report.reranked)}
    return {**told, "data": {each.dataset.name: _plain(each, report) for each in report.results}}


def milliseconds(report: Report) -> dict[str, dict[str, float]]:
    """By data set and profile; of this machine and this moment."""
    return {
        each.dataset.name: {name: round(taken, 2) for name, taken in each.milliseconds.items()}
        for each in report.results
    }


def _plain_reranked(reranked: Reranked) -> dict[str, Any]:
    """With the numbers of the blend, which every profile has alike."""
    return {"profile": reranked.profile.name, "reranker": reranked.reranker.name, **asdict(Reread())}


def _plain(of: Result, report: Report) -> dict[str, Any]:
    told = {
        "files": {path.name: _sha256(path) for path in of.dataset.files},
        "haystacks": len(of.dataset.haystacks),
        "documents": sum(len(each.documents) for each in of.dataset.haystacks),
        **_questions(of.dataset),
        "results": {
            name: {
                group: {"questions": of.counts[group], **{key: _points(mean) for key, mean in means.items()}}
                for group, means in groups.items()
            }
            for name, groups in of.means.items()
        },
        f"minus {report.baseline}": _plain_intervals(of.over_baseline),
        f"{report.chief} minus": _plain_intervals(of.over_others),
    }
    if of.parts:
        told[f"{report.chief} minus itself without a part"] = _plain_intervals(of.parts)
    return told


def _questions(dataset: Dataset) -> dict[str, int]:
    questions = [question for haystack in dataset.haystacks for question in haystack.questions]
    return {
        "questions": sum(question.judged for question in questions),
        "questions_without_evidence": sum(
            question.answerable and not question.judged for question in questions
        ),
        "questions_without_answer": sum(not question.answerable for question in questions),
    }


def _groups(answers: Answers) -> dict[str, list[int]]:
    """Places of the questions. A category that holds them all is no group of its own."""
    groups: dict[str, list[int]] = {ALL: list(range(len(answers.questions)))}
    for category in sorted({question.category for question in answers.questions}):
        groups[category] = [n for n, each in enumerate(answers.questions) if each.category == category]
    groups[TIMELY] = [n for n, each in enumerate(answers.questions) if each.timely]
    whole = len(answers.questions)
    return {name: places for name, places in groups.items() if name == ALL or 0 < len(places) < whole}


def _means(rows: Sequence[Scores], places: Sequence[int]) -> Means:
    return {measure: fmean(rows[place][measure] for place in places) for measure in MEASURES}


def _compared(rows: Mapping[str, Sequence[Scores]], one: str, *, turned: bool = False) -> Compared:
    """One minus each other; turned, each other minus it."""
    return {
        measure: {
            name: negative(interval) if turned else interval
            for name, interval in intervals(
                [row[measure] for row in rows[one]],
                {name: [row[measure] for row in of] for name, of in rows.items() if name != one},
            ).items()
        }
        for measure in COMPARED
    }


def _plain_intervals(compared: Compared) -> dict[str, Any]:
    return {
        measure: {
            name: {"mean": _points(each.mean), "low": _points(each.low), "high": _points(each.high)}
            for name, each in of.items()
        }
        for measure, of in compared.items()
    }


def _points(share: float) -> float:
    """Of a hundred, without a negative zero."""
    return round(100 * share, 2) + 0.0


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
