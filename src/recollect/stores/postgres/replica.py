"""Reading from a replica: it may lag, and yet a process sees everything that it wrote itself."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

import psycopg

from recollect.errors import InvalidInput
from recollect.records import Scope
from recollect.store_url import without_password
from recollect.stores.postgres.connection import KEYWORDS, conninfo, migrations
from recollect.stores.postgres.pool import WatchedConnection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from recollect.store_url import StoreUrl
    from recollect.tables import Row

Begun = TypeVar("Begun")
"""What is known of a snapshot once it has begun."""

PATIENCE_SECONDS = 1.0
"""How long a read waits for what this process wrote to reach a replica, before the primary is asked."""

_PAUSE_SECONDS = 0.01
_CONNECT_SECONDS = 2  # libpq knows no shorter one
_SHORTEST_REST_SECONDS = 1.0
"""How long a replica that could not be reached is left alone; then twice as long, and so on."""
_LONGEST_REST_SECONDS = 60.0


class OwnWrites:
    """What this process committed last to each scope. Safe to share between threads."""

    def __init__(self) -> None:
        self._changes: dict[int, tuple[Scope, int]] = {}
        self._transaction = 0
        self._lock = threading.Lock()

    def note(self, connection: WatchedConnection, schema: str, held: Mapping[int, int]) -> None:
        """Note what a transaction is about to commit: whether it did may never be known.

        Where it did not, the primary is asked until somebody else made that change.
        """
        if not held:
            # What is of no scope has no change number. The transaction has one of its own, if it wrote.
            row = connection.execute("SELECT pg_current_xact_id_if_assigned()::text::bigint").fetchone()
            with self._lock:
                self._transaction = max(self._transaction, (row and row[0]) or 0)
            return
        names = self._names(connection, schema, held)
        with self._lock:
            for id_, change in held.items():
                _, before = self._changes.get(id_, (None, 0))
                self._changes[id_] = names[id_], max(before, change)

    def _names(self, connection: WatchedConnection, schema: str, held: Mapping[int, int]) -> dict[int, Scope]:
        known = {id_: self._changes[id_][0] for id_ in held if id_ in self._changes}
        if new := [id_ for id_ in held if id_ not in known]:
            rows = connection.execute(
                f"SELECT id, owner, agent FROM {schema}.scope WHERE id = ANY (%s::bigint[])", [new]
            )
            known.update((id_, Scope(owner, agent)) for id_, owner, agent in rows)
        return known

    def within(self, within: Scope | None) -> dict[int, int]:
        """The numbers of the last changes to the scope that a reader means, or to all."""
        with self._lock:
            return {
                id_: change
                for id_, (scope, change) in self._changes.items()
                if within is None or scope == within or (within.agent is None and scope.owner == within.owner)
            }

    @property
    def transaction(self) -> int:
        """The last of those that wrote what is of no scope; 0: there was none."""
        return self._transaction


class _Behind(Exception):
    pass


class Replica:
    """Connections to servers that follow the primary. Safe to share between threads."""

    def __init__(self, url: str, location: StoreUrl, store_id: Callable[[], str]) -> None:
        self.own_writes = OwnWrites()
        self.patience_seconds = PATIENCE_SECONDS
        self.trouble: str | None = None
        """Why the primary was asked the last time, if it was."""
        self._url = url
        self._location = location
        self._conninfo = _quickly_refused(url)
        self._store_id = store_id
        self._known_ids = [store_id()]
        """The last one is the store's; a repair and a copy give it another."""
        self._schema_version = str(len(migrations()))
        self._idle: list[WatchedConnection] = []
        self._free = threading.Semaphore(location.pool_size)
        self._rest_seconds = _SHORTEST_REST_SECONDS
        self._rests_until = 0.0
        self._is_behind = False
        self._closed = False

    def begun(
        self, begin: Callable[[WatchedConnection], Begun], within: Scope | None
    ) -> tuple[WatchedConnection, Begun] | None:
        """A connection inside a snapshot that shows all that this process wrote, and what `begin` said.

        None: there is none to be had soon, and the primary is to be asked.
        """
        # When a server went away, all connections to it did.
        for _ in range(self._location.pool_size + 1):
            connection = self._taken()
            if connection is None:
                return None
            try:
                return connection, self._caught_up(connection, begin, within)
            except BaseException as error:
                self.give_back(connection)
                if not isinstance(error, (psycopg.Error, _Behind)):
                    raise
                self.trouble = str(error).strip()
                if not isinstance(error, psycopg.OperationalError):
                    return None
        return None

    def _caught_up(
        self, connection: WatchedConnection, begin: Callable[[WatchedConnection], Begun], within: Scope | None
    ) -> Begun:
        """What `begin` said of the first snapshot that shows all. `_Behind` where it took too long."""
        end = time.monotonic() + self.patience_seconds
        begun = begin(connection)
        while (lacking := self._lacking(connection, within)) is not None:
            # Who waited in vain just now does not wait again: it may be far behind.
            if self._is_behind or time.monotonic() >= end:
                self._is_behind = True
                raise _Behind(lacking)
            time.sleep(_PAUSE_SECONDS)
            connection.execute("ROLLBACK")
            begun = begin(connection)
        self._is_behind = False
        self.trouble = None
        return begun

    def _taken(self) -> WatchedConnection | None:
        """A connection that nobody uses, or a new one. None: all are in use, or nobody answers."""
        if self._closed or time.monotonic() < self._rests_until or not self._free.acquire(blocking=False):
            return None
        with suppress(IndexError):  # another thread may take the last one
            return self._idle.pop()
        try:
            connection = WatchedConnection.connect(self._conninfo, **KEYWORDS)
        except BaseException as error:
            self._free.release()
            if not isinstance(error, psycopg.OperationalError):
                raise
            self.trouble = str(error).strip()
            # Whoever comes next is not to wait for it as well.
            self._rests_until = time.monotonic() + self._rest_seconds
            self._rest_seconds = min(2 * self._rest_seconds, _LONGEST_REST_SECONDS)
            return None
        self._rest_seconds = _SHORTEST_REST_SECONDS
        return connection

    def _lacking(self, connection: WatchedConnection, within: Scope | None) -> str | None:
        """What it does not show yet that it must; None: it shows all that this process wrote."""
        schema = self._location.schema
        store_id, version, has_table, earliest = self._row(
            connection,
            f"SELECT (SELECT value FROM {schema}.setting WHERE name = 'store_id'), "
            f"(SELECT value FROM {schema}.setting WHERE name = 'schema_version'), "
            # Made by no migration, and perhaps a moment ago.
            f"to_regclass('{schema}.server_vector') IS NOT NULL, "
            # A replica tells of no running transactions but the earliest; all before it are seen.
            "pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
        )
        if store_id != self._known_ids[-1] and self._store_id() != self._known_ids[-1]:
            self._known_ids.append(self._store_id())
        if store_id in self._known_ids[:-1]:
            return "it has the store as it was before a repair or a copy"
        if store_id != self._known_ids[-1]:
            raise InvalidInput(
                f"{without_password(self._url)} holds another store than {self._location}, so it is no "
                "replica of it. Name a server that follows the primary in read=, or leave read= out."
            )
        if version != self._schema_version:
            return f"it has schema {version} of the store, and this program reads {self._schema_version}"
        if self._location.vectors == "server" and not has_table:
            return "it has no vectors for pgvector yet"
        unseen = "it lacks what this process wrote"
        if earliest <= self.own_writes.transaction:
            return unseen
        own = self.own_writes.within(within)
        if not own:
            return None
        (behind,) = self._row(
            connection,
            f"SELECT count(*) FROM unnest(%s::bigint[], %s::bigint[]) AS w(id, change) "
            f"LEFT JOIN {schema}.scope AS s ON s.id = w.id WHERE coalesce(s.change, -1) < w.change",
            [list(own), list(own.values())],
        )
        return unseen if behind else None

    @staticmethod
    def _row(connection: WatchedConnection, text: str, bindings: list[list[int]] | None = None) -> Row:
        row: Row | None = connection.execute(text, bindings).fetchone()
        assert row is not None  # noqa: S101  # each of these questions has one answer
        return row

    def give_back(self, connection: WatchedConnection, *, has_read: bool = False) -> None:
        try:
            with suppress(psycopg.Error):
                if connection.info.transaction_status:
                    connection.execute("COMMIT" if has_read else "ROLLBACK")
            if not connection.closed and not self._closed:
                self._idle.append(connection)
            else:
                connection.close()
        finally:
            self._free.release()

    def drop(self, connection: WatchedConnection) -> None:
        """Give back one that is of no more use."""
        connection.close()
        self.give_back(connection)

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()


def _quickly_refused(url: str) -> str:
    """The URL with a short time to connect in, unless it says otherwise itself: the primary stands by."""
    whole = conninfo(url)
    if "connect_timeout" in psycopg.conninfo.conninfo_to_dict(url):
        return whole
    return psycopg.conninfo.make_conninfo(whole, connect_timeout=_CONNECT_SECONDS)
