"""Remembering notes: storing, repeating, updating, and flagging what nearly repeats another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from recollect.changes import Amend, Change, FlagSimilar, NewText, Outcome, PutText, TextVectors
from recollect.conditions import OneOf
from recollect.engine.after_commit import attempt_follow_up, unfinished_note
from recollect.engine.batches import apply_rows
from recollect.engine.catch_up import catch_up
from recollect.engine.contradictions import contradicted_texts
from recollect.engine.embedding import text_vectors
from recollect.engine.inputs import NoteLike, aware, clean_metadata, listed, note_of, tags_of
from recollect.engine.results import (
    ConflictingMemory,
    Remembered,
    RememberedBatch,
    SimilarMemory,
)
from recollect.engine.services import Services, asks_again
from recollect.engine.writes.texts import note_by_ref, twin_of
from recollect.errors import InvalidInput, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ports import Progress, Snapshot, Vector
from recollect.records import Kind, Memory, Status
from recollect.retrieval.contradictions import stated_texts
from recollect.retrieval.passages import memory_vectors, model_in_use
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.retrieval.search import Search
from recollect.text.limits import clean_name, clean_share, clean_text
from recollect.text.near_duplicates import has_meaning, near_duplicate, usual_cosine
from recollect.vectors import unpack_vector

_COMPARED = 8
# The number of a note that has none yet: above all others.
_NO_ID_YET = 1 << 62
# Of very many notes at once, what repeats another is left to the reports that look for duplicates.
MOST_NEW = 50


def remember(
    services: Services, note: NoteLike, key: str | None, check: Callable[[Memory], None] | None = None
) -> Remembered:
    """Store one note, or count that it was said again. `check` may refuse what is stored then."""
    new = note_of(note)
    ready = _prepared(services, new)
    read = _ReadBack(check)
    if ready is None:
        outcomes = services.write([PutText(services.scope, new)], key=key, before_commit=read)
        stored = _stored(services, outcomes, read)
    else:
        embedded, known = ready
        similar = None if known.similar is None else (known.similar.id, known.similar.similarity)
        change = PutText(services.scope, new, embedded, similar)
        outcomes = services.write([change], key=key, before_commit=read)
        found = {outcome.ids[0]: known for outcome in outcomes if outcome.created}
        stored = RememberedBatch(_told(outcomes, read, found))
    if not stored.notes:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    remarks = [note for note in (unfinished_note(stored.note), stored.model_note) if note]
    return replace(stored.notes[0], model_note=" ".join(remarks) or None)


@asks_again
def _prepared(services: Services, new: NewText) -> tuple[TextVectors, _Compared] | None:
    """The vectors of a note and what is like it, so that one transaction writes all there is to write.

    None where there is nothing new, or where that must wait: until it is known by which model, or until
    others that wait have theirs.
    """
    with services.read() as view:
        model = services.store.last_model = model_in_use(view)
        scope = scope_id(view, services.scope)
        if note_by_ref(view, scope, new) is not None or twin_of(view, scope, new) is not None:
            return None
    vectors = text_vectors(services, model, new)
    if model is None or vectors is None:
        return None
    created = new.created_at or services.clock()
    note = Memory(
        _NO_ID_YET,
        Kind.NOTE,
        services.scope,
        created_at=created,
        updated_at=created,
        happened_at=new.happened_at,
        text=new.text,
        speaker=new.speaker,
        undated=new.undated,
        drawn_from=new.drawn_from,
    )
    with services.read() as view:
        search = Search(view, services.found_now(Kind.NOTE))
        services.store.last_model = None if search.model is None else search.model[1]
        if services.store.last_model != model or search.some_wait:
            return None
        compared = _compared(search, note, unpack_vector(vectors.vectors[0]), _COMPARED - 1)
    return vectors, compared


def remember_many(
    services: Services, notes: Iterable[NoteLike], *, keep_going: bool, key: str | None
) -> RememberedBatch:
    read = _ReadBack()
    done, rejected = apply_rows(
        services,
        listed(notes, "Notes"),
        lambda note: PutText(services.scope, note_of(note)),
        keep_going=keep_going,
        key=key,
        before_commit=read,
    )
    return replace(_stored(services, [outcome for _, outcome in done], read), rejected=rejected)


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
    read = _ReadBack()
    outcomes = services.write(changes, key=key, keep_going=True, before_commit=read)
    stored = [outcome for outcome in outcomes if outcome.error is None]
    return _stored(services, stored, read, beside, progress)


# How what may be updated is read.
_READERS: dict[str, Callable[[Any], Any]] = {
    "text": clean_text,
    "importance": lambda share: clean_share(share, "importance"),
    "category": lambda name: clean_name(name, "category") if name else name,
    "happened_at": lambda when: when if when == "unknown" else aware(when, "happened_at"),
    "tags": tags_of,
    "status": Status.of,
    "pinned": lambda pinned: pinned,
    "importance_tag": lambda tag: clean_name(tag, "mark") if tag else tag,
    "expires_at": lambda when: when if when == "never" else aware(when, "expires_at"),
    "metadata": clean_metadata,
}


def update(services: Services, id_: int, **given: object) -> Memory:
    """Change what is given of a memory; None leaves a field as it is. A former text is kept as a revision."""
    changed = {name: _READERS[name](value) for name, value in given.items() if value is not None}
    if not changed:
        *most, last = _READERS
        raise InvalidInput(f"Say what to update: {', '.join(most)} or {last}.")
    read = _ReadBack()
    services.write([Amend(services.scope, id_, **changed)], before_commit=read)
    memory = read.memories[id_]
    if "text" in changed:
        catch_up(services, [id_])
        attempt_follow_up(lambda: compare_with_older(services, [memory]))
        memory = attempt_follow_up(lambda: services.memory(id_))[0] or memory
    return memory


def _stored(
    services: Services,
    outcomes: Sequence[Outcome],
    read: _ReadBack,
    beside: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """What became of each note, embedded, and why not, if so.

    A key may be older than the purge of what it stored; that is left out.
    """
    memories = read.memories
    ids = [outcome.ids[0] for outcome in outcomes]
    embedded = catch_up(services, [*(beside or ()), *ids], progress, {**(beside or {}), **memories})
    there = [outcome for outcome in outcomes if outcome.ids[0] in memories]
    new = [memories[outcome.ids[0]] for outcome in there if outcome.created]
    compared, failure = attempt_follow_up(lambda: compare_with_older(services, new))
    return RememberedBatch(
        _told(there, read, compared or {}), note=embedded.problem or failure, model_note=embedded.model_note
    )


class _ReadBack:
    """The notes as they are stored, and the names of the entities that they mention: a `BeforeCommit`."""

    def __init__(self, check: Callable[[Memory], None] | None = None) -> None:
        self.memories: Mapping[int, Memory] = {}
        self.names: Mapping[int, str] = {}
        self._check = check

    def __call__(self, view: Snapshot, outcomes: Sequence[Outcome]) -> None:
        self.memories = memories_by_id(view, [outcome.ids[0] for outcome in outcomes if outcome.ids])
        mentioned = {entity for memory in self.memories.values() for entity in memory.mentions}
        self.names = dict(view.rows("memory", ("id", "name"), (OneOf("id", mentioned),))) if mentioned else {}
        if self._check is not None:
            for memory in self.memories.values():
                self._check(memory)


def _told(
    outcomes: Sequence[Outcome], read: _ReadBack, compared: Mapping[int, _Compared]
) -> tuple[Remembered, ...]:
    return tuple(
        Remembered(
            id=memory.id,
            text=memory.text,
            created=outcome.created,
            category=memory.category,
            mentions=tuple(read.names[entity] for entity in memory.mentions),
            similar=known.similar,
            contradicts=known.contradicts,
        )
        for outcome in outcomes
        if outcome.ids[0] in read.memories
        for memory in (read.memories[outcome.ids[0]],)
        for known in (compared.get(memory.id, _Compared()),)
    )


@dataclass(frozen=True, slots=True)
class _Compared:
    """What of the older notes is like a new one."""

    similar: SimilarMemory | None = None
    contradicts: tuple[ConflictingMemory, ...] = ()


@asks_again
def compare_with_older(services: Services, new: Sequence[Memory]) -> dict[int, _Compared]:
    """For each new note, the older one that is most like it, noted on it, and what it contradicts."""
    if not 0 < len(new) <= MOST_NEW:
        return {}
    with services.read() as view:
        compared = {note.id: _compared_in(view, services, note) for note in new}
    flags: list[Change] = [
        FlagSimilar("memory", id_, known.similar.id, known.similar.similarity, services.scope)
        for id_, known in compared.items()
        if known.similar is not None
    ]
    if flags:
        services.write(flags)
    return compared


def _compared_in(view: Snapshot, services: Services, note: Memory) -> _Compared:
    """A note that is stored already, and so is itself among what is nearest to it."""
    search = Search(view, services.found_now(Kind.NOTE))
    vectors = memory_vectors(view, [note.id], search.model).get(note.id, ())
    return _compared(search, note, vectors[0] if vectors else None, _COMPARED)


def _compared(search: Search, note: Memory, vector: Vector | None, most: int) -> _Compared:
    """By the notes that are nearest in meaning, or that have its words: one search answers both questions."""
    cosines: dict[int, float] = {}
    if vector is not None and has_meaning(note.text):
        name = "" if search.model is None else search.model[1].name
        cosines = {hit.id: usual_cosine(hit.score, name) for hit in search.by_meaning(vector, most)}
    # What holds this note's words is near it in meaning, too; a search by all of them costs far more.
    by_words = [] if cosines else [hit.id for hit in search.by_words(note.text, most)]
    nearest = [id_ for id_ in (*cosines, *by_words) if id_ < note.id]
    older = {text.id: text for text in stated_texts(search.memories, nearest)}
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
