"""Storing notes, singly and in bulk: with a model, with vectors that are there already, and without any.

The middle one is what Chroma is measured beside: both get the same texts with the same vectors, and differ in
what they do with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from sentences import SEED, Sentences
from timing import Spent, rate, tell, timed

from recollect.changes import NewText, PutText, PutVectors
from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.notes import remember
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.ports import Embedder, Vector, Vectors
from recollect.records import Kind, Model, Scope
from recollect.retrieval.passages import pending_passages
from recollect.stores.sqlite.store import SqliteStore
from recollect.vectors import pack_vector

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = "arctic-s"
BATCH = 1_000
SINGLES = 200
# The model is the same however many there are, so that there is no need to wait for it longer.
MOST_EMBEDDED = 2_000
DIMS = 384
WARM = "Where are the keys?"
DOES = (
    "each durable on return (synchronous=FULL); looks for the same words, finds mentions, two full-text "
    "indexes; singly also looks for near-twins"
)
CHROMA_DOES = "SQLite with a full-text index of trigrams, a log, and HNSW in memory, written out in batches"


class Given:
    """An embedder whose vectors are known beforehand: what remains is the storing."""

    def __init__(self, texts: Sequence[str]) -> None:
        rows = np.random.default_rng(SEED).standard_normal((len(texts), DIMS)).astype(np.float32)
        self.rows: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self._place = {text: place for place, text in enumerate(texts)}

    @property
    def model(self) -> Model:
        return Model("given", DIMS)

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self.rows[[self._place[text] for text in texts]]

    def query(self, text: str) -> Vector:  # noqa: ARG002  # nobody asks this one
        vector: Vector = self.rows[0]
        return vector


def remembering(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    """Bulk into an empty store; single notes into one that holds `size`, where near-twins are sought."""
    texts = Sentences().notes(size + SINGLES)
    there, new = texts[:size], texts[size:]
    given = Given(texts)
    ways: dict[str, tuple[Embedder | None, int]] = {
        f"with {MODEL}": (embedder_named(MODEL), min(size, MOST_EMBEDDED)),
        "with vectors given": (given, size),
        "without a model": (None, size),
    }
    bulk: dict[str, Any] = {"what": "remember_many, batches of 1,000", "size": size, "does": DOES}
    for name, (embedder, count) in ways.items():
        tell(f"remembering: {count:,} in bulk, {name}")
        bulk[name] = _bulk(engine_on(folder / f"bulk {name}.db", embedder), there[:count])
    singly: dict[str, Any] = {"what": "remember, one at a time", "size": size, "does": DOES}
    for name, (embedder, count) in ways.items():
        tell(f"remembering: {SINGLES} singly, {name}")
        path = folder / f"bulk {name}.db"
        if count < size:  # filled up without the model's time
            path = folder / f"singly {name}.db"
            _fill(path, embedder, there, given)
        singly[name] = _singly(engine_on(path, embedder), new)
    tell("remembering: chroma")
    bulk["chroma"], singly["chroma"] = _chroma(folder / "chroma", there, new, given)
    for row in (bulk, singly):
        row["of_chroma"] = _ratio(row["with vectors given"], row["chroma"])
        yield row


def engine_on(path: Path, embedder: Embedder | None) -> Engine:
    store = Repository(SqliteStore(path))
    name = "none" if embedder is None else embedder.model.name
    return Engine(
        Services(
            store, lambda: NOW, lambda _: embedder, name, Scope(), UsageRecorder(store, "bench"), zone=UTC
        )
    )


def _bulk(engine: Engine, texts: Sequence[str]) -> dict[str, Any]:
    def store() -> None:
        for start in range(0, len(texts), BATCH):
            engine.remember_many(texts[start : start + BATCH])
        # A call embeds so many at most; what it left is done here, and belongs to the time.
        if engine._services.preferred_model != "none":
            engine.reindex()

    return _measured(engine, store, len(texts))


def _singly(engine: Engine, texts: Sequence[str]) -> dict[str, Any]:
    before = engine.counts().notes

    def store() -> None:
        for text in texts:
            engine.remember(text)

    return {"on": before, **_measured(engine, store, len(texts))}


def _measured(engine: Engine, work: Callable[[], None], count: int) -> dict[str, Any]:
    """The whole, and what of its CPU goes where."""
    embedder = engine._services.embedder_named("")
    with engine, ExitStack() as watching:
        if embedder is not None:
            embedder.query(WARM)  # the model into memory
        spent = Spent()
        watching.enter_context(spent.watching(engine._services.store, "apply", "store"))
        watching.enter_context(spent.watching(remember, "flag_similar_notes", "near-twins"))
        if embedder is not None:
            watching.enter_context(spent.watching(embedder, "documents", "embedding"))
        with timed() as whole:
            work()
        assert embedder is None or engine.counts().due == 0, "every note has its vector"
    return {"count": count, **rate(whole, count), "cpu_ms_each_by_part": spent.each(count, whole)}


def _fill(path: Path, embedder: Embedder | None, texts: Sequence[str], given: Given) -> None:
    """Notes with vectors of another make: near-twins are sought as fast whatever they say."""
    assert embedder is not None
    store = Repository(SqliteStore(path))
    for start in range(0, len(texts), BATCH):
        some = texts[start : start + BATCH]
        store.apply([PutText(Scope(), NewText(Kind.NOTE, text)) for text in some], at=NOW)
        with store.read() as view:
            waiting = pending_passages(view, embedder.model, 0, BATCH)
        rows = given.documents([passage.text for passage in waiting])
        vectors = tuple((passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True))
        store.apply([PutVectors(embedder.model, vectors)], at=NOW)
    store.close()


# Chroma


def _chroma(path: Path, there: Sequence[str], new: Sequence[str], given: Given) -> tuple[Any, Any]:
    try:
        chromadb, config = import_module("chromadb"), import_module("chromadb.config")
    except ModuleNotFoundError:
        missing = "not installed: pip install chromadb"
        return missing, missing
    client = chromadb.PersistentClient(str(path), config.Settings(anonymized_telemetry=False))
    collection = client.create_collection("notes", embedding_function=None, metadata={"hnsw:space": "cosine"})

    def add(first: int, texts: Sequence[str]) -> None:
        rows: Any = given.documents(texts)
        ids = [str(first + place) for place in range(len(texts))]
        collection.add(ids=ids, documents=list(texts), embeddings=rows)

    with timed() as bulk:
        for start in range(0, len(there), BATCH):
            add(start, there[start : start + BATCH])
    with timed() as singly:
        for place, text in enumerate(new):
            add(len(there) + place, [text])
    assert collection.count() == len(there) + len(new)
    return (
        {"count": len(there), **rate(bulk, len(there)), "does": CHROMA_DOES},
        {"on": len(there), "count": len(new), **rate(singly, len(new)), "does": CHROMA_DOES},
    )


def _ratio(ours: dict[str, Any], theirs: dict[str, Any] | str) -> dict[str, float] | None:
    """How many times as many notes we store in a second as they do: by the clock, by CPU, and by CPU without
    the search for near-twins, which they do not make."""
    if isinstance(theirs, str):
        return None
    searching = ours["cpu_ms_each_by_part"]["near-twins"]
    return {
        "times_per_second": round(ours["per_second"] / theirs["per_second"], 2),
        "times_per_cpu_second": round(theirs["cpu_ms_each"] / ours["cpu_ms_each"], 2),
        "times_without_near_twins": round(theirs["cpu_ms_each"] / (ours["cpu_ms_each"] - searching), 2),
    }
