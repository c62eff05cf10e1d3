"""The cost of calls on PostgreSQL, counted: round trips, and rows that are read."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from conftest import FixedClock, engine_of

from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.pool import WatchedConnection
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest
    from postgres_stores import PostgresStores

    from recollect import Engine

_COUNTED = """
SELECT coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::bigint FROM pg_stat_user_tables
WHERE relname = 'memory'
"""


@contextmanager
def _opened(url: str) -> Iterator[Engine]:
    with closing(Repository(PostgresStore(parse_store_url(url)))) as store:
        yield engine_of(store, FixedClock())


class _RoundTrips:
    """Counts round trips, from libpq's trace of what it sent and received."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, account: Path) -> None:
        self._account = account
        account.touch()
        traced: set[int] = set()
        wait = WatchedConnection.wait

        def traced_wait(connection: WatchedConnection, *arguments: Any, **options: Any) -> Any:
            if id(connection) not in traced:
                traced.add(id(connection))
                connection.pgconn.trace(os.open(account, os.O_WRONLY | os.O_APPEND))
            return wait(connection, *arguments, **options)

        monkeypatch.setattr(WatchedConnection, "wait", traced_wait)

    def since(self) -> int:
        """Return the number of answers that ended with ReadyForQuery."""
        return self._account.read_text().count("ReadyForQuery")


def test_a_note_is_written_with_few_messages(
    postgres: PostgresStores, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trips = _RoundTrips(monkeypatch, tmp_path / "account")
    with _opened(postgres.database()) as engine:
        engine.remember("The keys are in the drawer.")
        before = trips.since()
        engine.remember("The ladder stands behind the shed.")
        assert trips.since() - before <= 30


def test_notes_of_a_batch_share_their_messages(
    postgres: PostgresStores, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trips = _RoundTrips(monkeypatch, tmp_path / "account")
    with _opened(postgres.database()) as engine:
        engine.remember("The keys are in the drawer.")
        before = trips.since()
        engine.remember_many([f"Note {number} is about the {number}th tree." for number in range(100)])
        assert trips.since() - before <= 86


def test_loading_a_new_store_reads_few_memories(postgres: PostgresStores) -> None:
    """Foreign keys are checked by the key, even without statistics."""
    url, count = postgres.scratch(), 400
    with _opened(url) as engine:
        engine.remember_many([f"Note {number} is about the {number}th tree." for number in range(count)])
    with psycopg.connect(url, autocommit=True) as connection:
        ((read,),) = connection.execute(_COUNTED)
    assert read <= 20 * count
