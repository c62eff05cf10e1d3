"""The rules for HTTP requests: which are allowed, and how others are refused."""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from dataclasses import field
from ipaddress import ip_address
from urllib.parse import quote

from recollect.domain.lazy_dataclass import dataclass

PATH = "/mcp"
SIGN_IN = "/sign-in"
LARGEST_REQUEST = 4 * 1024 * 1024
BODY_SECONDS = 60.0
"""Deadline for the body of a request."""
SHORTEST_TOKEN = 16
"""Minimum characters of a token if other machines can reach the server."""
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_METHODS = ("GET", "POST", "DELETE")
_API = ("v1", "openapi.json", "docs", "healthz", "readyz", "metrics", "mem0")
_PROBLEM_PATHS = frozenset(("v1", "openapi.json", "healthz", "readyz", "metrics"))
_PUBLIC = frozenset(("healthz", "readyz", "static", "sign-in"))
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d*)?")
_ORIGIN = re.compile(r"https?://([^/]+)")
_DEFAULT_PORT = re.compile(r":(?:80|443)?$")


NOTHING_HERE = f"There is nothing here; MCP is at {PATH}, the API at /v1, the dashboard at /."


@dataclass(frozen=True, slots=True)
class AccessPolicy:
    host: str
    port: int
    token: str | None
    """Without one, every client that reaches the port is allowed."""
    allowed_hosts: tuple[str, ...] = ()
    """Names of this machine besides `host` and the loopback names."""
    tls: bool = False

    @property
    def names(self) -> frozenset[str]:
        """The allowed `Host` headers. A page that tries DNS rebinding sends its own name."""
        return frozenset((*_LOOPBACK, self.host.lower(), *self.allowed_hosts))

    @property
    def is_open_to_others(self) -> bool:
        try:
            return not ip_address(self.host).is_loopback
        except ValueError:
            return self.host.lower() != "localhost"

    @property
    def listens_everywhere(self) -> bool:
        """Whether the server listens on all addresses. Clients then need another name than `host`."""
        try:
            return ip_address(self.host).is_unspecified
        except ValueError:
            return not self.host

    @property
    def has_weak_token(self) -> bool:
        """Whether the token is too short for a server that other machines can reach."""
        return self.is_open_to_others and self.token is not None and len(self.token) < SHORTEST_TOKEN

    def is_token(self, word: str) -> bool:
        return self.token is not None and hmac.compare_digest(word.encode(), self.token.encode())

    def url(self, port: int, path: str = PATH) -> str:
        """Return the address for a client on this machine."""
        host = self.host
        if self.listens_everywhere:
            host = "::1" if ":" in host else "127.0.0.1"
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{path}"


@dataclass(frozen=True, slots=True)
class Refusal:
    status: int
    error: str
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """A refused request; `RefusalMiddleware` sends the refusal."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why.message)
        self.why = why


def refusal(policy: AccessPolicy, method: str, path: str, headers: Mapping[bytes, bytes]) -> Refusal | None:
    """Return why any sender's request is refused; None if it is not.

    This comes before authentication: MCP clients without a token probe other paths for a sign-in method. They
    must get 404 there, not 401.
    """
    host = _name(headers.get(b"host", b"").decode("latin-1"))
    if host is None:
        return Refusal(421, "unknown_host", "Send the header `Host` with the name of this machine.")
    if host not in policy.names:
        remedy = f"to allow that name, start it with `--allow-host {host}`."
        return Refusal(421, "unknown_host", f"This server is not known as {host}; {remedy}")
    # Only browsers send an origin.
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    site = _ORIGIN.fullmatch(origin)
    if origin and (site is None or _name(site[1]) not in policy.names):
        return Refusal(
            403,
            "unknown_origin",
            "Pages of other sites may not use this server; if this one should, start it with `--allow-host` "
            "and the host of the page.",
        )
    known = {*_API, *_PUBLIC, *_page_segments()} - {""}
    if not is_mcp(path) and path != "/" and path.split("/")[1] not in known:
        return Refusal(404, "not_found", NOTHING_HERE)
    if is_mcp(path) and method not in _METHODS:
        message = "Send messages of the Model Context Protocol with POST; GET listens, DELETE ends a session."
        return Refusal(405, "method_not_allowed", message, {"allow": ", ".join(_METHODS)})
    return None


def _page_segments() -> frozenset[str]:
    """Return the first path segments of the dashboard's pages."""
    from recollect_server.web.routes import HANDLERS  # noqa: PLC0415  # loads every screen, which only a server needs

    return frozenset(("docs", "sign-out", *(path.split("/")[1] for _, path in HANDLERS)))


