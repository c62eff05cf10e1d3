"""Learn the weights of the profile `recollect` from judged questions.

    python -m recollect_bench.training --date 2026-11-17 --cache DIR --whole PATH PATH…

Each question's candidates are gathered as a recall gathers them, over a store filled the default way. The
steps of the profile are linear in their weights, so a sign is what a step adds where its weight is 1 and all
others are 0. The weights maximise the likelihood of the relevant candidates under a softmax over all of a
question's candidates (listwise logistic regression, Cao et al., ICML 2007), kept near plain fusion by a
quadratic penalty. Convex, solved by Newton's method: no chance is involved.

Half a of each set is learned from, and half b judges; of a set that is given with `--whole`, all of it, since
others judge. `--signs FILE` also writes what each sign gains on half b. Each path counts the same, however
many sets and questions it has.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

import recollect.ranking as ranking_package
from recollect.ranking.profiles import FILE, recollect_profile
from recollect.ranking.steps import STEPS, Cut, DropRepeats, NewestWins, Order, TimeFirst, Times
from recollect.search.candidates import gather
from recollect.search.recall import open_search, query_of
from recollect.search.rows import memories_by_id
from recollect.settings import Settings
from recollect_bench.halves import half_of
from recollect_bench.haystack_store import open_haystack
from recollect_bench.loading import load_for_fitting
from recollect_bench.models import cached_models
from recollect_bench.quality import dataset_files
from recollect_bench.runs import questions_in_order

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Candidates, Profile
    from recollect.stores.port import Progress
    from recollect_bench.datasets import Dataset, Haystack, Prompt
    from recollect_bench.halves import Half
    from recollect_bench.haystack_store import StoredHaystack
    from recollect_bench.models import Models

Floats: TypeAlias = "NDArray[np.float64]"
Weights: TypeAlias = Mapping[str, Mapping[str, float]]

PRIOR: dict[str, float] = {"meaning.cosine": 0.6, "words.bm25": 0.4}
"""Start of the fit: plain fusion; all other weights start at 0."""
NEVER_BELOW_0 = (
    "meaning.cosine", "words.bm25", "words.share", "tokens.match", "tokens.deviation",
    "named.weight", "time_score.weight", "time_score.tells", "time_score.related", "time_score.stated",
)  # fmt: skip
NEVER_ABOVE_0 = ("origin.brief",)
AT_LEAST = {"time_score.weight": 0.1, "time_score.related": 0.4}
"""Fixed, not learned: a question that names a time ranks memories of that time first."""
BALANCE = "origin.speaker"
"""Not learned, but set so that messages of speakers neither gain nor lose against notes."""
SHARPNESS = 10.0
"""Factor of scores in the softmax: a lead of 0.1 makes a candidate e times as likely."""
PENALTY = 0.1
LEAST = 0.015
"""Minimum weight; smaller ones are dropped."""
_STEPS = 50
_DONE = 1e-10


@dataclass(frozen=True, slots=True)
class Example:
    """One question: a row for each candidate, a column for each weight."""

    store: str
    question: str
    signs: Floats
    relevant: Floats
    """Relevance of each candidate, 1 or 0."""
    total: int
    """Number of relevant documents, found or not."""

    @property
    def half(self) -> Half:
        return half_of(self.store, self.question)


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """The examples of one data set, and its weight."""

    name: str
    examples: Sequence[Example]
    weight: float = 1.0

    def of(self, half: Half) -> TrainingSet:
        return TrainingSet(self.name, [each for each in self.examples if each.half == half], self.weight)


@dataclass(frozen=True, slots=True)
class Fit:
    weights: dict[str, float]
    """Weights by `step.number`, without dropped ones."""
    loss: float
    prior_loss: float
    """Loss of plain fusion."""


_LEARNED = ("meaning", "words", "tokens", "conversation", "named", "time_score", "origin")
"""Steps of our own profile whose numbers are learned; `named` is the weight of the step with that factor."""


def names() -> list[str]:
    """Return every learned parameter, as `step.number`."""
    found = []
    for step in _LEARNED:
        kind: Any = STEPS.get(step)
        numbers = ["weight"] if kind is None else [each.name for each in fields(kind)]
        found += [f"{step}.{number}" for number in numbers]
    return found


def nested(weights: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the weights by step, as a profile takes them, with 0 for dropped ones."""
    found: dict[str, dict[str, float]] = {step: {} for step in _LEARNED}
    for name in names():
        step, number = name.split(".")
        found[step][number] = round(weights.get(name, 0.0), 4)
    return found


