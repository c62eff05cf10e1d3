"""Stores on a PostgreSQL server that the tests start themselves, each in a database of its own."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

import psycopg
from nodes import Node

from recollect.store_url import parse_store_url
from recollect.stores.postgres.store import PostgresStore

if TYPE_CHECKING:
    from collections.abc import Iterator

_TEMPLATE = "template_store"
# Nothing in these databases outlives the test, so no power cut threatens it.
_QUICK = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "300",
    "shared_buffers": "64MB",
}


@dataclass
class PostgresStores:
    """A server, and stores on it that cost a copy of a database each."""

    node: Node
    _by_path: dict[Path, str] = field(default_factory=dict)

    def prepare(self) -> None:
        self._execute(f"CREATE DATABASE {_TEMPLATE}")
        PostgresStore(parse_store_url(self.node.url(_TEMPLATE))).close()

    def database(self) -> str:
        """A new one, with an empty store in it; its URL."""
        name = f"store_{secrets.token_hex(6)}"
        self._execute(f"CREATE DATABASE {name} TEMPLATE {_TEMPLATE} STRATEGY WAL_LOG")
        with psycopg.connect(self.node.url(name), autocommit=True) as connection:
            connection.execute(
                "UPDATE recollect.setting SET value = %s WHERE name = 'store_id'", (secrets.token_hex(16),)
            )
        return self.node.url(name)

    def new(self) -> PostgresStore:
        return PostgresStore(parse_store_url(self.database()))

    def named(self, path: Path) -> PostgresStore:
        """The store of this path: the same one whenever it is opened."""
        if path not in self._by_path:
            self._by_path[path] = self.database()
        return PostgresStore(parse_store_url(self._by_path[path]))

    def _execute(self, statement: str) -> None:
        with psycopg.connect(self.node.url(), autocommit=True) as connection:
            connection.execute(statement)


def started() -> Iterator[PostgresStores]:
    node = Node(Path(mkdtemp(prefix="recollect-postgres-")), settings=_QUICK)
    stores = PostgresStores(node.create().start())
    try:
        stores.prepare()
        yield stores
    finally:
        node.kill()
        import shutil

        shutil.rmtree(node.folder, ignore_errors=True)
