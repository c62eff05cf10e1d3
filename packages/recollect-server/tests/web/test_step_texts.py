"""Every step that a profile of ours can show is told in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from recollect.ranking.profiles import PROFILES
from recollect_server.web.drawings import step_text

if TYPE_CHECKING:
    from recollect.engine import Engine


@pytest.mark.parametrize("profile", PROFILES)
def test_every_step_of_our_profiles_is_told(engine: Engine, profile: str) -> None:
    engine.create_entities([{"name": "Harbour choir", "observations": ["Sings on Mondays since 2020"]}])
    engine.remember("The harbour choir sang last week.", importance=0.9)
    engine.add_messages("pier", [{"content": "When did the choir sing?"}, {"content": "Last week, I think."}])
    answer = engine.search(
        "when did the harbour choir sing last week?", profile=profile, explain=True, limit=9
    )
    steps = {reason.step for hit in answer.hits for reason in hit.reasons}
    assert steps
    assert {step for step in steps if not step_text(step)} == set()


def test_a_step_of_a_user_s_own_goes_without() -> None:
    assert step_text("my own factor") == ""
