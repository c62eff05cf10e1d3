"""What a dream is tried on: the last questions that people asked, and some that memories ask themselves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from recollect.dreams.gate import Asked, is_tempered
from recollect.engine.recall import open_search, query_of
from recollect.engine.services import Services
from recollect.engine.shadow import tuned_in
from recollect.ranking.profiles import DEFAULT
from recollect.records import PastQuestion
from recollect.retrieval.dream_state import past_questions
from recollect.retrieval.gather import gather
from recollect.retrieval.records import memories_by_id, scope_id
from recollect.sampling import sample_ids
from recollect.text.self_questions import keyword_question

if TYPE_CHECKING:
    from recollect.dreams.knobs import Knobs
    from recollect.dreams.snapshot import DreamState
    from recollect.ranking.pipeline import Profile

_FEW = 3
"""Words of a question, as few as people give."""


def gate_questions(services: Services, snapshot: DreamState, knobs: Knobs) -> list[Asked]:
    """So many, real ones first. Memories speak for themselves where people have asked too little.

    All are asked by the default profile, with whichever one people asked them: what another one makes of the
    traces of dreams, as published, is that one's own.
    """
    with services.read() as view:
        profile = tuned_in(services, view, services.all_profiles[DEFAULT])[1]
        past = past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        sampled = _sample(snapshot, knobs.gate_questions - len(past))
        memories = memories_by_id(view, sampled)
    asked = [_asked(services, profile, snapshot, knobs, one) for one in past]
    made = [
        _ask(services, profile, knobs, query, (memory.id,), made=True)
        for memory in memories.values()
        if (query := keyword_question(memory))
    ]
    return [one for one in (*asked, *made) if one is not None]


def trials(services: Services, snapshot: DreamState, knobs: Knobs) -> tuple[Asked, ...]:
    """Half as many, by each ranking in use that is tempered: a few words of some memories."""
    with services.read() as view:
        used = {
            one.profile for one in past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        }
        tried = [
            tuned_in(services, view, profile)[1]
            for name, profile in services.all_profiles.items()
            if name in used and is_tempered(profile)
        ]
        if not tried:
            return ()
        memories = memories_by_id(view, _sample(snapshot, knobs.gate_questions // 2))
    asked = (
        _ask(services, profile, knobs, query, (memory.id,), made=True)
        for profile in tried
        for memory in memories.values()
        if (query := keyword_question(memory, _FEW))
    )
    return tuple(one for one in asked if one is not None)


def _sample(snapshot: DreamState, size: int) -> list[int]:
    """Memories at random, the same ones for the same dream."""
    return sample_ids(snapshot.ids.tolist(), snapshot.at, size)


def _asked(
    services: Services,
    profile: Profile,
    snapshot: DreamState,
    knobs: Knobs,
    past: PastQuestion,
) -> Asked | None:
    shown = [id_ for id_ in past.shown[: knobs.gate_seen] if snapshot.place(id_) is not None]
    return _ask(services, profile, knobs, past.query, shown)


def _ask(
    services: Services,
    profile: Profile,
    knobs: Knobs,
    query: str,
    wanted: Iterable[int],
    *,
    made: bool = False,
) -> Asked | None:
    ids = tuple(wanted)
    if not ids:
        return None
    question = query_of(services, query, profile, limit=knobs.gate_top, record=False, across=True)
    with open_search(services, question, profile) as (search, asked, _):
        found = gather(search, profile, asked)
    return Asked(query, profile, ids, found.candidates, found.query, made)
