"""`recollect hooks`: let a client recall and remember by itself, see what it did, and take it back."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.cli.command import REFUSED, Call, command, group
from recollect.cli.options import DRY_RUN
from recollect.cli.rendering import Result, Table, Verbatim

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from recollect.clients.entry import SettingsEdit
    from recollect.clients.hook_catalogue import HookClient

_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # the clients' own variables say where their files are
HOOK_CHOICES = ("claude-code", "codex", "gemini", "opencode", "cursor")
_EVENTS = ("start", "prompt", "said", "turn")
_AS_OPTIONS = ("store", "owner", "agent", "model")
_CLIENT = click.argument("client", metavar="CLIENT", type=click.Choice(HOOK_CHOICES))
_PROJECT = click.option(
    "--project", metavar="DIR", type=click.Path(), help="Only for the project in this folder, not for all."
)


@command(
    "install",
    "recollect hooks install claude-code",
    "recollect hooks install codex --dry-run",
    "recollect hooks install gemini --project . --store ~/work.db",
)
@_CLIENT
@_PROJECT
@click.option("--allow-secrets", is_flag=True, help="Also keep what looks like a key or a password.")
@DRY_RUN
def hooks_install_command(
    call: Call, client: str, project: str | None, allow_secrets: bool, dry_run: bool
) -> Result:
    """Let a client recall before each prompt, and keep what is said.

    CLIENT is claude-code, codex, gemini, opencode or cursor. Your other hooks and all else in the file stay
    as they are, and a copy of it is kept beside it. What --store, --owner, --agent and --model say is written
    too. Installing again updates the hooks.
    """
    from recollect.clients import entry, files  # loads the clients
    from recollect.clients.hook_catalogue import hook_client_named
    from recollect.clients.hook_lists import edit_to_install_hooks
    from recollect.hooks.known import hooks_folder

    to = hook_client_named(client)
    options, warnings = _options(call, allow_secrets=allow_secrets)
    path = _path(to, project)
    entries = to.entries(sys.executable, options, sys.platform)
    try:
        before = files.read_settings(path)
        if to.list is None:
            edit = _plugin_edit(to, before, path, options)
        else:
            edit = edit_to_install_hooks(to.list, before, entries)
    except entry.NotEditable as error:
        snippet = "" if to.list is None else to.list.snippet(entries)
        return _not_edited(to, path, error, "put in by hand what is shown", snippet)
    data = {"client": to.name, "file": str(path), "events": list(to.events), "changed": False}
    if dry_run:
        return _difference(path, edit, data, warnings)
    if edit.is_none:
        return Result.message(f"{to.title} has them already, in {path}; nothing was changed.", data)
    Path(hooks_folder()).mkdir(mode=0o700, parents=True, exist_ok=True)  # from now on, servers answer hooks
    copy = files.apply_edit(path, edit)
    if entry.Launch(sys.executable).may_vanish:
        warnings.append(
            "Recollect is in uv's cache and may vanish; `uv tool install recollect-memory` stays."
        )
    details = [] if copy is None else [f"What was there before: {copy}"]
    details += [to.next, "What they do: recollect hooks status"]
    text = f"Added hooks to {to.title}, in {path}: {', '.join(to.events)}."
    return Result.message(text, {**data, "changed": True}, details, warnings=warnings)


@command("uninstall", "recollect hooks uninstall claude-code", "recollect hooks uninstall gemini --project .")
@_CLIENT
@_PROJECT
@DRY_RUN
def hooks_uninstall_command(_: Call, client: str, project: str | None, dry_run: bool) -> Result:
    """Take our hooks out of a client's settings, and nothing else.

    If nothing else has changed since, the file is as it was before, to the letter. The memory stays. The
    process that answered the hooks ends, and after the last client the hooks' own files and log go too.
    """
    from recollect.cli.client_settings import user_folder  # loads the clients
    from recollect.clients import entry, files
    from recollect.clients.hook_catalogue import PLUGIN_MARK, hook_client_named
    from recollect.clients.hook_lists import edit_to_uninstall_hooks

    of = hook_client_named(client)
    path = _path(of, project)
    try:
        before = files.read_settings(path)
        if of.list is None:
            ours = before is not None and before.startswith(PLUGIN_MARK)
            edit = entry.SettingsEdit(before, None if ours else before)
        else:
            edit = edit_to_uninstall_hooks(of.list, before, files.read_backup(path.resolve()))
    except entry.NotEditable as error:
        return _not_edited(of, path, error, "take out by hand what runs recollect.hooks")
    data = {"client": of.name, "file": str(path), "changed": False}
    if dry_run:
        return _difference(path, edit, data, [])
    if edit.is_none:
        return Result.message(f"{of.title} has no hooks of ours, in {path}; nothing was changed.", data)
    copy = files.apply_edit(path, edit, user_folder(project))
    gone = " The file, which held nothing else, is gone." if edit.after is None else ""
    details = [] if copy is None else [f"What was there before: {copy}"]
    details += _swept()
    return Result.message(
        f"Took our hooks out of {of.title}, in {path}.{gone}", {**data, "changed": True}, details
    )


@command("status", "recollect hooks status", "recollect hooks status --day 2026-11-16 --json")
@_PROJECT
@click.option(
    "--day",
    metavar="DATE",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Another day than today, as 2026-11-16; the last 14 are kept.",
)
def hooks_status_command(call: Call, project: str | None, day: datetime | None) -> Result:
    """Show where hooks are installed, and what they did today.

    For each client: prompts, how many got memories and how many memories, messages captured, secrets left
    out, errors, and how long prompts waited. In a pipe, a line of a client begins with `day`, and its fields
    are in the order in which a terminal shows them.
    """
    from recollect.hooks.activity import activity_of
    from recollect.hooks.known import hooks_folder
    from recollect.hooks.log import logged_events
    from recollect.hooks.removal import answering_addresses

    installed = _installed(project)
    # The log's days are the machine's, since hooks read no time zone.
    folder, of_day = hooks_folder(), f"{day or call.now().astimezone(None):%Y-%m-%d}"
    activity = activity_of(list(logged_events(folder, of_day)))
    answering = sorted(address.process_id for address in answering_addresses(folder).values())
    rows, hints = activity["clients"], [f"Error: {line}" for line in activity["errors"][-3:]]
    view = [
        Table(("Client", "Hooks", "Settings"), [tuple(each.values()) for each in installed], word="hooks")
    ]
    if rows:
        counts = [(label, *(row[name] for row in rows)) for name, label in _MEASURES.items()]
        view.append(Table((of_day, *(row["client"] for row in rows)), counts, only="terminal"))
        # A line for each client, in a pipe.
        lines = [(row["client"], *(row[name] for name in _MEASURES)) for row in rows]
        view.append(Table(("Client", *_MEASURES.values()), lines, word="day", only="pipe"))
    else:
        hints.insert(0, f"No hook ran on {of_day}.")
    hints += [f"Process {process_id} answers hooks." for process_id in answering]
    data = {"day": of_day, "installed": installed, "answering_processes": answering, **activity}
    return Result(data, view, hints=hints)


_MEASURES = {
    "prompts": "Prompts",
    "answered": "  with memories",
    "memories": "  memories given",
    "silent": "  nothing bore on them",
    "late": "  late: went on without",
    "starting": "  nobody answered yet",
    "skipped": "  commands of the client",
    "captured": "Messages captured",
    "repeated": "  left out: only repeated memories",
    "notes": "Notes drawn from them",
    "secrets": "Secrets left out",
    "errors": "Errors",
    "p50_ms": "Half of the prompts waited at most, ms",
    "p95_ms": "95 % of the prompts waited at most, ms",
}


@command(
    "run",
    "recollect hooks run claude-code prompt < event.json",
)
@_CLIENT
@click.argument("event", metavar="EVENT", type=click.Choice(_EVENTS))
@click.option("--allow-secrets", is_flag=True, help="Also keep what looks like a key or a password.")
def hooks_run_command(call: Call, client: str, event: str, allow_secrets: bool) -> None:
    """Run one hook by hand: an event in, what it gives the model out.

    The client's JSON is on standard input. EVENT is start, prompt, said (a prompt that is only kept) or turn.
    Clients run the same by `python -m recollect.hooks`, which starts sooner. It always ends with 0;
    `recollect hooks status` tells of errors.
    """
    import time

    from recollect.hooks.run import run_hook

    options, _ = _options(call, allow_secrets=allow_secrets)
    run_hook([client, event, *options], time.monotonic())


@group(
    "hooks",
    (hooks_install_command, hooks_uninstall_command, hooks_status_command, hooks_run_command),
    "recollect hooks install claude-code",
    "recollect hooks status",
    "recollect hooks uninstall claude-code",
)
def hooks_command(_: Call) -> None:
    """Let an agent recall and remember by itself; take it back.

    Before a prompt, what truly bears on it joins it, which is often nothing; after a turn, what was said is
    kept, without secrets. docs/hooks.md says what is done when.
    """


def _options(call: Call, *, allow_secrets: bool) -> tuple[list[str], list[str]]:
    """What the shell would tell a hook, as options: a client need not see the shell. Then what to warn of."""
    from recollect.hooks.known import hooks_folder
    from recollect.store_url import StoreUrl

    options, warnings = ["--folder", hooks_folder()], []
    if _ENVIRON.get("RECOLLECT_CONFIG"):
        warnings.append(
            "RECOLLECT_CONFIG is set here; the client must have it too, or hooks use other settings."
        )
    for row in call.settings()[1]:
        if row.name in _AS_OPTIONS and (row.origin == "option" or row.origin.startswith("RECOLLECT_")):
            value = row.shown
            if isinstance(row.value, Path):
                value = str(row.value.expanduser().absolute())
            elif isinstance(row.value, StoreUrl):
                value = call.store or _ENVIRON["RECOLLECT_STORE"]  # as given, with its options
                if str(row.value) != row.value.server:
                    warnings.append(
                        "The store's URL holds a password and is not written; set `store` in the settings "
                        "file, or leave the password to ~/.pgpass."
                    )
                    continue
            options += [f"--{row.name}", value]
    return [*options, *(["--allow-secrets"] if allow_secrets else [])], warnings


def _path(client: HookClient, project: str | None) -> Path:
    from recollect.clients.files import this_machine

    machine = this_machine(_ENVIRON)
    if project is None:
        return Path(client.file(machine))
    folder = Path(project).expanduser().absolute()
    if not folder.is_dir():
        raise click.ClickException(f"There is no folder {folder}.")
    return Path(client.file(machine, folder))


def _plugin_edit(client: HookClient, before: str | None, path: Path, options: Sequence[str]) -> SettingsEdit:
    from recollect.clients.entry import AnotherEntry, SettingsEdit
    from recollect.clients.hook_catalogue import PLUGIN_MARK, opencode_plugin

    if before is not None and not before.startswith(PLUGIN_MARK):
        raise AnotherEntry(f"{path} is not ours; move it away, and try again.")
    return SettingsEdit(before, opencode_plugin(client, sys.executable, options), needs_backup=False)


def _swept() -> list[str]:
    """End what hooks started; where no client has hooks any more, remove their files. What is left."""
    from recollect.hooks.known import hooks_folder
    from recollect.hooks.removal import remove_hook_files, stop_residents

    folder = hooks_folder()
    stop_residents(folder)
    if any(each["state"] for each in _installed(None)):
        return []
    left = remove_hook_files(folder)
    return [f"Messages that are not in the memory yet: {left}, in {folder}"] if left else []


def _installed(project: str | None) -> list[dict[str, str]]:
    """For each client, whether its settings have our hooks."""
    from recollect.clients import entry, files  # loads the clients
    from recollect.clients.hook_catalogue import HOOK_CLIENTS, PLUGIN_MARK

    installed = []
    for each in HOOK_CLIENTS.values():
        path = _path(each, project)
        try:
            text = files.read_settings(path) or ""
            there = text.startswith(PLUGIN_MARK) if each.list is None else bool(each.list.ours_in(text))
            state = "installed" if there else ""
        except (entry.NotEditable, OSError):
            state = "unreadable"
        installed.append({"client": each.name, "state": state, "file": str(path)})
    return installed


def _difference(path: Path, edit: SettingsEdit, data: dict[str, Any], warnings: Sequence[str]) -> Result:
    from recollect.cli.commands.mcp import difference_shown

    return difference_shown(path, edit, data, warnings)


def _not_edited(client: HookClient, path: Path, error: Exception, advice: str, snippet: str = "") -> Result:
    text = f"{path} was left as it is: {error}. Mend it and try again, or {advice}."
    data = {"client": client.name, "file": str(path), "changed": False, "snippet": snippet}
    view = [Verbatim(snippet)] if snippet else []
    return Result(data, view, warnings=[text], exit_code=REFUSED)
