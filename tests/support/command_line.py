"""The command line with a memory of its own in a temporary folder.

A plugin of the tests beside it, rather than a conftest.py, whose name mypy would meet twice.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from click import unstyle
from click.testing import CliRunner
from hand_weights import MATCHED_FUSION

from recollect.cli.main import cli
from recollect.ranking.profiles import DEFAULT, PROFILES

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result


@dataclass(frozen=True)
class CommandLine:
    """`recollect`, as it is typed; the store, the settings and the model are this test's own."""

    store: Path
    environment: dict[str, str | None]

    program = (sys.executable, "-m", "recollect.cli.main")

    def __call__(self, *typed: str, status: int = 0, given: str | bytes | None = None, **set_: str) -> Result:
        """Run in this process, and expect the exit status."""
        result = CliRunner().invoke(cli, typed, input=given, env={**self.environment, **set_})
        assert result.exit_code == status, f"{result.exit_code}: {result.output}{result.exception!r}"
        return result

    def json(self, *typed: str, status: int = 0, given: str | bytes | None = None, **set_: str) -> Any:
        return json.loads(self(*typed, "--json", status=status, given=given, **set_).stdout)

    def rows(
        self, *typed: str, status: int = 0, given: str | bytes | None = None, **set_: str
    ) -> list[list[str]]:
        """The cells of each line, which two spaces or more separate."""
        lines = unstyle(self(*typed, status=status, given=given, **set_).stdout).splitlines()
        return [re.split(r" {2,}", line.strip()) for line in lines]

    def refused(self, *typed: str, status: int, given: str | bytes | None = None, **set_: str) -> str:
        """The one line on standard error that says why."""
        result = self(*typed, status=status, given=given, **set_)
        assert result.stdout == ""
        assert result.stderr.startswith("recollect: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    def process(self, *typed: str, **set_: str) -> subprocess.CompletedProcess[bytes]:
        """Run as a program of its own, with its output in pipes."""
        return subprocess.run(
            [*self.program, *typed], env=self.variables(**set_), capture_output=True, check=False
        )

    def in_terminal(self, *typed: str, keys: str = "", status: int = 0, **set_: str) -> str:
        """Run a process in a terminal, press these keys, and return what it writes."""
        ours, theirs = pty.openpty()
        variables = self.variables(**{"TERM": "xterm-256color", **set_})
        with subprocess.Popen(
            [*self.program, *typed], env=variables, stdin=theirs, stdout=theirs, stderr=theirs
        ) as program:
            os.close(theirs)
            os.write(ours, keys.encode())
            shown = b""
            with suppress(OSError):  # how Linux says that the other side has closed
                while piece := os.read(ours, 65_536):
                    shown += piece
        os.close(ours)
        assert program.returncode == status, shown
        return shown.decode(errors="replace")

    def variables(self, **set_: str) -> dict[str, str]:
        mixed = {**os.environ, **self.environment, **set_}
        return {name: value for name, value in mixed.items() if value is not None}


@pytest.fixture
def recollect(tmp_path: Path) -> CommandLine:
    settings = tmp_path / "config.toml"
    settings.touch()
    store = tmp_path / "memory.db"
    environment: dict[str, str | None] = {
        "RECOLLECT_STORE": str(store),
        "RECOLLECT_CONFIG": str(settings),
        "RECOLLECT_MODEL": "hashing",
        "RECOLLECT_OWNER": None,
        "RECOLLECT_AGENT": None,
        "RECOLLECT_TIME_ZONE": "UTC",
        "NO_COLOR": None,
        "FORCE_COLOR": None,
        "COLUMNS": "300",
    }
    return CommandLine(store, environment)


@pytest.fixture
def matched_fusion(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands in this process rank with 0.6 for meaning, 0.4 for words and 0.4 for the matched share."""
    monkeypatch.setitem(PROFILES, DEFAULT, MATCHED_FUSION)


@pytest.fixture
def harbour(recollect: CommandLine) -> CommandLine:
    """A memory that knows two people and a project."""
    recollect(
        "add", "Marisol Vega", "-t", "person", "-o", "Drinks oolong after lunch", "-o", "Sails on Sundays"
    )
    recollect("add", "Jun Watanabe", "-t", "person", "-o", "週末は灯台まで歩く")
    recollect("add", "Tidebook", "-t", "project", "-o", "Says when it is safe to cross")
    recollect("relate", "Marisol Vega", "leads", "Tidebook")
    return recollect
