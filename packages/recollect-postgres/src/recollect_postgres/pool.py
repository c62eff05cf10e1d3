"""Connection pools: one for the primary, one for replicas, each used by many threads.

A thread that finds no free connection opens one itself. So it gets the cause of a failure at once, and can
retry after a failover without a back-off.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from recollect.domain.errors import InvalidInput, StoreUnavailable
from recollect.domain.records import Scope
from recollect.domain.tables import Row
from recollect.stores.url import without_password
from recollect_postgres.connection import KEYWORDS, conninfo, migrations

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from recollect.stores.url import StoreUrl


_IDLE_SECONDS = 300.0
"""The network may drop connections that are idle for longer, so they are closed."""
_SILENCE_SECONDS = 4.0
"""If a statement takes longer, a second connection checks whether the server still answers."""
_PREPARED_AFTER = 2
"""Planning takes longer than running most queries, so repeated ones are prepared."""
_MOST_PREPARED = 300
_SHORTEST_CONNECT_SECONDS = 2  # the minimum of libpq


class WatchedConnection(psycopg.Connection[Row]):
    """A connection that checks whether the server is alive when an answer takes long.

    An unreachable or frozen server sends no error, so a plain connection would wait for ever.
    """

    silence_seconds = _SILENCE_SECONDS
    _end = float("inf")

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        return super().wait(_with_check(gen, self._watch()), *arguments, **options)

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Inside the block, wait no longer than this for an answer, even from a live server."""
        self._end = time.monotonic() + seconds
        try:
            yield
        finally:
            self._end = float("inf")

    def _watch(self) -> Callable[[], None]:
        asked_at = time.monotonic()

        def check() -> None:
            nonlocal asked_at
            now = time.monotonic()
            if now >= self._end:
                self._abandon("no answer in time")
            if now - asked_at >= self.silence_seconds:
                if not self._answers():
                    self._abandon("the server does not answer")
                asked_at = time.monotonic()

        return check

    def _answers(self) -> bool:
        """Whether the server accepts or refuses a new connection, instead of not answering."""
        same: dict[str, Any] = {
            **self.info.get_parameters(),
            "password": self.info.password,
            "target_session_attrs": "any",
        }
        seconds = max(_SHORTEST_CONNECT_SECONDS, int(self.silence_seconds / 2))
        try:
            psycopg.connect(**{**same, "connect_timeout": seconds}).close()
        except errors.ConnectionTimeout:
            return False
        except psycopg.Error:
            pass  # it refused, so it is alive: the statement will end by itself
        return True

    def _abandon(self, why: str) -> None:
        self.pgconn.finish()
        raise psycopg.OperationalError(why)


def _with_check(gen: Generator[Any, Any, Any], check: Callable[[], None]) -> Generator[Any, Any, Any]:
    """Wrap the generator, and call `check` after each wait that ended without data."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready:
                check()
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


class Connections:
    """A pool of at most `size` connections. Threads can share it."""

    def __init__(self, conninfo: str, size: int, name: str, patience_seconds: float) -> None:
        self._conninfo = conninfo
        self._size = size
        self._name = name
        self._silence_seconds = min(_SILENCE_SECONDS, patience_seconds / 2)
        self._idle: list[tuple[WatchedConnection, float]] = []
        self._open = 0
        self._closed = False
        self._changed = threading.Condition()

    def take(self, seconds: float) -> WatchedConnection:
        """Return a free connection or a new one; raise `StoreUnavailable` if all stay busy too long."""
        end = time.monotonic() + seconds
        with self._changed:
            while True:
                if self._closed:
                    raise StoreUnavailable(f"{self._name} was closed; open it again.")
                connection = self._free()
                if connection is not None:
                    return connection
                if self._open < self._size:
                    self._open += 1
                    break
                left = end - time.monotonic()
                if left <= 0:
                    raise StoreUnavailable(
                        f"All {self._size} connections of this process to {self._name} are busy. "
                        "Try again later, or allow more with ?pool=NUMBER."
                    )
                self._changed.wait(left)
        return self._connect(end - time.monotonic())

    def _free(self) -> WatchedConnection | None:
        while self._idle:
            connection, since = self._idle.pop()
            if time.monotonic() - since < _IDLE_SECONDS and _is_open(connection):
                return connection
            self._discard(connection)
        return None

    def _connect(self, seconds: float) -> WatchedConnection:
        configured = int(psycopg.conninfo.conninfo_to_dict(self._conninfo).get("connect_timeout") or 0)
        longest = max(_SHORTEST_CONNECT_SECONDS, int(seconds))
        try:
            connection = WatchedConnection.connect(
                self._conninfo, connect_timeout=min(configured or longest, longest), **KEYWORDS
            )
            # A pooler reports another process id. It may run the next transaction on another session,
            # without prepared statements.
            backend = connection.execute("SELECT pg_backend_pid()").fetchone()
            if backend == (connection.info.backend_pid,):
                connection.prepare_threshold = _PREPARED_AFTER
                connection.prepared_max = _MOST_PREPARED
        except BaseException:
            with self._changed:
                self._open -= 1
                self._changed.notify()
            raise
        connection.silence_seconds = self._silence_seconds
        return connection

    def give_back(self, connection: WatchedConnection, *, has_read: bool = False) -> None:
        """Return a connection to the pool. End its transaction, or close it if that fails.

        Pass `has_read` after reads only, which are committed: after a rollback, psycopg prepares all
        statements again.
        """
        status = connection.info.transaction_status
        if status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}:
            with suppress(psycopg.Error):
                connection.execute("COMMIT" if has_read else "ROLLBACK")
        with self._changed:
            if self._closed or connection.info.transaction_status != TransactionStatus.IDLE:
                self._discard(connection)
            else:
                self._idle.append((connection, time.monotonic()))
            self._changed.notify()

    def drop(self, connection: WatchedConnection) -> None:
        """Close a connection whose server is gone, or is no longer the primary."""
        with self._changed:
            self._discard(connection)
            self._changed.notify()

    def _discard(self, connection: WatchedConnection) -> None:
        self._open -= 1
        with suppress(psycopg.Error):
            connection.close()

    def close(self) -> None:
        """Close idle connections. Those in use are closed when they return to the pool."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._discard(self._idle.pop()[0])
            self._changed.notify_all()


