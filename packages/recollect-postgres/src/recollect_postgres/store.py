"""The store port on a PostgreSQL server."""

from __future__ import annotations

import hashlib
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Generic, NamedTuple, cast

import psycopg
from psycopg import errors
from psycopg import sql as quoted

from recollect.domain.errors import RecollectError, StoreUnavailable
from recollect.domain.records import Scope
from recollect.stores.port import Result
from recollect.stores.url import StoreUrl
from recollect_postgres.connection import conninfo, explain, failures_of, prepare, schema_version
from recollect_postgres.pool import Connections, Replica
from recollect_postgres.snapshot import Columns, PostgresSnapshot
from recollect_postgres.transaction import PostgresTransaction
from recollect_postgres.upkeep import backup_error, rebuild_derived, server_problems, store_bytes, vacuum
from recollect_postgres.vectors import PgVector, VectorCaches, fill_some, prepare_pgvector

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from psycopg import Connection

    from recollect.cli.rendering import Check
    from recollect.domain.records import Problem
    from recollect.domain.tables import Row
    from recollect.stores.port import Progress, Transaction
    from recollect_postgres.pool import WatchedConnection

BUSY_SECONDS = 10.0
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Each statement sees all commits; locked scopes keep other writers out.
_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
_MARKS_KEPT = 10_000
"""The number of commit marks that are kept per scope."""
_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.25
_STORE_WIDE_LOCK = 0x52434C55
"""The lock that serialises transactions without a scope."""

# Conflicts with another transaction: a retry sees its result.
_RETRYABLE = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
_GONE = (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction)
# A retry would not help, or the statement has already waited for its time limit.
_FINAL = (errors.LockNotAvailable, errors.QueryCanceled, errors.DiskFull, errors.OutOfMemory)


def _is_gone(error: BaseException) -> bool:
    """Whether the server was lost, or is no longer the primary. A retry may find another one."""
    return isinstance(error, _GONE) and not isinstance(error, (*_RETRYABLE, *_FINAL))


