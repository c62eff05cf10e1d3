"""How a server and the store on it are, asked from outside: nothing is opened as a store or written."""

from __future__ import annotations

import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import psycopg

from recollect.errors import NotAStore
from recollect.stores.postgres.connection import KEYWORDS, conninfo, failures_of, migrations, schema_version
from recollect.stores.postgres.maintenance import store_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from recollect.store_url import StoreUrl
    from recollect.tables import Row

_ROUND_TRIPS = 5
# A server that is asked how it is may be in trouble: then this is an answer too.
_PATIENCE = "SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '2s'"


class Standby(NamedTuple):
    """A server that follows this one; None: this user may not see it."""

    name: str | None
    state: str | None
    sync: str | None
    lag_seconds: float | None
    lag_bytes: int | None


@dataclass(frozen=True, slots=True)
class Replication:
    """What of other servers one server knows."""

    is_replica: bool
    receives: bool
    """Of a replica: whether it is connected to the server that it follows, as far as this user may see."""
    lag_seconds: float | None
    """Of a replica: how old the newest change is that it has, where there are newer ones."""
    standbys: tuple[Standby, ...]
    waits_for: str
    """The standbys that every commit waits for."""


@dataclass(frozen=True, slots=True)
class StoreFacts:
    """A store's schema, and what this user may do with it."""

    known: int
    """The version that this program makes."""
    bypasses_fence: bool
    """The user sees all rows of all tables, whatever they say: a superuser does."""
    version: int = 0
    """0: there is no store, or none that may be read."""
    is_foreign: bool = False
    """There are tables, and they are none of ours."""
    bytes: int = 0
    invalid_indexes: tuple[str, ...] = ()
    fenced: int = 0
    """Tables that show nobody the rows of another scope."""
    unfenced: tuple[str, ...] = ()
    owns_tables: bool = False
    missing_rights: tuple[str, ...] = ()
    """As GRANT names them."""


@dataclass(frozen=True, slots=True)
class ServerReport:
    version: str
    number: int
    encoding: str
    user: str
    database: str
    round_trip_ms: float
    is_durable: bool
    """False: it was told to acknowledge what a power cut may take back."""
    replication: Replication
    store: StoreFacts


def server_report(location: StoreUrl) -> ServerReport:
    with _asked(location, location.server) as connection:
        round_trip = _round_trip_ms(connection)
        version, number, encoding, user, database, durable = _row(
            connection,
            "SELECT current_setting('server_version'), current_setting('server_version_num')::int, "
            "current_setting('server_encoding'), current_user::text, current_database()::text, "
            "current_setting('fsync')::bool AND current_setting('full_page_writes')::bool",
        )
        replication = _replication(connection)
        return ServerReport(
            version, number, encoding, user, database, round_trip, durable, replication,
            _store_facts(connection, location.schema),
        )  # fmt: skip


def replica_report(location: StoreUrl) -> Replication | None:
    """Of the server that may answer questions, where the URL names one."""
    if location.replica is None:
        return None
    with _asked(location, location.replica) as connection:
        return _replication(connection)


@contextmanager
def _asked(location: StoreUrl, url: str) -> Iterator[Connection[Row]]:
    with failures_of(location), psycopg.connect(conninfo(url), **KEYWORDS) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(_PATIENCE)
        yield connection
        connection.execute("ROLLBACK")


def _row(connection: Connection[Row], question: str, *bindings: object) -> Row:
    row = connection.execute(question, bindings or None).fetchone()
    assert row is not None  # noqa: S101  # these questions have one answer
    return row


def _round_trip_ms(connection: Connection[Row]) -> float:
    taken = []
    for _ in range(_ROUND_TRIPS):
        start = time.perf_counter()
        connection.execute("SELECT 1")
        taken.append(1000 * (time.perf_counter() - start))
    return statistics.median(taken)


