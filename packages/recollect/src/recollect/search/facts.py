"""Facts about candidates for ranking, by column, and how well their times match the query's time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Status, is_assistant
from recollect.domain.tables import IN_FORCE, Compares, KeyIn, OneOf, is_null, null_or_after
from recollect.language.questions import asks_openly, asks_what_was_said, asks_when
from recollect.language.time_phrases import MOST_LETTERS, own_times
from recollect.ranking.candidates import (
    ALWAYS,
    ASSISTANT,
    DAY,
    EVERY_GROUP,
    NEVER,
    NOBODY,
    SPEAKER,
    USER,
    Cooccurrences,
    FactGroup,
    Facts,
    Flags,
    Floats,
    Ints,
    Source,
)
from recollect.ranking.factors import microseconds
from recollect.search.rows import MemoryRows, PastState, moment, starts_or_ends_at
from recollect.search.texts import conversation
from recollect.stores.port import RowsQuery, Snapshot
from recollect.text.names import informativeness
from recollect.text.near_duplicates import text_key, unmarked_text_key
from recollect.text.tokens import content_words, words

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Profile
    from recollect.search.candidates import Search


_STATUSES = {status.value: place for place, status in enumerate(Status)}
# In Latin, Chinese and Arabic script.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_WHITE_SPACE = "\t\n\r "
_LAST_CHARACTERS = frozenset((*_QUESTION_MARKS, *_WHITE_SPACE))
_KINDS = {kind.value: place for place, kind in enumerate(Kind)}


def ranking_facts(
    memories: MemoryRows,
    ids: Sequence[int],
    query: str,
    session: str | None,
    now: int,
    groups: Collection[FactGroup] = EVERY_GROUP,
    *,
    ignore_marks: bool = False,
) -> Facts:
    """Return the facts of existing memories by ascending id. Facts outside `groups` are 0 or NEVER.

    A message of the session whose text equals the query counts as the query's echo. With `ignore_marks`,
    texts that differ only in punctuation have equal content.
    """
    snapshot = memories.snapshot
    columns = memories.columns(sorted(ids))
    known: Sequence[int] = columns["id"]
    found, size = _ints(known), len(known)
    kinds, revisions = columns["kind"], columns["revisions"]
    former = _former_texts(snapshot, known, revisions, now)
    texts: Sequence[str] = columns["text"]
    if former:
        texts = [former.get(id_, text) for id_, text in zip(known, texts, strict=True)]
    last_access, access_count, access_days = _usage_facts(snapshot, found, groups)
    dates = zip(columns["created_at"], columns["undated"], strict=True)
    # A revised note no longer repeats its message, so it is its own origin.
    origins = zip(known, columns["drawn_from"], revisions, strict=True)
    # Only messages have these facts, and many stores have no messages.
    sessions = position = np.zeros(size, np.int64)
    echo, role, informative = np.zeros(size, bool), np.full(size, NOBODY), np.ones(size)
    if Kind.MESSAGE.value in kinds:
        sessions = _sessions(snapshot, columns)
        places = zip(sessions.tolist(), columns["position"], strict=True)
        position = _ints([place if session_number else 0 for session_number, place in places])
        messages = [kind == Kind.MESSAGE for kind in kinds]
        said = list(zip(messages, columns["session"], texts, strict=True))
        echo = np.array([is_said and (name, text) == (session, query) for is_said, name, text in said])
        informative = np.array([informativeness(text) if is_said else 1.0 for is_said, _, text in said])
        speakers = list(zip(messages, columns["role"], strict=True))
        roles = {each: _role(*each) for each in set(speakers)}
        role = _ints([roles[each] for each in speakers])
    return Facts(
        ids=found,
        created_at=_ints([NEVER if undated else at for at, undated in dates]),
        updated_at=_times(columns["updated_at"]),
        happened_at=_times(columns["happened_at"]),
        last_access=last_access,
        access_count=access_count,
        access_days=access_days,
        degree=_by_id(found, _degrees(snapshot, known, now) if "degree" in groups else {}).astype(np.int64),
        status=_ints([_STATUSES[status] for status in columns["status"]]),
        importance=np.array(columns["importance"], np.float64),
        strength=np.array(columns["strength"], np.float64),
        depth=_ints(columns["depth"]),
        spread=_ints(columns["spread"]),
        stability=np.array(columns["stability"], np.float64),
        metadata_share=_by_id(found, _metadata_shares(memories, known) if "metadata" in groups else {}),
        content=_contents(columns, texts, former, ignore_marks),
        echo=echo,
        origin=_ints([id_ if origin is None or revised else origin for id_, origin, revised in origins]),
        session=sessions,
        position=position,
        named=_names_speaker(columns, texts, query),
        asks=np.array(list(map(ends_with_question, texts)), bool),
        kind=_ints([_KINDS[kind] for kind in kinds]),
        role=role,
        informativeness=informative,
        length=_ints(list(map(len, texts))),
    )


def _usage_facts(snapshot: Snapshot, ids: Ints, groups: Collection[FactGroup]) -> tuple[Ints, Ints, Ints]:
    """Return when each was last used, how often, and on how many days."""
    if "usage" not in groups:
        return np.full(len(ids), NEVER), np.zeros(len(ids), np.int64), np.zeros(len(ids), np.int64)
    known = ids.tolist()
    own = OneOf("memory_id", known)
    uses, days = snapshot.rows_batch(
        (
            RowsQuery("usage", ("memory_id", "count", "last_at"), (own,)),
            RowsQuery("usage_day", ("memory_id",), (own,)),
        )
    )
    usage = {memory: (count, last_at) for memory, count, last_at in uses}
    used = [usage.get(id_, (0, None)) for id_ in known]
    return (
        _times(last_at for _, last_at in used),
        _ints([count for count, _ in used]),
        _by_id(ids, Counter(memory for (memory,) in days)).astype(np.int64),
    )


def _role(is_said: bool, role: str | None) -> int:
    if not is_said:
        return NOBODY
    if is_assistant(role):
        return ASSISTANT
    return USER if (role or "").lower() == "user" else SPEAKER


def ends_with_question(text: str) -> bool:
    """Whether the text ends with a question mark, ignoring white space."""
    return text[-1:] in _LAST_CHARACTERS and text.rstrip(_WHITE_SPACE).endswith(_QUESTION_MARKS)


def _sessions(snapshot: Snapshot, columns: Mapping[str, Sequence[Any]]) -> Ints:
    """Return a number for each message's session; 0 for other kinds, and for a session's only message."""
    places: list[tuple[Any, ...]] = list(
        zip(columns["kind"], columns["scope_id"], columns["session"], columns["position"], strict=True)
    )
    second = {
        (scope, session, 2): None
        for kind, scope, session, position in places
        if kind == Kind.MESSAGE and position == 1 and session is not None
    }
    # A first message without a second one is alone.
    followed = set()
    if second:
        seconds = KeyIn(("scope_id", "session", "position"), list(second))
        followed = set(snapshot.rows("memory", ("scope_id", "session"), (seconds,)))
    return _ints(
        [
            conversation(scope, session)
            if kind == Kind.MESSAGE
            and session is not None
            and position is not None
            and (position != 1 or (scope, session) in followed)
            else 0
            for kind, scope, session, position in places
        ]
    )


def former_texts(memories: MemoryRows, ids: Sequence[int], at: int) -> dict[int, str]:
    """Return the text that each memory had at a time, for memories revised since then."""
    rows = memories.select(ids, ("id", "revisions"))
    known, revisions = zip(*rows, strict=True) if rows else ((), ())
    return _former_texts(memories.snapshot, known, revisions, at)


def _former_texts(
    snapshot: Snapshot, ids: Sequence[int], revisions: Sequence[int], at: int
) -> dict[int, str]:
    if not any(revisions):
        return {}
    revised = [id_ for id_, count in zip(ids, revisions, strict=True) if count]
    rows = snapshot.rows(
        "revision",
        ("memory_id", "text"),
        (OneOf("memory_id", revised), Compares("until", ">", at)),
        order=("id",),
        descending=True,
    )
    # The oldest revision after `at` comes last and wins: its text was current then.
    return {memory: text for memory, text in rows}  # noqa: C416  # for mypy, a row may have any length


def _contents(
    columns: Mapping[str, Sequence[Any]], texts: Sequence[str], former: Mapping[int, str], ignore_marks: bool
) -> Ints:
    """Return a hash of each memory's text, as of the query's time.

    Entities and notes with a `ref` get their negative id instead: they never repeat another memory.
    """
    if ignore_marks:
        each = zip(columns["id"], columns["kind"], columns["ref"], texts, strict=True)
        return _ints(
            [
                -id_ if kind == Kind.ENTITY or ref is not None else unmarked_text_key(text)
                for id_, kind, ref, text in each
            ]
        )
    return _ints(
        [
            -id_ if ref is not None or key is None else text_key(former[id_]) if id_ in former else key
            for id_, ref, key in zip(columns["id"], columns["ref"], columns["text_key"], strict=True)
        ]
    )


def _degrees(snapshot: Snapshot, ids: Sequence[int], now: int) -> dict[int, int]:
    """Count the current relations of each memory."""
    wanted = set(ids)
    degrees: Counter[int] = Counter()
    for source, target in snapshot.rows(
        "relation",
        ("source_id", "target_id"),
        (starts_or_ends_at(ids), null_or_after("until", now), is_null("deleted_at")),
    ):
        degrees.update({source, target} & wanted)
    return degrees


def _metadata_shares(memories: MemoryRows, ids: Sequence[int]) -> dict[int, float]:
    every: Counter[int] = Counter()
    metadata: Counter[int] = Counter()
    entities = [id_ for id_, kind in memories.select(ids, ("id", "kind")) if kind == Kind.ENTITY]
    for memory, kind in memories.snapshot.rows(
        "observation", ("memory_id", "kind"), (OneOf("memory_id", entities), *IN_FORCE)
    ):
        every[memory] += 1
        metadata[memory] += kind == "metadata"
    return {memory: metadata[memory] / count for memory, count in every.items()}


def _names_speaker(columns: Mapping[str, Sequence[Any]], texts: Sequence[str], query: str) -> Flags:
    """Whether the query names the speaker, or a text without a speaker contains a speaker that it names."""
    asked = set(content_words(query))
    speakers = columns["speaker"]
    names = {speaker: asked.intersection(words(speaker)) for speaker in set(speakers) if speaker}
    people = set().union(*names.values())
    return np.array(
        [
            bool(names[speaker])
            if speaker
            else bool(people) and not people.isdisjoint(words(f"{name} {text}"))
            for name, text, speaker in zip(columns["name"], texts, speakers, strict=True)
        ],
        bool,
    )


def cooccurrences(snapshot: Snapshot, ids: Sequence[int]) -> Cooccurrences:
    """Return the co-occurring pairs of these memories, as positions in the sorted ids."""
    wanted = set(ids)
    rows = [
        row
        for row in snapshot.rows(
            "cooccurrence", ("first_id", "second_id", "count", "last_at"), (OneOf("first_id", ids),)
        )
        if row[1] in wanted
    ]
    columns = list(zip(*rows, strict=True)) if rows else [()] * 4
    known = np.array(sorted(ids), np.int64)
    return Cooccurrences(
        first=np.searchsorted(known, _ints(columns[0])),
        second=np.searchsorted(known, _ints(columns[1])),
        count=_ints(columns[2]),
        last=_ints(columns[3]),
    )


def _by_id(ids: Ints, numbers: Mapping[int, float]) -> Floats:
    """Return the number of each id, or 0."""
    if not numbers:
        return np.zeros(len(ids))
    return np.array([numbers.get(id_, 0) for id_ in ids.tolist()], np.float64)


def _times(column: Iterable[object]) -> Ints:
    return _ints([NEVER if at is None else at for at in column])


def _ints(column: Sequence[object]) -> Ints:
    return np.array(column, np.int64)


# Matching a memory's times with the query's time

Span: TypeAlias = "tuple[int, int]"
"""Microseconds since 1970, half-open. NEVER and ALWAYS mark an open start and end."""

UNKNOWN = 0.25
"""The match of a memory without a time: lower than inside the query's span, higher than far outside it."""
INSIDE = 0.5
"""The lowest match of a time that overlaps the query's time. Any other time matches less."""
_OUTSIDE = 0.4
# If a phrase may mean the previous or the next occurrence, the next counts less.
_NEXT = 0.9
_SHORTEST_TAU = 1 * DAY
_OPEN_TAU = 30 * DAY
# The time of a statement counts less the farther its event is away: half after about four months.
_STATEMENT_TAU = 180 * DAY