def collect(dataset: Dataset, models: Models, progress: Progress | None = None) -> Iterator[Example]:
    """Return the examples of all judged questions of a data set."""
    total = sum(len(haystack.judged_questions) + len(_needing(haystack)) for haystack in dataset.haystacks)
    done = 0
    for haystack in dataset.haystacks:
        for example in _of_haystack(haystack, models):
            done += 1
            if progress is not None:
                progress(done, total)
            yield example


def _of_haystack(haystack: Haystack, models: Models) -> Iterator[Example]:
    with open_haystack(haystack, models) as stored:
        for question in questions_in_order(haystack):
            stored.advance(question)
            yield _example(stored, question.id, question.text, question.relevant)
        stored.fill()
        for prompt in _needing(haystack):
            stored.set_clock(prompt.at)
            yield _example(stored, f"prompt {prompt.id}", prompt.text, prompt.helpful)


def _needing(haystack: Haystack) -> list[Prompt]:
    return [prompt for prompt in haystack.prompts if prompt.needs_memory]


def _example(stored: StoredHaystack, name: str, text: str, relevant: frozenset[str]) -> Example:
    profile = recollect_profile(nested({}))
    services = stored.engine._services
    asked = query_of(services, text, profile, limit=10, record=False)
    with open_search(services, asked) as (search, query, _):
        candidates = gather(search, profile, query).candidates
        ids, signs = signs_of(candidates, query)
        memories = memories_by_id(search.snapshot, ids)
    wanted = stored.canonical(relevant)
    found = [float(stored.document(memories[id_]) in wanted) for id_ in ids]
    return Example(stored.haystack.name, name, signs, np.array(found), len(wanted))


def signs_of(candidates: Candidates, query: Query) -> tuple[list[int], Floats]:
    """Return the candidates before sorting, and the score that a weight of 1 adds for each parameter."""
    base = _scored(recollect_profile(nested({})), candidates, query)
    columns = [
        _scored(recollect_profile(nested({name: 1.0})), candidates, query).score - base.score
        for name in names()
    ]
    return base.ids.tolist(), np.column_stack(columns) if len(base) else np.zeros((0, len(columns)))


def _scored(profile: Profile, candidates: Candidates, query: Query) -> Candidates:
    """Return the profile without sorting, cutting and steps that are not linear in the weights."""
    for step in profile.steps:
        if not isinstance(step, Times | NewestWins | TimeFirst | DropRepeats | Order | Cut):
            candidates = step(candidates, query)
    return candidates


def fit(sets: Iterable[TrainingSet], penalty: float = PENALTY, without: str | None = None) -> Fit:
    """Fit the weights, all but `without`, and drop those that are too small or have the wrong sign."""
    blocks = [_Block.of(each) for each in sets if any(e.relevant.any() for e in each.examples)]
    known = names()
    prior = np.array([PRIOR.get(name, 0.0) for name in known])
    used = np.array([name not in {BALANCE, without} for name in known])
    while True:
        weights = _minimum(blocks, prior, used, penalty)
        wrong = used & np.array([_is_out(name, value) for name, value in zip(known, weights, strict=True)])
        if not wrong.any():
            break
        used &= ~wrong
    for name, least in AT_LEAST.items():
        if name != without:
            weights[known.index(name)] = max(weights[known.index(name)], least)
    weights[known.index(BALANCE)] = -_gain_of_speakers(blocks, weights)
    kept = {name: float(value) for name, value in zip(known, weights, strict=True) if value}
    return Fit(kept, _loss(blocks, weights), _loss(blocks, prior))


