"""Resources: the graph as a whole, and single entities and memories by address."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

import mcp_types as types

from recollect.errors import NotFound
from recollect.records import Kind
from recollect.serve import wire
from recollect.serve.paging import BUDGET, fitted, id_of

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

GRAPH = "memory://knowledge-graph"
_ENTITY = "memory://entity/"
_MEMORY = "memory://memory/"
_MOST_COMPLETIONS = 100

GRAPH_RESOURCE = types.Resource(
    name="knowledge-graph",
    title="Knowledge graph",
    uri=GRAPH,
    description="Entities and relations, as many as fit a page; the tools read the rest",
    mime_type="application/json",
)
TEMPLATES = (
    types.ResourceTemplate(
        name="entity",
        title="Entity",
        uri_template=_ENTITY + "{name}",
        description="One entity with its observations and relations",
        mime_type="application/json",
    ),
    types.ResourceTemplate(
        name="memory",
        title="Memory",
        uri_template=_MEMORY + "{id}",
        description="One note, message or entity by its id",
        mime_type="application/json",
    ),
)


def read(engine: Engine, uri: str) -> str:
    """The resource as JSON."""
    if uri == GRAPH:
        return wire.shown(fitted(engine.read_graph(limit=1000), 4 * BUDGET))
    if uri.startswith(_ENTITY):
        graph = engine.open_nodes([unquote(uri.removeprefix(_ENTITY))], record=False)
        if graph.entities:
            return wire.shown(wire.graph(graph))
    if uri.startswith(_MEMORY) and (id_ := id_of(uri.removeprefix(_MEMORY))) is not None:
        memory = engine.get(id_)
        if memory is not None and memory.deleted_at is None:
            return wire.shown(wire.entity(memory) if memory.kind is Kind.ENTITY else wire.memory(memory))
    raise NotFound(f"There is no {uri}; there are {GRAPH}, {_ENTITY}NAME and {_MEMORY}ID.")


def completions(engine: Engine, argument: str, begun: str) -> list[str]:
    """Names of entities that hold what was begun."""
    if argument != "name" or not begun:
        return []
    found = engine.search_nodes(begun, limit=_MOST_COMPLETIONS).entities
    starts = begun.casefold()
    names = [entity.name for entity in found if starts in entity.name.casefold()]
    return sorted(names, key=lambda name: (not name.casefold().startswith(starts), name))[:_MOST_COMPLETIONS]
