"""Calibration: a store asks itself, with the answer there and with it taken out, and keeps what it learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.changes import Calibrate
from recollect.engine.confidence import (
    ReadRows,
    SearchScores,
    calibration_json,
    confidence_input,
    cosines,
    first_of,
    known_scale,
    weighted_terms,
)
from recollect.engine.embedding import embedder_or_reason
from recollect.engine.memory_text import memory_text
from recollect.engine.services import Services
from recollect.ports import Progress, Snapshot, Vector
from recollect.query import Filter
from recollect.ranking.confidence import (
    Calibration,
    ConfidenceInput,
    CosineScale,
    background,
    estimate_confidence,
)
from recollect.records import Memory, Scope
from recollect.retrieval.contents import count_by_kind, memory_page
from recollect.retrieval.filters import allowed
from recollect.retrieval.records import memories_by_id, scope_ids
from recollect.retrieval.search import Search
from recollect.sampling import hash_number
from recollect.statistics import auroc
from recollect.text.near_duplicates import shares_most_stems
from recollect.text.self_questions import topic_question

if TYPE_CHECKING:
    from recollect.ranking.confidence import QueryTerms

MOST_QUESTIONS = 200
LEAST_QUESTIONS = 10
"""With fewer, what was measured elsewhere is the better guess."""
_DEPTH = 50
# Those that may say the same are near: looking so far down each list finds them.
_NEAR = 20
_LEAST_SPREAD = 0.005
_SEED = "confidence"


class CalibrationCancelled(Exception):
    """Somebody wants the memory closed."""


@dataclass(frozen=True, slots=True)
class CalibrationResult:
    """What came of it."""

    model: str
    memories: int
    calibration: Calibration | None
    """None: the store has too little to ask for."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """One question, with its answer there and without it."""

    sought: QueryTerms
    present: ConfidenceInput
    absent: ConfidenceInput


def calibrate(
    services: Services, progress: Progress | None = None, wanted: Callable[[], bool] = lambda: True
) -> CalibrationResult:
    """Ask, learn and keep; the same store learns the same, whoever asks.

    Raises `CalibrationCancelled` once `wanted` says no.
    """
    embedder, _ = embedder_or_reason(services)
    with services.store.read() as view:
        memories = how_many(view, services)
        questions = calibration_questions(view, services.scope, MOST_QUESTIONS)
    model = "" if embedder is None else embedder.model.name
    if len(questions) < LEAST_QUESTIONS:
        return CalibrationResult(model, memories, None)
    trials = []
    for done, (query, memory) in enumerate(questions, start=1):
        if not wanted():
            raise CalibrationCancelled
        # Before the store is read, so that nothing waits for it.
        vector = None if embedder is None else embedder.query(query)
        if not wanted():
            raise CalibrationCancelled
        with services.store.read() as view:
            trials.append(_trial(view, services, query, memory, vector))
        if progress is not None:
            progress(done, len(questions))
    learnt = learn(trials, model)
    services.write([Calibrate(services.scope, model, memories, calibration_json(learnt))])
    return CalibrationResult(model, memories, learnt)


def calibration_questions(view: Snapshot, scope: Scope, most: int) -> list[tuple[str, Memory]]:
    """At most so many, each with the memory that it is made of; always the same for the same store."""
    search = Search(view, Filter(scope.owner, scope.agent))

    def document_counts(terms: Sequence[str]) -> Mapping[str, int]:
        return search.document_counts(terms)[1]

    made = ((topic_question(memory, document_counts, _SEED), memory) for memory in _sample(view, scope, most))
    return [(query, memory) for query, memory in made if query is not None]


def _sample(view: Snapshot, scope: Scope, most: int) -> list[Memory]:
    """Of few memories all, else by chance: what follows a place among the ids, wherever that falls."""
    where = Filter(scope.owner, scope.agent)
    few = memory_page(view, where, 0, most + 1)
    if len(few) <= most:
        return list(few)
    ours = allowed(where, scope_ids(view, scope.owner, scope.agent))
    ((last,),) = view.rows("memory", ("id",), ours, newest_first=True, limit=1)
    found: dict[int, Memory] = {}
    for turn in range(2 * most):
        if len(found) == most:
            break
        for memory in memory_page(view, where, hash_number(_SEED, turn) % last, 1):
            found[memory.id] = memory
    return [found[id_] for id_ in sorted(found)]


def how_many(view: Snapshot, services: Services) -> int:
    return sum(count_by_kind(view, services.where()).values())


def model_of(services: Services) -> str:
    """The name of the model that answers; empty where meaning is not searched."""
    embedder, _ = embedder_or_reason(services)
    return "" if embedder is None else embedder.model.name


def learn(trials: list[_Trial], model: str) -> Calibration:
    scale = _scale([trial.absent for trial in trials], known_scale(model))
    bare = Calibration(len(trials), scale, 0.0, 0.0, 0.5)

    def totals(looked: Iterator[tuple[QueryTerms, ConfidenceInput]]) -> np.ndarray:
        return np.array(
            [estimate_confidence(each, sought, known_scale(model), bare).total for sought, each in looked]
        )

    present = totals((trial.sought, trial.present) for trial in trials)
    absent = totals((trial.sought, trial.absent) for trial in trials)
    return Calibration(
        questions=len(trials),
        scale=scale,
        absent=float(absent.mean()),
        present=float(present.mean()),
        auroc=auroc(present, absent),
    )


def _scale(absent: list[ConfidenceInput], known: CosineScale | None) -> CosineScale | None:
    """Where the cosines lie for questions that have no answer."""
    best = [float(np.nanmax(each.cosine)) for each in absent if np.isfinite(each.cosine).any()]
    if len(best) < LEAST_QUESTIONS:
        return None
    far = [value for each in absent if (value := background(each.cosine)) is not None]
    usual = known.background if known is not None else float(np.mean(best)) - 2 * float(np.std(best))
    return CosineScale(
        cosine=float(np.mean(best)),
        spread=max(float(np.std(best)), _LEAST_SPREAD),
        background=float(np.mean(far)) if far else usual,
    )


def _trial(view: Snapshot, services: Services, query: str, memory: Memory, vector: Vector | None) -> _Trial:
    search = Search(view, services.where())
    by_meaning = [] if vector is None else search.by_meaning(vector, _DEPTH)
    by_words = search.by_words(query, _DEPTH, "stemmed")
    ids = np.array(sorted({hit.id for hit in (*by_meaning, *by_words)}), np.int64)
    scored = SearchScores(np.full(len(ids), np.nan), np.full(len(ids), np.nan))
    for score, hits in ((scored.cosine, by_meaning), (scored.bm25, by_words)):
        score[np.searchsorted(ids, [hit.id for hit in hits])] = [hit.score for hit in hits]
    near = {hit.id for hit in (*by_meaning[:_NEAR], *by_words[:_NEAR])}
    memories = dict(memories_by_id(view, sorted(near)))
    stay = np.array([not _says_so(memories.get(id_), memory) for id_ in ids.tolist()], bool)
    sought = weighted_terms(search, query)

    def looked(rows: np.ndarray) -> ConfidenceInput:
        left = SearchScores(scored.cosine[rows], scored.bm25[rows])
        first = np.array(first_of(left), np.int64)
        near = cosines(search, left.cosine, first, ids[rows], vector)
        wanted = ids[rows][first].tolist()
        # Where many said the same, what is left begins further down than was read.
        known = memories | dict(memories_by_id(view, [id_ for id_ in wanted if id_ not in memories]))
        read = [known[id_] for id_ in wanted]
        return confidence_input(sought, left, ReadRows(first, len(first), near), read)

    return _Trial(sought, looked(np.ones(len(ids), bool)), looked(stay))


def _says_so(other: Memory | None, memory: Memory) -> bool:
    """Whether it is the memory, drawn from the same message, or one nearly holds the words of the other."""
    if other is None:
        return False
    if (other.drawn_from or other.id) == (memory.drawn_from or memory.id):
        return True
    return shares_most_stems(memory_text(memory), memory_text(other))
