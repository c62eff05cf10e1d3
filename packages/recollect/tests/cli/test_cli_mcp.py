"""`recollect mcp` on a home of its own."""

from __future__ import annotations

import json
import sys
import sysconfig
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from recollect.agents.clients import CLIENTS

if TYPE_CHECKING:
    from command_line import CommandLine

pytest_plugins = ["command_line"]
WITH_FILE = [name for name in CLIENTS if name not in {"generic", "codex"}]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def typed(recollect: CommandLine, home: Path) -> CommandLine:
    """A new user's command line, with only HOME in its environment."""
    bare = dict.fromkeys(
        (
            *recollect.environment,
            "APPDATA",
            "LOCALAPPDATA",
            "XDG_CONFIG_HOME",
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
        )
    )
    kept = {"COLUMNS": "300", "HOME": str(home), "USERPROFILE": str(home)}
    return replace(recollect, environment={**bare, **kept})


def place(typed: CommandLine, client: str) -> Path:
    (found,) = (each for each in typed.json("mcp", "list")["clients"] if each["name"] == client)
    return Path(found["file"])


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("client", WITH_FILE)
def test_a_client_is_installed_listed_and_uninstalled(typed: CommandLine, home: Path, client: str) -> None:
    assert str(place(typed, client)).startswith(str(home))
    done = typed.json("mcp", "install", client)
    assert done["changed"] is True
    states = {each["name"]: each["state"] for each in typed.json("mcp", "list")["clients"]}
    assert states[client] == "installed"
    assert [client, "here", "installed"] in [row[:3] for row in typed.rows("mcp", "list")]
    written = files(home)
    assert typed.json("mcp", "install", client)["changed"] is False
    assert "has this server already" in typed("mcp", "install", client).stdout
    assert files(home) == written
    assert typed.json("mcp", "uninstall", client)["changed"] is True
    assert list(home.iterdir()) == []
    assert "Not seen: its settings do not exist." in typed("mcp", "list").stdout
    assert typed.json("mcp", "uninstall", client)["changed"] is False


def test_what_is_written_can_be_started_and_holds_no_secret(typed: CommandLine, home: Path) -> None:
    done = typed("mcp", "install", "cursor", RECOLLECT_MODEL_KEY="sk-12345")
    assert "RECOLLECT_MODEL_KEY" in done.stderr
    assert not any(b"sk-12345" in content for content in files(home).values())
    typed("mcp", "install", "vscode")
    (name, entry), *_ = json.loads(place(typed, "vscode").read_text())["servers"].items()
    assert name == "recollect"
    assert entry["type"] == "stdio"
    assert entry["args"][-1] == "serve"
    command = Path(entry["command"])
    assert command.is_absolute()
    assert command.is_file()
    assert "env" not in entry


def test_options_and_variables_go_along_since_a_client_does_not_see_the_shell(
    typed: CommandLine, tmp_path: Path
) -> None:
    typed(
        "mcp", "install", "gemini", "--name", "work", "--store", "~/work.db", "--tools", "recall-only",
        RECOLLECT_OWNER="ana", RECOLLECT_TIME_ZONE="Europe/Madrid", RECOLLECT_CONFIG=str(_empty(tmp_path)),
    )  # fmt: skip
    entry = json.loads(place(typed, "gemini").read_text())["mcpServers"]["work"]
    assert entry["args"][-7:] == [
        "serve", "--store", str(Path(typed.environment["HOME"] or "") / "work.db"), "--owner", "ana",
        "--tools", "recall-only",
    ]  # fmt: skip
    assert entry["env"] == {
        "RECOLLECT_TIME_ZONE": "Europe/Madrid",
        "RECOLLECT_CONFIG": str(tmp_path / "own.toml"),
    }


def _empty(folder: Path) -> Path:
    path = folder / "own.toml"
    path.touch()
    return path


def test_a_dry_run_shows_the_change_and_makes_none(typed: CommandLine, home: Path) -> None:
    shown = typed("mcp", "install", "claude-code", "--dry-run")
    assert '+    "recollect": {' in shown.stdout.splitlines()
    assert f"+++ {home / '.claude.json'}" in shown.stdout
    assert str(Path(sysconfig.get_path("scripts"))) in shown.stdout
    told = typed.json("mcp", "install", "claude-code", "--dry-run")
    assert (told["changed"], told["would_change"], told["dry_run"]) == (False, True, True)
    assert files(home) == {}
    typed("mcp", "install", "claude-code")
    written = files(home)
    assert '-    "recollect": {' in typed("mcp", "uninstall", "claude-code", "--dry-run").stdout.splitlines()
    assert typed("mcp", "install", "claude-code", "--dry-run").stdout == ""
    assert files(home) == written


def test_what_was_there_comes_back_to_the_letter(typed: CommandLine) -> None:
    path = place(typed, "vscode")
    path.parent.mkdir(parents=True)
    before = b'{\r\n\t"inputs": [ ],\r\n\t"servers": {}\r\n}\r\n'
    path.write_bytes(before)
    said = typed("mcp", "install", "vscode").stdout
    copy = path.with_name("mcp.json.before-recollect")
    assert f"Copy of the old file: {copy}" in said
    assert copy.read_bytes() == before
    assert b"inputs" in path.read_bytes()
    typed("mcp", "uninstall", "vscode")
    assert path.read_bytes() == before
    assert not copy.exists()


