"""The container files: the image's command serves, and its health check fails after the server ends."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from conftest import PATIENCE_SECONDS
from locked import ROOT, core

from recollect.cli.main import cli

COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
PORT = "7438"
TOKEN = "open-sesame-please"  # noqa: S105  # of this test's own server


def instructions() -> list[tuple[str, str]]:
    """Return the Dockerfile's instructions, without comments and with continued lines joined."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = lines.replace("\\\n", " ")
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines()) if name]


def last(name: str) -> str:
    return [rest for each, rest in instructions() if each == name][-1]


def test_copied_files_exist_and_no_others_reach_the_build() -> None:
    ignore = (ROOT / ".dockerignore").read_text().split("\n")
    copied = {
        source
        for name, rest in instructions()
        if name == "COPY" and "--from" not in rest
        for source in rest.split()[:-1]
    }
    assert all((ROOT / source).exists() for source in copied)
    assert "*" in ignore
    assert {line.removeprefix("!") for line in ignore if line.startswith("!")} == copied


def test_the_image_is_pinned_by_version_and_does_not_run_as_root() -> None:
    assert re.fullmatch(r"PYTHON=3\.\d+-slim-\w+", last("ARG"))
    assert {rest.partition(" AS ")[0] for name, rest in instructions() if name == "FROM"} == {
        "python:${PYTHON}"
    }
    user = last("USER").partition(":")[0]
    assert user.isdigit()
    assert int(user) > 0
    order = [name for name, _ in instructions()]
    assert max(place for place, name in enumerate(order) if name == "RUN") < order.index("USER")
    assert last("VOLUME") == "/data"


def test_the_image_serves_and_its_health_check_fails_after_the_server_ends(
    tmp_path: Path,
) -> None:
    assert last("EXPOSE") == PORT
    command = [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))]
    assert command[0] == "recollect"
    (port,) = [each for each in cli.commands["serve"].params if each.name == "port"]
    assert str(port.default) == PORT
    secret = tmp_path / "secret"
    secret.write_text(TOKEN + "\n")
    variables = dict(word.split("=", 1) for word in shlex.split(last("ENV")))
    environment = {
        **{name: text.replace("/data", str(tmp_path)) for name, text in variables.items()},
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "RECOLLECT_TOKEN_FILE": str(secret),
        "RECOLLECT_MODEL": "none",
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "recollect.cli.main", *command[1:], "--port", "0"],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert server.stderr is not None
    try:
        line = server.stderr.readline()
        (listens_on,) = re.findall(r"at http://127\.0\.0\.1:(\d+)/mcp", line)
        assert str(tmp_path / "memory.db") in line
        assert TOKEN not in line + server.stderr.readline()
        assert is_healthy(listens_on)
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)
        server.stderr.close()
    assert not is_healthy(listens_on)


def is_healthy(port: str) -> bool:
    """Run the image's health check as Docker does."""
    check = json.loads(last("HEALTHCHECK").partition("CMD ")[2])
    assert check[0] == "python"
    command = [sys.executable, *(word.replace(PORT, port) for word in check[1:])]
    return subprocess.run(command, check=False, capture_output=True, timeout=PATIENCE_SECONDS).returncode == 0


def test_compose_starts_nothing_without_secrets_and_waits_for_the_database() -> None:
    used = re.findall(r"\$\{(\w+)(:?[-?])?", COMPOSE)
    assert {name for name, _ in used} == {
        *("POSTGRES_PASSWORD", "RECOLLECT_TOKEN", "RECOLLECT_ALLOW_HOSTS", "RECOLLECT_PORT")
    }
    assert {how for name, how in used if name in {"POSTGRES_PASSWORD", "RECOLLECT_TOKEN"}} == {":?"}
    assert "condition: service_healthy" in COMPOSE
    assert '- "127.0.0.1:' in COMPOSE
    assert f"image: recollect-memory:{core()['version']}\n" in COMPOSE
