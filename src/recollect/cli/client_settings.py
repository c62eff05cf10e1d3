"""What `recollect mcp` reads on this machine: how to start the server, and where clients' settings are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.clients.entry import Launch, NotEditable, is_ours
from recollect.clients.files import launch_words, read_settings, this_machine
from recollect.settings import OFFICIAL_VARIABLE, official_file

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.cli.command import Call
    from recollect.clients.catalogue import Client

_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # the clients' own variables say where their files are
_AS_OPTIONS = ("store", "owner", "agent", "model")
_OVER_HTTP = ("token", "allow_hosts")
"""A server that a client starts has no use for these."""


def launch_from(call: Call, tools: str | None) -> tuple[Launch, list[str]]:
    """The server's command, with what the shell would tell it: a client does not see the shell.

    Then a warning for each secret, which is never written.
    """
    command_, *first = launch_words()
    arguments = [*first, "serve"]
    variables: dict[str, str] = {}
    secrets: list[str] = []
    for row in call.settings()[1]:
        if row.name in _OVER_HTTP:
            continue
        if row.origin == "option" or row.origin.startswith("RECOLLECT_"):
            value = _absolute(row.value) if isinstance(row.value, Path) else row.shown
            if row.name in _AS_OPTIONS:
                arguments += [f"--{row.name}", value]
            elif row.is_secret:
                secrets.append(f"{row.origin} is a secret and is not written; put it into the settings file.")
            else:
                variables[row.origin] = value
    if tools is not None:
        from recollect.serve.operations.catalogue import chosen  # loads the tools

        chosen(tools)  # what the server would refuse, the client would only show as a server that fails
        arguments += ["--tools", tools]
    if _ENVIRON.get("RECOLLECT_CONFIG"):
        variables["RECOLLECT_CONFIG"] = _absolute(Path(_ENVIRON["RECOLLECT_CONFIG"]))
    return Launch(command_, tuple(arguments), variables), secrets


def settings_file(client: Client, project: str | None) -> Path:
    if project is None:
        return Path(client.file(this_machine(_ENVIRON)))
    folder = Path(project).expanduser().absolute()
    if not folder.is_dir():
        raise click.ClickException(f"There is no folder {folder}.")
    return Path(client.file(this_machine(_ENVIRON), folder))


def user_folder(project: str | None) -> Path:
    """The folder that is the user's, not a client's."""
    return Path.home() if project is None else Path(project).expanduser().absolute()


def server_state(client: Client, path: Path, name: str) -> str:
    try:
        found = client.format.entry_in(read_settings(path) or "", name)
    except (NotEditable, OSError):
        return "unreadable"
    if found is None:
        return ""
    return "installed" if is_ours(found) else "another"


def is_here(client: Client) -> bool:
    """Whether there is a trace of the client: its file, or the folder that only it makes."""
    path = settings_file(client, None)
    folder = path.parent if path.parent != Path.home() else path.with_suffix("")
    return path.exists() or folder.is_dir()


def _absolute(path: Path) -> str:
    # The official server's variable is the shell's too, so what it names goes along.
    path = (official_file() or path) if path == Path(OFFICIAL_VARIABLE) else path
    return str(path.expanduser().absolute())
