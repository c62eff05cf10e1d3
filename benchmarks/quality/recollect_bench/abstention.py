"""Measure confidence for questions whose answer is in the store and for questions without one.

present   a judged question, as it is
removed   the same question, with only its answers removed from the store
other     a question of another haystack, or of another data set
unsaid    a question that the data set itself calls unanswerable; also counted by category
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.errors import InvalidInput
from recollect.domain.numbers import auroc, hash_number
from recollect_bench.datasets import halved
from recollect_bench.haystack_store import open_haystack
from recollect_bench.reliability import JudgedHit, Tenth, by_kind
from recollect_bench.runs import Monitors

if TYPE_CHECKING:
    from recollect.domain.results import Answer
    from recollect.ranking.candidates import Flags, Floats
    from recollect_bench.datasets import Dataset, Haystack, Question
    from recollect_bench.halves import Half
    from recollect_bench.haystack_store import StoredHaystack
    from recollect_bench.models import Models

PRESENT, REMOVED, OTHER, UNSAID = "present", "removed", "other", "unsaid"
BINS = 10
_LIMIT = 10
_COUNTED = re.compile(r"[a-z]?\d+", re.IGNORECASE)
"""An id that is only the number of the question in its set."""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """The confidence of one answer, and the scores of simple methods."""

    kind: str
    scores: Mapping[str, float]
    """Scores by method."""
    doubtful: bool = False
    """Whether the answer said that nothing seems to match."""
    hits: tuple[JudgedHit, ...] = ()
    """Hits of the data set's own questions, answerable or not."""
    category: str = ""


@dataclass(frozen=True, slots=True)
class Abstention:
    """The figures of one data set, as the JSON has them."""

    data: str
    questions: Mapping[str, int]
    """Number of questions by kind."""
    auroc: Mapping[str, Mapping[str, float]]
    """AUROC by method and kind of absent question."""
    calibration_error: Mapping[str, float]
    """Calibration error of the answers' confidence, by the kind of absent question."""
    brier: Mapping[str, float]
    told_nothing: Mapping[str, float]
    """Share of answers that said nothing seems to match, by kind of question."""
    hits: Mapping[str, float] = field(default_factory=dict)
    """Figures for single hits: `auroc`, `error`, `brier`, and the share of relevant ones."""
    reliability: Mapping[str, tuple[Tenth, ...]] = field(default_factory=dict)
    """Single hits in tenths of their confidence, by the kind of memory."""


@dataclass(frozen=True, slots=True)
class AbstentionOptions:
    profile: str | None = None
    """Profile that ranks the hits (default: the default profile)."""
    most: int | None = None
    """Number of questions to sample from each haystack (default: all)."""
    absent: int | None = None
    """Number of those to ask again with the answer removed (default: all)."""
    half: Half | None = None
    """Only the questions of this half."""


def measure_abstention(
    datasets: Sequence[Dataset],
    models: Models,
    options: AbstentionOptions | None = None,
    monitors: Monitors | None = None,
) -> tuple[Abstention, ...]:
    options = options or AbstentionOptions()
    if options.half is not None:
        datasets = halved(datasets, options.half)
    return tuple(
        summarize_abstention(
            dataset.name,
            [
                answer
                for haystack in dataset.haystacks
                for answer in _answers(
                    haystack,
                    _questions_elsewhere(haystack, dataset, datasets),
                    models,
                    options,
                    monitors or Monitors(),
                )
            ],
        )
        for dataset in datasets
    )


def summarize_abstention(name: str, answers: Sequence[ScoredAnswer]) -> Abstention:
    groups = _groups(answers)
    present = groups.pop(PRESENT, [])
    if not present or not groups:
        raise InvalidInput(f"{name} has no question that points to a text in it.")

    def column(group: Sequence[ScoredAnswer], method: str = "confidence") -> Floats:
        return np.array([each.scores[method] for each in group])

    def error(formula: Callable[[Floats, Flags], float], group: Sequence[ScoredAnswer]) -> float:
        truth = np.repeat([True, False], [len(present), len(group)])
        return formula(np.concatenate([column(present), column(group)]), truth)

    hits = [hit for each in answers for hit in each.hits]
    return Abstention(
        data=name,
        questions={kind: len(group) for kind, group in ((PRESENT, present), *groups.items())},
        auroc={
            method: {
                kind: auroc(column(present, method), column(group, method)) for kind, group in groups.items()
            }
            for method in answers[0].scores
        },
        calibration_error={kind: error(calibration_error, group) for kind, group in groups.items()},
        brier={kind: error(brier, group) for kind, group in groups.items()},
        told_nothing={
            kind: float(np.mean([each.doubtful for each in group]))
            for kind, group in ((PRESENT, present), *groups.items())
        },
        hits=_hit_figures(hits),
        reliability=by_kind(hits),
    )


