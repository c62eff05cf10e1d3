"""From a profile's searches to candidates: ranks by each search, and what the store knows of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.ages import microseconds
from recollect.factors.candidates import ALWAYS, NEVER, Candidates, Moment, Source
from recollect.rank.pipeline import ByMeaning, ByWords

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.factors.candidates import Ints
    from recollect.ports import Vector, View
    from recollect.rank.pipeline import Profile, Retriever
    from recollect.records import Filter, Found
    from recollect.text.when import TimePhrase


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
    moment: Moment
    found: Mapping[str, Sequence[Found]]
    """By the name of the search: `meaning`, `words`."""


def gather(view: View, profile: Profile, request: Request, also: Sequence[int] = ()) -> Gathered:
    """Candidates in a constant number of questions, however many there are.

    `also` joins memories that no search has found, to see how they would have fared.
    """
    found = {_name(retriever): _ask(view, retriever, request) for retriever in profile.retrieve}
    ids = sorted({hit.id for hits in found.values() for hit in hits} | set(also))
    facts = view.facts(ids, request.query, request.session, request.now)
    candidates = Candidates(
        facts=facts,
        sources={name: _placed(facts.ids, hits) for name, hits in found.items()},
        score=np.zeros(len(facts.ids)),
    )
    moment = Moment(
        now=request.now,
        query=request.query,
        limit=request.limit,
        limit_given=request.limit_given,
        together=view.together(ids),
        span=request.span,
    )
    return Gathered(candidates, moment, found)


def wider(request: Request, limit: int) -> Request:
    """The same question with a limit of the caller's own."""
    return replace(request, limit=limit, limit_given=True)


def _name(retriever: Retriever) -> str:
    return "meaning" if isinstance(retriever, ByMeaning) else "words"


def _ask(view: View, retriever: Retriever, request: Request) -> Sequence[Found]:
    if not retriever.then or request.span is None:
        return _search(view, retriever, request, request.where)
    of_that_time = _search(view, retriever, request, replace(request.where, span=request.span))
    if request.of_that_time and of_that_time:
        return of_that_time
    found = _search(view, retriever, request, request.where)
    known = {hit.id for hit in found}
    more = [hit for hit in of_that_time if hit.id not in known]
    return sorted((*found, *more), key=lambda hit: (-hit.score, hit.id))


def _search(view: View, retriever: Retriever, request: Request, where: Filter) -> Sequence[Found]:
    k = retriever.take(request.limit)
    match retriever:
        case ByMeaning():
            if request.vector is None:
                return ()
            return view.by_meaning(request.vector, k, where, retriever.shortlist)
        case ByWords():
            return view.by_words(request.sought, k, where, retriever.index)


def _placed(ids: Ints, hits: Sequence[Found]) -> Source:
    """Ranks and scores beside the candidates' ids, which ascend."""
    rank = np.zeros(len(ids), np.int64)
    score = np.full(len(ids), np.nan)
    places = np.searchsorted(ids, np.array([hit.id for hit in hits], np.int64))
    rank[places] = np.arange(1, len(hits) + 1)
    score[places] = [hit.score for hit in hits]
    return Source(rank, score)
