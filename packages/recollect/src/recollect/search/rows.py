"""Convert rows to records and back, and filters to conditions on rows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.domain.records import (
    Absence,
    Consolidation,
    Kind,
    Memory,
    Model,
    Observation,
    Passage,
    Relation,
    Revision,
    Scope,
    Status,
)
from recollect.domain.tables import (
    IN_FORCE,
    AnyOf,
    Compares,
    Condition,
    Equals,
    HasRow,
    Not,
    OneOf,
    Value,
    Where,
    is_null,
    is_set,
    null_or_after,
)
from recollect.ranking.factors import EPOCH, microseconds
from recollect.stores.port import RowsQuery, Snapshot
from recollect.text.passages import passage_text
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.domain.records import Filter
    from recollect.domain.tables import Row, Table


_FIRST = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST = microseconds(datetime.max.replace(tzinfo=UTC))


def stamp(moment: datetime) -> int:
    """Return the time in microseconds since 1970, exactly."""
    if moment.utcoffset() is None:
        raise InvalidInput(f"The time {moment} has no time zone; pass an aware datetime.")
    at = microseconds(moment)
    if not _FIRST <= at <= _LAST:  # in UTC, the year may be 0 or 10,000
        raise InvalidInput(f"The time {moment} is out of range: its year in UTC must be 1 to 9999.")
    return at


def stamp_or_none(when: datetime | None) -> int | None:
    return None if when is None else stamp(when)


def moment(at: int) -> datetime:
    return EPOCH + timedelta(microseconds=at)


def moment_or_none(at: int | None) -> datetime | None:
    return None if at is None else moment(at)


def json_or_none(given: Mapping[str, Any] | None) -> str | None:
    return None if given is None else json.dumps(given, ensure_ascii=False, separators=(",", ":"))


# Functions that read a stored value, and write a field, by the field's type. Other types need none.
_READERS: dict[str, Callable[[Any], object]] = {
    "datetime": moment,
    "datetime | None": moment_or_none,
    "bool": bool,
    "Kind": Kind,
    "Status": Status,
    "Consolidation": Consolidation,
    "Mapping[str, Any] | None": lambda stored: None if stored is None else json.loads(stored),
}
_WRITERS: dict[str, Callable[[Any], Value]] = {
    "datetime": stamp,
    "datetime | None": stamp_or_none,
    "bool": int,
    "Kind": str,
    "Status": str,
    "Consolidation": str,
    "Mapping[str, Any] | None": json_or_none,
}
# Fields of a memory that have tables of their own.
_CHILD_FIELDS = {"scope", "observations", "tags", "mentions", "about", "former", "absences"}
_MEMORY_FIELDS = [(each.name, str(each.type)) for each in fields(Memory) if each.name not in _CHILD_FIELDS]
_MEMORY_NAMES = tuple(name for name, _ in _MEMORY_FIELDS)
_MEMORY_READERS = [(name, _READERS[type_]) for name, type_ in _MEMORY_FIELDS if type_ in _READERS]
MEMORY_COLUMNS = ("scope_id", *_MEMORY_NAMES)
_OBSERVATION_FIELDS = [(each.name, str(each.type)) for each in fields(Observation)]
_OBSERVATION_READERS = [_READERS.get(type_) for _, type_ in _OBSERVATION_FIELDS]
_OBSERVATION_COLUMNS = ("memory_id", *(name for name, _ in _OBSERVATION_FIELDS))
_RELATION_COLUMNS = (
    "id", "source_id", "target_id", "type", "created_at", "context", "since", "until", "inverse_of",
    "deleted_at",
)  # fmt: skip


def row_values(record: Memory | Observation) -> dict[str, Value]:
    """Return the columns of a record's own row, without its id and its owner."""
    return {
        name: write(getattr(record, name)) if (write := _WRITERS.get(type_)) else getattr(record, name)
        for name, type_ in (_MEMORY_FIELDS if isinstance(record, Memory) else _OBSERVATION_FIELDS)
        if name != "id"
    }


def memories_where(
    snapshot: Snapshot, where: Where, *, order: Sequence[str] = (), limit: int | None = None
) -> list[Memory]:
    """Return whole memories, with the rows of other tables, in a constant number of queries."""
    rows = snapshot.rows("memory", MEMORY_COLUMNS, where, order=order, limit=limit)
    if not rows:
        return []
    return _memories(snapshot, rows, snapshot.rows_batch(_child_rows([row[1] for row in rows])))


