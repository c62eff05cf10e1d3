"""Replies for a pipe: one thing on a line, fields parted by tabs, no colours and no frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from recollect.cli.dream_lines import dream_fields, forecast_fields
from recollect.cli.headings import fields, life, retired, who
from recollect.cli.matched import likely, matched, why
from recollect.cli.recipe import parts, said
from recollect.cli.replies import (
    Checkup,
    Compared,
    Done,
    Dreamed,
    Foretold,
    Found,
    Listed,
    Missed,
    Opened,
    Profiled,
    Rows,
    Sheets,
    Talk,
    Timeline,
)
from recollect.cli.visible import one_line
from recollect.cli.wording import with_remedy
from recollect.records import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, tzinfo
    from typing import Any

    from recollect.cli.replies import Check, Links, OpenedText, Reply
    from recollect.engine.results import Answer, Graph
    from recollect.engine.whynot import WhyNot
    from recollect.rank.explain import Reason
    from recollect.rank.whynot import Standing
    from recollect.records import Memory, Relation


def lines_of(reply: Reply) -> Iterator[str]:  # noqa: PLR0912  # one case for each reply
    match reply:
        case Done(message, _, details):
            yield one_line(message)
            yield from (f"  {one_line(detail)}" for detail in details)
        case Found(answer, zone):
            yield from _hits(answer, zone)
        case Missed(why_not):
            yield from _missed(why_not)
        case Profiled(profile, numbers):
            yield from (_fields(part.where, part.name, part.said, part.about) for part in parts(profile))
            if numbers is not None:
                for name, value in numbers.tuned.items():
                    yield _fields("tuned", name, f"{value:.6g}", f"{numbers.published[name]:.6g}")
        case Compared(_, _, differences):
            for each in differences:
                yield _fields(each.where, each.name, _numbers(each.first), _numbers(each.second))
        case Listed(graph):
            yield from _graph(graph, history=False)
        case Opened(graph, history, texts, zone, links):
            yield from _graph(graph, history=history)
            for entity in graph.entities:
                yield from (_fields("field", entity.name, *each) for each in life(entity))
                yield from _linked(entity.name, links.get(entity.id, ()))
            for text in texts:
                yield from _text(text, zone)
        case Talk(_, turns, zone):
            yield from (_turn(turn, zone) for turn in turns)
        case Timeline(told, zone):
            yield from (_fields(_iso(each.at, zone), each.what, each.detail) for each in told.events)
        case Dreamed(story, _, zone):
            yield from (_fields(*each) for each in dream_fields(story, zone))
        case Foretold(outlook, at, zone):
            yield from (_fields(*each) for each in forecast_fields(outlook, at, zone))
        case Rows(_, _, rows):
            yield from (_fields(*row) for row in rows)
        case Sheets(_, _, sheets):
            yield from (_fields(word, *row) for word, sheet in sheets for row in sheet.rows)
        case Checkup(checks):
            yield from map(_check, checks)
        case _:
            assert_never(reply)


def _hits(answer: Answer, zone: tzinfo | None) -> Iterator[str]:
    for rank, hit in enumerate(answer.hits, start=1):
        memory = hit.memory
        yield _fields(
            str(rank),
            str(memory.id),
            memory.kind,
            memory.name or who(memory),
            matched(hit, answer.query),
            ", ".join(filter(None, (why(hit), likely(hit)))),
            f"{hit.score:.4f}",
            *([] if memory.kind is Kind.ENTITY else [_when(memory, zone), _belongs(memory)]),
        )
        for reason in hit.reasons:
            yield _fields(str(rank), str(memory.id), "step", *_reason(reason))


def _belongs(memory: Memory) -> str:
    """`session harbour, plans_goals, tagged kitchen, superseded by #14`."""
    said = (
        f"session {memory.session}" if memory.session else "",
        memory.category or "",
        f"tagged {' '.join(memory.tags)}" if memory.tags else "",
        retired(memory),
    )
    return ", ".join(filter(None, said))


def _when(memory: Memory, zone: tzinfo | None) -> str:
    """When it happened or was said; empty where nobody knows."""
    if memory.undated and memory.happened_at is None:
        return ""
    return _iso(memory.happened_at or memory.created_at, zone)


def _iso(when: datetime, zone: tzinfo | None) -> str:
    return when.astimezone(zone).isoformat(timespec="seconds")


def _turn(turn: Memory, zone: tzinfo | None) -> str:
    return _fields(str(turn.id), _when(turn, zone), who(turn), turn.text)


def _text(text: OpenedText, zone: tzinfo | None) -> Iterator[str]:
    memory = text.memory
    id_ = str(memory.id)
    yield _fields(memory.kind, id_, who(memory), memory.text or memory.name)
    yield from (_fields("field", id_, name, value) for name, value in fields(memory, zone))
    yield from (_fields("mentions", id_, str(each.id), each.name) for each in text.mentions)
    yield from _linked(id_, text.links)
    for turn in text.around:
        if turn.id != memory.id:
            yield _fields("near", id_, str(turn.id), who(turn), turn.text)


def _linked(of: str, links: Links) -> Iterator[str]:
    for other, weight in links:
        yield _fields("linked", of, str(other.id), str(weight), other.name or other.text)


def _reason(reason: Reason) -> tuple[str, ...]:
    """Every digit, so that whoever recombines the steps gets the score exactly."""
    numbers = " ".join(map(repr, reason.numbers))
    return reason.step, reason.effect, repr(reason.value), numbers, repr(reason.score)


def _missed(why_not: WhyNot) -> Iterator[str]:
    yield _fields("verdict", why_not.verdict)
    for branch in why_not.branches:
        yield _fields("search", branch.name, _known(branch.rank), _known(branch.score), str(branch.taken))
    if why_not.standing is not None:
        yield from _standing(why_not.standing)
    yield from (_fields("advice", with_remedy(advice)) for advice in why_not.advice)


def _standing(standing: Standing) -> Iterator[str]:
    yield _fields("place", _known(standing.place), repr(standing.score), _known(standing.needed))
    yield from (_fields("step", *_reason(reason)) for reason in standing.reasons)
    for cost in standing.costs:
        yield _fields("cost", cost.step, repr(cost.value), str(cost.places), str(cost.place_without))


def _known(number: float | None) -> str:
    return "" if number is None else repr(number)


def _numbers(numbers: Mapping[str, Any] | None) -> str:
    return "absent" if numbers is None else said(numbers)


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
        span = [f"{word} {at.isoformat()}" for word, at in _span(relation) if at is not None]
        about = [relation.context] if relation.context else []
        yield _fields("relation", relation.source_name, relation.type, relation.target_name, *about, *span)


def _span(relation: Relation) -> tuple[tuple[str, datetime | None], ...]:
    return (("since", relation.since), ("until", relation.until))


def _check(check: Check) -> str:
    remedy = f" → {check.remedy}" if check.remedy else ""
    return one_line(f"{check.mark}: {check.what}: {check.said}{remedy}")


def _fields(*fields: str) -> str:
    return "\t".join(map(one_line, fields))
