"""Conversations of several sessions with questions about their turns: LoCoMo, and REALTALK, which follows it.

A photo's caption stands in the text, as an importer would put it. A question is asked the day after the last
session. Category 5 is adversarial: the conversation holds no answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.rows import moment, rows, table, text, words

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_ADVERSARIAL = 5
_SESSION = re.compile(r"session_(\d+)")
_TIMES = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S")
# A stray colon or zero, several ids in one entry, and ranges such as `D1:3-5` occur.
_TURN = re.compile(r"D:?(\d+):(\d+)(?:\s*[-–]\s*(?:D:?\d+:)?(\d+))?")
_LONGEST_RANGE = 100


def is_locomo(plain: object) -> bool:
    """One such conversation, or a list of them."""
    first = plain[0] if isinstance(plain, list) and plain else plain
    if not isinstance(first, dict) or "qa" not in first:
        return False
    talk = first.get("conversation", first)
    return isinstance(talk, dict) and any(map(_SESSION.fullmatch, talk))


def locomo(name: str, found: Mapping[Path, Any]) -> Dataset:
    """One data set of all the conversations that these files hold."""
    haystacks = []
    for path, plain in found.items():
        conversations = plain if isinstance(plain, list) else [plain]
        for number, conversation in enumerate(conversations, 1):
            where = f"{path.name}, conversation {number}" if isinstance(plain, list) else path.name
            row = table(conversation, where)
            usual = path.stem if not isinstance(plain, list) else f"{path.stem} {number}"
            haystacks.append(_haystack(words(row, "sample_id") or usual, row, where))
    return Dataset(name, tuple(haystacks), tuple(found))


def _haystack(name: str, row: Mapping[str, Any], where: str) -> Haystack:
    talk = table(row.get("conversation", row), where)
    numbers = sorted(int(match[1]) for match in map(_SESSION.fullmatch, talk) if match and talk[match[0]])
    documents = tuple(document for number in numbers for document in _turns(talk, number, where))
    if not documents:
        raise InvalidInput(f"{where}: there is no turn in any session.")
    known = frozenset(document.id for document in documents)
    if len(known) < len(documents):
        raise InvalidInput(f"{where}: several turns have the same 'dia_id'.")
    questions = tuple(
        _question(number, table(one, at), known, at)
        for number, one in enumerate(rows(row.get("qa"), f"{where}, 'qa'"), 1)
        for at in (f"{where}, question {number}",)
    )
    last = max(moment(talk[f"session_{number}_date_time"], _TIMES, where) for number in numbers)
    return Haystack(name, documents, questions, last + timedelta(days=1))


def _turns(talk: Mapping[str, Any], number: int, where: str) -> Iterator[Document]:
    session = f"session_{number}"
    began = moment(talk.get(f"{session}_date_time"), _TIMES, f"{where}, '{session}_date_time'")
    for place, turn in enumerate(rows(talk[session], f"{where}, {session}")):
        at = f"{where}, {session}, turn {place + 1}"
        row = table(turn, at)
        said, caption = words(row, "text", "clean_text"), words(row, "blip_caption")
        content = f"{said} [shares a photo: {caption}]".strip() if caption else said
        if content:
            when = _said_at(row, began, place, at)
            yield Document(text(row, "dia_id", at), content, f"session {number}", words(row, "speaker"), when)


def _said_at(row: Mapping[str, Any], began: datetime, place: int, where: str) -> datetime:
    """Its own time, or as many minutes after the session began as turns came before it."""
    if words(row, "date_time"):
        return moment(row["date_time"], _TIMES, where)
    return began + timedelta(minutes=place)


def _question(number: int, row: Mapping[str, Any], known: frozenset[str], where: str) -> Question:
    category = row.get("category")
    if not isinstance(category, int) or category not in CATEGORIES:
        raise InvalidInput(f"{where}: 'category' must be 1 to {_ADVERSARIAL}, not {category!r}.")
    answerable = category != _ADVERSARIAL
    relevant = frozenset(_evidence(row)) & known if answerable else frozenset()
    return Question(
        str(number), text(row, "question", where), CATEGORIES[category], frozenset(relevant), answerable
    )


def _evidence(row: Mapping[str, Any]) -> Iterator[str]:
    """The turns that an answer rests on, however they are written."""
    given = row.get("evidence") or ()
    for entry in given if isinstance(given, list) else [given]:
        for session, first, last in _TURN.findall(str(entry)):
            stop = min(int(last or first), int(first) + _LONGEST_RANGE)
            yield from (f"D{int(session)}:{turn}" for turn in range(int(first), stop + 1))
