"""MCP Memory v2: a knowledge graph in a SQLite file, with relations that end and observations with kinds."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.records import Status
from recollect.transfer.chats.conversation import time_of_iso
from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import (
    BadRow,
    ForeignEntity,
    ForeignItem,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    NoPlace,
)

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from recollect.transfer.formats.source import ForeignSource

# What only serves its own ranking: our store learns that anew from how it is used.
_LEARNT = {
    "entity_access": "access counts",
    "entity_access_log": "days of access",
    "co_occurrences": "pairs found together",
    "search_events": "logged searches",
    "search_results": "logged search results",
    "implicit_feedback": "logged feedback",
}


def _recognises(source: ForeignSource) -> bool:
    return (
        source.has_table("entities", "id", "name", "entity_type")
        and source.has_table("observations", "entity_id", "content")
        and source.has_table("relations", "from_entity", "to_entity", "relation_type")
    )


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    with source.database() as rows:
        names = {row["id"]: row.text("name") for row in rows.execute("SELECT id, name FROM entities")}
        yield from _entities(rows)
        yield from _relations(rows, names)
        if "reflections" in source.tables:
            yield from _reflections(rows, names)
        for table, what in _LEARNT.items():
            if table in source.tables:
                statement = f'SELECT count(*) AS number FROM "{table}"'  # noqa: S608  # a name of ours
                if number := rows.execute(statement).fetchone()["number"]:
                    yield NoPlace(what, count=number)


def _entities(rows: sqlite3.Connection) -> Iterator[ForeignItem]:
    observations = _observations(rows)
    for row in rows.execute("SELECT * FROM entities ORDER BY id"):
        created = time_of_iso(row["created_at"])
        try:
            known = Status.of(row.text("status") or "active")
        except InvalidInput as error:
            yield BadRow(f"entity {row.text('name')}, status", str(error))
            known = Status.ACTIVE
        yield ForeignEntity(
            name=row.text("name"),
            # Its word for an entity whose type nobody named.
            type="" if row["entity_type"] == "Generic" else row.text("entity_type"),
            observations=tuple(observations.pop(row["id"], ())),
            created_at=created,
            updated_at=time_of_iso(row["updated_at"]),
            status=known,
        )
    for entity, lost in observations.items():
        yield BadRow(f"{len(lost)} observations", f"Their entity {entity} is not in the file.")


def _observations(rows: sqlite3.Connection) -> dict[int, list[ForeignObservation]]:
    found = rows.execute("SELECT * FROM observations ORDER BY id").fetchall()
    # A later observation names the one that it replaces.
    successors = {row["supersedes"]: row.text("content") for row in found if row["supersedes"] is not None}
    observations: defaultdict[int, list[ForeignObservation]] = defaultdict(list)
    for row in found:
        superseded = time_of_iso(row["superseded_at"])
        observations[row["entity_id"]].append(
            ForeignObservation(
                content=row.text("content"),
                kind=row.text("kind"),
                created_at=time_of_iso(row["created_at"]),
                superseded_at=superseded,
                superseded_by=successors.get(row["id"]) if superseded else None,
            )
        )
    return observations


def _relations(rows: sqlite3.Connection, names: dict[int, str]) -> Iterator[ForeignItem]:
    for row in rows.execute("SELECT * FROM relations ORDER BY id"):
        ends = (names.get(row["from_entity"]), names.get(row["to_entity"]))
        if ends[0] is None or ends[1] is None:
            yield BadRow(f"relation {row['id']}", "The entity at one of its ends is not in the file.")
            continue
        created = time_of_iso(row["created_at"])
        ended = time_of_iso(row["ended_at"])
        if row["active"] == 0:
            ended = ended or created
        yield ForeignRelation(
            source=ends[0],
            type=row.text("relation_type"),
            target=ends[1],
            context=row.text("context"),
            created_at=created,
            until=ended,
        )


def _reflections(rows: sqlite3.Connection, names: dict[int, str]) -> Iterator[ForeignItem]:
    """What somebody thought of an entity, a relation, a session or of everything."""
    for row in rows.execute("SELECT * FROM reflections ORDER BY id"):
        named = names.get(row["target_id"]) if row["target_type"] == "entity" else None
        yield ForeignNote(
            key=f"reflection:{row['id']}",
            text=row.text("content"),
            created_at=time_of_iso(row["created_at"]),
            category="reflection",
            tags=(row.text("mood"),),
            speaker=row.text("author"),
            about=(named,) if named else (),
        )
        if row["target_type"] not in ("entity", "global") and row["target_id"] is not None:
            yield NoPlace("what reflections are about, other than entities", row.text("target_type"))


FORMAT = ForeignFormat("mcp-memory-v2", "MCP Memory v2's SQLite file", _recognises, _read)