def _is_open(connection: WatchedConnection) -> bool:
    """Whether the connection is open. The loss of an unreachable server is not noticed."""
    try:
        connection.pgconn.consume_input()
    except psycopg.Error:
        return False
    return not connection.closed


Begun = TypeVar("Begun")
"""Facts about a snapshot, known when it begins."""

PATIENCE_SECONDS = 1.0
"""How long a read waits until the writes of this process reach the replica, before it asks the primary."""

_PAUSE_SECONDS = 0.01
_CONNECT_SECONDS = 2  # the minimum of libpq
_MIN_SKIP_SECONDS = 1.0
"""How long reads skip an unreachable replica. The time doubles with each failure."""
_MAX_SKIP_SECONDS = 60.0


class OwnWrites:
    """The last commits of this process to each scope. Threads can share it."""

    def __init__(self) -> None:
        self._changes: dict[int, tuple[Scope, int]] = {}
        self._transaction = 0
        self._lock = threading.Lock()

    def record(self, connection: WatchedConnection, schema: str, held: Mapping[int, int]) -> None:
        """Record a commit before it is made, since it may never be confirmed.

        If the commit fails, the primary answers reads until the scope reaches this change number.
        """
        if not held:
            # Store-wide writes have no change number; the transaction id takes its place.
            row = connection.execute("SELECT pg_current_xact_id_if_assigned()::text::bigint").fetchone()
            with self._lock:
                self._transaction = max(self._transaction, (row and row[0]) or 0)
            return
        scopes = {id_: self._changes[id_][0] for id_ in held if id_ in self._changes}
        if new := [id_ for id_ in held if id_ not in scopes]:
            rows = connection.execute(
                f"SELECT id, owner, agent FROM {schema}.scope WHERE id = ANY (%s::bigint[])", [new]
            )
            scopes.update((id_, Scope(owner, agent)) for id_, owner, agent in rows)
        with self._lock:
            for id_, change in held.items():
                _, before = self._changes.get(id_, (None, 0))
                self._changes[id_] = scopes[id_], max(before, change)

    def within(self, within: Scope | None) -> dict[int, int]:
        """Return the last change number of each scope that the reader may read."""
        with self._lock:
            return {
                id_: change
                for id_, (scope, change) in self._changes.items()
                if within is None or scope == within or (within.agent is None and scope.owner == within.owner)
            }

    @property
    def transaction(self) -> int:
        """The id of the last store-wide transaction, or 0."""
        return self._transaction


class _Behind(Exception):
    """The replica lacks writes of this process."""