@dataclass(frozen=True, slots=True)
class StatementTimes:
    """The times of one text: when it was said, and the times it mentions."""

    said_at: int
    """When it was said; NEVER if unknown."""
    happened: int = NEVER
    """The time of the event, as the caller gave it."""
    named: tuple[Span, ...] = ()
    """The times that the text names."""
    next: tuple[Span, ...] = ()
    """The next occurrence of days and months without a year; `named` has the previous one."""

    @property
    def events(self) -> tuple[Span, ...]:
        return self.named if self.happened == NEVER else (*self.named, (self.happened, self.happened))


@dataclass(frozen=True, slots=True)
class AskedTime:
    """The time that a query names."""

    span: Span
    next: Span | None = None
    """The next occurrence of a recurring time, such as a month or a weekday."""
    said: bool = False
    """Whether the query asks for what was said, so that the time of the statement counts fully."""


def time_match(asked: AskedTime, statements: Iterable[StatementTimes]) -> float:
    """Return the best match of a memory's statements, from 0 to 1."""
    return max((_statement_match(asked, each) for each in statements), default=UNKNOWN)


def _statement_match(asked: AskedTime, times: StatementTimes) -> float:
    """Match the times that a text names. The time of the statement counts less the farther it is from them.

    A text about yesterday also belongs to today; one about 2016 does not.
    """
    events = times.events
    said = UNKNOWN if times.said_at == NEVER else _asked_match(asked, (times.said_at, times.said_at))
    if not events:
        return said
    named = max(_asked_match(asked, event) for event in events)
    named = max([named, *(_NEXT * _asked_match(asked, event) for event in times.next)])
    if times.said_at == NEVER:
        return named
    away = min(_distance((times.said_at, times.said_at), event) for event in (*events, *times.next))
    return max(named, said * (1.0 if asked.said else exp(-away / _STATEMENT_TAU)))


