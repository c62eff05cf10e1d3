"""What a benchmark asks: texts to be stored, and questions that say which of them should be found."""

from __future__ import annotations

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
    def judged(self) -> bool:
        """Whether recall can be measured by it: some answerable questions point to no text there is."""
        return self.answerable and bool(self.relevant)


@dataclass(frozen=True, slots=True)
class Haystack:
    """What goes into one store, and what is asked of it."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    asked_at: datetime = TIMELESS


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    haystacks: tuple[Haystack, ...]
    files: tuple[Path, ...] = ()
    """Where it was read from."""


def of_notes(name: str, documents: tuple[Document, ...], questions: tuple[Question, ...]) -> Haystack:
    """A haystack of notes, in which each text stands once, as a store keeps it.

    Of texts that say the same, the first stands for all, also where a question points to another.
    """
    first: dict[int, str] = {}
    told_by = {document.id: first.setdefault(text_key(document.text), document.id) for document in documents}
    return Haystack(
        name,
        tuple(document for document in documents if told_by[document.id] == document.id),
        tuple(
            replace(question, relevant=frozenset(told_by[id_] for id_ in question.relevant))
            for question in questions
        ),
    )
