"""One call of the command line: the options that every command takes, and what they lead to."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from recollect.cli.rendering import render
from recollect.errors import StoreUnavailable

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from recollect.cli.rendering import Result
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
    _loaded: tuple[Settings, tuple[Setting, ...]] | None = field(default=None, init=False)

    def settings(self) -> tuple[Settings, tuple[Setting, ...]]:
        from recollect.settings import load  # --help needs no settings

        if self._loaded is None:
            given = {"store": self.store, "owner": self.owner, "agent": self.agent, "model": self.model}
            self._loaded = load(given)
        return self._loaded

    @property
    def zone(self) -> tzinfo:
        """The user's time zone, in which days begin and end."""
        from recollect.bootstrap import zone  # loads the engine

        return zone(self.settings()[0])

    def now(self) -> datetime:
        from recollect.bootstrap import now  # loads the engine

        return now().astimezone(self.zone)

    def memory(self, *, create: bool = False) -> Engine:
        """Open the store until the result is shown: what closing waits for must not delay the answer."""
        return click.get_current_context().with_resource(self.open_memory(create=create))

    def open_memory(self, *, create: bool = False, dreams: bool = False) -> Engine:
        """Open the store; the caller closes it.

        Only commands that bring something in may create one: a mistyped path must not leave an empty file
        behind. Only a process that stays, such as a server, dreams by itself.
        """
        settings, _ = self.settings()
        if not create and not settings.store.exists():
            raise StoreUnavailable(
                f"There is no memory at {settings.store} yet; `recollect remember`, `recollect add` or "
                "`recollect import` makes one, or name another with --store."
            )
        from recollect.bootstrap import engine  # loads the engine, SQLite and NumPy

        return engine(settings, dreams=dreams)

    def show(self, result: Result) -> int:
        render(result, as_json=bool(self.json), terminal=self.is_terminal, color=self.color)
        return result.exit_code

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty() or self.color is True