def memories_and_rows(
    snapshot: Snapshot, ids: Iterable[int], other_queries: Sequence[RowsQuery]
) -> tuple[dict[int, Memory], list[list[Row]]]:
    """Return existing memories by id, even forgotten ones, and the rows of other queries, in one batch."""
    wanted = list(ids)
    own = RowsQuery("memory", MEMORY_COLUMNS, (OneOf("id", wanted),))
    children = _child_rows(wanted)
    rows, *others = snapshot.rows_batch((own, *children, *other_queries))
    found = _memories(snapshot, rows, others[: len(children)])
    return {memory.id: memory for memory in found}, others[len(children) :]


def _child_rows(ids: Sequence[int]) -> tuple[RowsQuery, ...]:
    owned = (OneOf("memory_id", ids),)
    return (
        RowsQuery("scope", ("id", "owner", "agent"), (HasRow("memory", "scope_id", (OneOf("id", ids),)),)),
        RowsQuery("observation", _OBSERVATION_COLUMNS, owned),
        RowsQuery("tag", ("memory_id", "folded", "tag"), owned),
        RowsQuery("mention", ("memory_id", "entity_id", "explicit"), owned),
        RowsQuery("revision", ("memory_id", "id", "text", "since", "until"), owned),
        RowsQuery("absence", ("memory_id", "since", "why", "until"), owned),
    )


def _memories(snapshot: Snapshot, rows: Sequence[Row], children_rows: Sequence[list[Row]]) -> list[Memory]:
    scopes, observations, tags, mentions, former, absences = children_rows
    children: dict[int, dict[str, Any]] = {}
    _group_children(children, "observations", observations, _observation)
    _group_children(children, "tags", tags, itemgetter(1))
    _group_children(children, "former", former, lambda row: Revision(row[1], moment(row[2]), moment(row[3])))
    _group_children(
        children, "absences", absences, lambda row: Absence(row[1], moment(row[0]), moment(row[2]))
    )
    if mentions:
        living = (OneOf("id", {entity for _, entity, _ in mentions}), is_null("deleted_at"))
        alive = {id_ for (id_,) in snapshot.rows("memory", ("id",), living)}
        of_living = [row for row in mentions if row[1] in alive]
        _group_children(children, "mentions", of_living, itemgetter(0))
        _group_children(children, "about", [row for row in of_living if row[2]], itemgetter(0))
    owners = {id_: Scope(owner, agent) for id_, owner, agent in scopes}
    memories = []
    for scope, *values in rows:
        own: dict[str, Any] = dict(zip(_MEMORY_NAMES, values, strict=True))
        for name, read in _MEMORY_READERS:
            own[name] = read(own[name])
        memories.append(Memory(scope=owners[scope], **own, **children.get(own["id"], {})))
    return memories


def _group_children(
    children: dict[int, dict[str, Any]], field: str, rows: Iterable[Row], value_of: Callable[[Row], object]
) -> None:
    """Group rows of another table by memory, under the name of a field, in the order of their keys."""
    # Keys come first and are unique, so later columns are never compared.
    for memory, group in groupby(sorted(rows), itemgetter(0)):
        children.setdefault(memory, {})[field] = tuple(value_of(row[1:]) for row in group)


def _observation(row: Row) -> Observation:
    return Observation(
        *(
            value if read is None else read(value)
            for read, value in zip(_OBSERVATION_READERS, row, strict=True)
        )  # type: ignore[arg-type]  # each value went through its field's reader
    )


def memories_by_id(snapshot: Snapshot, ids: Iterable[int]) -> dict[int, Memory]:
    """Return the existing memories, even forgotten ones."""
    return {memory.id: memory for memory in memories_where(snapshot, (OneOf("id", list(ids)),))}


# The model in use, and passages

MODEL_IN_USE = RowsQuery("model", ("id", "name", "dims", "centre"), (Equals("in_use", 1),))
PASSAGE_COLUMNS = ("id", "memory_id", "observation_id", "start", "stop", "revision_id")


def model_of(rows: Sequence[Row]) -> tuple[int, Model] | None:
    """Return the row id of the model in use, and the model; None without one."""
    return (rows[0][0], Model(*rows[0][1:])) if rows else None


