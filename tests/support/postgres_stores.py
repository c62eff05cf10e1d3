"""Stores on a PostgreSQL server that the tests start themselves.

An ordinary user owns them, so row-level security applies. The superuser only makes databases, sweeps
them, and does for a test what the user of a store cannot do.
"""

from __future__ import annotations

import secrets
import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import psycopg
import pytest
from nodes import Node

from recollect.stores.url import parse_store_url
from recollect_postgres import store as postgres_store
from recollect_postgres.pool import Connections
from recollect_postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recollect_postgres.pool import WatchedConnection

ORDINARY = "app"
"""The user of every store: no superuser, and not exempt from row-level security."""
_SUPERUSER = "postgres"
_OF_OURS = (
    "SELECT relname, relkind::text FROM pg_class "
    "WHERE relnamespace = 'recollect'::regnamespace AND relkind IN ('r', 'S')"
)
# These databases last for one test, so they need no durability.
_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
}


def as_superuser(url: str) -> str:
    """Return the URL of the same database for the superuser."""
    return url.replace(f"//{ORDINARY}@", f"//{_SUPERUSER}@")


def wait_for_a_lock(url: str, is_done: Callable[[], bool] = lambda: False) -> None:
    """Wait until a transaction waits for a lock, or `is_done`."""
    with psycopg.connect(url, autocommit=True) as connection:
        while not is_done() and connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
            "AND wait_event_type = 'Lock'"
        ).fetchone() == (0,):
            time.sleep(0.01)


class WarmConnections:
    """Connections that stay open from test to test, since opening them takes half the time of a small test.

    A store leaves no session state behind, so the next user of a connection sees none.
    """

    def __init__(self) -> None:
        self._by_url: dict[str, list[WatchedConnection]] = {}

    def opened(self, url: str) -> PostgresStore:
        """Return a store of a database that is ready."""
        kept = self._by_url.setdefault(url, [])

        class WarmPool(Connections):
            def __init__(self, *given: Any) -> None:
                super().__init__(*given)
                self._idle = [(connection, time.monotonic()) for connection in kept]
                self._open = len(kept)
                kept.clear()

            def close(self) -> None:
                with self._changed:
                    kept.extend(connection for connection, _ in self._idle)
                    self._open -= len(self._idle)
                    self._idle.clear()
                super().close()

        with (
            patch.object(postgres_store, "prepare", lambda *_, **__: None),
            patch.object(postgres_store, "Connections", WarmPool),
        ):
            return PostgresStore(parse_store_url(url))

    def end(self, url: str | None = None) -> None:
        """Close the connections to this database, or all."""
        for each in list(self._by_url) if url is None else [url]:
            for connection in self._by_url.pop(each, ()):
                connection.close()


