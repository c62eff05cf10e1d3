"""Edit clients' settings files: add or remove the Recollect server and hooks, and keep a copy."""

from __future__ import annotations

import json
import os
import re
import stat
import tempfile
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.agents.clients import HOOKS_MODULE, AnotherEntry, is_ours, updated_entry
from recollect.domain.errors import Conflict, InvalidInput
from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.agents.clients import Client, Launch

_BOM = "\ufeff"
_PRIVATE = 0o600
"""Mode of new files, which may later contain API keys of other servers."""
_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH

Content = dict[str, Any]


class NotEditable(InvalidInput):
    """A settings file that cannot be read, or that cannot be changed without loss."""


@dataclass(frozen=True, slots=True)
class SettingsEdit:
    """A file's text before and after; None for a missing file."""

    before: str | None
    after: str | None
    needs_backup: bool = True
    """Whether the old text differs from the text that Recollect wrote last."""

    @property
    def is_none(self) -> bool:
        return self.before == self.after


# JSON text


def read_content(text: str | None) -> Content:
    """Parse the object in a file. Comments are refused, since they would be lost."""
    plain = (text or "").removeprefix(_BOM)
    if not plain.strip():
        return {}
    try:
        content = json.loads(plain, object_pairs_hook=_refuse_repeated_keys, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise NotEditable("it is nested too deeply") from error
    except json.JSONDecodeError as error:
        ended = error.pos >= len(plain.rstrip())
        reason = "it ends too early" if ended else f"{error.msg}; a file with comments is not edited"
        raise NotEditable(f"line {error.lineno}: {reason}") from error
    except ValueError as error:
        raise NotEditable(str(error)) from error
    if not isinstance(content, dict):
        raise NotEditable("it is not a JSON object")
    return content


def _refuse_repeated_keys(pairs: list[tuple[str, Any]]) -> Content:
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated!r} occurs twice")
    return content


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON value")


def write_content(content: Content, like: str | None) -> str:
    """Write the object with the indentation, line ends and byte-order mark of the old text."""
    like = like or ""
    plain = like.removeprefix(_BOM)
    indent: str | None = "  "
    compact, ascii_only, ending = False, False, "\n"
    if plain.strip():
        step = re.search(r"\n([ \t]*)\S", plain.strip())
        indent = None if step is None else step[1]
        compact = step is None and ":" in plain and '": ' not in plain
        ascii_only, ending = plain.isascii(), plain[len(plain.rstrip()) :]
    try:
        text = json.dumps(
            content,
            indent=indent,
            separators=(",", ":") if compact else None,
            ensure_ascii=ascii_only,
            allow_nan=False,
        )
        text.encode()
    except ValueError as error:
        raise NotEditable("it has values that Recollect cannot write back unchanged") from error
    newline = "\r\n" if "\r\n" in plain else "\n"
    after = like[: len(like) - len(plain)] + text.replace("\n", newline) + ending
    # Write only text that reads back as the same content.
    if read_content(after) != content:
        raise NotEditable("it has values that Recollect cannot write back unchanged")
    return after


# Servers


def server_in(client: Client, text: str | None, name: str) -> Any:
    """Return the entry of a server in the file, or None."""
    if not client.toml:
        return _servers(client, read_content(text)).get(name)
    try:
        return _servers(client, tomllib.loads((text or "").removeprefix(_BOM))).get(name)
    except tomllib.TOMLDecodeError as error:
        raise NotEditable(f"it is not valid TOML: {error}") from error


def _servers(client: Client, content: Content) -> Content:
    servers = content.get(client.key, {})
    if not isinstance(servers, dict):
        raise NotEditable(f"its {client.key!r} is not a {'table' if client.toml else 'JSON object'}")
    return servers


def with_server(client: Client, text: str | None, name: str, entry: Mapping[str, Any]) -> str:
    """Return the text with this server entry, which replaces an entry of the same name."""
    content = read_content(text)
    return write_content({**content, client.key: {**_servers(client, content), name: entry}}, text)


