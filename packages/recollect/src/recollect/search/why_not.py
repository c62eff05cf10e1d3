"""Explain why a memory was not returned: which search or step dropped it, and what would change that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import partial
from typing import TYPE_CHECKING

from recollect.domain.errors import InvalidInput, ModelUnavailable, NotFound
from recollect.domain.json_values import HIDDEN, Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_HITS
from recollect.domain.records import Found, Kind, Memory, memory_at
from recollect.ranking.candidates import ByContext, ByLinks, ByMeaning, ByWords, Candidates, Profile, Source
from recollect.ranking.factors import microseconds
from recollect.ranking.why_not import Standing, find_standing
from recollect.search.candidates import Gathered, gather, neighbours_of
from recollect.search.recall import Rescorer, open_search, reranker_for
from recollect.search.recording import rankers_for
from recollect.search.rows import memories_by_id
from recollect.services import Services
from recollect.text.tokens import fold, words

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.search.candidates import Search

# How many hits of a search are checked for the memory.
_DEEPEST = 10_000
MAY_WAIT = "it may still wait for a vector."


@dataclass(frozen=True, slots=True)
class Branch(Record):
    """How one search ranked the memory."""

    name: str
    rank: int | None
    """The rank; None if it is not among the first ten thousand hits."""
    score: float | None
    taken: int
    """How many hits of this search the profile takes."""
    reached: bool
    """Whether this search made the memory a candidate."""


@dataclass(frozen=True, slots=True)
class WhyNot(Record):
    """Why a memory was not returned, as a sentence (`verdict`) and in detail, and what to do (`advice`)."""

    query: str
    profile: str
    memory: Memory = field(metadata=HIDDEN)
    verdict: str
    branches: tuple[Branch, ...]
    standing: Standing | None
    """Its place among all candidates, as if it had been found; None if no search could find it."""
    advice: tuple[str, ...]
    JSON_PROPERTIES = ("id",)

    @property
    def id(self) -> int:
        return self.memory.id


def why_not(services: Services, query: Query, profile: Profile, id_: int) -> WhyNot:
    try:
        return _why_not(services, query, profile, id_)
    except ModelUnavailable:
        if query.rerank is not None:
            raise
        # As in `recall`: a re-ranker that fails is skipped, unless the caller asked for it.
        return _why_not(services, replace(query, rerank=False), profile, id_)


def _why_not(services: Services, asked: Query, profile: Profile, id_: int) -> WhyNot:
    if not asked.text.strip() or asked.limit == 0:
        raise InvalidInput("Ask with a query and a limit above 0.")
    as_of = asked.where.as_of
    with open_search(services, asked, profile) as (search, query, _):
        memory = memories_by_id(search.snapshot, [id_]).get(id_)
        if memory is None or not services.can_read(memory.scope):
            raise NotFound(f"There is no memory {id_}.")
        memory = memory_at(memory, as_of)
        out = _exclusion(memory, query)
        if out is not None:
            return WhyNot(query.text, profile.name, memory, out[0], (), None, (out[1],))
        # Rank as `recall` does.
        rankers = rankers_for(services, search, profile, query.text, tuned=query.tuned, trial=as_of is None)
        profile = rankers.shown
        reranker, _ = reranker_for(services, query)
        rescorer = None if reranker is None else Rescorer(reranker, search.snapshot, query)
        gathered = gather(search, profile, query, (id_,), _depth(query, rescorer))
        branches = tuple(_branches(search, profile, gathered, _depth(query, rescorer), id_))
        gathered = replace(gathered, candidates=_as_if_found(gathered.candidates, branches, id_))
        stands = _standing(profile, gathered, id_, rescorer)
        enough = _limit_to_show(search, profile, query, branches, stands, id_, rescorer)
        before = None if rescorer is None else _standing(profile, gathered, id_, None).place
        read = None if rescorer is None else rescorer.step.read_count(query.limit)
    is_beyond = before is not None and read is not None and before > read
    advice = _advice(query, memory, branches, stands, enough)
    if before is not None and not is_beyond and before != stands.place:
        advice.append(f"Without re-ranking it would be at place {before}.")
    verdict = _verdict(branches, stands, query.limit, read if is_beyond else None)
    return WhyNot(query.text, profile.name, memory, verdict, branches, stands, tuple(advice))


def _depth(query: Query, rescorer: Rescorer | None) -> int:
    """Return how many hits the searches return: more if they are re-ranked."""
    return query.limit if rescorer is None else rescorer.step.list_length(query.limit)


def _standing(profile: Profile, gathered: Gathered, id_: int, rescorer: Rescorer | None) -> Standing:
    then = None if rescorer is None else partial(rescorer, gathered=gathered)
    return find_standing(profile, gathered.candidates, gathered.query, id_, then)


def _exclusion(memory: Memory, query: Query) -> tuple[str, str] | None:
    """Return why no search could find the memory, and what to do; None if one could."""
    where = query.where
    until, now, session = memory.expires_at, where.expired_by, where.current
    owned = set(map(fold, memory.tags))
    lacking = {fold(tag): tag for tag in where.tags if fold(tag) not in owned}
    out: tuple[str, str] | None = None
    if where.as_of is not None and memory.created_at > where.as_of:
        why = f"It was not known by then: it dates from {memory.created_at:%Y-%m-%d}."
        out = why, "Ask as of a later day."
    elif memory.deleted_at is not None:
        why = f"It was forgotten on {memory.deleted_at:%Y-%m-%d}."
        out = why, f"Restore it: recollect restore {memory.id}"
    elif until is not None and now is not None and microseconds(until) <= now:
        why = f"It expired on {until:%Y-%m-%d}."
        out = why, f"If it still holds: recollect update {memory.id} --no-expiry"
    elif memory.superseded_at is not None and not where.superseded:
        why = f"It was superseded on {memory.superseded_at:%Y-%m-%d} by memory {memory.superseded_by}."
        out = why, f"Ask for memory {memory.superseded_by}, which replaces it."
    elif memory.kind not in where.kinds:
        why = f"It is of the kind {memory.kind}, and the search was for {', '.join(sorted(where.kinds))}."
        out = why, f"Ask for the kind {memory.kind} too."
    elif session is not None and memory.kind is Kind.MESSAGE and memory.session != session:
        why = f"It is a message of the session {memory.session!r}, and the search was in {session!r}."
        out = why, "Ask in its session, or without a session."
    elif lacking:
        tags = ", ".join(sorted(map(repr, lacking.values())))
        out = f"It does not have the tags that were asked for: {tags}.", "Ask without them, or add them."
    return out


def _branches(search: Search, profile: Profile, gathered: Gathered, depth: int, id_: int) -> Iterator[Branch]:
    query = gathered.query
    for retriever in profile.retrieve:
        hits: Sequence[Found]
        match retriever:
            case ByMeaning():
                name = "meaning"
                hits = [] if query.vector is None else search.by_meaning(query.vector, _DEEPEST)
            case ByContext():
                # Only messages have neighbours.
                candidates = gathered.candidates
                if not candidates.facts.session[candidates.ids == id_].any():
                    continue
                name, (hits, _) = "nearby", neighbours_of(search, retriever, query, _DEEPEST)
            case ByLinks():
                name, hits = "linked", gathered.found["linked"]
                if not any(hit.id == id_ for hit in hits):
                    continue
            case ByWords():
                name, hits = "words", search.by_words(query.search_text, _DEEPEST, retriever.index)
        place = next((rank for rank, hit in enumerate(hits, start=1) if hit.id == id_), None)
        # A reply to a similar question is a candidate by its position.
        replies = gathered.found.get("reply", ()) if name == "nearby" else ()
        reached = any(hit.id == id_ for hit in (*gathered.found[name], *replies))
        score = hits[place - 1].score if place else None
        yield Branch(name, place, score, retriever.take(depth), reached)


def _as_if_found(candidates: Candidates, branches: Sequence[Branch], id_: int) -> Candidates:
    """Return the candidates. If no search returned the memory, add its ranks in the deeper searches."""
    if any(branch.reached for branch in branches):
        return candidates
    row = candidates.ids.tolist().index(id_)
    sources = dict(candidates.sources)
    for branch in branches:
        if branch.rank is not None and branch.score is not None:
            rank, score = sources[branch.name].rank.copy(), sources[branch.name].score.copy()
            rank[row], score[row] = branch.rank, branch.score
            sources[branch.name] = Source(rank, score)
    return replace(candidates, sources=sources)


def _limit_to_show(
    search: Search,
    profile: Profile,
    query: Query,
    branches: Sequence[Branch],
    stands: Standing,
    id_: int,
    rescorer: Rescorer | None,
) -> int | None:
    """Try higher limits, and return one that shows the memory; None if no limit does, or it is shown.

    A higher limit brings more candidates and may select another strategy, so that the place may change.
    """
    found = any(branch.reached for branch in branches)
    never = stands.place is None if found else all(branch.rank is None for branch in branches)
    if never or (found and (stands.place or 0) <= query.limit):
        return None
    limit = max(stands.place or 0, query.limit + 1)
    while limit <= MOST_HITS:
        wider = replace(query, limit=limit, limit_given=True)
        tried = gather(search, profile, wider, depth=_depth(wider, rescorer))
        if id_ not in tried.candidates.ids:
            limit = MOST_HITS if limit < MOST_HITS < 2 * limit else 2 * limit
            continue
        place = _standing(profile, tried, id_, rescorer).place
        if place is None or place <= limit:
            return None if place is None else limit
        limit = place
    return None


def _verdict(branches: tuple[Branch, ...], stands: Standing, limit: int, reranked: int | None) -> str:
    """Return a sentence on the memory's place. `reranked`: the re-ranked places, if it is below them."""
    found = " and ".join(branch.name for branch in branches if branch.reached)
    if not found:
        return "No search brought it up, so it was never a candidate."
    if stands.dropped is not None:
        dropped = stands.dropped
        return f"It was found by {found}, and the step {dropped.step!r} dropped it: {dropped.reason}."
    if stands.place is not None and stands.place <= limit:
        return f"It was returned, at place {stands.place}."
    if reranked is not None:
        return (
            f"It was found by {found} and is at place {stands.place}, "
            f"beyond the first {reranked}; only these are re-ranked."
        )
    return f"It was found by {found} and is at place {stands.place}, below the limit of {limit}."


