"""The HTTP API over a memory in this process, and a client that shows the token."""

from __future__ import annotations

import re
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import uvicorn
from conftest import PATIENCE_SECONDS
from starlette.testclient import TestClient

from recollect.operations.catalogue import tools_named
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from command_line import CommandLine

    from recollect.engine import Engine

TOKEN = "open-sesame-please"  # noqa: S105  # of the tests' own servers
HEADERS = {"Authorization": f"Bearer {TOKEN}"}
ACCEPTED = {"Accept": "application/json, text/event-stream"}
CLIENT = {"name": "test", "version": "0"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": CLIENT},
}


@dataclass(frozen=True)
class Api:
    """A served memory."""

    memory: Engine
    application: Any
    client: TestClient


def served(memory: Engine) -> Api:
    policy = AccessPolicy("127.0.0.1", 0, TOKEN, ("testserver",))
    application = app(lambda: memory, tools_named("all"), policy)
    client = TestClient(application, headers=HEADERS, raise_server_exceptions=True)
    return Api(memory, application, client)


@contextmanager
def running(asgi: Any, **options: Any) -> Iterator[int]:
    """The port of a server in this process, for programs that need a socket."""
    options = {"log_level": "warning", "ws": "none", **options}
    with socket.create_server(("127.0.0.1", 0)) as place:
        server = uvicorn.Server(uvicorn.Config(asgi, **options))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        try:
            yield place.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(PATIENCE_SECONDS)


@contextmanager
def running_program(
    recollect: CommandLine, wanted: str, *typed: str, **variables: str
) -> Iterator[tuple[subprocess.Popen[bytes], re.Match[str]]]:
    """A program, and what it said that it should."""
    log = recollect.store.with_name("said")
    with log.open("wb") as errors:
        process = subprocess.Popen(
            [*recollect.program, *typed], env=recollect.variables(**variables), stdout=errors, stderr=errors
        )
    try:
        found = None
        while found is None and process.poll() is None:
            found = re.search(wanted + r"\n", log.read_text(encoding="utf-8"))
            time.sleep(0.05)
        assert found is not None, log.read_text(encoding="utf-8")
        yield process, found
    finally:
        process.terminate()
        process.wait(PATIENCE_SECONDS)


@contextmanager
def listening(engine: Engine) -> Iterator[str]:
    """The URL of a served memory."""
    with running(served(engine).application) as port:
        yield f"http://127.0.0.1:{port}"