def _asked_match(asked: AskedTime, named: Span) -> float:
    match = span_match(asked.span, named)
    return match if asked.next is None else max(match, _NEXT * span_match(asked.next, named))


def span_match(asked: Span, named: Span) -> float:
    """Return 1 if `named` lies inside `asked`, 0.5 to 1 by the share inside if they overlap.

    Otherwise return 0.4 exp(-distance / tau). tau is the length of `asked`, at least a day, and 30 days for
    an open span. Widening `asked` never lowers the match.
    """
    start, stop = asked
    if start <= named[0] and named[1] <= stop and (named[0] < stop or named[0] < named[1]):
        return 1.0
    distance = _distance(asked, named)
    if distance == 0 and max(start, named[0]) < min(stop, max(named[1], named[0] + 1)):
        # The share of `named` that lies inside; 0 if it is open.
        share = 0.0
        if named[0] != NEVER and named[1] != ALWAYS:
            share = (min(stop, named[1]) - max(start, named[0])) / (named[1] - named[0])
        return INSIDE + (1 - INSIDE) * share
    is_open = start == NEVER or stop == ALWAYS
    tau = _OPEN_TAU if is_open else max(stop - start, _SHORTEST_TAU)
    return _OUTSIDE * exp(-distance / tau)


def _distance(one: Span, other: Span) -> int:
    """Return the gap between two spans; 0 if they touch or overlap."""
    return max(0, one[0] - other[1], other[0] - one[1])


