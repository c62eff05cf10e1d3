"""Commands about Recollect itself: settings, models, completion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Done, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect.cli.call import Call
    from recollect.models.registry import Availability
    from recollect.settings import Setting

SHELLS = ("bash", "zsh", "fish")


@command("settings", "recollect settings", "RECOLLECT_MODEL=none recollect settings --json")
def settings(call: Call) -> None:
    """Show the settings, and where each came from.

    An option wins over the environment, and that over the settings file. In the environment a setting is
    written RECOLLECT_ and its name in capitals; in the file, as `name = value`.
    """
    from recollect.settings import config_path  # noqa: PLC0415  # --help needs no settings

    _, rows = call.settings()
    call.show(_settings(rows, config_path()))


@command("models", "recollect models", "recollect reindex --model e5-small   # to change to another")
def models(call: Call) -> None:
    """List embedding models, and what installs them."""
    from recollect.bootstrap import model_name  # noqa: PLC0415  # loads the engine
    from recollect.embedders.choose import embedder_availabilities  # noqa: PLC0415

    preferred = model_name(call.settings()[0])
    call.show(_models(embedder_availabilities(), preferred))


@command(
    "completion",
    "recollect completion bash >> ~/.bashrc",
    "recollect completion zsh >> ~/.zshrc",
    "recollect completion fish > ~/.config/fish/completions/recollect.fish",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, call: Call, shell: str) -> None:
    """Print the script for completion with the tab key.

    Add it to what your shell reads at its start, as in the examples, and open a new shell.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415  # only this command needs it

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101  # one of SHELLS
    program = kind(ctx.find_root().command, {}, "recollect", "_RECOLLECT_COMPLETE")
    script = program.source()
    if call.json:
        call.show(Done("", {"shell": shell, "script": script}))
    else:
        click.echo(script)


def _settings(rows: Sequence[Setting], path: Path) -> Rows:
    there = "" if path.exists() else " (not there; everything has a default)"
    data = {
        "file": str(path),
        "file_exists": path.exists(),
        "settings": [
            {"name": row.name, "value": row.shown or None, "origin": row.origin, "meaning": row.meaning}
            for row in rows
        ],
    }
    return Rows(
        data,
        ("Setting", "Value", "From", "Meaning"),
        [(row.name, row.shown, row.origin, row.meaning) for row in rows],
        footer=f"Settings file: {path}{there}",
    )


def _models(found: Sequence[Availability], preferred: str) -> Rows:
    data = {
        "preferred": preferred,
        "models": [
            {"name": each.name, "ready": each.ready, "what": each.reason, "command": each.command}
            for each in found
        ],
    }
    rows = [
        (each.name, "ready" if each.ready else "missing", _with_command(each.reason, each.command))
        for each in found
    ]
    footer = (
        f"A new memory gets {preferred}. An old one keeps its model until: recollect reindex --model NAME"
    )
    return Rows(data, ("Model", "", "What"), rows, footer=footer)


def _with_command(reason: str, command: str | None) -> str:
    return reason if command is None else f"{reason}; run: {command}"