def _gain_of_speakers(blocks: Sequence[_Block], weights: Floats) -> float:
    """Return the mean gain of a speaker's relevant message from its conversation.

    Talk among friends is in sets without any note, which cannot tell how its messages compare with notes.
    So that neither wins by its kind, the gain is taken back from all of them alike.
    """
    known = names()
    talk = np.array([name.startswith("conversation.") and name.endswith("_speaker") for name in known])
    spoken = known.index(BALANCE)
    gains = np.concatenate(
        [
            (block.signs @ np.where(talk, weights, 0.0))[(block.target > 0) & (block.signs[:, spoken] > 0)]
            for block in blocks
        ]
    )
    return float(gains.mean()) if len(gains) else 0.0


def _is_out(name: str, weight: float) -> bool:
    return abs(weight) < LEAST or _violation(name, weight) > 0


def _violation(name: str, weight: float) -> float:
    if name in NEVER_BELOW_0 and weight < 0:
        return -weight
    return weight if name in NEVER_ABOVE_0 and weight > 0 else 0.0


@dataclass(frozen=True, slots=True)
class _Block:
    """The examples of a set in one matrix."""

    signs: Floats
    target: Floats
    group: NDArray[np.int64]
    starts: NDArray[np.int64]
    weight: float
    """Of one example."""

    @classmethod
    def of(cls, training: TrainingSet) -> _Block:
        examples = [each for each in training.examples if each.relevant.any()]
        counts = [len(each.relevant) for each in examples]
        return cls(
            np.concatenate([each.signs for each in examples]),
            np.concatenate([each.relevant / each.relevant.sum() for each in examples]),
            np.repeat(np.arange(len(examples)), counts),
            np.cumsum([0, *counts[:-1]]),
            training.weight / len(examples),
        )

    def likelihoods(self, weights: Floats) -> tuple[Floats, Floats]:
        """Return the share of each candidate in the softmax, and its logarithm."""
        scores = SHARPNESS * (self.signs @ weights)
        scores -= np.maximum.reduceat(scores, self.starts)[self.group]
        total = np.add.reduceat(np.exp(scores), self.starts)[self.group]
        logarithm = scores - np.log(total)
        return np.exp(logarithm), logarithm


def _loss(blocks: Sequence[_Block], weights: Floats) -> float:
    return float(sum(-block.weight * (block.target @ block.likelihoods(weights)[1]) for block in blocks))


def _minimum(blocks: Sequence[_Block], prior: Floats, used: NDArray[np.bool_], penalty: float) -> Floats:
    """Minimise by Newton's method with halved steps; unused weights stay at 0."""
    weights = np.where(used, prior, 0.0)
    target = weights.copy()

    def whole(values: Floats) -> float:
        return _loss(blocks, values) + penalty * float(((values - target) ** 2).sum())

    value = whole(weights)
    for _ in range(_STEPS):
        slope = 2 * penalty * (weights - target)
        curve = 2 * penalty * np.eye(len(weights))
        for block in blocks:
            share, _logarithm = block.likelihoods(weights)
            scaled = SHARPNESS * block.signs
            slope += block.weight * (scaled.T @ (share - block.target))
            means = np.add.reduceat(scaled * share[:, None], block.starts)
            curve += block.weight * ((scaled * share[:, None]).T @ scaled - means.T @ means)
        step = np.zeros_like(weights)
        step[used] = np.linalg.solve(curve[np.ix_(used, used)], slope[used])
        size = 1.0
        while (after := whole(weights - size * step)) > value and size > 1e-6:
            size /= 2
        weights, gain, value = weights - size * step, value - after, after
        if gain < _DONE:
            break
    return weights


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """Report the weights, their training data, and the figures on the held-out half."""

    fit: Fit
    held_out: Mapping[str, Mapping[str, float]]
    """NDCG@10 by set: of plain fusion, of the weights, and of weights learned without the set."""
    counts: Mapping[str, int] = field(default_factory=dict)