class PostgresStore:
    """A store on a server. A scope has one writer at a time, from any machine; readers never wait."""

    def __init__(
        self,
        location: StoreUrl,
        *,
        cache_folder: Path | None = None,
        busy_seconds: float = BUSY_SECONDS,
        copying: bool = False,
    ) -> None:
        """Open or create a store. With `copying`, an incomplete copy may be opened, too."""
        self.location = location
        self.busy_seconds = busy_seconds
        prepare(location, copying=copying)
        self.caches = (
            prepare_pgvector(location)
            if location.vectors == "server"
            else VectorCaches(None if cache_folder is None else cache_folder / _cache_name(location))
        )
        self.connections = Connections(
            conninfo(location.server), location.pool_size, str(location), busy_seconds
        )
        self._columns_lock = threading.Lock()
        self._known_columns: Columns | None = None
        self.replica = (
            Replica(location.replica, location, self._store_id) if location.replica is not None else None
        )

    @staticmethod
    def server_checks(location: StoreUrl) -> tuple[list[Check], bool]:
        """Return the checks of `recollect doctor`, and whether the store can be opened unchanged."""
        from recollect_postgres.doctor import server_checks  # noqa: PLC0415  # loads parts of the command line

        return server_checks(location)

    # Reading

    @contextmanager
    def read(self, within: Scope | None = None) -> Iterator[PostgresSnapshot]:
        """Read from a replica that has all writes of this process, or else from the primary."""
        replica = self.replica
        begin = partial(_begin, begin=_READING, within=within, schema=self.location.schema)
        begun = None if replica is None else replica.begin_snapshot(begin, within)
        if replica is None or begun is None:
            with self.read_primary(within) as snapshot:
                yield snapshot
            return
        with self._reading(within, *begun, replica) as snapshot:
            yield snapshot

    @contextmanager
    def read_primary(self, within: Scope | None = None) -> Iterator[PostgresSnapshot]:
        with self._reading(within, *self._begin_on_primary(within), self.connections) as snapshot:
            yield snapshot

    @contextmanager
    def _reading(
        self,
        within: Scope | None,
        connection: WatchedConnection,
        begun: _Begun,
        pool: Connections | Replica,
    ) -> Iterator[PostgresSnapshot]:
        try:
            with failures_of(self.location):
                columns = self.columns(connection)
        except BaseException:
            pool.drop(connection)
            raise
        snapshot = PostgresSnapshot(connection, columns, self.caches, begun.scopes)
        borrowed: WatchedConnection | None = connection

        def reconnect(error: psycopg.Error) -> bool:
            """Continue after a failover if no scope has changed since."""
            nonlocal borrowed, pool
            # A standby also cancels reads that block its replay.
            if not _is_gone(error) and not isinstance(error, errors.SerializationFailure):
                return False
            if borrowed is not None:
                # Drop it before taking another, since other threads may wait for a free connection.
                pool.drop(borrowed)
                borrowed, pool = None, self.connections
            replacement, begun_again = self._begin_on_primary(within)
            if snapshot.has_answered and (begun_again != begun or begun.changes is None):
                self.connections.give_back(replacement)
                changed = StoreUnavailable(
                    f"{self.location} failed while it was read, and may have been written to since. "
                    "Try again."
                )
                changed.ask_again = True
                raise changed from error
            snapshot.connection = borrowed = replacement
            snapshot.scopes = begun_again.scopes
            return True

        snapshot.reconnect = reconnect
        try:
            with failures_of(self.location):
                yield snapshot
        except BaseException as error:
            if borrowed is not None:
                # After an error, prepared statements may be missing on the connection.
                (pool.drop if isinstance(error.__cause__, psycopg.Error) else pool.give_back)(borrowed)
            raise
        if borrowed is not None:
            pool.give_back(borrowed, has_read=True)
        self._fill(snapshot.unfilled)

    def _store_id(self) -> str:
        with self.read_primary() as snapshot:
            ((store_id,),) = snapshot.ask(
                f"SELECT value FROM {self.location.schema}.setting WHERE name = 'store_id'"
            )
            return str(store_id)

    def _fill(self, vectors: Mapping[int, Sequence[int]]) -> None:
        """Add to pgvector the vectors that a search missed. Answers do not depend on this."""
        if not vectors or not isinstance(self.caches, PgVector):
            return
        with suppress(psycopg.Error, RecollectError):
            connection = self.connections.take(self.busy_seconds)
            try:
                for scope, ids in vectors.items():
                    fill_some(connection, self.caches, self.location.schema, scope, ids)
            finally:
                self.connections.give_back(connection)

    def _begin_on_primary(self, within: Scope | None) -> tuple[WatchedConnection, _Begun]:
        """Return a connection inside a snapshot, and the scopes. Retry if a connection is lost."""
        lost: psycopg.Error | None = None
        for left in self._tries():
            try:
                connection = self.connections.take(left)
            except _GONE as error:
                lost = error
                continue
            try:
                return connection, _begin(connection, _READING, within, self.location.schema)
            except psycopg.Error as error:
                self.connections.drop(connection)
                lost = error
                if not _is_gone(error):
                    break
            except BaseException:
                self.connections.drop(connection)
                raise
        assert lost is not None  # noqa: S101  # there was at least one try
        raise explain(lost, self.location) from lost

    def version(self) -> int:
        with self.read_primary() as snapshot:
            ((changes,),) = snapshot.ask(
                f"SELECT coalesce(sum(change), 0)::bigint FROM {self.location.schema}.scope"
            )
            return int(changes)

    # Writing

    def transact(
        self, work: Callable[[Transaction], Result], within: Collection[Scope] | None = None
    ) -> Result:
        lost: Exception | None = None
        in_doubt: list[_Attempt[Result]] = []
        for left in self._tries():
            attempt = _Attempt(self, work, within, left, in_doubt)
            try:
                return attempt.run()
            except (psycopg.Error, StoreUnavailable) as error:
                lost = error
                if _is_gone(error) and attempt.committing:
                    # Store-wide writes, such as a lease, may be repeated.
                    in_doubt += [attempt] if attempt.marked is not None else []
                elif not _is_gone(error) and not isinstance(error, _RETRYABLE):
                    break
        assert lost is not None  # noqa: S101  # there was at least one try
        why = explain(lost, self.location) if isinstance(lost, psycopg.Error) else lost
        if in_doubt:
            raise StoreUnavailable(
                f"{self.location} did not confirm a write, so it may or may not be stored. Check before you "
                "write again, or pass a key, which makes a retry safe. The last failure: "
                f"{why}"
            ) from lost
        raise why from (lost if why is not lost else lost.__cause__)

    # Upkeep

    def verify(self, *, quick: bool = False) -> Sequence[Problem]:
        with self.read_primary() as snapshot:
            caches = self.caches if isinstance(self.caches, VectorCaches) else None
            return server_problems(snapshot, caches, quick=quick)

    def repair(self) -> Sequence[Problem]:
        if isinstance(self.caches, VectorCaches):
            self.caches.clear()
        self.transact(lambda rows: rebuild_derived(cast("PostgresTransaction", rows)))
        return self.verify()

    def compact(self) -> bool:
        with failures_of(self.location):
            connection = self.connections.take(self.busy_seconds)
            try:
                vacuum(connection, self.location)
            finally:
                self.connections.give_back(connection)
        if isinstance(self.caches, VectorCaches):
            self.caches.clear()
        return True

    def size(self) -> tuple[int, int]:
        with self.read() as snapshot:
            schema = self.location.schema
            return store_bytes(snapshot.connection, schema), schema_version(snapshot.connection, schema)

    def backup(self, path: str, progress: Progress | None = None) -> None:  # noqa: ARG002  # the port's signature
        raise backup_error(self.location, path)

    # Connections

    def columns(self, connection: Connection[Row]) -> Columns:
        if self._known_columns is None:
            with self._columns_lock:
                if self._known_columns is None:
                    self._known_columns = Columns(connection, self.location.schema)
        return self._known_columns

    def _tries(self) -> Iterator[float]:
        """Yield the seconds left for each try, with pauses between, until the time limit."""
        end = time.monotonic() + self.busy_seconds
        pause = _PAUSE_SECONDS
        yield self.busy_seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            yield max(left, 0.1)

    def close(self) -> None:
        self.connections.close()
        if self.replica is not None:
            self.replica.close()
        self.caches.close()

    def replica_lag_seconds(self) -> float | None:
        """Return the lag of the replica; None without a replica, or if it is unknown."""
        from recollect_postgres.doctor import replica_lag_seconds  # noqa: PLC0415  # rarely needed

        return replica_lag_seconds(self.location)

    @property
    def replica_trouble(self) -> str | None:
        """Why the last read went to the primary instead of a replica, if it did."""
        return None if self.replica is None else self.replica.trouble

    @property
    def cache_trouble(self) -> str | None:
        """Why vectors are in private memory instead of shared files, if they are."""
        return self.caches.reason


