"""`recollect mcp`: put the server into a client's settings, or take it out."""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, group
from recollect.cli.options import DRY_RUN
from recollect.cli.rendering import Result, Verbatim
from recollect.extras import missing_extra

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from recollect.clients.catalogue import Client
    from recollect.clients.entry import NotEditable, SettingsEdit

CHOICES = ("claude-desktop", "claude-code", "cursor", "vscode", "codex", "gemini", "opencode", "generic")
_CLIENT = click.argument("client", metavar="CLIENT", type=click.Choice(CHOICES))
_NAME = click.option(
    "--name", metavar="NAME", default="recollect", show_default=True, help="What the client calls the server."
)
_PROJECT = click.option(
    "--project", metavar="DIR", type=click.Path(), help="Only for the project in this folder, not for all."
)


@command(
    "install",
    "recollect mcp install claude-code",
    "recollect mcp install cursor --project . --dry-run",
    "recollect mcp install claude-desktop --store ~/work.db --name work-memory",
    "recollect mcp install generic",
)
@_CLIENT
@_NAME
@_PROJECT
@click.option(
    "--tools",
    metavar="SET|NAMES",
    help="Which tools to offer: default, recall-only, all, or names with commas.",
)
@DRY_RUN
@click.option("--force", is_flag=True, help="Replace a server of this name that is not ours.")
def mcp_install_command(
    call: Call, client: str, name: str, project: str | None, tools: str | None, dry_run: bool, force: bool
) -> Result:
    """Put the server into a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode, codex, gemini or opencode; generic prints what to
    paste elsewhere.

    Everything else in the file stays as it is, comments too, and a copy of it is kept beside it. What
    --store, --owner, --agent and --model say, or their variables, is written too: a client does not see your
    shell. Installing again updates the entry.
    """
    from recollect.cli.client_settings import launch_from, settings_file  # loads the clients
    from recollect.clients import entry, files
    from recollect.clients.catalogue import client_named

    to = client_named(client)
    # What would fail later, where the client starts it unseen. An `mcp` of version 1 has no such module.
    if find_spec("mcp_types") is None:
        raise missing_extra("The server", "mcp", "No module named 'mcp_types'")
    launch, warnings = launch_from(call, tools)
    wanted = to.entry(launch)
    snippet = to.format.snippet(entry.checked_name(name), wanted)
    if to.user is None:
        generic = {"client": to.name, "name": name, "entry": wanted, "snippet": snippet}
        return Result(generic, [Verbatim(snippet)], warnings=warnings, hints=[to.next])
    path = settings_file(to, project)
    try:
        before = files.read_settings(path)
        there = to.format.entry_in(before or "", name)
        edit = entry.edit_to_install(to, before, name, launch, files.read_backup(path.resolve()), force=force)
    except entry.NotEditable as error:
        return _not_edited(to, path, error, "put in by hand what is shown", snippet, warnings)
    data = {**_data(to, name, path), "entry": to.format.entry_in(edit.after or "", name)}
    if dry_run:
        return difference_shown(path, edit, data, warnings)
    if edit.is_none:
        text = f"{to.title} has it already, in {path}; nothing was changed."
        return Result.message(text, data, warnings=warnings)
    copy = _copy(files.apply_edit(path, edit))
    data = {**data, "changed": True}
    if launch.may_vanish:
        warnings.append(
            "it is in uv's cache and may vanish; `uv tool install 'recollect-memory[mcp]'` stays."
        )
    text, first = f"Added {name} to {to.title}, in {path}.", [f"It will start: {launch.line}"]
    if entry.is_ours(there):
        text, first = (
            f"Updated {name} in {to.title}, in {path}.",
            entry.entry_difference(there, data["entry"]),
        )
        data["difference"] = first
    return Result.message(text, data, [*first, *copy, to.next], warnings=warnings)


