"""The cost of embedding: texts per second on one and more cores, one query, and the model's share of writes.

    python benchmarks/speed/embedding.py --texts 200 --json results.json

Texts are made with a fixed seed, of some 40 tokens each. The ways take turns, and a rate is the best and the
median of the turns, so a busy machine affects all equally. Recollect does not embed in batches: an int8 model
scales its activations over the whole batch. `same_bytes` is the share of texts whose vector stays the same.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from facts import facts, write_json
from sentences import Sentences
from timing import number, tell, timed

from recollect.domain.records import Scope
from recollect.engine import Engine
from recollect.models.extractors import Rules
from recollect.models.packaged import PackagedEmbedder, load_onnx, usable_cores
from recollect.models.registry import ready_model
from recollect.search.recording import UsageRecorder
from recollect.services import RecentTexts, Services
from recollect.stores.port import Embedder, Vector, Vectors
from recollect.stores.sqlite.store import SqliteStore
from recollect.write.repository import Repository

MODEL = "arctic-memory"
BATCH = 32
TURNS = 5
QUERY = "Where did we leave the keys of the boat?"
QUERIES = 60
WRITES = 20
WORDS = 27
"""Words per text, about 40 tokens."""


def main() -> None:
    options = _options()
    made = Sentences().notes(2 * options.texts)
    pairs = zip(made[::2], made[1::2], strict=True)
    texts = [" ".join(f"{one} {other}".split()[:WORDS]) for one, other in pairs]
    results: list[dict[str, Any]] = [throughput(texts, options.turns), query(texts), writes(options.folder)]
    for row in results:
        _print_table(row)
    if options.json:
        plain = {"facts": facts("onnxruntime", "tokenizers") | {"model": MODEL}, "results": results}
        write_json(Path(options.json), plain)


# Throughput


def throughput(texts: Sequence[str], turns: int) -> dict[str, Any]:
    model = ready_model(MODEL)
    cores = usable_cores()
    alone = PackagedEmbedder(model, at_once=1)
    ways: dict[str, Callable[[], Vectors]] = {
        "one by one, 1 core": lambda: np.concatenate([_embedded(alone, [text]) for text in texts]),
        "one call, 1 core": lambda: _embedded(alone, texts),
    }
    for at_once in range(2, cores + 1):
        several = PackagedEmbedder(model, at_once=at_once)
        ways[f"one call, {at_once} cores"] = lambda several=several: _embedded(several, texts)  # type: ignore[misc]
    for threads in (1, cores)[: 2 if cores > 1 else 1]:
        batches = Batches(threads)
        plural = "" if threads == 1 else "s"
        for order in ("as they come", "by length"):
            name = f"batches of {BATCH}, {order}, {threads} core{plural}"
            ways[name] = lambda batches=batches, order=order: batches.documents(texts, order == "by length")  # type: ignore[misc]
    expected = next(iter(ways.values()))()
    same = {name: _same_bytes(way(), expected) for name, way in ways.items()}
    rates, cpu = _in_turn(ways, turns, len(texts))
    base = max(next(iter(rates.values())))
    tokens = [len(batches.loaded.tokenizer.encode(text).ids) for text in texts]
    return {
        "what": "throughput",
        "texts": len(texts),
        "tokens": {"median": statistics.median(tokens), "most": max(tokens)},
        "turns": turns,
        "ways": {
            name: {
                "per_second": round(max(rates[name]), 1),
                "per_second_median": round(statistics.median(rates[name]), 1),
                "ratio": round(max(rates[name]) / base, 2),
                "cpu_ms_each": round(min(cpu[name]), 3),
                "same_bytes": same[name],
            }
            for name in ways
        },
    }


class Batches:
    """An embedder that runs several texts at once, padded to the longest."""

    def __init__(self, threads: int) -> None:
        self.loaded = load_onnx(ready_model(MODEL), threads)

    def documents(self, texts: Sequence[str], by_length: bool) -> Vectors:
        ids = [encoding.ids for encoding in self.loaded.tokenizer.encode_batch(list(texts))]
        order = sorted(range(len(ids)), key=lambda place: len(ids[place])) if by_length else range(len(ids))
        rows: dict[int, Vector] = {}
        for start in range(0, len(ids), BATCH):
            places = order[start : start + BATCH]
            rows.update(zip(places, self._run([ids[place] for place in places]), strict=True))
        vectors = np.stack([rows[place] for place in range(len(ids))])
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def _run(self, ids: Sequence[Sequence[int]]) -> Vectors:
        tokens = np.zeros((len(ids), max(map(len, ids))), np.int64)
        mask = np.zeros_like(tokens)
        for place, own in enumerate(ids):
            tokens[place, : len(own)], mask[place, : len(own)] = own, 1
        feeds = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        output = self.loaded.session.run(None, {name: feeds[name] for name in self.loaded.inputs})[0]
        first: Vectors = output[:, 0]
        return first


def _embedded(embedder: PackagedEmbedder, texts: Sequence[str]) -> Vectors:
    return embedder.documents_with_tokens(texts)[0]


def _same_bytes(rows: Vectors, expected: Vectors) -> float:
    return round(float((rows == expected).all(axis=1).mean()), 3)


def _in_turn(
    ways: Mapping[str, Callable[[], object]], turns: int, count: int
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Return texts per second and CPU milliseconds per text, by way and turn."""
    rates: dict[str, list[float]] = defaultdict(list)
    cpu: dict[str, list[float]] = defaultdict(list)
    for turn in range(turns):
        tell(f"embedding: turn {turn + 1} of {turns}")
        for name, way in ways.items():
            with timed() as one:
                way()
            rates[name].append(count / one.wall)
            cpu[name].append(1000 * one.cpu / count)
    return rates, cpu


