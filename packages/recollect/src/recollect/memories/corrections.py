"""Corrections: a fact is retired, and its near-copies with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from recollect.domain.changes import NewText, Outcome, Supersede, TextVectors
from recollect.domain.errors import InvalidInput, ModelUnavailable, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import unpack_vector
from recollect.domain.records import NOTE_FIELDS, Kind, Memory, Model, Relation
from recollect.domain.results import (
    EmbedResult,
    History,
    HistoryEvent,
    RetiredMemory,
    SimilarMemory,
    SupersedeResult,
)
from recollect.domain.tables import OneOf
from recollect.search.candidates import Search
from recollect.search.rows import memories_by_id, relations_of, replaced_by
from recollect.search.texts import memory_vectors, model_in_use, model_row, passages_of, vectors_of
from recollect.services import Services
from recollect.stores.port import Snapshot, Vector
from recollect.text.near_duplicates import (
    RELATED_COSINE,
    is_personal,
    repeats_error,
    same_statement,
    usual_cosine,
)
from recollect.text.passages import passage_texts
from recollect.text.tokens import fold, words
from recollect.write.embedding import catch_up, embedded_texts, embedder_for, first_model, text_vectors
from recollect.write.inputs import NoteLike, note_of

# How many of each search are looked at first.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class _Place:
    """Something that may be a copy: a note, a message, or an observation."""

    id: int
    text: str
    said: str
    """The text with its subject, and with its speaker where it is about them."""
    observation: int | None = None


def supersede(
    services: Services, old: int, new: int | NoteLike, *, copies: bool, key: str | None = None
) -> SupersedeResult:
    """Retire a memory in favour of another, or of a new note.

    A retry with the same key finds other copies, or none, and gives those that were retired the first time.
    """
    wrong = services.memory(old)
    if wrong.kind is Kind.ENTITY:
        raise InvalidInput(
            f"Memory {old} is an entity; supersede one of its observations, with `add_observations`."
        )
    by: int | NewText
    if isinstance(new, bool):
        raise InvalidInput(f"A correction is a text, or the id of a memory, not {new!r}.")
    if isinstance(new, int):
        correction = services.memory(new)
        if correction.kind is Kind.ENTITY:
            raise InvalidInput(f"Memory {new} is an entity, and only a note or message can correct another.")
        by, right = new, correction.text
    else:
        by = _like(wrong, note_of(new))
        right = by.text
    retired: list[_Place] = []
    similar: list[SimilarMemory] = []
    if copies:
        with services.read() as view:
            retired, similar = _near(services, view, wrong, right, except_for=by)
    embedded = _vectors(services, by) if isinstance(by, NewText) else None
    change = Supersede(
        services.scope,
        ids=(old,),
        by=by,
        observations=tuple(place.observation for place in retired if place.observation is not None),
        embedded=embedded,
        copies=tuple(place.id for place in retired if place.observation is None),
    )
    memories: dict[int, Memory] = {}
    gone: list[RetiredMemory] = []

    def read_back(view: Snapshot, outcomes: Sequence[Outcome]) -> None:
        (outcome,) = outcomes
        memories.update(memories_by_id(view, outcome.ids))
        observed = (OneOf("id", outcome.observations),)
        found = view.rows("observation", ("memory_id", "content", "id"), observed)
        gone[:] = [RetiredMemory(id_, memories[id_].text) for id_ in outcome.ids[1:] if id_ in memories]
        gone.extend(RetiredMemory(*row) for row in found)

    outcome = services.write([change], key=key, before_commit=read_back)[0]
    if outcome.ids[0] not in memories:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    caught_up = EmbedResult() if embedded is not None else catch_up(services, outcome.ids[:1])
    return SupersedeResult(
        by=memories[outcome.ids[0]],
        retired=tuple(gone),
        similar=tuple(similar),
        model_note=caught_up.model_note,
        note=caught_up.problem,
    )


def near_copies(
    services: Services, view: Snapshot, wrong: Memory, right: str, by: int
) -> list[tuple[int, int | None]]:
    """Memories in force that repeat an error, each with the observation that does, where it is an entity."""
    retired, _ = _near(services, view, wrong, right, except_for=by)
    return [(place.id, place.observation) for place in retired]


def _vectors(services: Services, new: NewText) -> TextVectors | None:
    """Embed a new note before it is stored, so that one transaction writes everything.

    Return None where the model is not known yet, or other texts wait for their vectors.
    """
    with services.read() as view:
        model = model_in_use(view)
        if view.rows("pending_vector", ("passage_id",), limit=1):
            return None
    return text_vectors(services, model, new)


def _like(wrong: Memory, note: NewText) -> NewText:
    """A new note; where it says nothing else, it is of the same sort as what it corrects."""
    usual = NewText(Kind.NOTE, note.text)
    own = {name: value for name in NOTE_FIELDS if (value := getattr(wrong, name)) is not None}
    return replace(
        note,
        category=note.category or wrong.category,
        speaker=note.speaker or wrong.speaker,
        importance=wrong.importance if note.importance == usual.importance else note.importance,
        tags=note.tags or wrong.tags,
        fields=tuple((own | dict(note.fields)).items()),
    )


def _near(
    services: Services, view: Snapshot, wrong: Memory, right: str, except_for: int | NewText
) -> tuple[list[_Place], list[SimilarMemory]]:
    """The near-copies of an error, and what is like it without being one."""
    said = said_by(wrong, named_in=right)
    if wrong.speaker and said != wrong.text and is_personal(right):
        right = f"{wrong.speaker}: {right}"
    places, retired, memories = _find_copies(
        services, view, wrong, except_for, lambda place: repeats_error(said, right, place.said)
    )
    # Meaning is asked only where it could make a difference: an entity may have thousands of observations.
    doubtful = [
        place
        for place in places
        if place not in retired and (place.observation is None or repeats_error(said, right, place.said, 1.0))
    ]
    similar = []
    new = except_for if isinstance(except_for, NewText) else None
    speaking = {wrong.id: wrong} | {place.id: memories[place.id] for place in doubtful}
    cosines = _cosines(services, view, speaking, said, doubtful, new)
    for place, cosine in zip(doubtful, cosines, strict=True):
        if repeats_error(said, right, place.said, cosine):
            retired.append(place)
        elif cosine >= RELATED_COSINE and place.observation is None:
            similar.append(SimilarMemory(place.id, place.text, cosine))
    return retired, sorted(similar, key=lambda alike: (-alike.similarity, alike.id))


def _find_copies(
    services: Services,
    view: Snapshot,
    wrong: Memory,
    except_for: int | NewText,
    copies: Callable[[_Place], bool],
) -> tuple[list[_Place], list[_Place], Mapping[int, Memory]]:
    """Return what is near an error, which of it are copies by their words, and their memories.

    Copies are the nearest neighbours of a text: while half of those read are copies, there may be more.
    """
    at_most = _LOOKED_AT
    search = Search(view, services.where())
    vectors = memory_vectors(view, [wrong.id], search.model).get(wrong.id, ())[:1]
    while True:
        hits = [*search.by_words(said_by(wrong), at_most, "stemmed")]
        for vector in vectors:
            hits += search.by_meaning(vector, at_most)
        near = memories_by_id(view, sorted({hit.id for hit in hits}))
        places = [place for place in _places(near.values()) if place.id not in {wrong.id, except_for}]
        found = [place for place in places if copies(place)]
        if 2 * len(found) < at_most:
            return places, found, near
        at_most *= 4


def _places(memories: Iterable[Memory]) -> Iterator[_Place]:
    for memory in memories:
        if memory.kind is Kind.ENTITY:
            for seen in memory.in_force:
                yield _Place(memory.id, seen.content, f"{memory.name}: {seen.content}", seen.id)
        else:
            yield _Place(memory.id, memory.text, said_by(memory))


def said_by(memory: Memory, named_in: str = "") -> str:
    """Return the text, with the speaker where the text or its correction is about them."""
    if not memory.speaker:
        return memory.text
    spoken_of = is_personal(memory.text) or fold(memory.speaker) in words(named_in)
    return f"{memory.speaker}: {memory.text}" if spoken_of else memory.text


def _cosines(
    services: Services,
    view: Snapshot,
    memories: Mapping[int, Memory],
    said: str,
    places: Sequence[_Place],
    new: NewText | None,
) -> list[float]:
    """Cosines of the plain texts; 0 without a model, and then the words decide.

    The passages of the new note are embedded with whatever must be; it is stored next.
    """
    if not places:
        return []
    texts = [said, *(place.said for place in places)]
    try:
        model = model_in_use(view)
        embedder = embedder_for(services, model, first_model(services, view) if model is None else None)
        known = _stored_vectors(view, memories, embedder.model)
        lacking = [text for text in texts if text not in known]
        if lacking:
            coming = () if new is None else passage_texts(new.text, new.speaker)
            embedded = embedded_texts(services, embedder, [*lacking, *coming])
            known |= {text: unpack_vector(each.vector) for text, each in embedded.items()}
    except ModelUnavailable:
        return [0.0] * len(places)
    rows = np.stack([known[text] for text in texts])
    cosines = np.minimum(1.0, np.vecdot(rows[1:], rows[0]))
    return [usual_cosine(float(cosine), embedder.model.name) for cosine in cosines]


def _stored_vectors(view: Snapshot, memories: Mapping[int, Memory], model: Model) -> dict[str, Vector]:
    """By their texts, the vectors of this model that the store has of what these memories say."""
    row = model_row(view)
    if row is None or row[1].name != model.name:
        return {}
    texts = {passage.id: passage.text for passage in passages_of(view, sorted(memories), memories)}
    return {texts[id_]: vector for id_, vector in vectors_of(view, list(texts), row).items()}


# The life of a memory, as far as the store knows it: what it said, when, and what became of it.


_Placed = tuple[datetime, HistoryEvent]
"""An event, with its time for sorting: never before an event that must have come first.

