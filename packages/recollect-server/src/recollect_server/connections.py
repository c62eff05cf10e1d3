"""Limits on connections: their number, slow headers, and TLS handshakes."""

from __future__ import annotations

import asyncio
import json
import socket
import ssl
from collections.abc import Collection
from pathlib import Path
from typing import Any

from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from recollect.domain.errors import InvalidInput

# Connections

HEADER_SECONDS = 10.0
"""Deadline for the headers of a request."""
CONNECTION = "connection"
"""Key of the connection in a request's `state`."""
MOST_CONNECTIONS = 512
_FEWEST_CONNECTIONS = 8


def most_connections() -> int:
    """Return the limit of open connections: at most half of the process's file descriptors."""
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ImportError:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(_FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, files // 2))


def most_per_address(in_all: int) -> int:
    """Return the limit per address: half of all, so that no client can use all connections."""
    return in_all // 2


class LimitedConnection(H11Protocol):
    """A connection that is closed if headers arrive late or a newer connection needs its place.

    The oldest connection without a valid token is closed first. If every connection has one, the new
    connection is refused.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, CONNECTION: self}, _loop)
        self.was_admitted = False
        self._opened_at = self.loop.time()
        self._header_timer: asyncio.TimerHandle | None = None

    @property
    def address(self) -> str:
        return "" if self.client is None else self.client[0]

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        # asyncio sets TCP_NODELAY only for sockets with an explicit protocol, which `create_server` omits.
        # Without it, each response body waits about 40 ms for the acknowledgement of its headers.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        most = most_connections()
        all_ = [each for each in self.connections if isinstance(each, LimitedConnection)]
        own = [each for each in all_ if each.address == self.address]
        if self._make_room(own, most_per_address(most)) and self._make_room(all_, most):
            self._await_headers()
        else:
            transport.write(_REFUSAL)
            transport.close()

    def _make_room(self, connections: Collection[LimitedConnection], most: int) -> bool:
        live = [each for each in connections if not each.transport.is_closing()]
        if len(live) <= most:
            return True
        not_admitted = [each for each in live if not each.was_admitted and each is not self]
        if not not_admitted:
            return False
        min(not_admitted, key=lambda each: each._opened_at).transport.abort()  # noqa: SLF001  # the same class
        return True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Despite its annotation, `cycle` is None before the first request.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_timer()
        elif self._header_timer is None and not self.transport.is_closing():
            self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        self._header_timer = self.loop.call_later(HEADER_SECONDS, self._abort)

    def _abort(self) -> None:
        self._header_timer = None
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


_REFUSAL_BODY = json.dumps(
    {
        "error": "too_many_connections",
        "message": "This server has reached its limit of connections; close some, or try again later.",
    }
).encode()
_REFUSAL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
) % (len(_REFUSAL_BODY), _REFUSAL_BODY)


# TLS

TLS_LOOP = f"{__name__}:TlsLoop"
"""Import path of `TlsLoop`, for uvicorn."""


def tls_context(cert: Path, key: Path) -> ssl.SSLContext:
    """Load the certificate and key, so that mistakes show before the server listens."""
    for path, what in ((cert, "certificate"), (key, "key")):
        try:
            path.open("rb").close()
        except OSError as error:
            raise InvalidInput(f"The {what} {path} cannot be read: {error.strerror}.") from error
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, password=_no_password)
    except ssl.SSLError as error:
        if error.reason == "KEY_VALUES_MISMATCH":
            raise InvalidInput(f"The key {key} does not belong to the certificate {cert}.") from error
        raise InvalidInput(
            f"{cert} and {key} are not a certificate and key in PEM form; the certificate's file begins with "
            "-----BEGIN CERTIFICATE-----, and its issuers' certificates follow."
        ) from error
    except _HasPassword:
        raise InvalidInput(
            f"The key {key} has a password; write a copy without it: openssl pkey -in {key} -out KEY"
        ) from None
    return context


class _HasPassword(Exception):
    """The key file needs a password."""


def _no_password() -> str:
    raise _HasPassword


class TlsLoop(asyncio.SelectorEventLoop):
    """A loop that limits TLS handshakes to `HEADER_SECONDS`; asyncio waits for a minute."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HEADER_SECONDS)
        return await super().create_server(*args, **options)
