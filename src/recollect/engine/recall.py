"""Recall: the one way to search, by any profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.engine.meaning import query_vector
from recollect.engine.results import Answer, Hit, Place
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.factors.ages import microseconds
from recollect.rank.explain import reasons
from recollect.rank.pipeline import run
from recollect.rank.route import strategy_for
from recollect.records import Filter, Kind
from recollect.retrieve.gather import Request, gather

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from recollect.engine.parts import Parts
    from recollect.engine.results import Mode
    from recollect.factors.candidates import Candidates
    from recollect.ports import Vector, View
    from recollect.rank.pipeline import Profile
    from recollect.records import Found
    from recollect.retrieve.gather import Gathered

DEFAULT_LIMIT = 10
MOST_HITS = 1_000


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller asks."""

    query: str
    profile: Profile
    limit: int | None = None
    """None: the default, which says nothing about the kind of question."""
    kinds: frozenset[Kind] = frozenset(Kind)
    explain: bool = False
    record: bool = True
    """False: the answer leaves no trace in the store."""


def recall(parts: Parts, question: Question) -> Answer:
    """The best memories for a query, best first."""
    now = parts.clock()
    request, note = prepared(parts, question, now)
    if request is None:
        return Answer(question.query, question.profile.name, (), "words", note)
    with parts.store.read() as view:
        gathered = gather(view, question.profile, request)
        ranked = run(question.profile, gathered.candidates, gathered.moment)
        hits = _hits(view, ranked, gathered.found, explain=question.explain)
    if question.record:
        parts.signals.seen(parts.scope, [hit.memory.id for hit in hits], now)
    return Answer(
        query=question.query,
        profile=question.profile.name,
        hits=hits,
        mode=mode_of(gathered),
        note=note,
        strategy=strategy_for(question.query, question.limit).value,
    )


def prepared(parts: Parts, question: Question, now: datetime) -> tuple[Request | None, str | None]:
    """The request to the store, and why meaning is not searched; None if there is nothing to ask."""
    limit = DEFAULT_LIMIT if question.limit is None else question.limit
    if not 0 <= limit <= MOST_HITS:
        raise InvalidInput(f"A search gives 0 to {MOST_HITS:,} hits, not {limit}.")
    if limit == 0 or not question.query.strip():
        return None, None
    vector, note = _vector(parts, question.query)
    # What earlier answers left to be noted is part of the store that this one reads.
    parts.signals.settle()
    request = Request(
        query=question.query,
        vector=vector,
        where=Filter(parts.scope.owner, parts.scope.agent, kinds=question.kinds),
        limit=limit,
        limit_given=question.limit is not None,
        now=microseconds(now),
        session=parts.signals.session,
    )
    return request, note


def mode_of(gathered: Gathered) -> Mode:
    """Hybrid where words found something beside meaning, as the published pipeline chooses."""
    words, meaning = gathered.found.get("words"), gathered.found.get("meaning")
    if words and meaning:
        return "hybrid"
    return "meaning" if meaning else "words"


def _vector(parts: Parts, query: str) -> tuple[Vector | None, str | None]:
    """The query's vector, or why there is none. Embedded before the store is read, so nothing waits."""
    try:
        return query_vector(parts, query), None
    except ModelUnavailable as error:
        return None, str(error)


def _hits(
    view: View, ranked: Candidates, found: Mapping[str, Sequence[Found]], *, explain: bool
) -> tuple[Hit, ...]:
    ids = ranked.ids.tolist()
    memories = view.memories(ids)
    nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
    wanted = [nearest[id_] for id_ in ids if id_ in nearest]
    passages = {passage.id: passage.text for passage in view.passages_by_id(wanted)}
    scores = ranked.score.tolist()
    kept = {name: values.tolist() for name, values in ranked.kept.items()}
    return tuple(
        Hit(
            memory=memories[id_],
            score=scores[row],
            places=_places(ranked, row),
            scores={name: values[row] for name, values in kept.items()},
            reasons=reasons(ranked, row) if explain else (),
            passage=passages.get(nearest.get(id_, 0)),
        )
        for row, id_ in enumerate(ids)
    )


def _places(ranked: Candidates, row: int) -> dict[str, Place]:
    return {
        name: Place(int(source.rank[row]), float(source.score[row]))
        for name, source in ranked.sources.items()
        if source.rank[row] > 0
    }
