"""LongMemEval: every question has a history of its own; the turns that hold its answer are marked.

A question whose id ends in `_abs` asks for what was never said.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.rows import moment, rows, table, text, words

_TIMES = ("%Y/%m/%d (%a) %H:%M",)
_UNANSWERABLE = "_abs"


def is_longmemeval(plain: object) -> bool:
    return (
        isinstance(plain, list)
        and bool(plain)
        and isinstance(plain[0], dict)
        and "haystack_sessions" in plain[0]
    )


def longmemeval(name: str, path: Path, plain: list[Any]) -> Dataset:
    haystacks = tuple(
        _haystack(table(row, where), where)
        for number, row in enumerate(plain, 1)
        for where in (f"{path.name}, question {number}",)
    )
    return Dataset(name, haystacks, (path,))


def _haystack(row: Mapping[str, Any], where: str) -> Haystack:
    id_ = text(row, "question_id", where)
    sessions = rows(row.get("haystack_sessions"), f"{where}, 'haystack_sessions'")
    dates = rows(row.get("haystack_dates"), f"{where}, 'haystack_dates'")
    names = rows(row.get("haystack_session_ids"), f"{where}, 'haystack_session_ids'")
    if not len(sessions) == len(dates) == len(names):
        raise InvalidInput(f"{where}: sessions, dates and session ids must be equally many.")
    turns = [
        pair
        for number, (session, date, name) in enumerate(zip(sessions, dates, names, strict=True), 1)
        for pair in _turns(f"{number}: {name}", session, date, f"{where}, session {number}")
    ]
    if not turns:
        raise InvalidInput(f"{where}: there is no turn in any session.")
    answerable = not id_.endswith(_UNANSWERABLE)
    relevant = frozenset(document.id for document, holds in turns if holds and answerable)
    # As they were said: a store has no other order of sessions than that of time.
    documents = sorted((document for document, _ in turns), key=lambda document: str(document.at))
    asked = Question(
        id_, text(row, "question", where), text(row, "question_type", where), relevant, answerable
    )
    asked_at = moment(row.get("question_date"), _TIMES, f"{where}, 'question_date'")
    return Haystack(id_, tuple(documents), (asked,), asked_at)


def _turns(name: str, session: object, date: object, where: str) -> Iterator[tuple[Document, bool]]:
    """The turns of a session, a minute apart, and whether each holds the answer."""
    began = moment(date, _TIMES, f"{where}, date")
    for place, turn in enumerate(rows(session, where)):
        row = table(turn, f"{where}, turn {place + 1}")
        said = words(row, "content")
        if said:
            at = began + timedelta(minutes=place)
            speaker = text(row, "role", f"{where}, turn {place + 1}")
            yield Document(f"{name}:{place + 1}", said, name, speaker, at), row.get("has_answer") is True