def anonymous_refusal(method: str, path: str, query: str, headers: Mapping[bytes, bytes]) -> Refusal | None:
    """Return the refusal of an unauthenticated request; None if the path is public."""
    first = path.split("/")[1]
    if first in _PUBLIC:
        return None
    # A client that sends a token is a program, not a browser that can sign in.
    if first not in _page_segments() or headers.get(b"authorization"):
        return UNAUTHORIZED
    # A form that was sent is lost, so the user then continues at the first page.
    next_ = f"{path}?{query}" if query else path
    where = f"/sign-in?next={quote(next_)}" if method in SAFE_METHODS and next_ != "/" else "/sign-in"
    if headers.get(b"hx-request"):
        return Refusal(401, "signed_out", "Sign in again.", {"hx-redirect": where})
    return Refusal(303, "sign_in", "Sign in first.", {"location": where})


def local_path(given: str) -> str:
    """Return the page to show after signing in: the given one if it is ours, else the first."""
    path = given.partition("?")[0]
    is_page = path.startswith("/") and path.split("/")[1] in _page_segments()
    # Browsers read a backslash as a slash, drop control characters, and read two slashes as a host.
    is_plain = given.isascii() and given.isprintable() and "\\" not in given and "//" not in path
    return given if is_page and is_plain else "/"


def is_same_origin(headers: Mapping[bytes, bytes]) -> bool | None:
    """Whether a page of this server sent the request; None: unknown, as for programs."""
    site = headers.get(b"sec-fetch-site", b"").lower()
    origin = _ORIGIN.fullmatch(headers.get(b"origin", b"").decode("latin-1").lower())
    if b"origin" in headers:
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if origin is None or _DEFAULT_PORT.sub("", origin[1]) != _DEFAULT_PORT.sub("", host):
            return False
    if site:
        return site == b"same-origin"
    return True if origin is not None else None


def is_api(path: str) -> bool:
    """Whether clients of this path expect problem details."""
    return path.startswith("/") and path.split("/")[1] in _PROBLEM_PATHS


def is_mem0(path: str) -> bool:
    return path.startswith("/") and path.split("/")[1] == "mem0"


def with_bearer(path: str, headers: Mapping[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the headers with the key of a mem0 client as a bearer token.

    Below `/mem0`, clients send `Authorization: Token KEY` or `X-API-Key: KEY`.
    """
    found = dict(headers)
    if not is_mem0(path):
        return found
    scheme, _, key = found.get(b"authorization", b"").partition(b" ")
    if scheme.lower() == b"token":
        found[b"authorization"] = b"Bearer " + key
    elif not scheme and b"x-api-key" in found:
        found[b"authorization"] = b"Bearer " + found[b"x-api-key"]
    return found


def is_mcp(path: str) -> bool:
    return path.removesuffix("/") == PATH


def _name(host: str) -> str | None:
    """Return the host without its port; None if malformed."""
    found = _HOST.fullmatch(host.lower())
    return None if found is None else found[1] or found[2]


UNAUTHORIZED = Refusal(
    401,
    "unauthorized",
    "Send the header `Authorization: Bearer TOKEN`; `recollect serve --http` prints "
    "the token when it starts.",
    {"www-authenticate": 'Bearer realm="recollect"'},
)
FOREIGN_PAGE = Refusal(
    403,
    "cross_site",
    "Only this server's pages may send this request from a browser; open the dashboard and try again.",
)
NO_CSRF = Refusal(
    403,
    "csrf",
    "The form is from an earlier session, or from another program; reload the page and send it again. "
    "Scripts send the header `X-CSRF-Token`, other programs `Authorization: Bearer TOKEN`.",
)
TOO_LARGE = Refusal(
    413, "too_large", f"A request may have up to {LARGEST_REQUEST // 1024**2} MiB; split it into several."
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
    if "Content-Type" in text:
        return Refusal(status, "not_json", "Send the header `Content-Type: application/json`.")
    return Refusal(status, "refused", text)
