"""The clients we know: where each keeps its settings, and in which format."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import PurePath
from typing import Any

from recollect.clients.entry import Launch, server_entry
from recollect.clients.formats import JsonFormat, TomlFormat
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """What the places depend on. Paths are data here: a Windows machine can be asked about anywhere."""

    system: str
    """As `sys.platform` has it: win32, darwin; everything else is taken for a Linux."""
    home: PurePath
    environ: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    """Folders of Windows packages, from which a packaged Claude Desktop reads instead."""

    def settings(self) -> PurePath:
        """Where programs with windows keep their settings."""
        match self.system:
            case "win32":
                return self.folder_in("APPDATA") or self.home / "AppData" / "Roaming"
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self.folder_in("XDG_CONFIG_HOME") or self.home / ".config"

    def folder_in(self, variable: str) -> PurePath | None:
        value = self.environ.get(variable)
        return type(self.home)(value) if value else None

    def windows_packages(self) -> PurePath:
        return (self.folder_in("LOCALAPPDATA") or self.home / "AppData" / "Local") / "Packages"


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    format: JsonFormat | TomlFormat
    next: str
    """What to do before it sees the change."""
    user: Callable[[Machine], PurePath] | None = None
    """The settings for all of the user's work; None where nobody can know."""
    project: str | None = None
    """The settings within a project, from its folder."""
    in_one_list: bool = False
    """Whether an entry has its command and arguments in one list."""

    def entry(self, launch: Launch) -> dict[str, Any]:
        return server_entry(launch, typed=self.format.typed, in_one_list=self.in_one_list)

    def file(self, machine: Machine, project: PurePath | None = None) -> PurePath:
        if self.user is None:
            raise InvalidInput(
                "There is no telling where another client keeps its settings; change them there by hand."
            )
        if project is None:
            return self.user(machine)
        if self.project is None:
            raise InvalidInput(f"{self.title} has no settings for a project; leave out --project.")
        return project.joinpath(*self.project.split("/"))


def _claude_desktop(machine: Machine) -> PurePath:
    # A packaged install is shown a file system of its own, and never sees the usual file.
    packaged = sorted(each for each in machine.packages if each.startswith("Claude_"))
    if machine.system == "win32" and packaged:
        settings = machine.windows_packages() / packaged[0] / "LocalCache" / "Roaming"
    else:
        settings = machine.settings()
    return settings / "Claude" / "claude_desktop_config.json"


_ALL = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        JsonFormat(typed=False),
        "Quit Claude Desktop, not only its window, and start it again.",
        _claude_desktop,
    ),
    Client(
        "claude-code",
        "Claude Code",
        JsonFormat(),
        "Start a new session; `/mcp` shows the server.",
        lambda machine: (machine.folder_in("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json",
        ".mcp.json",
    ),
    Client(
        "cursor",
        "Cursor",
        JsonFormat(comments=True),
        "Restart Cursor, and see that the server is switched on in its settings.",
        lambda machine: machine.home / ".cursor" / "mcp.json",
        ".cursor/mcp.json",
    ),
    Client(
        "vscode",
        "VS Code",
        JsonFormat("servers", comments=True),
        "Run “MCP: List Servers” in the command palette and start it.",
        lambda machine: machine.settings() / "Code" / "User" / "mcp.json",
        ".vscode/mcp.json",
    ),
    Client(
        "codex",
        "Codex",
        TomlFormat("mcp_servers", typed=False),
        "Start a new session; `/mcp` shows the server.",
        lambda machine: (machine.folder_in("CODEX_HOME") or machine.home / ".codex") / "config.toml",
        ".codex/config.toml",
    ),
    Client(
        "gemini",
        "Gemini CLI",
        JsonFormat(typed=False, comments=True),
        "Start a new session; `/mcp` shows the server.",
        lambda machine: machine.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
    ),
    Client(
        "opencode",
        "opencode",
        JsonFormat("mcp", comments=True),
        "Start opencode again; `opencode mcp list` shows the server.",
        # On every system, as its makers have it.
        lambda machine: (
            (machine.folder_in("XDG_CONFIG_HOME") or machine.home / ".config") / "opencode" / "opencode.json"
        ),
        "opencode.json",
        in_one_list=True,
    ),
    Client(
        "generic", "Another client", JsonFormat(typed=False), "Paste it where the client keeps its servers."
    ),
)
CLIENTS = {client.name: client for client in _ALL}


def client_named(name: str) -> Client:
    try:
        return CLIENTS[name]
    except KeyError:
        raise InvalidInput(f"No client named {name!r}; there are: {', '.join(CLIENTS)}.") from None
