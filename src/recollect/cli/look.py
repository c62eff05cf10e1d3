"""Commands that look: find, show, graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from recollect.cli.command import command
from recollect.cli.replies import Listed, Opened, OpenedText
from recollect.cli.which import memory_if_any, no_such
from recollect.errors import NotFound

if TYPE_CHECKING:
    from recollect.cli.call import Call
    from recollect.engine.engine import Engine
    from recollect.engine.results import Graph
    from recollect.records import Memory


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
        found = memory.graph.search_nodes(" ".join(text), limit=limit)
    call.show(Listed(found, query=" ".join(text)))


@command(
    "show",
    "recollect show 'Marisol Vega' Tidebook",
    "recollect show 12 17",
    "recollect show Tidebook --history",
)
@click.argument("names", metavar="NAME|ID...", nargs=-1, required=True)
@click.option("--history", is_flag=True, help="Also what was replaced, and relations that ended.")
def show(call: Call, names: tuple[str, ...], history: bool) -> None:
    """Show entities, notes and messages in full.

    A name is found in any case and without its accents, where only one entity fits. A number is an id, unless
    an entity has that name; `#12` always is one.

    An entity is shown with its relations, a message with the turns around it, and each with what dreams
    made of it: its strength, and what it is linked to. In a pipe, each line begins with what it is: entity,
    observation, relation; note, message, mentions, near; field, linked.
    """
    with call.memory() as memory:
        found = {name: memory_if_any(memory, name) for name in names}
        missing = [name for name, each in found.items() if each is None]
        if len(missing) == len(found):
            raise NotFound(no_such(*missing))
        there = [each for each in found.values() if each is not None]
        graph = memory.graph.open_nodes([each.name for each in there if _is_open(each)], history=history)
        texts = tuple(_opened(memory, each) for each in there if not _is_open(each))
        links = {each.id: memory.dreams.links(each.id) for each in graph.entities}
        call.show(Opened(graph, history, texts, memory.parts.zone, links))
    if missing:
        call.tell(no_such(*missing))


@command("graph", "recollect graph", "recollect graph --limit 500 --json > page.json")
@click.option(
    "-n", "--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Entities on a page."
)
@click.option("--after", type=click.IntRange(0), default=0, metavar="ID", help="Begin after this entity.")
def graph(call: Call, limit: int, after: int) -> None:
    """List the graph, a page at a time, oldest entities first."""
    with call.memory() as memory:
        page = memory.graph.read_graph(limit=limit, after=after)
    more = _next_page(page, limit)
    call.show(Listed(page, more))
    if more is not None and not call.is_terminal:
        call.tell(f"there is more: {more}")


def _next_page(page: Graph, limit: int) -> str | None:
    return None if page.cursor is None else f"recollect graph --limit {limit} --after {page.cursor}"


def _is_open(memory: Memory) -> bool:
    """An entity that is not forgotten: the graph shows it, with its relations."""
    return bool(memory.name) and memory.deleted_at is None


def _opened(engine: Engine, memory: Memory) -> OpenedText:
    engine.get(memory.id, record=True)  # counted, as an entity is that is opened
    with engine.store.read() as view:
        named = view.memories(memory.mentions)
    near = engine.sessions.neighbours(memory.id) if memory.position is not None else ()
    mentions = tuple(named[id_] for id_ in memory.mentions if id_ in named)
    return OpenedText(memory, mentions, tuple(near), engine.dreams.links(memory.id))