def test_a_project_has_settings_of_its_own(typed: CommandLine, home: Path) -> None:
    project = home / "tide"
    project.mkdir()
    typed("mcp", "install", "cursor", "--project", str(project))
    assert list(files(home)) == [str(Path("tide") / ".cursor" / "mcp.json")]
    rows = typed.json("mcp", "list", "--project", str(project))["clients"]
    assert {row["name"]: row["state"] for row in rows} == {
        "claude-code": "",
        "cursor": "installed",
        "vscode": "",
        "codex": "",
        "gemini": "",
        "opencode": "",
    }
    assert "leave out --project" in typed.refused(
        "mcp", "install", "claude-desktop", "--project", str(project), status=1
    )
    assert "There is no folder" in typed.refused(
        "mcp", "install", "cursor", "--project", str(project / "none"), status=1
    )


def test_any_other_client_is_given_what_to_paste(typed: CommandLine, home: Path) -> None:
    pasted = json.loads(typed("mcp", "install", "generic", "--name", "mine").stdout)
    assert pasted["mcpServers"]["mine"]["args"][-1] == "serve"
    assert json.loads(typed.json("mcp", "install", "generic")["snippet"])["mcpServers"]
    assert "by hand" in typed.refused("mcp", "uninstall", "generic", status=1)
    codex = typed("mcp", "install", "codex")
    assert f"Paste it into {home / '.codex' / 'config.toml'}." in codex.stderr
    assert tomllib.loads(codex.stdout)["mcp_servers"]["recollect"]["args"][-1] == "serve"
    assert files(home) == {}
    path = place(typed, "codex")
    path.parent.mkdir()
    path.write_text(codex.stdout)
    assert ["codex", "here", "installed"] in [row[:3] for row in typed.rows("mcp", "list")]
    assert "remove 'recollect' by hand" in typed("mcp", "uninstall", "codex", status=1).stderr


@pytest.mark.parametrize(
    ("client", "broken", "said"),
    [
        ("claude-desktop", b'{\n "mcpServers": {},\n}', "line 3: Expecting property name"),
        ("vscode", b'{\n // mine\n "servers": {}\n}', "a file with comments is not edited"),
        ("cursor", b'{"mcpServers": ', "line 1: it ends too early"),
        ("vscode", b"\xff{}", "it is not UTF-8"),
    ],
)
def test_a_broken_file_is_left_alone_and_what_to_paste_is_shown(
    typed: CommandLine, client: str, broken: bytes, said: str
) -> None:
    path = place(typed, client)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(broken)
    done = typed("mcp", "install", client, "--force", status=1)
    assert said in done.stderr
    assert str(path) in done.stderr
    assert done.stderr.count("\n") == 1
    (servers,) = json.loads(done.stdout).values()
    assert "serve" in servers["recollect"]["args"]
    assert "by hand" in typed("mcp", "uninstall", client, status=1).stderr
    assert typed.json("mcp", "install", client, status=1)["changed"] is False
    assert [client, "here", "unreadable"] in [row[:3] for row in typed.rows("mcp", "list")]
    assert path.read_bytes() == broken
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_installing_again_brings_our_entry_up_to_date_and_says_how(typed: CommandLine, home: Path) -> None:
    typed("mcp", "install", "cursor", "--store", "~/a.db")
    said = typed("mcp", "install", "cursor", "--tools", "all").stdout
    assert "Updated recollect in Cursor" in said
    # The width of the terminal breaks lines, so the difference is read from the data.
    told = typed.json("mcp", "install", "cursor", "--store", "~/b.db")
    removed, added = told["difference"]
    assert removed.startswith("- ")
    assert removed.endswith(" serve --tools all")
    assert added.endswith(f" serve --store {home / 'b.db'}")
    (entry,) = json.loads(place(typed, "cursor").read_text())["mcpServers"].values()
    assert entry["args"][-2:] == ["--store", str(home / "b.db")]
    typed("mcp", "uninstall", "cursor")
    assert list(home.iterdir()) == []


def test_what_cannot_be_is_refused_before_anything_is_written(
    typed: CommandLine, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = typed.refused("mcp", "install", "cursor", "--tools", "recal", status=1)
    assert "No tool named 'recal'" in told
    assert files(home) == {}
    assert "not a valid server name" in typed.refused("mcp", "install", "cursor", "--name", "a b", status=1)
    assert "claude-desktop" in typed.refused("mcp", "install", "emacs", status=2)
    """As beside LangChain's adapters, which would no longer import with the version that the server needs."""
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    done = typed("mcp", "install", "claude-code", status=1)
    assert "No module named 'mcp_types'" in done.stderr
    assert done.stderr.endswith("separate environment: uv tool install 'recollect-memory[mcp]'\n")
    assert files(home) == {}


def test_the_official_servers_file_goes_along_by_its_path(typed: CommandLine, tmp_path: Path) -> None:
    typed(
        "mcp", "install", "cursor",
        RECOLLECT_IMPORT_FROM="MEMORY_FILE_PATH", MEMORY_FILE_PATH=str(tmp_path / "old.jsonl"),
    )  # fmt: skip
    (entry,) = json.loads(place(typed, "cursor").read_text())["mcpServers"].values()
    assert entry["env"] == {"RECOLLECT_IMPORT_FROM": str(tmp_path / "old.jsonl")}


def test_another_programs_server_is_seen_and_left(typed: CommandLine) -> None:
    path = place(typed, "cursor")
    path.parent.mkdir()
    path.write_text('{"mcpServers": {"recollect": {"url": "https://example.org"}}}')
    assert ["cursor", "here", "another"] in [row[:3] for row in typed.rows("mcp", "list")]
    assert "--force" in typed.refused("mcp", "uninstall", "cursor", status=1)
    assert "--force" in typed.refused("mcp", "install", "cursor", status=1)
    typed("mcp", "uninstall", "cursor", "--force")
    assert json.loads(path.read_text()) == {}
