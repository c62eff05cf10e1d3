"""What a dream is tried on: the default profile, with the numbers that people get."""

from __future__ import annotations

from recollect.dreams.knobs import Knobs
from recollect.dreams.questions import gate_questions
from recollect.dreams.state import dream_state
from recollect.engine import Engine
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import PROFILES
from recollect.search.rows import scope_id
from recollect.tuning.knobs import with_knobs


def test_the_gate_asks_by_the_tuned_default_profile_whichever_people_asked_by(engine: Engine) -> None:
    engine.create_entities([{"name": f"tea {number}", "observations": ["leaf"]} for number in range(4)])
    engine.recall("tea", profile="reverie")
    engine.tuning.set({"linked.weight": 0.5}, "recollect", exactly=True)
    knobs = Knobs()
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        snapshot = dream_state(
            view, scope_id(view, engine.scope), microseconds(engine._services.clock()), knobs.link_together
        )
    found = gate_questions(engine._services, snapshot, knobs)
    assert {one.profile for one in found} == {with_knobs(PROFILES["recollect"], {"linked.weight": 0.5})}
