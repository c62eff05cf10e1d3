"""How long ranking takes, and what a recall's time goes into: embedding, searching, ranking, reading.

    python benchmarks/speed/ranking.py --sizes 1k,10k,100k --json results.json

Ranking by itself is measured on made-up candidates. Recall is measured on stores of made-up notes whose
vectors are random, so that they are quick to build, and with the real embedder for the query. Variants are
asked in turn, query by query, so that a busy machine disturbs all alike; `best` is the least disturbed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from facts import facts, write_json
from store import Texts

from recollect.changes import NewText, PutText, PutVectors, RecordUse
from recollect.embedders.choose import embedder_named
from recollect.engine.engine import Engine
from recollect.engine.recall import _hits, open_search, query_of
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.query import Query
from recollect.ranking.candidates import DAY, NEVER, Candidates, Cooccurrences, Facts, Source
from recollect.ranking.explain import all_reasons
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.pipeline import run
from recollect.ranking.profiles import PROFILES
from recollect.records import Kind, Scope
from recollect.retrieval.gather import gather
from recollect.retrieval.passages import pending_passages
from recollect.retrieval.records import memories_by_id
from recollect.stores.sqlite.store import SqliteStore
from recollect.vectors import pack_vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from recollect.ports import Embedder

SEED = 20_260_301
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODEL = "arctic-s"
CANDIDATES = (30, 300, 3_000)
LIMIT = 10
BATCH = 1_000
QUERIES = 60
Results = list[dict[str, Any]]
Times = dict[str, list[float]]


def main() -> None:
    options = _options()
    results: Results = []
    for part in (ranking(), *(recall(_number(size), options.folder) for size in options.sizes.split(","))):
        for row in part:
            results.append(row)
            print(json.dumps(row))
    if options.json:
        plain = {"facts": facts("onnxruntime") | {"model": MODEL}, "results": results}
        write_json(Path(options.json), plain)


# Ranking by itself


def ranking() -> Iterator[dict[str, Any]]:
    """Every step of each profile, on columns that are already there; and telling the reasons of ten."""
    for count in CANDIDATES:
        candidates = _candidates(count)
        moment = Query("what is the relation between tea and work", microseconds(NOW), LIMIT)
        for name, profile in PROFILES.items():
            ranked = run(profile, candidates, moment)
            yield {
                "what": "ranking alone",
                "candidates": count,
                "profile": name,
                "rank_ms": _repeated(partial(run, profile, candidates, moment)),
                "explain_ms": _repeated(partial(all_reasons, ranked.score_changes, len(ranked))),
            }


def _candidates(count: int) -> Candidates:
    """Two thirds found by meaning, two thirds by words, a third by both."""
    chance = np.random.default_rng(SEED)
    now = microseconds(NOW)
    ids = np.sort(chance.choice(10 * count, count, replace=False)) + 1
    times = now - chance.integers(0, 500 * DAY, (3, count))
    accesses = chance.integers(0, 20, count)
    ones = np.ones(count)
    known = Facts(
        ids=ids,
        created_at=times[0],
        updated_at=times[1],
        happened_at=np.full(count, NEVER),
        last_access=np.where(accesses > 0, times[2], NEVER),
        access_count=accesses,
        access_days=np.minimum(accesses, 5),
        degree=chance.integers(0, 20, count),
        status=chance.integers(0, 4, count),
        importance=chance.random(count),
        strength=ones,
        depth=np.full(count, 2),
        spread=np.ones(count, np.int64),
        stability=ones,
        temper=ones,
        metadata_share=chance.random(count),
        content=-ids,
        echo=np.zeros(count, bool),
        origin=ids,
        session=np.zeros(count, np.int64),
        position=np.zeros(count, np.int64),
        named=np.zeros(count, bool),
        asks=np.zeros(count, bool),
        kind=np.ones(count, np.int64),
        role=np.zeros(count, np.int64),
        informativeness=ones,
        length=np.full(count, 100),
    )
    sources = {
        "meaning": _source(chance.permutation(count)[: 2 * count // 3], chance, count, 1.0),
        "words": _source(chance.permutation(count)[: 2 * count // 3], chance, count, 20.0),
    }
    return Candidates(known, sources, np.zeros(count), cooccurrences=_pairs(count))


def _source(found: np.ndarray, chance: np.random.Generator, count: int, best: float) -> Source:
    rank, score = np.zeros(count, np.int64), np.full(count, np.nan)
    rank[found] = np.arange(1, len(found) + 1)
    score[found] = np.sort(chance.random(len(found)) * best)[::-1]
    return Source(rank, score)


def _pairs(count: int) -> Cooccurrences:
    """As many as candidates."""
    chance = np.random.default_rng(SEED)
    pairs = np.sort(chance.integers(0, count, (2 * count, 2)), axis=1)
    first, second = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)[:count].T
    last = microseconds(NOW) - chance.integers(0, 300 * DAY, len(first))
    return Cooccurrences(first, second, chance.integers(1, 9, len(first)), last)


# Recall from end to end


def recall(size: int, folder: str | None) -> Iterator[dict[str, Any]]:
    embedder = embedder_named(MODEL)
    assert embedder is not None
    with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=folder) as made:
        store = Repository(SqliteStore(Path(made) / "memory.db"))
        texts = Texts()
        _fill(store, embedder, texts.some(size))
        signals = UsageRecorder(store, "bench")
        with Engine(Services(store, lambda: NOW, lambda _: embedder, MODEL, Scope(), signals)) as engine:
            queries = [*texts.queries(3, 3)[: QUERIES // 2], *texts.queries(0, 3)[: QUERIES // 2]]
            for query in queries[:5]:  # the model, the vectors and the pages into memory
                for profile in PROFILES:
                    engine.search(query, profile=profile)
            for profile in PROFILES:
                yield _shares(engine, queries, profile) | {"size": size, "profile": profile}
            for profile in PROFILES:
                yield _extras(engine, queries, profile) | {"size": size, "profile": profile}


def _fill(store: Repository, embedder: Embedder, texts: Sequence[str]) -> None:
    """Notes, a vector for each, and some use, so that there are signals to load."""
    chance = np.random.default_rng(SEED)
    for start in range(0, len(texts), BATCH):
        changes = [PutText(Scope(), NewText(Kind.NOTE, text)) for text in texts[start : start + BATCH]]
        store.apply(changes, at=NOW)
        with store.read() as view:
            waiting = [passage.id for passage in pending_passages(view, embedder.model, 0, 2 * BATCH)]
        rows = chance.standard_normal((len(waiting), embedder.model.dims)).astype(np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        vectors = tuple((id_, pack_vector(row)) for id_, row in zip(waiting, rows, strict=True))
        store.apply([PutVectors(embedder.model, vectors)], at=NOW)
    for _ in range(20):
        shown = chance.integers(1, len(texts), 50).tolist()
        store.apply([RecordUse(Scope(), tuple(shown), "bench")], at=NOW)


def _shares(engine: Engine, queries: Sequence[str], profile: str) -> dict[str, Any]:
    """What `recall` does, stage by stage."""
    parts, ranker = engine._services, PROFILES[profile]
    times: Times = defaultdict(list)
    found = []
    for query in queries:
        clock = _Clock(times)
        embedder = parts.embedder_named(MODEL)
        assert embedder is not None
        embedder.query(query)
        clock.lap("embedding")
        question = query_of(parts, query, ranker, now=NOW, record=False)
        with open_search(parts, question) as (search, asked, _):
            clock.lap("again")  # the same embedding once more
            gathered = gather(search, ranker, asked)
            clock.lap("retrieval")
            ranked = run(ranker, gathered.candidates, asked)
            clock.lap("ranking")
            memories = memories_by_id(search.snapshot, ranked.ids.tolist())
            _hits(search.snapshot, ranked, gathered, memories)
            clock.lap("reading the hits")
        found.append(len(gathered.candidates))
    del times["again"]
    shares = {name: _summary(values) for name, values in times.items()}
    ratio = statistics.median(times["ranking"]) / statistics.median(times["embedding"])
    best = min(times["ranking"]) / min(times["embedding"])
    return {
        "what": "recall, stage by stage",
        "candidates": round(statistics.fmean(found)),
        "ms": shares,
        "ranking_over_embedding": round(ratio, 4),
        "ranking_over_embedding_best": round(best, 4),
    }


def _extras(engine: Engine, queries: Sequence[str], profile: str) -> dict[str, Any]:
    """A whole recall, with explanations, with recording, and the one that comes after a recording.

    A write makes the next reader read its pages again, so what a call costs depends on the call before it:
    each way follows the same untimed search. `again` is `plain` once more; how far it is from `plain` is
    what the machine's noise alone makes of no difference.
    """

    def ask(query: str, *, explain: bool = False, record: bool = False) -> None:
        engine.recall(query, profile=profile, explain=explain, record=record)

    ways: Mapping[str, Callable[[str], None]] = {
        "plain": ask,
        "again": ask,
        "explain": partial(ask, explain=True),
        "record": partial(ask, record=True),
        "after recording": ask,
    }
    times: Times = defaultdict(list)
    for turn, query in enumerate(queries):
        for place in range(len(ways)):
            name = list(ways)[(turn + place) % len(ways)]
            ask(query)
            if name == "after recording":
                ask(query, record=True)
                engine._services.usage.settle(None)
            clock = _Clock(times)
            ways[name](query)
            clock.lap(name)
            engine._services.usage.settle(None)
    return {
        "what": "whole recall",
        "ms": {name: _summary(values) for name, values in times.items()},
        "overhead": {name: _overhead(times[name], times["plain"]) for name in ways if name != "plain"},
    }


def _overhead(more: Sequence[float], less: Sequence[float]) -> float:
    """How much longer, of the whole: the median of the differences over the median."""
    differences = [one - other for one, other in zip(more, less, strict=True)]
    return round(statistics.median(differences) / statistics.median(less), 4)


# Measuring


class _Clock:
    """Milliseconds since the last lap, under a name."""

    def __init__(self, times: Times) -> None:
        self._times = times
        self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        now = time.perf_counter()
        self._times[name].append((now - self._last) * 1000)
        self._last = time.perf_counter()


def _repeated(work: Callable[[], object]) -> dict[str, float]:
    times: Times = defaultdict(list)
    for _ in range(100):
        clock = _Clock(times)
        work()
        clock.lap("all")
    return _summary(times["all"])


def _summary(milliseconds: Sequence[float]) -> dict[str, float]:
    return {"median": round(statistics.median(milliseconds), 4), "best": round(min(milliseconds), 4)}


def _number(text: str) -> int:
    return int(float(text.lower().removesuffix("k")) * 1000) if text.lower().endswith("k") else int(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="1k,10k,100k", help="how many notes the stores hold")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    return parser.parse_args()


if __name__ == "__main__":
    main()
