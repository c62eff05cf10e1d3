"""Commands that look: find, show, graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Listed, Opened
from recollect.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.cli.call import Call
    from recollect.engine.results import Graph


@command("find", "recollect find tide", "recollect find 灯台 --limit 5")
@click.argument("text", nargs=-1, required=True)
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Entities at most."
)
def find(call: Call, text: tuple[str, ...], limit: int) -> None:
    """List entities that hold these words or this text.

    Looks in names, types and observations: for the words first, then for the text as it stands, even inside
    a word. Nothing here goes by meaning; `recollect search` does.
    """
    with call.memory() as memory:
        found = memory.search_nodes(" ".join(text), limit=limit)
    call.show(Listed(found, query=" ".join(text)))


@command("show", "recollect show 'Marisol Vega' Tidebook", "recollect show Tidebook --history")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--history", is_flag=True, help="Also what was replaced, and relations that ended.")
def show(call: Call, names: tuple[str, ...], history: bool) -> None:
    """Show entities in full, with their relations.

    A name is found in any case and without its accents, where only one entity fits.
    """
    with call.memory() as memory:
        graphs = {name: memory.open_nodes([name], record=False) for name in names}
        missing = [name for name, graph in graphs.items() if not graph.entities]
        if len(missing) == len(graphs):
            raise NotFound(f"{_no_such(missing)} Look for one with: recollect find TEXT")
        found = memory.open_nodes([name for name in names if name not in missing], history=history)
    call.show(Opened(found, history))
    if missing:
        call.tell(_no_such(missing))


@command("graph", "recollect graph", "recollect graph --limit 500 --json > page.json")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Entities on a page."
)
@click.option("--after", type=click.IntRange(0), default=0, metavar="ID", help="Begin after this entity.")
def graph(call: Call, limit: int, after: int) -> None:
    """List the graph, a page at a time, oldest entities first."""
    with call.memory() as memory:
        page = memory.read_graph(limit=limit, after=after)
    more = _next_page(page, limit)
    call.show(Listed(page, more))
    if more is not None and not call.is_terminal:
        call.tell(f"there is more: {more}")


def _next_page(page: Graph, limit: int) -> str | None:
    return None if page.cursor is None else f"recollect graph --limit {limit} --after {page.cursor}"


def _no_such(names: Sequence[str]) -> str:
    return f"There is no entity named {' or '.join(map(repr, names))}."
