"""Read programs with one database: Cognis, mcp-memory-service, MCP Memory v2, LangGraph."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from recollect.domain.errors import InvalidInput
from recollect.domain.records import Status
from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignFormat,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    ForeignSource,
    NotImported,
)
from recollect_importers.fields import (
    count_sections,
    make_record,
    moment_of,
    non_default,
    object_of,
    open_sections,
    other_fields,
    split_tags,
    text_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recollect_importers.fields import Sections

# Cognis: extracted memories with their versions, and the messages they come from, in `cognis.db`

_COGNIS_NOTE = """
key=memory_id text=content created_at updated_at happened_at=event_time category importance session=session_id
owner=owner_id agent=agent_id
"""
_COGNIS_MESSAGE = """
session=session_id key=message_id|id text=content role created_at=timestamp|created_at owner=owner_id
agent=agent_id
"""
_COGNIS_DEFAULTS = {"sector": "semantic", "scope": "user", "source_role": None, "confidence": 0.8}


def _cognis_file(source: ForeignSource) -> ForeignSource:
    """Return the file itself, or the one in a data folder."""
    found = source.file("cognis.db") if source.is_folder else None
    return source if found is None else ForeignSource(found)


def _is_cognis(source: ForeignSource) -> bool:
    columns = ("memory_id", "owner_id", "is_current", "replaces_id")
    return _cognis_file(source).has_table("memories", *columns)


def _read_cognis(source: ForeignSource) -> Iterator[ForeignItem]:
    with open_sections(_cognis_file(source)) as rows:
        # A later version names the one that it replaces.
        later = {row["replaces_id"]: row.text("memory_id") for row in rows("memories") if row["replaces_id"]}
        for row in rows("memories"):
            status = row["status"] or "current"
            ended_at = moment_of(row["valid_until"]) or moment_of(row["updated_at"])
            is_gone = status == "deleted"
            is_old = not is_gone and (status == "historical" or not row["is_current"])
            metadata = non_default(row, _COGNIS_DEFAULTS)
            if row["original_content"] not in (None, "", row["content"]):
                metadata["original_content"] = row["original_content"]
            yield make_record(
                ForeignNote,
                row,
                _COGNIS_NOTE,
                metadata=metadata,
                superseded_by=later.get(row["memory_id"]) if is_old else None,
                superseded_at=ended_at if is_old else None,
                forgotten_at=ended_at if is_gone else None,
                expires_at=moment_of(row["valid_until"]) if status == "current" else None,
            )
            if row["access_count"]:
                yield NotImported("access counts")
        for row in rows("messages"):
            yield make_record(ForeignMessage, row, _COGNIS_MESSAGE)
        for row in rows("memory_conflicts"):
            pair = f"{row['memory_id']} and {row['conflict_memory_id']}"
            yield NotImported("flags for contradicting memories", pair)


COGNIS = ForeignFormat("cognis", "Cognis's store", _is_cognis, _read_cognis)


# mcp-memory-service: memories with tags and metadata, links between them, and beliefs

_ENTITY_LINK = "has_entity"
"""The kind of a link that leads from a memory to the name of an entity."""
_NO_TAG = "untagged"
"""The tag that marks a memory without tags."""
_SERVICE_MAPPED = {"tags", "type", "importance", "importance_score", "session_id", "superseded_by"}
_SERVICE_NOTE = """
key=content_hash text=content created_at=created_at|created_at_iso updated_at=updated_at|updated_at_iso
category=memory_type forgotten_at=deleted_at
"""
_BELIEF = """
key=belief:{belief_hash} text=content created_at updated_at importance=confidence category='belief'
tags=[status]
"""


def _is_memory_service(source: ForeignSource) -> bool:
    return source.has_table("memories", "content_hash", "content", "tags", "memory_type", "metadata")


def _read_memory_service(source: ForeignSource) -> Iterator[ForeignItem]:
    with open_sections(source) as rows:
        about: defaultdict[str, list[str]] = defaultdict(list)
        for row in rows("memory_graph"):
            start, end = row.text("source_hash"), row.text("target_hash")
            kind = row.text("relationship_type")
            if kind == _ENTITY_LINK:
                about[start].append(end)
                type_ = text_value(object_of(row["metadata"]).get("entity_type"))
                yield make_record(ForeignEntity, row, "created_at", name=end, type=type_)
            else:
                yield NotImported("links between memories", f"{start[:8]} {kind or 'related'} {end[:8]}")
        for row in rows("memories"):
            metadata = object_of(row["metadata"])
            store = row.text("store")
            inner = "importance=importance|importance_score session=session_id"
            yield make_record(
                ForeignNote,
                row,
                _SERVICE_NOTE,
                tags=tuple(tag for tag in split_tags(row["tags"]) if tag != _NO_TAG),
                metadata=other_fields({**metadata, **non_default(row, {"confidence": 1})}, _SERVICE_MAPPED),
                about=tuple(about[row.text("content_hash")]),
                superseded_by=text_value(row["superseded_by"] or metadata.get("superseded_by")) or None,
                agent="" if store == "default" else store,
                **make_record(dict, metadata, inner),
            )
        for row in rows("beliefs"):
            updated = moment_of(row["updated_at"])
            ended = updated if row["status"] == "superseded" else None
            yield make_record(ForeignNote, row, _BELIEF, superseded_at=ended)


MCP_MEMORY_SERVICE = ForeignFormat(
    "mcp-memory-service", "mcp-memory-service's SQLite file", _is_memory_service, _read_memory_service
)


# MCP Memory v2: a knowledge graph, with relations that end and observations with kinds

# Statistics for its ranking; Recollect collects its own.
_V2_STATISTICS = {
    "entity_access": "access counts",
    "entity_access_log": "days of access",
    "co_occurrences": "pairs found together",
    "search_events": "logged searches",
    "search_results": "logged search results",
    "implicit_feedback": "logged feedback",
}
_REFLECTION = "key=reflection:{id} text=content created_at speaker=author category='reflection' tags=[mood]"


def _is_memory_v2(source: ForeignSource) -> bool:
    return (
        source.has_table("entities", "id", "name", "entity_type")
        and source.has_table("observations", "entity_id", "content")
        and source.has_table("relations", "from_entity", "to_entity", "relation_type")
    )


def _read_memory_v2(source: ForeignSource) -> Iterator[ForeignItem]:
    with open_sections(source) as rows:
        names = {row["id"]: row.text("name") for row in rows("entities")}
        yield from _v2_entities(rows)
        for row in rows("relations"):
            ends = (names.get(row["from_entity"]), names.get(row["to_entity"]))
            if ends[0] is None or ends[1] is None:
                yield BadRow(f"relation {row['id']}", "The entity at one of its ends is not in the file.")
                continue
            until = "until=ended_at|created_at" if row["active"] == 0 else "until=ended_at"
            columns = f"type=relation_type context created_at {until}"
            yield make_record(ForeignRelation, row, columns, source=ends[0], target=ends[1])
        # A reflection is about an entity, a relation, a session or everything.
        for row in rows("reflections"):
            named = names.get(row["target_id"]) if row["target_type"] == "entity" else None
            yield make_record(ForeignNote, row, _REFLECTION, about=(named,) if named else ())
            if row["target_type"] not in ("entity", "global") and row["target_id"] is not None:
                yield NotImported("subjects of reflections that are not entities", row.text("target_type"))
        yield from count_sections(rows, _V2_STATISTICS)


def _v2_entities(rows: Sections) -> Iterator[ForeignItem]:
    found = list(rows("observations"))
    # A later observation names the one that it replaces.
    successors = {row["supersedes"]: row.text("content") for row in found if row["supersedes"] is not None}
    observations: defaultdict[int, list[ForeignObservation]] = defaultdict(list)
    for row in found:
        later = successors.get(row["id"]) if moment_of(row["superseded_at"]) else None
        observations[row["entity_id"]].append(
            make_record(ForeignObservation, row, "content kind created_at superseded_at", superseded_by=later)
        )
    for row in rows("entities"):
        try:
            known = Status.of(row.text("status") or "active")
        except InvalidInput as error:
            yield BadRow(f"entity {row.text('name')}, status", str(error))
            known = Status.ACTIVE
        yield make_record(
            ForeignEntity,
            row,
            "name created_at updated_at",
            # Generic means an unknown type.
            type="" if row["entity_type"] == "Generic" else row.text("entity_type"),
            observations=tuple(observations.pop(row["id"], ())),
            status=known,
        )
    for entity, orphans in observations.items():
        yield BadRow(f"{len(orphans)} observations", f"Their entity {entity} is not in the file.")


MCP_MEMORY_V2 = ForeignFormat("mcp-memory-v2", "MCP Memory v2's SQLite file", _is_memory_v2, _read_memory_v2)


# LangGraph's stores in SQLite and PostgreSQL: items with JSON values, under namespaces and keys. A namespace
# becomes an agent and an item a note, as in Recollect's store for LangGraph, which can then read them.

_GRAPH = "langgraph"
_GRAPH_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")
# Columns that stores of older versions lack.
_GRAPH_TTL = ("expires_at", "ttl_minutes")
# The state of running graphs, which is not memory but may be in the same database.
_GRAPH_STATE = {"checkpoints": "checkpoints of threads", "writes": "writes of checkpoints"}


def _is_langgraph(source: ForeignSource) -> bool:
    return set(_GRAPH_COLUMNS) <= set(source.tables.get("store", ()))


def _read_langgraph(source: ForeignSource) -> Iterator[ForeignItem]:
    columns = (*_GRAPH_COLUMNS, *(name for name in _GRAPH_TTL if name in source.tables["store"]))
    statement = f"SELECT {', '.join(columns)} FROM store ORDER BY prefix, key"  # noqa: S608  # constant names
    for row in source.select(statement):
        yield _graph_note(row)
    for table, what in _GRAPH_STATE.items():
        if table in source.tables:
            (counted,) = source.select(f"SELECT count(*) AS number FROM {table}")  # noqa: S608
            if counted["number"]:
                yield NotImported(what, count=counted["number"])


def _graph_note(row: Mapping[str, Any]) -> ForeignItem:
    namespace, key, value = str(row["prefix"]), str(row["key"]), row["value"]
    if isinstance(value, str | bytes):  # SQLite returns JSON text, PostgreSQL the value
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
    if not isinstance(value, dict):
        return BadRow(f"item {key} of {namespace}", "Its value is not a JSON object.")
    # Write fields as lines: embedding models read words better than JSON.
    lines = [
        f"{name}: {inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)}"
        for name, inner in value.items()
    ]
    texts = [inner for inner in value.values() if isinstance(inner, str) and inner.strip()]
    text = texts[0] if len(value) == len(texts) == 1 else "\n".join(lines)
    metadata: dict[str, Any] = {"value": value}
    if not text.strip():
        metadata["indexed"] = False
    if isinstance(row.get("ttl_minutes"), int | float):
        metadata["ttl"] = float(row["ttl_minutes"])
    return make_record(
        ForeignNote,
        row,
        "created_at updated_at expires_at",
        key=f"{namespace}:{key}",
        text=text if text.strip() else f"{namespace} {key}",
        category=_GRAPH,
        agent=namespace,
        ref=f"{_GRAPH}:{key}",
        metadata=metadata,
        **make_record(dict, value, "tags importance"),
    )


LANGGRAPH = ForeignFormat(_GRAPH, "LangGraph's store in SQLite or PostgreSQL", _is_langgraph, _read_langgraph)
