"""mem0: memories in a local Qdrant or Chroma, their history in SQLite, or as the JSON of get_all."""

from __future__ import annotations

import io
import pickle
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from recollect.domain.lazy_dataclass import dataclass
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
    NoPlace,
    open_database,
)
from recollect_importers.fields import (
    made,
    moment_of,
    object_of,
    other_fields,
    share_of,
    text_value,
    words_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

# Reads payloads from the folders of embedded vector databases: Qdrant's local mode, and Chroma.


_QDRANT_MODELS = "qdrant_client.http.models.models"
_CHROMA_VALUES = ("string_value", "int_value", "float_value", "bool_value")


def qdrant_files(folder: Path) -> list[Path]:
    """The collections of a local Qdrant in this folder or one below."""
    places = ("collection/*/storage.sqlite", "*/collection/*/storage.sqlite")
    return sorted(file for place in places for file in folder.glob(place))


def chroma_files(folder: Path) -> list[Path]:
    return sorted(file for place in ("chroma.sqlite3", "*/chroma.sqlite3") for file in folder.glob(place))


def is_qdrant(source: ForeignSource) -> bool:
    return source.has_table("points", "id", "point")


def is_chroma(source: ForeignSource) -> bool:
    return source.has_table("embeddings", "embedding_id") and source.has_table("embedding_metadata", "key")


def qdrant_payloads(file: Path) -> Iterator[tuple[str, dict[str, Any]] | BadRow]:
    """Each point's id and payload."""
    with open_database(file) as rows:
        for row in rows.execute("SELECT rowid, point FROM points ORDER BY rowid"):
            try:
                fields = _Unpickler(io.BytesIO(row["point"])).load().fields
                yield str(fields["id"]), dict(fields.get("payload") or {})
            except Exception as error:  # noqa: BLE001  # bytes that are no pickle of a point fail in any way
                reason = f"The point cannot be read: {str(error) or type(error).__name__}."
                yield BadRow(f"{file.parent.name}, point {row['rowid']}", reason)


class _Point:
    """The data of a pickled Qdrant model, without its code."""

    fields: dict[str, Any]

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.fields = state["__dict__"]


class _Unpickler(pickle.Unpickler):
    """Qdrant stores points as pickles, which could run any code. This reads only its models, as data."""

    def find_class(self, module: str, name: str) -> type:
        if module == _QDRANT_MODELS:
            return _Point
        raise pickle.UnpicklingError(f"it names {module}.{name}, which is not part of a point")


def chroma_payloads(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each record's id and metadata, its document included."""
    with open_database(file) as rows:
        tables = {row["name"] for row in rows.execute("SELECT name FROM sqlite_master WHERE type='table'")}
        for row in rows.execute("SELECT id, embedding_id FROM embeddings ORDER BY id").fetchall():
            payload: dict[str, Any] = {}
            for field in rows.execute("SELECT * FROM embedding_metadata WHERE id = ?", (row["id"],)):
                payload[field["key"]] = _chroma_value(field)
            if "embedding_metadata_array" in tables:
                for field in rows.execute(
                    "SELECT * FROM embedding_metadata_array WHERE id = ?", (row["id"],)
                ):
                    payload.setdefault(field["key"], []).append(_chroma_value(field))
            yield row.text("embedding_id"), payload


def _chroma_value(field: ForeignRow) -> Any:
    return next((field[name] for name in _CHROMA_VALUES if field[name] is not None), None)


# mem0: memories in a local Qdrant or Chroma, their history in SQLite, or as the JSON of `get_all`.


_HISTORY = "history.db"
_LOOKED_AT = 20
"""Records of a vector store, before it is taken for another program's."""
# Of a payload or an item of `get_all`: what becomes a field, and what is only another form of the text.
_PLACED = {
    "id", "data", "memory", "hash", "text_lemmatized", "created_at", "updated_at", "expiration_date",
    "user_id", "agent_id", "run_id", "actor_id", "role", "metadata", "category", "categories", "tags",
    "importance", "entity_type", "linked_memory_ids", "score", "chroma:document",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Files:
    """Where one mem0 keeps its memories."""

    history: Path | None
    qdrant: Sequence[Path]
    chroma: Sequence[Path]


def _recognises(source: ForeignSource) -> bool:
    if source.is_folder:
        files = _files(source)
        stores = (*files.qdrant, *files.chroma)
        return _is_history(files.history) or any(_has_memories(file) for file in stores)
    if source.is_database:
        return _is_history(source.path) or _has_memories(source.path)
    return _listed(source.document) is not None


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    listed = _listed(source.document) if not source.is_folder else None
    if listed is not None:
        yield from _items(listed, source.document)
        return
    files = _files(source)
    payloads, bad = _payloads(files)
    yield from bad
    history = _History(files.history)
    about: defaultdict[str, list[str]] = defaultdict(list)
    for payload in payloads.values():
        for memory in words_of(payload.get("linked_memory_ids")):
            about[memory].append(text_value(payload.get("data")))
    for key, payload in payloads.items():
        if "linked_memory_ids" in payload:
            type_ = text_value(payload.get("entity_type")).lower()
            yield made(ForeignEntity, payload, "name=data owner=user_id agent=agent_id", type=type_)
        elif "data" in payload:
            yield _note(key, payload, history.former.get(key, ()), tuple(about.get(key, ())))
        else:
            yield NoPlace("records of other programs in the same vector store", key)
    yield from history.rest(payloads)


def _files(source: ForeignSource) -> _Files:
    """Of a folder: what is in it. Of a file: that file, with what belongs to it in the same folder."""
    folder = source.path if source.is_folder else source.path.parent
    found = [file for place in (_HISTORY, f"*/{_HISTORY}") for file in sorted(folder.glob(place))]
    history = next((file for file in found if _is_history(file)), None)
    if source.is_folder or _is_history(source.path):
        history = history if source.is_folder else source.path
        return _Files(history, qdrant_files(folder), chroma_files(folder))
    if is_qdrant(source):
        return _Files(history, [source.path], [])
    return _Files(history, [], [source.path])


def _is_history(file: Path | None) -> bool:
    return file is not None and ForeignSource(file).has_table(
        "history", "memory_id", "old_memory", "new_memory"
    )


def _has_memories(file: Path) -> bool:
    """Whether one of the first records of a vector store is mem0's: each has its text under `data`."""
    source = ForeignSource(file)
    if is_qdrant(source):
        found = qdrant_payloads(file)
    elif is_chroma(source):
        found = chroma_payloads(file)
    else:
        return False
    first = (each for each in islice(found, _LOOKED_AT) if not isinstance(each, BadRow))
    return any({"data", "hash"} <= payload.keys() for _, payload in first)


def _payloads(files: _Files) -> tuple[dict[str, dict[str, Any]], list[BadRow]]:
    payloads: dict[str, dict[str, Any]] = {}
    bad: list[BadRow] = []
    for file in files.qdrant:
        for each in qdrant_payloads(file):
            if isinstance(each, BadRow):
                bad.append(each)
            else:
                payloads[each[0]] = each[1]
    for file in files.chroma:
        payloads.update(chroma_payloads(file))
    return payloads, bad


def _note(
    key: str, payload: dict[str, Any], former: Sequence[Revision] = (), about: tuple[str, ...] = ()
) -> ForeignItem:
    text = payload.get("data", payload.get("memory"))
    if not isinstance(text, str):
        return BadRow(f"memory {key}", "It has no text.")
    # `get_all` keeps apart what a payload holds beside the rest.
    metadata = {**payload, **object_of(payload.get("metadata"))}
    categories = words_of(metadata.get("categories"))
    category = text_value(metadata.get("category")) or (categories[0] if categories else "")
    assistant = "assistant" if payload.get("role") == "assistant" else ""
    return made(
        ForeignNote,
        payload,
        "created_at updated_at session=run_id expires_at=expiration_date owner=user_id agent=agent_id",
        key=key,
        text=text,
        category=category,
        tags=(*words_of(metadata.get("tags")), *(each for each in categories if each != category)),
        metadata=other_fields(metadata, _PLACED),
        importance=share_of(metadata.get("importance")),
        speaker=text_value(payload.get("actor_id")) or assistant,
        about=about,
        former=tuple(former),
    )


class _History:
    """What memories said before, and those that were deleted."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self.former: dict[str, list[Revision]] = {}
        self._events: defaultdict[str, list[ForeignRow]] = defaultdict(list)
        if file is None:
            return
        with ForeignSource(file).database() as rows:
            for row in rows.execute("SELECT * FROM history ORDER BY rowid"):
                self._events[row.text("memory_id")].append(row)
        for key, events in self._events.items():
            self.former[key] = list(_revisions(events))

    def rest(self, stored: dict[str, dict[str, Any]]) -> Iterator[ForeignItem]:
        """Memories that the vector store does not have, and the last messages of each session."""
        # A history names no owner, so nobody else may get what one of several people has deleted.
        is_owned = any(each.get("user_id") or each.get("agent_id") for each in stored.values())
        for key, events in self._events.items():
            if key in stored:
                continue
            if is_owned:
                text = events[-1].text("old_memory") or events[-1].text("new_memory")
                yield NoPlace("memories only in the history, which does not name their owner", text[:60])
            else:
                yield self._unstored(key, events)
        yield from self._messages()

    def _unstored(self, key: str, events: Sequence[ForeignRow]) -> ForeignItem:
        last = events[-1]
        deleted = bool(last["is_deleted"]) or last["event"] == "DELETE"
        return ForeignNote(
            key=key,
            text=last.text("old_memory" if deleted else "new_memory"),
            created_at=moment_of(events[0]["created_at"]) or moment_of(last["created_at"]),
            updated_at=_time(last),
            speaker=last.text("actor_id"),
            former=tuple(self.former.get(key, ())),
            forgotten_at=_time(last) if deleted else None,
        )

    def _messages(self) -> Iterator[ForeignItem]:
        if self._file is None or "messages" not in ForeignSource(self._file).tables:
            return
        with ForeignSource(self._file).database() as rows:
            for row in rows.execute("SELECT * FROM messages ORDER BY rowid"):
                session = row.text("session_scope")
                names = {name: values[0] for name, values in parse_qs(session).items()}
                yield made(
                    ForeignMessage,
                    row,
                    "key=id text=content role speaker=name created_at",
                    session=names.get("run_id") or session or "mem0",
                    owner=names.get("user_id", ""),
                    agent=names.get("agent_id", ""),
                )


def _revisions(events: Sequence[ForeignRow]) -> Iterator[Revision]:
    since = moment_of(events[0]["created_at"])
    for event in events:
        until = _time(event)
        if event["event"] == "UPDATE" and event["old_memory"] and since and until:
            yield Revision(event.text("old_memory"), since, until)
        since = until or since


def _time(event: ForeignRow) -> Any:
    return moment_of(event["updated_at"]) or moment_of(event["created_at"])


def _listed(document: object) -> list[Any] | None:
    """The memories of `get_all`, if it is that: with or without `results` around them."""
    match document:
        case {"results": list(found)} | list(found):
            first = found[0] if found else None
            is_memory = isinstance(first, dict) and isinstance(first.get("memory"), str) and "id" in first
            return found if is_memory else None
        case _:
            return None


def _items(listed: list[Any], document: object) -> Iterator[ForeignItem]:
    for number, item in enumerate(listed, 1):
        if isinstance(item, dict):
            yield _note(str(item.get("id") or ""), item)
        else:
            yield BadRow(f"result {number}", "It is not a JSON object.")
    # A relation does not say whose it is. Where all memories have one owner, it is theirs.
    rows = [each for each in listed if isinstance(each, dict)]
    owners = {text_value(each.get("user_id")) for each in rows}
    agents = {text_value(each.get("agent_id")) for each in rows}
    agent = next(iter(agents)) if len(agents) == 1 else ""
    relations = document.get("relations") if isinstance(document, dict) else None
    for row in relations if isinstance(relations, list) else ():
        match row:
            case {"source": str(start), "relationship": str(type_)}:
                target = text_value(row.get("target") or row.get("destination"))
                if len(owners) > 1:
                    yield NoPlace(
                        "relations that do not name their owner",
                        f"{start} {type_} {target}",
                        merged=ForeignRelation(start, type_, target),
                    )
                    continue
                (owner,) = owners
                yield ForeignRelation(start, type_, target, owner=owner, agent=agent)
            case _:
                yield BadRow("relations", "One names no source or relationship.")


FORMAT = ForeignFormat("mem0", "mem0's folder, history or JSON", _recognises, _read)
