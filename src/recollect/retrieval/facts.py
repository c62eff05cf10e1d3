"""What ranking reads of the candidates, column by column, in a constant number of questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from recollect.conditions import IN_FORCE, Compares, KeyIn, OneOf, is_null, null_or_after
from recollect.ports import RowsQuery, Snapshot
from recollect.ranking.candidates import (
    ASSISTANT,
    NEVER,
    NOBODY,
    SPEAKER,
    USER,
    Cooccurrences,
    Facts,
    Flags,
    Floats,
    Ints,
)
from recollect.ranking.reads import EVERY_GROUP, FactGroup
from recollect.records import Kind, Status, is_assistant
from recollect.retrieval.conversations import conversation
from recollect.retrieval.memory_rows import MemoryRows
from recollect.retrieval.records import touching
from recollect.text.informativeness import informativeness
from recollect.text.near_duplicates import text_key, unmarked_text_key
from recollect.text.tokens import content_words, words

_STATUSES = {status.value: place for place, status in enumerate(Status)}
# Of Latin, Chinese and Arabic script.
_QUESTION_MARKS = ("?", "\uff1f", "\u061f")
_BLANKS = "\t\n\r "
_LAST_LETTERS = frozenset((*_QUESTION_MARKS, *_BLANKS))
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
    """By ascending id; ids that do not exist are left out. Other groups are left unknown.

    The query and the session tell which are echoes of it. With `ignore_marks`, the content of texts that
    differ only in marks is the same.
    """
    snapshot = memories.snapshot
    columns = memories.columns(sorted(ids))
    known: Sequence[int] = columns["id"]
    found, size = _ints(known), len(known)
    former = _former_texts(snapshot, known, columns["revisions"], now)
    if former:
        texts = zip(known, columns["text"], strict=True)
        columns["text"] = [former.get(id_, text) for id_, text in texts]
    texts_read: Sequence[str] = columns["text"]
    last_access, access_count, access_days = _use(snapshot, found, groups)
    # Most stores hold notes alone or messages alone, and of notes there is less to know.
    talk = Kind.MESSAGE.value in columns["kind"]
    sessions = _sessions(snapshot, columns) if talk else np.zeros(size, np.int64)
    return Facts(
        ids=found,
        created_at=_created(columns),
        updated_at=_times(columns["updated_at"]),
        happened_at=_times(columns["happened_at"]),
        last_access=last_access,
        access_count=access_count,
        access_days=access_days,
        degree=_beside(found, _degrees(snapshot, known, now) if "degree" in groups else {}).astype(np.int64),
        status=_ints([_STATUSES[status] for status in columns["status"]]),
        importance=np.array(columns["importance"], np.float64),
        strength=np.array(columns["strength"], np.float64),
        depth=_ints(columns["depth"]),
        spread=_ints(columns["spread"]),
        stability=np.array(columns["stability"], np.float64),
        temper=_tempers(snapshot, columns["scope_id"]) if "temper" in groups else np.ones(size),
        metadata_share=_beside(found, _metadata_shares(memories, known) if "metadata" in groups else {}),
        content=_contents(columns, former, ignore_marks),
        echo=_echoes(columns, query, session) if talk else np.zeros(size, bool),
        origin=_origins(columns),
        session=sessions,
        position=_positions(columns, sessions) if talk else np.zeros(size, np.int64),
        named=_named(columns, query),
        asks=np.array(list(map(ends_with_question, texts_read)), bool),
        kind=_ints([_KINDS[kind] for kind in columns["kind"]]),
        role=_roles(columns) if talk else np.full(size, NOBODY),
        informativeness=_informativeness(columns) if talk else np.ones(size),
        length=_ints(list(map(len, texts_read))),
    )


def _created(columns: Mapping[str, Sequence[Any]]) -> Ints:
    if not any(columns["undated"]):
        return _ints(columns["created_at"])
    dates = zip(columns["created_at"], columns["undated"], strict=True)
    return _ints([NEVER if undated else at for at, undated in dates])


def _use(snapshot: Snapshot, ids: Ints, groups: Collection[FactGroup]) -> tuple[Ints, Ints, Ints]:
    """When each was last seen, how often, and on how many days."""
    none = np.zeros(len(ids), np.int64)
    if "usage" not in groups:
        return np.full(len(ids), NEVER), none, none
    known = ids.tolist()
    seen = OneOf("memory_id", known)
    uses, days = snapshot.several(
        (
            RowsQuery("use", ("memory_id", "count", "last_at"), (seen,)),
            RowsQuery("use_day", ("memory_id",), (seen,)),
        )
    )
    usage = {memory: (count, last_at) for memory, count, last_at in uses}
    used = [usage.get(id_, (0, None)) for id_ in known]
    return (
        _times(last_at for _, last_at in used),
        _ints([count for count, _ in used]),
        _beside(ids, Counter(memory for (memory,) in days)).astype(np.int64),
    )


def _tempers(snapshot: Snapshot, scopes: Sequence[int]) -> Floats:
    tempers: dict[int, float] = dict(snapshot.rows("scope", ("id", "temper"), (OneOf("id", set(scopes)),)))
    return np.array([tempers.get(scope, 1.0) for scope in scopes], np.float64)


def _origins(columns: Mapping[str, Sequence[Any]]) -> Ints:
    # A note that was reworded since no longer says what its message says.
    each = zip(columns["id"], columns["drawn_from"], columns["revisions"], strict=True)
    return _ints([id_ if origin is None or revised else origin for id_, origin, revised in each])


def _positions(columns: Mapping[str, Sequence[Any]], sessions: Ints) -> Ints:
    each = zip(sessions.tolist(), columns["position"], strict=True)
    return _ints([position if where else 0 for where, position in each])


def _echoes(columns: Mapping[str, Sequence[Any]], query: str, session: str | None) -> Flags:
    texts = zip(columns["kind"], columns["session"], columns["text"], strict=True)
    return np.array(
        [kind == Kind.MESSAGE and where == session and text == query for kind, where, text in texts], bool
    )


def _informativeness(columns: Mapping[str, Sequence[Any]]) -> Floats:
    texts = zip(columns["kind"], columns["text"], strict=True)
    return np.array(
        [informativeness(text) if kind == Kind.MESSAGE else 1.0 for kind, text in texts], np.float64
    )


def _roles(columns: Mapping[str, Sequence[Any]]) -> Ints:
    each = list(zip(columns["kind"], columns["role"], strict=True))
    numbers = {one: _role(*one) for one in set(each)}
    return _ints([numbers[one] for one in each])


def _role(kind: str, role: str | None) -> int:
    if kind != Kind.MESSAGE:
        return NOBODY
    if is_assistant(role):
        return ASSISTANT
    return USER if (role or "").lower() == "user" else SPEAKER


def ends_with_question(text: str) -> bool:
    """Whatever blanks follow."""
    return text[-1:] in _LAST_LETTERS and text.rstrip(_BLANKS).endswith(_QUESTION_MARKS)


def _sessions(snapshot: Snapshot, columns: Mapping[str, Sequence[Any]]) -> Ints:
    """A number for the conversation that a message is part of; 0 of what is part of none, or alone in it."""
    places: list[tuple[Any, ...]] = list(
        zip(columns["kind"], columns["scope_id"], columns["session"], columns["position"], strict=True)
    )
    first = [
        (scope, session)
        for kind, scope, session, position in places
        if kind == Kind.MESSAGE and position == 1 and session is not None
    ]
    # The first message of a conversation that has no second one is alone in it.
    followed = set()
    if first:
        followed = {
            (scope, session)
            for scope, session in snapshot.rows(
                "memory",
                ("scope_id", "session"),
                (KeyIn(("scope_id", "session", "position"), [(*each, 2) for each in dict.fromkeys(first)]),),
            )
        }
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


def former_texts(memories: MemoryRows, ids: Sequence[int], now: int) -> dict[int, str]:
    """What those said at a moment of the past that say something else since."""
    rows = memories.select(ids, ("id", "revisions"))
    known, revisions = zip(*rows, strict=True) if rows else ((), ())
    return _former_texts(memories.snapshot, known, revisions, now)


def _former_texts(
    snapshot: Snapshot, ids: Sequence[int], revisions: Sequence[int], now: int
) -> dict[int, str]:
    if not any(revisions):
        return {}
    revised = [id_ for id_, count in zip(ids, revisions, strict=True) if count]
    wordings = snapshot.rows(
        "revision",
        ("memory_id", "text"),
        (OneOf("memory_id", revised), Compares("until", ">", now)),
        order=("id",),
        newest_first=True,
    )
    # The last to come is the first of those that held after the moment.
    return {memory: text for memory, text in wordings}  # noqa: C416  # a row is of any length


def _contents(columns: Mapping[str, Sequence[Any]], former: Mapping[int, str], ignore_marks: bool) -> Ints:
    """A hash of what each says; at a moment of the past, of what it said then.

    What a program knows by a name is like no other: it wants all that it stored.
    """
    if ignore_marks:
        texts = zip(columns["id"], columns["kind"], columns["ref"], columns["text"], strict=True)
        return _ints(
            [
                -id_ if kind == Kind.ENTITY or ref is not None else unmarked_text_key(text)
                for id_, kind, ref, text in texts
            ]
        )
    return _ints(
        [
            -id_ if ref is not None or key is None else text_key(former[id_]) if id_ in former else key
            for id_, ref, key in zip(columns["id"], columns["ref"], columns["text_key"], strict=True)
        ]
    )


def _degrees(snapshot: Snapshot, ids: Sequence[int], now: int) -> dict[int, int]:
    """Relations of each. One that has ended, or leads to something forgotten, connects nothing."""
    wanted = set(ids)
    degrees: Counter[int] = Counter()
    for source, target in snapshot.rows(
        "relation",
        ("source_id", "target_id"),
        (touching(ids), null_or_after("until", now), is_null("deleted_at")),
    ):
        degrees.update({source, target} & wanted)
    return degrees


def _metadata_shares(memories: MemoryRows, ids: Sequence[int]) -> dict[int, float]:
    """How much of an entity's observations in force are of the kind `metadata`."""
    every: Counter[int] = Counter()
    metadata: Counter[int] = Counter()
    entities = [id_ for id_, kind in memories.select(ids, ("id", "kind")) if kind == Kind.ENTITY]
    for memory, kind in memories.snapshot.rows(
        "observation", ("memory_id", "kind"), (OneOf("memory_id", entities), *IN_FORCE)
    ):
        every[memory] += 1
        metadata[memory] += kind == "metadata"
    return {memory: metadata[memory] / count for memory, count in every.items()}


