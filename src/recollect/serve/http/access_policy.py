"""Decides which HTTP requests are allowed, and what the others get."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address

from recollect.lazy_dataclass import dataclass

PATH = "/mcp"
LARGEST_REQUEST = 4 * 1024 * 1024
BODY_SECONDS = 60.0
"""How long the body of a request may take."""
SHORTEST_TOKEN = 16
"""Characters of a token where other machines can guess it."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_METHODS = ("GET", "POST", "DELETE")
_API = ("v1", "openapi.json", "docs", "healthz", "readyz", "metrics", "mem0")
_PROBLEM_READERS = frozenset(("v1", "openapi.json", "healthz", "readyz", "metrics"))
# Nothing of the memory is in these: whether the server is up, and how to use it.
_OPEN = frozenset(("/healthz", "/readyz", "/openapi.json", "/docs", "/docs/try.js", "/docs/docs.css"))
_PAGES = ("static", "sign-in", "sign-out", "recall", "why-not", "memory", "browse", "graph", "timeline")
_MORE_PAGES = ("dreams", "settle", "answers", "quality", "health", "tokens")
FACES = frozenset((*_API, *_PAGES, *_MORE_PAGES))
"""What the first part of a path may be beside `/mcp`: the API, mem0's routes, and the dashboard's pages."""
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d*)?")
_ORIGIN = re.compile(r"https?://([^/]+)")


NOTHING_HERE = f"There is nothing here; MCP is at {PATH}, the API at /v1, the dashboard at /."


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    """Where to listen, and which requests to allow."""

    host: str
    port: int
    token: str | None
    """None: allow anyone who can reach the port."""
    allowed: tuple[str, ...] = ()
    """Names of this machine, beside `host` and those of the loopback."""

    @property
    def names(self) -> frozenset[str]:
        """The hosts that a request may name. A page that rebinds its own DNS name to us would name that."""
        return frozenset((*_LOOPBACK, self.host.lower(), *self.allowed))

    @property
    def is_open_to_others(self) -> bool:
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() != "localhost"

    @property
    def is_everywhere(self) -> bool:
        """Whether it listens on every address, which is none that a client could use."""
        try:
            return ip_address(self.host).is_unspecified
        except ValueError:
            return not self.host

    @property
    def has_weak_token(self) -> bool:
        """Whether others could guess it: a shorter one is good enough only for this machine."""
        return self.is_open_to_others and self.token is not None and len(self.token) < SHORTEST_TOKEN

    def admits(self, authorization: bytes) -> bool:
        scheme, _, word = authorization.partition(b" ")
        return self.token is None or (
            scheme.lower() == b"bearer" and hmac.compare_digest(word.strip(), self.token.encode())
        )

    def url(self, port: int) -> str:
        """For a client on this machine."""
        host = self.host
        if self.is_everywhere:
            host = "::1" if ":" in host else "127.0.0.1"
        return f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    error: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal(  # noqa: PLR0911  # one for each reason
    policy: AccessPolicy, method: str, path: str, headers: Mapping[bytes, bytes]
) -> Refusal | None:
    """Why a request is refused, if it is.

    The token comes last: a client that shows none and looks for a way to get one must learn that there is
    nothing at the other paths, not that it needs a token to look there.
    """
    host = _name(headers.get(b"host", b"").decode("latin-1"))
    if host is None:
        return Refusal(421, "unknown_host", "Send the header `Host` with the name of this machine.")
    if host not in policy.names:
        remedy = f"if it should be, start it with `--allow-host {host}`."
        return Refusal(421, "unknown_host", f"This server is not known as {host}; {remedy}")
    # Only browsers send one.
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    site = _ORIGIN.fullmatch(origin)
    if origin and (site is None or _name(site[1]) not in policy.names):
        return Refusal(
            403,
            "unknown_origin",
            "Pages of other sites may not use this server; if this one should, start it with `--allow-host` "
            "and the host of the page.",
        )
    if not is_mcp(path) and path != "/" and path.split("/")[1] not in FACES:
        return Refusal(404, "not_found", NOTHING_HERE)
    if is_mcp(path) and method not in _METHODS:
        message = "Send messages of the Model Context Protocol with POST; GET listens, DELETE ends a session."
        return Refusal(405, "method_not_allowed", message, {"allow": ", ".join(_METHODS)})
    if path in _OPEN:
        return None
    if not policy.admits(headers.get(b"authorization", b"")):
        return Refusal(
            401,
            "unauthorized",
            "Send the header `Authorization: Bearer TOKEN`; `recollect serve --http` prints "
            "the token when it starts.",
            {"www-authenticate": 'Bearer realm="recollect"'},
        )
    return None


def is_api(path: str) -> bool:
    """Whether programs ask for it, and read problem details."""
    return path.split("/")[1] in _PROBLEM_READERS if path.startswith("/") else False


def is_mcp(path: str) -> bool:
    return path.removesuffix("/") == PATH


def _name(host: str) -> str | None:
    """The host without its port; None for what is none."""
    found = _HOST.fullmatch(host.lower())
    return None if found is None else found[1] or found[2]


TOO_LARGE = Refusal(
    413, "too_large", f"A request may have up to {LARGEST_REQUEST // 1024**2} MiB; send it in several."
)
TOO_SLOW = Refusal(
    408, "too_slow", f"The body of a request must arrive within {BODY_SECONDS:.0f} seconds; send it again."
)
NO_HANDSHAKE = Refusal(
    400,
    "bad_initialize",
    "`initialize` needs `params` with protocolVersion, capabilities and clientInfo; no session was opened.",
)


def library_refusal(status: int, text: str) -> Refusal:
    """In our words, what the library refuses by itself."""
    if "Content-Type" in text:
        return Refusal(status, "not_json", "Send the header `Content-Type: application/json`.")
    return Refusal(status, "refused", text)
