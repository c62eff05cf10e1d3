"""From a profile's searches to candidates: ranks by each search, and what the store knows of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.ranking.candidates import ALWAYS, NEVER, Candidates, QueryContext, Source
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.pipeline import ByContext, ByLinks, ByMeaning, ByWords
from recollect.records import Found
from recollect.retrieval.facts import cooccurrences, ranking_facts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.ports import Vector
    from recollect.ranking.candidates import ConversationContext, Facts, Ints
    from recollect.ranking.pipeline import Profile
    from recollect.records import Filter
    from recollect.retrieval.search import Search
    from recollect.text.time_phrases import TimePhrase


@dataclass(frozen=True, slots=True)
class Request:
    """One question to the store."""

    query: str
    sought: str
    """What of the query is searched for: a profile that heeds time leaves out the words that speak of it."""
    vector: Vector | None
    """Of what is sought. None: meaning is not searched."""
    where: Filter
    limit: int
    limit_given: bool
    now: int
    session: str | None = None
    """The current session, whose echoes of the query are known by it."""
    time: TimePhrase | None = None
    """The time that the query speaks of, if it does."""
    of_that_time: bool = False
    """It asks for nothing else than what was then."""

    @property
    def span(self) -> tuple[int, int] | None:
        if self.time is None:
            return None
        start, stop = self.time.start, self.time.stop
        return (
            NEVER if start is None else microseconds(start),
            ALWAYS if stop is None else microseconds(stop),
        )


@dataclass(frozen=True, slots=True)
class Gathered:
    candidates: Candidates
    moment: QueryContext
    found: Mapping[str, Sequence[Found]]
    """By the name of the search: `meaning`, `words`, `nearby`, `linked`; and `reply`, which has no order."""


def gather(search: Search, profile: Profile, request: Request, also: Sequence[int] = ()) -> Gathered:
    """Candidates in a constant number of questions, however many there are.

    `also` joins memories that no search has found, to see how they would have fared.
    """
    found: dict[str, Sequence[Found]] = {}
    told: Sequence[ConversationContext] = ()
    replies: Sequence[Found] = ()
    # The context last, wherever a profile names it: it asks for replies to what was found by meaning.
    for retriever in sorted(profile.retrieve, key=lambda each: isinstance(each, ByContext)):
        if isinstance(retriever, ByContext):
            k = retriever.take(request.limit)
            found["nearby"], told = around(search, retriever, request, k)
            # Whoever was asked the like may have answered in other words.
            asked = [hit.id for hit in found.get("meaning", ())]
            replies = [Found(id_, 0.0) for id_ in search.replies(asked)]
        elif isinstance(retriever, ByLinks):
            found["linked"] = search.by_links(request.query, request.now)[: retriever.most]
        else:
            found[_name(retriever)] = _ask(search, retriever, request)
    ids = sorted({hit.id for hits in (*found.values(), replies) for hit in hits}.union(also))
    facts = ranking_facts(search.snapshot, ids, request.query, request.session, request.now)
    sources = {name: _placed(facts.ids, hits) for name, hits in found.items()}
    candidates = Candidates(
        facts=facts,
        sources=sources
        | _around(sources.get("nearby"), told, facts)
        | _held(search, profile, request, facts.ids),
        score=np.zeros(len(facts.ids)),
    )
    moment = QueryContext(
        now=request.now,
        query=request.query,
        limit=request.limit,
        limit_given=request.limit_given,
        cooccurrences=cooccurrences(search.snapshot, ids),
        span=request.span,
    )
    return Gathered(candidates, moment, found | {"reply": replies} if replies else found)


def around(
    search: Search, retriever: ByContext, request: Request, k: int
) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
    """The best k by what stands near them. What was just asked in this session says nothing of the rest."""
    echo = None if request.session is None else (request.session, request.query)
    return search.by_neighbours(request.sought, k, retriever.within, echo)


def wider(request: Request, limit: int) -> Request:
    """The same question with a limit of the caller's own."""
    return replace(request, limit=limit, limit_given=True)


def _around(nearby: Source | None, told: Sequence[ConversationContext], facts: Facts) -> dict[str, Source]:
    """What is said around the candidates, also around those that other searches have found."""
    if nearby is None:
        return {}
    near, whole = np.zeros(len(facts.ids)), np.zeros(len(facts.ids))
    for scope in told:
        more_near, more_whole = scope.for_candidates(facts)
        near, whole = near + more_near, whole + more_whole
    return {
        "nearby": Source(nearby.rank, near),
        "conversation": Source(np.zeros_like(nearby.rank), whole),
    }


def _held(search: Search, profile: Profile, request: Request, ids: Ints) -> dict[str, Source]:
    """How much of what is sought each candidate holds."""
    if not any(isinstance(retriever, ByWords) and retriever.held for retriever in profile.retrieve):
        return {}
    shares = search.matched_shares(request.sought, ids.tolist())
    return {
        "held": Source(np.zeros(len(ids), np.int64), np.array([shares.get(id_, 0.0) for id_ in ids.tolist()]))
    }


def _name(retriever: ByMeaning | ByWords) -> str:
    return "meaning" if isinstance(retriever, ByMeaning) else "words"


def _ask(search: Search, retriever: ByMeaning | ByWords, request: Request) -> Sequence[Found]:
    if not retriever.then or request.span is None:
        return _search(search, retriever, request)
    of_that_time = _search(search, retriever, request, request.span)
    if request.of_that_time and of_that_time:
        return of_that_time
    found = _search(search, retriever, request)
    known = {hit.id for hit in found}
    more = [hit for hit in of_that_time if hit.id not in known]
    return sorted((*found, *more), key=lambda hit: (-hit.score, hit.id))


def _search(
    search: Search,
    retriever: ByMeaning | ByWords,
    request: Request,
    span: tuple[int, int] | None = None,
) -> Sequence[Found]:
    k = retriever.take(request.limit)
    if isinstance(retriever, ByWords):
        return search.by_words(request.sought, k, retriever.index, span)
    return () if request.vector is None else search.by_meaning(request.vector, k, retriever.shortlist, span)


def _placed(ids: Ints, hits: Sequence[Found]) -> Source:
    """Ranks and scores beside the candidates' ids, which ascend."""
    rank = np.zeros(len(ids), np.int64)
    score = np.full(len(ids), np.nan)
    places = np.searchsorted(ids, np.array([hit.id for hit in hits], np.int64))
    rank[places] = np.arange(1, len(hits) + 1)
    score[places] = [hit.score for hit in hits]
    return Source(rank, score)
