"""A store's URL: what of it is the server's, and what is ours."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from recollect.errors import InvalidInput

SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "recollect"
DEFAULT_POOL = 8
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MOST_CONNECTIONS = 1_000


@dataclass(frozen=True, slots=True)
class Location:
    """Where a store is, and how it is read."""

    server: str
    """The URL as libpq takes it."""
    schema: str = DEFAULT_SCHEMA
    pool_size: int = DEFAULT_POOL
    vectors: str = "cache"
    """`cache`: searched here, in a file of this machine; `server`: by pgvector."""
    replica: str | None = None
    """The URL of servers that may answer questions, where there are some."""

    @property
    def shown(self) -> str:
        """For people to read: without a password."""
        return without_password(self.server)


def is_url(store: str) -> bool:
    return "://" in store


def parse_location(url: str) -> Location:
    """Our own options are taken out of the URL; all others are libpq's."""
    parts = urlsplit(url)
    if parts.scheme not in SCHEMES:
        raise InvalidInput(
            f"There is no kind of store named {parts.scheme!r}; give the path of a file, or a URL that begins "
            "with postgresql://."
        )
    ours: dict[str, str] = {}
    theirs: list[tuple[str, str]] = []
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in {"schema", "pool", "vectors", "read"}:
            ours[name] = value
        else:
            theirs.append((name, value))

    def url_with(query: list[tuple[str, str]]) -> str:
        return urlunsplit(parts._replace(query=urlencode(query)))

    schema = ours.get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise InvalidInput(
            f"The schema {schema!r} is no name that needs no quotes: small letters, digits and underscores."
        )
    vectors = ours.get("vectors", "cache")
    if vectors not in {"cache", "server"}:
        raise InvalidInput(f"vectors={vectors} is unknown; it is cache or server.")
    size = ours.get("pool", str(DEFAULT_POOL))
    if not size.isascii() or not size.isdigit() or not 1 <= int(size) <= _MOST_CONNECTIONS:
        raise InvalidInput(f"pool={size} is no number of connections from 1 to {_MOST_CONNECTIONS:,}.")
    return Location(
        server=url_with(theirs),
        schema=schema,
        pool_size=int(size),
        vectors=vectors,
        replica=_replica(ours.get("read"), theirs, url_with),
    )


def _replica(read, theirs, url_with):  # type: ignore[no-untyped-def]
    if read is None or read == "primary":
        return None
    if read == "replica":
        others = [(name, value) for name, value in theirs if name != "target_session_attrs"]
        return url_with([*others, ("target_session_attrs", "prefer-standby")])
    if is_url(read):
        return read
    raise InvalidInput(f"read={read} is unknown; it is primary, replica, or the URL of a replica.")


def without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    query = [(name, "***" if name == "password" else value) for name, value in parse_qsl(parts.query)]
    return urlunsplit(parts._replace(netloc=f"{user.partition(':')[0]}{at}{hosts}", query=urlencode(query)))
