"""The store port on a PostgreSQL server."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Generic

import psycopg
from psycopg import errors
from psycopg import sql as quoted
from psycopg_pool import ConnectionPool, PoolTimeout, TooManyRequests

from recollect.errors import StoreUnavailable
from recollect.ports import Result
from recollect.records import Scope
from recollect.stores.postgres.columns import Columns
from recollect.stores.postgres.connection import KEYWORDS, conninfo, explained, failures_of, prepare
from recollect.store_url import StoreUrl
from recollect.stores.postgres.snapshot import PostgresSnapshot, PostgresTransaction
from recollect.stores.postgres.vectors import VectorCaches

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from psycopg import Connection

    from recollect.ports import Transaction
    from recollect.tables import Row

BUSY_SECONDS = 10.0
_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
# Each statement sees what is committed; the scopes that are held keep others from committing to them.
_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED"
_MARKS_KEPT = 10_000
"""Changes of a scope after which nobody asks any more whether one was made."""
_PAUSE_SECONDS = 0.02
_LONGEST_PAUSE_SECONDS = 0.5
_STORE_WIDE_LOCK = 0x52434C55
"""What names no scope is done one at a time."""

# Another transaction came in between: the same again finds what it left.
_AGAIN = (
    errors.SerializationFailure,
    errors.DeadlockDetected,
    errors.UniqueViolation,
    errors.ForeignKeyViolation,
)
_GONE = (psycopg.OperationalError, psycopg.InterfaceError, errors.ReadOnlySqlTransaction)
_FINAL = (errors.LockNotAvailable, errors.DiskFull, errors.OutOfMemory)


class PostgresStore:
    """One writer at a time for each scope, from any machine; readers never wait."""

    def __init__(
        self,
        location: StoreUrl,
        *,
        cache_folder: Path | None = None,
        busy_seconds: float = BUSY_SECONDS,
        copying: bool = False,
    ) -> None:
        """With `copying`, a copy that is not complete may be opened too."""
        self.location = location
        self._busy_seconds = busy_seconds
        prepare(location, copying=copying)
        self.caches = VectorCaches(cache_folder)
        self._pool = _pool(location.server, location, busy_seconds)
        self._columns_lock = threading.Lock()
        self._known_columns: Columns | None = None
        self._closed = False

    # Reading

    @contextmanager
    def read(self, within: Scope | None = None) -> Iterator[PostgresSnapshot]:
        connection, scopes = self._begun(within)
        try:
            with failures_of(self.location):
                yield PostgresSnapshot(connection, self.columns(connection), self.caches, scopes)
        finally:
            self.give_back(connection)

    def _begun(self, within: Scope | None) -> tuple[Connection[Row], list[int] | None]:
        """A connection inside a snapshot, and the scopes that it sees. One that was lost is replaced."""
        for left in self._tries():
            connection = self.connection(left)
            try:
                return connection, _begin(connection, _READING, within, self.location.schema)
            except _GONE as error:
                self.give_back(connection)
                lost = error
        raise explained(lost, self.location)

    def version(self) -> int:
        with self.read() as snapshot:
            ((changes,),) = snapshot.ask(
                f"SELECT coalesce(sum(change), 0)::bigint FROM {self.location.schema}.scope"
            )
            return int(changes)

    # Writing

    def transact(
        self, work: Callable[[Transaction], Result], within: Collection[Scope] | None = None
    ) -> Result:
        lost: Exception | None = None
        for left in self._tries():
            attempt = _Attempt(self, work, within, left)
            try:
                return attempt.run()
            except _FINAL as error:
                raise explained(error, self.location) from error
            except _AGAIN as error:
                lost = error
            except _GONE as error:
                lost = error
                if attempt.committing:
                    outcome = self._after_lost_commit(attempt)
                    if outcome:
                        return attempt.result
            except psycopg.Error as error:
                raise explained(error, self.location) from error
        assert isinstance(lost, psycopg.Error)  # noqa: S101  # there was at least one try
        raise explained(lost, self.location) from lost

    def _after_lost_commit(self, attempt: _Attempt[Result]) -> bool:
        """Whether a commit that nobody acknowledged was made all the same: the mark tells."""
        if attempt.marked is None:
            raise StoreUnavailable(
                f"{self.location} was lost while it committed; whether it did is not known. "
                "Look before you try again."
            )
        scope, change = attempt.marked
        with self.read() as snapshot:
            rows = snapshot.ask(
                f"SELECT mark FROM {self.location.schema}.commit_mark WHERE scope_id = %s AND change = %s",
                [scope, change],
            )
        return rows == [(attempt.mark,)]

    # Connections

    def columns(self, connection: Connection[Row]) -> Columns:
        if self._known_columns is None:
            with self._columns_lock:
                if self._known_columns is None:
                    self._known_columns = Columns(connection, self.location.schema)
        return self._known_columns

    def _tries(self) -> Iterator[float]:
        """Tries within the time that a caller waits, each with what is left of it, and pauses between."""
        end = time.monotonic() + self._busy_seconds
        pause = _PAUSE_SECONDS
        yield self._busy_seconds
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            yield max(left, 0.1)

    def connection(self, seconds: float) -> Connection[Row]:
        if self._closed:
            raise StoreUnavailable(f"{self.location} was closed; open it again.")
        try:
            return self._pool.getconn(timeout=seconds)
        except (PoolTimeout, TooManyRequests) as error:
            raise self._why_none(error) from error

    def _why_none(self, error: Exception) -> Exception:
        """The pool does not say why it gave none: the server does."""
        try:
            psycopg.connect(conninfo(self.location.server), **KEYWORDS).close()
        except psycopg.Error as refused:
            return explained(refused, self.location)
        return StoreUnavailable(
            f"All {self.location.pool_size} connections of this process to {self.location} are busy "
            f"({error}). Try again later, or allow more with ?pool=NUMBER."
        )

    def give_back(self, connection: Connection[Row]) -> None:
        with suppress(psycopg.Error):
            if not connection.closed:
                connection.execute("ROLLBACK" if connection.info.transaction_status else "SELECT 1")
        self._pool.putconn(connection)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._pool.close()
        self.caches.close()

    @property
    def cache_trouble(self) -> str | None:
        """Why vectors are kept in private memory instead of shared files, if they are."""
        return self.caches.reason


class _Attempt(Generic[Result]):
    """One run of a transaction, and how far it came."""

    result: Result

    def __init__(
        self,
        store: PostgresStore,
        work: Callable[[Transaction], Result],
        within: Collection[Scope] | None,
        seconds: float,
    ) -> None:
        self._store = store
        self._work = work
        self._within = within
        self._seconds = seconds
        self.committing = False
        self.mark = uuid.uuid4()
        self.marked: tuple[int, int] | None = None
        """The scope and the number of the change that bear the mark."""

    def run(self) -> Result:
        store = self._store
        connection = store.connection(self._seconds)
        try:
            rows = self._begun(connection)
            self.result = self._work(rows)
            self._leave_mark(rows)
            self.committing = True
            connection.execute("COMMIT")
            self.committing = False
            return self.result
        finally:
            store.give_back(connection)

    def _begun(self, connection: Connection[Row]) -> PostgresTransaction:
        schema, store = self._store.location.schema, self._store
        wait = f"SET LOCAL lock_timeout = {max(1, int(self._seconds * 1000))}"
        if self._within is None:
            connection.execute(f"{_WRITING}; {wait}; SELECT set_config('recollect.scopes', '*', true)")
            rows = PostgresTransaction(connection, store.columns(connection), store.caches, None)
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_STORE_WIDE_LOCK, schema)
            )
            return rows
        scopes = _begin(connection, f"{_WRITING}; {wait}", self._within, schema)
        rows = PostgresTransaction(connection, store.columns(connection), store.caches, scopes)
        rows.hold(scopes)
        return rows

    def _leave_mark(self, rows: PostgresTransaction) -> None:
        if not rows.held:
            return
        self.marked = scope, change = min(rows.held.items())
        schema = self._store.location.schema
        rows.connection.execute(
            f"INSERT INTO {schema}.commit_mark VALUES (%s, %s, %s)", (scope, change, self.mark)
        )
        if change % 100 == 0:
            rows.connection.execute(
                f"DELETE FROM {schema}.commit_mark WHERE scope_id = %s AND change <= %s",
                (scope, change - _MARKS_KEPT),
            )


def _begin(
    connection: Connection[Row], begin: str, within: Scope | Collection[Scope] | None, schema: str
) -> list[int] | None:
    """Begin, and tell the second fence what may be seen, in one message to the server."""
    if within is None:
        connection.execute(f"{begin}; SELECT set_config('recollect.scopes', '*', true)")
        return None
    scopes = [within] if isinstance(within, Scope) else sorted(set(within), key=str)
    owners = " OR ".join(
        f"(owner = {_literal(scope.owner)}"
        + ("" if scope.agent is None else f" AND agent = {_literal(scope.agent)}")
        + ")"
        for scope in scopes
    )
    # The directory of scopes is open as far as to find these; then only they are.
    cursor = connection.execute(
        f"{begin}; SELECT set_config('recollect.scopes', '*', true); "
        "SELECT set_config('recollect.scopes', coalesce(array_agg(id ORDER BY id), '{}')::text, true), "
        f"coalesce(array_agg(id ORDER BY id), '{{}}') FROM {schema}.scope WHERE {owners or 'false'}"
    )
    while cursor.nextset():
        pass
    row = cursor.fetchone()
    return list(row[1]) if row else []


def _literal(text: str) -> str:
    return quoted.Literal(text).as_string(None)


def _pool(url: str, location: StoreUrl, seconds: float) -> ConnectionPool[Connection[Row]]:
    return ConnectionPool(
        conninfo(url),
        kwargs=KEYWORDS,
        min_size=0,
        max_size=location.pool_size,
        timeout=seconds,
        # A connection that nobody used for so long may have been cut on its way.
        max_idle=300,
        num_workers=1,
        open=True,
    )
