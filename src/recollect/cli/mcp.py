"""`recollect mcp`: the server made known to a client, or taken back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import Group, command
from recollect.cli.failures import REFUSED
from recollect.cli.replies import Done, Rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from recollect.cli.call import Call
    from recollect.clients.catalogue import Client
    from recollect.clients.edits import SettingsEdit
    from recollect.clients.entry import Launch
    from recollect.clients.errors import NotEditable

CHOICES = ("claude-desktop", "claude-code", "cursor", "vscode", "codex", "generic")
_CLIENT = click.argument("client", metavar="CLIENT", type=click.Choice(CHOICES))
_NAME = click.option(
    "--name", metavar="NAME", default="recollect", show_default=True, help="What the client calls the server."
)
_PROJECT = click.option(
    "--project", metavar="DIR", type=click.Path(), help="Only for the project in this folder, not for all."
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")


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
@_DRY_RUN
@click.option("--force", is_flag=True, help="Replace a server of this name that is not ours.")
def install(
    call: Call, client: str, name: str, project: str | None, tools: str | None, dry_run: bool, force: bool
) -> int | None:
    """Put the server into a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode or codex; generic prints what to paste elsewhere.

    Everything else in the file stays as it is, comments too, and a copy of it is kept beside it. What
    --store, --owner, --agent and --model say, or their variables, goes along: a client does not see your
    shell. Installing again brings the entry up to date.
    """
    from recollect.cli.client_settings import launch, settings_file  # noqa: PLC0415  # --help needs none
    from recollect.clients import edits, errors, files  # noqa: PLC0415
    from recollect.clients.catalogue import client_named  # noqa: PLC0415
    from recollect.clients.entry import checked_name, entry_difference, is_ours  # noqa: PLC0415

    to, started = client_named(client), launch(call, tools)
    if to.user is None:
        _print_snippet(call, to, checked_name(name), started)
        return None
    path = settings_file(to, project)
    try:
        before = files.read_settings(path)
        there = to.format.entry_in(before or "", checked_name(name))
        made = edits.edit_to_install(
            to, before, name, started, files.read_backup(path.resolve()), force=force
        )
    except errors.NotEditable as error:
        return _refused(call, to, path, error, name, started)
    data = {**_data(to, name, path), "entry": to.format.entry_in(made.after or "", name)}
    if dry_run:
        _show_difference(call, path, made, data)
    elif made.is_none:
        call.show(Done(f"{to.title} has it already, in {path}; nothing was changed.", data))
    else:
        kept = _kept(files.apply_edit(path, made))
        data = {**data, "changed": True}
        if is_ours(there):
            changes = entry_difference(there, data["entry"])
            message = f"Updated {name} in {to.title}, in {path}."
            call.show(Done(message, {**data, "difference": changes}, [*changes, *kept, to.next]))
        else:
            details = [f"It will start: {started.line}", *kept, to.next]
            call.show(Done(f"Added {name} to {to.title}, in {path}.", data, details))
        if started.may_vanish:
            call.tell("it is in uv's cache and may vanish; `uv tool install recollect-memory` stays.")
    return None


@command(
    "uninstall",
    "recollect mcp uninstall claude-code",
    "recollect mcp uninstall cursor --project . --dry-run",
)
@_CLIENT
@_NAME
@_PROJECT
@_DRY_RUN
@click.option("--force", is_flag=True, help="Also if the server of this name is not ours.")
def uninstall(
    call: Call, client: str, name: str, project: str | None, dry_run: bool, force: bool
) -> int | None:
    """Take the server out of a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode or codex.

    If nothing else has changed since, the file is as it was before, to the letter. The memory stays.
    """
    from recollect.cli.client_settings import outermost, settings_file  # noqa: PLC0415  # --help needs none
    from recollect.clients import edits, errors, files  # noqa: PLC0415
    from recollect.clients.catalogue import client_named  # noqa: PLC0415

    of = client_named(client)
    path = settings_file(of, project)
    try:
        before = files.read_settings(path)
        made = edits.edit_to_uninstall(of, before, name, files.read_backup(path.resolve()), force=force)
    except errors.NotEditable as error:
        return _refused(call, of, path, error, name)
    data = _data(of, name, path)
    if dry_run:
        _show_difference(call, path, made, data)
    elif made.is_none:
        call.show(Done(f"{of.title} has no server named {name}, in {path}; nothing was changed.", data))
    else:
        kept = _kept(files.apply_edit(path, made, outermost(project)))
        gone = " The file, which held nothing else, is gone." if made.after is None else ""
        message = f"Took {name} out of {of.title}, in {path}.{gone}"
        details = [*kept, f"It is gone when {of.title} next starts."]
        call.show(Done(message, {**data, "changed": True}, details))
    return None


@command("list", "recollect mcp list", "recollect mcp list --project .")
@_NAME
@_PROJECT
def list_(call: Call, name: str, project: str | None) -> None:
    """List the clients, and which of them have the server.

    In a pipe, the fields of a line are: client, `here` or `not seen`, `installed`, `another`, `unreadable`
    or nothing, file.
    """
    from recollect.cli.client_settings import is_here, settings_file, state  # noqa: PLC0415  # --help needs none
    from recollect.clients.catalogue import CLIENTS  # noqa: PLC0415

    data: list[dict[str, Any]] = []
    for each in CLIENTS.values():
        if each.user is not None and (project is None or each.project is not None):
            path = settings_file(each, project)
            found = {"here": is_here(each), "state": state(each, path, name), "file": str(path)}
            data.append({"name": each.name, "title": each.title, **found})
    rows = [
        (each["name"], "here" if each["here"] else "not seen", each["state"], each["file"]) for each in data
    ]
    footer = "Add it to one: recollect mcp install CLIENT"
    call.show(Rows({"clients": data}, ("Client", "", "Server", "Settings"), rows, footer=footer))


@click.command(
    "mcp",
    cls=Group,
    sections={"Commands": (install, uninstall, list_)},
    examples=(
        "recollect mcp list",
        "recollect mcp install claude-desktop",
        "recollect mcp install vscode --project . --dry-run",
        "recollect mcp uninstall claude-desktop",
    ),
    invoke_without_command=True,
)
@click.pass_context
def mcp(ctx: click.Context) -> None:
    """Add the server to Claude, Cursor, VS Code, Codex; take it back.

    Each of them keeps a file of MCP servers, which it starts when it needs them. Ours is `recollect serve`.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def _data(client: Client, name: str, path: Path) -> dict[str, Any]:
    return {"client": client.name, "name": name, "file": str(path), "changed": False}


