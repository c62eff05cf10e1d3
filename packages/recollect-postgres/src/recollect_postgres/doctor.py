"""Checks of `recollect doctor` for a store on PostgreSQL. They neither open the store nor write."""

from __future__ import annotations

import statistics
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg

from recollect import RecollectError
from recollect.cli.rendering import Check
from recollect.domain.errors import NotAStore
from recollect.text.phrases import file_size, quantity
from recollect_postgres.connection import (
    KEYWORDS,
    OLDEST_SERVER,
    conninfo,
    failures_of,
    migrations,
    schema_version,
)
from recollect_postgres.upkeep import store_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psycopg import Connection

    from recollect.domain.tables import Row
    from recollect.stores.url import StoreUrl

# With more lag, users notice that a replica's answers are old.
_LATE_SECONDS = 10.0
_SLOW_MS = 20.0
_MAX_LISTED = 4
_ROUND_TRIPS = 5
# A slow server must not block the checks.
_TIMEOUTS = "SET LOCAL statement_timeout = '5s'; SET LOCAL lock_timeout = '2s'"


def server_checks(location: StoreUrl) -> tuple[list[Check], bool]:
    """Return all checks, and whether the store can be opened without changes to it."""
    with _connect(location, location.server) as server:
        checks = [_server(server, location), _latency(server), *_durability(server), *_replication(server)]
        store, is_current = _store(server, location)
    return [*checks, *_replica_reads(location), *store], is_current and checks[0].mark == "ok"


def replica_lag_seconds(location: StoreUrl) -> float | None:
    """Return the replica's lag in seconds; None without a replica, or if the lag is unknown."""
    if location.replica is None:
        return None
    with _connect(location, location.replica) as server:
        return server.replica_state()[2]


@dataclass(frozen=True, slots=True)
class _Server:
    """A server in a read-only transaction."""

    connection: Connection[Row]
    user: str
    database: str

    def rows(self, query: str, *bindings: object) -> list[Row]:
        return self.connection.execute(query, bindings or None).fetchall()

    def row(self, query: str, *bindings: object) -> Row:
        (row,) = self.rows(query, *bindings)
        return row

    def replica_state(self) -> tuple[bool, bool, float | None]:
        """Return whether it is a replica, whether it is connected to its primary, and its lag in seconds."""
        is_replica, receives, lag = self.row(
            "SELECT pg_is_in_recovery(), EXISTS (SELECT 1 FROM pg_stat_wal_receiver), "
            "CASE WHEN NOT pg_is_in_recovery() THEN NULL "
            "WHEN pg_last_wal_receive_lsn() <= pg_last_wal_replay_lsn() THEN 0 "
            "ELSE extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) END::float8"
        )
        return is_replica, receives, lag


@contextmanager
def _connect(location: StoreUrl, url: str) -> Iterator[_Server]:
    with failures_of(location), psycopg.connect(conninfo(url), **KEYWORDS) as connection:
        connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        connection.execute(_TIMEOUTS)
        who = connection.execute("SELECT current_user::text, current_database()::text").fetchone()
        yield _Server(connection, *(who or ("", "")))
        connection.execute("ROLLBACK")


def _server(server: _Server, location: StoreUrl) -> Check:
    version, number, encoding = server.row(
        "SELECT current_setting('server_version'), current_setting('server_version_num')::int, "
        "current_setting('server_encoding')"
    )
    text = f"PostgreSQL {version} at {location}, as user {server.user}"
    if number < OLDEST_SERVER * 10_000:
        remedy = f"Upgrade the server, or use another one: PostgreSQL {OLDEST_SERVER} or later is needed."
        return Check("problem", "server", text, remedy)
    if encoding != "UTF8":
        remedy = "Create a database with ENCODING 'UTF8' for the store."
        return Check("problem", "server", f"{text}, which stores texts as {encoding}", remedy)
    return Check("ok", "server", text)


def _latency(server: _Server) -> Check:
    times = []
    for _ in range(_ROUND_TRIPS):
        start = time.perf_counter()
        server.row("SELECT 1")
        times.append(1000 * (time.perf_counter() - start))
    text = f"{statistics.median(times):.2f} ms for a round trip"
    if statistics.median(times) < _SLOW_MS:
        return Check("ok", "latency", text)
    return Check(
        "note", "latency", text, "A recall takes several round trips: run near the server or a replica."
    )


def _durability(server: _Server) -> Iterator[Check]:
    (is_durable,) = server.row(
        "SELECT current_setting('fsync')::bool AND current_setting('full_page_writes')::bool"
    )
    if not is_durable:
        text = "a power cut may lose acknowledged writes, or damage the database"
        yield Check("note", "durability", text, "Turn on fsync and full_page_writes, except in tests.")


# Replication


