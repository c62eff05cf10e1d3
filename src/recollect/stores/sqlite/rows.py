"""Rows of the tables to records and back."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from recollect.changes import Added, Outcome, Receipt
from recollect.errors import InvalidInput
from recollect.factors.recency import EPOCH, microseconds
from recollect.records import (
    Absence,
    Consolidation,
    Kind,
    Memory,
    Observation,
    Relation,
    Revision,
    Scope,
    Status,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

Row = tuple[Any, ...]

_FIRST = microseconds(datetime.min.replace(tzinfo=UTC))
_LAST = microseconds(datetime.max.replace(tzinfo=UTC))


def stamp(moment: datetime) -> int:
    """Whole microseconds since 1970, exactly."""
    if moment.utcoffset() is None:
        raise InvalidInput(f"The time {moment} names no time zone; pass an aware datetime.")
    at = microseconds(moment)
    if not _FIRST <= at <= _LAST:  # a date in its own zone, and none in UTC: it could not be read back
        raise InvalidInput(f"The time {moment} lies outside the calendar; the years are 1 to 9999, in UTC.")
    return at


def moment(stamp: int) -> datetime:
    return EPOCH + timedelta(microseconds=stamp)


def stamp_or_none(when: datetime | None) -> int | None:
    return None if when is None else stamp(when)


def moment_or_none(at: int | None) -> datetime | None:
    return None if at is None else moment(at)


MEMORY_COLUMNS = (
    "id, kind, created_at, updated_at, happened_at, name, type, text, category, source, session, position, "
    "role, speaker, status, consolidation, strength, depth, spread, stability, importance, importance_tag, "
    "pinned, revisions, duplicates, superseded_by, superseded_at, deleted_at, undated, drawn_from, "
    "similar_to, similarity"
)
OBSERVATION_COLUMNS = (
    "id, content, kind, created_at, happened_at, superseded_by, superseded_at, similar_to, similarity, "
    "corrected_by, deleted_at"
)


@dataclass(frozen=True, slots=True)
class Belongings:
    """What stands in other tables about a memory."""

    observations: Sequence[Observation] = ()
    tags: Sequence[str] = ()
    mentions: Sequence[int] = ()
    about: Sequence[int] = ()
    former: Sequence[Revision] = ()
    absences: Sequence[Absence] = ()


def memory_of(row: Row, scope: Scope, belongings: Belongings) -> Memory:
    """From a row of MEMORY_COLUMNS."""
    return Memory(
        id=row[0],
        kind=Kind(row[1]),
        scope=scope,
        created_at=moment(row[2]),
        updated_at=moment(row[3]),
        happened_at=moment_or_none(row[4]),
        name=row[5],
        type=row[6],
        text=row[7],
        category=row[8],
        source=row[9],
        session=row[10],
        position=row[11],
        role=row[12],
        speaker=row[13],
        status=Status(row[14]),
        consolidation=Consolidation(row[15]),
        strength=row[16],
        depth=row[17],
        spread=row[18],
        stability=row[19],
        importance=row[20],
        importance_tag=row[21],
        pinned=bool(row[22]),
        revisions=row[23],
        duplicates=row[24],
        superseded_by=row[25],
        superseded_at=moment_or_none(row[26]),
        deleted_at=moment_or_none(row[27]),
        undated=bool(row[28]),
        drawn_from=row[29],
        similar_to=row[30],
        similarity=row[31],
        observations=tuple(belongings.observations),
        tags=tuple(belongings.tags),
        mentions=tuple(belongings.mentions),
        about=tuple(belongings.about),
        former=tuple(belongings.former),
        absences=tuple(belongings.absences),
    )


def row_of(memory: Memory) -> dict[str, object]:
    """The columns of a memory's row, but for its id, scope and folded name."""
    return {
        "kind": memory.kind.value,
        "created_at": stamp(memory.created_at),
        "updated_at": stamp(memory.updated_at),
        "happened_at": stamp_or_none(memory.happened_at),
        "name": memory.name,
        "type": memory.type,
        "text": memory.text,
        "category": memory.category,
        "source": memory.source,
        "session": memory.session,
        "position": memory.position,
        "role": memory.role,
        "speaker": memory.speaker,
        "status": memory.status.value,
        "consolidation": memory.consolidation.value,
        "strength": memory.strength,
        "depth": memory.depth,
        "spread": memory.spread,
        "stability": memory.stability,
        "importance": memory.importance,
        "importance_tag": memory.importance_tag,
        "pinned": int(memory.pinned),
        "revisions": memory.revisions,
        "duplicates": memory.duplicates,
        "superseded_by": memory.superseded_by,
        "superseded_at": stamp_or_none(memory.superseded_at),
        "deleted_at": stamp_or_none(memory.deleted_at),
        "undated": int(memory.undated),
        "drawn_from": memory.drawn_from,
        "similar_to": memory.similar_to,
        "similarity": memory.similarity,
    }


def observation_of(row: Row) -> Observation:
    """From a row of OBSERVATION_COLUMNS."""
    return Observation(
        id=row[0],
        content=row[1],
        kind=row[2],
        created_at=moment(row[3]),
        happened_at=moment_or_none(row[4]),
        superseded_by=row[5],
        superseded_at=moment_or_none(row[6]),
        similar_to=row[7],
        similarity=row[8],
        corrected_by=row[9],
        deleted_at=moment_or_none(row[10]),
    )


def revision_of(row: Row) -> Revision:
    return Revision(text=row[0], since=moment(row[1]), until=moment(row[2]))


def absence_of(row: Row) -> Absence:
    return Absence(why=row[0], since=moment(row[1]), until=moment(row[2]))


def relation_of(row: Row) -> Relation:
    return Relation(
        id=row[0],
        source=row[1],
        target=row[2],
        source_name=row[3],
        target_name=row[4],
        type=row[5],
        created_at=moment(row[6]),
        context=row[7],
        since=moment_or_none(row[8]),
        until=moment_or_none(row[9]),
        inverse_of=row[10],
        deleted_at=moment_or_none(row[11]),
    )


def first(cursor: apsw.Cursor) -> Any:
    """The first column of the only row of a question that always has an answer, such as a count."""
    row = cursor.fetchone()
    assert row is not None  # noqa: S101  # what the caller promises
    return row[0]


def storable(text: str) -> str | None:
    """None for what is no text, such as half a surrogate pair: it stands in no store."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return None
    return text


def many(values: Iterable[int | str]) -> str:
    """Many values as one parameter: `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(values))


def receipt_json(outcomes: Sequence[Outcome]) -> str:
    return json.dumps([asdict(outcome) for outcome in outcomes], ensure_ascii=False)


def import_setting(scope: Scope, file: str) -> str:
    """The name under which the settings note that a file was brought into a scope."""
    return json.dumps(["imported", scope.owner, scope.agent, file])


def receipt_of(text: str) -> Receipt:
    return Receipt(tuple(_outcome_of(plain) for plain in json.loads(text)), repeated=True)


def _outcome_of(plain: dict[str, Any]) -> Outcome:
    fields: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }
    fields["added"] = tuple(Added(**observation) for observation in plain["added"])
    return Outcome(**fields)