def train(sets: Sequence[TrainingSet], whole: Sequence[TrainingSet] = ()) -> TrainingReport:
    """Fit on half a of each set and on whole sets; judge on half b."""
    chosen = [*(each.of("a") for each in sets), *whole]
    found = fit(chosen)
    held_out: dict[str, dict[str, float]] = {}
    for place, each in enumerate(sets):
        rest = [other for at, other in enumerate(chosen) if at != place]
        judged = each.of("b").examples
        held_out[each.name] = {
            "questions": len(judged),
            "plain fusion": ndcg(judged, PRIOR),
            "learned": ndcg(judged, found.weights),
            "learned without this set": ndcg(judged, fit(rest).weights) if rest else float("nan"),
        }
    return TrainingReport(found, held_out, {each.name: len(each.examples) for each in chosen})


def sign_gains(chosen: Sequence[TrainingSet], judged: Sequence[TrainingSet]) -> dict[str, dict[str, float]]:
    """Return what each sign gains on each judged set: NDCG@10 with it, minus that of a fit without it."""
    found = fit(chosen)
    gains = {}
    for name in found.weights:
        if name != BALANCE:
            less = fit(chosen, without=name).weights
            gains[name] = {
                each.name: round(100 * (ndcg(each.examples, found.weights) - ndcg(each.examples, less)), 2)
                for each in judged
            }
    return gains


def ndcg(examples: Sequence[Example], weights: Mapping[str, float], at: int = 10) -> float:
    """Return the mean NDCG of the first places by score; ties keep the order of the candidates."""
    vector = np.array([weights.get(name, 0.0) for name in names()])
    discount = 1 / np.log2(np.arange(2, at + 2))
    values = []
    for each in examples:
        first = each.relevant[np.argsort(-(each.signs @ vector), kind="stable")][:at]
        values.append(float(first @ discount[: len(first)]) / discount[: min(each.total, at)].sum())
    return float(np.mean(values)) if values else float("nan")


def training_json(report: TrainingReport, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the file that the package ships: weights and the facts of the run."""
    return {
        "weights": nested(report.fit.weights),
        "facts": {
            "method": "listwise logistic regression, half a of each set",
            "penalty": PENALTY,
            "sharpness": SHARPNESS,
            "examples": dict(report.counts),
            "loss": round(report.fit.loss, 4),
            "loss of plain fusion": round(report.fit.prior_loss, 4),
            "NDCG@10 on half b": {
                name: {key: round(value, 4) for key, value in row.items()}
                for name, row in report.held_out.items()
            },
            **facts,
        },
    }


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    out = Path(ranking_package.__path__[0]) / FILE
    sets: list[TrainingSet] = []
    whole: list[TrainingSet] = []
    files: dict[str, str] = {}
    with cached_models(Settings(store=out, model=options.model), options.cache) as models:
        for into, paths in ((sets, options.paths), (whole, options.whole)):
            for path in paths:
                loaded = load_for_fitting(path)
                for dataset in loaded:
                    print(f"{dataset.name} …", flush=True)
                    examples = list(collect(dataset, models))
                    into.append(TrainingSet(dataset.name, examples, 1 / len(loaded)))
                    files |= {f"{dataset.name}/{name}": sha for name, sha in dataset_files(dataset).items()}
    if options.signs is not None:
        taught = [*(each.of("a") for each in sets), *whole]
        gains = sign_gains(taught, [each.of("b") for each in sets])
        run = {"date": options.date, "files": files, "gains": gains}
        options.signs.write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")
    report = train(sets, whole)
    facts = {"date": options.date, "files": files}
    out.write_text(json.dumps(training_json(report, facts), indent=1) + "\n", encoding="utf-8")
    for name, row in report.held_out.items():
        print(name, ", ".join(f"{key} {value:.3f}" for key, value in row.items()))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Learn the weights of the profile recollect.")
    parser.add_argument("paths", type=Path, nargs="+", help="judged sets; half a of each is learned from")
    parser.add_argument("--whole", type=Path, action="append", default=[], help="a set to learn from whole")
    parser.add_argument("--date", required=True, help="date of the run, for the file")
    parser.add_argument("--signs", type=Path, help="write there what each sign gains on half b of each set")
    parser.add_argument("--model", default="auto", help="the setting `model` of the stores")
    parser.add_argument("--cache", type=Path, help="folder that keeps vectors between runs")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
