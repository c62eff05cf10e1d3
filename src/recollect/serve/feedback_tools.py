"""Saying how good an answer was, as a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import InvalidInput
from recollect.serve.memory_tools import LARGEST_ID, by_id
from recollect.serve.shapes import flag, listed, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.serve.tool import Call

_MOST = 50


def _feedback(call: Call) -> Reply:
    from recollect.engine.graph.knowledge_graph import entity_named  # noqa: PLC0415  # the list of tools needs no engine

    helpful = call.given["helpful"]
    named = [entity_named(call.engine.parts, name) for name in call.get("names", ())]
    ids = list(dict.fromkeys((*call.get("ids", ()), *named)))
    if not ids:
        raise InvalidInput("Say which: give `ids` of what `recall` showed, or `names` of entities.")
    with by_id():
        call.engine.feedback(ids, 1.0 if helpful else -1.0, query=call.get("query"))
    said = ", ".join(f"#{id_}" for id_ in ids)
    return Reply({"noted": ids}, f"Noted: {said} {'helped' if helpful else 'did not help'}.")


FEEDBACK_TOOLS = (
    Tool(
        "feedback",
        "Feedback",
        "Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking "
        "can learn from it. Use it when one was just what was needed, or plainly beside the point.",
        table(
            needs=("helpful",),
            ids=listed(
                whole(minimum=1, maximum=LARGEST_ID), "Their ids, as `recall` gives them", maxItems=_MOST
            ),
            names=listed(text(), "Names of entities, as `search_semantic` gives them", maxItems=_MOST),
            helpful=flag("True: it helped; false: it was wrong or beside the point"),
            query=text("For which question; without it, the last that showed them"),
        ),
        table(noted=listed(whole())),
        _feedback,
        repeats=True,
    ),
)
