"""What `recollect mcp` knows of this machine: how to start us, and where the clients' settings are.

Read by a command when it runs, never for its help.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.clients.entry import Launch, is_ours
from recollect.clients.failures import NotEditable
from recollect.clients.files import content, launcher, this_machine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.cli.call import Call
    from recollect.clients.catalogue import Client

_ENVIRON: Mapping[str, str] = os.environ  # noqa: TID251  # the clients' own variables say where their files are
_AS_OPTIONS = ("store", "owner", "agent", "model")


def launch(call: Call, tools: str | None) -> Launch:
    """The server's command, with what the shell would tell it: a client does not see the shell."""
    command_, *first = launcher()
    arguments = [*first, "serve"]
    variables: dict[str, str] = {}
    for row in call.settings()[1]:
        if row.origin == "option" or row.origin.startswith("RECOLLECT_"):
            value = _absolute(row.value) if isinstance(row.value, Path) else str(row.value)
            if row.name in _AS_OPTIONS:
                arguments += [f"--{row.name}", value]
            elif row.shown == str(row.value):  # a key, which is never shown, is never written either
                variables[row.origin] = value
            else:
                call.tell(f"{row.origin} is a secret and is not written; put it into the settings file.")
    if tools is not None:
        arguments += ["--tools", tools]
    if _ENVIRON.get("RECOLLECT_CONFIG"):
        variables["RECOLLECT_CONFIG"] = _absolute(Path(_ENVIRON["RECOLLECT_CONFIG"]))
    return Launch(command_, tuple(arguments), variables)


def settings_file(client: Client, project: str | None) -> Path:
    if project is None:
        return Path(client.file(this_machine(_ENVIRON)))
    folder = Path(project).expanduser().absolute()
    if not folder.is_dir():
        raise click.ClickException(f"There is no folder {folder}.")
    return Path(client.file(this_machine(_ENVIRON), folder))


def state(client: Client, path: Path, name: str) -> str:
    try:
        found = client.format.entry_in(content(path) or "", name)
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
    return str(path.expanduser().absolute())
