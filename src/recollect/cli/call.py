"""One call of the command line: the options that every command takes, and what they lead to."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from recollect.cli.visible import one_line
from recollect.errors import StoreUnavailable

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.cli.replies import Reply
    from recollect.engine.engine import Engine
    from recollect.settings import Setting, Settings


@dataclass
class Call:
    """Filled while options are parsed; None where an option was not given."""

    store: str | None = None
    owner: str | None = None
    agent: str | None = None
    model: str | None = None
    json: bool | None = None
    color: bool | None = None

    def settings(self) -> tuple[Settings, tuple[Setting, ...]]:
        from recollect.settings import load  # noqa: PLC0415  # --help needs no settings

        given = {"store": self.store, "owner": self.owner, "agent": self.agent, "model": self.model}
        return load(given)

    def now(self) -> datetime:
        """The time, where the user's days begin."""
        from recollect.bootstrap import now, zone  # noqa: PLC0415  # loads the engine

        return now().astimezone(zone(self.settings()[0]))

    def memory(self, *, create: bool = False, dreams: bool = False) -> Engine:
        """Open the store. Only commands that bring something in may create one: a mistyped path
        must not leave an empty file behind. Only one that stays may dream by itself: the others are gone
        with their answer."""
        settings, _ = self.settings()
        if not create and not settings.store.exists():
            raise StoreUnavailable(
                f"There is no memory at {settings.store} yet; `recollect remember`, `recollect add` or "
                "`recollect import` makes one, or name another with --store."
            )
        from recollect.bootstrap import engine  # noqa: PLC0415  # loads the engine, SQLite and NumPy

        return engine(settings, dreams=dreams)

    def show(self, reply: Reply) -> None:
        from recollect.cli.show import show  # noqa: PLC0415  # renders what the engine gave, so loads it

        show(reply, as_json=bool(self.json), terminal=self.is_terminal, color=self.color)

    def tell(self, note: str) -> None:
        """Something to know beside the answer, where it does not disturb who reads the answer."""
        click.echo(f"recollect: {one_line(note)}", err=True)

    def whisper(self, note: str) -> None:
        """The same, of what only a person may care for."""
        click.secho(one_line(note), err=True, dim=True, color=self.color)

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty() or self.color is True
