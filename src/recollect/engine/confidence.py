"""The confidence of an answer, from what a recall has read and what the store has learnt of itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text
from recollect.engine.results import Hit
from recollect.ports import Snapshot, Vector
from recollect.ranking.candidates import NEVER, Candidates, Flags, Floats, Ints
from recollect.ranking.confidence import (
    MOST_TERMS,
    SCALES,
    Calibration,
    ConfidenceInput,
    CosineScale,
    QueryTerms,
    estimate_confidence,
    weigh_query_terms,
)
from recollect.records import Memory, Scope
from recollect.retrieval.answer_log import stored_calibration
from recollect.retrieval.passages import memory_vectors
from recollect.retrieval.records import scope_id
from recollect.text.stems import coarse_stems, matched_terms
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from recollect.retrieval.gather import Gathered
    from recollect.retrieval.search import Search

FIRST = 5
"""By each search, so many are read to tell whether there is an answer, whatever the limit."""
_OF_THAT_TIME = 0.95
"""Of what happened in a time that a query asks for without asking for anything else."""


@dataclass(frozen=True, slots=True)
class AnswerConfidence:
    """The confidence of each hit of an answer, and of the answer."""

    hits: Mapping[int, float]
    answer: float


@dataclass(frozen=True, slots=True)
class SearchScores:
    """What both searches say of the candidates; NaN where one has not found them."""

    cosine: Floats
    bm25: Floats


@dataclass(frozen=True, slots=True)
class ReadRows:
    """Candidates that are read: their rows, how many of them judge the answer, and the cosine of each."""

    rows: Ints
    first: int
    near: Floats


def memories_to_read(gathered: Gathered, shown: Sequence[int]) -> list[int]:
    """The memories to load for it: those shown, and the first of each search."""
    candidates = gathered.candidates
    first = first_of(_scored(candidates))
    return sorted({*candidates.ids[first].tolist(), *shown})


def answer_confidence(
    search: Search, scope: Scope, gathered: Gathered, memories: Mapping[int, Memory]
) -> AnswerConfidence:
    """Of these memories, which are candidates. Those that no search has found are judged too: neighbours."""
    candidates, query = gathered.candidates, gathered.query
    scored = _scored(candidates)
    first = first_of(scored)
    wanted = np.searchsorted(candidates.ids, sorted(memories)).tolist()
    rows = np.array(list(dict.fromkeys([*first, *wanted])), np.int64)
    ids = candidates.ids[rows].tolist()
    name = "" if query.vector is None or search.model is None else search.model[1].name
    near = cosines(search, scored.cosine, rows, candidates.ids, query.vector)
    question = weighted_terms(search, query.search_text)
    read = [memories[id_] for id_ in ids]
    looked = confidence_input(question, scored, ReadRows(rows, len(first), near), read)
    done = estimate_confidence(
        looked, question, known_scale(name), read_calibration(search.snapshot, scope, name)
    )
    hits, answer = done.hits, done.answer
    if query.only_time and query.span is not None:
        then = _then(candidates.facts.happened_at, candidates.facts.created_at, query.span)
        hits = np.where(then[rows], _OF_THAT_TIME, hits)
        answer = max(answer, _OF_THAT_TIME) if then.any() else answer
    return AnswerConfidence(dict(zip(ids, hits.tolist(), strict=True)), answer)


def _scored(candidates: Candidates) -> SearchScores:
    return SearchScores(candidates.source("meaning").score, candidates.source("words").score)


def weighted_terms(search: Search, query: str) -> QueryTerms:
    """The query's terms, each weighed by how many texts contain it."""
    texts, holders = search.document_counts(query_terms(query, MOST_TERMS))
    return weigh_query_terms(query, holders, texts)


def confidence_input(
    question: QueryTerms, scored: SearchScores, rows: ReadRows, memories: Sequence[Memory]
) -> ConfidenceInput:
    speakers = [coarse_stems(memory.speaker or "") for memory in memories]
    said = [
        matched_terms(f"{memory.speaker or ''} {memory_text(memory)}", question.weights.keys())
        for memory in memories
    ]
    return ConfidenceInput(scored.cosine, scored.bm25, rows.rows, rows.first, said, speakers, rows.near)


def known_scale(model: str) -> CosineScale | None:
    """What was measured of a model, in whichever revision."""
    return SCALES.get(model.partition("@")[0])


def confident_hits(hits: tuple[Hit, ...], least: float | None) -> tuple[Hit, ...]:
    """Those that are as likely as that; those of which nobody can tell stay."""
    if least is None:
        return hits
    return tuple(hit for hit in hits if hit.confidence is None or hit.confidence >= least)


def first_of(scored: SearchScores) -> list[int]:
    """The rows of the first by meaning, then of the first by words."""
    best = [row for score in (scored.cosine, scored.bm25) for row in _best(score)]
    return list(dict.fromkeys(best))


def _best(score: Floats) -> list[int]:
    found = np.flatnonzero(np.isfinite(score))
    return [int(row) for row in found[np.argsort(-score[found], kind="stable")][:FIRST]]


def cosines(search: Search, cosine: Floats, rows: Ints, ids: Ints, vector: Vector | None) -> Floats:
    """Of these rows, also of those that were too far down for the search by meaning."""
    near = cosine[rows]
    if vector is None:
        return near
    place_of = {int(ids[rows[place]]): int(place) for place in np.flatnonzero(~np.isfinite(near))}
    for memory, vectors in memory_vectors(search.snapshot, list(place_of), search.model).items():
        for each in vectors:
            near[place_of[memory]] = np.fmax(near[place_of[memory]], float(np.dot(each, vector)))
    return near


def _then(happened_at: Ints, created_at: Ints, span: tuple[int, int]) -> Flags:
    at = np.where(happened_at == NEVER, created_at, happened_at)
    within: Flags = (at != NEVER) & (at >= span[0]) & (at < span[1])
    return within


def read_calibration(view: Snapshot, scope: Scope, model: str) -> Calibration | None:
    """None: there is none yet, or it was made by a version that measured otherwise."""
    row = stored_calibration(view, scope_id(view, scope), model)
    return None if row is None else _calibration(row.value)


def calibration_json(calibration: Calibration) -> str:
    return json.dumps({"version": _VERSION, **asdict(calibration)}, sort_keys=True)


# Goes up with every change of the signs or the weights, so that nobody reads what was measured with others.
_VERSION = 2


@lru_cache(maxsize=64)
def _calibration(value: str) -> Calibration | None:
    plain = json.loads(value)
    if plain.pop("version", None) != _VERSION:
        return None
    scale = plain.pop("scale")
    return Calibration(scale=None if scale is None else CosineScale(**scale), **plain)
