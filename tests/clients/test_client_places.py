"""Where clients keep their settings, on systems that this is not."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from recollect.clients.catalogue import CLIENTS, Machine, client_named
from recollect.errors import InvalidInput

WINDOWS = Machine(
    "win32",
    PureWindowsPath(r"C:\Users\Ana"),
    {"APPDATA": r"D:\Roaming", "LOCALAPPDATA": r"C:\Users\Ana\AppData\Local"},
)
MAC = Machine("darwin", PurePosixPath("/Users/ana"))
LINUX = Machine("linux", PurePosixPath("/home/ana"))


@pytest.mark.parametrize(
    ("client", "windows", "mac", "linux"),
    [
        (
            "claude-desktop",
            r"D:\Roaming\Claude\claude_desktop_config.json",
            "/Users/ana/Library/Application Support/Claude/claude_desktop_config.json",
            "/home/ana/.config/Claude/claude_desktop_config.json",
        ),
        ("claude-code", r"C:\Users\Ana\.claude.json", "/Users/ana/.claude.json", "/home/ana/.claude.json"),
        (
            "cursor",
            r"C:\Users\Ana\.cursor\mcp.json",
            "/Users/ana/.cursor/mcp.json",
            "/home/ana/.cursor/mcp.json",
        ),
        (
            "vscode",
            r"D:\Roaming\Code\User\mcp.json",
            "/Users/ana/Library/Application Support/Code/User/mcp.json",
            "/home/ana/.config/Code/User/mcp.json",
        ),
        (
            "codex",
            r"C:\Users\Ana\.codex\config.toml",
            "/Users/ana/.codex/config.toml",
            "/home/ana/.codex/config.toml",
        ),
        (
            "gemini",
            r"C:\Users\Ana\.gemini\settings.json",
            "/Users/ana/.gemini/settings.json",
            "/home/ana/.gemini/settings.json",
        ),
        (
            "opencode",
            r"C:\Users\Ana\.config\opencode\opencode.json",
            "/Users/ana/.config/opencode/opencode.json",
            "/home/ana/.config/opencode/opencode.json",
        ),
    ],
)
def test_each_client_has_its_file_on_each_system(client: str, windows: str, mac: str, linux: str) -> None:
    found = [str(CLIENTS[client].file(machine)) for machine in (WINDOWS, MAC, LINUX)]
    assert found == [windows, mac, linux]


def test_windows_without_its_variables_is_guessed() -> None:
    bare = Machine("win32", PureWindowsPath(r"C:\Users\Ana"))
    assert str(CLIENTS["vscode"].file(bare)) == r"C:\Users\Ana\AppData\Roaming\Code\User\mcp.json"


def test_a_packaged_claude_desktop_reads_from_its_package() -> None:
    machine = Machine("win32", WINDOWS.home, WINDOWS.environ, ("Other_1", "Claude_pzs8sxrjxfjjc"))
    assert str(CLIENTS["claude-desktop"].file(machine)) == (
        r"C:\Users\Ana\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude"
        r"\claude_desktop_config.json"
    )


@pytest.mark.parametrize(
    ("client", "variable", "file"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", "/else/where/.claude.json"),
        ("codex", "CODEX_HOME", "/else/where/config.toml"),
        ("vscode", "XDG_CONFIG_HOME", "/else/where/Code/User/mcp.json"),
    ],
)
def test_the_clients_own_variables_are_heeded(client: str, variable: str, file: str) -> None:
    machine = Machine("linux", LINUX.home, {variable: "/else/where"})
    assert str(CLIENTS[client].file(machine)) == file
    assert CLIENTS[client].file(Machine("linux", LINUX.home, {variable: ""})) == CLIENTS[client].file(LINUX)


def test_a_project_has_its_own_file() -> None:
    posix, windows = PurePosixPath("/code/tide"), PureWindowsPath(r"C:\code\tide")
    assert str(CLIENTS["claude-code"].file(MAC, posix)) == "/code/tide/.mcp.json"
    assert str(CLIENTS["codex"].file(MAC, posix)) == "/code/tide/.codex/config.toml"
    assert str(CLIENTS["vscode"].file(WINDOWS, windows)) == r"C:\code\tide\.vscode\mcp.json"
    with pytest.raises(InvalidInput, match="leave out --project"):
        CLIENTS["claude-desktop"].file(MAC, posix)


def test_an_unknown_client_is_met_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match="cursor, vscode, codex, gemini, opencode, generic"):
        client_named("emacs")
