"""The URL of a store on a server, with Recollect's options and those of libpq."""

from __future__ import annotations

import re
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass

IN_MEMORY = ":memory:"
"""The name of a store in memory."""
SCHEMES = ("postgresql", "postgres")
DEFAULT_SCHEMA = "recollect"
DEFAULT_POOL = 8
_SCHEMA_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_MAX_CONNECTIONS = 1_000
_OWN_OPTIONS = frozenset({"schema", "pool", "vectors", "read"})

# Prefer a standby among several servers; without one, take any.
_PREFER_REPLICA = ("target_session_attrs", "prefer-standby")

_Options = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class StoreUrl:
    """A store on a server, with the options of its URL."""

    server: str
    """The URL for libpq."""
    schema: str = DEFAULT_SCHEMA
    pool_size: int = DEFAULT_POOL
    vectors: str = "cache"
    """`cache`: this process searches vectors, in cached files. `server`: pgvector searches them."""
    replica: str | None = None
    """The URL of replicas for reading, or None."""

    def __str__(self) -> str:
        """Return the URL without its password."""
        return without_password(self.server)

    __repr__ = __str__

    def exists(self) -> bool:
        """Return True. Only opening the store shows whether it exists on the server."""
        return True


def parse_store_url(url: str) -> StoreUrl:
    """Parse Recollect's own options, and leave all others in the URL for libpq."""
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise InvalidInput(f"the URL of the store cannot be read: {error}") from error
    if parts.scheme not in SCHEMES:
        raise InvalidInput(
            f"there is no kind of store named {parts.scheme!r}; give a file's path, `{IN_MEMORY}` for a "
            "store in memory, or a URL that begins with postgresql://"
        )
    if not url.startswith(f"{parts.scheme}://"):
        raise InvalidInput("the URL of a store on a server begins with postgresql://, with two slashes")
    options = _options(parts.query)
    own = {name: value for name, value in options if name in _OWN_OPTIONS}
    libpq_options = [(name, value) for name, value in options if name not in _OWN_OPTIONS]
    schema = own.get("schema", DEFAULT_SCHEMA)
    if not _SCHEMA_NAME.fullmatch(schema):
        raise InvalidInput(f"schema={schema} is not a valid name; use a-z, digits and underscores")
    vectors = own.get("vectors", "cache")
    if vectors not in {"cache", "server"}:
        raise InvalidInput(f"vectors={vectors} is unknown; use cache or server")
    size = own.get("pool", str(DEFAULT_POOL))
    if not (size.isascii() and size.isdigit()) or not 1 <= int(size) <= _MAX_CONNECTIONS:
        raise InvalidInput(f"pool={size} is not a valid number of connections; use 1 to {_MAX_CONNECTIONS:,}")
    replica, read = None, own.get("read", "primary")
    other = urlsplit(read)
    if read == "replica":
        rest = [(name, value) for name, value in libpq_options if name != "target_session_attrs"]
        replica = _url(parts, parts.netloc, [*rest, _PREFER_REPLICA])
    elif other.scheme in SCHEMES:
        given = [each for each in _options(other.query) if each[0] not in _OWN_OPTIONS]
        # The URL's own options come last and win.
        replica = _url(other, other.netloc, [_PREFER_REPLICA, *given])
    elif read != "primary":
        raise InvalidInput(f"read={read} is unknown; use primary, replica, or the URL of a replica")
    return StoreUrl(_url(parts, parts.netloc, libpq_options), schema, int(size), vectors, replica)


def without_password(url: str) -> str:
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    options = [(name, "***" if name == "password" else value) for name, value in _options(parts.query)]
    return _url(parts, f"{user.partition(':')[0]}{at}{hosts}", options)


def _options(query: str) -> _Options:
    # `parse_qsl` reads a plus as a space; libpq does not.
    return parse_qsl(query.replace("+", "%2B"), keep_blank_values=True)


def _url(parts: SplitResult, hosts: str, options: _Options) -> str:
    # `urlunsplit` drops the two slashes if there is no host, but libpq needs them.
    query = urlencode(options, quote_via=quote, safe="*")
    return f"{parts.scheme}://{hosts}{parts.path}{'?' if query else ''}{query}"
