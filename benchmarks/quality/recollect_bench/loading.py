"""From a path to data sets: what it holds is told by its content, not by its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput
from recollect_bench.datasets import Dataset, Document, Haystack, Question
from recollect_bench.formats.beir import beir, is_beir
from recollect_bench.formats.locomo import is_locomo, locomo
from recollect_bench.formats.longmemeval import is_longmemeval, longmemeval
from recollect_bench.formats.rows import content
from recollect_bench.formats.xquad import is_xquad, xquad

__all__ = ["KNOWN", "Dataset", "Document", "Haystack", "Question", "read"]

KNOWN = (
    "LoCoMo's locomo.json",
    "a folder of REALTALK's Chat_*.json",
    "LongMemEval's longmemeval_s*.json",
    "XQuAD-R's en.json, or a folder of several languages",
    "a BEIR folder with corpus.jsonl, queries.jsonl and qrels/*.tsv",
    "a folder that holds several of these",
)


def read(path: Path) -> Sequence[Dataset]:
    """The data sets of a file or a folder, by name."""
    path = path.expanduser()
    if not path.exists():
        raise InvalidInput(f"There is no {path}; name a file or a folder of judged questions.")
    found = list(_of_folder(path.resolve())) if path.is_dir() else list(_of_files(path.stem, [path]))
    if not found:
        raise InvalidInput(f"{path} holds nothing that can be asked. Known are: {'; '.join(KNOWN)}.")
    return _told_apart(found)


def read_all(paths: Sequence[Path]) -> Sequence[Dataset]:
    """What stands at each of these paths; two that have the same name are told apart."""
    found = _told_apart([dataset for path in paths for dataset in read(path)])
    names = [dataset.name for dataset in found]
    return tuple(
        replace(dataset, name=f"{dataset.name} ({1 + names[:place].count(dataset.name)})")
        if names.count(dataset.name) > 1
        else dataset
        for place, dataset in enumerate(found)
    )


def _of_folder(folder: Path) -> Iterator[Dataset]:
    """What stands in a folder; else, what stands in the folders in it."""
    if is_beir(folder):
        yield beir(folder.name, folder)
        return
    yield from _of_files(folder.name, sorted(folder.glob("*.json")))
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if is_beir(inner):
            yield beir(inner.name, inner)
        else:
            yield from _of_files(inner.name, sorted(inner.glob("*.json")))


def _of_files(name: str, files: Sequence[Path]) -> Iterator[Dataset]:
    """Chats, and languages, that lie side by side are one data set; every other file is its own."""
    chats: dict[Path, Any] = {}
    tongues: dict[Path, Any] = {}
    for file in files:
        plain = content(file)
        if is_longmemeval(plain):
            yield longmemeval(file.stem, file, plain)
        elif is_xquad(plain):
            tongues[file] = plain
        elif is_locomo(plain) and isinstance(plain, list):
            yield locomo(file.stem, {file: plain})
        elif is_locomo(plain):
            chats[file] = plain
    yield from _joined(name, chats, tongues)


def _joined(name: str, chats: Mapping[Path, Any], tongues: Mapping[Path, Any]) -> Iterator[Dataset]:
    if chats:
        yield locomo(name, chats)
    if tongues:
        yield from xquad("xquad" if len(tongues) == 1 else name, tongues)


def _told_apart(found: Sequence[Dataset]) -> Sequence[Dataset]:
    """With the folder before the name, where two would have the same."""
    names = [dataset.name for dataset in found]
    return tuple(
        replace(dataset, name=f"{dataset.files[0].parent.name}/{dataset.name}")
        if names.count(dataset.name) > 1
        else dataset
        for dataset in found
    )