def passages_from(
    snapshot: Snapshot, rows: Sequence[Row], memories: Mapping[int, Memory] | None
) -> list[Passage]:
    """Make passages from rows of `PASSAGE_COLUMNS`."""
    wanted = {row[1] for row in rows}
    if memories is None or not wanted <= memories.keys():
        memories = memories_by_id(snapshot, sorted(wanted))
    revisions = [row[5] for row in rows if row[5] is not None]
    former: dict[int, str] = {}
    if revisions:
        former = dict(snapshot.rows("revision", ("id", "text"), (OneOf("id", revisions),)))
    passages = []
    for id_, memory_id, observation_id, start, stop, revision in rows:
        memory = memories[memory_id]
        if revision is not None:
            memory = replace(memory, text=former[revision])
        about = next((seen for seen in memory.observations if seen.id == observation_id), None)
        whole = memory.text if about is None else about.content
        piece = whole[start:stop] if (start, stop) not in {(0, 0), (0, len(whole))} else None
        text = passage_text(memory, about, (start, stop))
        passages.append(Passage(id_, memory_id, memory.scope, text, piece))
    return passages


def relations_where(snapshot: Snapshot, where: Where, limit: int | None = None) -> list[Relation]:
    """Return relations by ascending id, with the names of their ends."""
    rows = snapshot.rows("relation", _RELATION_COLUMNS, where, limit=limit)
    ends = {id_ for row in rows for id_ in row[1:3]}
    names: dict[int, str] = dict(snapshot.rows("memory", ("id", "name"), (OneOf("id", ends),)))
    return [
        Relation(
            id=id_,
            source=source,
            target=target,
            source_name=names[source],
            target_name=names[target],
            type=type_,
            created_at=moment(created_at),
            context=context,
            since=moment_or_none(since),
            until=moment_or_none(until),
            inverse_of=inverse_of,
            deleted_at=moment_or_none(deleted_at),
        )
        for id_, source, target, type_, created_at, context, since, until, inverse_of, deleted_at in rows
    ]


def starts_or_ends_at(ids: Iterable[int]) -> Condition:
    """Return the condition that a relation starts or ends at one of these."""
    listed = list(ids)
    return AnyOf(((OneOf("source_id", listed),), (OneOf("target_id", listed),)))


def relations_of(snapshot: Snapshot, ids: Iterable[int], *, deleted: bool = False) -> list[Relation]:
    """Return the relations that start or end at one of these, by id, even ended ones."""
    existing = () if deleted else (is_null("deleted_at"),)
    return relations_where(snapshot, (starts_or_ends_at(ids), *existing))


def ids_superseded_by(snapshot: Snapshot, memory: int) -> list[int]:
    """Return the ids of the memories that this one superseded."""
    return [old for (old,) in snapshot.rows("memory", ("id",), (Equals("superseded_by", memory),))]


def scope_ids(snapshot: Snapshot, owner: str, agent: str | None) -> list[int]:
    """Return the ids of an owner's scopes with this agent; None means all, the one without an agent first."""
    if agent is None:
        found = snapshot.rows("scope", ("agent", "id"), (Equals("owner", owner),))
        return [id_ for _, id_ in sorted(found)]
    same = (Equals("owner", owner), Equals("agent", agent))
    return [id_ for (id_,) in snapshot.rows("scope", ("id",), same)]


def scope_id(snapshot: Snapshot, scope: Scope) -> int:
    """Return the id of a scope; 0 for a scope without rows."""
    return next(iter(scope_ids(snapshot, scope.owner, scope.agent)), 0)


# The rows of memories that one query needs, each read once

# Columns for ranking, times and contradictions. Other columns are read only for hits.
_COLUMNS = (
    "id", "kind", "scope_id", "created_at", "updated_at", "happened_at", "undated", "status", "importance",
    "strength", "depth", "spread", "stability", "text_key", "text", "name", "session", "position", "speaker",
    "drawn_from", "revisions", "role", "superseded_at", "ref",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(_COLUMNS)}
_ID = _PLACES["id"]


