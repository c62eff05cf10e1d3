"""Does a memory know when it does not know: confidence where the answer is there, and where it is not.

present   a judged question, as it is
removed   the same, its answers taken out of the store, and nothing else
other     a question of another haystack, or of another data set
unsaid    a question that the data set itself calls unanswerable
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.changes import Forget, Restore
from recollect.engine.lots import lot
from recollect.errors import InvalidInput
from recollect.rank.confidence import auroc
from recollect.rank.likely import UNLIKELY
from recollect_bench.haystack_store import open_haystack

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.engine.results import Answer
    from recollect.factors.candidates import Flags, Floats
    from recollect.ports import Embedder
    from recollect_bench.asking import Watching
    from recollect_bench.datasets import Dataset, Haystack, Question

PRESENT = "present"
ABSENT = ("removed", "other", "unsaid")
BINS = 10
_DEPTH = 50
_HITS = 10
"""Hits whose own confidence is measured, of each question that has an answer."""


@dataclass(frozen=True, slots=True)
class Sureness:
    """One answer, and what simple means would have said."""

    kind: str
    scores: Mapping[str, float]
    """By the name of the means."""
    hits: tuple[tuple[float, bool], ...] = ()
    """Of the first hits: the confidence, and whether it was relevant."""


@dataclass(frozen=True, slots=True)
class Abstention:
    """What came of one data set."""

    name: str
    counts: Mapping[str, int]
    auroc: Mapping[str, Mapping[str, float]]
    """By the means, then by the kind of absent question."""
    error: Mapping[str, float]
    """Calibration error of the answers' confidence, by the kind of absent question."""
    brier: Mapping[str, float]
    below: Mapping[str, float]
    """By kind of question: how many would be told that nothing seems to answer."""
    hits: Mapping[str, float] = field(default_factory=dict)
    """Of single hits: `auroc`, `error`, `brier`, and the share of relevant ones."""


def measure(
    datasets: Sequence[Dataset],
    embedder: Embedder,
    *,
    profile: str = "recollect",
    calibrate: bool = True,
    most: int | None = None,
    watching: Callable[[str], Watching | None] = lambda _: None,
) -> tuple[Abstention, ...]:
    """Ask every data set; with `most`, so many questions of each haystack, by lot."""
    return tuple(
        summed(
            dataset.name,
            [
                each
                for haystack in dataset.haystacks
                for each in _asked(
                    haystack,
                    _elsewhere(haystack, dataset, datasets),
                    embedder,
                    _Way(profile, calibrate, most, watching(dataset.name)),
                )
            ],
        )
        for dataset in datasets
    )


@dataclass(frozen=True, slots=True)
class _Way:
    profile: str
    calibrate: bool
    most: int | None
    watching: Watching | None


