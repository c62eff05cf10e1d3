"""Graph: an entity and what is around it, never the whole."""

from __future__ import annotations

from datetime import datetime, tzinfo
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from recollect import Engine
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Memory, Relation, memory_at
from recollect.plugin import Internals
from recollect.text.phrases import visible
from recollect_server.runner import MemoryRunner
from recollect_server.web.templating import SECURITY_HEADERS, as_of, kept_url, page
from recollect_server.web.timeline import DaySlider, chosen_day, day_slider

_MOST_DEPTH = 3
_MOST_NODES = 60
_STARTS = 24
_LONGEST_LABEL = 28


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """What is drawn: an entity, those around it, and the relations between them."""

    center: Memory
    entities: tuple[tuple[Memory, int], ...]
    relations: tuple[Relation, ...]
    is_cut: bool
    slider: DaySlider


async def graph_screen(runner: MemoryRunner, request: Request) -> Response:
    name = request.query_params.get("name", "").strip()
    back = f"/graph?{_question(request)}" if name else "/graph"
    moved = await runner.run(request, lambda memory: chosen_day(memory, request, back))
    if moved is not None:
        return RedirectResponse(moved, 303, SECURITY_HEADERS)
    if not name:
        starts = await runner.run(
            request, lambda memory: memory.browse.entities(order="newest", limit=_STARTS)
        )
        return await page(runner, request, "graph.html", graph=None, starts=starts, data={}, depth=1, name="")
    depth = _depth(request)
    graph = await runner.run(request, lambda memory: _around(memory, request, name, depth))
    return await page(
        runner,
        request,
        "graph.html",
        graph=graph,
        starts=(),
        name=name,
        depth=depth,
        data=_drawn(request, graph, runner.memory().zone),
    )


async def graph_data(runner: MemoryRunner, request: Request) -> Response:
    """The same around one more entity, for a drawing that grows."""
    name = request.query_params.get("name", "").strip()
    graph = await runner.run(request, lambda memory: _around(memory, request, name, 1))
    return JSONResponse(_drawn(request, graph, runner.memory().zone), headers=SECURITY_HEADERS)


def _depth(request: Request) -> int:
    given = request.query_params.get("depth", "1")
    if given not in {str(each) for each in range(1, _MOST_DEPTH + 1)}:
        raise InvalidInput(f"depth: choose 1 to {_MOST_DEPTH}.")
    return int(given)


def _question(request: Request) -> str:
    from urllib.parse import urlencode  # noqa: PLC0415  # of this line alone

    params = request.query_params
    return urlencode({name: params[name] for name in ("name", "depth") if name in params})


def _around(memory: Engine, request: Request, name: str, depth: int) -> EntityGraph:
    then = as_of(request)
    id_ = Internals(memory).entity_id(name)
    center = memory.get(id_)
    assert center is not None  # noqa: S101  # it was found by its name
    found = memory.graph.neighbours_of(center.name, depth=depth, as_of=then)
    near = found.entities[:_MOST_NODES]
    shown = {id_, *(entity.id for entity, _ in near)}
    relations = tuple(each for each in found.relations if {each.source, each.target} <= shown)
    is_cut = found.is_cut or len(near) < len(found.entities)
    known = min([center.created_at, *(each.created_at for each in relations)])
    slider = day_slider(memory, request, known.astimezone(memory.zone).date())
    return EntityGraph(memory_at(center, then), near, relations, is_cut, slider)


def _drawn(request: Request, graph: EntityGraph, zone: tzinfo) -> dict[str, Any]:
    """As the drawing's script reads it."""
    nodes = [(graph.center, 0), *graph.entities]
    return {
        "center": graph.center.id,
        "data": kept_url(request, "/graph/data"),
        "nodes": [
            {
                "id": entity.id,
                "name": visible(entity.name),
                "label": _label(entity.name),
                "type": visible(entity.type),
                "known": len(entity.in_force),
                "distance": distance,
                "graph": kept_url(request, "/graph", name=entity.name),
                "memory": kept_url(request, f"/memory/{entity.id}"),
            }
            for entity, distance in nodes
        ],
        "links": [
            {
                "id": each.id,
                "source": each.source,
                "target": each.target,
                "type": visible(each.type),
                "span": span_of(each, zone),
            }
            for each in graph.relations
        ],
    }


def _label(name: str) -> str:
    shown = visible(name)
    return shown if len(shown) <= _LONGEST_LABEL else f"{shown[: _LONGEST_LABEL - 1]}…"


def span_of(relation: Relation, zone: tzinfo) -> str:
    """`since 2026-01-03`, `2026-01-03 to 2026-04-01`; nothing where it always held."""

    def day(at: datetime) -> str:
        return f"{at.astimezone(zone):%Y-%m-%d}"

    since, until = relation.since, relation.until
    if since is not None and until is not None:
        return f"{day(since)} to {day(until)}"
    if since is not None:
        return f"since {day(since)}"
    return "" if until is None else f"until {day(until)}"
