"""A hosted model on this machine that takes its time: for tests of who waits for vectors."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIRST_SECONDS = 1.0
# A caller that ignores a stop during the first request waits this long for each further one.
_LATER_SECONDS = 20.0


class SlowModel:
    """A model server that answers one text at once, and a batch only after a while."""

    def __init__(self) -> None:
        self.address = ""
        self.read = 0
        """Texts of requests for several."""
        self.begun = threading.Event()

    def vectors(self, texts: list[str]) -> list[list[float]]:
        if len(texts) > 1:
            seconds = _LATER_SECONDS if self.read else _FIRST_SECONDS
            self.read += len(texts)
            self.begun.set()
            time.sleep(seconds)
        return [[float(len(text)), 1.0, float(sum(map(ord, text)) % 97)] for text in texts]

    def settings(self) -> dict[str, str]:
        """The settings with which our programs use it."""
        return {
            "RECOLLECT_MODEL": "openai:slow",
            "RECOLLECT_MODEL_URL": self.address,
            "RECOLLECT_MODEL_KEY": "none",
        }


@contextmanager
def slow_model() -> Iterator[SlowModel]:
    model = SlowModel()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            rows = model.vectors(texts)
            data = [{"index": place, "embedding": row} for place, row in enumerate(rows)]
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"data": data}).encode())

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the name is http.server's
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        model.address = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield model
        finally:
            http.shutdown()
            thread.join()
