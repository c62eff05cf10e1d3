"""The tutorials in docs/start: their programs and commands run in order, and print what the pages show."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from nodes import AS_SERVER_USER, free_port, programs

if TYPE_CHECKING:
    from collections.abc import Iterator

START = Path(__file__).parent.parent / "docs" / "start"
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DONE = "exit status of the last command:"


def blocks(name: str, *kinds: str) -> list[str]:
    page = (START / name).read_text(encoding="utf-8")
    return [text for kind, text in _BLOCK.findall(page) if kind in kinds]


def commands(block: str) -> Iterator[tuple[str, list[str]]]:
    """Each command of a console block, and the lines that the page shows below it."""
    for part in block.removeprefix("$ ").split("\n$ "):
        command, *shown = part.splitlines()
        yield command, shown


def normalised(text: str, home: Path) -> str:
    """Output without what differs from run to run: folders, dates, counts of rows, the width of columns."""
    text = _COLOUR.sub("", text).replace(str(Path(sys.executable).parent), "~/memory-env/bin")
    text = text.replace(str(home), "~")
    text = re.sub(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE", text)
    return " ".join(re.sub(r"\d+ (rows|tables)", r"N \1", text).split())


class Shell:
    """One bash for a whole page, on a terminal of 80 columns, in a home folder of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home
        keep, terminal = pty.openpty()
        self._screen = os.fdopen(keep, "rb", buffering=0)
        path = os.pathsep.join([str(home / "bin"), str(Path(sys.executable).parent), "/usr/bin", "/bin"])
        environ = {"HOME": str(home), "PATH": path, "COLUMNS": "80", "TERM": "xterm", "LC_ALL": "C.UTF-8"}
        self._bash = subprocess.Popen(
            ["/bin/bash"], cwd=home, env=environ, stdin=subprocess.PIPE, stdout=terminal, stderr=terminal
        )
        os.close(terminal)

    def run(self, command: str) -> str:
        assert self._bash.stdin is not None
        self._bash.stdin.write(f"{command}\necho '{_DONE}' $?\n".encode())
        self._bash.stdin.flush()
        screen = b""
        while not (done := re.search(rf"{_DONE} (\d+)".encode(), screen)):
            screen += self._screen.read(4096)
        text = screen[: done.start()].decode()
        assert done[1] == b"0", f"{command}\n{text}"
        return text

    def check(self, command: str, shown: list[str]) -> None:
        """Run a command; each line that the page shows below it must be in its output, in that order."""
        rest = normalised(self.run(command), self.home)
        for piece in filter(str.strip, "…".join(shown).split("…")):
            before, found, rest = rest.partition(normalised(piece, self.home))
            assert found, f"{command}\nThe page shows: {piece}\nIt printed: {before}"

    def close(self) -> None:
        assert self._bash.stdin is not None
        self._bash.stdin.close()
        with suppress(OSError):  # the other end of a terminal that is gone
            while self._screen.read(4096):
                pass
        self._bash.wait()
        self._screen.close()


@contextmanager
def shell() -> Iterator[Shell]:
    """In a short path: the name of a socket has at most 107 characters."""
    home = Path(mkdtemp(dir="/tmp"))
    opened = Shell(home)
    try:
        yield opened
    finally:
        opened.close()
        shutil.rmtree(home, ignore_errors=True)


def test_the_programs_of_the_python_tutorial_print_what_the_page_shows(tmp_path: Path) -> None:
    shown = iter(blocks("python-agent.md", "text"))
    for program in blocks("python-agent.md", "python"):
        name = program.splitlines()[0].removeprefix("# ")
        (tmp_path / name).write_text(program, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, name],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PYTHONUTF8": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert normalised(done.stdout, tmp_path) == normalised(next(shown), tmp_path)


def test_the_commands_of_the_tutorial_for_mcp_clients_print_what_the_page_shows() -> None:
    with shell() as opened:
        for block in blocks("mcp-client.md", "console"):
            for command, shown in commands(block):
                opened.check(command, shown)
                if command == "recollect mcp install claude-code":
                    anyio.run(_be_the_agent, opened.home)


async def _be_the_agent(home: Path) -> None:
    """Start the server as the client's settings say, and call what step 3 of the page says."""
    page = (START / "mcp-client.md").read_text(encoding="utf-8")
    (said,) = re.findall(r"> Remember that (.*)\.\n", page)
    (asked,) = re.findall(r"> (What should you know .*)\n", page)
    entry = json.loads((home / ".claude.json").read_text())["mcpServers"]["recollect"]
    server = StdioServerParameters(command=entry["command"], args=entry["args"], env={"HOME": str(home)})
    async with stdio_client(server) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.call_tool("remember", {"text": said})
        answer = await client.call_tool("recall", {"query": asked})
        assert said in str(answer.content)


@pytest.mark.slow
def test_the_commands_of_the_team_tutorial_print_what_the_page_shows() -> None:
    ports = {"5433": str(free_port()), "7438": str(free_port())}
    with shell() as opened:
        _put_postgres_programs(opened.home)
        opened.run("trap 'kill %1; pg_ctl --pgdata=server --mode=immediate stop' EXIT")
        for block in blocks("team-postgres.md", "console"):
            for written, shown in commands(block):
                command = re.sub("5433|7438", lambda port: ports[port[0]], written)
                if command == "recollect serve --http":
                    opened.run(f"{command} --port {ports['7438']} > served.log 2>&1 &")
                    _wait_until_ready(opened, ports["7438"])
                elif not command.startswith("PATH="):
                    opened.check(
                        command, [re.sub("5433|7438", lambda port: ports[port[0]], line) for line in shown]
                    )


def _put_postgres_programs(home: Path) -> None:
    """The programs of PostgreSQL, for a user that may run them: it refuses to run as root."""
    as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if AS_SERVER_USER else []
    home.chmod(0o777)
    (home / "bin").mkdir()
    for name in ("initdb", "pg_ctl", "psql"):
        program = programs() / name
        script = home / "bin" / name
        script.write_text(f'#!/bin/sh\nexec {shlex.join([*as_user, str(program)])} "$@"\n')
        script.chmod(0o755)


def _wait_until_ready(opened: Shell, port: str) -> None:
    """Wait for the server; the command fails if its process has ended."""
    while True:
        with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz"):
            return
        opened.run("kill -0 $! || (cat served.log; false)")
        sleep(0.05)
