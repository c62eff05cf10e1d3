"""The three kinds of store that are measured, filled by the public API with texts of a fixed seed."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from sentences import Sentences
from stand_in import NOW, opened, settle, stand_in
from timing import Figures, Time, rate, timed

from recollect import Engine

Kind = Literal["notes", "conversations", "graph"]
KINDS: tuple[Kind, ...] = ("notes", "conversations", "graph")
TURNS = 50
"""Messages per session."""
OBSERVATIONS = 2
"""Observations per entity: with its name, it has three texts."""
BATCH = 500
SPARE = 6_000
FILLED = NOW - timedelta(days=30)
_NAME = "memory.db"


@dataclass(frozen=True, slots=True)
class World:
    """The texts of a store, queries for it, and spare texts."""

    kind: Kind
    size: int
    texts: list[str]
    spare: list[str]
    queries: list[str]
    people: list[str]
    names: list[str]


@dataclass(frozen=True, slots=True)
class Filled:
    folder: Path
    world: World
    loading: Figures
    passages: int

    @property
    def path(self) -> Path:
        return self.folder / _NAME

    @contextmanager
    def copy(self) -> Iterator[Path]:
        """Yield a copy of the store in its own folder, and delete it afterwards."""
        with TemporaryDirectory(dir=self.folder.parent, prefix="copy-") as folder:
            for file in self.folder.iterdir():
                shutil.copy2(file, folder)
            yield Path(folder) / _NAME


def world(kind: Kind, size: int, queries: int) -> World:
    made = Sentences()
    texts = made.notes(size + SPARE)
    names = made.names(size // (OBSERVATIONS + 1)) if kind == "graph" else []
    return World(kind, size, texts[:size], texts[size:], made.queries(queries), made.people, names)


def filled(made: World, folder: Path, progress: Callable[[int, int], object]) -> Filled:
    """`size` texts with a vector each: notes, turns of sessions, or names of entities and facts of them."""
    folder.mkdir(parents=True)
    before = stand_in().cpu, stand_in().wall
    with opened(folder / _NAME, FILLED) as engine:
        with timed() as whole:
            _FILL[made.kind](engine, made, progress)
            engine.reindex()  # a call embeds so many at most; what it left belongs to the time
        passages = engine.counts().passages
        engine.recall(made.queries[0])  # the shared file of vectors is made by the first to search
        settle(engine)
    aside = stand_in().cpu - before[0], stand_in().wall - before[1]
    loading = rate(Time(whole.cpu - aside[0], whole.wall - aside[1]), made.size)
    return Filled(folder, made, loading, passages)


def _notes(engine: Engine, made: World, progress: Callable[[int, int], object]) -> None:
    for start in range(0, made.size, BATCH):
        engine.remember_many(made.texts[start : start + BATCH])
        progress(start, made.size)


def _conversations(engine: Engine, made: World, progress: Callable[[int, int], object]) -> None:
    """Add sessions of two people each. No notes are extracted, so that the store has exactly `size` texts."""
    for start in range(0, made.size, TURNS):
        session = start // TURNS
        pair = [made.people[(session + each) % len(made.people)] for each in (0, 1)]
        turns = [
            {
                "content": text,
                "speaker": pair[place % 2],
                "at": FILLED - timedelta(hours=made.size // TURNS - session) + timedelta(minutes=place),
            }
            for place, text in enumerate(made.texts[start : start + TURNS])
        ]
        engine.add_messages(f"session {session}", turns, extract=False)
        progress(start, made.size)


def _graph(engine: Engine, made: World, progress: Callable[[int, int], object]) -> None:
    batch = BATCH // (OBSERVATIONS + 1)
    for start in range(0, len(made.names), batch):
        engine.create_entities(
            {
                "name": name,
                "type": "thing",
                "observations": made.texts[OBSERVATIONS * place : OBSERVATIONS * (place + 1)],
            }
            for place, name in enumerate(made.names[start : start + batch], start)
        )
        progress(start, len(made.names))
    relations = [
        {"source": name, "target": made.names[place * 7919 % len(made.names)], "type": "leads_to"}
        for place, name in enumerate(made.names)
        if place % 2
    ]
    for start in range(0, len(relations), BATCH):
        engine.graph.create_relations(relations[start : start + BATCH])


_FILL: dict[Kind, Callable[[Engine, World, Callable[[int, int], object]], None]] = {
    "notes": _notes,
    "conversations": _conversations,
    "graph": _graph,
}
