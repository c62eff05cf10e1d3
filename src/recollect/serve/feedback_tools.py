"""Saying how good an answer was, as a tool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.serve.memory_tools import LARGEST_ID, by_id
from recollect.serve.shapes import flag, listed, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.serve.tool import Call

_MOST = 50


def _feedback(call: Call) -> Reply:
    ids, helpful = list(dict.fromkeys(call.given["ids"])), call.given["helpful"]
    with by_id():
        call.engine.feedback(ids, 1.0 if helpful else -1.0, query=call.get("query"))
    named = ", ".join(f"#{id_}" for id_ in ids)
    return Reply({"noted": ids}, f"Noted: {named} {'helped' if helpful else 'did not help'}.")


FEEDBACK_TOOLS = (
    Tool(
        "feedback",
        "Feedback",
        "Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking "
        "can learn from it. Use it when one was just what was needed, or plainly beside the point.",
        table(
            needs=("ids", "helpful"),
            ids=listed(whole(minimum=1, maximum=LARGEST_ID), "Their ids", minItems=1, maxItems=_MOST),
            helpful=flag("True: it helped; false: it was wrong or beside the point"),
            query=text("For which question; without it, the last that showed them"),
        ),
        table(noted=listed(whole())),
        _feedback,
        repeats=True,
    ),
)
