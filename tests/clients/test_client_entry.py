"""What an entry says, and whether one is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recollect.clients.catalogue import CLIENTS
from recollect.clients.entry import (
    AnotherEntry,
    Launch,
    checked_name,
    edit_to_install,
    edit_to_uninstall,
    entry_difference,
    is_ours,
    server_entry,
    updated_entry,
)
from recollect.clients.files import launch_words
from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from pathlib import Path

LAUNCH = Launch("/opt/recollect", ("serve",))
DESKTOP = CLIENTS["claude-desktop"]


def test_an_entry_holds_the_command_and_only_what_was_set() -> None:
    assert server_entry(LAUNCH, typed=False) == {"command": "/opt/recollect", "args": ["serve"]}
    full = Launch("r", ("serve", "--owner", "ana"), {"RECOLLECT_CONFIG": "/c"})
    assert server_entry(full, typed=True) == {
        "type": "stdio",
        "command": "r",
        "args": ["serve", "--owner", "ana"],
        "env": {"RECOLLECT_CONFIG": "/c"},
    }


@pytest.mark.parametrize(
    ("found", "ours"),
    [
        ({"command": "/opt/recollect", "args": ["serve"]}, True),
        ({"command": r"C:\Users\Ana\venv\Scripts\recollect.exe", "args": ["serve"]}, True),
        ({"command": "python3", "args": ["-m", "recollect.cli.main", "serve"]}, True),
        ({"command": "uvx", "args": ["--from", "recollect-memory", "recollect", "serve"]}, True),
        ({"command": "/opt/recollect", "args": ["--help"]}, False),
        ({"command": "npx", "args": ["serve"]}, False),
        ({"url": "https://example.org/mcp"}, False),
        ({"command": 3, "args": "serve"}, False),
        ("recollect serve", False),
    ],
)
def test_what_starts_us_is_ours(found: Any, ours: bool) -> None:
    assert is_ours(found) is ours


@pytest.mark.parametrize("name", ["", "a b", "a.b", "é", "x" * 65, 'a"b'])
def test_a_name_that_a_client_may_refuse_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match="is no name for a server"):
        checked_name(name)
    assert checked_name("work-memory_2") == "work-memory_2"


def test_a_command_line_is_shown_as_one_would_type_it() -> None:
    assert Launch("/my tools/r", ("serve", "--owner", "ana")).line == '"/my tools/r" serve --owner ana'


def test_a_command_in_a_cache_is_known_to_be_passing() -> None:
    assert Launch("/home/ana/.cache/uv/archive-v0/x1/bin/recollect").may_vanish
    assert Launch(r"C:\Users\Ana\AppData\Local\uv\cache\archive-v0\x1\Scripts\recollect.exe").may_vanish
    assert not Launch("/home/ana/.local/share/uv/tools/recollect-memory/bin/recollect").may_vanish


def test_the_installed_script_is_preferred_and_absolute(tmp_path: Path) -> None:
    assert launch_words(tmp_path, "/usr/bin/python3") == (
        "/usr/bin/python3",
        "-P",
        "-m",
        "recollect.cli.main",
    )
    (tmp_path / "recollect.exe").touch()
    assert launch_words(tmp_path) == (str(tmp_path / "recollect.exe"),)
    (tmp_path / "recollect").touch()
    assert launch_words(tmp_path) == (str(tmp_path / "recollect"),)


def test_an_entry_of_ours_is_brought_up_to_date() -> None:
    text = '{"mcpServers": {"recollect": {"command": "/old/recollect", "args": ["serve"]}}}'
    after = edit_to_install(DESKTOP, text, "recollect", LAUNCH, force=False).after or ""
    assert DESKTOP.format.entry_in(after, "recollect") == {"command": "/opt/recollect", "args": ["serve"]}


def test_another_programs_entry_is_replaced_only_by_force() -> None:
    text = '{"mcpServers": {"recollect": {"command": "npx", "args": ["other"], "env": {"KEY": "1"}}}}'
    with pytest.raises(AnotherEntry, match="--force"):
        edit_to_install(DESKTOP, text, "recollect", LAUNCH, force=False)
    after = edit_to_install(DESKTOP, text, "recollect", LAUNCH, force=True).after or ""
    assert DESKTOP.format.entry_in(after, "recollect") == {"command": "/opt/recollect", "args": ["serve"]}


def test_an_update_keeps_what_others_put_into_our_entry() -> None:
    there = {
        "command": "/old/recollect",
        "args": ["serve", "--owner", "ana"],
        "env": {"RECOLLECT_TIME_ZONE": "UTC", "RECOLLECT_MODEL_KEY": "sk-1", "HTTPS_PROXY": "http://p"},
        "autoApprove": ["recall"],
    }
    wanted = {"command": "/opt/recollect", "args": ["serve"], "env": {"RECOLLECT_CONFIG": "/c"}}
    assert updated_entry(there, wanted) == {
        "command": "/opt/recollect",
        "args": ["serve"],
        "env": {"RECOLLECT_MODEL_KEY": "sk-1", "HTTPS_PROXY": "http://p", "RECOLLECT_CONFIG": "/c"},
        "autoApprove": ["recall"],
    }
    assert entry_difference(there, updated_entry(there, wanted)) == [
        "- /old/recollect serve --owner ana",
        "- RECOLLECT_TIME_ZONE=UTC",
        "+ /opt/recollect serve",
        "+ RECOLLECT_CONFIG=/c",
    ]


@pytest.mark.parametrize("before", [None, '{"theme": "dark"}'])
def test_after_an_update_what_was_there_before_us_still_comes_back(before: str | None) -> None:
    first = edit_to_install(DESKTOP, before, "recollect", LAUNCH, force=False)
    assert first.needs_backup
    other = Launch("/opt/recollect", ("serve", "--tools", "all"))
    second = edit_to_install(DESKTOP, first.after, "recollect", other, before, force=False)
    assert not second.needs_backup
    assert edit_to_uninstall(DESKTOP, second.after, "recollect", before, force=False).after == before


def test_what_changed_between_two_installs_is_needs_backup() -> None:
    first = edit_to_install(DESKTOP, "{}", "recollect", LAUNCH, force=False).after or ""
    later = DESKTOP.format.with_entry(first, "docs", {"command": "npx"})
    other = Launch("/opt/recollect", ("serve", "--tools", "all"))
    assert edit_to_install(DESKTOP, later, "recollect", other, "{}", force=False).needs_backup


def test_another_programs_entry_is_taken_out_only_by_force() -> None:
    text = '{"mcpServers": {"recollect": {"url": "https://example.org"}}}'
    with pytest.raises(AnotherEntry, match="does not start Recollect"):
        edit_to_uninstall(DESKTOP, text, "recollect", None, force=False)
    assert edit_to_uninstall(DESKTOP, text, "recollect", None, force=True).after == '{"mcpServers": {}}'


def test_opencode_has_command_and_arguments_in_one_list() -> None:
    client = CLIENTS["opencode"]
    launch = Launch("/bin/recollect", ("serve",), {"RECOLLECT_LOG": "no-text"})
    installed = edit_to_install(client, '{"mcp": {}}', "recollect", launch, force=False).after or ""
    assert client.format.entry_in(installed, "recollect") == {
        "type": "local",
        "command": ["/bin/recollect", "serve"],
        "environment": {"RECOLLECT_LOG": "no-text"},
    }
    theirs = installed.replace('"RECOLLECT_LOG"', '"RECOLLECT_MODEL_KEY": "k", "RECOLLECT_LOG"')
    updated = edit_to_install(client, theirs, "recollect", Launch("/opt/recollect", ("serve",)), force=False)
    assert client.format.entry_in(updated.after or "", "recollect") == {
        "type": "local",
        "command": ["/opt/recollect", "serve"],
        "environment": {"RECOLLECT_MODEL_KEY": "k"},
    }
    assert edit_to_uninstall(client, installed, "recollect", None, force=False).after == '{"mcp": {}}'