def edit_to_install(
    client: Client, before: str | None, name: str, launch: Launch, original: str | None = None, *, force: bool
) -> SettingsEdit:
    """Add the entry. An entry that starts Recollect is updated; another is replaced only with `force`.

    `original` is the text from before the first installation, if a copy was kept.
    """
    wanted = client.entry(launch)
    existing = server_in(client, before, name)
    ours = is_ours(existing)
    if ours:
        wanted = updated_entry(existing, wanted)
    if existing == wanted:
        return SettingsEdit(before, before)
    if existing is not None and not ours and not force:
        raise AnotherEntry(
            f"{client.title} already has a server named {name!r}, and it does not start Recollect. "
            "Replace it with --force, or choose another --name."
        )
    is_unchanged = ours and before in {
        _installed_into(client, text, name, existing) for text in (original, None)
    }
    return SettingsEdit(before, with_server(client, before, name, wanted), not is_unchanged)


def edit_to_uninstall(
    client: Client, before: str | None, name: str, original: str | None, *, force: bool
) -> SettingsEdit:
    """Remove the entry. `original` is the text from before the installation, if a copy was kept."""
    existing = None if before is None else server_in(client, before, name)
    if before is None or existing is None:
        return SettingsEdit(before, before)
    if not is_ours(existing) and not force:
        raise AnotherEntry(
            f"The server {name!r} of {client.title} does not start Recollect; remove it with --force."
        )
    # If nothing else has changed since the installation, restore the original text exactly.
    for candidate in (original, None):
        if _installed_into(client, candidate, name, existing) == before:
            return SettingsEdit(before, candidate)
    content = read_content(before)
    rest = {each: entry for each, entry in _servers(client, content).items() if each != name}
    return SettingsEdit(before, write_content(_with_or_without(content, client.key, rest), before))


def _with_or_without(content: Content, key: str, value: Content) -> Content:
    """Set a key; an empty value removes it."""
    return {name: value if name == key else each for name, each in content.items() if name != key or value}


def _installed_into(client: Client, text: str | None, name: str, entry: Content) -> str | None:
    """Return the text with this entry added; None if it has such an entry or cannot be edited."""
    try:
        return with_server(client, text, name, entry) if server_in(client, text, name) is None else None
    except NotEditable:
        return None


# Hooks: `{"hooks": {EVENT: [entry, …]}}`; an entry is a hook, or a group with `hooks`


def hooks_in(text: str | None) -> dict[str, list[Content]]:
    """Return Recollect's hooks in the file, by event."""
    found = {event: _our_hooks(entries) for event, entries in _events(read_content(text)).items()}
    return {event: hooks for event, hooks in found.items() if hooks}


def edit_to_install_hooks(
    before: str | None, wanted: Mapping[str, Mapping[str, Any]], version: int | None = None
) -> SettingsEdit:
    """Add or update Recollect's hooks. A new file also gets `version`."""
    existing = hooks_in(before)
    if existing == {event: _our_hooks([entry]) for event, entry in wanted.items()}:
        return SettingsEdit(before, before)
    return SettingsEdit(before, _with_hooks(before, wanted, version), needs_backup=not existing)


def edit_to_uninstall_hooks(
    before: str | None, original: str | None, version: int | None = None
) -> SettingsEdit:
    """Remove Recollect's hooks. `original` is the text from before the installation, if a copy was kept."""
    if before is None or not (existing := hooks_in(before)):
        return SettingsEdit(before, before)
    # If nothing else has changed since the installation, restore the original text exactly.
    events = _events(read_content(before))
    wanted = {
        event: each for event in existing for each in events[event] if _our_hooks([each]) == _hooks_of(each)
    }
    for candidate in (original, None):
        try:
            if not hooks_in(candidate) and _with_hooks(candidate, wanted, version) == before:
                return SettingsEdit(before, candidate)
        except NotEditable:
            continue
    content = read_content(before)
    rest = _with_or_without(content, "hooks", _without_ours(events))
    return SettingsEdit(before, write_content(rest, before))