def _advice(
    query: Query, memory: Memory, branches: tuple[Branch, ...], stands: Standing, enough: int | None
) -> list[str]:
    limit = query.limit
    advice = []
    for branch in branches:
        if branch.rank is None:
            advice.append(_why_missed(branch, query, memory))
        elif not branch.reached:
            advice.append(f"By {branch.name} it is number {branch.rank}; the profile takes {branch.taken}.")
    if stands.place is not None and stands.place > limit:
        for cost in stands.costs:
            if cost.places > 0:
                listed = " and would be on the list" if cost.place_without <= limit else ""
                advice.append(
                    f"Without {cost.step!r} ({cost.value:.4g}) it would be at {cost.place_without}{listed}."
                )
    if enough is not None:
        advice.append(f"A limit of {enough} would show it.")
    return advice


def _why_missed(branch: Branch, query: Query, memory: Memory) -> str:
    if branch.name == "meaning":
        return f"By meaning it is not among the nearest; {MAY_WAIT}"
    if branch.name == "nearby":
        return "The messages next to it contain none of the query's rarer words."
    text = " ".join((memory.name, memory.type, memory.text, *(seen.content for seen in memory.in_force)))
    shared = sorted(set(words(query.text)) & set(words(text)))
    if shared:
        return f"By words it shares only {', '.join(map(repr, shared))} with the query, too common to count."
    return "It shares no word with the query."
