"""The search by time: how well each candidate's times match the one that the query asks about."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from recollect.conditions import IN_FORCE, OneOf
from recollect.ranking.candidates import ALWAYS, NEVER, Ints, Source
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.time_match import INSIDE, AskedTime, Span, StatementTimes, time_match
from recollect.records import Kind
from recollect.retrieval.facts import former_texts
from recollect.retrieval.filters import PastState
from recollect.retrieval.memory_rows import MemoryRows
from recollect.retrieval.records import moment
from recollect.text.time_phrases.own_times import MOST_LETTERS, own_times
from recollect.text.time_questions import asks_openly, asks_what_was_said, asks_when

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.pipeline import Profile
    from recollect.retrieval.search import Search

# Of the candidates, those are read that stand among the first so many of a search: others rise too rarely.
_READ = 50


def time_sources(
    memories: MemoryRows, profile: Profile, query: Query, ids: Ints, found: Mapping[str, Source]
) -> dict[str, Source]:
    """What is known of the candidates' times, as sources without ranks; for a profile that heeds time.

    `time`, where the query names one: the match of 0 to 1. `then`, where it asks for whatever happened in
    that time: 1 for what lies in it, else 0. `when`, where it asks for a time: 1 for what names one, else 0.
    What stands far down in every search, by `found`, is not read and counts by its stored times alone.
    """
    heeds_time = any(getattr(retriever, "then", False) for retriever in profile.retrieve)
    if not heeds_time or (query.span is None and not asks_when(query.text)):
        return {}
    read = _among_first(ids, found, max(_READ, query.limit))
    statements = _statements(memories, query, ids.tolist(), read)
    each = [statements.get(id_, ()) for id_ in ids.tolist()]
    if query.span is None:
        return {"when": _scored([float(any(times.events for times in those)) for those in each])}
    asked = AskedTime(query.span, query.next_span, asks_what_was_said(query.text))
    matches = [time_match(asked, those) for those in each]
    if not (query.only_time or asks_openly(query.text)):
        return {"time": _scored(matches)}
    return {"time": _scored(matches), "then": _scored([float(match >= INSIDE) for match in matches])}


def shares_in_time(
    search: Search, query: Query, sources: Mapping[str, Source], ids: Ints
) -> dict[str, Source]:
    """The sources, with the words of the asked time counted as contained in what lies in it.

    An outage in September is `the September outage`, whether or not its text has the word September.
    """
    if query.time is None or not query.time_words or not {"held", "time"} <= sources.keys():
        return dict(sources)
    start, stop = query.time.place
    topic = search.matched_shares(f"{query.text[:start]} {query.text[stop:]}", ids)
    held = sources["held"]
    score = np.where(sources["time"].score >= INSIDE, np.fmax(held.score, topic), held.score)
    return {**sources, "held": Source(held.rank, score)}


def _among_first(ids: Ints, found: Mapping[str, Source], most: int) -> frozenset[int]:
    first = np.zeros(len(ids), bool)
    for source in found.values():
        first |= source.found & (source.rank <= most)
    return frozenset(ids[first].tolist())


def _scored(values: Sequence[float]) -> Source:
    return Source(np.zeros(len(values), np.int64), np.array(values, np.float64))


def _statements(
    memories: MemoryRows, query: Query, ids: Sequence[int], read: Container[int]
) -> Mapping[int, Sequence[StatementTimes]]:
    """Of each memory, the times of its text; of an entity, those of each observation."""
    zone = asked_zone(query)
    columns = ("id", "kind", "text", "created_at", "happened_at", "undated")
    rows = memories.select(ids, columns)
    former = {} if query.where.as_of is None else former_texts(memories, ids, query.now)
    found: dict[int, list[StatementTimes]] = {
        id_: [
            _times(former.get(id_, text) if id_ in read else "", None if undated else created, happened, zone)
        ]
        for id_, kind, text, created, happened, undated in rows
        if kind != Kind.ENTITY
    }
    entities = {
        id_: (created, happened) for id_, kind, _, created, happened, _ in rows if kind == Kind.ENTITY
    }
    if entities:
        state = PastState.of(query.where)
        in_force = IN_FORCE if state is None else state.observation()
        observed = ("memory_id", "content", "created_at", "happened_at")
        for id_, content, created, happened in memories.snapshot.rows(
            "observation", observed, (OneOf("memory_id", list(entities)), *in_force)
        ):
            found.setdefault(id_, []).append(_times(content if id_ in read else "", created, happened, zone))
        for id_, (created, happened) in entities.items():
            found.setdefault(id_, [_times("", created, happened, zone)])
    return found


def asked_zone(query: Query) -> tzinfo:
    """Where the user's days begin, as the query's own time was read."""
    edge = None if query.time is None else query.time.start or query.time.stop
    return UTC if edge is None or edge.tzinfo is None else edge.tzinfo


def _times(text: str | None, created: int | None, happened: int | None, zone: tzinfo) -> StatementTimes:
    named, following = _named(text[:MOST_LETTERS], created, zone) if text else ((), ())
    return StatementTimes(
        told=NEVER if created is None else created,
        happened=NEVER if happened is None else happened,
        named=named,
        next=following,
    )


# A text's own times do not change, and a server asks for those of the same texts again and again.
@lru_cache(maxsize=4096)
def _named(text: str, told: int | None, zone: tzinfo) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The spans that a text names, and those to come of what comes round again."""
    try:
        reference = None if told is None else moment(told).astimezone(zone)
    except OverflowError:  # the first day of all, in a zone where it has not begun
        reference = None
    phrases = own_times(text, reference)
    named = tuple(_span(phrase.start, phrase.stop) for phrase in phrases)
    return named, tuple(_span(*phrase.next) for phrase in phrases if phrase.next is not None)


def _span(start: datetime | None, stop: datetime | None) -> Span:
    return NEVER if start is None else microseconds(start), ALWAYS if stop is None else microseconds(stop)
