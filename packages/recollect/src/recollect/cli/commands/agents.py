"""`recollect mcp` and `recollect hooks`: change the settings of AI clients, and undo the change."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recollect.agents import clients, settings_files
from recollect.agents.hook_activity import activity_of, answering_addresses, remove_hook_files, stop_residents
from recollect.agents.hook_files import hooks_folder, logged_events
from recollect.agents.settings_files import NotEditable, SettingsEdit
from recollect.cli.command import REFUSED, Call, command, group, option
from recollect.cli.options import DRY_RUN, HIDDEN_DRY_RUN, parse_time
from recollect.cli.rendering import Column, Result, Table, Verbatim
from recollect.domain.errors import missing_extra
from recollect.settings import OFFICIAL_VARIABLE, official_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from recollect.agents.clients import Client, HookClient, Launch

_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # clients name their folders in their own variables
_OPTION_SETTINGS = ("store", "owner", "agent", "model")
_HTTP_SETTINGS = ("token", "allow_hosts")
"""Settings that a server does not need if a client starts it."""
_CLIENT = click.argument("client", metavar="CLIENT", type=click.Choice(tuple(clients.CLIENTS)))
_HOOK_CLIENT = click.argument("client", metavar="CLIENT", type=click.Choice(tuple(clients.HOOK_CLIENTS)))
_NAME = option("--name NAME", "Name of the server in the client.", default="recollect")
_PROJECT = option("--project DIR", "Only for the project in this folder.", type=click.Path())


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
@option("--tools SET|NAMES", "Tools: default, recall-only, all, or names with commas.")
@DRY_RUN
@option("--force", "Replace another server of this name.")
def mcp_install_command(
    call: Call, client: str, name: str, project: str | None, tools: str | None, dry_run: bool, force: bool
) -> Result:
    """Add the server to a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode, gemini or opencode. For codex and generic, the
    command prints what to paste, and where.

    Other settings are kept, and the old file is copied. A file with comments is not changed; the command
    prints what to paste instead. The values of --store, --owner, --agent and --model, or of their variables,
    are written too, because clients do not see your shell. Installing again updates the entry.
    """
    target = clients.CLIENTS[client]
    # Without this package, the server would fail later, in the client. Version 1 of `mcp` lacks the module.
    if find_spec("mcp_types") is None:
        raise missing_extra("The server", "mcp", "No module named 'mcp_types'")
    launch, warnings = _launch(call, tools)
    wanted = target.entry(launch)
    snippet = target.snippet(clients.checked_name(name), wanted)
    if target.user is None or target.toml:
        place = None if target.user is None else str(_file(target, project))
        shown = {"client": target.name, "name": name, "file": place, "entry": wanted, "snippet": snippet}
        hint = target.next if place is None else f"Paste it into {place}. {target.next}"
        return Result(shown, [Verbatim(snippet)], warnings=warnings, hints=[hint])
    path = _file(target, project)
    data: dict[str, Any] = {"client": target.name, "name": name, "file": str(path), "changed": False}

    def edit(before: str | None) -> SettingsEdit:
        backup = settings_files.read_backup(path.resolve())
        change = settings_files.edit_to_install(target, before, name, launch, backup, force=force)
        data["entry"] = settings_files.server_in(target, change.after, name)
        return change

    done = _apply(
        *(edit, path, data),
        dry_run=dry_run,
        unchanged=f"{target.title} has this server already",
        advice="paste what is shown",
        snippet=snippet,
        warnings=warnings,
    )
    if isinstance(done, Result):
        return done
    if launch.may_vanish:
        warnings.append(
            "this program is in uv's cache, which may be emptied; install it: "
            "uv tool install 'recollect-memory[mcp]'"
        )
    previous = settings_files.server_in(target, done[0].before, name)
    text, first = f"Added {name} to {target.title}, in {path}.", [f"It will start: {launch.line}"]
    if clients.is_ours(previous):
        text = f"Updated {name} in {target.title}, in {path}."
        data["difference"] = first = clients.entry_difference(previous, data["entry"])
    return Result.message(text, data, [*first, *done[1], target.next], warnings=warnings)


@command("uninstall", "recollect mcp uninstall claude-code", "recollect mcp uninstall cursor --project .")
@_CLIENT
@_NAME
@_PROJECT
@HIDDEN_DRY_RUN
@option("--force")
def mcp_uninstall_command(
    _: Call, client: str, name: str, project: str | None, dry_run: bool, force: bool
) -> Result:
    """Remove the server from a client's settings.

    CLIENT is claude-desktop, claude-code, cursor, vscode, gemini or opencode.

    If nothing else changed since the installation, the file is restored. The memory is kept.
    """
    target = clients.CLIENTS[client]
    path = _file(target, project)
    data = {"client": target.name, "name": name, "file": str(path), "changed": False}

    def edit(before: str | None) -> SettingsEdit:
        if target.toml and settings_files.server_in(target, before, name) is not None:
            raise NotEditable("it is TOML, which this command does not edit")
        backup = settings_files.read_backup(path.resolve())
        return settings_files.edit_to_uninstall(target, before, name, backup, force=force)

    done = _apply(
        *(edit, path, data),
        dry_run=dry_run,
        unchanged=f"{target.title} has no server named {name}",
        advice=f"remove {name!r} by hand",
        within=_folder(project),
    )
    if isinstance(done, Result):
        return done
    details = [*done[1], f"{target.title} stops using it at its next start."]
    return Result.message(_removed_text(name, target.title, path, done[0]), data, details)


@command("list", "recollect mcp list", "recollect mcp list --json")
@option("--name TEXT", default="recollect")
@option("--project", type=click.Path())
def mcp_list_command(_: Call, name: str, project: str | None) -> Result:
    """List the clients, and which of them have the server."""
    data: list[dict[str, Any]] = []
    for each in clients.CLIENTS.values():
        if each.user is not None and (project is None or each.project is not None):
            path, usual = _file(each, project), _file(each, None)
            # The client is installed if its file exists, or the folder that only it creates.
            folder = usual.parent if usual.parent != Path.home() else usual.with_suffix("")
            try:
                found = settings_files.server_in(each, settings_files.read_settings(path), name)
                state = "" if found is None else "installed" if clients.is_ours(found) else "another"
            except (NotEditable, OSError):
                state = "unreadable"
            known = {"here": usual.exists() or folder.is_dir(), "state": state, "file": str(path)}
            data.append({"name": each.name, "title": each.title, **known})
    home, seen = str(Path.home()), {True: "here", False: "not seen"}
    rows = [
        (each["name"], seen[each["here"]], each["state"], each["file"].replace(home, "~", 1)) for each in data
    ]
    columns = ("Client", "", "Server", Column("Settings", wrap="whole"))
    footer = (
        "Not seen: its settings do not exist. To add the server to a client: recollect mcp install CLIENT"
    )
    return Result.table({"clients": data}, columns, rows, footer)


@group(
    "mcp",
    (mcp_install_command, mcp_uninstall_command, mcp_list_command),
    "recollect mcp list",
    "recollect mcp install claude-desktop",
)
def mcp_command(_: Call) -> None:
    """Connect Claude, Cursor, VS Code and others, or disconnect.

    Each client has a settings file with the MCP servers that it starts. Recollect's is `recollect serve`.
    """


@command(
    "install",
    "recollect hooks install claude-code",
    "recollect hooks install codex --dry-run",
    "recollect hooks install gemini --project . --store ~/work.db",
)
@_HOOK_CLIENT
@_PROJECT
@option("--allow-secrets", "Also store what looks like a key or a password.")
@DRY_RUN
def hooks_install_command(
    call: Call, client: str, project: str | None, allow_secrets: bool, dry_run: bool
) -> Result:
    """Let a client recall before each prompt, and store messages.

    CLIENT is claude-code, codex, gemini, opencode or cursor. Other hooks and settings are kept, and the old
    file is copied. A file with comments is not changed; the command prints what to paste instead. The values
    of --store, --owner, --agent and --model are written too. Installing again updates the hooks.
    """
    target = clients.HOOK_CLIENTS[client]
    options, warnings = _hook_options(call, allow_secrets=allow_secrets)
    path = _file(target, project)
    entries = target.entries(sys.executable, options, sys.platform)

    def edit(before: str | None) -> SettingsEdit:
        if not target.is_plugin:
            return settings_files.edit_to_install_hooks(before, entries, target.version)
        if before is not None and not before.startswith(clients.PLUGIN_MARK):
            raise clients.AnotherEntry(f"{path} is not from Recollect; move it away, and try again.")
        plugin = clients.opencode_plugin(target, sys.executable, options)
        return SettingsEdit(before, plugin, needs_backup=False)

    data = {"client": target.name, "file": str(path), "events": list(target.events), "changed": False}
    listed = {"hooks": {event: [entry] for event, entry in entries.items()}}
    done = _apply(
        *(edit, path, data),
        dry_run=dry_run,
        unchanged=f"{target.title} has these hooks already",
        advice="paste what is shown",
        snippet="" if target.is_plugin else json.dumps(listed, indent=2),
        warnings=warnings,
    )
    if isinstance(done, Result):
        return done
    Path(hooks_folder()).mkdir(
        mode=0o700, parents=True, exist_ok=True
    )  # servers answer hooks while this folder exists
    if clients.Launch(sys.executable).may_vanish:
        warnings.append(
            "this program is in uv's cache, which may be emptied; install it: "
            "uv tool install recollect-memory"
        )
    details = [*done[1], target.next, "To see what they do: recollect hooks status"]
    text = f"Added hooks to {target.title}, in {path}: {', '.join(target.events)}."
    return Result.message(text, data, details, warnings=warnings)


@command("uninstall", "recollect hooks uninstall claude-code", "recollect hooks uninstall gemini --project .")
@_HOOK_CLIENT
@_PROJECT
@HIDDEN_DRY_RUN
def hooks_uninstall_command(_: Call, client: str, project: str | None, dry_run: bool) -> Result:
    """Remove Recollect's hooks from a client's settings.

    If nothing else changed since the installation, the file is restored. The memory is kept. The process
    that answers hooks ends. After the last client, the hooks' files and log are deleted too.
    """
    target = clients.HOOK_CLIENTS[client]
    path = _file(target, project)

    def edit(before: str | None) -> SettingsEdit:
        if target.is_plugin:
            ours = before is not None and before.startswith(clients.PLUGIN_MARK)
            return SettingsEdit(before, None if ours else before)
        backup = settings_files.read_backup(path.resolve())
        return settings_files.edit_to_uninstall_hooks(before, backup, target.version)

    data = {"client": target.name, "file": str(path), "changed": False}
    done = _apply(
        *(edit, path, data),
        dry_run=dry_run,
        unchanged=f"{target.title} has no hooks from Recollect",
        advice="remove the entries that run recollect.hooks",
        within=_folder(project),
    )
    if isinstance(done, Result):
        return done
    # End the processes that hooks started; without hooks in any client, delete their files.
    details, folder = done[1], hooks_folder()
    stop_residents(folder)
    if not any(each["state"] for each in _hooks_installed(None)):
        left = remove_hook_files(folder)
        details += [f"Messages not stored yet: {left}, in {folder}"] if left else []
    return Result.message(_removed_text("our hooks", target.title, path, done[0]), data, details)


@command("status", "recollect hooks status", "recollect hooks status --day 2026-11-16 --json")
@option("--project", type=click.Path())
@option("--day DATE", "Day (default: today), such as 2026-11-16; 14 days are kept.", type=parse_time)
def hooks_status_command(call: Call, project: str | None, day: datetime | None) -> Result:
    """Show where hooks are installed, and what they did on a day.

    For each client, it counts prompts, memories given, messages stored, secrets removed and errors, and shows
    how long prompts waited.
    """
    installed = _hooks_installed(project)
    # The log uses the machine's days, since hooks read no settings.
    folder, of_day = hooks_folder(), f"{day or call.now().astimezone(None):%Y-%m-%d}"
    activity = activity_of(list(logged_events(folder, of_day)))
    answering = sorted(address.process_id for address in answering_addresses(folder).values())
    rows, hints = activity["clients"], [f"Error: {line}" for line in activity["errors"][-3:]]
    view = [Table(("Client", "Hooks", "Settings"), [tuple(each.values()) for each in installed])]
    if rows:
        counts = [(label, *(row[name] for row in rows)) for name, label in _MEASURES.items()]
        view.append(Table((of_day, *(row["client"] for row in rows)), counts))
    else:
        hints.insert(0, f"No hook ran on {of_day}.")
    hints += [f"Process {process_id} answers hooks." for process_id in answering]
    data = {"day": of_day, "installed": installed, "answering_processes": answering, **activity}
    return Result(data, view, hints=hints)


_MEASURES = {
    "prompts": "Prompts",
    "answered": "  with memories",
    "memories": "  memories given",
    "silent": "  no relevant memory",
    "late": "  answer too late",
    "starting": "  process not ready",
    "skipped": "  client commands",
    "captured": "Messages stored",
    "repeated": "  skipped: only repeated memories",
    "notes": "Notes extracted",
    "secrets": "Secrets removed",
    "errors": "Errors",
    "p50_ms": "Waiting time, median, ms",
    "p95_ms": "Waiting time, 95 %, ms",
}


@group(
    "hooks",
    (hooks_install_command, hooks_uninstall_command, hooks_status_command),
    "recollect hooks install claude-code",
    "recollect hooks status",
    "recollect hooks uninstall claude-code",
)
def hooks_command(_: Call) -> None:
    """Let an agent recall and remember by itself.

    Before each prompt, a hook adds relevant memories to it, often none. After each turn, it stores the
    messages, without secrets. docs/guides/hooks.md has the details.
    """


# How a settings file is changed


def _apply(
    edit_of: Callable[[str | None], SettingsEdit],
    path: Path,
    data: dict[str, Any],
    *,
    dry_run: bool,
    unchanged: str,
    advice: str,
    snippet: str = "",
    warnings: Sequence[str] = (),
    within: Path | None = None,
) -> tuple[SettingsEdit, list[str]] | Result:
    """Change a file; return the edit, and a line that names the copy of the old file.

    On a dry run, without changes, or if the file cannot be edited, return a result. If the file is removed,
    empty folders below `within` are removed too.
    """
    try:
        edit = edit_of(settings_files.read_settings(path))
    except NotEditable as error:
        # The error goes to standard error, and the text to paste to standard output.
        text = f"{path} was not changed: {error}. Correct it and try again, or {advice}."
        view = [Verbatim(snippet)] if snippet else []
        return Result({**data, "snippet": snippet}, view, warnings=[*warnings, text], exit_code=REFUSED)
    if dry_run:
        from difflib import unified_diff  # only a dry run needs it

        before, after = ((text or "").splitlines(keepends=True) for text in (edit.before, edit.after))
        names = (str(path) if before else os.devnull, str(path) if after else os.devnull)
        lines = [line.rstrip("\r\n") for line in unified_diff(before, after, *names, n=2)]
        nothing = "Nothing would change" if edit.is_none else "Nothing was changed: this was a dry run"
        return Result(
            {**data, "dry_run": True, "would_change": not edit.is_none, "diff": lines},
            [Verbatim("\n".join(lines))] if lines else [],
            warnings=warnings,
            hints=[f"{nothing}; the file is {path}."],
        )
    if edit.is_none:
        return Result.message(f"{unchanged}, in {path}; nothing was changed.", data, warnings=warnings)
    copy = settings_files.apply_edit(path, edit, within)
    data["changed"] = True
    return edit, [] if copy is None else [f"Copy of the old file: {copy}"]


def _removed_text(what: str, title: str, path: Path, edit: SettingsEdit) -> str:
    gone = " The file was then empty, so it was deleted." if edit.after is None else ""
    return f"Removed {what} from {title}, in {path}.{gone}"


# Settings and files on this machine


def _local_settings(call: Call) -> list[Any]:
    """Return the settings from options or the environment, which a client does not see."""
    return [
        row for row in call.settings()[1] if row.origin == "option" or row.origin.startswith("RECOLLECT_")
    ]


def _launch(call: Call, tools: str | None) -> tuple[Launch, list[str]]:
    """Return the server's command with the settings of this shell, and a warning for each secret."""
    command_, *first = clients.launch_words()
    arguments = [*first, "serve"]
    variables: dict[str, str] = {}
    secrets: list[str] = []
    for row in _local_settings(call):
        value = _absolute(row.value) if isinstance(row.value, Path) else row.shown
        if row.name in _HTTP_SETTINGS:
            continue
        if row.name in _OPTION_SETTINGS:
            arguments += [f"--{row.name}", value]
        elif row.is_secret:
            secrets.append(f"{row.origin} is a secret, so it was not written; set it in the settings file.")
        else:
            variables[row.origin] = value
    if tools is not None:
        from recollect.operations.catalogue import tools_named  # loads the tools

        tools_named(tools)  # a wrong name must fail here, not in the client
        arguments += ["--tools", tools]
    if _ENVIRON.get("RECOLLECT_CONFIG"):
        variables["RECOLLECT_CONFIG"] = _absolute(Path(_ENVIRON["RECOLLECT_CONFIG"]))
    return clients.Launch(command_, tuple(arguments), variables), secrets


