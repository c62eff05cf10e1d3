"""Corrections: a fact is retired, and its near-copies with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from recollect.changes import NewText, Outcome, Supersede, TextVectors
from recollect.conditions import OneOf
from recollect.engine.catch_up import catch_up
from recollect.engine.embedding import embedded_texts, embedder_for, text_vectors
from recollect.engine.inputs import NoteLike, note_of
from recollect.engine.language_choice import first_model
from recollect.engine.results import EmbedResult, RetiredMemory, SimilarMemory, SupersedeResult
from recollect.engine.services import Services
from recollect.errors import InvalidInput, ModelUnavailable, NotFound
from recollect.lazy_dataclass import dataclass
from recollect.ports import Snapshot, Vector
from recollect.records import Kind, Memory, Model
from recollect.retrieval.passages import memory_vectors, model_in_use, model_row, passages_of, vectors_of
from recollect.retrieval.records import memories_by_id
from recollect.retrieval.search import Search
from recollect.text.near_duplicates import RELATED_COSINE, is_personal, repeats_error, usual_cosine
from recollect.text.passages import passage_texts
from recollect.text.tokens import fold, words
from recollect.vectors import unpack_vector

# How many of each search are looked at first.
_LOOKED_AT = 50


@dataclass(frozen=True, slots=True)
class _Place:
    """Something that may be a copy: a note, a message, or an observation."""

    id: int
    text: str
    said: str
    """With what it is about; with who says it, where it speaks of them."""
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
    by = _correction_by(services, new) if isinstance(new, int) else _like(wrong, note_of(new))
    right = by.text if isinstance(by, NewText) else services.memory(by).text
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
    read = _Written()
    outcome = services.write([change], key=key, before_commit=read)[0]
    if outcome.ids[0] not in read.memories:
        raise NotFound(f"What the key {key!r} stored was purged since; use another key to store it anew.")
    caught_up = EmbedResult() if embedded is not None else catch_up(services, outcome.ids[:1])
    return SupersedeResult(
        by=read.memories[outcome.ids[0]],
        retired=read.retired,
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


class _Written:
    """What took the place of what, as it is stored: a `BeforeCommit`."""

    def __init__(self) -> None:
        self.memories: Mapping[int, Memory] = {}
        self.retired: tuple[RetiredMemory, ...] = ()

    def __call__(self, view: Snapshot, outcomes: Sequence[Outcome]) -> None:
        (outcome,) = outcomes
        self.memories = memories_by_id(view, outcome.ids)
        memories = (self.memories[id_] for id_ in outcome.ids[1:] if id_ in self.memories)
        observed = (OneOf("id", outcome.observations),)
        found = view.rows("observation", ("memory_id", "content", "id"), observed)
        self.retired = (
            *(RetiredMemory(memory.id, memory.text) for memory in memories),
            *(RetiredMemory(*row) for row in found),
        )


def _vectors(services: Services, new: NewText) -> TextVectors | None:
    """Those of a new note, so that one transaction writes all there is to write.

    None where it must wait for them, or others wait for theirs.
    """
    with services.read() as view:
        model = model_in_use(view)
        if view.rows("due", ("passage_id",), limit=1):
            return None
    return text_vectors(services, model, new)


def _correction_by(services: Services, new: int) -> int:
    if isinstance(new, bool):
        raise InvalidInput(f"A correction is a text, or the id of a memory, not {new!r}.")
    if services.memory(new).kind is Kind.ENTITY:
        raise InvalidInput(f"Memory {new} is an entity, and only a note or message can correct another.")
    return new


def _like(wrong: Memory, note: NewText) -> NewText:
    """A new note; where it says nothing else, it is of the same sort as what it corrects."""
    usual = NewText(Kind.NOTE, note.text)
    return replace(
        note,
        category=note.category or wrong.category,
        speaker=note.speaker or wrong.speaker,
        importance=wrong.importance if note.importance == usual.importance else note.importance,
        tags=note.tags or wrong.tags,
    )


def _near(
    services: Services, view: Snapshot, wrong: Memory, right: str, except_for: int | NewText
) -> tuple[list[_Place], list[SimilarMemory]]:
    """The near-copies of an error, and what is like it without being one."""
    said = said_by(wrong, named_in=right)
    if wrong.speaker and said != wrong.text and is_personal(right):
        right = f"{wrong.speaker}: {right}"
    places, retired, memories = _found(
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


def _found(
    services: Services,
    view: Snapshot,
    wrong: Memory,
    except_for: int | NewText,
    copies: Callable[[_Place], bool],
) -> tuple[list[_Place], list[_Place], Mapping[int, Memory]]:
    """What is near an error, which of it are copies by their words, and the memories that say it.

    Copies are the nearest neighbours of a text: while they are half of what was looked at, there may be more.
    """
    at_most = _LOOKED_AT
    while True:
        near = _near_memories(services, view, wrong, at_most)
        places = [place for place in _places(near.values()) if place.id not in {wrong.id, except_for}]
        found = [place for place in places if copies(place)]
        if 2 * len(found) < at_most:
            return places, found, near
        at_most *= 4


def _near_memories(services: Services, view: Snapshot, wrong: Memory, at_most: int) -> Mapping[int, Memory]:
    search = Search(view, services.where())
    found = [hit.id for hit in search.by_words(said_by(wrong), at_most, "stemmed")]
    for vector in memory_vectors(view, [wrong.id], search.model).get(wrong.id, ())[:1]:
        found += [hit.id for hit in search.by_meaning(vector, at_most)]
    return memories_by_id(view, sorted(set(found)))


def _places(memories: Iterable[Memory]) -> Iterator[_Place]:
    for memory in memories:
        if memory.kind is Kind.ENTITY:
            for seen in memory.in_force:
                yield _Place(memory.id, seen.content, f"{memory.name}: {seen.content}", seen.id)
        else:
            yield _Place(memory.id, memory.text, said_by(memory))


def said_by(memory: Memory, named_in: str = "") -> str:
    """With the speaker, where the text speaks of them, or where what corrects it does."""
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
