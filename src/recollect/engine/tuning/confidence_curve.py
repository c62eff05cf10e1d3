"""How far the confidence of hits can be believed: what was stated beside what proved right."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from recollect.conditions import Equals, OneOf
from recollect.engine.recall import query_of, recall
from recollect.engine.services import Services
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress
from recollect.ranking.profiles import DEFAULT
from recollect.retrieval.answer_log import answer_page
from recollect.retrieval.filters import allowed
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.sampling import sample_ids
from recollect.text.self_questions import keyword_question

_BINS = 10
# Fewer judgements than this say nothing of ten bins.
_LEAST_JUDGED = 50
_FEW_WORDS = 4
_HITS = 5
_NEWEST = 20_000

Judge = Literal["feedback", "self-test"]


@dataclass(frozen=True, slots=True)
class ConfidenceBin:
    """Hits whose confidence lies between two bounds."""

    low: float
    high: float
    count: int
    stated: float
    """The mean confidence."""
    found: float
    """The share that proved right."""


@dataclass(frozen=True, slots=True)
class ConfidenceCurve:
    judged_by: Judge
    """feedback: by what people opened or said; self-test: by whether the first hit is the memory whose own
    words were asked with, where there is too little feedback."""
    pairs: int
    error: float
    """The mean distance between stated and found, weighted by how many hits a bin has."""
    bins: tuple[ConfidenceBin, ...]


def confidence_curve(services: Services, sample: int, progress: Progress | None = None) -> ConfidenceCurve:
    """By the last judged answers, asked again now; else by questions made of some memories."""
    judged_by: Judge = "feedback"
    pairs = list(_by_feedback(services, sample, progress))
    if len(pairs) < _LEAST_JUDGED:
        judged_by = "self-test"
        pairs = list(_by_themselves(services, sample, progress))
    return curve_of(judged_by, pairs)


def curve_of(judged_by: Judge, pairs: list[tuple[float, bool]]) -> ConfidenceCurve:
    bins = []
    for place in range(_BINS):
        low, high = place / _BINS, (place + 1) / _BINS
        inside = [pair for pair in pairs if min(_BINS - 1, int(pair[0] * _BINS)) == place]
        if inside:
            stated = sum(confidence for confidence, _ in inside) / len(inside)
            found = sum(right for _, right in inside) / len(inside)
            bins.append(ConfidenceBin(low, high, len(inside), stated, found))
    error = sum(each.count * abs(each.stated - each.found) for each in bins) / max(1, len(pairs))
    return ConfidenceCurve(judged_by, len(pairs), error, tuple(bins))


def _by_feedback(services: Services, sample: int, progress: Progress | None) -> Iterator[tuple[float, bool]]:
    with services.read() as view:
        scope = Equals("scope_id", scope_id(view, services.scope))
        judged = {answer for (answer,) in view.rows("feedback", ("shadow_id",))}
        answers = answer_page(view, (scope, OneOf("id", sorted(judged))), sample)
    for done, answer in enumerate(answers, start=1):
        grades = {memory: grade for memory, _, grade in answer.feedback}
        if answer.query.strip():
            for id_, confidence in _confidences(services, answer.query, max(1, len(answer.shown))).items():
                if id_ in grades:
                    yield confidence, grades[id_] > 0
        if progress is not None:
            progress(done, len(answers))


def _by_themselves(
    services: Services, sample: int, progress: Progress | None
) -> Iterator[tuple[float, bool]]:
    with services.read() as view:
        own = allowed(services.found_now(), services.scope_ids(view))
        newest = view.rows("memory", ("id",), own, newest_first=True, limit=_NEWEST)
        chosen = sample_ids(sorted(id_ for (id_,) in newest), 0, sample)
        memories = memories_by_id(view, chosen)
    for done, memory in enumerate(memories.values(), start=1):
        query = keyword_question(memory, _FEW_WORDS)
        if query:
            found = _confidences(services, query, _HITS)
            if found:
                first = next(iter(found))
                yield found[first], first == memory.id
        if progress is not None:
            progress(done, len(memories))


def _confidences(services: Services, query: str, limit: int) -> dict[int, float]:
    """Hits, best first, as far as they were judged. It leaves no trace."""
    profile = services.all_profiles[DEFAULT]
    answer = recall(services, query_of(services, query, profile, limit=limit, record=False), profile)
    return {hit.memory.id: hit.confidence for hit in answer.hits if hit.confidence is not None}
