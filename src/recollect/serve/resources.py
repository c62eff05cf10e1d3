"""Resources: the graph as a whole, and single entities and memories by address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import mcp_types as types

from recollect.errors import NotFound
from recollect.records import Filter, Kind
from recollect.serve import wire
from recollect.serve.graph_pages import fitted
from recollect.serve.paging import BUDGET, id_of, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.engine import Engine
    from recollect.records import Memory, Relation

GRAPH = "memory://knowledge-graph"
_ENTITY = "memory://entity/"
_MEMORY = "memory://memory/"
MOST_COMPLETIONS = 100
_MOST_DIGITS = 19
_BUDGET = 4 * BUDGET

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
    """The resource as JSON, within a budget of its own: a resource takes no cursor, the tools do."""
    if uri == GRAPH:
        graph = engine.graph.read_graph(limit=1000)
        return wire.shown(_fitted(graph.entities, graph.relations, "read_graph", graph.cursor))
    if uri.startswith(_ENTITY):
        graph = engine.graph.open_nodes([unquote(uri.removeprefix(_ENTITY))], record=False)
        if graph.entities:
            return wire.shown(_fitted(graph.entities, graph.relations, "open_nodes"))
    if uri.startswith(_MEMORY) and (id_ := id_of(uri.removeprefix(_MEMORY))) is not None:
        memory = engine.get(id_, record=True)
        if memory is not None and memory.deleted_at is None:
            plain = wire.entity(memory) if memory.kind is Kind.ENTITY else wire.memory(memory)
            return wire.shown(shortened(plain, _BUDGET))
    raise NotFound(f"There is no {uri}; there are {GRAPH}, {_ENTITY}NAME and {_MEMORY}ID.")


def _fitted(
    entities: Sequence[Memory], relations: Sequence[Relation], tool: str, onward: int | None = None
) -> dict[str, Any]:
    keyed = [(memory.id, memory) for memory in entities]
    data = fitted(keyed, relations, _BUDGET, onward=onward)
    if "cursor" in data:
        data["note"] = f"{data.get('note', 'There is more.')} The tool `{tool}` takes the cursor."
    return data


def completions(engine: Engine, about: str, argument: str, begun: str) -> tuple[list[str], int | None]:
    """What the argument of a resource or a prompt may be, and how many there are, if that is known."""
    if (about, argument) in {(_ENTITY + "{name}", "name"), ("recall", "topic")}:
        return _names(engine, begun)
    if (about, argument) == (_MEMORY + "{id}", "id"):
        return _ids(engine, begun)
    return [], 0


def _names(engine: Engine, begun: str) -> tuple[list[str], int | None]:
    """Names that hold what was begun, those that begin so first, by the alphabet."""
    where = Filter(engine.scope.owner, engine.scope.agent)
    with engine.store.read() as view:
        names, total = view.names(begun, MOST_COMPLETIONS, where)
    return list(names), total


def _ids(engine: Engine, begun: str) -> tuple[list[str], int | None]:
    """Ids of memories whose digits begin so, the lowest first."""
    where = Filter(engine.scope.owner, engine.scope.agent)
    most = MOST_COMPLETIONS + 1
    with engine.store.read() as view:
        if not begun:
            return [str(memory.id) for memory in view.page(where, 0, most)], sum(
                engine.upkeep.how_many().values()
            )
        first = id_of(begun)
        if not first or begun.startswith("0"):
            return [], 0
        ids: list[int] = []
        # 12 begins 12 itself, 120 to 129, 1200 to 1299 …
        for digits in range(_MOST_DIGITS - len(begun)):
            low, count = first * 10**digits, 10**digits
            page = view.page(where, low - 1, most - len(ids))
            ids += [memory.id for memory in page if memory.id < low + count]
            if not page or len(ids) >= most:
                break
    return [str(id_) for id_ in ids], len(ids) if len(ids) < most else None
