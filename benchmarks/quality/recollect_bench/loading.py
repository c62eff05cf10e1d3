"""Load data sets from a path; the format is recognised by content, not by name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from recollect.domain.errors import InvalidInput
from recollect_bench.datasets import Dataset
from recollect_bench.formats.beir import beir, is_beir
from recollect_bench.formats.folder import HALVES, folder_family, folder_form, is_folder_form
from recollect_bench.formats.locomo import locomo
from recollect_bench.formats.longmemeval import longmemeval
from recollect_bench.formats.xquad import xquad

KNOWN = (
    "LoCoMo's locomo.json",
    "a folder of REALTALK's Chat_*.json",
    "LongMemEval's longmemeval_s*.json",
    "XQuAD-R's en.json, or a folder of several languages",
    "a BEIR folder with corpus.jsonl, queries.jsonl and qrels/*.tsv",
    "a folder with memories.jsonl and questions.jsonl",
    "a folder that holds several of these",
)


def load_datasets(paths: Sequence[Path]) -> tuple[Dataset, ...]:
    """Load the data sets at these paths; equal names are numbered."""
    datasets = _with_folders([dataset for path in paths for dataset in _load(path)])
    names = [dataset.name for dataset in datasets]
    return tuple(
        replace(dataset, name=f"{dataset.name} ({1 + names[:place].count(dataset.name)})")
        if names.count(dataset.name) > 1
        else dataset
        for place, dataset in enumerate(datasets)
    )


def load_for_fitting(path: Path) -> tuple[Dataset, ...]:
    """Load the data sets at a path; of a folder with halves, only the half for choosing."""
    return tuple(each for each in load_datasets([path]) if not each.name.endswith(" judging"))


def _load(path: Path) -> Sequence[Dataset]:
    path = path.expanduser()
    if not path.exists():
        raise InvalidInput(f"There is no {path}; name a file or a folder of judged questions.")
    datasets = list(_in_folder(path.resolve())) if path.is_dir() else list(_in_files(path.stem, [path]))
    if not datasets:
        raise InvalidInput(f"{path} holds nothing that can be asked. Known are: {'; '.join(KNOWN)}.")
    return _with_folders(datasets)


def _in_folder(folder: Path) -> Iterator[Dataset]:
    """Load the data sets of a folder and its sub-folders."""
    if (folder / HALVES).is_file():
        yield from folder_family(folder, _json(folder / HALVES))
        return
    yield from _alone(folder)
    if is_beir(folder) or is_folder_form(folder):
        return
    for inner in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        yield from (
            folder_family(inner, _json(inner / HALVES)) if (inner / HALVES).is_file() else _alone(inner)
        )


def _alone(folder: Path) -> Iterator[Dataset]:
    if is_beir(folder):
        yield beir(folder.name, folder)
    elif is_folder_form(folder):
        yield folder_form(folder.name, folder)
    else:
        yield from _in_files(folder.name, sorted(folder.glob("*.json")))


def _in_files(name: str, files: Sequence[Path]) -> Iterator[Dataset]:
    """Group chats and languages of one folder into one data set; every other file is its own."""
    chats: dict[Path, Any] = {}
    languages: dict[Path, Any] = {}
    for file in files:
        match plain := _json(file):
            case [{"haystack_sessions": _}, *_]:
                yield longmemeval(file.stem, file, plain)
            case [{"qa": _}, *_]:
                yield locomo(file.stem, {file: plain})
            case {"qa": _}:
                chats[file] = plain
            case {"data": [{"paragraphs": [{"sentence_breaks": _}, *_]}, *_]}:
                languages[file] = plain
    if chats:
        yield locomo(name, chats)
    if languages:
        yield from xquad("xquad" if len(languages) == 1 else name, languages)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error


def _with_folders(datasets: Sequence[Dataset]) -> Sequence[Dataset]:
    """Add the folder to names that occur twice."""
    names = [dataset.name for dataset in datasets]
    return tuple(
        replace(dataset, name=f"{dataset.files[0].parent.name}/{dataset.name}")
        if names.count(dataset.name) > 1
        else dataset
        for dataset in datasets
    )