# Time as a source of scores

# Texts of candidates within this rank of a search are read for times. Later ones rarely become hits.
_DEEPEST_RANK_READ = 50


def time_sources(
    memories: MemoryRows, profile: Profile, query: Query, ids: Ints, found: Mapping[str, Source]
) -> dict[str, Source]:
    """Return time scores of the candidates as sources without ranks, for a profile that uses time.

    `time`, if the query names a time: the match from 0 to 1. `then`, if it asks for all that happened at that
    time: 1 inside it, else 0. `when`, if it asks for a time: 1 for a text that names one, else 0. For
    candidates far down in every search (`found`), only stored times count.
    """
    uses_time = any(getattr(retriever, "then", False) for retriever in profile.retrieve)
    if not uses_time or (query.span is None and not asks_when(query.text)):
        return {}
    first = np.zeros(len(ids), bool)
    for source in found.values():
        first |= source.found & (source.rank <= max(_DEEPEST_RANK_READ, query.limit))
    statements = _statements(memories, query, ids.tolist(), frozenset(ids[first].tolist()))
    each = [statements.get(id_, ()) for id_ in ids.tolist()]
    if query.span is None:
        return {"when": _scored([float(any(times.events for times in those)) for those in each])}
    asked = AskedTime(query.span, query.next_span, asks_what_was_said(query.text))
    matches = [time_match(asked, those) for those in each]
    if not (query.only_time or asks_openly(query.text)):
        return {"time": _scored(matches)}
    return {"time": _scored(matches), "then": _scored([float(match >= INSIDE) for match in matches])}


