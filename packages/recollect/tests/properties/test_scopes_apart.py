"""Two scopes in one store never influence each other.

A random life is lived twice: once in a store of its own, and once in a store where another scope lives at the
same time, with the same names, texts, sessions, tags and habits. Every answer, with its scores, explanations
and side effects, is the same in both. Ids differ, so each is replaced by its place in its scope.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from lives import (
    CORRECTED,
    EVERYTHING,
    ME,
    OTHERS,
    START,
    USUAL,
    Act,
    Ask,
    Life,
    answers,
    asks,
    lives,
    opened_life,
)

from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.records import Scope
    from recollect.domain.results import Hit


def compare_lives(life: list[tuple[bool, Act]], other: Scope, asked: Sequence[Ask]) -> None:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder, ExitStack() as stack:
        places = (SqliteStore(Path(folder) / name) for name in ("alone.db", "shared.db"))
        alone, shared = (stack.enter_context(closing(Repository(place))) for place in places)
        now = START

        def opened(store: Repository, scope: Scope) -> Life:
            return opened_life(store, scope, lambda: now)

        mine, beside, theirs = opened(alone, ME), opened(shared, ME), opened(shared, other)
        for is_mine, act in life:
            for one in (mine, beside) if is_mine else (theirs,):
                one.live(act)
            now += timedelta(hours=1)
        assert beside.results == mine.results
        for ask in asked:
            assert answers(beside, ask) == answers(mine, ask)
            me = theirs.engine.scoped(ME.owner, ME.agent)
            assert me.search(ask.query) == beside.engine.search(ask.query)
        assert not {hit.memory.scope for ask in asked for hit in hits(beside, ask)} - {ME}
        for one in (mine, beside, theirs):
            one.engine._services.usage.close()


def hits(life: Life, ask: Ask) -> Sequence[Hit]:
    return life.engine.search(ask.query, limit=1_000, include_superseded=True).hits


@settings(max_examples=tries(15), suppress_health_check=[HealthCheck.too_slow])
@given(life=lives, other=st.sampled_from(OTHERS), asked=st.lists(asks, min_size=1, max_size=2))
@example(EVERYTHING, OTHERS[0], [Ask("Ada works", {**USUAL, "include_superseded": True}, 100)])
@example(EVERYTHING, OTHERS[1], [Ask("green tea", {**USUAL, "include_superseded": False}, 100)])
@example(CORRECTED, OTHERS[0], [Ask("Ada works", {**USUAL, "include_superseded": False}, 100)])
def test_every_answer_and_score_is_the_same_with_another_scope_beside_as_without(
    life: list[tuple[bool, Act]], other: Scope, asked: list[Ask]
) -> None:
    compare_lives(life, other, asked)
