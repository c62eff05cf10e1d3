"""BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv` in one folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.lines import lines_of
from recollect_bench.formats.parsing import OptionalText, Row, Text, malformed

_SPLITS = ("test", "dev", "train")


class _Row(Row):
    id: Text = Field(alias="_id")


class _Document(_Row):
    title: OptionalText = ""
    text: OptionalText = ""

    @property
    def content(self) -> str:
        return "\n".join(filter(None, (self.title, self.text)))


class _Query(_Row):
    text: Text


_Kind = TypeVar("_Kind", bound=_Row)


def is_beir(folder: Path) -> bool:
    return (folder / "corpus.jsonl").is_file()


def beir(name: str, folder: Path) -> Dataset:
    """Load the test split, or else the first. Every judgment above 0 makes a document relevant."""
    corpus, queries, judgments = folder / "corpus.jsonl", folder / "queries.jsonl", _judgments(folder)
    documents = [Document(row.id, row.content) for row in _rows(corpus, _Document) if row.content]
    relevant = _relevant(judgments, {document.id for document in documents})
    questions = [
        Question(row.id, row.text, judgments.stem, relevant[row.id])
        for row in _rows(queries, _Query)
        if row.id in relevant
    ]
    return Dataset(name, (Haystack(name, tuple(documents), tuple(questions)),), (corpus, queries, judgments))


def _judgments(folder: Path) -> Path:
    files = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    found = [files[split] for split in _SPLITS if split in files] + list(files.values())
    if not found:
        raise InvalidInput(
            f"{folder} has a corpus, but no judgments; put them in {folder / 'qrels'}/test.tsv."
        )
    return found[0]


def _rows(path: Path, kind: type[_Kind]) -> Iterator[_Kind]:
    seen: set[str] = set()
    for where, line in lines_of(path):
        try:
            row = kind.model_validate_json(line)
        except ValidationError as error:
            raise malformed(error, where) from error
        if row.id in seen:  # judgments would be ambiguous
            raise InvalidInput(f"{where}: there is an earlier line with the '_id' {row.id!r}.")
        seen.add(row.id)
        yield row


def _relevant(path: Path, known: set[str]) -> dict[str, frozenset[str]]:
    """Return the relevant ids by question, without documents that the corpus lacks."""
    relevant: dict[str, set[str]] = {}
    for where, line in lines_of(path):
        if line.startswith("query-id"):
            continue
        try:
            query, document, score = line.split("\t")
            is_relevant = float(score) > 0
        except ValueError as error:
            raise InvalidInput(f"{where}: expected query, document and score, separated by tabs.") from error
        documents = relevant.setdefault(query, set())
        if is_relevant and document in known:
            documents.add(document)
    return {query: frozenset(documents) for query, documents in relevant.items()}