class _Attempt(Generic[Result]):
    """One try of a transaction, and its progress."""

    result: Result

    def __init__(
        self,
        store: PostgresStore,
        work: Callable[[Transaction], Result],
        within: Collection[Scope] | None,
        seconds: float,
        in_doubt: Sequence[_Attempt[Result]],
    ) -> None:
        self._store = store
        self._work = work
        self._within = within
        self._seconds = seconds
        self._in_doubt = in_doubt
        """Earlier tries whose commit was not confirmed."""
        self.committing = False
        self.mark = uuid.uuid4()
        self.marked: tuple[int, int] | None = None
        """The scope and the change number of the mark."""

    def run(self) -> Result:
        connections = self._store.connections
        connection = connections.take(self._seconds)
        try:
            self._run_on(connection)
        except BaseException as error:
            # After an error, prepared statements may be missing on the connection.
            (connections.drop if isinstance(error, psycopg.Error) else connections.give_back)(connection)
            raise
        connections.give_back(connection)
        return self.result

    def _run_on(self, connection: WatchedConnection) -> None:
        rows = self._begin_transaction(connection)
        # The scopes are locked now, so no earlier try can still commit.
        for earlier in self._in_doubt:
            if earlier.was_committed(rows):
                self.result = earlier.result
                return
        self.result = self._work(rows)
        rows.finish()
        self._add_commit_mark(rows)
        replica = self._store.replica
        rows.send()
        if replica is not None:
            replica.own_writes.record(connection, rows.schema, rows.locked)
        self.committing = True
        # If no standby confirms it, a commit waits for ever. It is abandoned then, not cancelled: the primary
        # alone would make a cancelled commit, and confirm it.
        with connection.at_most(self._store.busy_seconds):
            end = rows.commit()
        self.committing = False
        if end != "COMMIT":
            raise psycopg.InternalError(f"the transaction ended with {end}")

    def was_committed(self, rows: PostgresTransaction) -> bool:
        """Whether an unconfirmed commit succeeded: its mark exists."""
        found = rows.ask(
            f"SELECT mark FROM {rows.schema}.commit_mark WHERE scope_id = %s AND change = %s",
            self.marked or (),
        )
        return found == [(self.mark,)]

    def _begin_transaction(self, connection: Connection[Row]) -> PostgresTransaction:
        schema, store = self._store.location.schema, self._store
        wait = f"SET LOCAL lock_timeout = {max(1, int(self._seconds * 1000))}"
        if self._within is None:
            connection.execute(f"{_WRITING}; {wait}; SELECT set_config('recollect.scopes', '*', true)")
            rows = PostgresTransaction(connection, store.columns(connection), store.caches, None)
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_STORE_WIDE_LOCK, schema))
            return rows
        begun = _begin(connection, f"{_WRITING}; {wait}", self._within, schema, lock=True)
        locked = dict(zip(begun.scopes or (), begun.changes or (), strict=True))
        if len(locked) < len(set(self._within)):
            # Lock before creating scopes, and look again: another transaction may have created them.
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_STORE_WIDE_LOCK, schema))
            begun = _begin(connection, "SELECT 1", self._within, schema)
        rows = PostgresTransaction(connection, store.columns(connection), store.caches, begun.scopes)
        rows.locked.update(locked)
        rows.lock_scopes(begun.scopes)
        return rows

    def _add_commit_mark(self, rows: PostgresTransaction) -> None:
        if not rows.locked:
            return
        self.marked = scope, change = min(rows.locked.items())
        schema = self._store.location.schema
        rows.send_later(f"INSERT INTO {schema}.commit_mark VALUES (%s, %s, %s)", (scope, change, self.mark))
        if change % 100 == 0:
            rows.send_later(
                f"DELETE FROM {schema}.commit_mark WHERE scope_id = %s AND change <= %s",
                (scope, change - _MARKS_KEPT),
            )