class MemoryRows:
    """Caches the rows of memories that were read from a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._rows: dict[int, Row] = {}
        self._requested: set[int] = set()

    def read(self, ids: Iterable[int]) -> None:
        """Read these memories, except those that were read before."""
        unknown = set(ids) - self._requested
        if unknown:
            self._requested |= unknown
            rows = self.snapshot.rows("memory", _COLUMNS, (OneOf("id", sorted(unknown)),))
            self._rows.update(zip(map(itemgetter(_ID), rows), rows, strict=True))

    def select(self, ids: Iterable[int], columns: Sequence[str]) -> list[Any]:
        """Return these columns of existing memories, in the order of the ids; for one column, its values."""
        ids = list(ids)
        self.read(ids)
        pick = itemgetter(*(_PLACES[column] for column in columns))
        return [pick(row) for id_ in ids if (row := self._rows.get(id_)) is not None]

    def columns(self, ids: Iterable[int]) -> dict[str, Sequence[Any]]:
        """Return all columns of existing memories, in the order of the ids."""
        ids = list(ids)
        self.read(ids)
        rows = [row for id_ in ids if (row := self._rows.get(id_)) is not None]
        return dict(zip(_COLUMNS, zip(*rows, strict=True) if rows else [()] * len(_COLUMNS), strict=True))


# Filters as conditions on rows, and past states

EVENT_TIME = ("happened_at", "created_at")


@dataclass(frozen=True, slots=True)
class PastState:
    """A state other than the present: at a past moment, with superseded memories, or both."""

    at: int | None
    superseded: bool

    @classmethod
    def of(cls, where: Filter) -> PastState | None:
        """Return the state that a filter asks for; None for the present."""
        if where.as_of is None and not where.superseded:
            return None
        return cls(None if where.as_of is None else stamp(where.as_of), where.superseded)

    def memory_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that a memory existed in this state."""
        conditions = self.observation_conditions()
        if self.at is None:
            return conditions
        why = (Equals("why", "forgotten"),) if self.superseded else ()
        absent = (Compares("since", "<=", self.at), Compares("until", ">", self.at), *why)
        return (*conditions, Not(HasRow("absence", "memory_id", absent)))

    def observation_conditions(self) -> tuple[Condition, ...]:
        """Return the conditions that an observation existed in this state, if its memory did."""
        conditions: list[Condition] = [self._not_yet("deleted_at")]
        if self.at is not None:
            conditions.append(Compares("created_at", "<=", self.at))
        if not self.superseded:
            conditions.append(self._not_yet("superseded_at"))
        return tuple(conditions)

    def changed_ids(self, snapshot: Snapshot) -> set[int]:
        """Return the ids of all memories that were different then, or are not in the present indexes.

        Each query uses an index, so its cost depends on the number of changes, not on the size of the store.
        """
        parts: list[tuple[Table, str, Condition]] = [
            ("memory", "id", is_set("superseded_at")),
            ("observation", "memory_id", is_set("superseded_at")),
        ]
        if self.at is not None:
            parts += [
                ("memory", "id", Compares("deleted_at", ">", self.at)),
                ("revision", "memory_id", Compares("until", ">", self.at)),
                ("observation", "memory_id", Compares("deleted_at", ">", self.at)),
                ("observation", "memory_id", Compares("created_at", ">", self.at)),
            ]
        return {
            id_
            for table, column, condition in parts
            for (id_,) in snapshot.rows(table, (column,), (condition,))
        }

    def _not_yet(self, column: str) -> Condition:
        return is_null(column) if self.at is None else null_or_after(column, self.at)


def allowed(where: Filter, scopes: Sequence[int]) -> tuple[Condition, ...]:
    return (OneOf("scope_id", scopes), *lifecycle(where), *narrowing(where))


def lifecycle(where: Filter) -> tuple[Condition, ...]:
    """Return the conditions on deletion and supersession: those of now, or of the filter's `as_of`."""
    if where.deleted and where.as_of is None:
        return ()  # deleted and superseded memories, too
    past = PastState.of(where)
    return IN_FORCE if past is None else past.memory_conditions()


def narrowing(where: Filter) -> tuple[Condition, ...]:
    """Return the conditions of a filter besides scope, deletion and supersession."""
    found: list[Condition] = []
    if where.kinds != frozenset(Kind):
        found.append(OneOf("kind", where.kinds))
    if where.current is not None:
        others = OneOf("kind", frozenset(Kind) - {Kind.MESSAGE})
        found.append(AnyOf(((others,), (Equals("session", where.current),))))
    if where.session is not None:
        found.append(Equals("session", where.session))
    found += [
        HasRow("tag", "memory_id", (Equals("folded", tag),)) for tag in sorted(set(map(fold, where.tags)))
    ]
    if where.refs is not None:
        found.append(OneOf("ref", where.refs))
    if where.category is not None:
        found.append(Equals("category", where.category))
    if where.speaker is not None:
        found.append(Equals("speaker", where.speaker))
    if where.about is not None:
        found.append(HasRow("mention", "memory_id", (Equals("entity_id", where.about),)))
    if where.expired_by is not None:
        found.append(null_or_after("expires_at", where.expired_by))
    if where.span is not None:
        found.append(OneOf("kind", frozenset(Kind) - {Kind.ENTITY}))
        found += [Compares(EVENT_TIME, ">=", where.span[0]), Compares(EVENT_TIME, "<", where.span[1])]
    return tuple(found)
