"""Read Mnemosyne's database or JSON: working and episodic memory, scratchpad, triples, canonical facts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.transfer.importers import (
    BadRow,
    ForeignFormat,
    ForeignItem,
    ForeignNote,
    ForeignRelation,
    ForeignRow,
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
    from collections.abc import Iterable, Iterator

    from recollect_importers.fields import Sections

_FILE = "mnemosyne.db"
_MEMORIES = ("working_memory", "episodic_memory", "legacy_memories")
# Sections of the export whose table has another name.
_TABLES = {"legacy_memories": "memories", "legacy_embeddings": "memory_embeddings"}
_MEMORY = "key=id text=content category=source importance speaker=author_id pinned"
_SCRATCH = "key=scratchpad:{id} text=content created_at updated_at category='scratchpad'"
_TRIPLE = "source=subject type=predicate target=object created_at since=valid_from until=valid_until"
_PERSONA = "key=persona:{id} text=content created_at importance=confidence category='persona' tags=[topic]"
# Data derived from the memories, or needed only by Mnemosyne itself.
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
    "legacy_embeddings": "vectors, which your model computes again",
    "episodic_embeddings": "vectors, which your model computes again",
}
_AUTOMATIC = "regex"
"""The `source` of annotations that Mnemosyne makes itself."""
_DEFAULTS = {
    "memory_type": "unknown",
    "veracity": "unknown",
    "trust_tier": "STATED",
    "summary_of": "",
    "scope": "session",
    "author_type": "",
    "validator": "",
    "event_date": "",
}
# `timestamp` is a local time without a zone, so a smaller difference from `created_at` means nothing.
_MIN_DIFFERENCE = timedelta(hours=36)


def _is_database(source: ForeignSource) -> bool:
    return source.has_table("working_memory", "content", "importance") and source.has_table("episodic_memory")


def _recognises(source: ForeignSource) -> bool:
    if source.is_folder:
        return any(_is_database(bank) for bank in _banks(source).values())
    is_export = isinstance(source.document, dict) and "mnemosyne_export" in source.document
    return is_export or _is_database(source)


def _banks(folder: ForeignSource) -> dict[str, ForeignSource]:
    """Return the databases of a data folder, by bank; the default bank has no name."""
    files = [*folder.path.glob(_FILE), *sorted(folder.path.glob(f"banks/*/{_FILE}"))]
    return {"" if file.parent == folder.path else file.parent.name: ForeignSource(file) for file in files}


def _read(source: ForeignSource) -> Iterator[ForeignItem]:
    if not source.is_folder:
        yield from _read_one(source)
        return
    for bank, database in _banks(source).items():
        for item in _read_one(database):
            # Each bank becomes an agent, so that banks stay separate.
            yield replace(item, agent=bank) if isinstance(item, ForeignNote | ForeignRelation) else item


def _read_one(source: ForeignSource) -> Iterator[ForeignItem]:
    with open_sections(source) as found:

        def rows(section: str) -> Iterable[ForeignRow]:
            return found(_TABLES.get(section, section) if source.is_database else section)

        yield from _memories(rows)
        for row in rows("scratchpad"):
            yield make_record(ForeignNote, row, _SCRATCH, session=_session(row))
        for row in rows("triples"):
            yield make_record(ForeignRelation, row, _TRIPLE)
            if row["confidence"] not in (None, 1.0):
                yield NotImported("confidences of triples", f"{row['confidence']}")
        yield from _canonical(rows)
        for row in rows("memoria_persona"):
            is_permanent = row["tier"] == "permanent"
            yield make_record(ForeignNote, row, _PERSONA, session=_session(row), pinned=is_permanent)
        yield from count_sections(rows, _DERIVED)


def _memories(rows: Sections) -> Iterator[ForeignItem]:
    about: defaultdict[str, list[str]] = defaultdict(list)
    for row in rows("annotations"):
        memory, value = text_value(row["memory_id"]), text_value(row["value"])
        match row["kind"]:
            case "mentions" if row["source"] != _AUTOMATIC:
                about[memory].append(value)
            case "fact":
                key = f"annotation:{memory}:{value}"
                yield make_record(ForeignNote, row, "text=value created_at", key=key, category="fact")
            case "occurred_on" | "has_source":
                pass  # repeats the memory's date and source
            case kind:
                yield NotImported(f"annotations of the kind {kind}", value)
    seen: set[str] = set()
    for section in _MEMORIES:
        for row in rows(section):
            key = text_value(row["id"])
            if key not in seen:  # legacy memories repeat others
                seen.add(key)
                yield from _memory(section, row, tuple(about[key]))


def _memory(section: str, row: ForeignRow, about: tuple[str, ...]) -> Iterator[ForeignItem]:
    if not isinstance(row["content"], str):
        yield BadRow(f"{section}, memory {row['id']}", "It has no text.")
        return
    metadata = object_of(row["metadata_json"])
    created, timestamp = moment_of(row["created_at"]), moment_of(row["timestamp"])
    happened = timestamp if created and timestamp and abs(timestamp - created) > _MIN_DIFFERENCE else None
    superseded_by = text_value(row["superseded_by"]) or None
    until = moment_of(row["valid_until"])
    # Keep other columns whose value is not the default.
    unusual = non_default(row, {**_DEFAULTS, "channel_id": row["session_id"]})
    yield make_record(
        ForeignNote,
        row,
        _MEMORY,
        created_at=created or timestamp,
        happened_at=happened,
        tags=split_tags(metadata.get("tags")),
        metadata={**other_fields(metadata, {"tags"}), **unusual},
        session=_session(row),
        about=about,
        superseded_by=superseded_by,
        superseded_at=until if superseded_by else None,
        expires_at=None if superseded_by else until,
    )
    if row["recall_count"]:
        yield NotImported("counts of recalls")


def _session(row: ForeignRow) -> str:
    session = text_value(row["session_id"])
    return "" if session == "default" else session


def _canonical(rows: Sections) -> Iterator[ForeignItem]:
    """Yield canonical facts; each version replaces the one before."""
    slots: defaultdict[tuple[str, str, str], list[ForeignRow]] = defaultdict(list)
    for row in rows("canonical_facts"):
        slots[text_value(row["owner_id"]), text_value(row["category"]), text_value(row["name"])].append(row)
    for (owner, category, name), versions in slots.items():
        keys = [f"canonical:{owner}:{category}:{name}:{row.get('version', 1)}" for row in versions]
        for row, key, later in zip(versions, keys, [*keys[1:], None], strict=True):
            ended = moment_of(row["valid_until"])
            yield make_record(
                ForeignNote,
                row,
                "created_at=created_at|valid_from",
                key=key,
                text=f"{name}: {row['body']}",
                category=category,
                tags=("canonical",),
                speaker=owner,
                superseded_by=later if ended else None,
                superseded_at=ended if later else None,
                # An ended fact without a later version was withdrawn.
                forgotten_at=None if later else ended,
            )


FORMAT = ForeignFormat("mnemosyne", "Mnemosyne's database or JSON export", _recognises, _read)
