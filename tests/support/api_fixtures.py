"""Fixtures of tests that ask the API."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from api_world import Api, served

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from recollect.engine import Engine


@pytest.fixture
def api(engine: Engine) -> Api:
    return served(engine)


@pytest.fixture
def rest(api: Api) -> TestClient:
    return api.client