def _replication(connection: Connection[Row]) -> Replication:
    (is_replica,) = _row(connection, "SELECT pg_is_in_recovery()")
    if is_replica:
        receives, lag = _row(
            connection,
            "SELECT EXISTS (SELECT 1 FROM pg_stat_wal_receiver), "
            "CASE WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() THEN 0 "
            "ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8",
        )
        return Replication(True, receives, lag, (), "")
    standbys = connection.execute(
        "SELECT application_name, state, sync_state, extract(epoch FROM replay_lag)::float8, "
        "pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint "
        "FROM pg_stat_replication ORDER BY application_name, pid"
    ).fetchall()
    (waits_for,) = _row(connection, "SELECT current_setting('synchronous_standby_names')")
    return Replication(False, True, None, tuple(Standby(*each) for each in standbys), waits_for)


def _store_facts(connection: Connection[Row], schema: str) -> StoreFacts:
    (bypasses,) = _row(
        connection, "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
    )
    none = StoreFacts(known=len(migrations()), bypasses_fence=bypasses)
    has_tables, has_settings, may_use = _row(
        connection,
        "SELECT count(*) > 0, count(*) FILTER (WHERE relname = 'setting') > 0, "
        "coalesce(has_schema_privilege(to_regnamespace(%s)::oid, 'USAGE'), true) "
        "FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
        schema,
        schema,
    )
    if not has_tables:
        return replace(none, missing_rights=_missing_to_create(connection, schema))
    if not has_settings:
        return replace(none, is_foreign=True)
    missing = _missing_rights(connection, schema)
    if not may_use:
        return replace(none, missing_rights=(f"USAGE ON SCHEMA {schema}", *missing))
    (may_read,) = _row(connection, "SELECT has_table_privilege(%s, 'SELECT')", f"{schema}.setting")
    if not may_read:
        return replace(none, missing_rights=missing)
    try:
        version = schema_version(connection, schema)
    except NotAStore:
        version = 0
    if version == 0:
        return replace(none, is_foreign=True)
    invalid = connection.execute(
        "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid "
        "WHERE c.relnamespace = to_regnamespace(%s) AND NOT (i.indisvalid AND i.indisready) ORDER BY 1",
        (schema,),
    ).fetchall()
    fences = connection.execute(
        "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity "
        "AND EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = c.oid) FROM pg_class AS c "
        "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind = 'r' AND (c.relname = 'scope' OR EXISTS "
        "(SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'scope_id')) ORDER BY 1",
        (schema,),
    ).fetchall()
    (owns,) = _row(
        connection,
        "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class "
        "WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
        schema,
    )
    return replace(
        none,
        version=version,
        bytes=store_bytes(connection, schema),
        invalid_indexes=tuple(name for (name,) in invalid),
        fenced=sum(stands for _, stands in fences),
        unfenced=tuple(name for name, stands in fences if not stands),
        owns_tables=owns,
        missing_rights=missing,
    )


def _missing_rights(connection: Connection[Row], schema: str) -> tuple[str, ...]:
    """Of what reading and writing take."""
    rows = connection.execute(
        "SELECT p.wanted || CASE WHEN c.relkind = 'S' THEN ' ON SEQUENCE ' ELSE ' ON ' END "
        "|| c.oid::regclass FROM pg_class AS c CROSS JOIN LATERAL unnest(CASE WHEN c.relkind = 'S' "
        "THEN '{USAGE,SELECT,UPDATE}'::text[] ELSE '{SELECT,INSERT,UPDATE,DELETE}' END) AS p(wanted) "
        "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind IN ('r', 'S') "
        "AND NOT CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, p.wanted) "
        "ELSE has_table_privilege(c.oid, p.wanted) END ORDER BY c.relkind DESC, c.relname, p.wanted",
        (schema,),
    ).fetchall()
    return tuple(right for (right,) in rows)


def _missing_to_create(connection: Connection[Row], schema: str) -> tuple[str, ...]:
    """Of what making a store takes."""
    (may,) = _row(
        connection,
        "SELECT coalesce(has_schema_privilege(to_regnamespace(%s), 'CREATE'), "
        "has_database_privilege(current_database(), 'CREATE'))",
        schema,
    )
    if may:
        return ()
    (there, database) = _row(
        connection, "SELECT to_regnamespace(%s) IS NOT NULL, quote_ident(current_database())", schema
    )
    return (f"CREATE ON SCHEMA {schema}" if there else f"CREATE ON DATABASE {database}",)
