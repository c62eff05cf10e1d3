"""Notes and messages."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

from recollect.changes import Outcome
from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.stores.sqlite import vector_rows
from recollect.stores.sqlite.rows import stamp, stamp_or_none
from recollect.text.passages import spans
from recollect.text.words import fold

if TYPE_CHECKING:
    from recollect.changes import NewText, PutText
    from recollect.stores.sqlite.write.batch import Batch

_MARKS = " .,;:!?¡¿…\"'“”‘’«»()"


def put(batch: Batch, change: PutText) -> Outcome:
    scope, new = batch.scope_id(change.scope), change.text
    if new.kind is Kind.ENTITY:
        raise InvalidInput("An entity is not a text; create it with its name and type.")
    twin = _twin(batch, scope, new)
    if twin is not None:
        batch.run(
            "UPDATE memory SET updated_at = ?, duplicates = duplicates + 1 WHERE id = ?", batch.at, twin
        )
        return Outcome(ids=(twin,))
    memory = _insert(batch, scope, new)
    for span in spans(new.text):
        vector_rows.add_passage(batch.connection, memory, None, span)
    batch.touch(memory, scope)
    return Outcome(ids=(memory,), created=True)


def text_key(text: str) -> int:
    """What texts are compared by: equal where only case, accents, spaces or outer marks differ."""
    said = " ".join(fold(text).split()).strip(_MARKS) or text
    return int.from_bytes(
        blake2b(said.encode(errors="surrogatepass"), digest_size=8).digest(), "big", signed=True
    )


def next_position(batch: Batch, scope: int, session: str | None) -> int | None:
    if session is None:
        return None
    return batch.one(
        "SELECT coalesce(max(position), 0) + 1 FROM memory WHERE scope_id = ? AND session = ?", scope, session
    )


def _twin(batch: Batch, scope: int, new: NewText) -> int | None:
    """The note that says the same; two turns of a talk may well say the same, so a message has none."""
    if new.kind is not Kind.NOTE:
        return None
    return batch.one(
        "SELECT id FROM memory WHERE scope_id = ? AND text_key = ? AND kind = 'note' AND text = ? "
        "AND deleted_at IS NULL AND superseded_at IS NULL ORDER BY id",
        scope,
        text_key(new.text),
        new.text,
    )


def _insert(batch: Batch, scope: int, new: NewText) -> int:
    created = batch.at if new.created_at is None else stamp(new.created_at)
    return batch.insert(
        "INSERT INTO memory(kind, scope_id, created_at, updated_at, happened_at, text, text_key, category, "
        "source, session, position, role, speaker, importance) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
        next_position(batch, scope, new.session),
        new.role,
        new.speaker,
        new.importance,
    )
