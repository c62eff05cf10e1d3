"""Data sets: documents to store, and questions that name the documents to find."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from recollect_bench.halves import Half, half_of

ORIGIN = datetime(2024, 1, 1, tzinfo=UTC)
"""Time of texts without one; fixed, so that a run can be repeated."""
DocumentKind = Literal["note", "message", "entity-observation"]


@dataclass(frozen=True, slots=True)
class Document:
    """One text to store: a note, a turn of a conversation, or an observation of an entity."""

    id: str
    text: str
    kind: DocumentKind = "note"
    session: str | None = None
    role: str | None = None
    speaker: str | None = None
    at: datetime | None = None
    """Time of storage, and of the message; None: the time of the previous document."""
    happened_at: datetime | None = None
    tags: tuple[str, ...] = ()
    entity: str | None = None
    entity_type: str = "thing"
    supersedes: str | None = None
    """Id of the document that this one corrects."""


@dataclass(frozen=True, slots=True)
class Question:
    id: str
    text: str
    category: str
    relevant: frozenset[str]
    """Ids of the documents that should be found."""
    answerable: bool = True
    """Whether the texts have an answer."""
    must_not: frozenset[str] = frozenset()
    """Outdated documents, which must not rank above the relevant ones."""
    at: datetime | None = None
    """Time of the question; None: the haystack's time."""
    after: int | None = None
    """Number of documents stored before the question; None: all."""

    @property
    def is_judged(self) -> bool:
        """Whether recall can be measured; some answerable questions refer to no stored text."""
        return self.answerable and bool(self.relevant)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt to an assistant and the documents that would help with it; none if it needs nothing."""

    id: str
    text: str
    helpful: frozenset[str]
    at: datetime | None = None

    @property
    def needs_memory(self) -> bool:
        return bool(self.helpful)


@dataclass(frozen=True, slots=True)
class Haystack:
    """The documents of one store and the questions about them."""

    name: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    asked_at: datetime | None = None
    """Time of questions without one; None: a day after the last document."""
    prompts: tuple[Prompt, ...] = ()

    @property
    def judged_questions(self) -> list[Question]:
        return [question for question in self.questions if question.is_judged]

    @property
    def has_messages(self) -> bool:
        return any(document.kind == "message" for document in self.documents)

    def asked_after(self, question: Question) -> int:
        """Return the number of documents stored before this question."""
        return len(self.documents) if question.after is None else question.after


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    haystacks: tuple[Haystack, ...]
    files: tuple[Path, ...] = ()
    """Files that the data set was read from."""


def halved(datasets: Iterable[Dataset], half: Half) -> tuple[Dataset, ...]:
    """Return the data sets with the questions of one half and all documents."""
    return tuple(
        replace(
            dataset,
            haystacks=tuple(
                replace(
                    haystack,
                    questions=tuple(
                        question
                        for question in haystack.questions
                        if half_of(haystack.name, question.id) == half
                    ),
                )
                for haystack in dataset.haystacks
            ),
        )
        for dataset in datasets
    )
