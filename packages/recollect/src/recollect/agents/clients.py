"""The supported clients: their settings files, their entries for the Recollect server, and their hooks."""

from __future__ import annotations

import json
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path, PurePath, PureWindowsPath
from typing import Any

from recollect.domain.errors import Conflict, InvalidInput
from recollect.domain.lazy_dataclass import dataclass

NAME = "recollect"
MODULE = "recollect.cli.main"
HOOKS_MODULE = "recollect.hooks"
SAFE_MODULE_OPTIONS = ("-P", "-m")
"""Clients start Recollect in the project's folder; without -P, Python would import modules from there."""
_OUR_KEYS = ("type", "command", "args", "env", "environment")
_SECRET_SUFFIXES = ("_KEY", "_TOKEN")
"""Suffixes of variables with secrets. Recollect never writes such variables, and keeps the user's."""
_VALID_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


class AnotherEntry(Conflict):
    """The client's settings have an entry of that name that does not start Recollect."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command with absolute paths, which works in any folder and without a shell."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """The command line for display, with quotes around words with spaces."""
        words = (self.command, *self.arguments)
        return " ".join(f'"{word}"' if " " in word else word for word in words)

    @property
    def may_vanish(self) -> bool:
        """Whether the program is in the cache of `uvx`, which uv may delete."""
        parts = PureWindowsPath(self.command).parts
        return any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in parts)


def checked_name(name: str) -> str:
    """Check that a name is valid in every client."""
    if not _VALID_NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is not a valid server name: use up to 64 letters, digits, hyphens and underscores."
        )
    return name


def updated_entry(existing: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the new entry, with the keys that the client or the user added to the old one."""
    added = {key: value for key, value in existing.items() if key not in _OUR_KEYS}
    key = "environment" if wanted.get("type") == "local" else "env"
    kept = {
        name: value
        for name, value in _variables(existing).items()
        if not name.startswith("RECOLLECT_") or name.endswith(_SECRET_SUFFIXES)
    }
    env = {key: {**kept, **wanted.get(key, {})}} if kept else {}
    return {**wanted, **env, **added}


def entry_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the changes to the command and its variables, as lines of a diff."""
    old, new = _display_lines(before), _display_lines(after)
    return [
        *(f"- {line}" for line in old if line not in new),
        *(f"+ {line}" for line in new if line not in old),
    ]


def _display_lines(found: Mapping[str, Any]) -> list[str]:
    command, *arguments = map(str, _command(found) or (None,))
    named = _variables(found).items()
    return [
        Launch(command, tuple(arguments)).line,
        *(f"{name}={value}" for name, value in named if not name.endswith(_SECRET_SUFFIXES)),
    ]


def _command(found: Mapping[str, Any]) -> list[Any]:
    """Return the command and its arguments as one list. In opencode's entries they are one already."""
    command, arguments = found.get("command"), found.get("args")
    first = command if isinstance(command, list) else [command]
    return [*first, *(arguments if isinstance(arguments, list) else ())]


def _variables(found: Mapping[str, Any]) -> dict[str, Any]:
    variables = found.get("env", found.get("environment"))
    return variables if isinstance(variables, dict) else {}


def is_ours(found: Any) -> bool:
    """Whether an entry starts Recollect."""
    if not isinstance(found, dict):
        return False
    texts = [word for word in _command(found) if isinstance(word, str)]
    # `PureWindowsPath` splits at both kinds of slash, so it reads the paths of every system.
    programs = {PurePath(PureWindowsPath(word).name).stem.casefold() for word in texts}
    return "serve" in texts and (MODULE in texts or not programs.isdisjoint({NAME, f"{NAME}-memory"}))


def launch_words(scripts: Path | None = None, executable: str | None = None) -> tuple[str, ...]:
    """Return the command with absolute paths, because graphical clients do not have the user's PATH."""
    scripts = Path(sysconfig.get_path("scripts")) if scripts is None else scripts
    for name in (NAME, f"{NAME}.exe"):
        if (scripts / name).is_file():
            # Keep the symbolic link: Python finds its virtual environment by the link's folder.
            return (str((scripts / name).absolute()),)
    return (executable or sys.executable, *SAFE_MODULE_OPTIONS, MODULE)


@dataclass(frozen=True, slots=True)
class Machine:
    """The facts about a machine on which the paths of settings files depend."""

    system: str
    """`sys.platform`: win32, darwin; anything else is treated as Linux."""
    home: PurePath
    environ: Mapping[str, str] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    """Folders of Windows packages; a packaged Claude Desktop reads its settings there."""

    def settings(self) -> PurePath:
        """Return the folder for settings of graphical programs."""
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