def _kept(copy: Path | None) -> list[str]:
    return [] if copy is None else [f"What was there before: {copy}"]


def _print_snippet(call: Call, client: Client, name: str, launch: Launch) -> None:
    from recollect.clients.entry import server_entry  # noqa: PLC0415  # --help needs none

    made = server_entry(launch, typed=client.format.typed)
    text = client.format.snippet(name, made)
    if call.json:
        call.show(Done(text, {"client": client.name, "name": name, "entry": made, "snippet": text}))
    else:
        click.echo(text)
        call.whisper(client.next)


def _show_difference(call: Call, path: Path, made: SettingsEdit, data: Mapping[str, Any]) -> None:
    from difflib import unified_diff  # noqa: PLC0415  # --help needs none

    before, after = (
        [] if text is None else text.splitlines(keepends=True) for text in (made.before, made.after)
    )
    names = (str(path) if before else os.devnull, str(path) if after else os.devnull)
    lines = [line.rstrip("\r\n") for line in unified_diff(before, after, *names, n=2)]
    if call.json:
        call.show(Done("", {**data, "dry_run": True, "would_change": not made.is_none, "diff": lines}))
    else:
        from recollect.cli.visible import visible  # noqa: PLC0415  # --help needs none

        for line in lines:
            click.echo(visible(line))
        nothing = "Nothing would change" if made.is_none else "Nothing was changed: this was a dry run"
        call.whisper(f"{nothing}; the file is {path}.")


def _refused(
    call: Call, client: Client, path: Path, error: NotEditable, name: str, launch: Launch | None = None
) -> int:
    """What is wrong goes to standard error; what to paste, to standard output."""
    from recollect.clients.entry import server_entry  # noqa: PLC0415  # --help needs none

    if launch is None:
        snippet, advice = "", f"take {name!r} out by hand"
    else:
        snippet = client.format.snippet(name, server_entry(launch, typed=client.format.typed))
        advice = "put in by hand what is shown"
    message = f"{path} was left as it is: {error}. Mend it and try again, or {advice}."
    call.tell(message)
    if call.json:
        data = {"client": client.name, "file": str(path), "changed": False, "snippet": snippet}
        call.show(Done(message, data, mark="problem"))
    elif snippet:
        click.echo(snippet)
    return REFUSED
