"""Many clients of one server: killed, too many, at the same time, and in conflict."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from queue import Queue
from typing import TYPE_CHECKING

import psycopg
import pytest
from conftest import PATIENCE_SECONDS, FixedClock, engine_of
from load import Load, account
from postgres_stores import wait_for_a_lock

import recollect
from recollect.domain.changes import Adopt, NewText, PutText
from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Kind, Memory, Scope
from recollect.domain.tables import Equals, Not
from recollect.stores.url import parse_store_url
from recollect.write.repository import Repository
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from postgres_stores import PostgresStores

    from recollect.engine import Engine
    from recollect.stores.port import Transaction

_WRITE_ON = """
import secrets, sys, recollect
memory = recollect.open(sys.argv[1], model="none")
while True:
    text = secrets.token_hex(8)
    memory.remember(text)
    print(text, flush=True)
"""
_OPEN = """
import sys
from recollect.stores.url import parse_store_url
from recollect_postgres.store import PostgresStore
print("ready", flush=True)
sys.stdin.readline()
PostgresStore(parse_store_url(sys.argv[1])).close()
"""


def _opened(url: str, *, busy_seconds: float = 10) -> Repository:
    return Repository(PostgresStore(parse_store_url(url), busy_seconds=busy_seconds))


def _engine(store: Repository) -> Engine:
    return engine_of(store, FixedClock(), model="none")


def _opened_for(url: str, owner: str) -> Engine:
    return recollect.open(url, owner=owner, model="none")


def _process(script: str, url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_of_killed_clients_all_that_was_acknowledged_is_there_and_nothing_half(
    postgres: PostgresStores,
) -> None:
    url = postgres.database()
    clients = [_process(_WRITE_ON, url) for _ in range(3)]
    load = Load(url)
    for client in clients:
        assert client.stdout is not None
        for _ in range(5):
            load.acknowledged[client.stdout.readline().strip()] = 0.0
    for client in clients:
        client.kill()
        assert client.stdout is not None
        said = client.stdout.read()
        client.communicate()
        # The last line may be truncated, although its write was made.
        load.acknowledged |= dict.fromkeys((line for line in said.split() if len(line) == 16), 0.0)
    _wait_until_alone(url)
    after = account(load)
    assert (after.lost, after.duplicates, after.partial, after.wrong_counts) == (0, 0, 0, 0)
    assert after.unacknowledged <= len(clients)


def _wait_until_alone(url: str) -> None:
    """Wait until the server has noticed that its clients are gone: a commit may still be running."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND application_name = 'recollect'"
        ).fetchone() != (0,):
            time.sleep(0.01)


def test_a_busy_pool_is_a_clear_error_and_others_go_on(postgres: PostgresStores) -> None:
    url = postgres.database()
    with closing(_opened(f"{url}?pool=2", busy_seconds=3)) as small, closing(_opened(url)) as other:
        _engine(small).remember("red kettle")
        with ExitStack() as readers:
            for _ in range(2):
                readers.enter_context(small.read())
            with pytest.raises(StoreUnavailable, match=r"All 2 connections .* busy.*\?pool=NUMBER"):
                _engine(small).remember("yellow kettle")
            _engine(other).remember("green kettle")
        _engine(small).remember("blue kettle")
        texts = {hit.memory.text for hit in _engine(small).recall("kettle").hits}
    assert texts == {"red kettle", "green kettle", "blue kettle"}


def test_processes_that_start_at_once_on_an_empty_database_make_one_store(postgres: PostgresStores) -> None:
    url = postgres.empty_database()
    starting = [_process(_OPEN, url) for _ in range(3)]
    for process in starting:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in starting:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in starting:
        process.communicate()
        assert process.returncode == 0
    with psycopg.connect(url) as connection:
        names = connection.execute("SELECT name FROM recollect.setting ORDER BY name").fetchall()
    assert names == [("schema_version",), ("store_id",), ("trial_seed",)]


def test_of_ten_writers_on_one_scope_every_write_is_there_in_order(postgres: PostgresStores) -> None:
    url = postgres.database()
    load = Load(url)

    def write(writer: int) -> list[int]:
        with closing(_opened(f"{url}?pool=1")) as store:
            ids = []
            for text in (f"writer {writer} note {note}" for note in range(5)):
                ids.append(_engine(store).remember(text).id)
                load.acknowledged[text] = 0.0
        return ids

    with ThreadPoolExecutor(10) as threads:
        ids = list(threads.map(write, range(10)))
    assert all(own == sorted(own) for own in ids)
    assert len({id_ for own in ids for id_ in own}) == 50
    after = account(load)
    assert (after.acknowledged, after.lost, after.duplicates) == (50, 0, 0)
    assert (after.unacknowledged, after.partial, after.wrong_counts) == (0, 0, 0)


def test_an_import_gives_no_id_that_another_writer_drew_and_did_not_commit_yet(
    postgres: PostgresStores,
) -> None:
    url = postgres.database()
    drawn: Queue[int] = Queue()
    may_commit = threading.Event()

    def write(rows: Transaction) -> None:
        ((scope,),) = rows.rows("scope", ("id",), (Equals("owner", "ann"),))
        text = {"scope_id": scope, "kind": "note", "text": "Hers", "created_at": 1, "updated_at": 1}
        drawn.put(rows.put("memory", [text])[0])
        may_commit.wait(PATIENCE_SECONDS)

    with closing(_opened(url)) as store, ThreadPoolExecutor(2) as threads:
        for scope in (Scope("ann"), Scope("bob")):
            store.apply([PutText(scope, NewText(Kind.NOTE, "Here before"))], at=FixedClock().now)
        writing = threads.submit(store.store.transact, write, [Scope("ann")])
        id_ = drawn.get(timeout=PATIENCE_SECONDS)
        theirs = Memory(
            id=id_, kind=Kind.NOTE, scope=Scope("bob"), text="Imported", created_at=FixedClock().now,
            updated_at=FixedClock().now,
        )  # fmt: skip
        importing = threads.submit(store.apply, [Adopt(theirs)], at=FixedClock().now)
        try:
            wait_for_a_lock(url, importing.done)
        finally:
            may_commit.set()
        writing.result(PATIENCE_SECONDS)
        importing.result(PATIENCE_SECONDS)
        with store.read() as view:
            texts: dict[str, int] = dict(
                view.rows("memory", ("text", "id"), (Not(Equals("text", "Here before")),))
            )
        assert texts.keys() == {"Hers", "Imported"}
        assert texts["Hers"] == id_ != texts["Imported"]


def test_two_that_wait_for_each_other_both_come_through(postgres: PostgresStores) -> None:
    url = postgres.database()
    names = ("ann", "bob")
    both_hold = threading.Barrier(2)
    runs: list[str] = []
    with closing(_opened(url)) as store:
        for name in names:
            with closing(_opened_for(url, name)) as engine:
                engine.remember(f"{name} is here")

        def write(own: str, other: str) -> None:
            # A transaction locks only the scopes that it began with, in order.
            def work(rows: Transaction) -> None:
                runs.append(own)
                _lock(rows, own)
                if runs.count(own) == 1:
                    both_hold.wait(PATIENCE_SECONDS)
                _lock(rows, other)

            store.store.transact(work, [Scope(own)])

        with ThreadPoolExecutor(2) as threads:
            list(threads.map(write, names, reversed(names)))
    # The server ended one of them to resolve a deadlock, and it ran again.
    assert len(runs) >= 3


def _lock(rows: Transaction, name: str) -> None:
    rows.connection.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [name])  # type: ignore[attr-defined]  # PostgreSQL's own
