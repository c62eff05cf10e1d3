"""The programs under test: `recollect` as a command, and as a server over standard input or HTTP."""

from __future__ import annotations

import json
import os
import selectors
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

PATIENCE_SECONDS = 120.0
"""A program that does not answer within this time counts as hung."""
TOKEN = "a-token-of-the-tortures-own"  # noqa: S105
RECOLLECT = (sys.executable, "-m", "recollect.cli.main")
_HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "torture", "version": "1"},
}


class ServerGone(Exception):
    """The server ended, or was killed, before it answered."""


class Talk(Protocol):
    """A connection to a server, with one call at a time."""

    process: subprocess.Popen[bytes]

    def begin(self, tool: str, arguments: dict[str, Any]) -> None: ...
    def end(self) -> dict[str, Any]: ...


def environment(store: Path) -> dict[str, str]:
    """Return the environment with this store, and with settings and a model for these tests."""
    settings = store.with_name("config.toml")
    settings.touch()
    return {
        **os.environ,
        "RECOLLECT_STORE": str(store),
        "RECOLLECT_CONFIG": str(settings),
        "RECOLLECT_MODEL": "hashing",
        "RECOLLECT_TIME_ZONE": "UTC",
    }


@contextmanager
def talking(way: str, store: Path) -> Iterator[Talk]:
    """Start a server over `stdio` or `http` with every tool and a log. It ends with the block."""
    with store.with_name("server.log").open("ab") as log:
        talk = _Stdio(store, log) if way == "stdio" else _Http(store, log)
        try:
            talk.greet()
            yield talk
        finally:
            talk.close()


def called(talk: Talk, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    talk.begin(tool, arguments)
    return talk.end()


class _Stdio:
    def __init__(self, store: Path, log: Any) -> None:
        self.process = subprocess.Popen(
            [*RECOLLECT, "serve", "--tools", "all"],
            env=environment(store),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)
        self._read = b""
        self._number = 0

    def greet(self) -> None:
        self._send("initialize", _HELLO)
        self.end()
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def begin(self, tool: str, arguments: dict[str, Any]) -> None:
        self._send("tools/call", {"name": tool, "arguments": arguments})

    def end(self) -> dict[str, Any]:
        until = monotonic() + PATIENCE_SECONDS
        while True:
            message = json.loads(self._line(until))
            if message.get("id") == self._number and "method" not in message:
                return _result(message)

    def close(self) -> None:
        self._selector.close()
        try:
            self._in.close()  # a client ends a session by closing the server's input
            self.process.wait(PATIENCE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self._out.close()

    def _send(self, method: str, params: dict[str, Any]) -> None:
        self._number += 1
        self._write({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})

    def _write(self, message: dict[str, Any]) -> None:
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except OSError as error:
            raise ServerGone from error

    def _line(self, until: float) -> bytes:
        while b"\n" not in self._read:
            if not self._selector.select(max(0.0, until - monotonic())):
                raise TimeoutError
            more = os.read(self._out.fileno(), 1 << 16)
            if not more:
                raise ServerGone
            self._read += more
        line, _, self._read = self._read.partition(b"\n")
        return line


class _Http:
    def __init__(self, store: Path, log: Any) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port: int = probe.getsockname()[1]
        self.process = subprocess.Popen(
            [*RECOLLECT, "serve", "--http", "--port", str(self._port), "--token", TOKEN, "--tools", "all"],
            env=environment(store),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        self._connection = HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE_SECONDS)
        self._session: dict[str, str] = {}

    def greet(self) -> None:
        self._await_port()
        self._post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO})
        self.end()
        self._post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self._connection.getresponse().read()

    def begin(self, tool: str, arguments: dict[str, Any]) -> None:
        call = {"name": tool, "arguments": arguments}
        self._post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})

    def end(self) -> dict[str, Any]:
        try:
            response = self._connection.getresponse()
            body = response.read()
        except TimeoutError:
            raise
        except (OSError, HTTPException) as error:
            raise ServerGone from error
        session = response.getheader("mcp-session-id")
        if session:
            self._session = {"Mcp-Session-Id": session}
        if response.getheader("content-type", "").startswith("text/event-stream"):
            events = [line.removeprefix(b"data:") for line in body.splitlines() if line.startswith(b"data:")]
            messages = [json.loads(event) for event in events if event.strip()]
            answers = [each for each in messages if "method" not in each]
            if not answers:  # the stream broke off
                raise ServerGone
            return _result(answers[-1])
        return _result(json.loads(body))

    def close(self) -> None:
        self._connection.close()
        self.process.terminate()
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _post(self, message: dict[str, Any]) -> None:
        shown = {
            "Authorization": f"Bearer {TOKEN}",
            "Accept": "application/json, text/event-stream",
            "Content-Type": "application/json",
            **self._session,
        }
        try:
            self._connection.request("POST", "/mcp", json.dumps(message).encode(), shown)
        except OSError as error:
            raise ServerGone from error

    def _await_port(self) -> None:
        until = monotonic() + PATIENCE_SECONDS
        while monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            try:
                self.process.wait(0.05)
            except subprocess.TimeoutExpired:
                continue
            raise ServerGone
        raise TimeoutError


def _result(message: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a call. A protocol error looks like an error of the tool."""
    if "result" in message:
        result: dict[str, Any] = message["result"]
        return result
    error = message.get("error", message)
    return {"isError": True, "content": [{"type": "text", "text": str(error.get("message", error))}]}


def text_of(result: dict[str, Any]) -> str:
    return "\n".join(part["text"] for part in result.get("content", ()) if part.get("type") == "text")