def _replication(server: _Server) -> Iterator[Check]:
    is_replica, receives, lag = server.replica_state()
    if is_replica:
        yield _replica_check("replication", receives, lag)
        remedy = "Name the primary, or all servers, separated by commas; a replica accepts no writes."
        yield Check("problem", "writes", "this server is a replica", remedy)
        return
    standbys = server.rows(
        "SELECT application_name, state, sync_state, coalesce(extract(epoch FROM replay_lag), 0)::float8, "
        "coalesce(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn), 0)::bigint "
        "FROM pg_stat_replication ORDER BY application_name, pid"
    )
    if not standbys:
        (standby_names,) = server.row("SELECT current_setting('synchronous_standby_names')")
        text = "primary; no standby follows it"
        if not standby_names:
            yield Check("ok", "replication", text)
            return
        text = f"{text}, and every commit waits for one of: {standby_names}"
        remedy = "Start a standby, or empty synchronous_standby_names: until then, no write completes."
        yield Check("problem", "replication", text, remedy)
        return
    hidden = sum(state is None for _, state, *_ in standbys)
    if hidden:
        text = f"primary; {quantity(hidden, 'standby', 'standbys')}, whose lag user {server.user} may not see"
        yield Check("ok", "replication", text, f"To see it here: GRANT pg_monitor TO {server.user}")
        return
    lags = [
        f"{name} {state} ({sync}), {behind:.1f} s and {file_size(size)} behind"
        for name, state, sync, behind, size in standbys
    ]
    is_late = any(behind > _LATE_SECONDS for *_, behind, _ in standbys)
    remedy = "Look at the standby's log, its network and its disk." if is_late else ""
    yield Check("note" if is_late else "ok", "replication", f"primary; {', '.join(lags)}", remedy)


def _replica_check(what: str, receives: bool, lag: float | None) -> Check:
    text = f"replica, {'an unknown time' if lag is None else f'{lag:.1f} s'} behind its primary"
    if not receives:
        return Check("note", what, f"{text}; it receives nothing now", "Check that its primary is running.")
    if lag is not None and lag > _LATE_SECONDS:
        return Check("note", what, text, "Look at its log, its network and its disk.")
    return Check("ok", what, text)


def _replica_reads(location: StoreUrl) -> Iterator[Check]:
    """Check the replica, if there is one."""
    if location.replica is None:
        return
    try:
        with _connect(location, location.replica) as server:
            is_replica, receives, lag = server.replica_state()
    except RecollectError as error:
        yield Check("note", "reads", str(error), "Until this is fixed, reads go to the primary.")
        return
    if is_replica:
        yield _replica_check("reads", receives, lag)
    else:
        yield Check(
            "note", "reads", "no replica answers, so reads go to the primary", "Start one, or remove ?read="
        )


# The store


def _store(server: _Server, location: StoreUrl) -> tuple[list[Check], bool]:
    schema, user = location.schema, server.user
    has_tables, has_settings, may_use = server.row(
        "SELECT count(*) > 0, count(*) FILTER (WHERE relname = 'setting') > 0, "
        "coalesce(has_schema_privilege(to_regnamespace(%s)::oid, 'USAGE'), true) "
        "FROM pg_class WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
        schema,
        schema,
    )
    text = f"the schema {schema} of {location} has tables of another program"
    foreign = Check("problem", "store", text, "Choose another schema with ?schema=NAME.")
    if has_tables and not has_settings:
        return [foreign], False
    missing = _missing_rights(server, schema) if has_tables else _missing_to_create(server, schema)
    if has_tables and not may_use:
        missing = [f"USAGE ON SCHEMA {schema}", *missing]
    setting = f"{schema}.setting"
    may_read = has_tables and may_use and server.row("SELECT has_table_privilege(%s, 'SELECT')", setting)[0]
    if not may_read:
        return [_no_store(server, schema, missing)], False
    try:
        version = schema_version(server.connection, schema)
    except NotAStore:
        version = 0
    if version == 0:
        return [foreign], False
    (owns_tables,) = server.row(
        "SELECT bool_and(pg_has_role(relowner, 'USAGE')) FROM pg_class "
        "WHERE relnamespace = to_regnamespace(%s) AND relkind = 'r'",
        schema,
    )
    checks = [
        _schema(server, location, version, owns_tables=owns_tables),
        _rights(missing, user, owns_tables=owns_tables),
        _indexes(server, schema),
        _row_security(server, schema),
    ]
    return checks, version == len(migrations()) and not missing


def _no_store(server: _Server, schema: str, missing: Sequence[str]) -> Check:
    if missing:
        text = f"user {server.user} can neither open nor create a store: {_shortened(missing)} is missing"
        return Check("problem", "store", text, _grants(missing, server.user))
    text = f"the database {server.database} has no store yet: no tables in the schema {schema}"
    return Check("note", "store", text, "recollect remember, recollect add or recollect import creates it")


