"""Mnemosyne: working and episodic memory, a scratchpad, triples, canonical facts; in a database or JSON."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from recollect.transfer.importers import (
    BadRow,
    ForeignFormat,
    ForeignItem,
    ForeignNote,
    ForeignRelation,
    ForeignSource,
    NoPlace,
)
from recollect_importers.fields import made, moment_of, object_of, other_fields, text_value, unusual, words_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime

    _Row = dict[str, Any]
    _Sections = Callable[[str], Iterable[_Row]]

_FILE = "mnemosyne.db"
_MEMORIES = ("working_memory", "episodic_memory", "legacy_memories")
# By the names of the export, where they are not the tables'.
_TABLES = {"legacy_memories": "memories", "legacy_embeddings": "memory_embeddings"}
# What it derives from the memories by itself, and what only its own work needs.
_DERIVED = {
    "facts": "extracted facts",
    "memoria_facts": "extracted facts",
    "memoria_timelines": "extracted facts",
    "memoria_instructions": "extracted facts",
    "memoria_preferences": "extracted facts",
    "memoria_kg": "extracted facts",
    "consolidated_facts": "extracted facts",
    "harmonic_beliefs": "extracted facts",
    "gists": "gists of memories",
    "graph_edges": "links between gists and facts",
    "conflicts": "conflicts between extracted facts",
    "memory_validations": "validations",
    "consolidation_log": "sleep log entries",
    "memory_events": "synchronisation events",
    "sync_events": "synchronisation events",
    "legacy_embeddings": "vectors, which your model makes again",
    "episodic_embeddings": "vectors, which your model makes again",
}
_BY_ITSELF = "regex"
"""The source of annotations that no one gave."""
_USUAL = {
    "memory_type": "unknown",
    "veracity": "unknown",
    "trust_tier": "STATED",
    "summary_of": "",
    "scope": "session",
    "author_type": "",
    "validator": "",
    "event_date": "",
}
# Its own time of a memory is local and has no zone; a difference beyond that is meant.
_OTHER_TIME = timedelta(hours=36)


def _is_database(source: ForeignSource) -> bool:
    return source.has_table("working_memory", "content", "importance") and source.has_table("episodic_memory")


def _recognises(source: ForeignSource) -> bool:
    if source.is_folder:
        return any(_is_database(bank) for bank in _banks(source).values())
    is_export = isinstance(source.document, dict) and "mnemosyne_export" in source.document
    return is_export or _is_database(source)


def _banks(folder: ForeignSource) -> dict[str, ForeignSource]:
    """The databases of a data folder, by the name of the bank; the default one has none."""
    files = [*folder.path.glob(_FILE), *sorted(folder.path.glob(f"banks/*/{_FILE}"))]
    return {"" if file.parent == folder.path else file.parent.name: ForeignSource(file) for file in files}


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    if not source.is_folder:
        yield from _read_one(source)
        return
    for bank, database in _banks(source).items():
        for item in _read_one(database):
            # Banks see nothing of one another, as agents do.
            yield replace(item, agent=bank) if isinstance(item, ForeignNote | ForeignRelation) else item


def _read_one(source: ForeignSource) -> Iterator[ForeignItem]:
    with _sections(source) as sections:
        yield from _memories(sections)
        yield from map(_scratch, sections("scratchpad"))
        yield from _triples(sections)
        yield from _canonical(sections)
        yield from _persona(sections)
        for section, what in _DERIVED.items():
            number = sum(1 for _ in sections(section))
            if number:
                yield NoPlace(what, count=number)


@contextmanager
def _sections(source: ForeignSource) -> Iterator[_Sections]:
    """The rows of each section: of a table, or of a list of the export."""
    if source.is_database:
        with source.database() as rows:
            yield partial(_table, source, rows)
        return
    document = source.document

    def listed(section: str) -> Iterable[_Row]:
        found = document.get(section)
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []

    yield listed


def _table(source: ForeignSource, rows: sqlite3.Connection, section: str) -> Iterator[_Row]:
    table = _TABLES.get(section, section)
    if table in source.tables:
        yield from rows.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608  # a name of ours


def _memories(sections: _Sections) -> Iterator[ForeignItem]:
    about: defaultdict[str, list[str]] = defaultdict(list)
    for row in sections("annotations"):
        memory, value = text_value(row.get("memory_id")), text_value(row.get("value"))
        match row.get("kind"):
            case "mentions" if row.get("source") != _BY_ITSELF:
                about[memory].append(value)
            case "fact":
                key = f"annotation:{memory}:{value}"
                yield made(ForeignNote, row, "text=value created_at", key=key, category="fact")
            case "occurred_on" | "has_source":
                pass  # a memory's own date and source, once more
            case kind:
                yield NoPlace(f"annotations of the kind {kind}", value)
    seen: set[str] = set()
    for section in _MEMORIES:
        for row in sections(section):
            key = text_value(row.get("id"))
            if key not in seen:  # each is kept a second time, for older versions
                seen.add(key)
                yield from _memory(section, row, tuple(about.get(key, ())))


def _memory(section: str, row: _Row, about: tuple[str, ...]) -> Iterator[ForeignItem]:
    content = row.get("content")
    if not isinstance(content, str):
        yield BadRow(f"{section}, memory {row.get('id')}", "It has no text.")
        return
    metadata = object_of(row.get("metadata_json"))
    created, happened = _times(row)
    superseded_by = text_value(row.get("superseded_by")) or None
    until = moment_of(row.get("valid_until"))
    yield made(
        ForeignNote,
        row,
        "key=id text=content category=source importance speaker=author_id pinned",
        created_at=created,
        happened_at=happened,
        tags=words_of(metadata.get("tags")),
        metadata={**other_fields(metadata, {"tags"}), **_marks(row)},
        session=_session(row),
        about=about,
        superseded_by=superseded_by,
        superseded_at=until if superseded_by else None,
        expires_at=None if superseded_by else until,
    )
    if row.get("recall_count"):
        yield NoPlace("counts of recalls")


def _times(row: _Row) -> tuple[datetime | None, datetime | None]:
    """When it was stored, and when it happened if that is another time."""
    created, told = moment_of(row.get("created_at")), moment_of(row.get("timestamp"))
    if created is None or told is None:
        return created or told, None
    return created, told if abs(told - created) > _OTHER_TIME else None


def _marks(row: _Row) -> dict[str, Any]:
    """What it says of a memory beside its text, where that is not what it says of every one."""
    found = unusual(row, _USUAL)
    if row.get("channel_id") not in (None, row.get("session_id")):
        found["channel_id"] = row["channel_id"]
    return found


def _session(row: _Row) -> str:
    session = text_value(row.get("session_id"))
    return "" if session == "default" else session


def _scratch(row: _Row) -> ForeignItem:
    columns, key = "text=content created_at updated_at", f"scratchpad:{row.get('id')}"
    return made(ForeignNote, row, columns, key=key, category="scratchpad", session=_session(row))


def _triples(sections: _Sections) -> Iterator[ForeignItem]:
    columns = "source=subject type=predicate target=object created_at since=valid_from until=valid_until"
    for row in sections("triples"):
        yield made(ForeignRelation, row, columns)
        if row.get("confidence") not in (None, 1.0):
            yield NoPlace("confidences of triples", f"{row['confidence']}")


def _canonical(sections: _Sections) -> Iterator[ForeignItem]:
    """Facts of which one version holds; each replaces the one before."""
    slots: defaultdict[tuple[str, str, str], list[_Row]] = defaultdict(list)
    for row in sections("canonical_facts"):
        slot = (text_value(row.get(name)) for name in ("owner_id", "category", "name"))
        slots[tuple(slot)].append(row)  # type: ignore[index]  # three of them
    for (owner, category, name), versions in slots.items():
        keys = [f"canonical:{owner}:{category}:{name}:{row.get('version', 1)}" for row in versions]
        for row, key, later in zip(versions, keys, [*keys[1:], None], strict=True):
            ended = moment_of(row.get("valid_until"))
            yield made(
                ForeignNote,
                row,
                "created_at=created_at|valid_from",
                key=key,
                text=f"{name}: {row.get('body')}",
                category=category,
                tags=("canonical",),
                speaker=owner,
                superseded_by=later if ended else None,
                superseded_at=ended if later else None,
                # Without a later version, it was withdrawn.
                forgotten_at=None if later else ended,
            )


def _persona(sections: _Sections) -> Iterator[ForeignItem]:
    for row in sections("memoria_persona"):
        yield made(
            ForeignNote,
            row,
            "text=content created_at importance=confidence",
            key=f"persona:{row.get('id')}",
            category="persona",
            tags=(text_value(row.get("topic")),),
            session=_session(row),
            pinned=row.get("tier") == "permanent",
        )


FORMAT = ForeignFormat("mnemosyne", "Mnemosyne's database or JSON export", _recognises, _read)
