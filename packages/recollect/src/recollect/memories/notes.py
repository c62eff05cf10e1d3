"""Store, update and list notes, flag notes that nearly repeat another, and forget everything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from recollect.domain.changes import (
    Amend,
    Change,
    FlagSimilar,
    Forget,
    NewText,
    Outcome,
    PutText,
    TextVectors,
)
from recollect.domain.errors import Conflict, InvalidInput, NotFound, RecollectError
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import (
    MOST_PER_PAGE,
    MOST_ROWS,
    check_page,
    clean_name,
    clean_ref,
    clean_share,
    clean_text,
    clean_type,
    name_as_kept,
    right_names,
)
from recollect.domain.numbers import unpack_vector
from recollect.domain.records import NOTE_FIELDS, Kind, Memory, Status
from recollect.domain.results import (
    ConflictingMemory,
    MemoryPage,
    RejectedRow,
    Remembered,
    RememberedBatch,
    SimilarMemory,
)
from recollect.domain.tables import OneOf
from recollect.ranking.factors import microseconds
from recollect.search.candidates import Search
from recollect.search.contradictions import MAX_COMPARED, contradicted_texts, stated_texts, vectors_of_texts
from recollect.search.recall import kinds_of
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import memory_page, memory_vectors, model_in_use
from recollect.services import Services, attempt_follow_up, retry_after_failover, unfinished_note
from recollect.stores.port import Progress, Snapshot, Vector
from recollect.text.near_duplicates import has_meaning, near_duplicate, usual_cosine
from recollect.write.embedding import catch_up, text_vectors
from recollect.write.inputs import NoteLike, aware, check_list, clean_metadata, note_of, one_or_more, tags_of
from recollect.write.texts import note_by_ref, twin_of

if TYPE_CHECKING:
    from recollect.write.apply import BeforeCommit


_Row = TypeVar("_Row")


def apply_rows(
    services: Services,
    rows: Iterable[_Row],
    change_of: Callable[[_Row], Change],
    *,
    keep_going: bool,
    key: str | None,
    before_commit: BeforeCommit | None = None,
) -> tuple[list[tuple[Change, Outcome]], tuple[RejectedRow, ...]]:
    """Write the rows in one batch; with `keep_going`, skip bad rows. Return the applied and the rejected."""
    changes: list[Change] = []
    places: list[int] = []
    rejected: list[RejectedRow] = []
    for index, row in enumerate(rows):
        if index == MOST_ROWS:
            raise InvalidInput(
                f"A batch has at most {MOST_ROWS:,} rows, and this one has more; split it. "
                "Nothing was written."
            )
        try:
            changes.append(change_of(row))
            places.append(index)
        except InvalidInput as error:
            if not keep_going:
                raise InvalidInput(f"Row {index}: {error} Nothing was written.") from error
            rejected.append(RejectedRow(index, str(error)))
    try:
        outcomes = services.write(changes, key=key, keep_going=keep_going, before_commit=before_commit)
    except RecollectError as error:
        if error.change is None or len(changes) == 1:
            raise
        raise type(error)(f"Row {places[error.change]}: {error} Nothing was written.") from error
    rejected += [
        RejectedRow(index, outcome.error)
        for index, outcome in zip(places, outcomes, strict=True)
        if outcome.error is not None
    ]
    done = [pair for pair in zip(changes, outcomes, strict=True) if pair[1].error is None]
    return done, tuple(sorted(rejected, key=lambda row: row.index))


_MOST_COMPARED = 8
# The id of a note that is not stored yet, larger than every real id.
_NO_ID_YET = 1 << 62
# Notes of a larger batch are not compared with older ones; reports find their duplicates later.
MOST_NEW = 50


def remember(
    services: Services, note: NoteLike, key: str | None, check: Callable[[Memory], None] | None = None
) -> Remembered:
    """Store a note, or count a repeat of it. `check` gets the stored note before the commit and may raise."""
    new = note_of(note)
    ready = _embed_and_compare(services, new)
    read = _ReadBack(check)
    change = PutText(services.scope, new)
    if ready is not None:
        embedded, known = ready
        similar = None if known.similar is None else (known.similar.id, known.similar.similarity)
        change = PutText(services.scope, new, embedded, similar)
    outcomes = services.write([change], key=key, before_commit=read)
    if ready is None:
        stored = _finish_notes(services, outcomes, read)
    else:
        found = {outcome.ids[0]: ready[1] for outcome in outcomes if outcome.created}
        stored = RememberedBatch(_results(outcomes, read, found))
    if not stored.notes:
        raise NotFound(f"The note of key {key!r} has been purged; use another key to store it again.")
    warnings = [text for text in (unfinished_note(stored.note), stored.model_note) if text]
    return replace(stored.notes[0], model_note=" ".join(warnings) or None)


@retry_after_failover
def _embed_and_compare(services: Services, new: NewText) -> tuple[TextVectors, _Compared] | None:
    """Embed a note and find similar ones before it is stored, so that one transaction writes everything.

    Return None if the note is not new, the model is not known yet, or other texts wait for their vectors.
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
        search = Search(view, services.unexpired(Kind.NOTE))
        services.store.last_model = None if search.model is None else search.model[1]
        if services.store.last_model != model or search.some_pending:
            return None
        compared = _compare_with_nearest(search, note, unpack_vector(vectors.vectors[0]), _MOST_COMPARED - 1)
    return vectors, compared


