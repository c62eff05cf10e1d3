"""SQuAD's layout with sentences marked (XQuAD-R): find the sentence that holds the answer, across languages.

A document is one sentence; relevant is the one in which the first answer starts. Files of several languages
side by side are asked each in its own, and each other one of English.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.parsing import Row, Text, parse

_PIVOT = "en"


class _Answer(Row):
    answer_start: int


class _Question(Row):
    id: Text
    question: Text
    answers: Annotated[list[_Answer], Field(min_length=1)]


class _Paragraph(Row):
    context: Text
    sentence_breaks: list[tuple[int, int]]
    qas: list[_Question]

    @model_validator(mode="after")
    def _check_breaks(self) -> Self:
        for start, stop in self.sentence_breaks:
            if not 0 <= start <= stop <= len(self.context) + 1:
                raise ValueError(f"a sentence break is [start, stop] in the text, not [{start}, {stop}]")
        first = min((start for start, _ in self.sentence_breaks), default=len(self.context))
        if early := [row.id for row in self.qas if row.answers[0].answer_start < first]:
            raise ValueError(f"no sentence holds the start of the answer to question {early[0]!r}")
        return self

    def sentence_of(self, question: _Question) -> int:
        """Return the last sentence that begins before the answer; it includes the blank after it."""
        start = question.answers[0].answer_start
        return max(place for place, (begins, _) in enumerate(self.sentence_breaks, 1) if begins <= start)


class _Article(Row):
    paragraphs: list[_Paragraph]


class _File(Row):
    data: list[_Article]


def xquad(name: str, files: Mapping[Path, Any]) -> tuple[Dataset, ...]:
    """Return a data set for each language, and one for each other language asked of English texts."""
    alone = {path.stem: _language(f"{name} {path.stem}", path, plain) for path, plain in files.items()}
    english = alone.get(_PIVOT)
    across = [
        _asked_of(english, dataset, f"{name} {language}→{_PIVOT}")
        for language, dataset in alone.items()
        if english is not None and dataset is not english
    ]
    return (*alone.values(), *across)


def _language(name: str, path: Path, plain: object) -> Dataset:
    documents: list[Document] = []
    questions: list[Question] = []
    for a, article in enumerate(parse(_File, plain, path.name).data, 1):
        for p, paragraph in enumerate(article.paragraphs, 1):
            for s, (start, stop) in enumerate(paragraph.sentence_breaks, 1):
                if sentence := paragraph.context[start:stop].strip():
                    documents.append(Document(f"{a}.{p}.{s}", sentence))
            for row in paragraph.qas:
                relevant = frozenset({f"{a}.{p}.{paragraph.sentence_of(row)}"})
                questions.append(Question(row.id, row.question, path.stem, relevant))
    if not documents:
        raise InvalidInput(f"{path.name}: there is no sentence in it.")
    return Dataset(name, (Haystack(path.stem, tuple(documents), tuple(questions)),), (path,))


def _asked_of(texts: Dataset, asked: Dataset, name: str) -> Dataset:
    """Return the texts of one data set with the questions of another that are in both."""
    (haystack,), (other,) = texts.haystacks, asked.haystacks
    relevant = {question.id: question.relevant for question in haystack.questions}
    questions = tuple(
        replace(question, relevant=relevant[question.id])
        for question in other.questions
        if question.id in relevant
    )
    return Dataset(name, (replace(haystack, questions=questions),), (*texts.files, *asked.files))
