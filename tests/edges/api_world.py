"""The HTTP API over a memory in this process, and a client that shows the token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.testclient import TestClient

from recollect.serve.http.access_policy import AccessPolicy
from recollect.serve.http.app import app
from recollect.serve.operations.catalogue import chosen

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

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