def remember_many(
    services: Services, notes: Iterable[NoteLike], *, keep_going: bool, key: str | None
) -> RememberedBatch:
    read = _ReadBack()
    done, rejected = apply_rows(
        services,
        check_list(notes, "Notes"),
        lambda note: PutText(services.scope, note_of(note)),
        keep_going=keep_going,
        key=key,
        before_commit=read,
    )
    return replace(_finish_notes(services, [outcome for _, outcome in done], read), rejected=rejected)


def store_notes(
    services: Services,
    notes: Sequence[NewText],
    key: str | None = None,
    embed_too: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """Store notes that an extractor made. Notes that cannot be stored are skipped.

    The memories in `embed_too`, which were stored just before, are embedded in the same batch.
    """
    changes: list[Change] = [PutText(services.scope, note) for note in notes]
    read = _ReadBack()
    outcomes = services.write(changes, key=key, keep_going=True, before_commit=read)
    stored = [outcome for outcome in outcomes if outcome.error is None]
    return _finish_notes(services, stored, read, embed_too, progress)


def _name_validator(name: str) -> Callable[[str], str]:
    return lambda text: clean_name(text, name) if text else text


def _check_bool(given: object, name: str) -> bool:
    if not isinstance(given, bool):
        raise InvalidInput(f"`{name}` must be True or False, not {given!r}.")
    return given


# For each field that can be updated, the function that validates its value.
_VALIDATORS: dict[str, Callable[[Any], Any]] = {
    "text": clean_text,
    "importance": lambda share: clean_share(share, "importance"),
    "category": _name_validator("category"),
    "happened_at": lambda when: when if when == "unknown" else aware(when, "happened_at"),
    "tags": tags_of,
    "status": Status.of,
    "pinned": lambda pinned: _check_bool(pinned, "pinned"),
    "importance_tag": _name_validator("importance_tag"),
    "expires_at": lambda when: when if when == "never" else aware(when, "expires_at"),
    "metadata": clean_metadata,
    **{name: _name_validator(name) for name in NOTE_FIELDS},
}


def update(services: Services, id_: int, **given: object) -> Memory:
    """Change the given fields of a memory; None leaves a field as it is. The old text becomes a revision."""
    if unknown := given.keys() - _VALIDATORS.keys():
        known = f"{right_names(unknown, _VALIDATORS)}fields that can be updated: {', '.join(_VALIDATORS)}"
        raise InvalidInput(f"A memory has no field {', '.join(map(repr, sorted(unknown)))}; {known}.")
    changed = {name: _VALIDATORS[name](value) for name, value in given.items() if value is not None}
    if not changed:
        *most, last = _VALIDATORS
        raise InvalidInput(f"Say what to update: {', '.join(most)} or {last}.")
    read = _ReadBack()
    fields = {name: changed.pop(name) for name in NOTE_FIELDS if name in changed}
    services.write([Amend(services.scope, id_, **changed, fields=tuple(fields.items()))], before_commit=read)
    memory = read.memories[id_]
    if "text" in changed:
        catch_up(services, [id_])
        attempt_follow_up(lambda: compare_with_older(services, [memory]))
        memory = attempt_follow_up(lambda: services.memory(id_))[0] or memory
    return memory


def _finish_notes(
    services: Services,
    outcomes: Sequence[Outcome],
    read: _ReadBack,
    embed_too: Mapping[int, Memory] | None = None,
    progress: Progress | None = None,
) -> RememberedBatch:
    """Embed and compare the stored notes. Return the results, with a message if vectors are missing.

    If the key was used before, its notes may have been purged since. Those are left out.
    """
    memories = read.memories
    ids = [outcome.ids[0] for outcome in outcomes]
    embedded = catch_up(services, [*(embed_too or ()), *ids], progress, {**(embed_too or {}), **memories})
    present = [outcome for outcome in outcomes if outcome.ids[0] in memories]
    new = [memories[outcome.ids[0]] for outcome in present if outcome.created]
    compared, failure = attempt_follow_up(lambda: compare_with_older(services, new))
    return RememberedBatch(
        _results(present, read, compared or {}),
        note=embedded.problem or failure,
        model_note=embedded.model_note,
    )


class _ReadBack:
    """A `BeforeCommit` hook that reads the stored notes and the names of the entities they mention."""

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


def _results(
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
    """Older notes that a new note repeats or contradicts."""

    similar: SimilarMemory | None = None
    contradicts: tuple[ConflictingMemory, ...] = ()


@retry_after_failover
def compare_with_older(services: Services, new: Sequence[Memory]) -> dict[int, _Compared]:
    """Compare new notes with older ones: flag near-duplicates, and return them with contradictions."""
    if not 0 < len(new) <= MOST_NEW:
        return {}
    with services.read() as view:
        compared = {}
        for note in new:
            search = Search(view, services.unexpired(Kind.NOTE))
            vectors = memory_vectors(view, [note.id], search.model).get(note.id, ())
            # The note itself is among its nearest, so the limit includes it.
            compared[note.id] = _compare_with_nearest(
                search, note, vectors[0] if vectors else None, _MOST_COMPARED
            )
    flags: list[Change] = [
        FlagSimilar("memory", id_, known.similar.id, known.similar.similarity, services.scope)
        for id_, known in compared.items()
        if known.similar is not None
    ]
    if flags:
        services.write(flags)
    return compared


def nearest_cosines(search: Search, text: str, vector: Vector | None, most: int) -> dict[int, float]:
    """Return the memories nearest in meaning with their cosines, or else those found by words, with 0.

    A word search costs far more and would rarely add any, so it is only the fallback.
    """
    cosines: dict[int, float] = {}
    if vector is not None and has_meaning(text):
        name = "" if search.model is None else search.model[1].name
        cosines = {hit.id: usual_cosine(hit.score, name) for hit in search.by_meaning(vector, most)}
    return cosines or {hit.id: 0.0 for hit in search.by_words(text, most)}


def _compare_with_nearest(search: Search, note: Memory, vector: Vector | None, most: int) -> _Compared:
    """Compare a note with its nearest older notes: is it similar to one, and does it contradict any?"""
    found = nearest_cosines(search, note.text, vector, max(most, MAX_COMPARED))
    nearest = {id_: cosine for id_, cosine in found.items() if id_ < note.id}
    older = list(stated_texts(search.memories, list(nearest)))
    similar = [
        SimilarMemory(other.id, other.text, similarity)
        for other in older[:most]
        if other.speaker == note.speaker
        and (similarity := near_duplicate(note.text, other.text, min(1.0, nearest[other.id]))) is not None
    ]
    vectors = vectors_of_texts(search.snapshot, older, search.model)
    if vector is not None:
        vectors[note.id, None] = vector
    return _Compared(
        max(similar, key=lambda one: (one.similarity, -one.id), default=None),
        contradicted_texts(note, older, vectors, search.model),
    )


# Reflections: notes on how things went, and what to do better.

CATEGORY = "reflection"


def reflection_tags(
    mood: str | None = None, session: str | None = None, relation: tuple[str, str, str] | None = None
) -> tuple[str, ...]:
    """Return the tags of a reflection: its mood, and the session or relation that it is about.

    A relation is (source, type, target).
    """
    tags = [] if mood is None else [f"mood:{clean_type(mood, 'mood')}"]
    tags += [] if session is None else [f"session:{session}"]
    tags += [] if relation is None else [f"relation:{' '.join(relation)}"]
    return tags_of(tags)


def reflection_tag(reflection: Memory, name: Literal["mood", "session", "relation"]) -> str | None:
    """Return the mood, session or relation (as `Ada works_at Harbour`) of a reflection.

    A reflection that was repeated in another mood has two moods; return the first.
    """
    begins = f"{name}:"
    return next((tag.removeprefix(begins) for tag in reflection.tags if tag.startswith(begins)), None)


def check_category(note: Memory) -> None:
    """Raise Conflict if a reflection would be merged into a note of another category."""
    if note.category != CATEGORY:
        raise Conflict(
            f"Note {note.id} has this text already, in the category {note.category!r}. "
            "Reword the reflection, or update that note's category."
        )


def list_memories(
    services: Services,
    *,
    kinds: Collection[str],
    category: str | None,
    tags: Iterable[str],
    session: str | None,
    refs: Iterable[str] | None,
    include_superseded: bool,
    limit: int,
    after: int,
) -> MemoryPage:
    check_page(limit)
    where = replace(
        services.where(superseded=include_superseded),
        kinds=kinds_of(kinds),
        category=category,
        tags=frozenset(tags_of(tags)),
        session=None if session is None else name_as_kept(session),
        refs=None if refs is None else frozenset(map(clean_ref, one_or_more(refs, "Refs"))),
        expired_by=None if include_superseded else microseconds(services.clock()),
    )
    with services.read() as view:
        found = memory_page(view, where, after, limit + 1, newest_first=True)
    page = tuple(found[:limit])
    return MemoryPage(page, page[-1].id if len(found) > limit else None)


def forget_all(services: Services) -> int:
    """Forget every memory of the scope, in batches, so that other writers can run in between."""
    count = 0
    while True:
        with services.read() as view:
            ids = tuple(
                memory.id for memory in memory_page(view, services.where(superseded=True), 0, MOST_PER_PAGE)
            )
        by_scope = services.by_scope(ids) if ids else {}
        outcomes = services.for_writing.write([Forget(scope, ids=own) for scope, own in by_scope.items()])
        forgotten = sum(len(outcome.ids) for outcome in outcomes)
        if not forgotten:
            return count
        count += forgotten
