"""Behind pgbouncer in transaction mode: each transaction may run on another connection of the server."""

from __future__ import annotations

import secrets
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import FixedClock, engine_of
from graph_mark_contract import GraphMarkContract
from load import Load, account
from log_contract import LogContract
from nodes import AS_SERVER_USER, free_port
from postgres_stores import ORDINARY

import recollect
from recollect.domain.changes import NewEntity, NewRelation
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from postgres_stores import PostgresStores

pytestmark = pytest.mark.skipif(shutil.which("pgbouncer") is None, reason="pgbouncer is not installed")

_SETTINGS = """
[databases]
* = host=127.0.0.1 port={server} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 500
"""


@dataclass(frozen=True)
class Pooler:
    """A pgbouncer that lends two connections to the tests' server."""

    stores: PostgresStores
    port: int

    def url(self) -> str:
        return self.stores.database().replace(f":{self.stores.node.port}/", f":{self.port}/")

    def direct(self, url: str) -> str:
        return url.replace(f":{self.port}/", f":{self.stores.node.port}/")


@pytest.fixture(scope="module")
def pooler(postgres_server: PostgresStores) -> Iterator[Pooler]:
    folder = Path(mkdtemp(prefix="recollect-pgbouncer-"))
    folder.chmod(0o755)
    port = free_port()
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        _SETTINGS.format(server=postgres_server.node.port, user=ORDINARY, port=port), encoding="utf-8"
    )
    settings.chmod(0o644)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [shutil.which("pgbouncer") or "", str(settings)],
            stdout=log,
            stderr=log,
            cwd="/",
            **AS_SERVER_USER,
        )
    try:
        while True:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                psycopg.connect(f"postgresql://postgres@127.0.0.1:{port}/postgres").close()
                break
            except psycopg.OperationalError:
                time.sleep(0.05)
        yield Pooler(postgres_server, port)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


class BehindPooler:
    @pytest.fixture
    def store(self, pooler: Pooler) -> Iterator[Repository]:
        store = Repository(PostgresStore(parse_store_url(pooler.url())))
        yield store
        store.close()


class TestGraphMarkBehindPooler(BehindPooler, GraphMarkContract):
    pass


class TestLogBehindPooler(BehindPooler, LogContract):
    pass


def test_the_engines_main_paths_work_behind_a_pooler(pooler: Pooler) -> None:
    url = pooler.url()
    with closing(Repository(PostgresStore(parse_store_url(url)))) as store:
        engine = engine_of(store, FixedClock())
        engine.create_entities([NewEntity("Ada", "person"), NewEntity("Bletchley", "place")])
        engine.graph.create_relations([NewRelation("Ada", "Bletchley", "lives in")])
        kept = engine.remember("Ada keeps the kettle in the left cupboard", key="once")
        assert engine.remember("Ada keeps the kettle in the left cupboard", key="once").id == kept.id
        gone = engine.remember("The gate is green")
        engine.update(kept.id, text="Ada keeps the kettle in the right cupboard")
        engine.forget([gone.id])
        assert [hit.memory.text for hit in engine.recall("kettle cupboard", limit=1).hits] == [
            "Ada keeps the kettle in the right cupboard"
        ]
        assert not [hit for hit in engine.recall("green gate").hits if hit.memory.id == gone.id]
        engine.dream()


def test_twenty_clients_share_two_connections(pooler: Pooler) -> None:
    url = pooler.url()
    load = Load(url, writers=20)

    def use(client: int) -> None:
        with recollect.open(url, owner=f"owner {client % 4}", model="none") as memory:
            for _ in range(3):
                text = secrets.token_hex(8)
                memory.remember(text)
                load.acknowledged[text] = 0.0
                assert text in {hit.memory.text for hit in memory.recall(text).hits}

    with ThreadPoolExecutor(20) as threads:
        list(threads.map(use, range(20)))
    after = account(replace(load, url=pooler.direct(url)))
    assert (after.acknowledged, after.lost, after.duplicates, after.partial) == (60, 0, 0, 0)


def test_nothing_is_prepared_behind_a_pooler_and_something_is_without(pooler: Pooler) -> None:
    url = pooler.url()
    left = []
    for place in (url, pooler.direct(url)):
        with closing(PostgresStore(parse_store_url(place))) as store:
            engine = engine_of(Repository(store), FixedClock())
            for text in ("The keys are in the drawer.", "The ladder stands behind the shed.", "It rains."):
                engine.remember(text)
                engine.search(text)
            with store.read() as snapshot:
                left.append(snapshot.ask("SELECT count(*) FROM pg_prepared_statements")[0][0])
    assert left[0] == 0
    assert left[1] > 0