def this_machine(environ: Mapping[str, str]) -> Machine:
    machine = Machine(sys.platform, Path.home(), environ)
    if machine.system != "win32":
        return machine
    packages = Path(machine.windows_packages())
    names = tuple(each.name for each in packages.iterdir()) if packages.is_dir() else ()
    return Machine(machine.system, machine.home, environ, names)


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    next: str
    """An instruction for the user: how to make the client load the change."""
    user: Callable[[Machine], PurePath] | None = None
    """The user's settings file; None if unknown."""
    project: str | None = None
    """The settings file of a project, relative to its folder."""
    key: str = "mcpServers"
    """The key of the object that holds the servers."""
    typed: bool = True
    """Whether an entry names its transport, `stdio`."""
    toml: bool = False
    """Whether its settings are TOML, which Recollect does not edit: the user pastes a snippet."""
    in_one_list: bool = False
    """Whether an entry has command and arguments in one list."""

    def entry(self, launch: Launch) -> dict[str, Any]:
        if self.in_one_list:
            local: dict[str, Any] = {"type": "local", "command": [launch.command, *launch.arguments]}
            return {**local, "environment": dict(launch.variables)} if launch.variables else local
        typed = {"type": "stdio"} if self.typed else {}
        env = {"env": dict(launch.variables)} if launch.variables else {}
        return {**typed, "command": launch.command, "args": list(launch.arguments), **env}

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        """Return the text that a user pastes if the file cannot be edited."""
        if not self.toml:
            return json.dumps({self.key: {name: entry}}, indent=2, ensure_ascii=False)
        tables = {name: value for name, value in entry.items() if isinstance(value, dict)}
        lines = [f"[{self.key}.{name}]"]
        lines += [f"{key} = {_toml(value)}" for key, value in entry.items() if key not in tables]
        for key, table in tables.items():
            lines += ["", f"[{self.key}.{name}.{key}]", *(f"{each} = {_toml(table[each])}" for each in table)]
        return "\n".join(lines)

    def file(self, machine: Machine, project: PurePath | None = None) -> PurePath:
        if self.user is None:
            raise InvalidInput("Recollect does not know the settings file of this client; edit it by hand.")
        if project is None:
            return self.user(machine)
        if self.project is None:
            raise InvalidInput(f"{self.title} has no settings for a project; leave out --project.")
        return project.joinpath(*self.project.split("/"))


def _toml(value: Any) -> str:
    """Return a text or a list of texts as TOML. It is the same as in JSON, but DEL must be escaped."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _claude_desktop(machine: Machine) -> PurePath:
    # Windows redirects the files of a packaged installation, so it does not read the usual file.
    packaged = sorted(each for each in machine.packages if each.startswith("Claude_"))
    if machine.system == "win32" and packaged:
        settings = machine.windows_packages() / packaged[0] / "LocalCache" / "Roaming"
    else:
        settings = machine.settings()
    return settings / "Claude" / "claude_desktop_config.json"


def _opencode(machine: Machine) -> PurePath:
    # opencode uses the same folder on every system.
    return (machine.folder_in("XDG_CONFIG_HOME") or machine.home / ".config") / "opencode"


_ALL = (
    Client(
        "claude-desktop",
        "Claude Desktop",
        "Quit Claude Desktop (not only its window), and start it again.",
        _claude_desktop,
        typed=False,
    ),
    Client(
        "claude-code",
        "Claude Code",
        "Start a new session; `/mcp` shows the server.",
        lambda machine: (machine.folder_in("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json",
        ".mcp.json",
    ),
    Client(
        "cursor",
        "Cursor",
        "Restart Cursor, and check that the server is enabled in its settings.",
        lambda machine: machine.home / ".cursor" / "mcp.json",
        ".cursor/mcp.json",
    ),
    Client(
        "vscode",
        "VS Code",
        "Run “MCP: List Servers” in the command palette, and start the server.",
        lambda machine: machine.settings() / "Code" / "User" / "mcp.json",
        ".vscode/mcp.json",
        "servers",
    ),
    Client(
        "codex",
        "Codex",
        "Start a new session; `/mcp` shows the server.",
        lambda machine: (machine.folder_in("CODEX_HOME") or machine.home / ".codex") / "config.toml",
        ".codex/config.toml",
        "mcp_servers",
        typed=False,
        toml=True,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        "Start a new session; `/mcp` shows the server.",
        lambda machine: machine.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
        typed=False,
    ),
    Client(
        "opencode",
        "opencode",
        "Start opencode again; `opencode mcp list` shows the server.",
        lambda machine: _opencode(machine) / "opencode.json",
        "opencode.json",
        "mcp",
        in_one_list=True,
    ),
    Client(
        "generic", "Another client", "Paste the entry into the client's list of MCP servers.", typed=False
    ),
)
CLIENTS = {client.name: client for client in _ALL}


# The hooks of each client: its events, its file, and the form of a command


@dataclass(frozen=True, slots=True)
class HookClient:
    name: str
    title: str
    events: Mapping[str, str]
    """The client's names of events, each with Recollect's name."""
    user: Callable[[Machine], PurePath]
    project: str
    next: str
    """An instruction for the user: how to make the client run the hooks."""
    is_plugin: bool = False
    """Whether its hooks are a plugin program, not a list in a settings file."""
    version: int | None = None
    """The `version` that a new file needs."""
    timeout: int = 5
    """In the client's unit: seconds or milliseconds. Hooks end much earlier, unless the machine hangs."""
    grouped: bool = True
    """Whether an entry is a group of hooks."""

    def file(self, machine: Machine, project: PurePath | None = None) -> PurePath:
        return self.user(machine) if project is None else project.joinpath(*self.project.split("/"))

    def entries(self, python: str, options: Sequence[str], system: str) -> dict[str, dict[str, Any]]:
        """Return the entries to write, by the client's event."""
        written: dict[str, dict[str, Any]] = {}
        for event, kind in self.events.items():
            words = [*_hook_words(python, self.name), kind, *options]
            line = shlex.join(words)
            if system == "win32":
                line = " ".join(f'"{word}"' if set(word) & set(" &()^") else word for word in words)
            hook: dict[str, Any] = {"command": line, "timeout": self.timeout}
            named = {"name": "recollect"} if self.name == "gemini" else {}
            written[event] = {"hooks": [{"type": "command", **named, **hook}]} if self.grouped else hook
        return written


