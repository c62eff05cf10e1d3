"""Retire a wrong memory and its near-copies, and show the history of a memory."""

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
from recollect.search.rows import ids_superseded_by, memories_by_id, relations_of
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

# Number of hits that each search reads first.
_FIRST_HITS = 50


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A note, message or observation that may be a copy."""

    id: int
    text: str
    said: str
    """The text after its entity's name, or after its speaker's if it is about the speaker."""
    observation: int | None = None


def supersede(
    services: Services, old: int, new: int | NoteLike, *, copies: bool, key: str | None = None
) -> SupersedeResult:
    """Retire a memory in favour of another, or of a new note.

    A retry with the same key returns the copies that were retired the first time.
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
        by = _with_defaults_of(wrong, note_of(new))
        right = by.text
    retired: list[_Candidate] = []
    similar: list[SimilarMemory] = []
    if copies:
        with services.read() as view:
            retired, similar = _find_near_copies(services, view, wrong, right, except_for=by)
    embedded = _vectors(services, by) if isinstance(by, NewText) else None
    change = Supersede(
        services.scope,
        ids=(old,),
        by=by,
        observations=tuple(
            candidate.observation for candidate in retired if candidate.observation is not None
        ),
        embedded=embedded,
        copies=tuple(candidate.id for candidate in retired if candidate.observation is None),
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
        raise NotFound(f"The note of key {key!r} has been purged; use another key to store it again.")
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
    """Return current memories that repeat an error; for an entity, with the observation that repeats it."""
    retired, _ = _find_near_copies(services, view, wrong, right, except_for=by)
    return [(candidate.id, candidate.observation) for candidate in retired]


def _vectors(services: Services, new: NewText) -> TextVectors | None:
    """Embed a new note before it is stored, so that one transaction writes everything.

    Return None if the model is not known yet, or other texts wait for their vectors.
    """
    with services.read() as view:
        model = model_in_use(view)
        if view.rows("pending_vector", ("passage_id",), limit=1):
            return None
    return text_vectors(services, model, new)


def _with_defaults_of(wrong: Memory, note: NewText) -> NewText:
    """Return the new note with unset fields copied from the memory that it corrects."""
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


def _find_near_copies(
    services: Services, view: Snapshot, wrong: Memory, right: str, except_for: int | NewText
) -> tuple[list[_Candidate], list[SimilarMemory]]:
    """Return the near-copies of an error, and memories that are only similar to it."""
    said = text_with_speaker(wrong, named_in=right)
    if wrong.speaker and said != wrong.text and is_personal(right):
        right = f"{wrong.speaker}: {right}"
    candidates, retired, memories = _find_copies(
        services, view, wrong, except_for, lambda candidate: repeats_error(said, right, candidate.said)
    )
    # Compare by meaning only if it could change the result: an entity may have thousands of observations.
    doubtful = [
        candidate
        for candidate in candidates
        if candidate not in retired
        and (candidate.observation is None or repeats_error(said, right, candidate.said, 1.0))
    ]
    similar = []
    new = except_for if isinstance(except_for, NewText) else None
    compared = {wrong.id: wrong} | {candidate.id: memories[candidate.id] for candidate in doubtful}
    cosines = _cosines(services, view, compared, said, doubtful, new)
    for candidate, cosine in zip(doubtful, cosines, strict=True):
        if repeats_error(said, right, candidate.said, cosine):
            retired.append(candidate)
        elif cosine >= RELATED_COSINE and candidate.observation is None:
            similar.append(SimilarMemory(candidate.id, candidate.text, cosine))
    return retired, sorted(similar, key=lambda each: (-each.similarity, each.id))


def _find_copies(
    services: Services,
    view: Snapshot,
    wrong: Memory,
    except_for: int | NewText,
    is_copy: Callable[[_Candidate], bool],
) -> tuple[list[_Candidate], list[_Candidate], Mapping[int, Memory]]:
    """Return the candidates near an error, those whose words make them copies, and their memories.

    If half of the hits are copies, there may be more, so the search repeats with a larger limit.
    """
    limit = _FIRST_HITS
    search = Search(view, services.where())
    vectors = memory_vectors(view, [wrong.id], search.model).get(wrong.id, ())[:1]
    while True:
        hits = [*search.by_words(text_with_speaker(wrong), limit, "stemmed")]
        for vector in vectors:
            hits += search.by_meaning(vector, limit)
        near = memories_by_id(view, sorted({hit.id for hit in hits}))
        candidates = [
            candidate
            for candidate in _candidates(near.values())
            if candidate.id not in {wrong.id, except_for}
        ]
        found = [candidate for candidate in candidates if is_copy(candidate)]
        if 2 * len(found) < limit:
            return candidates, found, near
        limit *= 4


def _candidates(memories: Iterable[Memory]) -> Iterator[_Candidate]:
    for memory in memories:
        if memory.kind is Kind.ENTITY:
            for observation in memory.in_force:
                yield _Candidate(
                    memory.id, observation.content, f"{memory.name}: {observation.content}", observation.id
                )
        else:
            yield _Candidate(memory.id, memory.text, text_with_speaker(memory))


def text_with_speaker(memory: Memory, named_in: str = "") -> str:
    """Return the text, with the speaker if the text or its correction is about them."""
    if not memory.speaker:
        return memory.text
    is_about_speaker = is_personal(memory.text) or fold(memory.speaker) in words(named_in)
    return f"{memory.speaker}: {memory.text}" if is_about_speaker else memory.text


def _cosines(
    services: Services,
    view: Snapshot,
    memories: Mapping[int, Memory],
    said: str,
    candidates: Sequence[_Candidate],
    new: NewText | None,
) -> list[float]:
    """Return the cosine of each candidate's text with the error; 0 without a model.

    The passages of the new note, which is stored next, are embedded in the same batch.
    """
    if not candidates:
        return []
    texts = [said, *(candidate.said for candidate in candidates)]
    try:
        model = model_in_use(view)
        embedder = embedder_for(services, model, first_model(services, view) if model is None else None)
        known = _stored_vectors(view, memories, embedder.model)
        missing = [text for text in texts if text not in known]
        if missing:
            new_passages = () if new is None else passage_texts(new.text, new.speaker)
            embedded = embedded_texts(services, embedder, [*missing, *new_passages])
            known |= {text: unpack_vector(each.vector) for text, each in embedded.items()}
    except ModelUnavailable:
        return [0.0] * len(candidates)
    rows = np.stack([known[text] for text in texts])
    cosines = np.minimum(1.0, np.vecdot(rows[1:], rows[0]))
    return [usual_cosine(float(cosine), embedder.model.name) for cosine in cosines]


def _stored_vectors(view: Snapshot, memories: Mapping[int, Memory], model: Model) -> dict[str, Vector]:
    """Return the stored vectors of these memories' passages, by text, if they are of this model."""
    row = model_row(view)
    if row is None or row[1].name != model.name:
        return {}
    texts = {passage.id: passage.text for passage in passages_of(view, sorted(memories), memories)}
    return {texts[id_]: vector for id_, vector in vectors_of(view, list(texts), row).items()}


# The history of a memory


_SortedEvent = tuple[datetime, HistoryEvent]
"""A time to sort by, and the event with its stored time.

If the clock jumped back, stored times may be out of order. The times to sort by never are.
"""


def history(services: Services, id_: int) -> History:
    memory = services.memory(id_)
    with services.read() as view:
        replaced = list(memories_by_id(view, ids_superseded_by(view, id_)).values())
        by = memories_by_id(view, [memory.superseded_by] if memory.superseded_by else []).get(
            memory.superseded_by or 0
        )
        relations = relations_of(view, [id_], deleted=True) if memory.kind is Kind.ENTITY else ()
    events = _text_events(memory, by)
    last = max(at for at, _ in events)
    for other in replaced:
        if other.superseded_at is not None:
            what = "merged with" if same_statement(memory.text, other.text) else "supersedes"
            detail = f"memory {other.id}: {other.text}"
            events.append(_event(memory.created_at, other.superseded_at, what, detail))
    events += [*_observation_events(memory), *_relation_events(memory, relations)]
    if memory.deleted_at is not None:
        # Forgetting is the last event: a forgotten memory cannot be changed.
        detail = f"`recollect restore {memory.id}` brings it back"
        events.append(_event(last, memory.deleted_at, "forgotten", detail))
    # The sort is stable: events with equal times keep the order above.
    return History(memory, tuple(event for _, event in sorted(events, key=lambda each: each[0])))


def _event(since: datetime, at: datetime, what: str, detail: str = "") -> _SortedEvent:
    return max(since, at), HistoryEvent(at, what, detail)


def _text_events(memory: Memory, by: Memory | None) -> list[_SortedEvent]:
    """Return the events of a memory's texts, of the times when it was gone, and of its replacement."""
    first = memory.former[0].text if memory.former else memory.text
    if memory.kind is Kind.ENTITY:
        first_event = ("created", f"{memory.name} ({memory.type})")
    elif memory.kind is Kind.MESSAGE:
        first_event = ("said", f"{memory.speaker or memory.role or 'someone'}: {first}")
    else:
        first_event = ("noted", first)
    events = [_event(memory.created_at, memory.created_at, *first_event)]
    said = [*(former.text for former in memory.former[1:]), memory.text]
    for former, text in zip(memory.former, said, strict=bool(memory.former)):
        events.append(_event(events[-1][0], former.until, "updated", text))
    since = memory.created_at
    for absence in memory.absences:
        gone = _event(since, absence.since, absence.why)
        back = _event(gone[0], absence.until, "restored")
        events += [gone, back]
        since = back[0]
    if memory.superseded_at is not None:
        since = max((memory.created_at, *(absence.until for absence in memory.absences)))
        what, detail = "superseded", "by a memory that is gone"
        if by is not None and same_statement(memory.text, by.text):
            what, detail = "merged", f"into memory {by.id}, which says the same"
        elif by is not None:
            detail = f"by memory {by.id}"
        events.append(_event(since, memory.superseded_at, what, detail))
    return events


def _observation_events(memory: Memory) -> Iterator[_SortedEvent]:
    # An imported observation may be older than the entity, so only its own time counts.
    known = {observation.id: observation for observation in memory.observations}
    for observation in memory.observations:
        yield _event(observation.created_at, observation.created_at, "observed", observation.content)
        if observation.superseded_at is not None:
            by = known.get(observation.superseded_by or 0)
            instead = f" by memory {observation.corrected_by}" if observation.corrected_by else ""
            if by is not None and by.content:
                instead = f" by: {by.content}"
            since = max(observation.created_at, observation.created_at if by is None else by.created_at)
            yield _event(since, observation.superseded_at, "superseded", f"{observation.content}{instead}")
        if observation.deleted_at is not None:
            yield _event(observation.created_at, observation.deleted_at, "removed", observation.content)


def _relation_events(memory: Memory, relations: Sequence[Relation]) -> Iterator[_SortedEvent]:
    for relation in relations:
        detail = f"{relation.source_name} {relation.type} {relation.target_name}"
        yield _event(relation.created_at, relation.created_at, "related", detail)
        if relation.until is not None:
            # A relation may have ended long before that was recorded.
            yield _event(relation.until, relation.until, "ended", detail)
        if relation.deleted_at is not None and relation.deleted_at != memory.deleted_at:
            yield _event(relation.created_at, relation.deleted_at, "unrelated", detail)
