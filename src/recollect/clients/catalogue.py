"""The clients we know, and the shape of each one's settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from recollect.clients import json_text, places, toml_text
from recollect.clients.places import Machine
from recollect.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Json:
    """Servers by name under one key."""

    key: str = "mcpServers"
    comments: bool = False
    typed: bool = True
    """Whether an entry says that it is spoken to over standard input and output."""

    def entry_in(self, text: str, name: str) -> Any:
        return json_text.entry_in(text, self.key, name, comments=self.comments)

    def with_entry(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        return json_text.with_entry(text, self.key, name, entry, comments=self.comments)

    def without_entry(self, text: str, name: str) -> str:
        return json_text.without_entry(text, self.key, name, comments=self.comments)

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        return json_text.snippet(self.key, name, entry)


@dataclass(frozen=True, slots=True)
class Toml:
    """Servers as sections, one for each."""

    key: str
    typed: bool = False

    def entry_in(self, text: str, name: str) -> Any:
        return toml_text.entry_in(text, self.key, name)

    def with_entry(self, text: str, name: str, entry: Mapping[str, Any]) -> str:
        return toml_text.with_entry(text, self.key, name, entry)

    def without_entry(self, text: str, name: str) -> str:
        return toml_text.without_entry(text, self.key, name)

    def snippet(self, name: str, entry: Mapping[str, Any]) -> str:
        return toml_text.snippet(self.key, name, entry).rstrip()


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    title: str
    format: Json | Toml
    next: str
    """What to do before it sees the change."""
    user: Callable[[Machine], PurePath] | None = None
    """The settings for all of the user's work; None where nobody can know."""
    project: str | None = None
    """The settings within a project, from its folder."""

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


CLIENTS = {
    each.name: each
    for each in (
        Client(
            "claude-desktop",
            "Claude Desktop",
            Json(typed=False),
            "Quit Claude Desktop, not only its window, and start it again.",
            places.claude_desktop,
        ),
        Client(
            "claude-code",
            "Claude Code",
            Json(),
            "Start a new session; `/mcp` shows the server.",
            places.claude_code,
            ".mcp.json",
        ),
        Client(
            "cursor",
            "Cursor",
            Json(comments=True),
            "Restart Cursor, and see that the server is switched on in its settings.",
            places.cursor,
            ".cursor/mcp.json",
        ),
        Client(
            "vscode",
            "VS Code",
            Json("servers", comments=True),
            "Run “MCP: List Servers” in the command palette and start it.",
            places.vscode,
            ".vscode/mcp.json",
        ),
        Client(
            "codex",
            "Codex",
            Toml("mcp_servers"),
            "Start a new session; `/mcp` shows the server.",
            places.codex,
            ".codex/config.toml",
        ),
        Client(
            "generic", "Another client", Json(typed=False), "Paste it where the client keeps its servers."
        ),
    )
}


def client_named(name: str) -> Client:
    try:
        return CLIENTS[name]
    except KeyError:
        raise InvalidInput(f"No client named {name!r}; there are: {', '.join(CLIENTS)}.") from None
