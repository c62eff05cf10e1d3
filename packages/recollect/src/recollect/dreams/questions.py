"""Questions that a dream is tested on: the last ones that people asked, and some made from memories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from recollect.domain.errors import ModelUnavailable
from recollect.domain.numbers import sample_ids, unpack_vector
from recollect.domain.records import Kind, Memory
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.phases import consolidate, downscale, fading
from recollect.dreams.plan import Asked
from recollect.dreams.snapshot import Copy, Draft, DreamState, Echo, Said
from recollect.dreams.state import corrections, past_questions
from recollect.language.self_questions import keyword_question
from recollect.language.time_phrases import time_phrases
from recollect.memories.corrections import said_by
from recollect.ranking.profiles import DEFAULT
from recollect.review.results import text_reference
from recollect.search.candidates import Search, gather
from recollect.search.recall import open_search, query_of
from recollect.search.recording import tuned_in
from recollect.search.rows import memories_by_id, scope_id
from recollect.search.texts import passages_of, vectors_of
from recollect.services import Services
from recollect.stores.port import Snapshot
from recollect.text.near_duplicates import contains_statement, may_repeat_error, same_statement, usual_cosine
from recollect.write.embedding import embedded_texts, embedder_of


def gate_questions(services: Services, snapshot: DreamState, knobs: Knobs) -> list[Asked]:
    """Return `gate_questions` questions, real ones first, then some made from memories.

    All are ranked by the default profile, whichever one people used: what the traces of dreams do to other
    profiles, as published, is left to them.
    """
    with services.read() as view:
        profile = tuned_in(services, view, services.all_profiles[DEFAULT])[1]
        past = past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        # At random, and the same ones for the same dream.
        sampled = sample_ids(snapshot.ids.tolist(), snapshot.at, knobs.gate_questions - len(past))
        memories = memories_by_id(view, sampled)

    def ask(query: str, wanted: tuple[int, ...], *, made: bool) -> Asked:
        question = query_of(services, query, profile, limit=knobs.gate_top, record=False, across=True)
        with open_search(services, question, profile) as (search, asked, _):
            found = gather(search, profile, asked)
        return Asked(query, profile, wanted, found.candidates, found.query, made)

    questions: list[Asked] = []
    for one in past:
        shown = tuple(id_ for id_ in one.shown[: knobs.gate_seen] if snapshot.place(id_) is not None)
        if shown:
            questions.append(ask(one.query, shown, made=False))
    made = ((keyword_question(memory), memory.id) for memory in memories.values())
    return questions + [ask(query, (id_,), made=True) for query, id_ in made if query]


# Searches of a dream: who else says what is fading, and later copies of errors.

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
    """Find for each memory to prune the memories nearest to all its texts. Texts that a person decided to
    keep beside another have no echo.
    """
    draft = Draft.of(snapshot)
    for phase, step in ((Phase.CONSOLIDATE, consolidate), (Phase.DOWNSCALE, downscale)):
        if phase in phases:
            draft = step(snapshot, knobs, draft)
    if not knobs.prune_echo:
        return {}
    rows = ((row, int(snapshot.ids[row])) for row in fading(snapshot, knobs, draft))
    return {row: _echoes(view, services, id_) for row, id_ in rows if text_reference(id_) not in decided}


def _echoes(view: Snapshot, services: Services, id_: int) -> tuple[Echo, ...]:
    """Find memories that say all that a memory says. Meaning finds them and words decide: models put `Alice
    manages Bob` next to `Bob manages Alice`, and 40 euros next to 45.
    """
    near = _near(view, services, id_)
    memories = memories_by_id(view, [id_, *near])
    fading = memories[id_]
    # With a word like "today", the same text means another day later.
    if any(time_phrases(text, fading.created_at) for text in _sayings(fading)):
        return ()

    def says_all(other: Memory) -> bool:
        wholes = _sayings(other)
        return all(any(contains_statement(whole, part) for whole in wholes) for part in _sayings(fading))

    return tuple(
        Echo(other, cosine)
        for other, cosine in near.items()
        if memories[other].happened_at == fading.happened_at and says_all(memories[other])
    )


def _sayings(memory: Memory) -> list[str]:
    if memory.kind is not Kind.ENTITY:
        return [said_by(memory)]
    return [f"{memory.name}: {seen.content}" for seen in memory.in_force] or [memory.name]


def _near(view: Snapshot, services: Services, id_: int) -> dict[int, float]:
    """Return memories near to every passage of a memory, with the smallest cosine."""
    where = services.unexpired()
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
    """Find new texts since the last dream that may repeat a corrected error, except texts that a person
    decided to keep.
    """
    with services.read() as view:
        pairs = corrections(view, scope_id(view, services.scope), _MOST_ERRORS)
        if not pairs:
            return ()
        errors = memories_by_id(view, sorted({id_ for pair in pairs for id_ in pair}))
        # A merge was no error: the survivor says the same.
        pairs = [(old, by) for old, by in pairs if not same_statement(errors[old].text, errors[by].text)]
        # Memories made or changed since the last dream; of very many, the last.
        rows = np.flatnonzero(snapshot.changed_at > snapshot.dreamt_at.get(Phase.CORRECT, 0))
        order = np.argsort(-snapshot.changed_at[rows], kind="stable")
        new = memories_by_id(view, sorted(snapshot.ids[rows[order][:_MOST_NEW]].tolist()))
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


def _places(memory: Memory) -> Iterator[tuple[Said, str]]:
    of_program = memory.ref is not None or memory.metadata is not None
    kept = memory.pinned or memory.importance_tag is not None or of_program
    if memory.kind is not Kind.ENTITY:
        # A person who restored a superseded memory wants it.
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
