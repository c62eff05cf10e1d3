"""The HTTP API over a memory in this process, and a client that shows the token."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from conftest import PATIENCE_SECONDS
from starlette.testclient import TestClient

from recollect.operations.catalogue import chosen
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.engine import Engine

TOKEN = "open-sesame-please"  # noqa: S105  # of the tests' own servers
HEADERS = {"Authorization": f"Bearer {TOKEN}"}


@dataclass(frozen=True)
class Api:
    """A served memory."""

    memory: Engine
    application: Any
    client: TestClient


def served(memory: Engine) -> Api:
    policy = AccessPolicy("127.0.0.1", 0, TOKEN, ("testserver",))
    application = app(lambda: memory, chosen("all"), policy)
    client = TestClient(application, headers=HEADERS, raise_server_exceptions=True)
    return Api(memory, application, client)


@contextmanager
def listening(engine: Engine) -> Iterator[str]:
    """Where it listens, for programs that need a socket."""
    server = uvicorn.Server(uvicorn.Config(served(engine).application, log_level="warning", ws="none"))
    place = socket.create_server(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, args=[[place]], daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{place.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(PATIENCE_SECONDS)
        place.close()
