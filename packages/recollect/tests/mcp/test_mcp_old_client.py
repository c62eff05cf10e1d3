"""A client of the SDK's previous major version still works, over both transports."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import PATIENCE_SECONDS
from kept import cache_folder

from recollect.operations.catalogue import SETS

if TYPE_CHECKING:
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
OLD = "mcp>=1.20,<2"
GRAPH = "memory://knowledge-graph"
# Runs a script that finds packages in a folder first. The server that it starts must not find them there.
WITH = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); del sys.argv[0]; "
    "runpy.run_path(sys.argv[0], run_name='__main__')"
)
ADA = {"name": "Ada", "entityType": "person", "observations": ["sails", "週末は灯台まで歩く"]}


@pytest.fixture(scope="session")
def old_sdk() -> Path:
    """A folder with the old SDK and what it needs, to be found before the new one; kept in `.cache`."""
    # Apart for each Python, since CI runs them all in one checkout.
    with cache_folder(f"mcp-1-for-python-{sys.version_info.major}.{sys.version_info.minor}") as folder:
        ready = folder / ".ready"
        if not ready.exists():
            uv = Path(sys.executable).with_name("uv")
            pip = [str(uv), "pip"] if uv.exists() else [sys.executable, "-m", "pip"]
            install = [*pip, "install", "--quiet", "--target", str(folder), OLD]
            try:
                subprocess.run(install, check=True, capture_output=True, timeout=300)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"pip could not fetch {OLD}: {error}")
            ready.touch()
    return folder


def run_old_client(sdk: Path, *where: str, env: dict[str, str]) -> dict[str, Any]:
    client = Path(__file__).parents[4] / "tests/support/old_client.py"
    ran = subprocess.run(
        [sys.executable, "-c", WITH, str(sdk), str(client), *where],
        env=env,
        capture_output=True,
        timeout=2 * PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode()
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_of_the_previous_major_version_still_works(
    served: Served, old_sdk: Path, transport: str
) -> None:
    if transport == "stdio":
        program = (*served.recollect.program, "serve")
        found = run_old_client(old_sdk, "stdio", *program, env=served.recollect.variables())
    else:
        with served.http() as door:
            found = run_old_client(old_sdk, "http", door.url, door.token, env=dict(os.environ))
    assert found["sdk"].startswith("1.")
    assert found["initialize"]["protocolVersion"] == "2025-11-25"
    assert found["initialize"]["serverInfo"]["name"] == "recollect"
    assert found["initialize"]["instructions"]
    assert [tool["name"] for tool in found["tools"]["tools"]] == list(SETS["default"])
    assert [resource["uri"] for resource in found["resources"]["resources"]] == [GRAPH]
    assert found["created"]["structuredContent"] == {"entities": [ADA]}
    assert found["wrong"]["isError"] is True
    assert found["recalled"]["structuredContent"]["hits"][0]["name"] == "Ada"
    assert json.loads(found["graph"]["contents"][0]["text"]) == {"entities": [ADA], "relations": []}
    assert "sails" in found["prompt"]["messages"][0]["content"]["text"]
    assert [(each["method"], each["params"]["uri"]) for each in found["heard"]] == [
        ("notifications/resources/updated", GRAPH)
    ]
