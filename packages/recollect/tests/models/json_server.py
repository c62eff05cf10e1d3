"""A server of HTTP in a thread, for tests of models that are asked over it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol


class Answering(Protocol):
    requests: list[tuple[str, dict[str, str], dict[str, Any]]]

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, str]: ...


@contextmanager
def serving(state: Answering) -> Iterator[str]:
    """The address of a server that notes every request in `state`, and answers as it says."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
            status, text = state.answer(self.path, body)
            self.send_response(status)
            self.send_header("Retry-After", "1")
            self.end_headers()
            with suppress(BrokenPipeError):  # the client may have given up
                self.wfile.write(text.encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is http.server's
            """Say nothing."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{http.server_port}"
    http.shutdown()
    thread.join()
    http.server_close()
