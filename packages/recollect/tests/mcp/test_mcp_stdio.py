"""Standard input and output as a client sees them: protocol only, in UTF-8, an answer to every request."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, Self

import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok, texts_of
from slow_model import slow_model

from recollect.search.recall import WAITING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from command_line import CommandLine
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
HARD = "週末は灯台まで歩く — Zoë’s 🐞 <b>&amp;</b>\n\u2028\u202e"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}

TOOLS = {"jsonrpc": "2.0", "id": 99, "method": "tools/list"}


def called(id_: int, tool: str, **given: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": tool, "arguments": given}}


class Talk:
    """A server, spoken to line by line. Every line of its output must be protocol, or reading it fails."""

    def __init__(self, recollect: CommandLine, program: Sequence[str] | None = None, **set_: str) -> None:
        self._process = subprocess.Popen(
            [*(program or recollect.program), "serve"],
            env=recollect.variables(**set_),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        pipes: Any = self._process
        self._in, self._out, self._err = pipes.stdin, pipes.stdout, pipes.stderr
        self.errors = ""

    def __enter__(self) -> Self:
        self.answers(HELLO)
        return self

    def __exit__(self, *what: object) -> None:
        """It ends when we go, in good order, and says nothing more."""
        rest, errors = self._process.communicate(timeout=PATIENCE_SECONDS)
        self.errors = errors.decode()
        assert rest == b""
        assert self._process.returncode == 0

    def answers(self, *messages: dict[str, Any] | bytes) -> list[dict[str, Any]]:
        """To messages sent all at once, the answers in the order of the requests."""
        lines = [each if isinstance(each, bytes) else json.dumps(each).encode() for each in messages]
        self._send(*lines)
        awaited = [id_ for line in lines for id_ in _ids(line)]
        found: dict[int, dict[str, Any]] = {}
        while len(found) < len(awaited):
            answer = json.loads(self._out.readline())
            assert answer["jsonrpc"] == "2.0"
            found[answer["id"]] = answer
        return [found[id_] for id_ in awaited]

    def _send(self, *lines: bytes) -> None:
        self._in.write(b"".join(line + b"\n" for line in lines))
        self._in.flush()

    def complaint(self) -> str:
        """The next line on standard error, once there is one."""
        return str(self._err.readline(), "utf-8")

    def ask(self, message: dict[str, Any], *, look_away: bool = False) -> None:
        """Send a message without waiting for the answer. `look_away` closes our end of its output first."""
        if look_away:
            self._out.close()
        self._send(json.dumps(message).encode())

    def interrupt(self) -> tuple[int, str]:
        """Send SIGINT while the connection is open. Return the exit status and standard error."""
        self._process.send_signal(signal.SIGINT)
        status = self._process.wait(PATIENCE_SECONDS)
        errors: str = self._err.read().decode()
        for stream in (self._in, self._out, self._err):
            stream.close()
        return status, errors

    def go(self) -> str:
        """Disconnect, wait until the server ends, and return its standard error."""
        self._in.close()
        errors: str = self._err.read().decode()
        self._err.close()
        assert self._process.wait(PATIENCE_SECONDS) == 0
        return errors


def _ids(line: bytes) -> list[int]:
    """Return the ids of the requests on a line: one, or those of a batch."""
    if b'"id"' not in line:
        return []
    said = json.loads(line)
    return [each["id"] for each in (said if isinstance(said, list) else [said])]


@pytest.mark.anyio
@pytest.mark.parametrize(
    "locale",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"LC_ALL": "C", "PYTHONIOENCODING": "latin-1"},
    ],
    ids=["C", "latin-1"],
)
async def test_text_survives_whatever_the_locale(served: Served, locale: dict[str, str]) -> None:
    async with served.stdio(set_=locale) as client:
        id_ = (await call_tool_ok(client, "remember", text=HARD))["id"]
        entity = {"name": "灯台 Zoë", "entityType": "場所", "observations": [HARD]}
        await call_tool_ok(client, "create_entities", entities=[entity])
        assert (await call_tool_ok(client, "recall", query="灯台", kinds=["note"]))["hits"][0]["text"] == HARD
        assert (await call_tool_ok(client, "read_graph"))["entities"] == [entity]
        assert "週末は灯台まで歩く" in texts_of(await client.call_tool("read_graph", {}))[0]
    assert served.recollect.json("history", str(id_))


def test_every_request_gets_an_answer_even_one_that_cannot_be_read(recollect: CommandLine) -> None:
    # JSON.stringify writes half of an emoji, where a text was cut inside it, as an escape.
    half = json.dumps(called(3, "remember", text="half \ud83d")).encode()
    batch = [called(8, "remember", text="Ship 8 left"), {"jsonrpc": "2.0", "id": 9, "method": "tools/list"}]
    with Talk(recollect) as talk:
        batched = talk.answers(json.dumps(batch).encode())
        *wrong, right = talk.answers(
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            b"this is no message",
            half,
            b'{"jsonrpc": "2.0", "id": 4, "method": "no/such/method"}',
            {**called(5, "recall"), "params": {"name": "recall", "arguments": [1]}},
            b'{"id": 6, "method": "ping"}',
            called(7, "remember", text="The server is still there"),
        )
    assert [answer["error"]["code"] for answer in wrong] == [-32700, -32601, -32602, -32700]
    assert wrong[0]["error"]["message"].startswith("The message cannot be read: Invalid JSON")
    assert right["result"]["structuredContent"]["created"] is True
    assert talk.errors == "Skipped a line that is not a valid message.\n"
    assert [answer["error"]["code"] for answer in batched] == [-32600, -32600]
    assert recollect.json("stats")["notes"] == 1


STOPPED = "\nrecollect: Stopped. Finished work is kept.\n"


def test_an_interrupted_server_ends_though_its_client_stays_and_says_nothing(recollect: CommandLine) -> None:
    talk = Talk(recollect)
    talk.answers(HELLO)
    assert talk.interrupt() == (130, STOPPED)


def test_an_interrupted_server_finishes_what_it_writes_and_leaves_the_vectors_for_later(
    recollect: CommandLine,
) -> None:
    rows = [{"name": f"Buoy {n}", "entityType": "buoy", "observations": ["rings"]} for n in range(400)]
    with slow_model() as model:
        talk = Talk(recollect, **model.settings())
        talk.answers(HELLO)
        talk.ask(called(2, "create_entities", entities=rows))
        assert model.begun.wait(PATIENCE_SECONDS)
        status, errors = talk.interrupt()
    assert status == 130
    assert errors.endswith(STOPPED)
    assert "Traceback" not in errors
    assert model.read < 512
    assert recollect.json("stats")["entities"] == 400


def test_ctrl_c_in_a_terminal_ends_the_server(recollect: CommandLine) -> None:
    ours, its = pytest.importorskip("pty").openpty()
    # Ctrl-C goes to the programs whose terminal it is, so it must be this one's.
    terminal = (
        "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", terminal, *recollect.program, "serve"],
        env=recollect.variables(),
        stdin=its,
        stdout=its,
        stderr=its,
        start_new_session=True,
    )
    os.close(its)
    shown = b""
    os.write(ours, json.dumps(HELLO).encode() + b"\n")
    while b"serverInfo" not in shown:
        shown += os.read(ours, 1024)
    os.write(ours, b"\x03")
    assert process.wait(PATIENCE_SECONDS) == 130
    os.close(ours)


# A server that gives its client all the time in the world before it opens the memory unasked.
PATIENT = f"""
from unittest.mock import patch
from recollect.cli.main import main
with (
    patch("recollect.mcp.stdio._LONGEST_WAIT_SECONDS", {PATIENCE_SECONDS}),
    patch("recollect.mcp.server._LISTED_DELAY_SECONDS", {PATIENCE_SECONDS}),
):
    main()
