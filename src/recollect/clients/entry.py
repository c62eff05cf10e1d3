"""How our server is started, the entry that says so to a client, and what installing does to its settings."""

from __future__ import annotations

import re
from dataclasses import field
from pathlib import PurePath, PureWindowsPath
from typing import TYPE_CHECKING, Any

from recollect.errors import Conflict, InvalidInput
from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.clients.catalogue import Client

NAME = "recollect"
MODULE = "recollect.cli.main"
SAFE_MODULE_OPTIONS = ("-P", "-m")
"""Clients start us in the project's folder: without -P, Python would load a `json.py` that is there."""
_WRITTEN = ("type", "command", "args", "env", "environment")
_NEVER_WRITTEN = ("_KEY", "_TOKEN")
"""How the variables end that hold secrets: whoever put one here did it by hand."""
_ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")


class NotEditable(InvalidInput):
    """A settings file that we cannot read, or could not change without losing something."""


class AnotherEntry(Conflict):
    """The name is taken by an entry that does not start Recollect."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command that works wherever it is run from: absolute paths, and nothing from the shell."""

    command: str
    arguments: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def line(self) -> str:
        """For a person to read; words with blanks stand in quotes."""
        words = (self.command, *self.arguments)
        return " ".join(f'"{word}"' if " " in word else word for word in words)

    @property
    def may_vanish(self) -> bool:
        """Whether it lies in the cache of uv, where `uvx` keeps what it runs until that is swept."""
        parts = PureWindowsPath(self.command).parts
        return any(part.startswith(("archive-v", "environments-v", "builds-v")) for part in parts)


def checked_name(name: str) -> str:
    """A name that every client takes."""
    if not _ALLOWED.fullmatch(name):
        raise InvalidInput(
            f"{name!r} is no name for a server: up to 64 letters, digits, hyphens and underscores."
        )
    return name


def server_entry(launch: Launch, *, typed: bool, in_one_list: bool = False) -> dict[str, Any]:
    """`in_one_list`: as opencode has it, command and arguments together."""
    if in_one_list:
        local: dict[str, Any] = {"type": "local", "command": [launch.command, *launch.arguments]}
        return {**local, "environment": dict(launch.variables)} if launch.variables else local
    made: dict[str, Any] = {"type": "stdio"} if typed else {}
    made |= {"command": launch.command, "args": list(launch.arguments)}
    if launch.variables:
        made["env"] = dict(launch.variables)
    return made


def updated_entry(there: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Our entry as it shall be, with what the client or the user has put into it beside."""
    theirs = {key: value for key, value in there.items() if key not in _WRITTEN}
    key = "environment" if wanted.get("type") == "local" else "env"
    kept = {
        name: value
        for name, value in _variables(there).items()
        if not name.startswith("RECOLLECT_") or name.endswith(_NEVER_WRITTEN)
    }
    env = {key: {**kept, **wanted.get(key, {})}} if kept else {}
    return {**wanted, **env, **theirs}


def entry_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What an update changes in how we are started, for a person to read."""
    old, new = _words(before), _words(after)
    return [
        *(f"- {line}" for line in old if line not in new),
        *(f"+ {line}" for line in new if line not in old),
    ]


def _words(found: Mapping[str, Any]) -> list[str]:
    command, *arguments = map(str, _command(found) or (None,))
    named = _variables(found).items()
    return [
        Launch(command, tuple(arguments)).line,
        *(f"{name}={value}" for name, value in named if not name.endswith(_NEVER_WRITTEN)),
    ]


def _command(found: Mapping[str, Any]) -> list[Any]:
    """The command's words; one client has them all in one list."""
    command, arguments = found.get("command"), found.get("args")
    first = command if isinstance(command, list) else [command]
    return [*first, *(arguments if isinstance(arguments, list) else ())]


def _variables(found: Mapping[str, Any]) -> dict[str, Any]:
    variables = found.get("env", found.get("environment"))
    return variables if isinstance(variables, dict) else {}


def is_ours(found: Any) -> bool:
    """Whether an entry starts Recollect, whatever else it says."""
    if not isinstance(found, dict):
        return False
    texts = [word for word in _command(found) if isinstance(word, str)]
    return "serve" in texts and any(_names_us(word) for word in texts)


def _names_us(word: str) -> bool:
    # Windows paths part at both slashes, so this reads any system's.
    stem = PurePath(PureWindowsPath(word).name).stem.casefold()
    return stem in {NAME, f"{NAME}-memory"} or word == MODULE


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """A file's text before and after; None stands for a file that is not there."""

    before: str | None
    after: str | None
    needs_backup: bool = True
    """Whether the text before is more than what an earlier edit of ours made of it."""

    @property
    def is_none(self) -> bool:
        return self.before == self.after


def edit_to_install(
    client: Client, before: str | None, name: str, launch: Launch, original: str | None = None, *, force: bool
) -> SettingsEdit:
    """Put the entry in. One of ours is brought up to date; another's is replaced only by `force`.

    `original` is what was there before we first put it in, as far as it was kept.
    """
    wanted = client.entry(launch)
    there = client.format.entry_in(before or "", name)
    ours = is_ours(there)
    if ours:
        wanted = updated_entry(there, wanted)
    if there == wanted:
        return SettingsEdit(before, before)
    if there is not None and not ours and not force:
        raise AnotherEntry(
            f"{client.title} already has a server named {name!r}, and it does not start Recollect. "
            "Replace it with --force, or give ours another --name."
        )
    is_our_work = ours and before in {_installed_into(client, text, name, there) for text in (original, None)}
    return SettingsEdit(before, client.format.with_entry(before or "", name, wanted), not is_our_work)


def edit_to_uninstall(
    client: Client, before: str | None, name: str, original: str | None, *, force: bool
) -> SettingsEdit:
    """Take the entry out. `original` is what was there before we put it in, as far as it was kept."""
    there = None if before is None else client.format.entry_in(before, name)
    if before is None or there is None:
        return SettingsEdit(before, before)
    if not is_ours(there) and not force:
        raise AnotherEntry(
            f"The server {name!r} of {client.title} does not start Recollect; take it out with --force."
        )
    # Where nothing else has changed since, the file is as it was before us, to the letter.
    for candidate in (original, None):
        if _installed_into(client, candidate, name, there) == before:
            return SettingsEdit(before, candidate)
    left = client.format.without_entry(before, name)
    bare = client.format.without_empty_servers(left)
    # The list of servers goes too, where it was made for ours.
    is_our_list = _installed_into(client, bare, name, there) == before
    return SettingsEdit(before, bare if is_our_list else left)


def _installed_into(client: Client, text: str | None, name: str, entry: dict[str, object]) -> str | None:
    """The text with this entry put in; None where that cannot be done, or it was in it already."""
    try:
        if client.format.entry_in(text or "", name) is not None:
            return None
        return client.format.with_entry(text or "", name, entry)
    except NotEditable:
        return None
