"""Serving by TLS: the certificate and its key, and a limit on how long a handshake may take."""

from __future__ import annotations

import asyncio
import ssl
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.serve.http.connections import HEADER_SECONDS

if TYPE_CHECKING:
    from pathlib import Path

TLS_LOOP = f"{__name__}:TlsLoop"
"""How uvicorn is told of the loop below."""


def tls_context(cert: Path, key: Path) -> ssl.SSLContext:
    """What a server answers handshakes with; a mistake in the files is told before it listens."""
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
    """Nobody is there to type one."""


def _no_password() -> str:
    raise _HasPassword


class TlsLoop(asyncio.SelectorEventLoop):
    """Gives a handshake as long as the headers of a request; asyncio would wait for a minute."""

    async def create_server(self, *args: Any, **options: Any) -> asyncio.Server:
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HEADER_SECONDS)
        return await super().create_server(*args, **options)
