"""The confidence of an answer, from what a recall has read, and how many of its hits are worth reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text
from recollect.engine.results import Hit
from recollect.lazy_dataclass import dataclass
from recollect.ports import Vector
from recollect.ranking.candidates import Candidates, Floats, Ints, known_or_zero
from recollect.ranking.confidence import (
    JUDGED,
    MOST_TERMS,
    ConfidenceInput,
    QueryTerms,
    estimate_confidence,
    weigh_query_terms,
)
from recollect.ranking.confidence_weights import fitted_confidence
from recollect.records import Memory
from recollect.text.answer_shapes import answer_shape, has_shape
from recollect.text.stems import matched_terms
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.retrieval.gather import Gathered
    from recollect.retrieval.search import Search

_OF_THAT_TIME = 0.95
"""Of what happened in a time that a query asks for without asking for anything else."""
# A hit that is less likely than this, and less than this part of the best one, is not worth reading unasked.
_WORTH_READING = 0.03
_WORTH_OF_BEST = 1 / 8


@dataclass(frozen=True, slots=True)
class AnswerConfidence:
    """The confidence of each hit of an answer, and of the answer."""

    hits: Mapping[int, float]
    answer: float


@dataclass(frozen=True, slots=True)
class Ranking:
    """A whole ranking, best first, whatever it was cut to."""

    ids: Ints
    score: Floats

    @classmethod
    def of(cls, ranked: Candidates) -> Ranking:
        cut = [removal for removal in ranked.removals if removal.step == "cut"]
        return cls(
            np.concatenate([ranked.ids, *(removal.ids for removal in cut)]),
            np.concatenate([ranked.score, *(removal.scores for removal in cut)]),
        )


def memories_to_read(ranked: Candidates) -> list[int]:
    """The memories to load for it: those shown, and the first of the ranking."""
    return sorted({*ranked.ids.tolist(), *Ranking.of(ranked).ids[:JUDGED].tolist()})


def answer_confidence(
    search: Search, gathered: Gathered, ranked: Candidates, memories: Mapping[int, Memory]
) -> AnswerConfidence:
    """Of these memories: those shown, and the first of the ranking."""
    query = gathered.query
    inputs, terms = confidence_input(search, gathered, ranked, memories)
    model = None if query.vector is None or search.model is None else search.model[1].name
    done = estimate_confidence(inputs, terms, *fitted_confidence().for_model(model))
    hits, answer = done.hits, done.answer
    if query.only_time:
        then = gathered.candidates.source("then").score > 0
        hits = np.where(then[inputs.rows], _OF_THAT_TIME, hits)
        answer = max(answer, _OF_THAT_TIME) if then[inputs.rows[: inputs.first]].any() else answer
    ids = gathered.candidates.ids[inputs.rows].tolist()
    return AnswerConfidence(dict(zip(ids, hits.tolist(), strict=True)), answer)


def confidence_input(
    search: Search, gathered: Gathered, ranked: Candidates, memories: Mapping[int, Memory]
) -> tuple[ConfidenceInput, QueryTerms]:
    candidates, query = gathered.candidates, gathered.query
    ranking = Ranking.of(ranked)
    order = np.searchsorted(candidates.ids, ranking.ids)
    first = order[:JUDGED].tolist()
    shown = np.searchsorted(candidates.ids, sorted(memories)).tolist()
    rows = np.array(list(dict.fromkeys([*first, *shown])), np.int64)
    read = [memories[id_] for id_ in candidates.ids[rows].tolist()]
    texts = [f"{memory.speaker or ''} {memory_text(memory)}" for memory in read]
    terms = _weighted_terms(search, query)
    shape = answer_shape(query.text)
    cosine = candidates.source("meaning").score
    inputs = ConfidenceInput(
        cosine=cosine,
        bm25=candidates.source("words").score,
        order=order,
        score=ranking.score,
        rows=rows,
        first=len(first),
        kinds=[memory.kind for memory in read],
        matched=[matched_terms(text, terms.weights.keys()) for text in texts],
        near=_cosines(search, cosine, rows, candidates.ids, query.vector),
        fits=np.array([shape is None or has_shape(text, shape) for text in texts], bool),
        timed=_time_fit(candidates)[rows],
    )
    return inputs, terms


def _weighted_terms(search: Search, query: Query) -> QueryTerms:
    """The query's terms, each weighed by how many texts contain it."""
    texts, counts = search.document_counts(query_terms(query.search_text, MOST_TERMS))
    time_words = "" if query.time is None else query.text[slice(*query.time.place)]
    return weigh_query_terms(query.search_text, counts, texts, time_words)


def _time_fit(candidates: Candidates) -> Floats:
    """How well each is of the time that the query speaks of: from 0 to 1, and 0 where it speaks of none."""
    return known_or_zero(candidates.source("time").score)


def confident_hits(hits: tuple[Hit, ...], least: float | None) -> tuple[Hit, ...]:
    """Those that are as likely as that; those of which nobody can tell stay."""
    if least is None:
        return hits
    return tuple(hit for hit in hits if hit.confidence is None or hit.confidence >= least)


def hits_worth_reading(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The first hits up to the last that is worth reading, and one at the least.

    No hit is left out between two that are shown: the order is the ranking's, and a page goes on where the
    one before it ended.
    """
    best = max((hit.confidence or 0.0 for hit in hits), default=0.0)
    least = max(_WORTH_READING, _WORTH_OF_BEST * best)
    worth = [place for place, hit in enumerate(hits, start=1) if (hit.confidence or 0.0) >= least]
    return tuple(hits[: max(worth, default=1)])


def _cosines(search: Search, cosine: Floats, rows: Ints, ids: Ints, vector: Vector | None) -> Floats:
    """Of these rows, also of those that were too far down for the search by meaning."""
    near = cosine[rows]
    if vector is None:
        return near
    far = np.flatnonzero(~np.isfinite(near))
    if len(far):
        place_of = dict(zip(ids[rows[far]].tolist(), far.tolist(), strict=True))
        for hit in search.snapshot.cosines(vector, sorted(place_of)):
            near[place_of[hit.id]] = hit.score
    return near
