"""What a dream is tried on: the default profile as people get it, and what of their own is tempered."""

from __future__ import annotations

from dataclasses import replace

from recollect.dreams.knobs import Knobs
from recollect.engine.dreams.questions import gate_questions, trials
from recollect.engine.engine import Engine
from recollect.ranking.factors.dream_traces import Strength, Tempered
from recollect.ranking.factors.recency import ReverieRecency, microseconds
from recollect.ranking.profiles import PROFILES
from recollect.ranking.steps.adjust import Times
from recollect.ranking.steps.finish import Cut, Order
from recollect.retrieval.dream_state import dream_state
from recollect.retrieval.records import scope_id
from recollect.tuning.knobs import with_knobs

_FINISH = (Times(ReverieRecency()), Order(), Cut())


def test_the_gate_asks_by_the_default_profile_and_balance_by_what_is_tempered_and_in_use(
    engine: Engine,
) -> None:
    """Both with the numbers that they were tuned to, whichever profile people asked by."""
    mine = replace(PROFILES["reverie"], name="mine", steps=(Times(Tempered(Strength())), *_FINISH))
    services = engine._services
    engine = Engine(replace(services, profiles={"mine": mine}))
    engine.create_entities([{"name": f"tea {number}", "observations": ["leaf"]} for number in range(4)])
    engine.recall("tea", profile="reverie")
    engine.recall("tea leaf", profile="mine")
    engine.tuning.set({"fresh.boost": 0.9}, "mine", exactly=True)
    engine.tuning.set({"linked.weight": 0.5}, "recollect", exactly=True)
    usual = with_knobs(PROFILES["recollect"], {"linked.weight": 0.5})
    tried = with_knobs(mine, {"fresh.boost": 0.9})
    knobs = Knobs()
    engine._services.usage.settle(None)
    with engine._services.store.read() as view:
        snapshot = dream_state(
            view, scope_id(view, engine.scope), microseconds(engine._services.clock()), knobs.link_together
        )
    for asked, profile in ((gate_questions, usual), (trials, tried)):
        found = asked(engine._services, snapshot, knobs)
        assert found
        assert {one.profile for one in found} == {profile}
