"""`recollect hooks`: into a client's settings and out again, and what was done in a day."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect.agents.clients import HOOK_CLIENTS
from recollect.agents.hook import EVENTS
from recollect.agents.hook_files import note_event

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def typed(recollect: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    recollect.environment.update(HOME=str(home), USERPROFILE=str(home), XDG_DATA_HOME=str(home / "data"))
    return recollect


def clients_files(home: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(home)): path.read_bytes()
        for path in sorted(home.rglob("*"))
        if path.is_file() and "data" not in path.parts
    }


@pytest.mark.parametrize("client", HOOK_CLIENTS)
def test_hooks_come_and_go(typed: CommandLine, home: Path, client: str) -> None:
    typed("hooks", "install", client, "--dry-run")
    assert clients_files(home) == {}
    assert typed.json("hooks", "install", client)["changed"]
    (written,) = clients_files(home).values()
    assert b"recollect.hooks" in written
    assert str(typed.store).encode() in written  # a client need not see the shell
    assert not typed.json("hooks", "install", client)["changed"]
    states = {row["client"]: row["state"] for row in typed.json("hooks", "status")["installed"]}
    assert states == {**dict.fromkeys(HOOK_CLIENTS, ""), client: "installed"}
    typed("hooks", "uninstall", client, "--dry-run")
    assert clients_files(home)
    assert typed.json("hooks", "uninstall", client)["changed"]
    assert clients_files(home) == {}
    assert not typed.json("hooks", "uninstall", client)["changed"]


@pytest.mark.parametrize("before", ['{"theme":"x"}\n', '{\n  "theme": "x"\n}\n', "{}"])
@pytest.mark.parametrize("last", ["hooks", "mcp"])
def test_hooks_and_a_server_in_one_file_both_go_without_a_trace(
    typed: CommandLine, home: Path, before: str, last: str
) -> None:
    pytest.importorskip("mcp")
    path = home / ".gemini" / "settings.json"
    path.parent.mkdir()
    path.write_text(before)
    for command in ("hooks", "mcp"):
        typed(command, "install", "gemini")
    for command in sorted(("hooks", "mcp"), key=last.__eq__):
        typed(command, "uninstall", "gemini")
    assert path.read_text() == before


def test_a_file_that_cannot_be_read_is_left_alone(typed: CommandLine, home: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": ')
    shown = typed("hooks", "install", "claude-code", status=1)
    assert "was not changed: line 1" in shown.stderr
    assert json.loads(shown.stdout)["hooks"]["Stop"]
    assert path.read_text() == '{"hooks": '
    plugin = home / ".config" / "opencode" / "plugin" / "recollect.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text("// another's\n")
    assert "is not from Recollect" in typed.refused("hooks", "install", "opencode", status=1)
    typed("hooks", "uninstall", "opencode")
    assert plugin.read_text() == "// another's\n"


def test_the_plugin_for_opencode_is_a_module_that_node_reads(typed: CommandLine, home: Path) -> None:
    typed("hooks", "install", "opencode")
    (written,) = clients_files(home).values()
    module = home / "plugin.mjs"
    module.write_bytes(written)
    try:
        subprocess.run(["node", "--check", module], capture_output=True, check=True)
    except FileNotFoundError:
        pytest.skip("there is no node here")


def test_a_day_is_shown_by_client(typed: CommandLine, home: Path) -> None:
    state = home / "data" / "recollect" / "hooks"
    state.mkdir(parents=True)
    note_event(str(state), "codex", "prompt", "answered", memories=2, ms=90)
    note_event(str(state), "codex", "capture", "captured", secrets=1, notes=0)
    note_event(str(state), "codex", "prompt", "error", detail="it broke", ms=80)
    (day,) = (path.stem for path in (state / "log").iterdir())
    found = typed.json("hooks", "status", "--day", day)
    (row,) = found["clients"]
    shown = {name: row[name] for name in ("prompts", "answered", "memories", "captured", "secrets", "errors")}
    assert shown == {"prompts": 2, "answered": 1, "memories": 2, "captured": 1, "secrets": 1, "errors": 1}
    assert found["errors"] == [f"{next(iter(found['errors']))[:19]} prompt: it broke"]
    rows = typed.rows("hooks", "status", "--day", day)
    assert [day, "codex"] in rows
    assert ["Prompts", "2"] in rows
    assert "No hook ran on 2020-01-01." in typed("hooks", "status", "--day", "2020-01-01").stderr
    assert "'yesterday' is not a date" in typed.refused("hooks", "status", "--day", "yesterday", status=2)


@pytest.mark.skipif(sys.platform == "win32", reason="runs the command as a POSIX shell does")
def test_nothing_is_left_when_the_last_client_is_gone(typed: CommandLine, home: Path) -> None:
    typed.environment["RECOLLECT_MODEL"] = "hashing"
    state = home / "data" / "recollect" / "hooks"
    typed("hooks", "install", "gemini")
    for client, store in (("claude-code", "one.db"), ("codex", "two.db")):
        typed("hooks", "install", client, "--store", str(home / store))
    settings = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
    for path in settings.values():
        command = json.loads((home / path).read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
        given = b'{"session_id": "s1"}'
        subprocess.run(["sh", "-c", command], input=given, env=typed.variables(), check=True)
    for _ in range(600):
        if len(running := typed.json("hooks", "status")["answering_processes"]) == 2:
            break
        time.sleep(0.05)
    assert len(running) == 2
    typed("hooks", "uninstall", "gemini")
    assert state.is_dir()  # others have hooks
    waiting = state / "0123456789abcdef.waiting"
    waiting.mkdir()
    (waiting / "1.json").write_text("{}")
    for client in settings:
        done = typed("hooks", "uninstall", client)
    assert "not stored yet: 1" in done.stdout
    assert [path.name for path in state.rglob("*")] == [waiting.name, "1.json"]
    (waiting / "1.json").unlink()
    typed("hooks", "install", "cursor")
    typed("hooks", "uninstall", "cursor")
    assert not state.exists()
    assert typed.json("hooks", "status")["answering_processes"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="runs the command as a POSIX shell does")
def test_a_hook_loads_nothing_of_the_project_it_runs_in(typed: CommandLine, home: Path) -> None:
    typed("hooks", "install", "claude-code")
    hooks = json.loads((home / ".claude" / "settings.json").read_text())["hooks"]
    command = hooks["UserPromptSubmit"][0]["hooks"][0]["command"]
    project = home / "project"
    project.mkdir()
    for name in ("json", "socket", "recollect"):
        (project / f"{name}.py").write_text("raise SystemExit('code of the project ran')")
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=project,
        input=b"no json",
        env=typed.variables(),
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_changed_settings_are_noticed(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("hook_deadline_ms = 200\n")
    environ = {"RECOLLECT_CONFIG": str(config), "RECOLLECT_STORE": str(tmp_path / "memory.db")}
    program = (
        "import os, sys\nfrom recollect.agents.hook_files import hook_settings\n"
        "print(hook_settings(['--folder', sys.argv[1]], os.environ).deadline_ms)"
    )

    def deadline() -> str:
        words = [sys.executable, "-c", program, str(tmp_path / "state")]
        return subprocess.run(
            words, env={**os.environ, **environ}, capture_output=True, text=True, check=True
        ).stdout

    assert [deadline(), deadline()] == ["200\n", "200\n"]
    assert len(list((tmp_path / "state").iterdir())) == 1
    config.write_text("hook_deadline_ms = 1500\n")
    assert deadline() == "1500\n"


def test_clients_run_events_that_there_are() -> None:
    assert {ours for client in HOOK_CLIENTS.values() for ours in client.events.values()} <= set(EVENTS)
