"""The same writes give the same answers on SQLite and on PostgreSQL, byte for byte.

A random life is lived twice: in a file, and in a database where another scope lives at the same time. Every
answer of every profile, now and as of earlier moments, with scores, reasons and texts, is the same. Ids come
from a sequence there, and a write that is refused leaves a gap: each is named by its place in its scope.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
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
    from collections.abc import Iterator

    from postgres_stores import PostgresStores

    from recollect.domain.records import Scope


@contextmanager
def both_stores(postgres: PostgresStores) -> Iterator[tuple[Repository, Repository]]:
    with tempfile.TemporaryDirectory(prefix="recollect-") as folder:
        in_file, on_server = Repository(SqliteStore(Path(folder) / "memory.db")), Repository(postgres.new())
        try:
            yield in_file, on_server
        finally:
            in_file.close()
            on_server.close()
            postgres.release()


@pytest.mark.usefixtures("postgres")
@settings(
    max_examples=tries(12), suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
@given(life=lives, other=st.sampled_from(OTHERS), asked=st.lists(asks, min_size=1, max_size=2))
@example(EVERYTHING, OTHERS[0], [Ask("Ada works", {**USUAL, "include_superseded": True}, 100)])
@example(CORRECTED, OTHERS[1], [Ask("Ada works", {**USUAL, "include_superseded": False}, 100)])
def test_every_answer_of_every_profile_is_the_same_in_both(
    postgres: PostgresStores, life: list[tuple[bool, Act]], other: Scope, asked: list[Ask]
) -> None:
    now = START

    def opened(store: Repository, scope: Scope) -> Life:
        return opened_life(store, scope, lambda: now)

    with both_stores(postgres) as (in_file, on_server):
        mine, there, theirs = opened(in_file, ME), opened(on_server, ME), opened(on_server, other)
        for is_mine, act in life:
            for one in (mine, there) if is_mine else (theirs,):
                one.live(act)
            now += timedelta(hours=1)
        assert there.results == mine.results
        for ask in asked:
            assert answers(there, ask) == answers(mine, ask)
        for one in (mine, there, theirs):
            one.engine._services.usage.close()
