"""What tells whether a resource reads otherwise than before, also beyond the page that is shown of it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import unquote

from recollect.errors import InvalidInput
from recollect.records import Kind
from recollect.serve import wire
from recollect.serve.paging import id_of
from recollect.serve.resources import GRAPH, TEMPLATES

if TYPE_CHECKING:
    from recollect.engine.engine import Engine

_ENTITY, _MEMORY = (one.uri_template.partition("{")[0] for one in TEMPLATES)
NOTHING = 0
"""The mark of what is not there."""


def mark(engine: Engine, uri: str) -> int:
    """Another number once the resource reads otherwise."""
    if uri == GRAPH:
        return _of_graph(engine)
    if uri.startswith(_ENTITY):
        return _of_entity(engine, unquote(uri.removeprefix(_ENTITY)))
    if uri.startswith(_MEMORY):
        return _of_memory(engine, id_of(uri.removeprefix(_MEMORY)))
    return NOTHING


def _of_graph(engine: Engine) -> int:
    from recollect.factors.recency import microseconds  # noqa: PLC0415  # a list of tools needs none

    with engine.store.read() as view:
        return view.graph_mark(engine.scope, microseconds(engine.parts.clock()))


def _of_entity(engine: Engine, name: str) -> int:
    try:
        graph = engine.graph.open_nodes([name], record=False)
    except InvalidInput:  # no entity could have such a name
        return NOTHING
    return hash(wire.shown(wire.graph(graph))) if graph.entities else NOTHING


def _of_memory(engine: Engine, id_: int | None) -> int:
    memory = None if id_ is None else engine.get(id_)
    if memory is None or memory.deleted_at is not None:
        return NOTHING
    return hash(wire.shown(wire.entity(memory) if memory.kind is Kind.ENTITY else wire.memory(memory)))
