"""Connect to a server: check it, migrate the schema, and explain PostgreSQL's errors."""

from __future__ import annotations

import logging
import re
import secrets
import time
from contextlib import contextmanager
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import psycopg
from psycopg import errors

from recollect.domain.errors import (
    Conflict,
    InvalidInput,
    NotAStore,
    RecollectError,
    StoreDamaged,
    StoreUnavailable,
)
from recollect.domain.tables import COPY_MARK
from recollect.stores.check import refuse_newer, unfinished_copy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.domain.tables import Row
    from recollect.stores.url import StoreUrl


# Recollect's errors include psycopg's warnings. Without a handler, Python would print them, too.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

OLDEST_SERVER = 15
# Seconds that a new connection waits for an answer.
_CONNECT_SECONDS = 5
# Milliseconds that sent data may stay unacknowledged: an unreachable server sends no error.
_SILENCE_MS = 10_000
# Seconds that a new process waits for a failover, and the errors that it retries after.
_FAILOVER_SECONDS = 10
_PAUSE_SECONDS = 0.2
_RETRY = ("session is read-only", "the database system is starting up", "the database system is in recovery")
_MIGRATION_WAIT_MS = 300_000
_MIGRATION_LOCK = 0x52434C54
"""The advisory lock for creating or migrating the schema."""

KEYWORDS: dict[str, Any] = {
    "autocommit": True,
    # Behind a pooler, the next statement may run on another connection.
    "prepare_threshold": None,
}


def migrations() -> tuple[str, ...]:
    """Return all schema changes in order. Add new ones at the end; never change one."""
    folder = resources.files(__package__) / "migrations"
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    return tuple((folder / name).read_text(encoding="utf-8") for name in names)


def conninfo(url: str) -> str:
    """Return the URL with timeouts for an unreachable server, unless it has its own."""
    try:
        given = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        # The unreadable part may belong to the password.
        reason = "" if urlsplit(url).password or "password=" in url else f": {str(error).strip()}"
        raise InvalidInput(
            f"The store's URL cannot be read{reason}. It is written "
            "postgresql://USER:PASSWORD@HOST:PORT/DATABASE; in a name or a password, signs like "
            "@ : / % are written %40 %3A %2F %25."
        ) from error
    several = "," in str(given.get("host") or "")
    defaults: dict[str, Any] = {
        "connect_timeout": _CONNECT_SECONDS,
        "tcp_user_timeout": _SILENCE_MS,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "application_name": "recollect",
        **({"target_session_attrs": "read-write"} if several else {}),
    }
    return psycopg.conninfo.make_conninfo(**{**defaults, **given})


def prepare(location: StoreUrl, steps: Sequence[str] | None = None, *, copying: bool = False) -> None:
    """Create or migrate the schema, or refuse it and leave it unchanged."""
    steps = migrations() if steps is None else steps
    with failures_of(location), _connect(conninfo(location.server)) as connection:
        if connection.info.server_version < OLDEST_SERVER * 10_000:
            raise StoreUnavailable(
                f"{location} is PostgreSQL {connection.info.server_version // 10_000}; "
                f"{OLDEST_SERVER} or later is needed. Upgrade the server, or name another one."
            )
        row = connection.execute("SELECT current_setting('server_encoding')").fetchone()
        if row is not None and row[0] != "UTF8":
            raise StoreUnavailable(
                f"{location} stores texts as {row[0]}; create a database with ENCODING 'UTF8' for the store."
            )
        version = schema_version(connection, location.schema)
        refuse_newer(version, len(steps), location)
        if version and not copying:
            marks = f"SELECT 1 FROM {location.schema}.setting WHERE name = %s"
            if connection.execute(marks, (COPY_MARK,)).fetchone() is not None:
                raise unfinished_copy(location)
        if version == len(steps):
            return
        with connection.transaction():
            # Processes that start at the same time wait here until the transaction ends.
            connection.execute(f"SET LOCAL lock_timeout = {_MIGRATION_WAIT_MS}")
            connection.execute(
                "SELECT pg_advisory_xact_lock(%s, hashtext(%s))", (_MIGRATION_LOCK, location.schema)
            )
            version = schema_version(connection, location.schema)
            refuse_newer(version, len(steps), location)
            if version == 0:
                if connection.execute("SELECT to_regnamespace(%s)", (location.schema,)).fetchone() == (None,):
                    connection.execute(f"CREATE SCHEMA {location.schema}")
                tables = "SELECT 1 FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r'"
                if connection.execute(tables, (location.schema,)).fetchone() is not None:
                    raise _not_ours(location.schema)
            # Row-level security applies to the owner of the tables, too.
            connection.execute("SELECT set_config('recollect.scopes', '*', true)")
            for step in steps[version:]:
                connection.execute(step.replace("{schema}", location.schema))
            if version == 0:
                connection.execute(
                    f"INSERT INTO {location.schema}.setting VALUES ('store_id', %s), ('trial_seed', %s)",
                    (secrets.token_hex(16), secrets.token_hex(8)),
                )
            connection.execute(
                f"INSERT INTO {location.schema}.setting VALUES ('schema_version', %s) "
                "ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value",
                (str(len(steps)),),
            )


