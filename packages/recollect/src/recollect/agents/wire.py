"""The protocol between hooks and the listener, over loopback. First, both prove that they know a secret.

The address and secret of each listener are in a file that only the user can read. Without the secret,
another program on the port of an ended listener gets no request.
"""

from __future__ import annotations

import json
import os
import socket
from _blake2 import blake2b  # the function of hashlib, without loading OpenSSL
from _operator import _compare_digest  # the function of hmac, without loading OpenSSL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

VERSION = 1
LOOPBACK = "127.0.0.1"
_NONCE_BYTES = 16
_LENGTH_BYTES = 4
_MAX_MESSAGE_BYTES = 4_000_000
_HANDSHAKE_SECONDS = 2.0


class NoListener(Exception):
    """No listener of this store answers at the address; perhaps another program does."""


class Address:
    __slots__ = ("port", "process_id", "secret")

    def __init__(self, port: int, secret: str, process_id: int) -> None:
        self.port: int = port
        self.secret: str = secret
        self.process_id: int = process_id

    def to_text(self) -> str:
        return json.dumps(
            {"version": VERSION, "port": self.port, "secret": self.secret, "pid": self.process_id}
        )


def read_address(path: str) -> Address | None:
    """Read the listener's address; None if the file is missing or of another version."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        if found["version"] != VERSION:
            return None
        return Address(int(found["port"]), str(found["secret"]), int(found["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_alive(address: Address) -> bool:
    try:
        ask(address, {"do": "ping"}, _HANDSHAKE_SECONDS)
    except (NoListener, OSError, ValueError):
        return False
    return True


def ask(address: Address, request: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Send a request; return the listener's answer."""
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    connection.settimeout(min(seconds, _HANDSHAKE_SECONDS))
    try:
        connection.connect((LOOPBACK, address.port))
    except OSError as error:
        connection.close()
        raise NoListener from error
    with connection:
        nonce = os.urandom(_NONCE_BYTES)
        send(connection, nonce)
        try:
            answer = receive(connection)
        except TimeoutError as error:
            # Another program may have the port of a listener that was killed.
            raise (error if seconds <= _HANDSHAKE_SECONDS else NoListener) from None
        except (OSError, ValueError) as error:
            raise NoListener from error
        their_nonce, proof = answer[:_NONCE_BYTES], answer[_NONCE_BYTES:]
        if not _compare_digest(proof, _proof(address.secret, b"listener", nonce, their_nonce)):
            raise NoListener
        connection.settimeout(seconds)
        send(connection, _proof(address.secret, b"hook", nonce, their_nonce) + json.dumps(request).encode())
        reply = json.loads(receive(connection))
    return reply if isinstance(reply, dict) else {}


def accept_request(connection: socket.socket, secret: str) -> dict[str, Any] | None:
    """Receive a request on the listener's side; None if the hook does not know the secret."""
    nonce, our_nonce = receive(connection), os.urandom(_NONCE_BYTES)
    send(connection, our_nonce + _proof(secret, b"listener", nonce, our_nonce))
    message = receive(connection)
    expected = _proof(secret, b"hook", nonce, our_nonce)
    if not _compare_digest(message[: len(expected)], expected):
        return None
    request = json.loads(message[len(expected) :])
    return request if isinstance(request, dict) else None


def send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(len(message).to_bytes(_LENGTH_BYTES, "big") + message)


def receive(connection: socket.socket) -> bytes:
    length = int.from_bytes(_receive_exactly(connection, _LENGTH_BYTES), "big")
    if length > _MAX_MESSAGE_BYTES:
        raise ValueError(f"a message of {length:,} bytes is too long")
    return _receive_exactly(connection, length)


def _receive_exactly(connection: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise ConnectionResetError("the other side closed the connection")
        data += piece
    return bytes(data)


def _proof(secret: str, side: bytes, hook_nonce: bytes, listener_nonce: bytes) -> bytes:
    return blake2b(side + hook_nonce + listener_nonce, key=secret.encode(), digest_size=32).digest()
