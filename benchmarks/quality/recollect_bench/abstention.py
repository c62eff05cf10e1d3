"""Whether a memory knows what it does not know: confidence where the answer is there, and where it is not.

present   a judged question, as it is
removed   the same, its answers taken out of the store, and nothing else
other     a question of another haystack, or of another data set
unsaid    a question that the data set itself calls unanswerable
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recollect.errors import InvalidInput
from recollect.ranking.confidence_label import UNLIKELY
from recollect.sampling import hash_number
from recollect.statistics import auroc
from recollect_bench.haystack_store import open_haystack
from recollect_bench.runs import Monitors

if TYPE_CHECKING:
    from recollect.engine.results import Answer
    from recollect.ports import Embedder
    from recollect.ranking.candidates import Flags, Floats
    from recollect_bench.datasets import Dataset, Haystack, Question

PRESENT = "present"
ABSENT = ("removed", "other", "unsaid")
BINS = 10
_DEPTH = 50
_HITS = 10
"""Hits whose own confidence is measured, of each question that has an answer."""


@dataclass(frozen=True, slots=True)
class ScoredAnswer:
    """One answer's confidence, and what simple methods would have said."""

    kind: str
    scores: Mapping[str, float]
    """By method."""
    hits: tuple[tuple[float, bool], ...] = ()
    """Of the first hits: the confidence, and whether it was relevant."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """The figures of one data set, as the JSON has them."""

    data: str
    questions: Mapping[str, int]
    """How many, by kind."""
    auroc: Mapping[str, Mapping[str, float]]
    """By method, then by the kind of absent question."""
    calibration_error: Mapping[str, float]
    """Of the answers' confidence, by the kind of absent question."""
    brier: Mapping[str, float]
    below: Mapping[str, float]
    """By kind of question: how many would be told that nothing seems to answer."""
    hits: Mapping[str, float] = field(default_factory=dict)
    """Of single hits: `auroc`, `error`, `brier`, and the share of relevant ones."""


@dataclass(frozen=True, slots=True)
class AbstentionOptions:
    profile: str = "recollect"
    calibrate: bool = True
    """Let each store learn of itself first."""
    most: int | None = None
    """Ask only so many questions of each haystack, by lot."""


def measure_abstention(
    datasets: Sequence[Dataset],
    embedder: Embedder,
    options: AbstentionOptions | None = None,
    monitors: Monitors | None = None,
) -> tuple[Abstention, ...]:
    return tuple(
        summarize_abstention(
            dataset.name,
            [
                answer
                for haystack in dataset.haystacks
                for answer in _answers(
                    haystack,
                    _questions_elsewhere(haystack, dataset, datasets),
                    embedder,
                    options or AbstentionOptions(),
                    monitors or Monitors(),
                )
            ],
        )
        for dataset in datasets
    )


def summarize_abstention(name: str, answers: Sequence[ScoredAnswer]) -> Abstention:
    counts = {kind: sum(each.kind == kind for each in answers) for kind in (PRESENT, *ABSENT)}
    kinds = [kind for kind in ABSENT if counts[kind]]
    if not counts[PRESENT] or not kinds:
        raise InvalidInput(f"{name} has no question that points to a text in it.")

    def column(kind: str, method: str = "confidence") -> Floats:
        return np.array([each.scores[method] for each in answers if each.kind == kind])

    def error(formula: Callable[[Floats, Flags], float], kind: str) -> float:
        truth = np.repeat([True, False], [counts[PRESENT], counts[kind]])
        return formula(np.concatenate([column(PRESENT), column(kind)]), truth)

    return Abstention(
        data=name,
        questions={kind: counts[kind] for kind in (PRESENT, *kinds)},
        auroc={
            method: {kind: auroc(column(PRESENT, method), column(kind, method)) for kind in kinds}
            for method in answers[0].scores
        },
        calibration_error={kind: error(calibration_error, kind) for kind in kinds},
        brier={kind: error(brier, kind) for kind in kinds},
        below={kind: float((column(kind) < UNLIKELY).mean()) for kind in (PRESENT, *kinds)},
        hits=_hit_figures([pair for each in answers for pair in each.hits]),
    )


