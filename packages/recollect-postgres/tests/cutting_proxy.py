"""A proxy between client and server that cuts a connection at its commit."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import Enum

_COMMIT = b"; COMMIT\0"
"""The end of a write. A read ends with a bare commit."""


class Cut(Enum):
    """The fate of the commit."""

    LOST = "the server never hears of it"
    UNACKNOWLEDGED = "the server makes it, and its answer is lost"
    LATE = "the client is cut off, and the server hears of it later"


class CuttingProxy:
    """A proxy on its own port. A late commit waits for `before_late`.

    Earlier commits, given by number, pass.
    """

    def __init__(
        self, server: int, cut: Cut, before_late: Callable[[], None] = lambda: None, *, passing: int = 0
    ) -> None:
        self.commits = 0
        self._passing = passing
        self._server = server
        self._cut: Cut | None = cut
        self._before_late = before_late
        self._made = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def has_cut(self) -> bool:
        return self._cut is None

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server))
                cutting = threading.Event()
                threading.Thread(target=self._to_server, args=(client, server, cutting), daemon=True).start()
                threading.Thread(target=self._to_client, args=(client, server, cutting), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket, cutting: threading.Event) -> None:
        with suppress(OSError):
            while sent := client.recv(65536):
                self.commits += _COMMIT in sent
                if _COMMIT in sent and self._cut is not None and self.commits > self._passing:
                    cut, self._cut = self._cut, None
                    cutting.set()
                    self._at_commit(cut, sent, client, server)
                    return
                server.sendall(sent)
        _end(server)

    def _at_commit(self, cut: Cut, sent: bytes, client: socket.socket, server: socket.socket) -> None:
        if cut is Cut.LATE:
            _end(client)
            self._before_late()
        if cut is not Cut.LOST:
            server.sendall(sent)
            self._made.wait()
        _end(client)
        _end(server)

    def _to_client(self, client: socket.socket, server: socket.socket, cutting: threading.Event) -> None:
        with suppress(OSError):
            while answer := server.recv(65536):
                if cutting.is_set():
                    self._made.set()
                    return
                client.sendall(answer)
        _end(client)


def _end(connection: socket.socket) -> None:
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    connection.close()
