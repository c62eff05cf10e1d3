"""Remembering notes: storing, repeating, updating."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import Amend, NewText, PutText
from recollect.engine.alike import flag_alike
from recollect.engine.batches import apply_rows, own_key
from recollect.engine.meaning import catch_up
from recollect.engine.results import Remembered, RememberedBatch
from recollect.engine.wanted import aware, listed, note_of, tags_of
from recollect.errors import InvalidInput, NotFound
from recollect.records import Kind, Status
from recollect.text.limits import clean_name, clean_share, clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from recollect.changes import Change, Outcome
    from recollect.engine.parts import Parts
    from recollect.engine.results import Alike
    from recollect.engine.wanted import NoteLike
    from recollect.ports import View
    from recollect.records import Memory


def remember(parts: Parts, note: NoteLike, key: str | None) -> Remembered:
    """Store one note, or count that it was said again."""
    change = PutText(parts.scope, note_of(note))
    receipt = parts.store.apply([change], at=parts.clock(), key=own_key(parts, key))
    catch_up(parts, receipt.outcomes[0].ids)
    told = _told(parts, [(change, receipt.outcomes[0])])
    if not told:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    return told[0]


def remember_many(
    parts: Parts, notes: Iterable[NoteLike], *, keep_going: bool, key: str | None
) -> RememberedBatch:
    done, rejected = apply_rows(
        parts,
        listed(notes, "Notes"),
        lambda note: PutText(parts.scope, note_of(note)),
        keep_going=keep_going,
        key=key,
    )
    note = catch_up(parts, _ids(done))
    return RememberedBatch(_told(parts, done), rejected, note)


def keep(parts: Parts, notes: Sequence[NewText], key: str | None = None) -> tuple[Remembered, ...]:
    """Store notes that were made here, not by a caller; what cannot be stored is left out."""
    changes: list[Change] = [PutText(parts.scope, note) for note in notes]
    outcomes = parts.store.apply(changes, at=parts.clock(), key=own_key(parts, key), keep_going=True).outcomes
    done = [pair for pair in zip(changes, outcomes, strict=True) if pair[1].error is None]
    catch_up(parts, _ids(done))
    return _told(parts, done)


def _ids(done: Sequence[tuple[Change, Outcome]]) -> list[int]:
    return [id_ for _, outcome in done for id_ in outcome.ids]


def update(
    parts: Parts,
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
        parts.scope,
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
    if change == Amend(parts.scope, id_):
        raise InvalidInput(
            "Say what to update: text, importance, category, happened_at, tags, status, pinned or "
            "importance_tag."
        )
    parts.store.apply([change], at=parts.clock())
    if text is not None:
        catch_up(parts, [id_])
        flag_alike(parts, [id_])
    return of_scope(parts, id_)


def of_scope(parts: Parts, id_: int) -> Memory:
    """A memory of this scope, or an error that says that there is none."""
    with parts.store.read() as view:
        memory = view.memories([id_]).get(id_)
    if memory is None or memory.scope != parts.scope:
        raise NotFound(f"There is no memory {id_}.")
    return memory


def _told(parts: Parts, done: Sequence[tuple[Change, Outcome]]) -> tuple[Remembered, ...]:
    """What became of each note. A key may be older than the purge of what it stored; that is left out."""
    similar = flag_alike(parts, [outcome.ids[0] for _, outcome in done if outcome.created])
    with parts.store.read() as view:
        memories = view.memories([outcome.ids[0] for _, outcome in done])
        names = _names(view, memories)
    return tuple(
        _remembered(memories[outcome.ids[0]], outcome, similar, names)
        for _, outcome in done
        if outcome.ids[0] in memories
    )


def _remembered(
    memory: Memory, outcome: Outcome, similar: Mapping[int, Alike], names: Mapping[int, str]
) -> Remembered:
    return Remembered(
        id=memory.id,
        text=memory.text,
        created=outcome.created,
        category=memory.category,
        mentions=tuple(names[entity] for entity in memory.mentions),
        similar=similar.get(memory.id),
    )


def _names(view: View, memories: Mapping[int, Memory]) -> dict[int, str]:
    mentioned = {entity for memory in memories.values() for entity in memory.mentions}
    return {entity.id: entity.name for entity in view.memories(sorted(mentioned)).values()}


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
