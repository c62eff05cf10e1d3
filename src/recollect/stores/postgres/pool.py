"""The connections of a process to its servers: lent to one thread at a time, and never a dead one twice.

Who needs a connection and finds none opens it itself, so that it learns at once why there is none, and the
next try after a failover waits for nobody's back-off.
"""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg.pq import TransactionStatus

from recollect.errors import StoreUnavailable
from recollect.stores.postgres.connection import KEYWORDS
from recollect.tables import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

_IDLE_SECONDS = 300.0
"""A connection that nobody used for so long may have been cut on its way."""
_SILENCE_SECONDS = 4.0
"""A statement may take its time. After this one, it is asked whether there is a server at all."""
_PREPARED_AFTER = 2
"""Planning takes the server longer than most of our questions: what is asked again is planned once."""
_MOST_PREPARED = 300
_SHORTEST_CONNECT_SECONDS = 2  # libpq knows no shorter one


class WatchedConnection(psycopg.Connection[Row]):
    """A connection whose server is asked for a sign of life when an answer is long in coming.

    A server that is cut off or frozen says nothing at all, and who waits for it would wait for ever.
    """

    silence_seconds = _SILENCE_SECONDS
    _end = float("inf")

    def wait(self, gen: Any, *arguments: Any, **options: Any) -> Any:
        return super().wait(_watched(gen, self._watch()), *arguments, **options)

    @contextmanager
    def at_most(self, seconds: float) -> Iterator[None]:
        """Wait no longer than this for an answer, even from a server that lives."""
        self._end = time.monotonic() + seconds
        try:
            yield
        finally:
            self._end = float("inf")

    def _watch(self) -> Callable[[], None]:
        asked_at = time.monotonic()

        def look() -> None:
            nonlocal asked_at
            now = time.monotonic()
            if now >= self._end:
                self._abandon("no answer in time")
            if now - asked_at >= self.silence_seconds:
                if not self._answers():
                    self._abandon("the server does not answer")
                asked_at = time.monotonic()

        return look

    def _answers(self) -> bool:
        """Whether somebody is there who takes or refuses a connection."""
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
            pass  # refused, for whatever reason: the statement will end by itself
        return True

    def _abandon(self, why: str) -> None:
        self.pgconn.finish()
        raise psycopg.OperationalError(why)


def _watched(gen: Generator[Any, Any, Any], look: Callable[[], None]) -> Generator[Any, Any, Any]:
    """The same generator, with a look round whenever nothing came for a moment."""
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if not ready:
                look()
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value


class Connections:
    """At most `size` at a time. Safe to share between threads."""

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
        """One that is free, or a new one. `StoreUnavailable` where all stay busy for so long."""
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
        given = int(psycopg.conninfo.conninfo_to_dict(self._conninfo).get("connect_timeout") or 0)
        shortest = max(_SHORTEST_CONNECT_SECONDS, int(seconds))
        try:
            connection = WatchedConnection.connect(
                self._conninfo, connect_timeout=min(given or shortest, shortest), **KEYWORDS
            )
            if _is_direct(connection):
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
        """Outside of any transaction; what cannot be brought there is closed.

        Who has only read says so: after a rollback, psycopg has everything prepared again.
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
        """Not to be lent again: its server is gone, or no longer the one to write to."""
        with self._changed:
            self._discard(connection)
            self._changed.notify()

    def _discard(self, connection: WatchedConnection) -> None:
        self._open -= 1
        with suppress(psycopg.Error):
            connection.close()

    def close(self) -> None:
        """Those that are lent are closed when they come back."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._discard(self._idle.pop()[0])
            self._changed.notify_all()


def _is_direct(connection: WatchedConnection) -> bool:
    """Whether this is a session of the server's own. A pooler, which tells its clients a process id of its
    own making, may run the next transaction elsewhere, and what was prepared would not be there."""
    return connection.execute("SELECT pg_backend_pid()").fetchone() == (connection.info.backend_pid,)


def _is_open(connection: WatchedConnection) -> bool:
    """A server that ended the connection has said so by now, unless it was cut off."""
    try:
        connection.pgconn.consume_input()
    except psycopg.Error:
        return False
    return not connection.closed
