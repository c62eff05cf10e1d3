"""What a dream has to search for: who else says what is fading, and copies of errors that came later."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.phases import consolidate, downscale, fading
from recollect.dreams.snapshot import Copy, Draft, DreamState, Echo, Said
from recollect.engine.embedding import embedded_texts, embedder_of
from recollect.engine.notes.supersede import said_by
from recollect.engine.services import Services
from recollect.engine.upkeep.decisions import text_reference
from recollect.errors import ModelUnavailable
from recollect.ports import Snapshot
from recollect.records import Kind, Memory
from recollect.retrieval.dream_state import corrections
from recollect.retrieval.passages import passages_of, vectors_of
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.retrieval.search import Search
from recollect.text.near_duplicates import (
    contains_statement,
    may_repeat_error,
    same_statement,
    usual_cosine,
)
from recollect.text.time_phrases import time_phrases
from recollect.vectors import unpack_vector

_NEAREST = 8
_MOST_ERRORS = 200
_MOST_NEW = 500


def echoes_of_fading(
    view: Snapshot,
    services: Services,
    snapshot: DreamState,
    knobs: Knobs,
    phases: Collection[Phase],
    decided: Collection[str],
) -> dict[int, tuple[Echo, ...]]:
    """For what would be pruned, the memories that come nearest to all that it says. None speaks for what
    somebody decided to keep beside another."""
    draft = Draft.of(snapshot)
    for phase, step in ((Phase.CONSOLIDATE, consolidate), (Phase.DOWNSCALE, downscale)):
        if phase in phases:
            draft = step(snapshot, knobs, draft)
    if not knobs.prune_echo:
        return {}
    rows = ((row, int(snapshot.ids[row])) for row in fading(snapshot, knobs, draft))
    return {row: _echoes(view, services, id_) for row, id_ in rows if text_reference(id_) not in decided}


def _echoes(view: Snapshot, services: Services, id_: int) -> tuple[Echo, ...]:
    """Who says all that a memory says. Meaning finds them and words decide: models put `Alice manages Bob`
    next to `Bob manages Alice`, and 40 euros next to 45."""
    near = _near(view, services, id_)
    memories = memories_by_id(view, [id_, *near])
    fading = memories[id_]
    # What speaks of “today” says something else on another day, in the same words.
    if any(time_phrases(text, fading.created_at) for text in _sayings(fading)):
        return ()
    return tuple(
        Echo(other, cosine)
        for other, cosine in near.items()
        if memories[other].happened_at == fading.happened_at and _says_all(memories[other], fading)
    )


def _says_all(other: Memory, fading: Memory) -> bool:
    return all(any(contains_statement(whole, part) for whole in _sayings(other)) for part in _sayings(fading))


def _sayings(memory: Memory) -> list[str]:
    if memory.kind is not Kind.ENTITY:
        return [said_by(memory)]
    return [f"{memory.name}: {seen.content}" for seen in memory.in_force] or [memory.name]


def _near(view: Snapshot, services: Services, id_: int) -> dict[int, float]:
    """Of a memory of several passages, whoever is near to each; how near is told by the farthest."""
    where = services.found_now()
    passages = vectors_of(view, [passage.id for passage in passages_of(view, [id_])])
    near: dict[int, float] | None = None
    for vector in passages.values():
        search = Search(view, where)
        name = "" if search.model is None else search.model[1].name
        found = {
            hit.id: usual_cosine(hit.score, name)
            for hit in search.by_meaning(vector, _NEAREST)
            if hit.id != id_
        }
        if near is None:
            near = found
        else:
            near = {other: min(cosine, found[other]) for other, cosine in near.items() if other in found}
    return dict(sorted((near or {}).items(), key=lambda item: (-item[1], item[0])))


def copies_of_errors(services: Services, snapshot: DreamState, decided: Collection[str]) -> tuple[Copy, ...]:
    """What came since the last dream and may repeat something that was corrected before; what somebody
    decided to keep beside another stays."""
    with services.read() as view:
        pairs = corrections(view, scope_id(view, services.scope), _MOST_ERRORS)
        if not pairs:
            return ()
        errors = memories_by_id(view, sorted({id_ for pair in pairs for id_ in pair}))
        # What was merged was no error: the one that it lives on in says the same.
        pairs = [(old, by) for old, by in pairs if not same_statement(errors[old].text, errors[by].text)]
        new = memories_by_id(view, _newest(snapshot))
    places = [
        (place, said)
        for memory in new.values()
        for place, said in _places(memory)
        if text_reference(place.memory, place.observation) not in decided
    ]
    wrong = [said_by(errors[old], named_in=errors[by].text) for old, by in pairs]
    cosines = _cosines(services, wrong, [said for _, said in places])
    return tuple(
        Copy(
            place,
            said,
            wrong[error],
            errors[by].text,
            by,
            0.0 if cosines is None else cosines[error, at].item(),
        )
        for at, (place, said) in enumerate(places)
        for error, (old, by) in enumerate(pairs)
        if may_repeat_error(None if cosines is None else cosines[error, at]) and place.memory not in (old, by)
    )


def _newest(snapshot: DreamState) -> list[int]:
    """What was made or changed since the last dream; of very much, the last."""
    since = snapshot.dreamt_at.get(Phase.CORRECT, 0)
    rows = np.flatnonzero(snapshot.changed_at > since)
    order = np.argsort(-snapshot.changed_at[rows], kind="stable")
    return sorted(snapshot.ids[rows[order][:_MOST_NEW]].tolist())


def _places(memory: Memory) -> Iterator[tuple[Said, str]]:
    of_program = memory.ref is not None or memory.metadata is not None
    kept = memory.pinned or memory.importance_tag is not None or of_program
    if memory.kind is not Kind.ENTITY:
        # Whoever brought one back from being corrected means it.
        if not any(absence.why == "superseded" for absence in memory.absences):
            yield Said(memory.id, memory.text, kept=kept), said_by(memory)
        return
    for seen in memory.in_force:
        if seen.corrected_by is not None:
            continue
        yield Said(memory.id, seen.content, seen.id, kept=kept), f"{memory.name}: {seen.content}"


def _cosines(services: Services, errors: Sequence[str], others: Sequence[str]) -> np.ndarray | None:
    """Of each error with each text; None without a model, and then the words decide."""
    if not errors or not others:
        return np.zeros((len(errors), len(others)))
    try:
        embedder = embedder_of(services)
        known = embedded_texts(services, embedder, [*errors, *others])
        rows, columns = (
            np.stack([unpack_vector(known[text].vector) for text in texts]) for texts in (errors, others)
        )
        cosines = rows @ columns.T
        name = embedder.model.name
        return np.array([[usual_cosine(cosine, name) for cosine in row] for row in cosines.tolist()])
    except ModelUnavailable:
        return None