def count_time_words_as_matched(
    search: Search, query: Query, sources: Mapping[str, Source], ids: Ints
) -> dict[str, Source]:
    """Count the words of the query's time as matched, for candidates of that time.

    An outage in September matches "the September outage", even if its text lacks the word September.
    """
    if query.time is None or not query.time_words or not {"held", "time"} <= sources.keys():
        return dict(sources)
    start, stop = query.time.place
    topic = search.matched_shares(f"{query.text[:start]} {query.text[stop:]}", ids)
    held = sources["held"]
    score = np.where(sources["time"].score >= INSIDE, np.fmax(held.score, topic), held.score)
    return {**sources, "held": Source(held.rank, score)}


def _scored(values: Sequence[float]) -> Source:
    return Source(np.zeros(len(values), np.int64), np.array(values, np.float64))


def _statements(
    memories: MemoryRows, query: Query, ids: Sequence[int], read: Container[int]
) -> Mapping[int, Sequence[StatementTimes]]:
    """Return the times of each memory's text; for an entity, of each observation."""
    zone = asked_zone(query)
    columns = ("id", "kind", "text", "created_at", "happened_at", "undated")
    rows = memories.select(ids, columns)
    former = {} if query.where.as_of is None else former_texts(memories, ids, query.now)
    found: dict[int, list[StatementTimes]] = {}
    entities: dict[int, tuple[int, int | None]] = {}
    for id_, kind, text, created, happened, undated in rows:
        if kind == Kind.ENTITY:
            entities[id_] = created, happened
        else:
            text_then = former.get(id_, text) if id_ in read else ""
            found[id_] = [_text_times(text_then, None if undated else created, happened, zone)]
    if entities:
        state = PastState.of(query.where)
        in_force = IN_FORCE if state is None else state.observation_conditions()
        observed = ("memory_id", "content", "created_at", "happened_at")
        for id_, content, created, happened in memories.snapshot.rows(
            "observation", observed, (OneOf("memory_id", list(entities)), *in_force)
        ):
            text_then = content if id_ in read else ""
            found.setdefault(id_, []).append(_text_times(text_then, created, happened, zone))
        for id_, (created, happened) in entities.items():
            found.setdefault(id_, [_text_times("", created, happened, zone)])
    return found


def asked_zone(query: Query) -> tzinfo:
    """Return the time zone in which the query's time was read."""
    edge = None if query.time is None else query.time.start or query.time.stop
    return UTC if edge is None or edge.tzinfo is None else edge.tzinfo


def _text_times(text: str | None, created: int | None, happened: int | None, zone: tzinfo) -> StatementTimes:
    named, following = _named_spans(text[:MOST_LETTERS], created, zone) if text else ((), ())
    return StatementTimes(
        said_at=NEVER if created is None else created,
        happened=NEVER if happened is None else happened,
        named=named,
        next=following,
    )


# Cached: a server reads the times of the same texts again and again.
@lru_cache(maxsize=4096)
def _named_spans(text: str, said_at: int | None, zone: tzinfo) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Return the spans that a text names, and the next occurrences of recurring ones."""
    try:
        reference = None if said_at is None else moment(said_at).astimezone(zone)
    except OverflowError:  # in this zone, the time may fall before the year 1
        reference = None
    phrases = own_times(text, reference)
    named = tuple(span_between(phrase.start, phrase.stop) for phrase in phrases)
    return named, tuple(span_between(*phrase.next) for phrase in phrases if phrase.next is not None)


def span_between(start: datetime | None, stop: datetime | None) -> Span:
    return NEVER if start is None else microseconds(start), ALWAYS if stop is None else microseconds(stop)
