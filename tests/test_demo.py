"""`make demo`: what it prints, and where."""

from __future__ import annotations

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

from click.testing import CliRunner

from recollect.cli.main import cli

ROOT = Path(__file__).parent.parent
DEMO = [sys.executable, str(ROOT / "examples" / "demo.py")]


def test_the_demo_prints_the_same_60_lines_in_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    mine = tmp_path / "mine.db"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "RECOLLECT_STORE": str(mine)}
    piped = subprocess.run(DEMO, env=environment, capture_output=True, text=True, check=False)
    assert piped.returncode == 0, piped.stderr
    assert len(piped.stdout.splitlines()) <= 60
    assert "\x1b" not in piped.stdout
    assert "1.0000" not in piped.stdout
    assert "Nothing here seems to answer that" in piped.stdout
    in_terminal = _run_in_terminal({**environment, "TERM": "xterm", "COLUMNS": "132"})
    assert "\x1b" in in_terminal
    assert re.sub(r"\x1b\[[\d;]*m", "", in_terminal) == piped.stdout
    assert not mine.exists(), "the demo touched the user's own memory"


def test_the_commands_that_the_demo_ends_with_exist() -> None:
    demo = (ROOT / "examples" / "demo.py").read_text(encoding="utf-8")
    commands = re.findall(r"^  \.venv/bin/recollect (.*)$", demo, re.MULTILINE)
    assert len(commands) > 3
    for command in commands:
        shown = CliRunner().invoke(cli, [*shlex.split(command, comments=True), "--help"])
        assert shown.exit_code == 0, command


def _run_in_terminal(environment: dict[str, str]) -> str:
    shown, terminal = pty.openpty()
    with subprocess.Popen(DEMO, env=environment, stdin=terminal, stdout=terminal, stderr=terminal) as program:
        os.close(terminal)
        output = b""
        while chunk := _read_terminal(shown):
            output += chunk
    os.close(shown)
    assert program.returncode == 0, output
    return output.decode().replace("\r\n", "\n")


def _read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux, when the program has ended
        return b""