class _Begun(NamedTuple):
    """The scopes that a transaction can read, and their change numbers; None for all scopes."""

    scopes: list[int] | None
    changes: list[int] | None


def _begin(
    connection: Connection[Row],
    begin: str,
    within: Scope | Collection[Scope] | None,
    schema: str,
    *,
    lock: bool = False,
) -> _Begun:
    """Begin a transaction, and set the scopes for row-level security, in one message to the server.

    With `lock`, these scopes are locked against other writers until the transaction ends.
    """
    if within is None:
        connection.execute(f"{begin}; SELECT set_config('recollect.scopes', '*', true)")
        return _Begun(None, None)
    scopes = [within] if isinstance(within, Scope) else sorted(set(within), key=str)
    owners = " OR ".join(
        f"(owner = {_literal(scope.owner)}"
        f"{'' if scope.agent is None else f' AND agent = {_literal(scope.agent)}'})"
        for scope in scopes
    )
    found = f"SELECT id, change FROM {schema}.scope WHERE {owners or 'false'}"
    if lock:
        # In order of id, so that two transactions cannot deadlock.
        found = (
            f"UPDATE {schema}.scope AS s SET change = s.change + 1 "
            f"FROM ({found} ORDER BY id FOR UPDATE) AS f WHERE s.id = f.id RETURNING s.id, s.change"
        )
    # Make all scopes readable to look these up, and then only these.
    cursor = connection.execute(
        f"{begin}; SELECT set_config('recollect.scopes', '*', true); WITH found AS ({found}) "
        "SELECT set_config('recollect.scopes', coalesce(array_agg(id ORDER BY id), '{}')::text, true), "
        "coalesce(array_agg(id ORDER BY id), '{}'), coalesce(array_agg(change ORDER BY id), '{}') FROM found"
    )
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return _Begun(list(row[1]), list(row[2])) if row else _Begun([], [])


def _cache_name(location: StoreUrl) -> str:
    """Return a folder name for caches. A restored database has the same id, but needs its own caches."""
    return hashlib.sha256(f"{location} {location.schema}".encode()).hexdigest()[:16]


def _literal(text: str) -> str:
    return quoted.Literal(text).as_string(None)
