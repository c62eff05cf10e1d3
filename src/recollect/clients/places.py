"""Where each client keeps its settings, on each system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePath


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
                return self.named("APPDATA") or self.home / "AppData" / "Roaming"
            case "darwin":
                return self.home / "Library" / "Application Support"
            case _:
                return self.named("XDG_CONFIG_HOME") or self.home / ".config"

    def named(self, variable: str) -> PurePath | None:
        value = self.environ.get(variable)
        return type(self.home)(value) if value else None

    def windows_packages(self) -> PurePath:
        return (self.named("LOCALAPPDATA") or self.home / "AppData" / "Local") / "Packages"


def claude_desktop(machine: Machine) -> PurePath:
    """A packaged install is shown a file system of its own, and never sees the usual file."""
    packaged = sorted(each for each in machine.packages if each.startswith("Claude_"))
    if machine.system == "win32" and packaged:
        settings = machine.windows_packages() / packaged[0] / "LocalCache" / "Roaming"
    else:
        settings = machine.settings()
    return settings / "Claude" / "claude_desktop_config.json"


def claude_code(machine: Machine) -> PurePath:
    return (machine.named("CLAUDE_CONFIG_DIR") or machine.home) / ".claude.json"


def cursor(machine: Machine) -> PurePath:
    return machine.home / ".cursor" / "mcp.json"


def vscode(machine: Machine) -> PurePath:
    return machine.settings() / "Code" / "User" / "mcp.json"


def codex(machine: Machine) -> PurePath:
    return (machine.named("CODEX_HOME") or machine.home / ".codex") / "config.toml"