@command(
    "uninstall",
    "recollect mcp uninstall claude-code",
    "recollect mcp uninstall cursor --project . --dry-run",
)
@_CLIENT
@_NAME
@_PROJECT
@DRY_RUN
@click.option("--force", is_flag=True, help="Also if the server of this name is not ours.")
def mcp_uninstall_command(
    _: Call, client: str, name: str, project: str | None, dry_run: bool, force: bool
) -> Result:
    """Take the server out of a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode, codex, gemini or opencode.

    If nothing else has changed since, the file is as it was before, to the letter. The memory stays.
    """
    from recollect.cli.client_settings import settings_file, user_folder  # loads the clients
    from recollect.clients import entry, files
    from recollect.clients.catalogue import client_named

    of = client_named(client)
    path = settings_file(of, project)
    try:
        before = files.read_settings(path)
        edit = entry.edit_to_uninstall(of, before, name, files.read_backup(path.resolve()), force=force)
    except entry.NotEditable as error:
        return _not_edited(of, path, error, f"take {name!r} out by hand")
    data = _data(of, name, path)
    if dry_run:
        return difference_shown(path, edit, data)
    if edit.is_none:
        return Result.message(f"{of.title} has no server named {name}, in {path}; nothing was changed.", data)
    copy = _copy(files.apply_edit(path, edit, user_folder(project)))
    gone = " The file, which held nothing else, is gone." if edit.after is None else ""
    details = [*copy, f"It is gone when {of.title} next starts."]
    return Result.message(
        f"Took {name} out of {of.title}, in {path}.{gone}", {**data, "changed": True}, details
    )


@command("list", "recollect mcp list", "recollect mcp list --project .")
@_NAME
@_PROJECT
def mcp_list_command(_: Call, name: str, project: str | None) -> Result:
    """List the clients, and which of them have the server.

    In a pipe, the fields of a line are: client, `here` or `not seen`, `installed`, `another`, `unreadable`
    or nothing, file.
    """
    from recollect.cli.client_settings import is_here, server_state, settings_file  # loads the clients
    from recollect.clients.catalogue import CLIENTS

    data: list[dict[str, Any]] = []
    for each in CLIENTS.values():
        if each.user is not None and (project is None or each.project is not None):
            path = settings_file(each, project)
            found = {"here": is_here(each), "state": server_state(each, path, name), "file": str(path)}
            data.append({"name": each.name, "title": each.title, **found})
    rows = [
        (each["name"], "here" if each["here"] else "not seen", each["state"], each["file"]) for each in data
    ]
    columns = ("Client", "", "Server", "Settings")
    return Result.table({"clients": data}, columns, rows, "Add it to one: recollect mcp install CLIENT")


@group(
    "mcp",
    (mcp_install_command, mcp_uninstall_command, mcp_list_command),
    "recollect mcp list",
    "recollect mcp install claude-desktop",
)
def mcp_command(_: Call) -> None:
    """Add the server to Claude, Cursor, VS Code, Codex; take it back.

    Each of them keeps a file of MCP servers, which it starts when it needs them. Ours is `recollect serve`.
    """


def _data(client: Client, name: str, path: Path) -> dict[str, Any]:
    return {"client": client.name, "name": name, "file": str(path), "changed": False}


def _copy(path: Path | None) -> list[str]:
    return [] if path is None else [f"What was there before: {path}"]


def difference_shown(
    path: Path, edit: SettingsEdit, data: Mapping[str, Any], warnings: Sequence[str] = ()
) -> Result:
    from difflib import unified_diff  # only a dry run needs it

    before, after = (
        [] if text is None else text.splitlines(keepends=True) for text in (edit.before, edit.after)
    )
    names = (str(path) if before else os.devnull, str(path) if after else os.devnull)
    lines = [line.rstrip("\r\n") for line in unified_diff(before, after, *names, n=2)]
    nothing = "Nothing would change" if edit.is_none else "Nothing was changed: this was a dry run"
    return Result(
        {**data, "dry_run": True, "would_change": not edit.is_none, "diff": lines},
        [Verbatim("\n".join(lines))] if lines else [],
        warnings=warnings,
        hints=[f"{nothing}; the file is {path}."],
    )


def _not_edited(
    client: Client,
    path: Path,
    error: NotEditable,
    advice: str,
    snippet: str = "",
    warnings: Sequence[str] = (),
) -> Result:
    """What is wrong goes to standard error; what to paste, to standard output."""
    text = f"{path} was left as it is: {error}. Mend it and try again, or {advice}."
    return Result(
        {"client": client.name, "file": str(path), "changed": False, "snippet": snippet},
        [Verbatim(snippet)] if snippet else [],
        warnings=[*warnings, text],
        exit_code=REFUSED,
    )