@dataclass
class PostgresStores:
    """A server, and empty stores on it: databases that are emptied and reused.

    Their URLs name an ordinary user.
    """

    node: Node
    _free: list[str] = field(default_factory=list)
    _used: list[str] = field(default_factory=list)
    _by_path: dict[Path, str] = field(default_factory=dict)
    _scratch: list[str] = field(default_factory=list)
    _template: str | None = None
    _sweepers: dict[str, psycopg.Connection] = field(default_factory=dict)
    _warm: WarmConnections = field(default_factory=WarmConnections)

    def __post_init__(self) -> None:
        self._execute(f"CREATE ROLE {ORDINARY} LOGIN NOSUPERUSER NOBYPASSRLS")

    def url(self, database: str) -> str:
        return self.node.url(database, ORDINARY)

    def need_pgvector(self) -> None:
        """Skip the test if the server does not have the extension."""
        if not self._has_pgvector():
            pytest.skip("this PostgreSQL has no pgvector")

    def _has_pgvector(self) -> bool:
        with psycopg.connect(self.node.url(), autocommit=True) as connection:
            offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
            return connection.execute(offered).fetchone() is not None

    def database(self) -> str:
        """The URL of a database with an empty store and no connections."""
        url = self._lent()
        self._warm.end(url)
        return url

    def _lent(self) -> str:
        name = self._free.pop() if self._free else self._create_for_tests()
        self._used.append(name)
        return self.url(name)

    def scratch(self, template: str | None = None) -> str:
        """Return the URL of a new database for one test, empty or a copy of another."""
        name = f"scratch_{secrets.token_hex(6)}"
        if template is None:
            self._create_filled(name)
        else:
            self._create(name, template)
        self._scratch.append(name)
        return self.url(name)

    def template(self) -> str:
        """A new one with an empty store, which stays for others to be copied from; its URL."""
        return self.url(self._create_for_tests())

    def empty_database(self) -> str:
        """Return the URL of a new empty database, for one test or several."""
        return self.url(self._empty())

    def new(self) -> PostgresStore:
        return self._warm.opened(self._lent())

    def store_at(self, path: Path) -> PostgresStore:
        """The store of this path: the same one whenever a test opens it."""
        if path not in self._by_path:
            self._by_path[path] = self._lent()
        return self._warm.opened(self._by_path[path])

    def release(self) -> None:
        """Empty the databases after a test."""
        self._by_path.clear()
        for name in self._used:
            self._sweep(name)
            self._free.append(name)
        self._used.clear()
        for name in self._scratch:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")
        self._scratch.clear()

    def close(self) -> None:
        """Close everything before the server stops."""
        self._warm.end()
        while self._sweepers:
            self._sweepers.popitem()[1].close()

    def _empty(self) -> str:
        name = f"store_{secrets.token_hex(6)}"
        self._create(name)
        return name

    def _create(self, name: str, template: str | None = None) -> None:
        self._execute(
            f"CREATE DATABASE {name} OWNER {ORDINARY}" + ("" if template is None else f" TEMPLATE {template}")
        )
        if template is None and self._has_pgvector():
            # An ordinary user may not create it.
            self._execute("CREATE EXTENSION vector", name)

    def _create_for_tests(self) -> str:
        name = f"store_{secrets.token_hex(6)}"
        self._create_filled(name)
        # For tests that look at the tables themselves.
        self._execute(f"ALTER DATABASE {name} SET search_path = public, recollect")
        return name

    def _create_filled(self, name: str) -> None:
        """Make a database with an empty store: a copy of a template, with its own store id."""
        if self._template is None:
            self._template = self._empty()
            PostgresStore(parse_store_url(self.url(self._template))).close()
        self._create(name, self._template)
        self._execute(
            "UPDATE recollect.setting SET value = encode(uuid_send(gen_random_uuid()), 'hex') "
            "WHERE name = 'store_id'",
            name,
        )

    def _execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.node.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def _sweep(self, name: str) -> None:
        if name not in self._sweepers:
            self._sweepers[name] = psycopg.connect(self.node.url(name), autocommit=True)
        sweeper = self._sweepers[name]
        listed = sweeper.execute(_OF_OURS).fetchall()
        tables, sequences = ([each for each, its_kind in listed if its_kind == kind] for kind in ("r", "S"))
        known = sweeper.execute("SELECT obj_description(to_regproc('pg_temp.sweep'))").fetchone()
        if known != (str(len(tables)),):
            # In a function, the server plans each statement once. A store may get further tables.
            deleted = "".join(f"DELETE FROM recollect.{each};" for each in tables if each != "setting")
            restarted = "".join(f"PERFORM setval('recollect.{each}', 1, false);" for each in sequences)
            sweeper.execute(
                "CREATE OR REPLACE FUNCTION pg_temp.sweep() RETURNS void LANGUAGE plpgsql AS $$ BEGIN "
                f"{deleted} {restarted} "
                "DELETE FROM recollect.setting WHERE name <> 'schema_version'; END $$; "
                f"COMMENT ON FUNCTION pg_temp.sweep() IS '{len(tables)}'"
            )
        # Wait for background writes: they would come back after the sweep.
        sweeper.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
            "AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        sweeper.execute(
            # Without triggers, the order of the tables does not matter.
            "BEGIN; SET LOCAL lock_timeout = '20s'; LOCK TABLE recollect.scope; "
            "SET LOCAL session_replication_role = replica; SELECT pg_temp.sweep(); "
            f"INSERT INTO recollect.setting VALUES ('store_id', '{secrets.token_hex(16)}'), "
            f"('trial_seed', '{secrets.token_hex(8)}'); COMMIT"
        )


def started() -> Iterator[PostgresStores]:
    node = Node(Path(mkdtemp(prefix="recollect-postgres-")), settings=_QUICK).create().start()
    stores = PostgresStores(node)
    try:
        yield stores
    finally:
        stores.close()
        node.kill()
        shutil.rmtree(node.folder, ignore_errors=True)
