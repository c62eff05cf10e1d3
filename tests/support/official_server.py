"""The official memory server, `@modelcontextprotocol/server-memory`, fetched once from npm into `.cache`."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from kept import cache_folder

PACKAGE = "@modelcontextprotocol/server-memory"
VERSION = "2026.8.31"


@pytest.fixture(scope="session")
def official_program() -> tuple[str, ...]:
    """The command that starts it; the test is skipped where Node or the registry is not to be had."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None:
        pytest.skip("The official server needs Node; install nodejs.")
    with cache_folder(f"official-server-{VERSION}") as folder:
        program = folder / "node_modules" / PACKAGE / "dist" / "index.js"
        if not program.exists():
            if npm is None:
                pytest.skip("The official server comes from npm; install npm.")
            quiet = ("--no-audit", "--no-fund")
            fetch = [npm, "install", *quiet, "--prefix", str(folder), f"{PACKAGE}@{VERSION}"]
            try:
                subprocess.run(fetch, check=True, capture_output=True, timeout=180)
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                pytest.skip(f"npm could not fetch {PACKAGE}@{VERSION}: {error}")
    return (node, str(program))
