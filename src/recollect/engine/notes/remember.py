"""Remembering notes: storing, repeating, updating, and flagging what nearly repeats another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.changes import Amend, Change, FlagSimilar, NewText, Outcome, PutText
from recollect.conditions import OneOf
from recollect.engine.batches import apply_rows
from recollect.engine.catch_up import catch_up
from recollect.engine.contradictions import contradicted_texts
from recollect.engine.inputs import NoteLike, aware, listed, note_of, tags_of
from recollect.engine.results import ConflictingMemory, Remembered, RememberedBatch, SimilarMemory
from recollect.engine.services import Services
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress, Snapshot
from recollect.records import Kind, Memory, Status
from recollect.retrieval.contradictions import stated_texts
from recollect.retrieval.memory_rows import MemoryRows
from recollect.retrieval.passages import memory_vectors
from recollect.retrieval.records import memories_by_id
from recollect.retrieval.search import Search
from recollect.text.limits import clean_name, clean_share, clean_text
from recollect.text.near_duplicates import has_meaning, near_duplicate, usual_cosine

_COMPARED = 8
# Of very many notes at once, what repeats another is left to the reports that look for duplicates.
MOST_NEW = 50


def remember(services: Services, note: NoteLike, key: str | None) -> Remembered:
    """Store one note, or count that it was said again."""
    change = PutText(services.scope, note_of(note))
    stored = _stored(services, services.write([change], key=key))
    if not stored.notes:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    return replace(stored.notes[0], model_note=stored.model_note)


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
    return replace(_stored(services, [outcome for _, outcome in done]), rejected=rejected)


def keep(
    services: Services,
    notes: Sequence[NewText],
    key: str | None = None,
    beside: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """Store notes that were made here, not by a caller; what cannot be stored is left out.

    The memories in `beside`, which were stored just before, are embedded with them.
    """
    changes: list[Change] = [PutText(services.scope, note) for note in notes]
    outcomes = services.write(changes, key=key, keep_going=True)
    return _stored(services, [outcome for outcome in outcomes if outcome.error is None], beside, progress)


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
        compare_with_older(services, [services.memory(id_)])
    return services.memory(id_)


def _stored(
    services: Services,
    outcomes: Sequence[Outcome],
    beside: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
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
    embedded = catch_up(services, [*(beside or ()), *ids], progress, {**(beside or {}), **memories})
    there = [outcome for outcome in outcomes if outcome.ids[0] in memories]
    new = [memories[outcome.ids[0]] for outcome in there if outcome.created]
    compared = compare_with_older(services, new)
    stored = tuple(
        Remembered(
            id=memory.id,
            text=memory.text,
            created=outcome.created,
            category=memory.category,
            mentions=tuple(names[entity] for entity in memory.mentions),
            similar=known.similar,
            contradicts=known.contradicts,
        )
        for outcome in there
        for memory in (memories[outcome.ids[0]],)
        for known in (compared.get(memory.id, _Compared()),)
    )
    return RememberedBatch(stored, note=embedded.problem, model_note=embedded.model_note)


@dataclass(frozen=True, slots=True)
class _Compared:
    """What of the older notes is like a new one."""

    similar: SimilarMemory | None = None
    contradicts: tuple[ConflictingMemory, ...] = ()


def compare_with_older(services: Services, new: Sequence[Memory]) -> dict[int, _Compared]:
    """For each new note, the older one that is most like it, noted on it, and what it contradicts."""
    if not 0 < len(new) <= MOST_NEW:
        return {}
    with services.store.read() as view:
        compared = {note.id: _compared(view, services, note) for note in new}
    flags: list[Change] = [
        FlagSimilar("memory", id_, known.similar.id, known.similar.similarity)
        for id_, known in compared.items()
        if known.similar is not None
    ]
    if flags:
        services.write(flags)
    return compared


def _compared(view: Snapshot, services: Services, note: Memory) -> _Compared:
    """By the notes that are nearest in meaning, or that have its words: one search answers both questions."""
    search = Search(view, services.where(Kind.NOTE))
    cosines: dict[int, float] = {}
    if has_meaning(note.text):
        for vector in memory_vectors(view, [note.id], search.model).get(note.id, ())[:1]:
            name = "" if search.model is None else search.model[1].name
            found = search.by_meaning(vector, _COMPARED)
            cosines = {hit.id: usual_cosine(hit.score, name) for hit in found}
    # What holds this note's words is near it in meaning, too; a search by all of them costs far more.
    by_words = [] if cosines else [hit.id for hit in search.by_words(note.text, _COMPARED)]
    nearest = [id_ for id_ in (*cosines, *by_words) if id_ < note.id]
    older = {text.id: text for text in stated_texts(MemoryRows(view), nearest)}
    similar = [
        SimilarMemory(id_, other.text, similarity)
        for id_, other in older.items()
        if other.speaker == note.speaker
        and (similarity := near_duplicate(note.text, other.text, min(1.0, cosines.get(id_, 0.0)))) is not None
    ]
    return _Compared(
        max(similar, key=lambda one: (one.similarity, -one.id), default=None),
        contradicted_texts(note, [older[id_] for id_ in nearest if id_ in older]),
    )


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
