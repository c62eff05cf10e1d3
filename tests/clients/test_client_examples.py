"""The hooks and instructions that we offer: they parse, and what they call is there."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from recollect.cli.commands.mcp import mcp_command
from recollect.cli.main import cli
from recollect.serve.operations.catalogue import SETS

ROOT = Path(__file__).parent.parent.parent
HOOKS = ROOT / "examples" / "hooks"
SCRIPT = HOOKS / "recollect_hook.py"
EVENTS = {"SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd", "Stop"}


def commands(path: Path) -> list[tuple[str, str]]:
    settings = json.loads(path.read_text())
    assert list(settings) == ["hooks"]
    return [
        (event, hook["command"])
        for event, groups in settings["hooks"].items()
        for group in groups
        for hook in group["hooks"]
    ]


@pytest.mark.parametrize("path", sorted(HOOKS.glob("*.json")), ids=lambda path: path.name)
def test_hooks_name_events_and_commands_that_exist(path: Path) -> None:
    found = commands(path)
    assert found
    for event, command in found:
        assert event in EVENTS
        words = shlex.split(command)
        if words[0] == "recollect":
            name, *arguments = words[1 : words.index("2>/dev/null")]
            cli.commands[name].make_context(name, arguments)
        else:
            assert Path(words[1]).name == SCRIPT.name


def test_the_commands_of_the_script_exist() -> None:
    for name, arguments in (
        ("context", ["--budget", "600", "-"]),
        ("chat-import", [str(SCRIPT), "--format", "turns", "--extract"]),
    ):
        assert f'"{name}"' in SCRIPT.read_text()
        cli.commands[name].make_context(name, arguments)


def test_the_instructions_name_tools_that_exist() -> None:
    text = (HOOKS / "AGENTS.md").read_text()
    named = set(re.findall(r"call\s+`(\w+)`", text))
    assert named == {"recall", "remember"}
    assert named <= set(SETS["all"])


def test_the_rule_for_cursor_is_the_same_text() -> None:
    front, _, body = (HOOKS / "cursor-rule.mdc").read_text().partition("---\n\n")
    assert "alwaysApply: true" in front
    assert body == (HOOKS / "AGENTS.md").read_text()


def test_the_page_about_clients_shows_what_can_be_typed_and_read() -> None:
    page = (ROOT / "docs" / "clients.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(\w+)\n(.*?)```", page, re.DOTALL)
    for language, block in blocks:
        if language == "json":
            assert json.loads(block)
        if language == "toml":
            assert tomllib.loads(block)
    typed = [line for _, block in blocks for line in block.splitlines() if line.startswith("recollect ")]
    assert len(typed) > 3
    for line in typed:
        _, name, *arguments = shlex.split(line, comments=True)
        context = cli.commands[name].make_context(name, arguments)
        mcp_command.commands[arguments[0]].make_context(arguments[0], arguments[1:], parent=context)


def hook(folder: Path, **event: str) -> Any:
    """What the script answers, run as a client runs it."""
    environ = {
        **os.environ,
        "RECOLLECT_STORE": str(folder / "memory.db"),
        "RECOLLECT_MODEL": "hashing",
        "RECOLLECT_CONFIG": os.devnull,
    }
    done = subprocess.run(
        [sys.executable, str(SCRIPT), sys.executable, "-m", "recollect.cli.main"],
        input=json.dumps({"session_id": "s1", **event}),
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return json.loads(done.stdout)["hookSpecificOutput"] if done.stdout else None


def row(kind: str, content: Any, **rest: Any) -> str:
    return json.dumps(
        {"type": kind, "message": {"content": content}, "timestamp": "2026-03-01T10:00:00Z", **rest}
    )


def test_what_was_said_in_one_session_is_recalled_in_the_next(tmp_path: Path) -> None:
    assert hook(tmp_path, hook_event_name="SessionStart") is None  # no memory yet, and no complaint
    transcript = tmp_path / "talk.jsonl"
    lines = [
        row("user", "I drink oolong after lunch"),
        row("user", "a caveat", isMeta=True),
        row("user", "<command-name>/clear</command-name>"),
        row("user", [{"type": "tool_result", "content": "42"}]),
        row("assistant", [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Noted."}]),
        json.dumps({"type": "summary", "summary": "tea"}),
    ]
    transcript.write_text("\n".join(lines))
    assert hook(tmp_path, hook_event_name="PreCompact", transcript_path=str(transcript)) is None
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "--what do I drink, oolong?"}
    answer: Any = None
    for _ in range(100):  # it saves in a process of its own
        answer = hook(tmp_path, **prompt)
        if answer is not None:
            break
        time.sleep(0.1)
    assert answer["hookEventName"] == "UserPromptSubmit"
    assert "oolong after lunch" in answer["additionalContext"]
    for unsaid in ("caveat", "command", "42", "hm"):
        assert unsaid not in answer["additionalContext"].replace("--what", "")


@pytest.mark.parametrize("event", ["PreCompact", "SessionEnd", "Other"])
def test_a_hook_never_stands_in_the_way(tmp_path: Path, event: str) -> None:
    assert hook(tmp_path, hook_event_name=event, transcript_path=str(tmp_path / "none.jsonl")) is None
