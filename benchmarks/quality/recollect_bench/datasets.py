"""What a benchmark asks: documents to store, and questions that name the documents to find."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from recollect.text.near_duplicates import text_key

TIMELESS = datetime(2026, 1, 1, 12, tzinfo=UTC)
"""When questions about texts that have no time are asked: fixed, so that a run can be repeated."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text; with a session it is a turn of a conversation, else a note."""

    id: str
    text: str
    session: str | None = None
    speaker: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    category: str
    relevant: frozenset[str]
    """The documents that should be found."""
    answerable: bool = True
    """False: the texts hold no answer, and a memory should say so."""

    @property
    def is_judged(self) -> bool:
        """Whether recall can be measured by it: some answerable questions point to no text there is."""
        return self.answerable and bool(self.relevant)


@dataclass(frozen=True, slots=True)
class Haystack:
    """What goes into one store, and what is asked of it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    asked_at: datetime = TIMELESS

    @property
    def judged_questions(self) -> list[Question]:
        return [question for question in self.questions if question.is_judged]


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    haystacks: tuple[Haystack, ...]
    files: tuple[Path, ...] = ()
    """Where it was read from."""


def unique_notes(name: str, documents: Sequence[Document], questions: Sequence[Question]) -> Haystack:
    """A haystack of notes in which each text stands once, as a store keeps it.

    Of texts that say the same, the first stands for all, also where a question points to another.
    """
    first: dict[int, str] = {}
    kept = {document.id: first.setdefault(text_key(document.text), document.id) for document in documents}
    return Haystack(
        name,
        tuple(document for document in documents if kept[document.id] == document.id),
        tuple(
            replace(question, relevant=frozenset(kept[id_] for id_ in question.relevant))
            for question in questions
        ),
    )
