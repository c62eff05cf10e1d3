"""The contents of resources, their fingerprints, and completions of their names."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from recollect.admin import Internals
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.json_values import to_json
from recollect.domain.records import Kind, Memory
from recollect.domain.results import Graph
from recollect.mcp.resources import ENTITY, GRAPH, MEMORY, MOST_COMPLETIONS
from recollect.operations.graph import graph_page
from recollect.operations.operation import as_json
from recollect.operations.paging import row_id, shorten_row
from recollect.operations.rows import entity_row, memory_row, relation_row

if TYPE_CHECKING:
    from recollect.engine import Engine

_MAX_DIGITS = 19
_BUDGET_TOKENS = 40_000
ABSENT = 0
"""The fingerprint of a missing resource."""


def read_resource(engine: Engine, uri: str) -> str:
    """Return the resource as JSON, cut to a budget. Only the tools take a cursor for the rest."""
    if uri == GRAPH:
        return _graph_json(engine.graph.read_graph(limit=1000), "read_graph")
    match _look_up(engine, uri, record=True):
        case Graph() as graph:
            return _graph_json(graph, "open_nodes")
        case Memory() as memory:
            return as_json(shorten_row(_row(memory), _BUDGET_TOKENS))
    raise NotFound(f"There is no {uri}; there are {GRAPH}, {ENTITY}NAME and {MEMORY}ID.")


def fingerprint(engine: Engine, uri: str) -> int:
    """Return a number that changes with the resource, even if `read_resource` cuts off the change."""
    if uri == GRAPH:
        return Internals(engine).graph_fingerprint()
    try:
        found = _look_up(engine, uri)
    except InvalidInput:  # not a valid name of an entity
        return ABSENT
    match found:
        case Graph(entities=entities, relations=relations):
            return hash(as_json(to_json([*map(entity_row, entities), *map(relation_row, relations)])))
        case Memory() as memory:
            return hash(as_json(_row(memory)))
    return ABSENT


def _look_up(engine: Engine, uri: str, *, record: bool = False) -> Graph | Memory | None:
    """Return the entity with its relations, or the memory, at an address."""
    if uri.startswith(ENTITY):
        graph = engine.graph.open_nodes([unquote(uri.removeprefix(ENTITY))], record=False)
        return graph if graph.entities else None
    id_ = row_id(uri.removeprefix(MEMORY)) if uri.startswith(MEMORY) else None
    memory = None if id_ is None else engine.get(id_, record=record)
    return memory if memory is not None and memory.deleted_at is None else None


def _graph_json(graph: Graph, tool: str) -> str:
    keyed = [(memory.id, memory) for memory in graph.entities]
    page = graph_page(keyed, graph.relations, _BUDGET_TOKENS, more_after=graph.cursor)
    if page.more.cursor is not None:
        note = f"{page.more.note or 'There is more.'} The tool `{tool}` takes the cursor."
        page = replace(page, more=replace(page.more, note=note))
    return as_json(to_json(page))


def _row(memory: Memory) -> Any:
    return to_json(entity_row(memory) if memory.kind is Kind.ENTITY else memory_row(memory))


def completions(engine: Engine, about: str, argument: str, begun: str) -> tuple[list[str], int | None]:
    """Return completions of an argument of a resource or prompt, and the number of all values if known."""
    if (about, argument) in {(ENTITY + "{name}", "name"), ("recall", "topic")}:
        return Internals(engine).complete_name(begun, MOST_COMPLETIONS)
    if (about, argument) == (MEMORY + "{id}", "id"):
        return _ids(engine, begun)
    return [], 0


def _ids(engine: Engine, begun: str) -> tuple[list[str], int | None]:
    """Return ids of memories that begin with these digits, lowest first."""
    most, within = MOST_COMPLETIONS + 1, Internals(engine)
    if not begun:
        return list(map(str, within.ids_after(0, most))), sum(within.count_memories().values())
    first = row_id(begun)
    if not first or begun.startswith("0"):
        return [], 0
    ids: list[int] = []
    # The digits 12 match the ids 12, 120 to 129, 1200 to 1299 …
    for digits in range(_MAX_DIGITS - len(begun)):
        low, count = first * 10**digits, 10**digits
        found = within.ids_after(low - 1, most - len(ids))
        ids += [id_ for id_ in found if id_ < low + count]
        if not found or len(ids) >= most:
            break
    return list(map(str, ids)), len(ids) if len(ids) < most else None
