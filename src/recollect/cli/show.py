"""Replies onto standard output, in the form that suits who reads it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from recollect.cli.data import data_of
from recollect.cli.lines import lines_of

if TYPE_CHECKING:
    from recollect.cli.replies import Reply


def show(reply: Reply, *, as_json: bool, terminal: bool, color: bool | None) -> None:
    """JSON for programs, tables for a terminal, plain lines for a pipe."""
    if as_json:
        click.echo(json.dumps(data_of(reply), ensure_ascii=False, indent=2))
    elif terminal:
        from recollect.cli.tables import print_tables  # noqa: PLC0415  # loads rich

        print_tables(reply, color=color)
    else:
        for line in lines_of(reply):
            click.echo(line)
