"""The connection is cut at the commit: the write is made once, whether the server heard of it or not."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from cutting_proxy import Cut, CuttingProxy
from load import Load, account

from conftest import FixedClock, engine_of
from recollect.engine.repository import Repository
from recollect.store_url import parse_store_url
from recollect.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from postgres_stores import PostgresStores


@pytest.mark.parametrize("cut", Cut)
def test_a_write_whose_commit_was_cut_is_made_once(postgres: PostgresStores, cut: Cut) -> None:
    url = postgres.database()
    with closing(Repository(PostgresStore(parse_store_url(url)))) as direct:
        engine_of(direct, FixedClock(), model="none").remember("Here before")
    proxy = CuttingProxy(postgres.node.port, cut, lambda: _wait_for_a_lock(url))
    through = url.replace(f":{postgres.node.port}/", f":{proxy.port}/")
    with closing(proxy), closing(Repository(PostgresStore(parse_store_url(through)))) as store:
        engine_of(store, FixedClock(), model="none").remember("Cut off")
    assert proxy.has_cut
    load = Load(url, acknowledged={"Here before": 0.0, "Cut off": 0.0})
    after = account(load)
    assert (after.lost, after.duplicates, after.unacknowledged, after.changes_apart) == (0, 0, 0, 0)


def _wait_for_a_lock(url: str) -> None:
    """Until the second try waits for what the first one holds."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event_type = 'Lock'"
        ).fetchone() == (0,):
            time.sleep(0.01)
