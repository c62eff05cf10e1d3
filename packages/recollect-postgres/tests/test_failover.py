"""The primary of three servers is killed during writes: no acknowledged write is lost or doubled."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import pytest
from cluster import cluster
from conftest import PATIENCE_SECONDS, FixedClock, engine_of
from load import Load, account

from recollect.domain.errors import StoreUnavailable
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cluster import Cluster


@pytest.fixture
def nodes() -> Iterator[Cluster]:
    folder = Path(mkdtemp(prefix="recollect-failover-"))
    # The machine stays up, so a killed server loses no writes without fsync.
    nodes = cluster(folder, settings={"fsync": "off"})
    try:
        yield nodes.start()
    finally:
        nodes.kill()
        shutil.rmtree(folder, ignore_errors=True)


def test_no_acknowledged_write_is_lost_or_repeated_when_the_primary_is_killed(nodes: Cluster) -> None:
    load = Load(nodes.url()).start()
    load.wait_for(60)
    killed = nodes.primary
    nodes.nodes[killed].kill()
    with ThreadPoolExecutor(1) as thread:
        # A process that starts while there is no primary waits for the next one.
        opening = thread.submit(PostgresStore, parse_store_url(nodes.url()))
        assert nodes.watch() == killed
        opening.result().close()
    load.wait_for(60)
    load.stop()
    assert not load.crashes
    after = account(load)
    assert after.acknowledged >= 120
    assert (after.lost, after.duplicates, after.partial, after.wrong_counts) == (0, 0, 0, 0)
    # A text that its writer does not know of is one that it got an error for.
    assert after.unacknowledged <= len(load.write_errors)
    _a_commit_that_nobody_confirms(nodes, killed)


def _a_commit_that_nobody_confirms(nodes: Cluster, dead: str) -> None:
    """Without a standby, the commit would wait for ever, but the caller does not."""
    (left,) = (name for name in nodes.standbys if name != dead)
    nodes.nodes[left].stop()
    with closing(Repository(PostgresStore(parse_store_url(nodes.url()), busy_seconds=2))) as store:
        engine = engine_of(store, FixedClock(), model="none")
        with pytest.raises(StoreUnavailable, match="may or may not be stored"):
            engine.remember("Nobody else has this yet")
    nodes.nodes[left].start()
    nodes.wait_for_standbys(at_least=1)
    with closing(
        Repository(PostgresStore(parse_store_url(nodes.url()), busy_seconds=PATIENCE_SECONDS))
    ) as store:
        engine = engine_of(store, FixedClock(), model="none")
        # The first one locks the scope until it is confirmed. It was made after all.
        engine.remember("The standby is back")
        assert {hit.memory.text for hit in engine.recall("standby else", limit=9).hits} >= {
            "Nobody else has this yet",
            "The standby is back",
        }