def _hook_options(call: Call, *, allow_secrets: bool) -> tuple[list[str], list[str]]:
    """Return the options of a hook, which does not see this shell, and warnings."""
    from recollect.stores.url import StoreUrl

    options, warnings = ["--folder", hooks_folder()], []
    if _ENVIRON.get("RECOLLECT_CONFIG"):
        warnings.append(
            "RECOLLECT_CONFIG is set here; set it for the client too; otherwise hooks use other settings."
        )
    for row in _local_settings(call):
        if row.name not in _OPTION_SETTINGS:
            continue
        value = _absolute(row.value) if isinstance(row.value, Path) else row.shown
        if isinstance(row.value, StoreUrl):
            value = call.store or _ENVIRON["RECOLLECT_STORE"]  # as given, with its options
            if str(row.value) != row.value.server:
                warnings.append(
                    "The store's URL has a password, so it was not written; set `store` in the settings "
                    "file, or put the password into ~/.pgpass."
                )
                continue
        options += [f"--{row.name}", value]
    return [*options, *(["--allow-secrets"] if allow_secrets else [])], warnings


def _absolute(path: Path) -> str:
    # The client does not see the official server's variable either.
    path = (official_file() or path) if path == Path(OFFICIAL_VARIABLE) else path
    return str(path.expanduser().absolute())


def _file(client: Client | HookClient, project: str | None) -> Path:
    folder = None if project is None else _folder(project)
    if folder is not None and not folder.is_dir():
        raise click.ClickException(f"There is no folder {folder}.")
    return Path(client.file(clients.this_machine(_ENVIRON), folder))


def _folder(project: str | None) -> Path:
    return Path.home() if project is None else Path(project).expanduser().absolute()


def _hooks_installed(project: str | None) -> list[dict[str, str]]:
    """Return for each client whether its settings have Recollect's hooks."""
    installed = []
    for each in clients.HOOK_CLIENTS.values():
        path = _file(each, project)
        try:
            text = settings_files.read_settings(path) or ""
            there = text.startswith(clients.PLUGIN_MARK) if each.is_plugin else settings_files.hooks_in(text)
            state = "installed" if there else ""
        except (NotEditable, OSError):
            state = "unreadable"
        installed.append({"client": each.name, "state": state, "file": str(path)})
    return installed
