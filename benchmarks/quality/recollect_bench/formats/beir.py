"""BEIR's layout: `corpus.jsonl`, `queries.jsonl` and `qrels/*.tsv` in one folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Question, of_notes
from recollect_bench.formats.rows import table, text, words

_SPLITS = ("test", "dev", "train")


def is_beir(folder: Path) -> bool:
    return (folder / "corpus.jsonl").is_file()


def beir(name: str, folder: Path) -> Dataset:
    """The test split, or the first there is. A judgment above 0 makes a document relevant, however far."""
    corpus, queries = folder / "corpus.jsonl", folder / "queries.jsonl"
    judgments = _judgments(folder)
    documents = tuple(
        Document(text(row, "_id", where), content)
        for row, where in _each_once(_lines(corpus))
        if (content := "\n".join(filter(None, (words(row, "title"), words(row, "text")))))
    )
    relevant = _relevant(judgments, frozenset(document.id for document in documents))
    questions = tuple(
        Question(id_, text(row, "text", where), judgments.stem, relevant[id_])
        for row, where in _each_once(_lines(queries))
        if (id_ := text(row, "_id", where)) in relevant
    )
    return Dataset(name, (of_notes(name, documents, questions),), (corpus, queries, judgments))


def _judgments(folder: Path) -> Path:
    files = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    wanted = [files[split] for split in _SPLITS if split in files] + list(files.values())
    if not wanted:
        raise InvalidInput(
            f"{folder} has a corpus, but no judgments; put them in {folder / 'qrels'}/test.tsv."
        )
    return wanted[0]


def _each_once(lines: Iterator[tuple[Mapping[str, Any], str]]) -> Iterator[tuple[Mapping[str, Any], str]]:
    """Two of one id cannot be told apart by the judgments."""
    seen: set[str] = set()
    for row, where in lines:
        id_ = text(row, "_id", where)
        if id_ in seen:
            raise InvalidInput(f"{where}: there is an earlier line with the '_id' {id_!r}.")
        seen.add(id_)
        yield row, where


def _lines(path: Path) -> Iterator[tuple[Mapping[str, Any], str]]:
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                where = f"{path.name}, line {number}"
                if not line.strip():
                    continue
                try:
                    yield table(json.loads(line), where), where
                except json.JSONDecodeError as error:
                    raise InvalidInput(f"{where}: not JSON: {error}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read: {error}.") from error


def _relevant(path: Path, known: frozenset[str]) -> dict[str, frozenset[str]]:
    """By question; judgments of documents that are not there are passed over, as is usual."""
    found: dict[str, set[str]] = {}
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            try:
                line = raw.decode()
            except UnicodeDecodeError as error:
                raise InvalidInput(f"{path.name}, line {number}: it is not UTF-8 text.") from error
            if number == 1 and line.startswith("query-id"):
                continue
            if not line.strip():
                continue
            match line.rstrip("\r\n").split("\t"):
                case [query, document, score] if _is_number(score):
                    judged = found.setdefault(query, set())
                    if float(score) > 0 and document in known:
                        judged.add(document)
                case _:
                    raise InvalidInput(
                        f"{path.name}, line {number}: expected query, document and score with tabs between."
                    )
    return {query: frozenset(documents) for query, documents in found.items()}


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