class Replica:
    """A pool of connections to replicas. Threads can share it."""

    def __init__(self, url: str, location: StoreUrl, store_id: Callable[[], str]) -> None:
        self.own_writes = OwnWrites()
        self.patience_seconds = PATIENCE_SECONDS
        self.trouble: str | None = None
        """Why the last read went to the primary, if it did."""
        self._url = url
        self._location = location
        self._conninfo = conninfo(url)
        if "connect_timeout" not in psycopg.conninfo.conninfo_to_dict(url):
            # Short, because the primary can answer instead.
            self._conninfo = psycopg.conninfo.make_conninfo(self._conninfo, connect_timeout=_CONNECT_SECONDS)
        self._store_id = store_id
        self._known_ids = [store_id()]
        """The store's ids so far, the current one last. A repair or a copy changes the id."""
        self._schema_version = str(len(migrations()))
        self._idle: list[WatchedConnection] = []
        self._free = threading.Semaphore(location.pool_size)
        self._skip_seconds = _MIN_SKIP_SECONDS
        self._skipped_until = 0.0
        self._is_behind = False
        self._closed = False

    def begin_snapshot(
        self, begin: Callable[[WatchedConnection], Begun], within: Scope | None
    ) -> tuple[WatchedConnection, Begun] | None:
        """Return a connection inside a snapshot with all writes of this process, and what `begin` returned.

        Return None if no replica is available soon; then the primary answers.
        """
        # If a server is gone, all connections to it are broken.
        for _ in range(self._location.pool_size + 1):
            connection = self._take()
            if connection is None:
                return None
            try:
                return connection, self._begin_caught_up(connection, begin, within)
            except BaseException as error:
                self.give_back(connection)
                if not isinstance(error, (psycopg.Error, _Behind)):
                    raise
                self.trouble = str(error).strip()
                if not isinstance(error, psycopg.OperationalError):
                    return None
        return None

    def _begin_caught_up(
        self, connection: WatchedConnection, begin: Callable[[WatchedConnection], Begun], within: Scope | None
    ) -> Begun:
        """Begin snapshots until one has all writes of this process; `_Behind` if that takes too long."""
        end = time.monotonic() + self.patience_seconds
        begun = begin(connection)
        while (reason := self._unusable_reason(connection, within)) is not None:
            # After one timeout, do not wait again: the replica may be far behind.
            if self._is_behind or time.monotonic() >= end:
                self._is_behind = True
                raise _Behind(reason)
            time.sleep(_PAUSE_SECONDS)
            connection.execute("ROLLBACK")
            begun = begin(connection)
        self._is_behind = False
        self.trouble = None
        return begun

    def _take(self) -> WatchedConnection | None:
        """Return an idle or a new connection; None if all are in use or no replica answers."""
        if self._closed or time.monotonic() < self._skipped_until or not self._free.acquire(blocking=False):
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
            self._skipped_until = time.monotonic() + self._skip_seconds
            self._skip_seconds = min(2 * self._skip_seconds, _MAX_SKIP_SECONDS)
            return None
        self._skip_seconds = _MIN_SKIP_SECONDS
        return connection

    def _unusable_reason(self, connection: WatchedConnection, within: Scope | None) -> str | None:
        """Return why the snapshot cannot be used, such as missing writes; None if it can."""
        schema = self._location.schema
        store_id, version, has_table, earliest = self._row(
            connection,
            f"SELECT (SELECT value FROM {schema}.setting WHERE name = 'store_id'), "
            f"(SELECT value FROM {schema}.setting WHERE name = 'schema_version'), "
            # No migration creates this table.
            f"to_regclass('{schema}.server_vector') IS NOT NULL, "
            # A replica has all transactions before its earliest running one.
            "pg_snapshot_xmin(pg_current_snapshot())::text::bigint",
        )
        if store_id != self._known_ids[-1] and self._store_id() != self._known_ids[-1]:
            self._known_ids.append(self._store_id())
        if store_id in self._known_ids[:-1]:
            return "it still has the store from before a repair or a copy"
        if store_id != self._known_ids[-1]:
            raise InvalidInput(
                f"{without_password(self._url)} is not a replica of {self._location}: it has another store. "
                "Put a server that follows the primary into read=, or leave read= out."
            )
        if version != self._schema_version:
            return f"it has schema {version} of the store, but this program needs {self._schema_version}"
        if self._location.vectors == "server" and not has_table:
            return "it has no vectors for pgvector yet"
        missing_writes = "it lacks writes of this process"
        if earliest <= self.own_writes.transaction:
            return missing_writes
        own = self.own_writes.within(within)
        if not own:
            return None
        (behind,) = self._row(
            connection,
            f"SELECT count(*) FROM unnest(%s::bigint[], %s::bigint[]) AS w(id, change) "
            f"LEFT JOIN {schema}.scope AS s ON s.id = w.id WHERE coalesce(s.change, -1) < w.change",
            [list(own), list(own.values())],
        )
        return missing_writes if behind else None

    @staticmethod
    def _row(connection: WatchedConnection, text: str, bindings: list[list[int]] | None = None) -> Row:
        row: Row | None = connection.execute(text, bindings).fetchone()
        assert row is not None  # noqa: S101  # each of these queries has one row
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
        """Close a connection, and free its place in the pool."""
        connection.close()
        self.give_back(connection)

    def close(self) -> None:
        self._closed = True
        while self._idle:
            self._idle.pop().close()
