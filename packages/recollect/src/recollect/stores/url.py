"""Where a store is that is kept by a server: its URL, and what of it is the server's and what ours."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass

IN_MEMORY = ":memory:"
"""The name of a store that is kept in no file."""
SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "recollect"
DEFAULT_POOL = 8
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MOST_CONNECTIONS = 1_000
_OURS = frozenset({"schema", "pool", "vectors", "read"})

# Prefer a standby among several servers; without one, take any.
_PREFER_REPLICA = ("target_session_attrs", "prefer-standby")

_Options = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store on a server, and how it is read."""

    server: str
    """The URL as libpq takes it."""
    schema: str = DEFAULT_SCHEMA
    pool_size: int = DEFAULT_POOL
    vectors: str = "cache"
    """`cache`: searched here, in files of this machine; `server`: by pgvector."""
    replica: str | None = None
    """The URL of servers that may answer questions, where there are some."""

    def __str__(self) -> str:
        """For people to read: without a password."""
        return without_password(self.server)

    __repr__ = __str__

    def exists(self) -> bool:
        """Only the server knows, and it is asked when the store is opened."""
        return True


def parse_store_url(url: str) -> StoreUrl:
    """Our own options are taken out of the URL; all others are libpq's."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidInput(f"the URL of the store cannot be read: {error}") from error
    if parts.scheme not in SCHEMES:
        raise InvalidInput(
            f"there is no kind of store named {parts.scheme!r}; give the path of a file, `{IN_MEMORY}` for "
            "none, or a URL that begins with postgresql://"
        )
    if not url.startswith(f"{parts.scheme}://"):
        raise InvalidInput("the URL of a store on a server begins with postgresql://, with two strokes")
    options = _options(parts.query)
    ours = {name: value for name, value in options if name in _OURS}
    theirs = [(name, value) for name, value in options if name not in _OURS]
    schema = ours.get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise InvalidInput(f"schema={schema} is no plain name: small letters, digits and underscores")
    vectors = ours.get("vectors", "cache")
    if vectors not in {"cache", "server"}:
        raise InvalidInput(f"vectors={vectors} is unknown; it is cache or server")
    size = ours.get("pool", str(DEFAULT_POOL))
    if not (size.isascii() and size.isdigit()) or not 1 <= int(size) <= _MOST_CONNECTIONS:
        raise InvalidInput(f"pool={size} is no number of connections from 1 to {_MOST_CONNECTIONS:,}")
    replica, read = None, ours.get("read", "primary")
    other = urlsplit(read)
    if read == "replica":
        rest = [(name, value) for name, value in theirs if name != "target_session_attrs"]
        replica = _url(parts, parts.netloc, [*rest, _PREFER_REPLICA])
    elif other.scheme in SCHEMES:
        given = [each for each in _options(other.query) if each[0] not in _OURS]
        # The URL's own options come last and win.
        replica = _url(other, other.netloc, [_PREFER_REPLICA, *given])
    elif read != "primary":
        raise InvalidInput(f"read={read} is unknown; it is primary, replica, or the URL of a replica")
    return StoreUrl(_url(parts, parts.netloc, theirs), schema, int(size), vectors, replica)


def without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    options = [(name, "***" if name == "password" else value) for name, value in _options(parts.query)]
    return _url(parts, f"{user.partition(':')[0]}{at}{hosts}", options)


def _options(query: str) -> _Options:
    # In a form of a web page a plus is a space; to libpq it is a plus.
    return parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)


def _url(parts: SplitResult, hosts: str, options: _Options) -> str:
    # urlunsplit leaves out the two strokes where no host follows, and libpq knows no URL without them.
    query = urlencode(options, quote_via=quote, safe="*")
    return f"{parts.scheme}://{hosts}{parts.path}{'?' if query else ''}{query}"
