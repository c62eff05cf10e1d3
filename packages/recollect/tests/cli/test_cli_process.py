"""The program as the shell sees it: pipes, terminals, locales, signals."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
import time
from array import array
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import pytest
from click import unstyle
from conftest import PATIENCE_SECONDS
from mcp_world import texts_of
from slow_model import slow_model

if TYPE_CHECKING:
    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]

LOOKING = [
    ["search", "oolong"],
    ["recall", "oolong", "--explain"],
    ["why-not", "oolong", "Tidebook"],
    ["profile", "list"],
    ["profile", "show", "limbic"],
    ["profile", "diff", "limbic", "recollect"],
    ["show", "Marisol Vega"],
    ["history", "Marisol Vega"],
    ["graph"],
    ["stats"],
    ["doctor"],
    ["settings"],
    ["models"],
]


@pytest.mark.parametrize("typed", LOOKING)
def test_a_pipe_gets_what_a_terminal_gets_but_no_colour(harbour: CommandLine, typed: list[str]) -> None:
    plain = harbour(*typed, COLUMNS="80")
    assert plain.stdout.strip()
    assert "\t" not in plain.stdout
    assert "\x1b" not in plain.stdout
    assert plain.stderr == ""
    for forced in (
        harbour(*typed, COLUMNS="80", FORCE_COLOR="1"),
        harbour(*typed, "--color", COLUMNS="80", NO_COLOR="1"),
    ):
        assert "\x1b[" in forced.stdout
        assert unstyle(forced.stdout) == plain.stdout
    assert harbour(*typed, COLUMNS="80", FORCE_COLOR="1", NO_COLOR="1").stdout == plain.stdout


def test_a_mistake_is_one_line_in_a_pipe(harbour: CommandLine) -> None:
    result = harbour.process("observe", "Nobody", "is here")
    assert result.returncode == 1
    assert result.stderr.decode().startswith("recollect: There is no entity named 'Nobody'")
    assert result.stderr.count(b"\n") == 1


def test_a_terminal_gets_colours_and_errors_that_wrap_at_words(harbour: CommandLine) -> None:
    assert "\x1b[1;36mMarisol Vega\x1b[0m" in harbour.in_terminal("show", "Marisol Vega")
    assert "\x1b[" not in harbour.in_terminal("show", "Marisol Vega", NO_COLOR="1")
    assert "\x1b[" not in harbour.in_terminal("show", "Marisol Vega", TERM="dumb")
    said = harbour.in_terminal("show", "Nobody at all of that name", status=1, COLUMNS="40")
    assert said.splitlines() == [
        "recollect: There is no entity named",
        "'Nobody at all of that name'. To list",
        "names: recollect graph",
    ]


LOCALES = [
    {"LC_ALL": "C"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
]


@pytest.mark.parametrize("locale", LOCALES)
def test_any_locale_speaks_utf8(harbour: CommandLine, locale: dict[str, str]) -> None:
    written = harbour.process("add", "Café Faro", "-o", "灯台の近く", **locale)
    assert written.returncode == 0, written.stderr
    assert "Café Faro" in written.stdout.decode("utf-8")
    (entity,) = harbour.json("show", "Café Faro")["entities"]
    assert entity["observations"][0]["content"] == "灯台の近く"


def test_a_reader_that_leaves_early_gets_no_complaint(recollect: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "m.jsonl"
    row = {"type": "entity", "entityType": "thing", "observations": ["x" * 1000]}
    file.write_text("".join(json.dumps({**row, "name": f"n{number}"}) + "\n" for number in range(900)))
    recollect("import", str(file), RECOLLECT_MODEL="none")
    command = [*recollect.program, "graph", "--limit", "900"]
    with subprocess.Popen(
        command, env=recollect.variables(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as program:
        assert program.stdout is not None
        assert program.stderr is not None
        assert program.stdout.readline().startswith(b" ID  Entity")
        program.stdout.close()
        complaint = program.stderr.read()
    assert complaint == b""
    assert program.returncode == 141


def test_ctrl_c_ends_with_one_line(recollect: CommandLine) -> None:
    # An import that waits for more input, which never comes.
    command = [*recollect.program, "import", "-"]
    with subprocess.Popen(
        command,
        env=recollect.variables(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as program:
        assert program.stderr is not None
        assert program.stdin is not None
        program.stdin.write(b"\n")
        program.stdin.flush()
        _until_it_waits_for_more(program)
        program.send_signal(signal.SIGINT)
        said = program.stderr.read().decode().strip()
        program.stdin.close()
    assert program.returncode == 130
    assert said == (
        "recollect: Stopped. Imported records are kept. Run the same command again to continue: "
        "it skips what is stored."
    )


def test_the_quick_start_runs(recollect: CommandLine, pytestconfig: pytest.Config) -> None:
    command = [sys.executable, str(pytestconfig.rootpath / "examples" / "quickstart.py")]
    result = subprocess.run(command, env=recollect.variables(), capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert not recollect.store.exists(), "an example touched the user's own memory"
    assert "back again: Engine" in result.stdout


def _until_it_waits_for_more(program: subprocess.Popen[bytes]) -> None:
    """Python acts on a signal that comes just before it begins to wait only once it has waited."""
    assert program.stdin is not None
    status = Path(f"/proc/{program.pid}/stat")
    while _unread(program.stdin.fileno()) or (status.exists() and ") S " not in status.read_text()):
        assert program.poll() is None
        time.sleep(0.01)
    if not status.exists():  # a system that does not say what a process does
        time.sleep(1)


def _unread(pipe: int) -> int:
    held = array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, held)
    return held[0]


def test_an_answer_does_not_wait_to_be_noted(harbour: CommandLine) -> None:
    # Another program holds the file for longer than any patience; the answer must come all the same.
    other = apsw.Connection(str(harbour.store))
    other.execute("BEGIN IMMEDIATE")
    variables = harbour.variables(RECOLLECT_BUSY_SECONDS="600", PYTHONUNBUFFERED="1")
    process = subprocess.Popen(
        [*harbour.program, "recall", "oolong", "-n", "1"], env=variables, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE_SECONDS)
        assert ready, "the answer waited for its note"
        other.execute("ROLLBACK")
        shown, _ = process.communicate(timeout=PATIENCE_SECONDS)
        assert b"Marisol Vega" in shown
        assert process.returncode == 0
    finally:
        process.kill()
        other.close()


# Clears a screen in two ways, turns what follows around, and whispers to a model.
EVIL = "kettle \x1b[2J\x9b2J\u202eback\U000e0041"
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\U000e0000-\U000e007f]")


@pytest.mark.anyio
async def test_no_text_over_mcp_holds_a_control_character(served: Served) -> None:
    async with served.inside("all") as client:
        entity = {"name": EVIL, "entityType": EVIL, "observations": [EVIL]}
        calls: list[tuple[str, dict[str, Any]]] = [
            ("create_entities", {"entities": [entity]}),
            ("remember", {"text": EVIL, "source": EVIL, "tags": [EVIL]}),
            ("add_messages", {"session": EVIL, "messages": [{"content": EVIL, "speaker": EVIL}]}),
            ("recall", {"query": EVIL}),
            ("context", {"query": EVIL, "session": EVIL}),
            ("read_graph", {}),
            ("search_nodes", {"query": "kettle"}),
            ("search_semantic", {"query": "kettle"}),
            ("history", {"id": 1}),
            ("why_not", {"query": "tea", "name": EVIL}),
            ("open_nodes", {"names": [f"{EVIL} {EVIL}"]}),
            ("set_status", {"entityName": f"no {EVIL}", "status": "paused"}),  # refused: the error names it
        ]
        for tool, given in calls:
            result = await client.call_tool(tool, given)
            assert not HIDDEN.search("".join(texts_of(result))), tool
        graph = await client.call_tool("read_graph", {})
        assert json.loads(texts_of(graph)[0])["entities"] == [entity]
        read = (await client.read_resource("memory://knowledge-graph")).contents[0]
        assert not HIDDEN.search(read.text)  # type: ignore[union-attr]  # it is text
        told = (await client.get_prompt("recall", {"topic": EVIL})).messages[0].content
        assert not HIDDEN.search(told.text)  # type: ignore[union-attr]  # it is text


@pytest.mark.usefixtures("undoubted")
def test_a_terminal_a_pipe_and_json_show_control_characters(recollect: CommandLine) -> None:
    recollect("remember", EVIL, "--source", EVIL)
    recollect("add", EVIL, "--type", "thing", "-o", EVIL)
    styles = re.compile(r"\x1b\[[\d;]*m")
    for typed in (["recall", "kettle"], ["context", "kettle"], ["show", "1"], ["graph"], ["find", "kettle"]):
        for look in (["--color"], ["--no-color"], ["--json"]):
            shown = styles.sub("", recollect(*typed, *look).stdout)
            assert not HIDDEN.search(shown), (typed, look)
            assert "\\u001b" in shown, (typed, look)
    assert recollect.json("show", "1")["texts"][0]["text"] == EVIL


def test_a_bar_counts_and_ctrl_c_in_a_terminal_says_how_to_continue(recollect: CommandLine) -> None:
    recollect("remember", "--lines", given="".join(f"Boat {n} is at pier {n}\n" for n in range(600)))
    ours, theirs = pty.openpty()
    with slow_model() as model:
        variables = recollect.variables(COLUMNS="80", TERM="xterm-256color", **model.settings())
        command = [*recollect.program, "reindex", "--model", variables["RECOLLECT_MODEL"]]
        with subprocess.Popen(command, env=variables, stdin=theirs, stdout=theirs, stderr=theirs) as program:
            os.close(theirs)
            shown, is_stopped = b"", False
            with suppress(OSError):  # how Linux says that the other side has closed
                while piece := os.read(ours, 65_536):
                    shown += piece
                    if not is_stopped and re.search(rb"[1-9]\d* of 600", shown):
                        program.send_signal(signal.SIGINT)
                        is_stopped = True
    os.close(ours)
    assert program.returncode == 130
    assert re.search(r"Embedding .*[1-9]\d* of 600", shown.decode())
    assert shown.decode().endswith("recollect: Stopped. Run the same command again to continue.\r\n")
    assert b"Traceback" not in shown
