"""Notes and messages: storing, repeating, updating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import InvalidInput, NotFound
from recollect.records import Kind
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.rows import stamp, stamp_or_none
from recollect.text.near_duplicates import text_key
from recollect.text.passages import spans
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.changes import NewText, PutText
    from recollect.stores.sqlite.write.batch import Batch


def put(batch: Batch, change: PutText) -> Outcome:
    scope, new = batch.scope_id(change.scope), change.text
    if new.kind is Kind.ENTITY:
        raise InvalidInput("An entity is not a text; create it with its name and type.")
    about = [batch.entity(scope, name) for name in new.about]
    again = _again(batch, scope, new)
    if again is not None:
        return Outcome(ids=(again,))
    twin = _twin(batch, scope, new)
    if twin is None:
        memory = _insert(batch, scope, new)
        add_passages(batch, memory, new.text)
        batch.touch(memory, scope, said=True)
    else:
        memory = twin
        batch.run(
            "UPDATE memory SET updated_at = max(updated_at, ?), duplicates = duplicates + 1, "
            "importance = max(importance, ?), category = coalesce(category, ?), source = coalesce(source, ?) "
            "WHERE id = ?",
            batch.at,
            new.importance,
            new.category,
            new.source,
            twin,
        )
    tag(batch, memory, new.tags)
    _tell(batch, memory, about)
    return Outcome(ids=(memory,), created=twin is None)


def revise(batch: Batch, scope: int, memory: int, text: str) -> None:
    """Give a text another wording, and keep the former one with its passages."""
    rows = batch.rows("SELECT kind, text, created_at FROM memory WHERE id = ?", memory)
    kind, former, created_at = rows[0]
    if kind == Kind.ENTITY:
        raise InvalidInput("An entity has no text to update; add observations, or supersede one.")
    if former == text:
        return
    since = batch.one("SELECT max(until) FROM revision WHERE memory_id = ?", memory)
    revision = batch.insert(
        "INSERT INTO revision(memory_id, text, since, until) VALUES (?, ?, ?, ?)",
        memory,
        former,
        created_at if since is None else since,
        batch.at,
    )
    vector_rows.set_life(batch.connection, "memory_id = ? AND revision_id IS NULL", memory, live=False)
    batch.run(
        "UPDATE passage SET revision_id = ? WHERE memory_id = ? AND revision_id IS NULL", revision, memory
    )
    batch.run(
        "UPDATE memory SET text = ?, text_key = ?, revisions = revisions + 1, similar_to = NULL, "
        "similarity = NULL WHERE id = ?",
        text,
        text_key(text),
        memory,
    )
    add_passages(batch, memory, text, live=batch.in_force(memory))
    batch.touch(memory, scope, said=True)


def add_passages(batch: Batch, memory: int, text: str, *, live: bool = True) -> None:
    for span in spans(text):
        vector_rows.add_passage(batch.connection, memory, None, span, live=live)


def tag(batch: Batch, memory: int, tags: Iterable[str]) -> None:
    """Add tags; one that differs from another in case or accents alone is the same."""
    batch.connection.executemany(
        "INSERT OR IGNORE INTO tag(memory_id, folded, tag) VALUES (?, ?, ?)",
        [(memory, fold(word), word) for word in tags],
    )


def next_position(batch: Batch, scope: int, session: str | None) -> int | None:
    if session is None:
        return None
    return batch.one(
        "SELECT coalesce(max(position), 0) + 1 FROM memory WHERE scope_id = ? AND session = ?", scope, session
    )


def _tell(batch: Batch, memory: int, entities: Iterable[int]) -> None:
    batch.connection.executemany(
        "INSERT INTO mention(memory_id, entity_id, told) VALUES (?, ?, 1) "
        "ON CONFLICT (memory_id, entity_id) DO UPDATE SET told = 1",
        [(memory, entity) for entity in entities],
    )


def _again(batch: Batch, scope: int, new: NewText) -> int | None:
    """The message of the same session and source: one that is brought again, live or not."""
    if new.kind is not Kind.MESSAGE or new.session is None or new.source is None:
        return None
    return batch.one(
        "SELECT id FROM memory WHERE scope_id = ? AND session = ? AND source = ? AND kind = 'message' "
        "ORDER BY id",
        scope,
        new.session,
        new.source,
    )


def _twin(batch: Batch, scope: int, new: NewText) -> int | None:
    """The note that says the same; two turns of a talk may well say the same, so a message has none.

    Case, accents, spaces and outer marks make no other note, but who said it does, and when it happened.
    """
    if new.kind is not Kind.NOTE:
        return None
    return batch.one(
        "SELECT id FROM memory WHERE scope_id = ?1 AND text_key = ?2 AND kind = 'note' AND speaker IS ?3 "
        "AND (?4 IS NULL OR happened_at IS ?4) AND deleted_at IS NULL AND superseded_at IS NULL "
        "ORDER BY text <> ?5, id",
        scope,
        text_key(new.text),
        new.speaker,
        stamp_or_none(new.happened_at),
        new.text,
    )


def _insert(batch: Batch, scope: int, new: NewText) -> int:
    created = batch.at if new.created_at is None else stamp(new.created_at)
    if new.drawn_from is not None and not batch.one(
        "SELECT 1 FROM memory WHERE id = ? AND scope_id = ? AND kind = 'message'", new.drawn_from, scope
    ):
        raise NotFound(f"There is no message {new.drawn_from} that the note could be drawn from.")
    return batch.insert(
        "INSERT INTO memory(kind, scope_id, created_at, updated_at, happened_at, text, text_key, category, "
        "source, session, position, role, speaker, importance, undated, drawn_from) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        new.kind.value,
        scope,
        created,
        created,
        stamp_or_none(new.happened_at),
        new.text,
        text_key(new.text),
        new.category,
        new.source,
        new.session,
        next_position(batch, scope, new.session) if new.kind is Kind.MESSAGE else None,
        new.role,
        new.speaker,
        new.importance,
        int(new.undated),
        new.drawn_from,
    )
