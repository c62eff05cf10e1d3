"""Why a server was not reached or refused us. It says so in words alone, before it gives any code."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from recollect.store_url import StoreUrl


class _Refusal(NamedTuple):
    pattern: str
    """Of what the server or libpq says, in English."""
    meaning: str
    """What it means, with the URL as {url}, and what the reader does next."""


# The first that fits: what names its cause comes before what only says that nothing came back.
_REFUSALS = (
    _Refusal(
        r"no password supplied",
        "{url} asks for a password, and none was given. Put it into the URL (postgresql://USER:PASSWORD@…), "
        "into the environment as PGPASSWORD, or into ~/.pgpass.",
    ),
    _Refusal(
        r"(password|SCRAM|Ident|Peer|GSSAPI|LDAP|PAM|RADIUS|certificate) authentication failed",
        "{url} does not accept the user or the password. Check both in the URL, or set PGPASSWORD or "
        "~/.pgpass.",
    ),
    _Refusal(
        r'role "(?P<name>.*)" does not exist',
        "There is no user {name} on {url}. Name another in the URL, or create it: createuser {name}",
    ),
    _Refusal(
        r'role "(?P<name>.*)" is not permitted to log in',
        "User {name} may not log in to {url}. Name another, or allow it: ALTER ROLE {name} LOGIN",
    ),
    _Refusal(
        r'database "(?P<name>.*)" does not exist',
        "There is no database {name} on {url}. Name another in the URL, or create it: createdb {name}",
    ),
    _Refusal(
        r'permission denied for database "(?P<name>.*)"',
        "{url} does not let this user in. Its owner can: GRANT CONNECT ON DATABASE {name} TO …",
    ),
    _Refusal(
        r"(no pg_hba\.conf entry|pg_hba\.conf rejects)",
        "{url} does not let this user in from here: {said}. Its administrator adds a line to pg_hba.conf; "
        "where it wants encryption, add ?sslmode=require to the URL.",
    ),
    _Refusal(
        r"(too many clients|too many connections|remaining connection slots)",
        "{url} takes no more connections: {said}. Raise max_connections, put a pooler before it, or lower "
        "?pool=NUMBER.",
    ),
    _Refusal(
        r"(starting up|shutting down|in recovery mode|not (yet )?accepting connections)",
        "{url} is not ready yet: {said}. Try again in a moment.",
    ),
    _Refusal(r"(session is read-only|server is in hot standby mode)", "{no_primary}"),
    _Refusal(
        r"(session is not read-only|server is not in hot standby mode)",
        "{url} is no replica, and one is asked for. Leave target_session_attrs out of the URL.",
    ),
    _Refusal(
        r"(expected authentication request|received invalid response|invalid response to)",
        "Something else than PostgreSQL answers at {url}. Check host and port.",
    ),
    _Refusal(
        r"server does not support SSL",
        "{url} knows no encryption, and the URL asks for it. Take sslmode out of the URL, or turn on ssl on "
        "the server.",
    ),
    _Refusal(
        r"(certificate|SSL|TLS)",
        "{url} could not agree on encryption: {said}. Check sslmode and sslrootcert in the URL.",
    ),
    _Refusal(
        r"(failed to resolve host|could not translate host name|Name or service not known)",
        "The host of {url} is not known: {said}. Check its spelling, and that this machine's "
        "network knows it.",
    ),
    _Refusal(
        r"(Connection refused|No such file or directory)",
        "No server listens at {url}. Check host and port, and that the server runs.",
    ),
    _Refusal(
        r"(timeout expired|timed out|No route to host|Network is unreachable)",
        "{url} gives no answer: {said}. Check host and port, and whether a firewall stands between.",
    ),
)


def why_refused(location: StoreUrl, error: str) -> str | None:
    """What the reader is told of a connection that was not made; None where the words are unknown."""
    for pattern, meaning in _REFUSALS:
        found = re.search(pattern, error)
        if found is not None:
            name = found.groupdict().get("name", "")
            return meaning.format(
                url=location, name=name, said=plain_words(error), no_primary=no_primary(location)
            )
    return None


def no_primary(location: StoreUrl) -> str:
    """Only replicas answered. Of several servers, one is likely to become the primary."""
    if "," not in str(location).rpartition("@")[2]:
        return (
            f"{location} is a replica and takes no writes. Name the primary, or all servers with commas "
            "between."
        )
    return (
        f"None of the servers of {location} takes writes now, as it is during a failover. Try again in a "
        "moment; RECOLLECT_BUSY_SECONDS says how long a call waits for one."
    )


def missing_right(location: StoreUrl, said: str) -> str:
    """What a user may not do, and what gives it the right."""
    user = urlsplit(location.server).username or "USER"
    schema, database = location.schema, re.search(r"for database (.+)", said)
    if database is not None:
        own = f"CREATE SCHEMA {schema} AUTHORIZATION {user}"
        remedy = f"GRANT CREATE ON DATABASE {database[1]} TO {user}, or {own}"
    elif "row-level security" in said:
        remedy = "no right: Recollect itself did not say whose rows it writes; please report it"
    elif said.startswith("must be owner"):
        remedy = f"only their owner changes the tables of {schema}: let it open the store once"
    else:
        remedy = (
            f"GRANT USAGE ON SCHEMA {schema} TO {user}; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES "
            f"IN SCHEMA {schema} TO {user}; GRANT ALL ON ALL SEQUENCES IN SCHEMA {schema} TO {user}; or, to "
            f"make a store there: GRANT CREATE ON SCHEMA {schema} TO {user}"
        )
    return f"{location} denies a right: {said}. What helps: {remedy}"


def plain_words(error: str) -> str:
    """The telling part of what libpq says, in one line."""
    line = error.strip().partition("\n")[0]
    for before in ("failed: ", "FATAL: ", "ERROR: "):
        line = line.rpartition(before)[2].strip()
    return line.rstrip(".")
