"""What a dream is tried on is ranked as people get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.dreams.knobs import Knobs
from recollect.engine.dreams.questions import gate_questions, trials
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.profiles import PROFILES
from recollect.retrieval.dream_state import dream_state
from recollect.retrieval.records import scope_id
from recollect.tuning.knobs import with_knobs

if TYPE_CHECKING:
    from recollect.engine.engine import Engine


def test_a_dream_is_tried_with_the_numbers_that_a_profile_was_tuned_to(engine: Engine) -> None:
    engine.create_entities([{"name": f"tea {number}", "observations": ["leaf"]} for number in range(4)])
    engine.recall("tea", profile="reverie")
    engine.tuning.set({"fresh.boost": 0.9}, "reverie", exactly=True)
    tuned = with_knobs(PROFILES["reverie"], {"fresh.boost": 0.9})
    knobs = Knobs()
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        snapshot = dream_state(
            view, scope_id(view, engine.scope), microseconds(engine._services.clock()), knobs.link_together
        )
    for asked in (gate_questions, trials):
        found = asked(engine._services, snapshot, knobs)
        assert found
        assert {one.profile for one in found} == {tuned}
