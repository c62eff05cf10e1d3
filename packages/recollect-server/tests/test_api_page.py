"""The lines of docs/reference/api.md that ask the API print what the page shows."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from api_world import TOKEN, listening

if TYPE_CHECKING:
    from recollect.engine import Engine

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "api.md"


def test_the_curl_lines_of_the_page_print_what_it_shows(engine: Engine, tmp_path: Path) -> None:
    bash, curl = shutil.which("bash"), shutil.which("curl")
    if bash is None or curl is None:
        pytest.skip("The page's lines need bash and curl.")
    version = subprocess.run([curl, "--version"], capture_output=True, text=True, check=True).stdout
    if tuple(map(int, version.split()[1].split(".")[:2])) < (7, 84):
        pytest.skip("The page's lines need curl 7.84 or newer.")
    lines = "".join(
        re.findall(r"```console\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    ).splitlines()
    commands = [line.removeprefix("$ ") for line in lines if line.startswith("$ ") and "export" not in line]
    assert len(commands) > 10
    # `echo` ends each output with a newline, because answers end without one.
    script = "\n".join(f"{command}; echo" for command in commands)
    with listening(engine) as url:
        done = subprocess.run(
            [bash, "-c", script],
            cwd=tmp_path,
            env={"URL": url, "TOKEN": TOKEN, "PATH": "/usr/bin:/bin", "no_proxy": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    shown = [line for line in lines if not line.startswith("$ ")]
    printed = iter([line for line in done.stdout.splitlines() if line])
    for expected in shown:
        form = re.compile(".*".join(map(re.escape, expected.split("…"))))
        assert any(form.fullmatch(line) for line in printed), (expected, done.stdout)
