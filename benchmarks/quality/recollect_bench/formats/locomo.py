"""Conversations of several sessions with questions about their turns: LoCoMo, and REALTALK, which follows it.

A photo's caption is part of the text, as an importer would write it. A question is asked the day after
the last session. Category 5 is adversarial: the conversation holds no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.parsing import OptionalText, Row, Text, Time, parse

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
# Evidence in the data may have a stray colon or zero, list several ids, or give a range such as `D1:3-5`.
_TURN = re.compile(r"D:?(\d+):(\d+)(?:\s*[-–]\s*(?:D:?\d+:)?(\d+))?")
_LONGEST_RANGE = 100


class _Turn(Row):
    dia_id: Text
    speaker: OptionalText = ""
    text: OptionalText = ""
    clean_text: OptionalText = ""
    blip_caption: OptionalText = ""
    date_time: Time | None = None

    @property
    def content(self) -> str:
        said = self.text or self.clean_text
        return f"{said} [shares a photo: {self.blip_caption}]".strip() if self.blip_caption else said


class _Session(Row):
    number: int
    date_time: Time
    turns: list[_Turn]


class _Question(Row):
    question: Text
    category: Literal[1, 2, 3, 4, 5]
    evidence: Any = None


class _Conversation(Row, extra="allow"):
    sample_id: OptionalText = ""
    qa: list[_Question]
    conversation: dict[str, Any] | None = None

    @property
    def session_fields(self) -> Mapping[str, Any]:
        """Return sessions and their dates by key. LoCoMo nests them in `conversation`, REALTALK does not."""
        return (self.model_extra or {}) if self.conversation is None else self.conversation


def locomo(name: str, files: Mapping[Path, Any]) -> Dataset:
    """Return one data set with the conversations of all these files."""
    haystacks = []
    for path, data in files.items():
        if isinstance(data, list):
            haystacks += [
                _haystack(f"{path.stem} {number}", row, f"{path.name}, conversation {number}")
                for number, row in enumerate(data, 1)
            ]
        else:
            haystacks.append(_haystack(path.stem, data, path.name))
    return Dataset(name, tuple(haystacks), tuple(files))


def _haystack(name: str, data: object, where: str) -> Haystack:
    conversation = parse(_Conversation, data, where)
    sessions = list(_sessions(conversation.session_fields, where))
    documents = tuple(document for session in sessions for document in _turns(session))
    if not documents:
        raise InvalidInput(f"{where}: no session has a turn.")
    known = frozenset(document.id for document in documents)
    if len(known) < len(documents):
        raise InvalidInput(f"{where}: several turns have the same 'dia_id'.")
    questions = tuple(_question(number, each, known) for number, each in enumerate(conversation.qa, 1))
    last = max(session.date_time for session in sessions)
    return Haystack(conversation.sample_id or name, documents, questions, last + timedelta(days=1))


def _sessions(talk: Mapping[str, Any], where: str) -> Iterator[_Session]:
    for number in sorted(
        int(match[1]) for match in map(_SESSION.fullmatch, talk) if match and talk[match[0]]
    ):
        key = f"session_{number}"
        row = {"number": number, "date_time": talk.get(f"{key}_date_time"), "turns": talk[key]}
        yield parse(_Session, row, f"{where}, {key}")


def _turns(session: _Session) -> Iterator[Document]:
    """Yield one document per turn. Without a time, it gets the session's plus a minute per earlier turn."""
    for place, turn in enumerate(session.turns):
        if turn.content:
            at = turn.date_time or session.date_time + timedelta(minutes=place)
            yield Document(
                turn.dia_id,
                turn.content,
                "message",
                session=f"session {session.number}",
                speaker=turn.speaker,
                at=at,
            )


def _question(number: int, row: _Question, known: frozenset[str]) -> Question:
    answerable = row.category != _ADVERSARIAL
    relevant = frozenset(_evidence(row.evidence)) & known if answerable else frozenset[str]()
    return Question(str(number), row.question, CATEGORIES[row.category], relevant, answerable)


def _evidence(entries: Any) -> Iterator[str]:
    """Yield the ids of the evidence turns, in normalised form."""
    for entry in entries if isinstance(entries, list) else [entries]:
        for session, first, last in _TURN.findall(str(entry)):
            stop = min(int(last or first), int(first) + _LONGEST_RANGE)
            yield from (f"D{int(session)}:{turn}" for turn in range(int(first), stop + 1))