def _hook_words(python: str, client: str) -> list[str]:
    return [python, *SAFE_MODULE_OPTIONS, HOOKS_MODULE, client]


_ALL_HOOKS = (
    HookClient(
        "claude-code",
        "Claude Code",
        {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn"},
        lambda machine: (
            (machine.folder_in("CLAUDE_CONFIG_DIR") or machine.home / ".claude") / "settings.json"
        ),
        ".claude/settings.local.json",
        "Start a new session; `/hooks` lists the new hooks.",
    ),
    HookClient(
        "codex",
        "Codex",
        {"SessionStart": "start", "UserPromptSubmit": "prompt", "Stop": "turn"},
        lambda machine: (machine.folder_in("CODEX_HOME") or machine.home / ".codex") / "hooks.json",
        ".codex/hooks.json",
        "Start a new session and trust the hooks in `/hooks`: Codex only runs hooks that you reviewed.",
    ),
    HookClient(
        "gemini",
        "Gemini CLI",
        {"SessionStart": "start", "BeforeAgent": "prompt", "AfterAgent": "turn"},
        lambda machine: machine.home / ".gemini" / "settings.json",
        ".gemini/settings.json",
        "Start a new session; `/hooks` lists the new hooks.",
        timeout=5000,
    ),
    HookClient(
        "opencode",
        "opencode",
        {"session.created": "start", "chat.message": "prompt", "session.idle": "turn"},
        lambda machine: _opencode(machine) / "plugin" / "recollect.js",
        ".opencode/plugin/recollect.js",
        "Start opencode again.",
        is_plugin=True,
        timeout=5000,
    ),
    HookClient(
        "cursor",
        "Cursor",
        {"sessionStart": "start", "beforeSubmitPrompt": "said", "afterAgentResponse": "turn"},
        lambda machine: machine.home / ".cursor" / "hooks.json",
        ".cursor/hooks.json",
        "Restart Cursor. Its hooks store messages, but cannot add memories to a prompt. To let "
        "Cursor recall, also install the server: recollect mcp install cursor",
        version=1,
        grouped=False,
    ),
)
HOOK_CLIENTS = {client.name: client for client in _ALL_HOOKS}


PLUGIN_MARK = f"// Written by `recollect hooks install opencode`; it runs {HOOKS_MODULE}."


def opencode_plugin(client: HookClient, python: str, options: Sequence[str]) -> str:
    """Return a plugin program that runs the hooks; opencode's settings have no list of hooks."""
    text = Path(__file__).with_name("opencode_plugin.js").read_text(encoding="utf-8")
    filled = {
        "COMMAND": _hook_words(python, client.name),
        "OPTIONS": list(options),
        "MILLISECONDS": client.timeout,
    }
    for name, value in filled.items():
        text = text.replace(f"__{name}__", json.dumps(value), 1)
    return f"{PLUGIN_MARK}\n{text}"