def _schema(server: _Server, location: StoreUrl, version: int, *, owns_tables: bool) -> Check:
    known = len(migrations())
    if version > known:
        newer = f"schema {version}; this one knows {known}"
        text = f"{location} was written by a newer Recollect: {newer}"
        return Check("problem", "store", text, "pip install --upgrade recollect-memory")
    if version < known:
        text = f"{location} has the older schema {version}; the next command upgrades it to {known}"
        remedy = "Back it up with pg_dump first, if you want a copy from before."
        if not owns_tables:
            remedy = f"User {server.user} does not own the tables: have their owner run recollect stats once."
        return Check("note", "store", text, remedy)
    size = file_size(store_bytes(server.connection, location.schema))
    return Check("ok", "store", f"{location}, {size}, schema {version}")


def _rights(missing: Sequence[str], user: str, *, owns_tables: bool) -> Check:
    if missing:
        return Check("problem", "rights", f"user {user} lacks {_shortened(missing)}", _grants(missing, user))
    if owns_tables:
        return Check("ok", "rights", f"user {user} owns the tables")
    text = f"user {user} can read and write, but does not own the tables"
    return Check("ok", "rights", text, "Only the owner of the tables can upgrade the schema and run VACUUM.")


def _missing_rights(server: _Server, schema: str) -> list[str]:
    """Return the missing rights for reading and writing, as in GRANT."""
    rows = server.rows(
        "SELECT p.wanted || CASE WHEN c.relkind = 'S' THEN ' ON SEQUENCE ' ELSE ' ON ' END "
        "|| c.oid::regclass FROM pg_class AS c CROSS JOIN LATERAL unnest(CASE WHEN c.relkind = 'S' "
        "THEN '{USAGE,SELECT,UPDATE}'::text[] ELSE '{SELECT,INSERT,UPDATE,DELETE}' END) AS p(wanted) "
        "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind IN ('r', 'S') "
        "AND NOT CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, p.wanted) "
        "ELSE has_table_privilege(c.oid, p.wanted) END ORDER BY c.relkind DESC, c.relname, p.wanted",
        schema,
    )
    return [right for (right,) in rows]


def _missing_to_create(server: _Server, schema: str) -> list[str]:
    """Return the missing rights for creating a store."""
    may_create, exists, database = server.row(
        "SELECT coalesce(has_schema_privilege(to_regnamespace(%s), 'CREATE'), "
        "has_database_privilege(current_database(), 'CREATE')), to_regnamespace(%s) IS NOT NULL, "
        "quote_ident(current_database())",
        schema,
        schema,
    )
    if may_create:
        return []
    return [f"CREATE ON SCHEMA {schema}" if exists else f"CREATE ON DATABASE {database}"]


def _grants(rights: Sequence[str], user: str) -> str:
    more = " …" if len(rights) > _MAX_LISTED else ""
    return "; ".join(f"GRANT {right} TO {user}" for right in rights[:_MAX_LISTED]) + more


def _indexes(server: _Server, schema: str) -> Check:
    rows = server.rows(
        "SELECT c.relname FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indexrelid "
        "WHERE c.relnamespace = to_regnamespace(%s) AND NOT (i.indisvalid AND i.indisready) ORDER BY 1",
        schema,
    )
    if not rows:
        return Check("ok", "indexes", "all are valid")
    invalid = [name for (name,) in rows]
    remedy = f"recollect doctor --repair, or REINDEX INDEX CONCURRENTLY {schema}.{invalid[0]}"
    return Check("problem", "indexes", f"not valid: {_shortened(invalid)}", remedy)


def _row_security(server: _Server, schema: str) -> Check:
    """Check that row-level security hides the rows of other scopes."""
    protected: dict[str, bool] = dict(
        server.rows(
            "SELECT c.relname, c.relrowsecurity AND c.relforcerowsecurity "
            "AND EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = c.oid) FROM pg_class AS c "
            "WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind = 'r' AND (c.relname = 'scope' "
            "OR EXISTS (SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = c.oid "
            "AND a.attname = 'scope_id')) ORDER BY 1",
            schema,
        )
    )
    unprotected = [name for name, is_protected in protected.items() if not is_protected]
    if unprotected:
        remedy = (
            f"ALTER TABLE {schema}.{unprotected[0]} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; "
            "the policies are in the schema's first migration"
        )
        return Check("problem", "row security", f"not active on {_shortened(unprotected)}", remedy)
    # Row-level security does not apply to superusers.
    (bypasses,) = server.row("SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user")
    if bypasses:
        text = f"active on {len(protected)} tables, but user {server.user} bypasses it"
        return Check("note", "row security", text, "Use a user that is not a superuser and lacks BYPASSRLS.")
    return Check("ok", "row security", f"active on {len(protected)} tables")


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return ", ".join(names[:_MAX_LISTED]) + more
