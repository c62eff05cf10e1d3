"""Our own form of judged data: `memories.jsonl` and `questions.jsonl` in one folder, and `prompts.jsonl`.

Memories are listed in the order in which they are stored; each `store` is measured alone. Sibling folders
with a `halves.json` beside them are one family, and each half of it is a data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, DocumentKind, Haystack, Prompt, Question
from recollect_bench.formats.lines import lines_of
from recollect_bench.formats.parsing import Row, Text, Time, malformed, parse

MEMORIES, QUESTIONS, PROMPTS, HALVES = "memories.jsonl", "questions.jsonl", "prompts.jsonl", "halves.json"


class _InStore(Row):
    store: Text
    id: Text
    text: str
    at: Time | None = None


class _Memory(_InStore):
    kind: DocumentKind
    role: str | None = None
    speaker: str | None = None
    session: str | None = None
    happened_at: Time | None = None
    tags: list[str] = []  # noqa: RUF012  # pydantic copies it
    entity: str | None = None
    entity_type: str | None = None
    supersedes: str | None = None

    def document(self) -> Document:
        return Document(
            id=self.id,
            text=self.text,
            kind=self.kind,
            session=(self.session or "session") if self.kind == "message" else None,
            role=self.role,
            speaker=self.speaker,
            at=self.at,
            happened_at=self.happened_at,
            tags=tuple(self.tags),
            entity=self.entity,
            entity_type=self.entity_type or "thing",
            supersedes=self.supersedes,
        )


class _Question(_InStore):
    category: str = ""
    after: int | None = None
    gold: list[str]
    must_not: list[str] = []  # noqa: RUF012  # pydantic copies it

    def question(self) -> Question:
        return Question(
            id=self.id,
            text=self.text,
            category=self.category,
            relevant=frozenset(self.gold),
            answerable=bool(self.gold),
            must_not=frozenset(self.must_not),
            at=self.at,
            after=self.after,
        )


class _Prompt(_InStore):
    helpful: list[str] = []  # noqa: RUF012  # pydantic copies it


_Kind = TypeVar("_Kind", bound=_InStore)


def is_folder_form(folder: Path) -> bool:
    return (folder / MEMORIES).is_file()


def folder_form(name: str, folder: Path) -> Dataset:
    """Return one data set with all stores of this folder."""
    memories = _by_store(folder / MEMORIES, _Memory)
    questions = _by_store(folder / QUESTIONS, _Question)
    prompts = _by_store(folder / PROMPTS, _Prompt) if (folder / PROMPTS).is_file() else {}
    if unknown := [store for store in (*questions, *prompts) if store not in memories]:
        raise InvalidInput(f"{folder}: there are questions to {unknown[0]!r}, and no memories of that store.")
    files = [folder / each for each in (MEMORIES, QUESTIONS, PROMPTS) if (folder / each).is_file()]
    return Dataset(
        name,
        tuple(
            _haystack(store, rows, questions.get(store, ()), prompts.get(store, ()))
            for store, rows in memories.items()
        ),
        tuple(files),
    )


def folder_family(folder: Path, plain: Mapping[str, Any]) -> Iterator[Dataset]:
    """Return a data set for each half, with the folders that `halves.json` lists."""
    for half, names in parse(dict[str, list[str]], plain, str(folder / HALVES)).items():
        parts = [folder_form(name, folder / name) for name in names]
        yield Dataset(
            f"{folder.name} {half}",
            tuple(haystack for part in parts for haystack in part.haystacks),
            tuple(file for part in parts for file in part.files),
        )


def _haystack(
    store: str, memories: Sequence[_Memory], questions: Sequence[_Question], prompts: Sequence[_Prompt]
) -> Haystack:
    """Return the prompts. They have no time, so they are asked at the time of the last question."""
    last = max((row.at for row in questions if row.at is not None), default=None)
    return Haystack(
        store,
        tuple(row.document() for row in memories),
        tuple(row.question() for row in questions),
        prompts=tuple(Prompt(row.id, row.text, frozenset(row.helpful), row.at or last) for row in prompts),
    )


def _by_store(path: Path, kind: type[_Kind]) -> dict[str, list[_Kind]]:
    rows: dict[str, list[_Kind]] = {}
    for where, line in lines_of(path):
        try:
            row = kind.model_validate_json(line)
        except ValidationError as error:
            raise malformed(error, where) from error
        rows.setdefault(row.store, []).append(row)
    for store, each in rows.items():
        ids = [row.id for row in each]
        if len(set(ids)) < len(ids):
            twice = next(id_ for id_ in ids if ids.count(id_) > 1)
            raise InvalidInput(f"{path}: the id {twice!r} occurs more than once in the store {store!r}.")
    return rows
