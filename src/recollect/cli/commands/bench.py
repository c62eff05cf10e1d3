"""`recollect bench`, which the package `recollect-bench` brings: loaded only when someone runs it."""

from __future__ import annotations

from typing import Any

import click

from recollect.cli.command import Command, Group
from recollect.errors import RecollectError

ENTRY_POINTS = "recollect.commands"
"""Packages register commands under this group; the name is the command's."""


class ExtraCommand(Command):
    """A command of another package. Its help line is fixed here, so that `recollect --help` loads nothing."""

    def __init__(self, name: str, help_: str, extra: str) -> None:
        super().__init__(name, help=help_)
        self.extra = extra

    def load(self) -> Command | Group:
        from importlib.metadata import entry_points  # takes milliseconds

        for entry in entry_points(group=ENTRY_POINTS, name=str(self.name)):
            loaded: Command | Group = entry.load()
            return loaded
        raise RecollectError(
            f"`recollect {self.name}` is not installed; run: pip install 'recollect-memory[{self.extra}]'"
        )

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The loaded command's context: with it, click parses, helps and runs that command."""
        return self.load().make_context(info_name, args, parent, **extra)


bench_command = ExtraCommand("bench", "Measure the profiles on judged questions.", extra="bench")
