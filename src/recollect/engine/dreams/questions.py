"""What a dream is tried on: the last questions that people asked, and some that memories ask themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from recollect.dreams.gate import Asked, reads_traces
from recollect.engine.recall import open_search, query_of
from recollect.engine.services import Services
from recollect.engine.shadow import tuned_in
from recollect.ports import Snapshot
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
    """So many, real ones first. Memories speak for themselves where people have asked too little."""
    with services.read() as view:
        profiles = _tuned(services, view)
        past = past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        sampled = _sample(snapshot, knobs.gate_questions - len(past))
        memories = memories_by_id(view, sampled)
    usual = _usual(past, profiles)
    asked = [_asked(services, profiles, snapshot, knobs, one) for one in past]
    made = [
        _ask(services, profiles[usual], knobs, query, (memory.id,), made=True)
        for memory in memories.values()
        if (query := keyword_question(memory))
    ]
    return [one for one in (*asked, *made) if one is not None]


def trials(services: Services, snapshot: DreamState, knobs: Knobs) -> tuple[Asked, ...]:
    """Half as many, by each ranking in use that reads what dreams write: a few words of some memories."""
    with services.read() as view:
        profiles = _tuned(services, view)
        used = {
            one.profile for one in past_questions(view, scope_id(view, services.scope), knobs.gate_questions)
        }
        tried = [profile for name, profile in profiles.items() if name in used and reads_traces(profile)]
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


def _tuned(services: Services, view: Snapshot) -> dict[str, Profile]:
    """As people get them: with the numbers that each was tuned to."""
    return {name: tuned_in(services, view, profile)[1] for name, profile in services.all_profiles.items()}


def _usual(past: Sequence[PastQuestion], profiles: Mapping[str, Profile]) -> str:
    """The profile that people ask by the most."""
    used = Counter(one.profile for one in past if one.profile in profiles)
    return max(used, key=lambda name: (used[name], name), default=DEFAULT) or DEFAULT


def _sample(snapshot: DreamState, size: int) -> list[int]:
    """Memories at random, the same ones for the same dream."""
    return sample_ids(snapshot.ids.tolist(), snapshot.at, size)


def _asked(
    services: Services,
    profiles: Mapping[str, Profile],
    snapshot: DreamState,
    knobs: Knobs,
    past: PastQuestion,
) -> Asked | None:
    shown = [id_ for id_ in past.shown[: knobs.gate_seen] if snapshot.place(id_) is not None]
    profile = profiles.get(past.profile or DEFAULT, profiles[DEFAULT])
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
