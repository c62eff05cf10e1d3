"""Pages and budgets: no tool floods a context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.serve import wire
from recollect.text.tokens import tokens

if TYPE_CHECKING:
    from recollect.engine.results import Graph
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
    """As many of the entities as fit, in order, then the relations that touch them; and where to go on.

    Without `pages` there is no going on: the caller's tool takes no cursor.
    """
    onward = "go on with `cursor`, or ask" if pages else "allow more with `budget_tokens`, or ask"
    entities: list[dict[str, Any]] = []
    kept: set[int] = set()
    left = budget
    cursor = graph.cursor
    note = None
    for memory in graph.entities:
        plain = wire.entity(memory)
        cost = tokens(wire.shown(plain))
        # The first comes whatever it costs, or a page could never pass it.
        if cost > left and kept:
            missing = len(graph.entities) - len(kept)
            note = f"{missing} more did not fit {budget} tokens; {onward} more narrowly."
            cursor = max(kept) if pages else None
            break
        entities.append(plain)
        kept.add(memory.id)
        left -= cost
    relations: list[dict[str, Any]] = []
    for one in graph.relations:
        plain = wire.relation(one)
        if not {one.source, one.target} & kept:
            continue
        left -= tokens(wire.shown(plain))
        if left < 0 and relations:
            note = note or "Some relations did not fit; open single entities with `open_nodes`."
            break
        relations.append(plain)
    data: dict[str, Any] = {"entities": entities, "relations": relations}
    if cursor is not None:
        data["cursor"] = str(cursor)
    if note is not None:
        data["note"] = note
    return data