def _connect(info: str) -> psycopg.Connection[Row]:
    """Connect. During a failover, or while the server starts, retry for some seconds."""
    end = time.monotonic() + _FAILOVER_SECONDS
    while True:
        try:
            return psycopg.connect(info, **KEYWORDS)
        except psycopg.OperationalError as error:
            is_failover = any(each in str(error) for each in _RETRY)
            if not is_failover or time.monotonic() > end:
                raise
        time.sleep(_PAUSE_SECONDS)


def schema_version(connection: psycopg.Connection[Row], schema: str) -> int:
    """Return the version of the schema; 0 if there is no store yet."""
    # Not `to_regclass`, whose cache may miss a table that another process has just created.
    found = connection.execute(
        "SELECT 1 FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relname = 'setting'",
        (schema,),
    ).fetchone()
    if found is None:
        return 0
    try:
        row = connection.execute(
            f"SELECT value FROM {schema}.setting WHERE name = 'schema_version'"
        ).fetchone()
    except errors.UndefinedColumn as error:
        raise _not_ours(schema) from error
    if row is None:
        return 0
    if not str(row[0]).isdecimal():
        raise _not_ours(schema)
    return int(row[0])


def _not_ours(schema: str) -> NotAStore:
    return NotAStore(
        f"The schema {schema} has tables of another program; it was not changed. Name another one with "
        "?schema=NAME."
    )


@contextmanager
def failures_of(location: StoreUrl) -> Iterator[None]:
    """Turn PostgreSQL's errors into Recollect's, which name a remedy."""
    try:
        yield
    except RecollectError:
        raise
    except psycopg.Error as error:
        raise explain(error, location) from error


def explain(error: psycopg.Error, location: StoreUrl) -> RecollectError:  # noqa: PLR0911  # one per cause
    shown, reason = location, plain_words(str(error))
    match error:
        case errors.InsufficientPrivilege():
            return StoreUnavailable(missing_right(location, reason))
        case errors.QueryCanceled():
            return StoreUnavailable(
                f"{shown} cancelled the statement: {reason}. Nothing was written. If the server sets a "
                "statement_timeout, set a longer one for this user."
            )
        case errors.LockNotAvailable():
            return StoreUnavailable(
                f"{shown} is locked by another program, and waiting did not help. Try again later. "
                "Nothing was written."
            )
        case errors.DiskFull() | errors.OutOfMemory():
            return StoreUnavailable(f"{shown} has no space left: {reason}. Free some. Nothing was written.")
        case errors.TooManyConnections():
            return StoreUnavailable(
                f"{shown} accepts no more connections ({reason}). Raise max_connections, use a pooler, "
                "or lower ?pool=NUMBER."
            )
        case errors.ReadOnlySqlTransaction():
            return StoreUnavailable(no_primary(location))
        case errors.ProgramLimitExceeded() | errors.DataError():
            return InvalidInput(f"PostgreSQL does not accept this: {reason}.")
        case errors.IntegrityError():
            return Conflict(f"Another process wrote the same at the same moment ({reason}); try again.")
        case errors.UndefinedTable() | errors.UndefinedColumn() | errors.DataCorrupted():
            return StoreDamaged(
                f"{shown} is damaged, or another version of Recollect upgraded it since ({reason}). "
                "Restart this program; if the error stays, run: recollect doctor --repair"
            )
        case psycopg.OperationalError():
            return StoreUnavailable(
                why_refused(location, str(error))
                or f"{shown} cannot be reached: {reason or 'no answer'}. Check that it runs, and try again."
            )
        case _:
            return StoreUnavailable(f"{shown} reports an error: {reason}.")


