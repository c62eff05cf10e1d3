"""Reads from a replica: writes of others may be missing, those of this process never."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
from conftest import PATIENCE_SECONDS
from nodes import Node
from postgres_stores import ORDINARY, PostgresStores

from recollect.domain.changes import NewText, PutText
from recollect.domain.errors import InvalidInput
from recollect.domain.records import Kind, Scope
from recollect.stores.sqlite.store import SqliteStore
from recollect.stores.url import parse_store_url
from recollect.transfer.copying import copy_store
from recollect.write.repository import Repository
from recollect_postgres.pool import Replica
from recollect_postgres.store import PostgresStore

ME, YOU = Scope("me"), Scope("you")
NOW = datetime(2026, 3, 1, tzinfo=UTC)
# These servers need not survive a power cut. Commits do not wait for the standby.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "local"}


@dataclass
class Pair:
    """A primary and its standby."""

    stores: PostgresStores
    standby: Node

    def database(self) -> str:
        url = self.stores.database()
        self.catch_up()
        return url

    def on_standby(self, url: str) -> str:
        return f"{self.standby.url(url.rpartition('/')[2], ORDINARY)}?connect_timeout={PATIENCE_SECONDS}"

    def opened(self, url: str, read: str | None = None) -> Repository:
        """A store that reads from the standby, and always waits for it."""
        read = quote(self.on_standby(url), safe="") if read is None else read
        store = PostgresStore(parse_store_url(f"{url}{'&' if '?' in url else '?'}read={read}"))
        replica_of(store).patience_seconds = PATIENCE_SECONDS
        return Repository(store)

    def catch_up(self) -> None:
        with psycopg.connect(self.stores.node.url(), autocommit=True) as primary:
            ((written,),) = primary.execute("SELECT pg_current_wal_flush_lsn()::text").fetchall()
        self._wait("SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", written)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """The standby replays nothing during the block."""
        self._on_standby("SELECT pg_wal_replay_pause()")
        self._wait("SELECT pg_get_wal_replay_pause_state() = 'paused'")
        try:
            yield
        finally:
            self._on_standby("SELECT pg_wal_replay_resume()")

    def _on_standby(self, question: str, *bindings: str) -> Any:
        with psycopg.connect(self.standby.url(), autocommit=True) as connection:
            row = connection.execute(question, bindings).fetchone()
            assert row is not None
            return row[0]

    def _wait(self, question: str, *bindings: str) -> None:
        end = time.monotonic() + PATIENCE_SECONDS
        while not self._on_standby(question, *bindings):
            assert time.monotonic() < end, question
            time.sleep(0.01)


def replica_of(store: object) -> Replica:
    assert isinstance(store, PostgresStore)
    assert store.replica is not None
    return store.replica


def wait_no_longer(store: Repository) -> None:
    """From now on, read from the primary at once if the replica is behind."""
    replica_of(store.store).patience_seconds = 0


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    folder = Path(mkdtemp(prefix="recollect-postgres-"))
    primary = Node(folder / "primary", settings=SETTINGS).create().start()
    nodes = [primary]
    try:
        stores = PostgresStores(primary)
        standby = Node(folder / "standby", settings=SETTINGS).following(primary).start()
        nodes.append(standby)
        yield Pair(stores, standby)
        stores.close()
    finally:
        for node in nodes:
            node.kill()
        shutil.rmtree(folder, ignore_errors=True)


def note(store: Repository, text: str, scope: Scope = ME) -> None:
    store.apply([PutText(scope, NewText(Kind.NOTE, text))], at=NOW)


def read_texts(store: Repository, scope: Scope | None = ME) -> tuple[list[str], bool]:
    """Return the texts of a scope, or of all, and whether a replica answered."""
    with store.read(scope) as view:
        ((is_replica,),) = view.ask("SELECT pg_is_in_recovery()")  # type: ignore[attr-defined]  # PostgreSQL's own
        return sorted(text for (text,) in view.rows("memory", ("text",))), is_replica


def test_what_others_wrote_is_read_from_the_replica(pair: Pair) -> None:
    url = pair.database()
    writer = Repository(PostgresStore(parse_store_url(url)))
    reader = pair.opened(url)
    note(writer, "before")
    pair.catch_up()
    with pair.pause():
        note(writer, "after")
        assert read_texts(reader) == (["before"], True)
        assert read_texts(reader, None) == (["before"], True)
        assert read_texts(writer) == (["after", "before"], False)
        # The primary answers queries that keep settings in step.
        assert reader.version() == writer.version()
    pair.catch_up()
    assert read_texts(reader) == (["after", "before"], True)
    writer.close()
    reader.close()


def test_a_process_sees_its_own_writes_though_the_replica_does_not_have_them(pair: Pair) -> None:
    url = pair.database()
    store = pair.opened(url)
    note(store, "mine")
    note(store, "yours", YOU)
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    wait_no_longer(store)
    with pair.pause():
        note(store, "mine too")
        assert read_texts(store) == (["mine", "mine too"], False)
        # All agents of the owner, but no row of another owner.
        assert read_texts(store, Scope(ME.owner, None)) == (["mine", "mine too"], False)
        assert read_texts(store, None) == (["mine", "mine too", "yours"], False)
        # It wrote nothing to the other scope.
        assert read_texts(store, YOU) == (["yours"], True)
    pair.catch_up()
    assert read_texts(store) == (["mine", "mine too"], True)
    assert read_texts(store, None) == (["mine", "mine too", "yours"], True)
    store.close()


def test_a_read_waits_for_its_own_write_to_reach_the_replica(pair: Pair) -> None:
    store = pair.opened(pair.database())
    with ThreadPoolExecutor(1) as others:
        with pair.pause():
            note(store, "mine")
            found = others.submit(read_texts, store)
        assert found.result(PATIENCE_SECONDS) == (["mine"], True)
    store.close()


def test_a_new_scope_and_a_write_that_is_of_no_scope_are_seen_too(pair: Pair) -> None:
    store = pair.opened(pair.database())
    wait_no_longer(store)
    with pair.pause():
        note(store, "the first")
        assert read_texts(store) == (["the first"], False)
        assert read_texts(store, YOU) == ([], True)
        store.store.transact(lambda rows: rows.put("setting", [{"name": "colour", "value": "green"}]))
        with store.read(YOU) as view:
            assert ("green",) in view.rows("setting", ("value",))
    pair.catch_up()
    assert read_texts(store)[1]
    store.close()


def test_reading_alone_sends_nobody_to_the_primary(pair: Pair) -> None:
    store = pair.opened(pair.database())
    with pair.pause():
        store.store.transact(lambda rows: rows.rows("setting", ("name",)))
        assert read_texts(store)[1]
    store.close()


def test_a_replica_without_the_table_that_pgvector_searches_is_passed_over(pair: Pair) -> None:
    pair.stores.need_pgvector()
    url = pair.database()
    plain = Repository(PostgresStore(parse_store_url(url)))
    note(plain, "mine")
    plain.close()
    pair.catch_up()
    with pair.pause():
        store = pair.opened(f"{url}?vectors=server", quote(pair.on_standby(url), safe=""))
        wait_no_longer(store)
        assert read_texts(store) == (["mine"], False)
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    store.close()


def test_of_several_servers_one_that_follows_is_found(pair: Pair) -> None:
    url = pair.database()
    hosts = f"127.0.0.1:{pair.stores.node.port},127.0.0.1:{pair.standby.port}"
    several = url.replace(f"127.0.0.1:{pair.stores.node.port}", hosts)
    store = pair.opened(f"{several}?connect_timeout={PATIENCE_SECONDS}", "replica")
    note(store, "mine")
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    store.close()


def test_another_store_is_no_replica(pair: Pair) -> None:
    url, other = pair.database(), pair.database()
    store = pair.opened(url, quote(other, safe=""))
    with pytest.raises(InvalidInput, match=r"is not a replica of .* read="):
        read_texts(store)
    store.close()


def test_a_store_that_got_another_identity_by_a_repair_still_has_its_replica(pair: Pair) -> None:
    url = pair.database()
    store, mender = pair.opened(url), PostgresStore(parse_store_url(url))
    note(store, "mine")
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    with pair.pause():
        mender.repair()
        # Writes of others may be missing.
        assert read_texts(store) == (["mine"], True)
    pair.catch_up()
    # This process does not know the new id, and asks the primary for it.
    assert read_texts(store) == (["mine"], True)
    mender.close()
    store.close()


def test_a_store_that_something_was_copied_to_still_has_its_replica(pair: Pair, tmp_path: Path) -> None:
    url = pair.database()
    source = Repository(SqliteStore(tmp_path / "memory.db"))
    note(source, "mine")
    store, target = pair.opened(url), PostgresStore(parse_store_url(url))
    assert read_texts(store) == ([], True)
    with pair.pause():
        copy_store(source.store, target)
        assert read_texts(store) == ([], True)
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    for each in (target, source, store):
        each.close()


def test_without_a_replica_or_with_a_database_that_has_no_store_the_primary_answers(pair: Pair) -> None:
    for read in ("replica", quote(pair.standby.url("postgres"), safe="")):
        store = pair.opened(pair.database(), read)
        note(store, "mine")
        assert read_texts(store) == (["mine"], False)
        store.close()


def test_a_url_says_where_to_read() -> None:
    assert parse_store_url("postgresql://a,b/x?read=replica&target_session_attrs=primary").replica == (
        "postgresql://a,b/x?target_session_attrs=prefer-standby"
    )
    # Several replicas are listed with commas; our own options are ignored there.
    others = quote("postgresql://c,d/x?sslmode=require&pool=3", safe="")
    assert parse_store_url(f"postgresql://a/x?read={others}").replica == (
        "postgresql://c,d/x?target_session_attrs=prefer-standby&sslmode=require"
    )
    assert parse_store_url("postgresql://a/x?read=primary").replica is None
    with pytest.raises(InvalidInput, match="read=mysql://b is unknown; use primary, replica, or the URL"):
        parse_store_url("postgresql://a/x?read=mysql://b")


# This test is last, since it stops the standby for a while.
def test_a_replica_that_cannot_be_reached_is_passed_over(pair: Pair) -> None:
    url = pair.database()
    store = pair.opened(url)
    note(store, "mine")
    pair.catch_up()
    assert read_texts(store) == (["mine"], True)
    pair.standby.kill()
    try:
        note(store, "mine too")
        assert read_texts(store) == (["mine", "mine too"], False)
        late = pair.opened(url)
        assert read_texts(late) == (["mine", "mine too"], False)
        assert "refused" in str(replica_of(late.store).trouble)
        late.close()
    finally:
        pair.standby.start()
    pair.catch_up()
    anew = pair.opened(url)
    assert read_texts(anew) == (["mine", "mine too"], True)
    anew.close()
    store.close()
