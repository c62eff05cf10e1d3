"""Graph: an entity and its neighbours."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any
from urllib.parse import urlencode

from starlette.responses import JSONResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Memory, Relation, memory_at
from recollect.plugin import Internals
from recollect.text.phrases import ellipsize, visible
from recollect_server.web.templating import SECURITY_HEADERS, Screen
from recollect_server.web.timeline import DaySlider, day_slider, redirect_to_day

_MAX_DEPTH = 3
_MAX_NODES = 60
_MAX_STARTS = 12
_LONGEST_LABEL = 28


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """An entity, the entities around it, and the relations between them."""

    center: Memory
    entities: tuple[tuple[Memory, int], ...]
    relations: tuple[Relation, ...]
    is_cut: bool
    slider: DaySlider


async def graph_screen(screen: Screen) -> Response:
    params = screen.params
    name, depth = params.get("name", "").strip(), params.get("depth", "1")
    asked = urlencode({name: params[name] for name in ("name", "depth") if name in params})
    moved = await redirect_to_day(screen, f"/graph?{asked}" if name else "/graph")
    if moved is not None:
        return moved
    starts = await screen.run(lambda memory: Internals(memory).most_related_entities(_MAX_STARTS))
    if not name and not starts:
        return await screen.page("graph.html", graph=None, starts=(), data={}, depth=1, name="")
    chosen = name or starts[0].entity.name
    if depth not in {str(each) for each in range(1, _MAX_DEPTH + 1)}:
        raise InvalidInput(f"depth: choose 1 to {_MAX_DEPTH}.")
    graph = await screen.run(lambda memory: _load_graph(memory, screen, chosen, int(depth)))
    data = _graph_json(screen, graph)
    return await screen.page(
        "graph.html", graph=graph, starts=starts, name=chosen, depth=int(depth), data=data, is_first=not name
    )


async def graph_data(screen: Screen) -> Response:
    """Return the neighbours of one entity, which the page adds to its drawing."""
    name = screen.params.get("name", "").strip()
    graph = await screen.run(lambda memory: _load_graph(memory, screen, name, 1))
    return JSONResponse(_graph_json(screen, graph), headers=SECURITY_HEADERS)


def _load_graph(memory: Engine, screen: Screen, name: str, depth: int) -> EntityGraph:
    moment = screen.as_of
    id_ = Internals(memory).entity_id(name)
    center = memory.get(id_)
    assert center is not None  # noqa: S101  # it was found by its name
    found = memory.graph.neighbours_of(center.name, depth=depth, as_of=moment)
    near = found.entities[:_MAX_NODES]
    shown = {id_, *(entity.id for entity, _ in near)}
    relations = tuple(each for each in found.relations if {each.source, each.target} <= shown)
    is_cut = found.is_cut or len(near) < len(found.entities)
    known = min([center.created_at, *(each.created_at for each in relations)])
    slider = day_slider(memory, moment, known.astimezone(memory.zone).date())
    return EntityGraph(memory_at(center, moment), near, relations, is_cut, slider)


def _graph_json(screen: Screen, graph: EntityGraph) -> dict[str, Any]:
    zone = screen.runner.memory().zone
    nodes = [(graph.center, 0), *graph.entities]
    return {
        "center": graph.center.id,
        "data": screen.url("/graph/data"),
        "nodes": [
            {
                "id": entity.id,
                "name": visible(entity.name),
                "label": ellipsize(visible(entity.name), _LONGEST_LABEL),
                "type": visible(entity.type),
                "known": len(entity.in_force),
                "distance": distance,
                "graph": screen.url("/graph", name=entity.name),
                "memory": screen.url(f"/memory/{entity.id}"),
            }
            for entity, distance in nodes
        ],
        "links": [
            {
                "id": each.id,
                "source": each.source,
                "target": each.target,
                "type": visible(each.type).replace("_", " "),
                "span": span_of(each, zone),
            }
            for each in graph.relations
        ],
    }


def span_of(relation: Relation, zone: tzinfo) -> str:
    """Return `since 2026-01-03`, `until …` or `2026-01-03 to 2026-04-01`; empty without dates."""

    def day(at: datetime) -> str:
        return f"{at.astimezone(zone):%Y-%m-%d}"

    since, until = relation.since, relation.until
    if since is not None and until is not None:
        return f"{day(since)} to {day(until)}"
    if since is not None:
        return f"since {day(since)}"
    return "" if until is None else f"until {day(until)}"
