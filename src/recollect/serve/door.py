"""Who may come in over HTTP, and what those are told who may not."""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

PATH = "/mcp"
LARGEST_REQUEST = 4 * 1024 * 1024
_LOOPBACK = ("127.0.0.1", "::1", "localhost")
_METHODS = ("GET", "POST", "DELETE")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d*)?")
_ORIGIN = re.compile(r"https?://([^/]+)")


@dataclass(frozen=True, slots=True)
class Door:
    """Where to listen, and who may come in."""

    host: str
    port: int
    token: str | None
    """None: anyone who can reach the port."""
    allowed: tuple[str, ...] = ()
    """Names of this machine, beside `host` and those that only it knows itself by."""

    @property
    def names(self) -> frozenset[str]:
        """What a client may call us. A page that made its own name lead here (DNS rebinding) uses that."""
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
    headers: tuple[tuple[bytes, bytes], ...] = ()


def refusal(door: Door, method: str, path: str, headers: Mapping[bytes, bytes]) -> Refusal | None:
    """Why a request may not come in, if so.

    The token comes last: a client that shows none and looks for a way to get one must learn that there is
    nothing at the other paths, not that it needs a token to look there.
    """
    return (
        _other_host(door, headers.get(b"host", b"").decode("latin-1"))
        or _other_site(door, headers.get(b"origin", b"").decode("latin-1"))
        or _nothing_there(method, path)
        or _without_token(door, headers.get(b"authorization", b""))
    )


def told(status: int, said: str) -> Refusal:
    """What the library refuses by itself, in plain text."""
    if status == 413:
        size = LARGEST_REQUEST // 1024**2
        return Refusal(413, "too_large", f"A request may have up to {size} MiB; send it in several.")
    if "Content-Type" in said:
        return Refusal(status, "not_json", "Send the header `Content-Type: application/json`.")
    return Refusal(status, "refused", said)


def _other_host(door: Door, shown: str) -> Refusal | None:
    name = _name(shown)
    if name in door.names:
        return None
    if name is None:
        return Refusal(421, "unknown_host", "Send the header `Host` with the name of this machine.")
    return Refusal(
        421,
        "unknown_host",
        f"This server is not known as {name}; if it should be, start it with `--allow-host {name}`.",
    )


def _other_site(door: Door, shown: str) -> Refusal | None:
    if not shown:  # no browser
        return None
    site = _ORIGIN.fullmatch(shown.lower())
    if site is not None and _name(site[1]) in door.names:
        return None
    return Refusal(
        403,
        "unknown_origin",
        "Pages of other sites may not use this server; if this one should, start it with `--allow-host` and "
        "the host of the page.",
    )


def _name(host: str) -> str | None:
    """The host without its port; None for what is none."""
    found = _HOST.fullmatch(host.lower())
    return None if found is None else found[1] or found[2]


def _nothing_there(method: str, path: str) -> Refusal | None:
    if path.removesuffix("/") != PATH:
        return Refusal(404, "not_found", f"There is nothing here; the server is at {PATH}.")
    if method not in _METHODS:
        message = "Send messages of the Model Context Protocol with POST; GET listens, DELETE ends a session."
        return Refusal(405, "method_not_allowed", message, ((b"allow", ", ".join(_METHODS).encode()),))
    return None


def _without_token(door: Door, shown: bytes) -> Refusal | None:
    if door.token is None:
        return None
    scheme, _, word = shown.partition(b" ")
    if scheme.lower() == b"bearer" and hmac.compare_digest(word.strip(), door.token.encode()):
        return None
    return Refusal(
        401,
        "unauthorized",
        "Send the header `Authorization: Bearer TOKEN`; `recollect serve --http` prints "
        "the token when it starts.",
        ((b"www-authenticate", b'Bearer realm="recollect"'),),
    )
