"""Stores on a PostgreSQL server that the tests start themselves.

They belong to an ordinary user, for whom row-level security holds. The superuser only makes databases, sweeps
them, and does for a test what the user of a store cannot do.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg
import pytest
from nodes import Node

from recollect.store_url import parse_store_url
from recollect.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

ORDINARY = "app"
"""The user of every store: no superuser, and not exempt from row-level security."""
_SUPERUSER = "postgres"
_OF_OURS = "SELECT relname FROM pg_class WHERE relnamespace = 'recollect'::regnamespace AND relkind = %s"
# Nothing in these databases outlives the test, so no power cut threatens it.
_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
}


def as_superuser(url: str) -> str:
    """The same database, for who looks at its tables or harms them by hand."""
    return url.replace(f"//{ORDINARY}@", f"//{_SUPERUSER}@")


@dataclass
class PostgresStores:
    """A server, and empty stores on it: databases that are swept and used again. URLs are an ordinary user's."""

    node: Node
    _free: list[str] = field(default_factory=list)
    _used: list[str] = field(default_factory=list)
    _by_path: dict[Path, str] = field(default_factory=dict)
    _scratch: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._execute(f"CREATE ROLE {ORDINARY} LOGIN NOSUPERUSER NOBYPASSRLS")

    def url(self, database: str) -> str:
        return self.node.url(database, ORDINARY)

    def need_pgvector(self) -> None:
        """Skip the test where the server has no such extension to offer."""
        if not self._has_pgvector():
            pytest.skip("this PostgreSQL has no pgvector")

    def _has_pgvector(self) -> bool:
        with psycopg.connect(self.node.url(), autocommit=True) as connection:
            offered = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
            return connection.execute(offered).fetchone() is not None

    def database(self) -> str:
        """One with an empty store in it; its URL."""
        name = self._free.pop() if self._free else self._made()
        self._used.append(name)
        return self.url(name)

    def scratch(self, template: str | None = None) -> str:
        """A new one that goes with the test, whatever it did to it: empty, or a copy of another; its URL."""
        name = f"scratch_{secrets.token_hex(6)}"
        self._create(name, template)
        self._scratch.append(name)
        if template is None:
            PostgresStore(parse_store_url(self.url(name))).close()
        return self.url(name)

    def kept(self) -> str:
        """A new one with an empty store, which stays for others to be copied from; its URL."""
        return self.url(self._made())

    def empty_database(self) -> str:
        """A new one with nothing in it, for one test or several; its URL."""
        return self.url(self._empty())

    def new(self) -> PostgresStore:
        return PostgresStore(parse_store_url(self.database()))

    def named(self, path: Path) -> PostgresStore:
        """The store of this path: the same one whenever a test opens it."""
        if path not in self._by_path:
            self._by_path[path] = self.database()
        return PostgresStore(parse_store_url(self._by_path[path]))

    def release(self) -> None:
        """A test has ended, and what it wrote goes."""
        self._by_path.clear()
        for name in self._used:
            self._sweep(name)
            self._free.append(name)
        self._used.clear()
        for name in self._scratch:
            self._execute(f"DROP DATABASE {name} WITH (FORCE)")
        self._scratch.clear()

    def _empty(self) -> str:
        name = f"store_{secrets.token_hex(6)}"
        self._create(name)
        return name

    def _create(self, name: str, template: str | None = None) -> None:
        self._execute(
            f"CREATE DATABASE {name} OWNER {ORDINARY}" + ("" if template is None else f" TEMPLATE {template}")
        )
        if template is None and self._has_pgvector():
            # Not an ordinary user's to make.
            self._execute("CREATE EXTENSION vector", name)

    def _made(self) -> str:
        name = self._empty()
        # For tests that look at the tables themselves.
        self._execute(f"ALTER DATABASE {name} SET search_path = public, recollect")
        PostgresStore(parse_store_url(self.url(name))).close()
        return name

    def _execute(self, statement: str, database: str = "postgres") -> None:
        with psycopg.connect(self.node.url(database), autocommit=True) as connection:
            connection.execute(statement)

    def _sweep(self, name: str) -> None:
        with psycopg.connect(self.node.url(name), autocommit=True) as connection:
            tables, sequences = (
                [each for (each,) in connection.execute(_OF_OURS, (kind,)).fetchall()] for kind in ("r", "S")
            )
            deleted = "; ".join(f"DELETE FROM recollect.{table}" for table in tables if table != "setting")
            restarted = ", ".join(f"setval('recollect.{each}', 1, false)" for each in sequences)
            connection.execute(
                # Without triggers: the order of the tables does not matter then.
                f"BEGIN; SET LOCAL session_replication_role = replica; {deleted}; SELECT {restarted}; "
                "DELETE FROM recollect.setting WHERE name <> 'schema_version'; "
                f"INSERT INTO recollect.setting VALUES ('store_id', '{secrets.token_hex(16)}'), "
                f"('trial_seed', '{secrets.token_hex(8)}'); COMMIT"
            )


def started() -> Iterator[PostgresStores]:
    node = Node(Path(mkdtemp(prefix="recollect-postgres-")), settings=_QUICK).create().start()
    try:
        yield PostgresStores(node)
    finally:
        node.kill()
        shutil.rmtree(node.folder, ignore_errors=True)