def _named(columns: Mapping[str, Sequence[Any]], query: str) -> Flags:
    """Whether the query names the speaker; for texts without one, whether it names somebody in them."""
    asked = set(content_words(query))
    speakers = columns["speaker"]
    names = {speaker: asked.intersection(words(speaker)) for speaker in set(speakers) if speaker}
    people = set().union(*names.values())
    return np.array(
        [
            bool(names[speaker])
            if speaker
            else bool(people) and not people.isdisjoint(words(f"{name} {text}"))
            for name, text, speaker in zip(columns["name"], columns["text"], speakers, strict=True)
        ],
        bool,
    )


def cooccurrences(snapshot: Snapshot, ids: Sequence[int]) -> Cooccurrences:
    """Pairs of these, in the order of their ids; places are those of the sorted ids."""
    wanted = set(ids)
    rows = [
        row
        for row in snapshot.rows(
            "together", ("first_id", "second_id", "count", "last_at"), (OneOf("first_id", ids),)
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


def _beside(ids: Ints, numbers: Mapping[int, float]) -> Floats:
    """The numbers beside the ids; 0 where there is none."""
    if not numbers:
        return np.zeros(len(ids))
    return np.array([numbers.get(id_, 0) for id_ in ids.tolist()], np.float64)


def _times(column: Iterable[object]) -> Ints:
    return _ints([NEVER if at is None else at for at in column])


def _ints(column: Sequence[object]) -> Ints:
    return np.array(column, np.int64)
