"""SQuAD's layout with sentences marked (XQuAD-R): find the sentence that holds the answer, across languages.

A document is one sentence; relevant is the one in which the first answer starts. Files of several languages
side by side are asked each in its own, and each other one of English.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Question, of_notes
from recollect_bench.formats.rows import rows, table, text

_PIVOT = "en"


@dataclass(frozen=True, slots=True)
class _Tongue:
    path: Path
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def is_xquad(plain: object) -> bool:
    if not isinstance(plain, dict) or not isinstance(plain.get("data"), list) or not plain["data"]:
        return False
    article = plain["data"][0]
    paragraphs = article.get("paragraphs") if isinstance(article, dict) else None
    return bool(paragraphs) and isinstance(paragraphs, list) and "sentence_breaks" in paragraphs[0]


def xquad(name: str, found: Mapping[Path, Any]) -> tuple[Dataset, ...]:
    """Each language by itself, and every other one asked of English texts."""
    tongues = {path.stem: _tongue(path, plain) for path, plain in found.items()}
    alone = [_dataset(f"{name} {key}", tongue, tongue.questions) for key, tongue in tongues.items()]
    pivot = tongues.get(_PIVOT)
    across = [
        _dataset(f"{name} {key}→{_PIVOT}", pivot, _asked_of(pivot, tongue), tongue.path)
        for key, tongue in tongues.items()
        if pivot is not None and key != _PIVOT
    ]
    return (*alone, *across)


def _dataset(name: str, of: _Tongue, questions: tuple[Question, ...], *also: Path) -> Dataset:
    return Dataset(name, (of_notes(name, of.documents, questions),), (of.path, *also))


def _asked_of(pivot: _Tongue, other: _Tongue) -> tuple[Question, ...]:
    """The other's questions, with what is relevant to the same ones here."""
    here = {question.id: question.relevant for question in pivot.questions}
    return tuple(
        replace(question, relevant=here[question.id]) for question in other.questions if question.id in here
    )


def _tongue(path: Path, plain: Mapping[str, Any]) -> _Tongue:
    documents: list[Document] = []
    questions: list[Question] = []
    for a, article in enumerate(plain["data"], 1):
        at = f"{path.name}, article {a}"
        for p, one in enumerate(rows(table(article, at).get("paragraphs"), f"{at}, 'paragraphs'"), 1):
            where = f"{at}, paragraph {p}"
            paragraph = table(one, where)
            context = text(paragraph, "context", where)
            breaks = _breaks(paragraph, len(context), where)
            ids = [f"{a}.{p}.{s}" for s in range(1, len(breaks) + 1)]
            documents += [
                Document(id_, context[start:stop].strip())
                for id_, (start, stop) in zip(ids, breaks, strict=True)
                if context[start:stop].strip()
            ]
            questions += [
                _question(table(asked, at_), breaks, ids, path.stem, at_)
                for q, asked in enumerate(rows(paragraph.get("qas"), f"{where}, 'qas'"), 1)
                for at_ in (f"{where}, question {q}",)
            ]
    if not documents:
        raise InvalidInput(f"{path.name}: there is no sentence in it.")
    return _Tongue(path, tuple(documents), tuple(questions))


def _breaks(paragraph: Mapping[str, Any], length: int, where: str) -> list[tuple[int, int]]:
    breaks = []
    for pair in rows(paragraph.get("sentence_breaks"), f"{where}, 'sentence_breaks'"):
        match pair:
            case [int(start), int(stop)] if 0 <= start <= stop <= length + 1:
                breaks.append((start, stop))
            case _:
                raise InvalidInput(f"{where}: a sentence break is [start, stop] in the text, not {pair!r}.")
    return breaks


def _question(
    row: Mapping[str, Any], breaks: list[tuple[int, int]], ids: list[str], category: str, where: str
) -> Question:
    answers = rows(row.get("answers"), f"{where}, 'answers'")
    start = table(answers[0], f"{where}, answer 1").get("answer_start") if answers else None
    if not isinstance(start, int):
        raise InvalidInput(f"{where}: the first answer needs a whole number 'answer_start'.")
    # Between two sentences stands a blank, which belongs to the one before it.
    place = max((number for number, (begun, _) in enumerate(breaks) if begun <= start), default=None)
    if place is None:
        raise InvalidInput(f"{where}: no sentence holds the answer's start, {start}.")
    return Question(text(row, "id", where), text(row, "question", where), category, frozenset({ids[place]}))
