"""The log as the tuner reads it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from recollect.engine.packed import unpack
from recollect.engine.services import Services
from recollect.errors import InvalidInput
from recollect.ports import Snapshot
from recollect.query import Query
from recollect.ranking.candidates import Candidates, Facts
from recollect.ranking.factors.recency import microseconds
from recollect.records import LoggedAnswer
from recollect.retrieval.answer_log import logged_answers
from recollect.retrieval.records import scope_id
from recollect.tuning.events import Event


def events_of(services: Services, view: Snapshot, profile: str) -> tuple[list[Event], int]:
    """A profile's answers as the tuner reads them, the oldest first, and how many it cannot read.

    Only of what became something are the candidates needed, and so read and unpacked: a log holds thousands.
    The others count all the same: where a memory was shown and not used says how far readers look.
    """
    events: list[Event] = []
    unreadable = 0
    for answer in logged_answers(view, scope_id(view, services.scope), profile, packed=False):
        try:
            events.append(_event(answer))
        except InvalidInput:
            unreadable += 1
    return events, unreadable


def _event(answer: LoggedAnswer) -> Event:
    said = {memory: grade for memory, kind, grade in answer.feedback if kind == "said"}
    seen: dict[int, float] = {}
    for memory, kind, grade in answer.feedback:
        if kind != "said":
            seen[memory] = max(grade, seen.get(memory, 0.0))
    feedback = {**seen, **said}
    candidates, moment = unpack(answer.candidates) if feedback else (_NOTHING, _moment(answer))
    return Event(
        id=answer.id,
        at=microseconds(answer.at),
        query=answer.query,
        profile=answer.profile,
        arm=answer.arm,
        shown=answer.shown,
        ranked=answer.ranked,
        baseline=answer.baseline,
        candidates=candidates,
        context=moment,
        feedback=feedback,
        said=said,
        against=answer.against,
        version=answer.version,
    )


_NO_COLUMN: Any = np.zeros(0, np.int64)
_NOTHING = Candidates(Facts(*(_NO_COLUMN for _ in fields(Facts))), {}, np.zeros(0))


def _moment(answer: LoggedAnswer) -> Query:
    """Of an answer that nobody did anything with, which is never ranked again."""
    return Query(answer.query, microseconds(answer.at), len(answer.shown))
