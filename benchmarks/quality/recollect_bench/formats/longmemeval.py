"""LongMemEval: every question has its own history, in which the answer's turns are marked.

A question whose id ends in `_abs` asks for what was never said.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.parsing import OptionalText, Row, Text, Time, parse

_UNANSWERABLE = "_abs"


class _Turn(Row):
    role: Text
    content: OptionalText = ""
    has_answer: bool | None = None


class _History(Row):
    question_id: Text
    question: Text
    question_type: Text
    question_date: Time
    haystack_sessions: list[list[_Turn]]
    haystack_dates: list[Time]
    haystack_session_ids: list[Text]


def longmemeval(name: str, path: Path, plain: list[Any]) -> Dataset:
    haystacks = (
        _haystack(parse(_History, row, where), where)
        for number, row in enumerate(plain, 1)
        for where in (f"{path.name}, question {number}",)
    )
    return Dataset(name, tuple(haystacks), (path,))


def _haystack(history: _History, where: str) -> Haystack:
    sessions, dates, names = history.haystack_sessions, history.haystack_dates, history.haystack_session_ids
    if not len(sessions) == len(dates) == len(names):
        raise InvalidInput(f"{where}: sessions, dates and session ids must be equally many.")
    turns = [
        pair
        for number, (session, date, name) in enumerate(zip(sessions, dates, names, strict=True), 1)
        for pair in _turns(f"{number}: {name}", session, date)
    ]
    if not turns:
        raise InvalidInput(f"{where}: there is no turn in any session.")
    answerable = not history.question_id.endswith(_UNANSWERABLE)
    relevant = frozenset(document.id for document, has_answer in turns if has_answer and answerable)
    # In order of time, because a store has no other order of sessions.
    documents = sorted((document for document, _ in turns), key=lambda document: str(document.at))
    question = Question(history.question_id, history.question, history.question_type, relevant, answerable)
    return Haystack(history.question_id, tuple(documents), (question,), history.question_date)


def _turns(name: str, session: list[_Turn], began: datetime) -> Iterator[tuple[Document, bool]]:
    """Yield the turns of a session, a minute apart, and whether each has the answer."""
    for place, turn in enumerate(session):
        if turn.content:
            at = began + timedelta(minutes=place)
            document = Document(
                f"{name}:{place + 1}", turn.content, "message", session=name, role=turn.role, at=at
            )
            yield document, bool(turn.has_answer)