A clock may jump back, so the later of two changes may have the earlier time. The event keeps the stored time.
"""


def history(services: Services, id_: int) -> History:
    memory = services.memory(id_)
    with services.read() as view:
        replaced = list(memories_by_id(view, replaced_by(view, id_)).values())
        by = memories_by_id(view, [memory.superseded_by] if memory.superseded_by else []).get(
            memory.superseded_by or 0
        )
        relations = relations_of(view, [id_], deleted=True) if memory.kind is Kind.ENTITY else ()
    events = _life(memory, by)
    last = max(at for at, _ in events)
    for other in replaced:
        if other.superseded_at is not None:
            what = "merged with" if same_statement(memory.text, other.text) else "supersedes"
            told = f"memory {other.id}: {other.text}"
            events.append(_place_event(memory.created_at, other.superseded_at, what, told))
    events += [*_observed(memory), *_related(memory, relations)]
    if memory.deleted_at is not None:
        # Forgetting is the last event: a forgotten memory cannot be changed.
        detail = f"`recollect restore {memory.id}` brings it back"
        events.append(_place_event(last, memory.deleted_at, "forgotten", detail))
    # The sort is stable: events of one moment keep the order above.
    return History(memory, tuple(event for _, event in sorted(events, key=lambda each: each[0])))


def _place_event(since: datetime, at: datetime, what: str, detail: str = "") -> _Placed:
    return max(since, at), HistoryEvent(at, what, detail)


def _life(memory: Memory, by: Memory | None) -> list[_Placed]:
    """Return the events of its texts, its absences and its replacement."""
    first = memory.former[0].text if memory.former else memory.text
    if memory.kind is Kind.ENTITY:
        begun = ("created", f"{memory.name} ({memory.type})")
    elif memory.kind is Kind.MESSAGE:
        begun = ("said", f"{memory.speaker or memory.role or 'someone'}: {first}")
    else:
        begun = ("noted", first)
    placed = [_place_event(memory.created_at, memory.created_at, *begun)]
    said = [*(former.text for former in memory.former[1:]), memory.text]
    for former, text in zip(memory.former, said, strict=bool(memory.former)):
        placed.append(_place_event(placed[-1][0], former.until, "updated", text))
    since = memory.created_at
    for absence in memory.absences:
        gone = _place_event(since, absence.since, absence.why)
        back = _place_event(gone[0], absence.until, "restored")
        placed += [gone, back]
        since = back[0]
    if memory.superseded_at is not None:
        since = max((memory.created_at, *(absence.until for absence in memory.absences)))
        what, detail = "superseded", "by a memory that is gone"
        if by is not None and same_statement(memory.text, by.text):
            what, detail = "merged", f"into memory {by.id}, which says the same"
        elif by is not None:
            detail = f"by memory {by.id}"
        placed.append(_place_event(since, memory.superseded_at, what, detail))
    return placed


def _observed(memory: Memory) -> Iterator[_Placed]:
    # An imported observation may be older than the entity, so only its own time counts.
    known = {seen.id: seen for seen in memory.observations}
    for seen in memory.observations:
        yield _place_event(seen.created_at, seen.created_at, "observed", seen.content)
        if seen.superseded_at is not None:
            by = known.get(seen.superseded_by or 0)
            instead = f" by memory {seen.corrected_by}" if seen.corrected_by else ""
            if by is not None and by.content:
                instead = f" by: {by.content}"
            since = max(seen.created_at, seen.created_at if by is None else by.created_at)
            yield _place_event(since, seen.superseded_at, "superseded", f"{seen.content}{instead}")
        if seen.deleted_at is not None:
            yield _place_event(seen.created_at, seen.deleted_at, "removed", seen.content)


def _related(memory: Memory, relations: Sequence[Relation]) -> Iterator[_Placed]:
    for relation in relations:
        told = f"{relation.source_name} {relation.type} {relation.target_name}"
        yield _place_event(relation.created_at, relation.created_at, "related", told)
        if relation.until is not None:
            # A relation may have ended long before that was recorded.
            yield _place_event(relation.until, relation.until, "ended", told)
        if relation.deleted_at is not None and relation.deleted_at != memory.deleted_at:
            yield _place_event(relation.created_at, relation.deleted_at, "unrelated", told)
