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
"""How long the headers of a request may take."""
CONNECTION = "connection"
"""Under this name, a request's `state` has the connection that it came by."""
MOST_CONNECTIONS = 512
_FEWEST_CONNECTIONS = 8


def most_connections() -> int:
    """At one time. Half of the files that this process may open: the store and its caches need some too."""
    try:
        import resource  # noqa: PLC0415  # not on Windows
    except ImportError:
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files == resource.RLIM_INFINITY:
        return MOST_CONNECTIONS
    return max(_FEWEST_CONNECTIONS, min(MOST_CONNECTIONS, files // 2))


def most_per_address(in_all: int) -> int:
    """Half of all: a single machine never takes the last place."""
    return in_all // 2


class LimitedConnection(H11Protocol):
    """One connection. It ends where headers do not come in time, or where it must make room for another.

    Room is made by the oldest that has not shown a token: whoever opens connections and says nothing pushes
    out only their own kind. Without any such, the new connection is refused.
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
        # asyncio does so only for sockets that name their protocol, and ours come from `create_server`, which
        # does not: each answer's body would wait some 40 ms for the client to acknowledge its headers.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        most = most_connections()
        all_ = [each for each in self.connections if isinstance(each, LimitedConnection)]
        own = [each for each in all_ if each.address == self.address]
        if self._make_room(own, most_per_address(most)) and self._make_room(all_, most):
            self._await_headers()
        else:
            transport.write(_FULL)
            transport.close()

    def _make_room(self, connections: Collection[LimitedConnection], most: int) -> bool:
        live = [each for each in connections if not each.transport.is_closing()]
        if len(live) <= most:
            return True
        strangers = [each for each in live if not each.was_admitted and each is not self]
        if not strangers:
            return False
        min(strangers, key=lambda each: each._opened_at).transport.abort()  # noqa: SLF001  # one of us
        return True

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Before the first request there is no cycle, whatever its annotation says.
        if not getattr(self.cycle, "response_complete", True):
            self._stop_timer()
        elif self._header_timer is None and not self.transport.is_closing():
            self._await_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _await_headers(self) -> None:
        self._header_timer = self.loop.call_later(HEADER_SECONDS, self._give_up)

    def _give_up(self) -> None:
        self._header_timer = None
        self.transport.abort()

    def _stop_timer(self) -> None:
        if self._header_timer is not None:
            self._header_timer.cancel()
            self._header_timer = None


_FULL_BODY = json.dumps(
    {
        "error": "too_many_connections",
        "message": "This server has as many connections as it takes; close some, or try again later.",
    }
).encode()
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 5\r\n"
    b"connection: close\r\ncontent-length: %d\r\n\r\n%s"
) % (len(_FULL_BODY), _FULL_BODY)


# TLS

TLS_LOOP = f"{__name__}:TlsLoop"
"""The loop below, as uvicorn names it."""


def tls_context(cert: Path, key: Path) -> ssl.SSLContext:
    """The server's TLS context; a mistake in the files is an error before it listens."""
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
            f"{cert} and {key} are no certificate and key in PEM form; the certificate's file begins with "
            "-----BEGIN CERTIFICATE-----, with those of its issuers after it."
        ) from error
    except _HasPassword:
        raise InvalidInput(
            f"The key {key} has a password; write one without: openssl pkey -in {key} -out KEY"
        ) from None
    return context


class _HasPassword(Exception):
    """The key file asks for a password, and a server cannot type one."""


def _no_password() -> str:
    raise _HasPassword


class TlsLoop(asyncio.SelectorEventLoop):
    """Gives a handshake as long as the headers of a request; asyncio would wait for a minute."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HEADER_SECONDS)
        return await super().create_server(*args, **options)
