"""Read mem0: memories in a local Qdrant or Chroma, their history in SQLite, or the JSON of get_all."""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from recollect.domain.records import Revision
from recollect.transfer.importers import (
    BadRow,
    ForeignEntity,
    ForeignFormat,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignRelation,
    ForeignRow,
    ForeignSource,
    NotImported,
)
from recollect_importers.fields import (
    checked_objects,
    fraction_of,
    list_of,
    make_record,
    moment_of,
    object_of,
    open_sections,
    other_fields,
    split_tags,
    text_value,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    _Payload = tuple[str, dict[str, Any]]
    """The id of a record in a vector store, and the data stored with its vector."""

_HISTORY = "history.db"
_STORES = (
    "collection/*/storage.sqlite",
    "*/collection/*/storage.sqlite",
    "chroma.sqlite3",
    "*/chroma.sqlite3",
)
"""The paths of Qdrant's and Chroma's data, in a folder or one below."""
_QDRANT_MODELS = "qdrant_client.http.models.models"
_CHROMA_VALUES = ("string_value", "int_value", "float_value", "bool_value")
_SAMPLE_SIZE = 20
"""The number of records that are inspected to recognise a vector store."""
# Keys of a payload or an item of `get_all` that are not metadata: they become fields or repeat the text.
_KNOWN_KEYS = {
    "id", "data", "memory", "hash", "text_lemmatized", "created_at", "updated_at", "expiration_date",
    "user_id", "agent_id", "run_id", "actor_id", "role", "metadata", "category", "categories", "tags",
    "importance", "entity_type", "linked_memory_ids", "score", "chroma:document",
}  # fmt: skip
_NOTE_FIELDS = "created_at updated_at session=run_id expires_at=expiration_date owner=user_id agent=agent_id"


# Records of embedded vector databases: Qdrant's local mode, and Chroma


def _payloads(file: Path) -> Iterator[_Payload | BadRow]:
    """Yield the records of a vector store; nothing for another file."""
    source = ForeignSource(file)
    if source.has_table("points", "id", "point"):
        yield from _qdrant_payloads(file)
    elif source.has_table("embeddings", "embedding_id") and source.has_table("embedding_metadata", "key"):
        yield from _chroma_payloads(file)


def _qdrant_payloads(file: Path) -> Iterator[_Payload | BadRow]:
    with ForeignSource(file).database() as rows:
        for row in rows.execute("SELECT rowid, point FROM points ORDER BY rowid"):
            try:
                fields = _Unpickler(io.BytesIO(row["point"])).load().fields
                yield str(fields["id"]), dict(fields.get("payload") or {})
            except Exception as error:  # noqa: BLE001  # damaged bytes may raise any exception
                reason = f"The point cannot be read: {str(error) or type(error).__name__}."
                yield BadRow(f"{file.parent.name}, point {row['rowid']}", reason)


class _Point:
    """The data of a pickled Qdrant model, without its code."""

    fields: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fields = state["__dict__"]


class _Unpickler(pickle.Unpickler):
    """A safe unpickler of Qdrant's points. Pickles can run code, so only Qdrant's models are read."""

    def find_class(self, module: str, name: str) -> type:
        if module == _QDRANT_MODELS:
            return _Point
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is not part of a point")


def _chroma_payloads(file: Path) -> Iterator[_Payload]:
    """Yield each record's id and metadata, including its document."""
    source = ForeignSource(file)
    with source.database() as rows:
        for row in rows.execute("SELECT id, embedding_id FROM embeddings ORDER BY id").fetchall():
            payload: dict[str, Any] = {}
            for field in rows.execute("SELECT * FROM embedding_metadata WHERE id = ?", (row["id"],)):
                payload[field["key"]] = _chroma_value(field)
            if "embedding_metadata_array" in source.tables:
                items = "SELECT * FROM embedding_metadata_array WHERE id = ?"
                for field in rows.execute(items, (row["id"],)):
                    payload.setdefault(field["key"], []).append(_chroma_value(field))
            yield row.text("embedding_id"), payload


def _chroma_value(field: ForeignRow) -> Any:
    return next((field[name] for name in _CHROMA_VALUES if field[name] is not None), None)


# The format


def _recognises(source: ForeignSource) -> bool:
    if not source.is_folder and not source.is_database:
        return _memory_list(source.document) is not None
    history, stores = _files(source)
    if _is_history(history if source.is_folder else source.path):
        return True
    for store in stores:
        first = (each for each in islice(_payloads(store), _SAMPLE_SIZE) if not isinstance(each, BadRow))
        # Each record of mem0 has its text under `data`.
        if any({"data", "hash"} <= payload.keys() for _, payload in first):
            return True
    return False


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    memories = _memory_list(source.document) if not source.is_folder else None
    if memories is not None:
        yield from _items(memories, source.document)
        return
    history, stores = _files(source)
    payloads: dict[str, dict[str, Any]] = {}
    for store in stores:
        for each in _payloads(store):
            if isinstance(each, BadRow):
                yield each
            else:
                payloads[each[0]] = each[1]
    events = _events(history)
    about: defaultdict[str, list[str]] = defaultdict(list)
    for payload in payloads.values():
        for memory in split_tags(payload.get("linked_memory_ids")):
            about[memory].append(text_value(payload.get("data")))
    for key, payload in payloads.items():
        if "linked_memory_ids" in payload:
            type_ = text_value(payload.get("entity_type")).lower()
            yield make_record(ForeignEntity, payload, "name=data owner=user_id agent=agent_id", type=type_)
        elif "data" in payload:
            yield _note(key, payload, _revisions(events.get(key, ())), tuple(about[key]))
        else:
            yield NotImported("records of other programs in the same vector store", key)
    yield from _memories_of_history(events, payloads)
    if history is not None:
        yield from _messages(ForeignSource(history))


def _files(source: ForeignSource) -> tuple[Path | None, list[Path]]:
    """Return the history and the vector stores of one mem0 installation.

    A folder has both. A single file is read with the related files in its folder.
    """
    folder = source.path if source.is_folder else source.path.parent
    found = [file for place in (_HISTORY, f"*/{_HISTORY}") for file in sorted(folder.glob(place))]
    history = next((file for file in found if _is_history(file)), None)
    if not source.is_folder:
        if not _is_history(source.path):
            return history, [source.path]
        history = source.path
    return history, [file for place in _STORES for file in sorted(folder.glob(place))]


def _is_history(file: Path | None) -> bool:
    columns = ("memory_id", "old_memory", "new_memory")
    return file is not None and ForeignSource(file).has_table("history", *columns)


def _note(
    key: str, payload: dict[str, Any], former: tuple[Revision, ...] = (), about: tuple[str, ...] = ()
) -> ForeignItem:
    text = payload.get("data", payload.get("memory"))
    if not isinstance(text, str):
        return BadRow(f"memory {key}", "It has no text.")
    # `get_all` returns a payload's metadata under its own key.
    metadata = {**payload, **object_of(payload.get("metadata"))}
    categories = split_tags(metadata.get("categories"))
    category = text_value(metadata.get("category")) or (categories[0] if categories else "")
    assistant = "assistant" if payload.get("role") == "assistant" else ""
    return make_record(
        ForeignNote,
        payload,
        _NOTE_FIELDS,
        key=key,
        text=text,
        category=category,
        tags=(*split_tags(metadata.get("tags")), *(each for each in categories if each != category)),
        metadata=other_fields(metadata, _KNOWN_KEYS),
        importance=fraction_of(metadata.get("importance")),
        speaker=text_value(payload.get("actor_id")) or assistant,
        about=about,
        former=former,
    )


def _events(history: Path | None) -> dict[str, list[ForeignRow]]:
    """Read the events of each memory, in order."""
    events: defaultdict[str, list[ForeignRow]] = defaultdict(list)
    if history is not None:
        with open_sections(ForeignSource(history)) as rows:
            for row in rows("history"):
                events[row.text("memory_id")].append(row)
    return events


def _memories_of_history(
    events: dict[str, list[ForeignRow]], stored: dict[str, dict[str, Any]]
) -> Iterator[ForeignItem]:
    """Yield memories that are in the history but not in the vector stores."""
    # A history names no owner, so memories of several people cannot be separated.
    is_owned = any(each.get("user_id") or each.get("agent_id") for each in stored.values())
    for key, changes in events.items():
        last = changes[-1]
        if key in stored:
            continue
        if is_owned:
            text = last.text("old_memory") or last.text("new_memory")
            yield NotImported("memories only in the history, which does not name their owner", text[:60])
            continue
        deleted = bool(last["is_deleted"]) or last["event"] == "DELETE"
        yield ForeignNote(
            key=key,
            text=last.text("old_memory" if deleted else "new_memory"),
            created_at=moment_of(changes[0]["created_at"]) or moment_of(last["created_at"]),
            updated_at=_time(last),
            speaker=last.text("actor_id"),
            former=_revisions(changes),
            forgotten_at=_time(last) if deleted else None,
        )


def _messages(history: ForeignSource) -> Iterator[ForeignItem]:
    """Yield the last messages of each session."""
    with open_sections(history) as rows:
        for row in rows("messages"):
            session = row.text("session_scope")
            names = {name: values[0] for name, values in parse_qs(session).items()}
            yield make_record(
                ForeignMessage,
                row,
                "key=id text=content role speaker=name created_at",
                session=names.get("run_id") or session or "mem0",
                owner=names.get("user_id", ""),
                agent=names.get("agent_id", ""),
            )


def _revisions(events: Sequence[ForeignRow]) -> tuple[Revision, ...]:
    found: list[Revision] = []
    since = moment_of(events[0]["created_at"]) if events else None
    for event in events:
        until = _time(event)
        if event["event"] == "UPDATE" and event["old_memory"] and since and until:
            found.append(Revision(event.text("old_memory"), since, until))
        since = until or since
    return tuple(found)


def _time(event: ForeignRow) -> datetime | None:
    return moment_of(event["updated_at"]) or moment_of(event["created_at"])


def _memory_list(document: object) -> list[Any] | None:
    """Return the memories of a `get_all` document, with or without `results`; None for other documents."""
    rows = document.get("results") if isinstance(document, dict) else document
    match rows:
        case [{"memory": str(), "id": _}, *_]:
            return list_of(rows)
    return None


def _items(memories: list[Any], document: object) -> Iterator[ForeignItem]:
    owners: set[str] = set()
    agents: set[str] = set()
    for item in checked_objects(memories, "result"):
        if isinstance(item, BadRow):
            yield item
            continue
        yield _note(str(item["id"] or ""), item)
        owners.add(text_value(item["user_id"]))
        agents.add(text_value(item["agent_id"]))
    # A relation names no owner. If all memories have the same owner, it belongs to that owner.
    owner = min(owners)
    agent = min(agents) if len(agents) == 1 else ""
    for row in list_of(document.get("relations")) if isinstance(document, dict) else ():
        match row:
            case {"source": str(start), "relationship": str(type_)}:
                target = text_value(row.get("target") or row.get("destination"))
                if len(owners) > 1:
                    yield NotImported(
                        "relations that do not name their owner",
                        f"{start} {type_} {target}",
                        merged=ForeignRelation(start, type_, target),
                    )
                else:
                    yield ForeignRelation(start, type_, target, owner=owner, agent=agent)
            case _:
                yield BadRow("relations", "A relation has no source or relationship.")


FORMAT = ForeignFormat("mem0", "mem0's folder, history or JSON", _recognises, _read)