"""


def test_a_client_that_leaves_at_once_has_no_memory_opened_for_it(recollect: CommandLine) -> None:
    with Talk(recollect, (sys.executable, "-c", PATIENT)) as talk:
        talk.answers(TOOLS)
    assert not recollect.store.exists()


def test_calls_sent_together_before_the_client_leaves_are_all_done(recollect: CommandLine) -> None:
    with Talk(recollect) as talk:
        answers = talk.answers(*(called(n, "remember", text=f"Ship {n} left") for n in range(2, 22)))
    assert not any(answer["result"]["isError"] for answer in answers)
    # A server whose client has left may leave vectors for later, and says so.
    assert talk.errors in {"", f"recollect: {WAITING}\n"}
    assert recollect.json("stats")["notes"] == 20


def test_what_keeps_a_server_from_starting_is_told_on_standard_error_only(recollect: CommandLine) -> None:
    told = recollect.refused("serve", "--tools", "everything", status=1)
    assert "No tool named 'everything'; there are the sets recall-only, default, all" in told
    assert not recollect.store.exists()
    recollect.store.write_bytes(b"a letter to a friend, and no database at all" * 100)
    ended = recollect.process("serve")
    assert (ended.returncode, ended.stdout) == (3, b"")
    assert ended.stderr.startswith(b"recollect: ")
    config = recollect.environment["RECOLLECT_CONFIG"]
    assert config is not None
    with open(config, "w", encoding="utf-8") as file:  # noqa: PTH123  # a path as the environment holds it
        file.write("tools = [")
    assert recollect.refused("serve", status=1)


def test_a_missing_model_is_told_on_standard_error_and_words_still_find(recollect: CommandLine) -> None:
    set_ = {"RECOLLECT_MODEL": "fastembed:no/such-model"}
    recollect.process("remember", "Marisol drinks oolong", **set_)
    with Talk(recollect, **set_) as talk:
        (answer, _) = talk.answers(called(2, "recall", query="oolong"), TOOLS)
        complaint = talk.complaint()
    why = "fastembed:no/such-model needs the library 'fastembed'; run: pip install fastembed"
    assert complaint == f"recollect: Searched by words only: {why}\n"
    found = answer["result"]["structuredContent"]
    assert [hit["text"] for hit in found["hits"]] == ["Marisol drinks oolong"]
    assert found["note"] == f"Searched by words only: {why}"


def test_a_client_that_goes_without_its_answer_has_its_call_done_and_leaves_no_noise(
    recollect: CommandLine,
) -> None:
    talk = Talk(recollect)
    talk.answers(HELLO)
    talk.ask(called(2, "remember", text="Ship 2 left"), look_away=True)
    for _ in range(PATIENCE_SECONDS * 10):
        if recollect.store.exists() and recollect.json("stats")["notes"]:
            break
        time.sleep(0.1)
    assert talk.go() == ""
    assert recollect.json("stats")["notes"] == 1


def test_what_was_deleted_is_not_brought_in_again_by_the_next_start(served: Served) -> None:
    async def graph(client: Client) -> Any:
        return await call_tool_ok(client, "read_graph")

    async def delete(client: Client) -> None:
        assert [entity["name"] for entity in (await graph(client))["entities"]] == ["Imp"]
        await call_tool_ok(client, "delete_entities", entityNames=["Imp"])

    official = served.folder / "official.jsonl"
    official.write_text('{"type":"entity","name":"Imp","entityType":"sprite","observations":["is small"]}\n')
    options = ("--import", str(official))
    served.visit(delete, *options)
    assert served.visit(graph, *options)["entities"] == []


@pytest.mark.anyio
async def test_null_stands_for_an_argument_that_is_left_out(client: Client) -> None:
    await call_tool_ok(client, "remember", text="The kettle is red", category=None)
    assert (await call_tool_ok(client, "recall", query="kettle", limit=None))["hits"]
