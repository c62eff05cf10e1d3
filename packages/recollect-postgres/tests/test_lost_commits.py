"""The connection is cut at the commit: the write is made once, whether the server got it or not."""

from __future__ import annotations

import time
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import FixedClock, engine_of
from cutting_proxy import Cut, CuttingProxy
from load import Load, account

from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.url import parse_store_url
from recollect.transfer.copying import copy_store
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from pathlib import Path

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
    assert (after.lost, after.duplicates, after.unacknowledged, after.wrong_counts) == (0, 0, 0, 0)


def test_a_copy_whose_commits_were_cut_goes_on_as_if_nothing_had_been(
    postgres: PostgresStores, tmp_path: Path
) -> None:
    source = SqliteStore(tmp_path / "source.db")
    engine = engine_of(Repository(source), FixedClock())
    for scope in ("Ada", "Bob"):
        engine.scoped(scope).create_entities([{"name": "tea", "observations": ["green", "black"]}])
    with closing(source):
        rows, started_over, commits = _copied(postgres, source, passing=None)
        assert not started_over
        # The beginning, the first rows of a store-wide table, some in the middle, and the end.
        for passing in (0, 1, commits // 2, commits - 1):
            assert _copied(postgres, source, passing)[:2] == (rows, False)


def test_that_a_copy_was_started_over_is_told_also_where_that_commit_was_cut(
    postgres: PostgresStores, tmp_path: Path
) -> None:
    source = SqliteStore(tmp_path / "source.db")
    engine = engine_of(Repository(source), FixedClock())
    engine.remember("green tea")
    url = postgres.scratch()
    with closing(source), closing(PostgresStore(parse_store_url(url), copying=True)) as target:
        with pytest.raises(KeyboardInterrupt):
            copy_store(source, target, copying=_interrupt)
        engine.remember("black tea")
        _, started_over, _ = _copied(postgres, source, 0, url)
    assert started_over


def _interrupt(_: int, __: int | None) -> None:
    raise KeyboardInterrupt


def _copied(
    postgres: PostgresStores, source: SqliteStore, passing: int | None, url: str | None = None
) -> tuple[int, bool, int]:
    """Copy into a new database, or this one, through a proxy that cuts a later commit.

    How many rows were copied, whether it was started over, and how many commits there were.
    """
    url = url or postgres.scratch()
    never = 1 << 30
    proxy = CuttingProxy(
        postgres.node.port, Cut.UNACKNOWLEDGED, passing=never if passing is None else passing
    )
    through = url.replace(f":{postgres.node.port}/", f":{proxy.port}/")
    with closing(proxy), closing(PostgresStore(parse_store_url(through), copying=True)) as target:
        report = copy_store(source, target)
    assert proxy.has_cut == (passing is not None)
    return report.rows, report.started_over, proxy.commits


def _wait_for_a_lock(url: str) -> None:
    """Wait until the second try waits for the lock of the first."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event_type = 'Lock'"
        ).fetchone() == (0,):
            time.sleep(0.01)
