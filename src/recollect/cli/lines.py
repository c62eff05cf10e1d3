"""Replies for a pipe: one thing on a line, fields parted by tabs, no colours and no frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from recollect.cli.matched import matched, why
from recollect.cli.replies import Checkup, Done, Found, Listed, Opened, Rows
from recollect.cli.visible import one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.cli.replies import Check, Reply
    from recollect.engine.results import Answer, Graph


def lines_of(reply: Reply) -> Iterator[str]:
    match reply:
        case Done(message, _, details):
            yield one_line(message)
            yield from (f"  {one_line(detail)}" for detail in details)
        case Found(answer):
            yield from _hits(answer)
        case Listed(graph):
            yield from _graph(graph, history=False)
        case Opened(graph, history):
            yield from _graph(graph, history=history)
        case Rows(_, _, rows):
            yield from (_fields(*row) for row in rows)
        case Checkup(checks):
            yield from map(_check, checks)
        case _:
            assert_never(reply)


def _hits(answer: Answer) -> Iterator[str]:
    for rank, hit in enumerate(answer.hits, start=1):
        memory = hit.memory
        yield _fields(
            str(rank),
            str(memory.id),
            memory.kind,
            memory.name or memory.speaker or "",
            matched(hit, answer.query),
            why(hit),
            f"{hit.score:.4f}",
        )


def _graph(graph: Graph, *, history: bool) -> Iterator[str]:
    """Each line begins with what it is, so that `grep ^relation` does what one hopes."""
    for entity in graph.entities:
        yield _fields("entity", entity.name, entity.type, entity.status)
        for observation in entity.in_force:
            yield _fields("observation", entity.name, observation.content)
        for observation in entity.observations if history else ():
            if observation.superseded_at is not None and observation.deleted_at is None:
                yield _fields(
                    "replaced", entity.name, observation.content, observation.superseded_at.isoformat()
                )
    for relation in graph.relations:
        yield _fields("relation", relation.source_name, relation.type, relation.target_name)


def _check(check: Check) -> str:
    remedy = f" → {check.remedy}" if check.remedy else ""
    return one_line(f"{check.mark}: {check.what}: {check.said}{remedy}")


def _fields(*fields: str) -> str:
    return "\t".join(map(one_line, fields))