def _groups(answers: Sequence[ScoredAnswer]) -> dict[str, list[ScoredAnswer]]:
    """Group the answers by kind, and unanswerable ones also by category if there are several."""
    groups = {
        kind: found
        for kind in (PRESENT, REMOVED, OTHER, UNSAID)
        if (found := [each for each in answers if each.kind == kind])
    }
    categories = sorted({each.category for each in groups.get(UNSAID, ())})
    if len(categories) > 1:
        for category in categories:
            groups[f"{UNSAID}: {category}"] = [each for each in groups[UNSAID] if each.category == category]
    return groups


def calibration_error(probability: Floats, true: Flags, bins: int = BINS) -> float:
    """Return the mean distance of probability and true share, over bins of equal size.

    Equal probabilities go together, into the bin of the middle one: otherwise the order in which they come
    would part the true from the others.
    """
    _, which, counts = np.unique(probability, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    part = (middle * bins / len(probability)).astype(np.int64)[which]
    return float(np.abs(np.bincount(part, weights=probability - true)).sum() / len(probability))


def brier(probability: Floats, true: Flags) -> float:
    """Return the mean squared difference of the probability and the outcome (1 or 0)."""
    return float(np.mean((probability - true) ** 2))


def _hit_figures(hits: Sequence[JudgedHit]) -> dict[str, float]:
    if not hits:
        return {}
    probability, true = np.array([hit.confidence for hit in hits]), np.array([hit.right for hit in hits])
    return {
        "auroc": auroc(probability[true], probability[~true]),
        "error": calibration_error(probability, true),
        "brier": brier(probability, true),
        "relevant": float(true.mean()),
    }


def _questions_elsewhere(haystack: Haystack, dataset: Dataset, datasets: Sequence[Dataset]) -> list[str]:
    """Return questions about other things: from the set's other haystacks, else from other sets."""
    here = [other for other in dataset.haystacks if other is not haystack]
    there = [other for each in datasets if each is not dataset for other in each.haystacks]
    texts = {document.text for document in haystack.documents}
    ids = {question.id for question in haystack.questions}

    def overlaps(other: Haystack) -> bool:
        """Return whether a haystack has neither the same texts nor the same questions in another language."""
        # If ids are only numbers, equal ids do not mean the same question.
        same = sum(question.id in ids and not _COUNTED.fullmatch(question.id) for question in other.questions)
        return any(document.text in texts for document in other.documents) or 2 * same > len(other.questions)

    others = here or [other for other in there if not overlaps(other)]
    asked = [question.text for other in others for question in other.questions]
    return sorted(dict.fromkeys(asked), key=lambda text: hash_number("elsewhere", text))


def _answers(
    haystack: Haystack,
    elsewhere: Sequence[str],
    models: Models,
    options: AbstentionOptions,
    monitors: Monitors,
) -> Iterator[ScoredAnswer]:
    judged = _sample(haystack.judged_questions, options.most)
    removed = {question.id for question in _sample(judged, options.absent)}
    unsaid = _sample([question for question in haystack.questions if not question.answerable], options.most)
    if not judged:
        return
    asked = sorted((*judged, *unsaid), key=haystack.asked_after)
    with open_haystack(haystack, models, progress=monitors.storing) as stored:
        for count, question in enumerate(asked, start=1):
            stored.advance(question)
            relevant = stored.canonical(question.relevant)
            kind = PRESENT if question.answerable else UNSAID
            yield _ask(stored, question.text, kind, options, relevant, question.category)
            if question.id in removed:
                with stored.without(relevant):
                    answer = _ask(stored, question.text, REMOVED, options)
                yield answer
            if monitors.asking is not None:
                monitors.asking(count, len(asked))
        stored.fill()
        stored.set_clock(None)
        for text in elsewhere[: len(judged)]:
            yield _ask(stored, text, OTHER, options)


def _sample(questions: Sequence[Question], most: int | None) -> Sequence[Question]:
    if most is None:
        return questions
    return sorted(questions, key=lambda question: hash_number("some", question.id))[:most]


def _ask(
    stored: StoredHaystack,
    text: str,
    kind: str,
    options: AbstentionOptions,
    relevant: frozenset[str] | None = None,
    category: str = "",
) -> ScoredAnswer:
    """Without what is relevant, the hits are not judged."""
    named: dict[str, Any] = {} if options.profile is None else {"profile": options.profile}
    answer = stored.engine.recall(text, limit=_LIMIT, record=False, **named)
    judged = [
        JudgedHit(
            hit.memory.kind.value, hit.confidence or 0.0, stored.document(hit.memory) in (relevant or ())
        )
        for hit in answer.hits
    ]
    hits = () if relevant is None else tuple(judged)
    return ScoredAnswer(kind, _scores(answer), answer.doubtful, hits, category)


def _scores(answer: Answer) -> dict[str, float]:
    cosine, bm25 = (
        np.array([hit.places[search].score for hit in answer.hits if search in hit.places])
        for search in ("meaning", "words")
    )
    spread = float(cosine.std()) if len(cosine) > 1 else 0.0
    best = float(cosine.max(initial=0.0))
    return {
        "confidence": answer.confidence or 0.0,
        "cosine": best,
        "cosine, z": (best - float(cosine.mean())) / spread if spread else 0.0,
        "bm25": float(bm25.max(initial=0.0)),
    }