# The first match counts: patterns with a specific cause come before those for a missing answer.
_REFUSALS = {
    r"no password supplied": (
        "{url} asks for a password, and none was given. Put it into the URL (postgresql://USER:PASSWORD@…), "
        "into the environment as PGPASSWORD, or into ~/.pgpass."
    ),
    r"(password|SCRAM|Ident|Peer|GSSAPI|LDAP|PAM|RADIUS|certificate) authentication failed": (
        "{url} does not accept the user or the password. Check both in the URL, or set PGPASSWORD or "
        "~/.pgpass."
    ),
    r'role "(?P<name>.*)" does not exist': (
        "There is no user {name} on {url}. Name another in the URL, or create it: createuser {name}"
    ),
    r'role "(?P<name>.*)" is not permitted to log in': (
        "User {name} may not log in to {url}. Name another, or allow it: ALTER ROLE {name} LOGIN"
    ),
    r'database "(?P<name>.*)" does not exist': (
        "There is no database {name} on {url}. Name another in the URL, or create it: createdb {name}"
    ),
    r'permission denied for database "(?P<name>.*)"': (
        "{url} does not let this user in. Its owner can: GRANT CONNECT ON DATABASE {name} TO …"
    ),
    r"(no pg_hba\.conf entry|pg_hba\.conf rejects)": (
        "{url} does not let this user in from here: {reason}. Its administrator adds a line to pg_hba.conf; "
        "where it wants encryption, add ?sslmode=require to the URL."
    ),
    r"(too many clients|too many connections|remaining connection slots)": (
        "{url} accepts no more connections: {reason}. Raise max_connections, use a pooler, or lower "
        "?pool=NUMBER."
    ),
    r"(starting up|shutting down|in recovery mode|not (yet )?accepting connections)": (
        "{url} is not ready yet: {reason}. Try again in a moment."
    ),
    r"(session is read-only|server is in hot standby mode)": ("{no_primary}"),
    r"(session is not read-only|server is not in hot standby mode)": (
        "{url} is not a replica, but the URL requires one. Leave target_session_attrs out of the URL."
    ),
    r"(expected authentication request|received invalid response|invalid response to)": (
        "The server at {url} is not PostgreSQL. Check host and port."
    ),
    r"server does not support SSL": (
        "{url} does not support encryption, but the URL asks for it. Remove sslmode, or turn on ssl on "
        "the server."
    ),
    r"(certificate|SSL|TLS)": (
        "{url} could not agree on encryption: {reason}. Check sslmode and sslrootcert in the URL."
    ),
    r"(failed to resolve host|could not translate host name|Name or service not known)": (
        "The host of {url} is not known: {reason}. Check its spelling, and that this machine's "
        "network knows it."
    ),
    r"(Connection refused|No such file or directory)": (
        "No server listens at {url}. Check host and port, and that the server runs."
    ),
    r"(timeout expired|timed out|No route to host|Network is unreachable)": (
        "{url} does not answer: {reason}. Check host and port, and whether a firewall blocks them."
    ),
}
"""Patterns of English messages of the server or libpq, each with Recollect's message."""


def why_refused(location: StoreUrl, error: str) -> str | None:
    """Explain a failed connection; None if the message is unknown."""
    for pattern, meaning in _REFUSALS.items():
        found = re.search(pattern, error)
        if found is not None:
            name = found.groupdict().get("name", "")
            return meaning.format(
                url=location, name=name, reason=plain_words(error), no_primary=no_primary(location)
            )
    return None


def no_primary(location: StoreUrl) -> str:
    """Return the message that only replicas answered."""
    if "," not in str(location).rpartition("@")[2]:
        return (
            f"{location} is a replica and accepts no writes. Name the primary, or all servers, separated "
            "by commas."
        )
    return (
        f"None of the servers of {location} accepts writes now, as during a failover. Try again in a "
        "moment; RECOLLECT_BUSY_SECONDS sets how long a call waits for one."
    )


def missing_right(location: StoreUrl, reason: str) -> str:
    """Return the message that a user lacks a right, with the statement that grants it."""
    user = urlsplit(location.server).username or "USER"
    schema, database = location.schema, re.search(r"for database (.+)", reason)
    if database is not None:
        own = f"CREATE SCHEMA {schema} AUTHORIZATION {user}"
        remedy = f"GRANT CREATE ON DATABASE {database[1]} TO {user}, or {own}"
    elif "row-level security" in reason:
        remedy = "none: this is a bug of Recollect, which did not set its scopes; please report it"
    elif reason.startswith("must be owner"):
        remedy = f"only the owner can change the tables of {schema}: let the owner open the store once"
    else:
        remedy = (
            f"GRANT USAGE ON SCHEMA {schema} TO {user}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES "
            f"IN SCHEMA {schema} TO {user}; GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {user}; or, to "
            f"make a store there: GRANT CREATE ON SCHEMA {schema} TO {user}"
        )
    return f"{location} denies a right: {reason}. Remedy: {remedy}"


def plain_words(error: str) -> str:
    """Return the first line of an error of libpq, without its prefixes."""
    line = error.strip().partition("\n")[0]
    for before in ("failed: ", "FATAL: ", "ERROR: "):
        line = line.rpartition(before)[2].strip()
    return line.rstrip(".")