def _with_hooks(text: str | None, wanted: Mapping[str, Mapping[str, Any]], version: int | None) -> str:
    content = read_content(text)
    if version is not None and not content:
        content["version"] = version
    events = _without_ours(_events(content))
    for event, entry in wanted.items():
        events[event] = [*events.get(event, ()), entry]
    return write_content({**content, "hooks": events}, text)


def _events(content: Content) -> dict[str, list[Any]]:
    events = content.get("hooks", {})
    if not isinstance(events, dict) or not all(isinstance(each, list) for each in events.values()):
        raise NotEditable("its 'hooks' is not a JSON object of lists")
    return events


def is_our_hook(hook: Any) -> bool:
    """Whether a hook's command runs Recollect's module, with any Python."""
    command = hook.get("command") if isinstance(hook, dict) else None
    return isinstance(command, str) and HOOKS_MODULE in command.replace('"', " ").replace("'", " ").split()


def _hooks_of(entry: Any) -> list[Any]:
    """Return the hooks of a group, or a list of the single hook."""
    inner = entry.get("hooks") if isinstance(entry, dict) else None
    return inner if isinstance(inner, list) else [entry]


def _our_hooks(entries: Sequence[Any]) -> list[Content]:
    return [hook for entry in entries for hook in _hooks_of(entry) if is_our_hook(hook)]


def _without_ours(events: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return the events without Recollect's hooks, and without groups and events that become empty."""
    left: dict[str, list[Any]] = {}
    for event, entries in events.items():
        kept = []
        for entry in entries:
            others = [hook for hook in _hooks_of(entry) if not is_our_hook(hook)]
            if len(others) == len(_hooks_of(entry)):
                kept.append(entry)
            elif others:
                kept.append({**entry, "hooks": others})
        if kept or not entries:
            left[event] = kept
    return left


# Files


def read_settings(path: Path) -> str | None:
    """Read the text with its line ends; None if there is no file."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise NotEditable(f"it is not UTF-8: {error}") from error


def backup_path(path: Path) -> Path:
    """Return the path of the copy from before the last change by Recollect."""
    return path.with_name(f"{path.name}.before-recollect")


def read_backup(path: Path) -> str | None:
    """Return the text from before the last change, if there is a readable copy."""
    try:
        return read_settings(backup_path(path))
    except NotEditable:
        return None


def apply_edit(path: Path, edit: SettingsEdit, within: Path | None = None) -> Path | None:
    """Write the edit as a whole or not at all; return the path of the backup, if there is one.

    If the edit removes the file, the folders below `within` that become empty are removed too.
    """
    path = path.resolve()  # write the target of a symbolic link, not the link
    if read_settings(path) != edit.before:
        raise Conflict(f"Another program has just changed {path}; try again.")
    if path.exists() and not path.stat().st_mode & _WRITABLE:  # replacing a read-only file would succeed
        raise Conflict(f"{path} is read-only and was not changed; make it writable, and try again.")
    copy = backup_path(path)
    restores = edit.before is not None and edit.after == read_backup(path)
    if edit.before is not None and not restores and edit.after is not None and edit.needs_backup:
        _write_whole(copy, edit.before, like=path)
    if edit.after is None:
        path.unlink()
    else:
        _write_whole(path, edit.after, like=path)
    if restores or edit.after is None:
        copy.unlink(missing_ok=True)
    if edit.after is None and within is not None:
        with suppress(OSError):
            for folder in path.parents:
                if within.resolve() not in folder.parents:
                    break
                folder.rmdir()  # fails if it is not empty
    return copy if copy.exists() else None


def _write_whole(path: Path, text: str, *, like: Path) -> None:
    """Replace the file atomically, so that every reader sees the old file or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(like.stat().st_mode) if like.exists() else _PRIVATE
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(mode)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