def summed(name: str, asked: Sequence[Sureness]) -> Abstention:
    present = [each for each in asked if each.kind == PRESENT]
    kinds = [kind for kind in ABSENT if any(each.kind == kind for each in asked)]
    if not present or not kinds:
        raise InvalidInput(f"{name} has no question that points to a text in it.")

    def column(kind: str, means: str) -> Floats:
        return np.array([each.scores[means] for each in asked if each.kind == kind])

    def error(measured: Callable[[Floats, Flags], float], kind: str) -> float:
        pair = column(PRESENT, "confidence"), column(kind, "confidence")
        return measured(np.concatenate(pair), np.repeat([True, False], [len(one) for one in pair]))

    return Abstention(
        name=name,
        counts={kind: sum(each.kind == kind for each in asked) for kind in (PRESENT, *kinds)},
        auroc={
            means: {kind: auroc(column(PRESENT, means), column(kind, means)) for kind in kinds}
            for means in present[0].scores
        },
        error={kind: error(calibration_error, kind) for kind in kinds},
        brier={kind: error(brier, kind) for kind in kinds},
        below={kind: float((column(kind, "confidence") < UNLIKELY).mean()) for kind in (PRESENT, *kinds)},
        hits=_of_hits([pair for each in present for pair in each.hits]),
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


def _of_hits(pairs: Sequence[tuple[float, bool]]) -> dict[str, float]:
    if not pairs:
        return {}
    probability, true = np.array([one for one, _ in pairs]), np.array([two for _, two in pairs])
    return {
        "auroc": auroc(probability[true], probability[~true]),
        "error": calibration_error(probability, true),
        "brier": brier(probability, true),
        "relevant": float(true.mean()),
    }


def _elsewhere(haystack: Haystack, dataset: Dataset, datasets: Sequence[Dataset]) -> list[str]:
    """Questions about other things: of the data set's other haystacks, else of the other data sets."""
    here = [other for other in dataset.haystacks if other is not haystack]
    there = [other for each in datasets if each is not dataset for other in each.haystacks]
    texts = {document.text for document in haystack.documents}
    ids = {question.id for question in haystack.questions}

    def shared(other: Haystack) -> bool:
        """The same texts, or the same questions in another language, are no other things."""
        # Where questions are only counted, two that have the same number have nothing in common.
        asked = sum(question.id in ids and not question.id.isdigit() for question in other.questions)
        return any(document.text in texts for document in other.documents) or 2 * asked > len(other.questions)

    strange = [other for other in here or there if here or not shared(other)]
    asked = [question.text for other in strange for question in other.questions]
    return sorted(dict.fromkeys(asked), key=lambda text: lot("elsewhere", text))


def _asked(haystack: Haystack, elsewhere: Sequence[str], embedder: Embedder, way: _Way) -> Iterator[Sureness]:
    judged = _some([question for question in haystack.questions if question.judged], way.most)
    unsaid = _some([question for question in haystack.questions if not question.answerable], way.most)
    if not judged:
        return
    storing = None if way.watching is None else way.watching.storing
    with (
        tempfile.TemporaryDirectory(prefix="recollect-bench-") as folder,
        open_haystack(haystack, embedder, Path(folder), progress=storing) as (engine, document_of),
    ):
        if way.calibrate:
            engine.upkeep.calibrate()
        for done, question in enumerate(judged, start=1):
            answers = {id_ for id_, document in document_of.items() if document in question.relevant}
            yield _judged(PRESENT, _ask(engine, question.text, way), answers)
            with _without(engine, answers):
                yield _judged("removed", _ask(engine, question.text, way))
            if way.watching is not None and way.watching.asking is not None:
                way.watching.asking(done, len(judged))
        for text in elsewhere[: len(judged)]:
            yield _judged("other", _ask(engine, text, way))
        for question in unsaid:
            yield _judged("unsaid", _ask(engine, question.text, way))


def _some(questions: Sequence[Question], most: int | None) -> Sequence[Question]:
    return sorted(questions, key=lambda question: lot("some", question.id))[:most] if most else questions


@contextmanager
def _without(engine: Engine, ids: set[int]) -> Iterator[None]:
    """The store without these memories, as if they had never been told; then as it was."""
    engine.store.apply([Forget(engine.scope, ids=tuple(sorted(ids)))], at=engine.parts.clock())
    yield
    engine.store.apply([Restore(engine.scope, id_) for id_ in sorted(ids)], at=engine.parts.clock())


def _ask(engine: Engine, text: str, way: _Way) -> Answer:
    return engine.recall(text, limit=_DEPTH, profile=way.profile, record=False)


def _judged(kind: str, answer: Answer, relevant: set[int] | None = None) -> Sureness:
    cosine, bm25 = (
        np.array([hit.places[search].score for hit in answer.hits if search in hit.places])
        for search in ("meaning", "words")
    )
    spread = float(cosine.std()) if len(cosine) > 1 else 0.0
    best = float(cosine.max(initial=0.0))
    hits = () if relevant is None else answer.hits[:_HITS]
    return Sureness(
        kind,
        {
            "confidence": answer.confidence or 0.0,
            "cosine": best,
            "cosine, z": (best - float(cosine.mean())) / spread if spread else 0.0,
            "bm25": float(bm25.max(initial=0.0)),
        },
        tuple((hit.confidence or 0.0, hit.memory.id in (relevant or ())) for hit in hits),
    )


def plain(results: Sequence[Abstention]) -> list[dict[str, Any]]:
    """For machines."""
    return [
        {
            "data": each.name,
            "questions": dict(each.counts),
            "auroc": {means: dict(of) for means, of in each.auroc.items()},
            "calibration_error": dict(each.error),
            "brier": dict(each.brier),
            "below": dict(each.below),
            "hits": dict(each.hits),
        }
        for each in results
    ]
