"""The demo of `make demo`: real commands of `recollect` on a temporary store, shown as in a terminal."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from recollect.cli.main import cli

STEPS = (
    (
        "An agent stores what it learns.",
        "remember 'Marta gets hives from cashews' --at 2025-02-03",
        "remember 'Jonas reviews every change to the billing code'",
        "remember 'Releases ship on Tuesdays' --at 2025-03-10",
    ),
    (
        "A question that shares no word with its answer, and why that answer is first.",
        "recall 'any food allergies?' --limit 1 --explain",
    ),
    (
        "A fact changes: the newer one comes first, and the older one is marked.",
        "remember 'Releases ship on Thursdays now' --at 2026-06-02",
        "recall 'when do releases ship?' --limit 2",
    ),
    ("Some things are not known.", "recall 'how much is the rent?'"),
    (
        "A correction retires what was wrong. Nothing is lost, so you can undo it.",
        "supersede 2 'Nadia reviews every change to the billing code'",
        "forget 5",
        "restore 2",
    ),
)
NEXT = """\
Try next, on a memory of your own:
  .venv/bin/recollect remember 'The spare key is under the blue pot'
  .venv/bin/recollect recall 'where is the key?'
  .venv/bin/recollect ui                           # the dashboard, in your browser
  .venv/bin/recollect mcp install claude-code      # or cursor, vscode, codex, …
"""


def main() -> int:
    for text in run_steps():
        click.echo(text)  # without colours if the output is not a terminal
    click.echo(NEXT, nl=False)
    return 0


def run_steps() -> Iterator[str]:
    """Run each step; yield what a terminal of 80 columns shows."""
    _leave_user_settings()
    with TemporaryDirectory(prefix="recollect-demo-", ignore_cleanup_errors=True) as folder:
        config = Path(folder, "config.toml")
        config.touch()
        _set_environment(RECOLLECT_STORE=f"{folder}/memory.db", RECOLLECT_CONFIG=str(config), COLUMNS="80")
        for comment, *commands in STEPS:
            typed = (
                click.style(f"$ recollect {command}\n", bold=True) + _run(command) for command in commands
            )
            yield click.style(f"# {comment}\n", fg="green") + "".join(typed)


def _run(command: str) -> str:
    """Run the command line in this process: a new one for each step would take five times as long."""
    shown = StringIO()
    with redirect_stdout(shown), redirect_stderr(shown):
        try:
            cli.main([*shlex.split(command), "--color"], prog_name="recollect")
        except SystemExit as ended:
            status = ended.code
    if status:
        raise click.ClickException(f"`recollect {command}` failed: {shown.getvalue()}")
    return shown.getvalue()


def _leave_user_settings() -> None:
    """Keep the user's own memory and settings out of the demo; only the model may be chosen."""
    for name in [*os.environ]:  # noqa: TID251  # read by the command line
        if name.startswith("RECOLLECT_") and name != "RECOLLECT_MODEL":
            del os.environ[name]  # noqa: TID251


def _set_environment(**values: str) -> None:
    os.environ.update(values)  # noqa: TID251


if __name__ == "__main__":
    sys.exit(main())