# One query


def query(texts: Sequence[str]) -> dict[str, Any]:
    """Measure a query alone, and while another thread embeds texts on one core or on all cores."""
    tell("embedding: queries")
    ways: dict[str, Any] = {}
    for name, at_once in (("alone", None), ("beside texts on 1 core", 1), ("beside texts on all cores", 0)):
        embedder = PackagedEmbedder(ready_model(MODEL), at_once=at_once or None)
        embedder.query(QUERY)
        stop = threading.Event()
        others = threading.Thread(target=_embed_until, args=(embedder, texts, stop))
        if at_once is not None:
            others.start()
        waits = []
        with timed() as whole:
            for _ in range(QUERIES):
                with timed() as one:
                    embedder.query_with_tokens(QUERY)
                waits.append(1000 * one.wall)
                stop.wait(0.02)  # a caller pauses to read the answer
        if at_once is not None:
            stop.set()
            others.join()
        ways[name] = {
            "p50_ms": round(statistics.median(waits), 2),
            "p95_ms": round(statistics.quantiles(waits, n=20)[-1], 2),
            "best_ms": round(min(waits), 2),
        }
        if at_once is None:
            ways[name]["cpu_ms_each"] = round(1000 * whole.cpu / QUERIES, 3)
    return {"what": "one query", "queries": QUERIES, "ways": ways}


def _embed_until(embedder: PackagedEmbedder, texts: Sequence[str], stop: threading.Event) -> None:
    while not stop.is_set():
        embedder.documents_with_tokens(texts[:64])


# Writes


class Watched:
    """An embedder that counts its calls and texts, and measures their time."""

    gives_tokens = True

    def __init__(self, embedder: PackagedEmbedder) -> None:
        self._embedder = embedder
        self.model = embedder.model
        self.calls = self.texts = 0
        self.cpu = self.wall = 0.0

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self.documents_with_tokens(texts)[0]

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        self.calls += 1
        self.texts += len(texts)
        with timed() as one:
            made = self._embedder.documents_with_tokens(texts)
        self.cpu += one.cpu
        self.wall += one.wall
        return made

    def query(self, text: str) -> Vector:
        return self._embedder.query(text)

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        return self._embedder.query_with_tokens(text)


def engine_on(path: Path, embedder: Embedder) -> Engine:
    store = Repository(SqliteStore(path))
    usage = UsageRecorder(store, "bench")
    return Engine(
        Services(store, lambda: datetime.now(UTC), lambda _: embedder, embedder.model.name, Scope(), usage)
    )


def writes(folder: str | None) -> dict[str, Any]:
    """Return how often each write calls the model, for how many texts, and the model's share of its time."""
    tell("embedding: writes")
    watched = Watched(PackagedEmbedder(ready_model(MODEL)))
    watched.documents(["warm"])
    made = iter(Sentences().notes(40 * WRITES))
    ways: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder) as where:
        embedder: Embedder = watched
        plain = engine_on(Path(where) / "memory.db", embedder)
        engine = Engine(replace(plain._services, extractor=Rules))

        def few(count: int) -> list[str]:
            return [next(made) for _ in range(count)]

        noted = [engine.remember(text).id for text in few(WRITES)]
        engine.create_entities([{"name": "Everybody", "observations": few(20)}])
        fresh = Engine(replace(engine._services, recent_texts=RecentTexts()))
        operations: dict[str, Callable[[int], object]] = {
            "remember": lambda _: engine.remember(*few(1)),
            "remember_many, 10 notes": lambda _: engine.remember_many(few(10)),
            "create_entities, one of 3 observations": lambda n: engine.create_entities(
                [{"name": f"Person {n}", "type": "person", "observations": few(3)}]
            ),
            "add_observations, one to an entity of 3": lambda n: engine.graph.add_observations(
                {f"Person {n}": few(1)}
            ),
            "add_observations, one to an entity of 20 and more": lambda _: fresh.graph.add_observations(
                {"Everybody": few(1)}
            ),
            "add_messages, two": lambda n: engine.add_messages(
                f"talk {n}", [{"role": "user", "content": text} for text in few(2)]
            ),
            "update": lambda n: engine.update(noted[n], text=next(made)),
            "supersede": lambda n: engine.supersede(noted[n], next(made)),
        }
        for name, write in operations.items():
            watched.calls = watched.texts = 0
            watched.cpu = watched.wall = 0.0
            with timed() as whole:
                for place in range(WRITES):
                    write(place)
            ways[name] = {
                "calls": round(watched.calls / WRITES, 2),
                "texts": round(watched.texts / WRITES, 2),
                "cpu_ms": round(1000 * whole.cpu / WRITES, 2),
                "model_cpu_ms": round(1000 * watched.cpu / WRITES, 2),
                "wall_ms": round(1000 * whole.wall / WRITES, 2),
            }
        engine.close()
    return {"what": "writes", "writes": WRITES, "ways": ways}


def _print_table(row: Mapping[str, Any]) -> None:
    print(json.dumps({name: value for name, value in row.items() if name != "ways"}))
    columns = list(dict.fromkeys(column for way in row["ways"].values() for column in way))
    width = max(map(len, row["ways"]))
    print(" " * width, *(f"{column:>18}" for column in columns))
    for name, way in row["ways"].items():
        print(f"{name:{width}}", *(f"{way.get(column, '')!s:>18}" for column in columns))
    print()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--texts", type=number, default=200, help="number of texts to embed")
    parser.add_argument("--turns", type=int, default=TURNS, help="number of timings of each way")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores")
    return parser.parse_args()


if __name__ == "__main__":
    main()
