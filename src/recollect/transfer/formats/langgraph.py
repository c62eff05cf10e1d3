"""LangGraph's stores in SQLite and PostgreSQL: items with JSON values, under namespaces and keys.

A namespace is an agent and an item a note, as in our own store for LangGraph, which then finds them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from recollect.transfer.formats import ForeignFormat
from recollect.transfer.formats.items import BadRow, ForeignItem, ForeignNote, NoPlace
from recollect.transfer.formats.values import moment_of, share_of, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from recollect.transfer.formats.source import ForeignSource

_NAME = "langgraph"
_COLUMNS = ("prefix", "key", "value", "created_at", "updated_at")
# Stores that an older version made have none.
_TTL = ("expires_at", "ttl_minutes")
# The state of running graphs, which is not memory; it is kept in the same database now and then.
_STATE = {"checkpoints": "checkpoints of threads", "writes": "writes of checkpoints"}


def _recognises(source: ForeignSource) -> bool:
    return set(_COLUMNS) <= set(_tables(source).get("store", ()))


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    tables = _tables(source)
    columns = (*_COLUMNS, *(name for name in _TTL if name in tables["store"]))
    statement = f"SELECT {', '.join(columns)} FROM store ORDER BY prefix, key"  # noqa: S608  # our own names
    for row in source.select(statement):
        yield _note(row)
    for table, what in _STATE.items():
        if table in tables:
            (counted,) = source.select(f"SELECT count(*) AS number FROM {table}")  # noqa: S608
            if counted["number"]:
                yield NoPlace(what, count=counted["number"])


def _tables(source: ForeignSource) -> dict[str, tuple[str, ...]]:
    return source.server_tables if source.url else source.tables


def _note(row: Mapping[str, Any]) -> ForeignItem:
    namespace, key, value = str(row["prefix"]), str(row["key"]), _value(row["value"])
    if not isinstance(value, dict):
        return BadRow(f"item {key} of {namespace}", "Its value is not a JSON object.")
    text = _text(value)
    metadata: dict[str, Any] = {"value": value}
    if not text.strip():
        metadata["indexed"] = False
    if isinstance(row.get("ttl_minutes"), int | float):
        metadata["ttl"] = float(row["ttl_minutes"])
    return ForeignNote(
        key=f"{namespace}:{key}",
        text=text if text.strip() else f"{namespace} {key}",
        created_at=moment_of(row["created_at"]),
        updated_at=moment_of(row["updated_at"]),
        expires_at=moment_of(row.get("expires_at")),
        category=_NAME,
        tags=words_of(value.get("tags")),
        importance=share_of(value.get("importance")),
        agent=namespace,
        ref=f"{_NAME}:{key}",
        metadata=metadata,
    )


def _value(raw: object) -> object:
    """PostgreSQL gives what it holds, SQLite its JSON."""
    if not isinstance(raw, str | bytes):
        return raw
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _text(value: Mapping[str, Any]) -> str:
    """In words rather than in JSON, which is what a model of texts reads best."""
    if len(value) == 1:
        (only,) = value.values()
        if isinstance(only, str) and only.strip():
            return only
    return "\n".join(
        f"{name}: {inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)}"
        for name, inner in value.items()
    )


FORMAT = ForeignFormat(_NAME, "LangGraph's store in SQLite or PostgreSQL", _recognises, _read)
