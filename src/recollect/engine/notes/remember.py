"""Remembering notes: storing, repeating, updating, and flagging what nearly repeats another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from recollect.changes import Amend, Change, FlagSimilar, NewText, Outcome, PutText
from recollect.conditions import Equals, OneOf
from recollect.engine.batches import apply_rows
from recollect.engine.embedding import catch_up
from recollect.engine.inputs import NoteLike, aware, listed, note_of, tags_of
from recollect.engine.results import Remembered, RememberedBatch, SimilarMemory
from recollect.engine.services import Services
from recollect.errors import InvalidInput, NotFound
from recollect.ports import Snapshot
from recollect.records import Kind, Memory, Status
from recollect.retrieval.passages import memory_vectors
from recollect.retrieval.records import memories_by_id
from recollect.retrieval.search import Search
from recollect.text.limits import clean_name, clean_share, clean_text
from recollect.text.near_duplicates import has_meaning, near_duplicate

_COMPARED = 8
# Of very many notes at once, what repeats another is left to the reports that look for duplicates.
MOST_NEW = 50


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


# How what may be updated is read.
_READERS: dict[str, Callable[[Any], Any]] = {
    "text": clean_text,
    "importance": lambda share: clean_share(share, "importance"),
    "category": lambda name: clean_name(name, "category"),
    "happened_at": lambda when: aware(when, "happened_at"),
    "tags": tags_of,
    "status": Status.of,
    "pinned": lambda pinned: pinned,
    "importance_tag": lambda tag: clean_name(tag, "mark") if tag else tag,
}


def update(services: Services, id_: int, **given: object) -> Memory:
    """Change what is given of a memory; None leaves a field as it is. A former text is kept as a revision."""
    changed = {name: _READERS[name](value) for name, value in given.items() if value is not None}
    if not changed:
        *most, last = _READERS
        raise InvalidInput(f"Say what to update: {', '.join(most)} or {last}.")
    services.write([Amend(services.scope, id_, **changed)])
    if "text" in changed:
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


def flag_similar_notes(services: Services, new: Sequence[Memory]) -> dict[int, SimilarMemory]:
    """For each new note, the older one that is most like it, if any is; noted on the note."""
    if not 0 < len(new) <= MOST_NEW:
        return {}
    with services.store.read() as view:
        alike = {note.id: list(_alike(view, services, note)) for note in new}
    found = {id_: max(each, key=lambda one: (one.similarity, -one.id)) for id_, each in alike.items() if each}
    if found:
        flags = [FlagSimilar("memory", id_, one.id, one.similarity) for id_, one in found.items()]
        services.write(flags)
    return found


def _alike(view: Snapshot, services: Services, note: Memory) -> Iterator[SimilarMemory]:
    """Older notes that nearly say the same: by the meaning of their passages, or by containing its words."""
    search = Search(view, services.where(Kind.NOTE))
    cosines: dict[int, float] = {}
    if has_meaning(note.text):
        for vector in memory_vectors(view, [note.id], search.model).get(note.id, ())[:1]:
            cosines = {hit.id: hit.score for hit in search.by_meaning(vector, _COMPARED)}
    # What holds this note's words is near it in meaning, too; a search by all of them costs far more.
    by_words = [] if cosines else [hit.id for hit in search.by_words(note.text, _COMPARED)]
    older = OneOf("id", [id_ for id_ in (*cosines, *by_words) if id_ < note.id])
    same_speaker = Equals("speaker", note.speaker)
    for id_, text in view.rows("memory", ("id", "text"), (older, same_speaker)):
        cosine = min(1.0, cosines.get(id_, 0.0))
        if (similarity := near_duplicate(note.text, text, cosine)) is not None:
            yield SimilarMemory(id_, text, similarity)


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
