"""The MCP servers that are measured: how each is installed, started and asked."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

OFFICIAL = "@modelcontextprotocol/server-memory"
PEER, PEER_MODULE = "mseep-optimized-memory-mcp-server", "optimized_memory_mcp_server"


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is started; `{store}` stands for its file."""

    name: str
    command: tuple[str, ...]
    file: str
    recall: str  # the tool that a question goes to
    does: str
    env: dict[str, str] = field(default_factory=dict)
    store: Path = Path()

    def at(self, folder: Path) -> Server:
        return replace(self, store=folder / self.file)

    def started(self) -> StdioServerParameters:
        def put(word: str) -> str:
            return word.replace("{store}", str(self.store))

        program, *words = map(put, self.command)
        # A home of its own: settings and files of whoever runs this are not measured.
        env = {"HOME": str(self.store.parent)} | {name: put(value) for name, value in self.env.items()}
        if "PYTHONPATH" in os.environ:  # whose code is measured
            env["PYTHONPATH"] = os.environ["PYTHONPATH"]
        return StdioServerParameters(command=program, args=words, env=env, cwd=self.store.parent)


@asynccontextmanager
async def connected(server: Server) -> AsyncIterator[Client]:
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
        transport = stdio_client(server.started(), errlog=nowhere)
        async with Client(transport, mode="legacy", read_timeout_seconds=120) as client:
            yield client


def answer_of(result: Any) -> Any:
    """What the text says, as a client without schemas reads it. The peer reports errors in plain words."""
    text = result.content[0].text
    if result.is_error:
        raise ValueError(text)
    if result.structured_content is not None and "hits" in result.structured_content:
        return result.structured_content
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise ValueError(text) from None


# The servers


def ours(model: str | None) -> Server:
    program = str(Path(sys.executable).parent / "recollect")
    words = () if model is None else ("--model", model)
    return Server(
        f"recollect {model}" if model else "recollect",
        (program, "serve", "--store", "{store}", *words),
        "memory.db",
        "recall",
        f"words and meaning ({model or 'the default model'}), embeds what it writes, every write on the disk",
    )


def bare() -> Server:
    return Server(
        "bare",
        (sys.executable, str(Path(__file__).parent / "bare_server.py")),
        "memory.db",
        "recall",
        "nothing: the same SDK with one tool that answers at once",
    )


def official(index: str | None, folder: Path) -> tuple[Server | None, str]:
    """The server, and its version or why it is missing."""
    if shutil.which("node") is None:
        return None, "skipped: node is not installed"
    if index is None:
        done = _tried("npm", "install", "--silent", "--no-audit", "--prefix", str(folder), OFFICIAL)
        if done:
            return None, f"skipped: npm install failed: {done}"
        index = str(folder / "node_modules" / OFFICIAL / "dist" / "index.js")
    package = Path(index).parent.parent / "package.json"
    version = json.loads(package.read_text(encoding="utf-8"))["version"] if package.exists() else "unknown"
    node = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return Server(
        "official",
        ("node", str(Path(index).resolve())),
        "memory.jsonl",
        "search_nodes",
        "substrings, reads the whole file at every call and writes all of it, left to the system's cache",
        {"MEMORY_FILE_PATH": "{store}"},
    ), f"{version} on node {node}"


def peer(command: str | None, folder: Path) -> tuple[Server | None, str]:
    if command is None:
        python = str(folder / "bin" / "python")
        done = _tried(sys.executable, "-m", "venv", str(folder)) or _tried(
            python, "-m", "pip", "install", "--quiet", PEER, "mcp<2"
        )
        if done:
            return None, f"skipped: pip install {PEER} failed: {done}"
        command = f"{shlex.quote(python)} -m {PEER_MODULE} --database-url sqlite://{{store}}"
    words = shlex.split(command)
    asked_of = (
        f"from importlib.metadata import version as v; print('{PEER}', v('{PEER}'), 'on mcp', v('mcp'))"
    )
    said = subprocess.run([words[0], "-c", asked_of], capture_output=True, text=True, check=False)
    return Server(
        "python peer",
        tuple(words),
        "memory.db",
        "search_nodes",
        "substrings in SQLite; commits are left to the system's cache; 100 calls a minute",
    ), said.stdout.strip() or command


def _tried(*command: str) -> str:
    """What went wrong; nothing where all is well."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip() or "no reason was given")[-200:]
