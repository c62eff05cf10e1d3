"""From a profile's searches to candidates: ranks by each search, and what the store knows of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.ranking.candidates import Candidates, ConversationContext, Cooccurrences, Facts, Ints, Source
from recollect.ranking.pipeline import ByContext, ByLinks, ByMeaning, ByWords, Profile
from recollect.ranking.reads import groups_read, ignores_marks
from recollect.records import Found
from recollect.retrieval.contradictions import (
    ContradictingTexts,
    contradicting_texts,
    places_of,
    stated_times,
)
from recollect.retrieval.facts import cooccurrences, ranking_facts
from recollect.retrieval.late_interaction import token_source
from recollect.retrieval.times import shares_in_time, time_sources

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.retrieval.search import Search


@dataclass(frozen=True, slots=True)
class Gathered:
    candidates: Candidates
    query: Query
    found: Mapping[str, Sequence[Found]]
    """By the name of the search: `meaning`, `words`, `nearby`, `linked`; and `reply`, which has no order."""
    contradicting: tuple[ContradictingTexts, ...] = ()

    @property
    def nearest_passages(self) -> dict[int, int]:
        """Of each memory that the search by meaning found, the passage that was nearest."""
        by_meaning = self.found.get("meaning", ())
        return {hit.id: hit.passage for hit in by_meaning if hit.passage is not None}


def gather(
    search: Search,
    profile: Profile,
    query: Query,
    also: Sequence[int] = (),
    depth: int | None = None,
    also_ranked: Sequence[Profile] = (),
) -> Gathered:
    """Candidates in a constant number of questions, however many there are.

    `also` joins memories that no search has found, to see how they would have fared. With a `depth`, the
    searches are asked for a list of that length; what ranks it knows only the limit that was asked for.
    `also_ranked` are profiles by which the same candidates are ranked as well.
    """
    depth = query.limit if depth is None else depth
    found: dict[str, Sequence[Found]] = {}
    contexts: Sequence[ConversationContext] = ()
    replies: Sequence[Found] = ()
    # The context last, wherever a profile names it: it asks for replies to what was found by meaning.
    for retriever in sorted(profile.retrieve, key=lambda each: isinstance(each, ByContext)):
        if isinstance(retriever, ByContext):
            found["nearby"], contexts = neighbours_of(search, retriever, query, retriever.take(depth))
            search.memories.read(hit.id for hits in found.values() for hit in hits)
            # Whoever was asked the like may have answered in other words.
            asked = [hit.id for hit in found.get("meaning", ())]
            replies = [Found(id_, 0.0) for id_ in search.replies(asked)]
        elif isinstance(retriever, ByLinks):
            found["linked"] = search.by_links(query.text, query.now)[: retriever.most]
        else:
            name = "meaning" if isinstance(retriever, ByMeaning) else "words"
            found[name] = _found(search, retriever, query, retriever.take(depth))
    reached = {hit.id for hits in (*found.values(), replies) for hit in hits}.union(also)
    if any(isinstance(retriever, ByContext) for retriever in profile.retrieve):
        reached.update(search.messages_of_notes(sorted(reached)))
    ids = sorted(reached)
    groups = groups_read((profile, *also_ranked))
    memories = search.memories
    facts = ranking_facts(
        memories, ids, query.text, query.session, query.now, groups, ignore_marks=ignores_marks(profile)
    )
    sources = {name: _placed(facts.ids, hits) for name, hits in found.items()}
    sources |= _around(sources.get("nearby"), contexts, facts)
    sources |= _matched(search, profile, query, facts.ids)
    sources |= token_source(search, profile, query, found, facts.ids)
    sources |= time_sources(memories, profile, query, facts.ids, sources)
    sources |= stated_times(memories, profile, query, facts)
    by_search = [sources[name] for name in ("meaning", "words") if name in sources]
    contradicting = contradicting_texts(memories, profile, query, facts, by_search)
    candidates = Candidates(
        facts=facts,
        sources=shares_in_time(search, query, sources, facts.ids),
        score=np.zeros(len(facts.ids)),
        cooccurrences=(
            cooccurrences(search.snapshot, ids) if "cooccurrence" in groups else Cooccurrences.none()
        ),
        contradictions=places_of(contradicting, facts),
    )
    return Gathered(candidates, query, found | {"reply": replies} if replies else found, contradicting)


def neighbours_of(
    search: Search, retriever: ByContext, query: Query, k: int
) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
    """The best k by what stands near them. What was just asked in this session says nothing of the rest."""
    echo = None if query.session is None else (query.session, query.text)
    return search.by_neighbours(query.search_text, k, retriever.within, echo)


def _around(
    nearby: Source | None, contexts: Sequence[ConversationContext], facts: Facts
) -> dict[str, Source]:
    """What is said around the candidates, also around those that other searches have found."""
    if nearby is None:
        return {}
    near, whole = np.zeros(len(facts.ids)), np.zeros(len(facts.ids))
    for scope in contexts:
        more_near, more_whole = scope.for_candidates(facts)
        near, whole = near + more_near, whole + more_whole
    return {
        "nearby": Source(nearby.rank, near),
        "conversation": Source(np.zeros_like(nearby.rank), whole),
    }


def _matched(search: Search, profile: Profile, query: Query, ids: Ints) -> dict[str, Source]:
    """The share of the query that each candidate contains."""
    if not any(isinstance(retriever, ByWords) and retriever.held for retriever in profile.retrieve):
        return {}
    return {"held": Source(np.zeros(len(ids), np.int64), search.matched_shares(query.search_text, ids))}


def _found(search: Search, retriever: ByMeaning | ByWords, query: Query, k: int) -> Sequence[Found]:
    def ask(span: tuple[int, int] | None = None) -> Sequence[Found]:
        if isinstance(retriever, ByWords):
            return search.by_words(query.search_text, k, retriever.index, span)
        return (
            () if query.vector is None else search.by_meaning(query.vector, k, retriever.shortlist_size, span)
        )

    if not retriever.then or query.span is None:
        return ask()
    of_that_time = ask(query.span)
    if query.only_time and of_that_time:
        return of_that_time
    found = ask()
    known = {hit.id for hit in found}
    more = [hit for hit in of_that_time if hit.id not in known]
    return sorted((*found, *more), key=lambda hit: (-hit.score, hit.id))


def _placed(ids: Ints, hits: Sequence[Found]) -> Source:
    """Ranks and scores beside the candidates' ids, which ascend."""
    rank = np.zeros(len(ids), np.int64)
    score = np.full(len(ids), np.nan)
    places = np.searchsorted(ids, np.array([hit.id for hit in hits], np.int64))
    rank[places] = np.arange(1, len(hits) + 1)
    score[places] = [hit.score for hit in hits]
    return Source(rank, score)