def calibration_error(probability: Floats, true: Flags, bins: int = BINS) -> float:
    """How far the mean probability lies from the share that was true, over bins of equally many.

    Equal probabilities go together, into the bin of the middle one: otherwise the order in which they come
    would part the true from the others.
    """
    _, which, counts = np.unique(probability, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    part = (middle * bins / len(probability)).astype(np.int64)[which]
    return float(np.abs(np.bincount(part, weights=probability - true)).sum() / len(probability))


def brier(probability: Floats, true: Flags) -> float:
    """The mean squared difference of the probability and what was: 1 or 0."""
    return float(np.mean((probability - true) ** 2))


def _hit_figures(pairs: Sequence[tuple[float, bool]]) -> dict[str, float]:
    if not pairs:
        return {}
    probability, true = np.array([one for one, _ in pairs]), np.array([two for _, two in pairs])
    return {
        "auroc": auroc(probability[true], probability[~true]),
        "error": calibration_error(probability, true),
        "brier": brier(probability, true),
        "relevant": float(true.mean()),
    }


def _questions_elsewhere(haystack: Haystack, dataset: Dataset, datasets: Sequence[Dataset]) -> list[str]:
    """Questions about other things: of the data set's other haystacks, else of the other data sets."""
    here = [other for other in dataset.haystacks if other is not haystack]
    there = [other for each in datasets if each is not dataset for other in each.haystacks]
    texts = {document.text for document in haystack.documents}
    ids = {question.id for question in haystack.questions}

    def overlaps(other: Haystack) -> bool:
        """The same texts, or the same questions in another language, are no other things."""
        # Where questions are only counted, two that have the same number have nothing in common.
        same = sum(question.id in ids and not question.id.isdigit() for question in other.questions)
        return any(document.text in texts for document in other.documents) or 2 * same > len(other.questions)

    others = here or [other for other in there if not overlaps(other)]
    asked = [question.text for other in others for question in other.questions]
    return sorted(dict.fromkeys(asked), key=lambda text: hash_number("elsewhere", text))


def _answers(
    haystack: Haystack,
    elsewhere: Sequence[str],
    embedder: Embedder,
    options: AbstentionOptions,
    monitors: Monitors,
) -> Iterator[ScoredAnswer]:
    judged = _sample(haystack.judged_questions, options.most)
    unsaid = _sample([question for question in haystack.questions if not question.answerable], options.most)
    if not judged:
        return
    with open_haystack(haystack, embedder, progress=monitors.storing) as stored:
        engine = stored.engine
        if options.calibrate:
            engine.upkeep.calibrate()

        def ask(text: str, kind: str, relevant: set[int] | None = None) -> ScoredAnswer:
            answer = engine.recall(text, limit=_DEPTH, profile=options.profile, record=False)
            return _scored(kind, answer, relevant)

        for count, question in enumerate(judged, start=1):
            relevant = {id_ for id_, document in stored.document_of.items() if document in question.relevant}
            yield ask(question.text, PRESENT, relevant)
            engine.forget(sorted(relevant))
            yield ask(question.text, "removed")
            for id_ in sorted(relevant):
                engine.restore(id_)
            if monitors.asking is not None:
                monitors.asking(count, len(judged))
        for text in elsewhere[: len(judged)]:
            yield ask(text, "other")
        for question in unsaid:
            yield ask(question.text, "unsaid")


def _sample(questions: Sequence[Question], most: int | None) -> Sequence[Question]:
    return (
        sorted(questions, key=lambda question: hash_number("some", question.id))[:most] if most else questions
    )


def _scored(kind: str, answer: Answer, relevant: set[int] | None) -> ScoredAnswer:
    cosine, bm25 = (
        np.array([hit.places[search].score for hit in answer.hits if search in hit.places])
        for search in ("meaning", "words")
    )
    spread = float(cosine.std()) if len(cosine) > 1 else 0.0
    best = float(cosine.max(initial=0.0))
    hits = () if relevant is None else answer.hits[:_HITS]
    return ScoredAnswer(
        kind,
        {
            "confidence": answer.confidence or 0.0,
            "cosine": best,
            "cosine, z": (best - float(cosine.mean())) / spread if spread else 0.0,
            "bm25": float(bm25.max(initial=0.0)),
        },
        tuple((hit.confidence or 0.0, hit.memory.id in (relevant or ())) for hit in hits),
    )
