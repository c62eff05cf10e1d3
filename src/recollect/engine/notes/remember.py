"""Remembering notes: storing, repeating, updating."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from recollect.changes import Amend, Change, NewText, Outcome, PutText
from recollect.conditions import OneOf
from recollect.engine.batches import apply_rows
from recollect.engine.embedding import catch_up
from recollect.engine.inputs import NoteLike, aware, listed, note_of, tags_of
from recollect.engine.notes.similar_notes import flag_similar_notes
from recollect.engine.results import Remembered, RememberedBatch
from recollect.engine.services import Services
from recollect.errors import InvalidInput, NotFound
from recollect.records import Kind, Memory, Status
from recollect.retrieval.records import memories_by_id
from recollect.text.limits import clean_name, clean_share, clean_text


def remember(services: Services, note: NoteLike, key: str | None) -> Remembered:
    """Store one note, or count that it was said again."""
    change = PutText(services.scope, note_of(note))
    stored, _ = _stored(services, services.write([change], key=key))
    if not stored:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    return stored[0]


def remember_many(
    services: Services, notes: Iterable[NoteLike], *, keep_going: bool, key: str | None
) -> RememberedBatch:
    done, rejected = apply_rows(
        services,
        listed(notes, "Notes"),
        lambda note: PutText(services.scope, note_of(note)),
        keep_going=keep_going,
        key=key,
    )
    stored, note = _stored(services, [outcome for _, outcome in done])
    return RememberedBatch(stored, rejected, note)


def keep(services: Services, notes: Sequence[NewText], key: str | None = None) -> tuple[Remembered, ...]:
    """Store notes that were made here, not by a caller; what cannot be stored is left out."""
    changes: list[Change] = [PutText(services.scope, note) for note in notes]
    outcomes = services.write(changes, key=key, keep_going=True)
    stored, _ = _stored(services, [outcome for outcome in outcomes if outcome.error is None])
    return stored


def update(
    services: Services,
    id_: int,
    *,
    text: str | None,
    importance: float | None,
    category: str | None,
    happened_at: datetime | None,
    tags: Iterable[str] | None,
    status: str | None,
    pinned: bool | None,
    importance_tag: str | None = None,
) -> Memory:
    """Change a memory; a former text is kept as a revision."""
    change = Amend(
        services.scope,
        id_,
        status=None if status is None else Status.of(status),
        importance=None if importance is None else clean_share(importance, "importance"),
        pinned=pinned,
        text=None if text is None else clean_text(text),
        category=None if category is None else clean_name(category, "category"),
        happened_at=aware(happened_at, "happened_at"),
        tags=None if tags is None else tags_of(tags),
        importance_tag=importance_tag if importance_tag in (None, "") else clean_name(importance_tag, "mark"),
    )
    if change == Amend(services.scope, id_):
        raise InvalidInput(
            "Say what to update: text, importance, category, happened_at, tags, status, pinned or "
            "importance_tag."
        )
    services.write([change])
    if text is not None:
        catch_up(services, [id_])
        flag_similar_notes(services, [services.memory(id_)])
    return services.memory(id_)


def _stored(services: Services, outcomes: Sequence[Outcome]) -> tuple[tuple[Remembered, ...], str | None]:
    """What became of each note, embedded, and why not, if so.

    A key may be older than the purge of what it stored; that is left out.
    """
    ids = [outcome.ids[0] for outcome in outcomes]
    with services.store.read() as view:
        memories = memories_by_id(view, ids)
        mentioned = {entity for memory in memories.values() for entity in memory.mentions}
        names: dict[int, str] = {}
        if mentioned:
            names = dict(view.rows("memory", ("id", "name"), (OneOf("id", mentioned),)))
    note = catch_up(services, ids, memories=memories)
    there = [outcome for outcome in outcomes if outcome.ids[0] in memories]
    new = [memories[outcome.ids[0]] for outcome in there if outcome.created]
    similar = flag_similar_notes(services, new)
    stored = tuple(
        Remembered(
            id=memory.id,
            text=memory.text,
            created=outcome.created,
            category=memory.category,
            mentions=tuple(names[entity] for entity in memory.mentions),
            similar=similar.get(memory.id),
        )
        for outcome in there
        for memory in (memories[outcome.ids[0]],)
    )
    return stored, note


def note_from(note: NewText, message: Memory) -> NewText:
    """A note about what a message said: when, by whom and where are the message's."""
    return replace(
        note,
        kind=Kind.NOTE,
        session=message.session,
        speaker=message.speaker,
        created_at=message.created_at,
        undated=message.undated,
        drawn_from=message.id,
    )
