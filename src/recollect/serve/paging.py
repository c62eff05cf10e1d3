"""Pages and budgets: no tool floods a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.serve import wire
from recollect.text.tokens import tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.engine.results import Graph
    from recollect.records import Relation
    from recollect.serve.tool import Call

BUDGET = 10_000
"""Tokens that a graph may take where the caller names no budget: some 200 entities of a few facts each."""


def after(call: Call) -> int:
    """The id that a cursor stands for."""
    cursor = str(call.get("cursor", "0"))
    id_ = id_of(cursor)
    if id_ is None:
        raise InvalidInput(
            f"There is no page {cursor[:40]!r}; pass on the `cursor` of the last answer, or none."
        )
    return id_


def id_of(written: str) -> int | None:
    """The id that a text stands for; None: no id of ours could look so."""
    # Python would also read “²”, digits of other scripts, and numbers that no row could have.
    return int(written) if written.isascii() and written.isdecimal() and len(written) < 19 else None


def fitted(graph: Graph, budget: int, *, pages: bool = True) -> dict[str, Any]:
    """As many of the entities as fit, in order, each with all its relations; and where to go on.

    So every relation stands on the page of each of its ends, and pages join to the whole. Without `pages`
    there is no going on: the caller's tool takes no cursor.
    """
    touching = _by_end(graph.relations)
    entities: list[dict[str, Any]] = []
    taken: set[int] = set()
    left = budget
    data: dict[str, Any] = {} if graph.cursor is None else {"cursor": str(graph.cursor)}
    for place, memory in enumerate(graph.entities):
        plain = wire.entity(memory)
        costs = {
            one.id: tokens(wire.shown(wire.relation(one)))
            for one in touching.get(memory.id, ())
            if one.id not in taken
        }
        own = tokens(wire.shown(plain))
        fits = own + sum(costs.values()) <= left
        # The first comes whatever it costs, or a page could never pass it.
        if not fits and place > 0:
            onward = "go on with `cursor`, or ask" if pages else "allow more with `budget_tokens`, or ask"
            missing = len(graph.entities) - place
            data["note"] = f"{missing} more did not fit {budget} tokens; {onward} more narrowly."
            data |= {"cursor": str(graph.entities[place - 1].id)} if pages else {}
            break
        entities.append(plain)
        kept = costs if fits else _first(costs, left - own)
        taken.update(kept)
        left -= own + sum(kept.values())
        if len(kept) < len(costs):
            data["note"] = f"Some relations did not fit {budget} tokens; allow more with `budget_tokens`."
    relations = [wire.relation(one) for one in graph.relations if one.id in taken]
    return {"entities": entities, "relations": relations, **data}


def _by_end(relations: Iterable[Relation]) -> dict[int, list[Relation]]:
    ends: dict[int, list[Relation]] = {}
    for one in relations:
        for end in {one.source, one.target}:
            ends.setdefault(end, []).append(one)
    return ends


def _first(costs: dict[int, int], left: int) -> dict[int, int]:
    """As many as fit, in order."""
    kept: dict[int, int] = {}
    for id_, cost in costs.items():
        if cost > left:
            break
        kept[id_] = cost
        left -= cost
    return kept
