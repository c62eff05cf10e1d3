"""Steps that add up the evidence for a candidate: its meaning, its words, its tokens, its talk, its kind.

Each number is the weight of one sign, and each sign lies in [0, 1] or nearly so. The weights of the profile
`recollect` are learned: `benchmarks/quality/recollect_bench/training.py` fits them on public data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import (
    ASSISTANT,
    SPEAKER,
    USER,
    Candidates,
    Floats,
    Ints,
    Source,
    known_or_zero,
    rescaled,
)
from recollect.ranking.steps.finish import drawn_rows
from recollect.ranking.steps.fuse import stretched_cosine, words_share
from recollect.records import Kind

if TYPE_CHECKING:
    from recollect.query import Query

_RANK_K = 10.0
"""The smoothing of places: the first counts 1, the eleventh 0.52, the hundredth 0.1."""
_LONG = 2_000
"""Letters; a longer text counts as one of this length."""
_ENTITY = tuple(Kind).index(Kind.ENTITY)


@dataclass(frozen=True, slots=True)
class MeaningScore:
    """cosine * the cosine, stretched to [0, 1] over the candidates, + rank * 11 / (10 + place)."""

    cosine: float = 0.6
    rank: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        source = candidates.source("meaning")
        values = self.cosine * stretched_cosine(candidates) + self.rank * place_share(source)
        return candidates.with_change("meaning", "plus", values)


@dataclass(frozen=True, slots=True)
class WordScore:
    """bm25 * BM25 / the best BM25 + rank * 11 / (10 + place) + share * the matched share of the query."""

    bm25: float = 0.4
    rank: float = 0.0
    share: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        words = self.bm25 * words_share(candidates) + self.rank * place_share(candidates.source("words"))
        candidates = candidates.with_change("words", "plus", words)
        matched = known_or_zero(candidates.source("held").score)
        return candidates.with_change("matched words", "plus", self.share * matched)


@dataclass(frozen=True, slots=True)
class TokenScore:
    """match * the token match, stretched to [0, 1], + deviation * how far it lies above the usual one
    + rank * 11 / (10 + place).

    The deviation is in quarters of standard deviations, from -1 to 2: an outstanding match is worth more
    than the first of many alike. Where no candidate has token vectors, nothing is added to any.
    """

    match: float = 0.0
    deviation: float = 0.0
    rank: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        score = candidates.source("tokens").score
        known = ~np.isnan(score)
        if not known.any():
            return candidates
        low = candidates.lowest(np.where(known, score, np.inf))
        high = candidates.highest(np.where(known, score, -np.inf))
        stretched = np.where(known, rescaled(score, low, high), 0.0)
        values = (
            self.match * stretched
            + self.deviation * _deviation(candidates, score, known)
            + self.rank * place_share(_ranked(candidates, score, known))
        )
        return candidates.with_change("tokens", "plus", values)


@dataclass(frozen=True, slots=True)
class DrawnNotes:
    """Let a message stand for the notes that were drawn from it, and add what they match better than it.

    meaning * (the best stretched cosine of its notes - its own, where above 0), and so for words. A note and
    its message are one answer: the note goes, unless the message is no candidate.
    """

    meaning: float = 0.0
    words: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        drawn = drawn_rows(candidates)
        if not len(drawn):
            return candidates
        ids, origin = candidates.ids, candidates.facts.origin
        order = np.argsort(ids, kind="stable")
        message = order[np.searchsorted(ids[order], origin[drawn])]
        values = np.zeros(len(candidates))
        for weight, sign in (
            (self.meaning, stretched_cosine(candidates)),
            (self.words, words_share(candidates)),
        ):
            best = sign.copy()
            np.maximum.at(best, message, sign[drawn])
            values += weight * (best - sign)
        gone = np.zeros(len(candidates), bool)
        gone[drawn] = True

        def why() -> list[str]:
            return [f"memory {id_} says it" for id_ in origin[drawn].tolist()]

        return candidates.with_change("drawn notes", "plus", values).without(gone, "drawn", why)


@dataclass(frozen=True, slots=True)
class ConversationScore:
    """Add what is said around a message, by who speaks: the user, an assistant, or anybody else.

    nearby        what the neighbours say of the query / the most that any candidate's neighbours say
    conversation  what the whole conversation says / the most that any candidate's conversation says
    reply         the stretched cosine of the question that it replies to
    before, after the stretched cosine of the message before and after it, where that is a candidate
    """

    nearby_user: float = 0.0
    nearby_assistant: float = 0.0
    nearby_speaker: float = 0.0
    conversation_user: float = 0.0
    conversation_assistant: float = 0.0
    conversation_speaker: float = 0.0
    reply_user: float = 0.0
    reply_assistant: float = 0.0
    reply_speaker: float = 0.0
    before_user: float = 0.0
    before_assistant: float = 0.0
    before_speaker: float = 0.0
    after_user: float = 0.0
    after_assistant: float = 0.0
    after_speaker: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not (candidates.facts.session != 0).any():
            return candidates
        before, after = _adjacent_cosines(candidates)
        for name, sign in (
            ("nearby", words_share(candidates, "nearby")),
            ("conversation", words_share(candidates, "conversation")),
            ("reply", np.where(_replies(candidates), before, 0.0)),
            ("before", before),
            ("after", after),
        ):
            values = self._by_role(name, candidates.facts.role) * sign
            if values.any():
                candidates = candidates.with_change(f"conversation: {name}", "plus", values)
        return candidates

    def _by_role(self, name: str, role: Ints) -> Floats:
        """The weight of a sign for each candidate."""
        return _of_role(
            role,
            getattr(self, f"{name}_user"),
            getattr(self, f"{name}_assistant"),
            getattr(self, f"{name}_speaker"),
        )


@dataclass(frozen=True, slots=True)
class OriginScore:
    """Add what a candidate is worth by its kind, by who says it, and by how it is said.

    user, assistant, speaker  of messages, by who speaks
    entity        of entities
    asks_*        where a message ends with a question
    brief         1 - how much a message says by itself
    length        ln(1 + letters) / ln(1 + 2,000), at most 1; of entities 0
    """

    user: float = 0.0
    assistant: float = 0.0
    speaker: float = 0.0
    entity: float = 0.0
    asks_user: float = 0.0
    asks_assistant: float = 0.0
    asks_speaker: float = 0.0
    brief: float = 0.0
    length: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        facts = candidates.facts
        asks = _of_role(facts.role, self.asks_user, self.asks_assistant, self.asks_speaker) * facts.asks
        length = np.log1p(np.minimum(facts.length, _LONG)) / np.log1p(_LONG)
        for name, values in (
            ("said by", _of_role(facts.role, self.user, self.assistant, self.speaker)),
            ("entity", self.entity * (facts.kind == _ENTITY)),
            ("asks", asks),
            ("says little", self.brief * (1 - facts.informativeness)),
            ("length", self.length * length),
        ):
            if values.any():
                candidates = candidates.with_change(name, "plus", values.astype(np.float64))
        return candidates


def place_share(source: Source) -> Floats:
    """11 / (10 + place); 0 where the search did not find it."""
    return np.where(source.found, (_RANK_K + 1) / (_RANK_K + np.maximum(source.rank, 1)), 0.0)


def _of_role(role: Ints, user: float, assistant: float, speaker: float) -> Floats:
    weights = np.zeros(4)
    weights[[USER, ASSISTANT, SPEAKER]] = user, assistant, speaker
    return weights[role]


def _deviation(candidates: Candidates, score: Floats, known: np.ndarray) -> Floats:
    """Quarters of standard deviations above the mean of the known scores of the query, from -1 to 2."""
    values = np.where(known, score, 0.0)
    query = np.zeros(len(score), np.int64) if candidates.query is None else candidates.query
    count = np.maximum(np.bincount(query, known), 1)
    mean = np.bincount(query, values) / count
    variance = np.bincount(query, np.where(known, (values - mean[query]) ** 2, 0.0)) / count
    spread = np.sqrt(variance)[query]
    same = spread <= 0
    above = np.where(same, 0.0, (values - mean[query]) / np.where(same, 1.0, 4 * spread))
    return np.where(known, np.clip(above, -1.0, 2.0), 0.0)


def _ranked(candidates: Candidates, score: Floats, known: np.ndarray) -> Source:
    """Places by score among the known ones of each query, ties by id."""
    keys = (candidates.ids, np.where(known, -score, np.inf))
    order = np.lexsort(keys if candidates.query is None else (*keys, candidates.query))
    rank = np.zeros(len(score), np.int64)
    if candidates.query is None:
        rank[order] = np.arange(1, len(score) + 1)
    else:
        query = candidates.query[order]
        starts = np.flatnonzero(np.diff(query, prepend=-1))
        first = np.repeat(starts, np.diff(starts, append=len(query)))
        rank[order] = np.arange(len(score)) - first + 1
    return Source(np.where(known, rank, 0), score)


def _adjacent_cosines(candidates: Candidates) -> tuple[Floats, Floats]:
    """The stretched cosines of the messages before and after each; 0 where these are no candidates."""
    earlier, later = _adjacent_rows(candidates)
    cosine = stretched_cosine(candidates)
    before, after = np.zeros(len(candidates)), np.zeros(len(candidates))
    before[later] = cosine[earlier]
    after[earlier] = cosine[later]
    return before, after


def _replies(candidates: Candidates) -> np.ndarray:
    """Those that stand right behind a candidate that ends with a question."""
    earlier, later = _adjacent_rows(candidates)
    replies = np.zeros(len(candidates), bool)
    replies[later] = candidates.facts.asks[earlier]
    return replies


def _adjacent_rows(candidates: Candidates) -> tuple[Ints, Ints]:
    """Rows of two messages of which the second follows the first in its conversation."""
    facts = candidates.facts
    order = np.lexsort((facts.position, facts.session))
    earlier, later = order[:-1], order[1:]
    follows = (
        (facts.session[later] != 0)
        & (facts.session[earlier] == facts.session[later])
        & (facts.position[earlier] + 1 == facts.position[later])
    )
    return earlier[follows], later[follows]
