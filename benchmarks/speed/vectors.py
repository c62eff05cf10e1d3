"""How fast vectors are searched, beside sqlite-vec, plain NumPy and faiss, on one thread.

    python benchmarks/speed/vectors.py 10000 100000 1000000 --json results.json
    python benchmarks/speed/vectors.py 100000 --vectors texts.npy --queries queries.npy --centre centre.npy \\
        --other-queries others.npy

Other queries are about something else than the texts: their nearest are hardly nearer than the rest, which is
harder to tell from codes. How much of the exact top is found is measured for both, at several depths.

Needs `pip install sqlite-vec faiss-cpu`. Without --vectors, the data are synthetic: clusters, off the origin.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import numpy as np
from facts import facts, write_json
from numpy.typing import NDArray

from recollect.domain.numbers import normalised, pack_vector
from recollect.stores.sql import CachedVectors
from recollect.stores.sqlite.connection import migrations
from recollect.stores.sqlite.snapshot import SqliteVectorQueries
from recollect.stores.vectors.block import VectorSource
from recollect.stores.vectors.cache import VectorCache
from recollect.stores.vectors.scan import Allowed

K = 30
TOPS = (8, 30, 100)
DIMS = 384
STORE, MODEL = "bench", 1
# Scope by scope, its share of the rows; the rest belongs to a fourth.
SHARES = {1: 0.01, 2: 0.10, 3: 0.50}
FILTERS: dict[str, int | None] = {"all": None, "1%": 1, "10%": 2, "50%": 3}

Floats = NDArray[np.float32]
Search = Callable[[Floats, int | None], NDArray[np.int64]]
TopSearch = Callable[..., NDArray[np.int64]]
"""A search that takes another `k`, too."""


def main() -> None:
    options = parsed()
    use_one_thread()
    if options.child:
        return child(options)
    report: dict[str, Any] = {
        "facts": facts("sqlite-vec", "faiss-cpu"),
        "data": data_name(options),
        "k": K,
        "runs": [],
    }
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for size in options.sizes:
            report["runs"].append(run(size, options, Path(folder)))
    if options.json:
        write_json(options.json, report)
    return None


def use_one_thread() -> None:
    """NumPy and faiss read these as they are imported, so the program starts over with them set."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if not threads.items() <= dict(os.environ).items():
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **threads})  # noqa: S606


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("sizes", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--vectors", type=Path, help="real embeddings (.npy), jittered up to each size")
    parser.add_argument("--queries", type=Path, help="embeddings of real queries (.npy)")
    parser.add_argument(
        "--other-queries", type=Path, help="embeddings of queries about something else (.npy)"
    )
    parser.add_argument("--centre", type=Path, help="the model's centre (.npy)")
    parser.add_argument("--count", type=int, default=40, help="queries per size")
    parser.add_argument("--folder", help="where stores are made; default: the temporary folder")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


# Data


def dataset(size: int, options: argparse.Namespace) -> tuple[Floats, Floats, Floats]:
    """Documents, queries and the centre."""
    chance = np.random.default_rng(7)
    if options.vectors is None:
        middle = 0.8 * normalised(chance.normal(size=DIMS))
        topics = 0.5 * normalised(chance.normal(size=(2000, DIMS)))

        def texts(count: int) -> Floats:
            own = 0.4 * normalised(chance.normal(size=(count, DIMS)).astype(np.float32))
            return normalised(
                (middle + topics[chance.integers(0, len(topics), count)]).astype(np.float32) + own
            )

        return texts(size), texts(options.count), texts(300).mean(axis=0)
    real: Floats = np.load(options.vectors)
    documents = real[np.arange(size) % len(real)]
    if size > len(real):
        # Copies move by a quarter of their length: as near to one another as sentences on one subject.
        noise = normalised(chance.normal(size=(size - len(real), DIMS)).astype(np.float32))
        documents[len(real) :] = normalised(documents[len(real) :] + 0.25 * noise)
    queries = np.load(options.queries)[: options.count] if options.queries else real[-options.count :]
    centre = np.load(options.centre) if options.centre else real[:300].mean(axis=0)
    return documents, queries, centre.astype(np.float32)


def data_name(options: argparse.Namespace) -> str:
    return (
        "synthetic clusters, seed 7"
        if options.vectors is None
        else f"{options.vectors.name}, jittered to size"
    )


def scopes_of(size: int) -> NDArray[np.int64]:
    edges = np.cumsum(list(SHARES.values()))
    return np.searchsorted(edges, np.random.default_rng(8).random(size), "right") + 1


# Engines: each answers row numbers, from 0


def fill_store(path: Path, documents: Floats, scopes: NDArray[np.int64], centre: Floats) -> None:
    connection = apsw.Connection(str(path))
    for step in migrations():
        connection.execute(step)
    connection.pragma("synchronous", 0)
    connection.pragma("journal_mode", "wal")
    numbers = list(enumerate(scopes.tolist(), 1))
    with connection:
        connection.executemany(
            "INSERT INTO scope(id, owner, agent) VALUES (?, ?, '')", [(n, str(n)) for n in (1, 2, 3, 4)]
        )
        connection.execute("INSERT INTO model VALUES (?, 'm', ?, ?, 1)", (MODEL, DIMS, pack_vector(centre)))
        connection.executemany(
            "INSERT INTO memory(id, kind, scope_id, created_at, updated_at) VALUES (?, 'note', ?, 0, 0)",
            numbers,
        )
        connection.executemany(
            "INSERT INTO passage(id, memory_id, start, stop) VALUES (?1, ?1, 0, 1)",
            [(n,) for n, _ in numbers],
        )
        connection.executemany(
            "INSERT INTO vector(id, model_id, passage_id, embedding) VALUES (?1, 1, ?1, ?2)",
            ((n, pack_vector(row)) for n, row in enumerate(documents, 1)),
        )
    connection.close()


def ours(path: Path, cache: VectorCache, centre: Floats | None) -> TopSearch:
    connection = apsw.Connection(str(path))
    packed = None if centre is None else pack_vector(centre)

    def search(query: Floats, scope: int | None, k: int = K) -> NDArray[np.int64]:
        allowed = [1, 2, 3, 4] if scope is None else [scope]
        with connection:  # the freshness check is part of every search
            source = VectorSource(STORE, MODEL, DIMS, packed)
            vectors = CachedVectors("measured", [(cache, SqliteVectorQueries(connection), source)])
            found = vectors.search(query, k, Allowed.of(allowed))
        return np.array([hit.id for hit in found]) - 1

    return search


def plain_numpy(documents: Floats, scopes: NDArray[np.int64]) -> Search:
    def search(query: Floats, scope: int | None) -> NDArray[np.int64]:
        scores = documents @ query
        if scope is not None:
            scores[scopes != scope] = -np.inf
        return np.argpartition(-scores, K)[:K]

    return search


def sqlite_vec(documents: Floats, scopes: NDArray[np.int64], path: Path) -> Search:
    import sqlite_vec as extension

    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(extension.loadable_path())
    connection.pragma("synchronous", 0)
    with connection:
        connection.execute(f"CREATE VIRTUAL TABLE plain USING vec0(embedding float[{DIMS}])")
        connection.execute(f"CREATE VIRTUAL TABLE scoped USING vec0(scope integer, embedding float[{DIMS}])")
        packed = [pack_vector(row) for row in documents]
        connection.executemany("INSERT INTO plain(rowid, embedding) VALUES (?, ?)", enumerate(packed))
        connection.executemany(
            "INSERT INTO scoped(rowid, embedding, scope) VALUES (?, ?, ?)",
            ((n, row, scope) for n, (row, scope) in enumerate(zip(packed, scopes.tolist(), strict=True))),
        )

    def search(query: Floats, scope: int | None) -> NDArray[np.int64]:
        table, more, bindings = ("plain", "", ()) if scope is None else ("scoped", "AND scope = ?", (scope,))
        rows = connection.execute(
            f"SELECT rowid FROM {table} WHERE embedding MATCH ? AND k = {K} {more}",
            (pack_vector(query), *bindings),
        )
        return np.array([n for (n,) in rows])

    return search


def faiss_flat(documents: Floats, scopes: NDArray[np.int64]) -> Search:
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMS)
    index.add(documents)
    choose = faiss_filters(faiss, scopes)

    def search(query: Floats, scope: int | None) -> NDArray[np.int64]:
        _, found = index.search(query[None], K, params=choose(scope))
        return np.asarray(found[0], np.int64)

    return search


def faiss_sq8(documents: Floats, scopes: NDArray[np.int64]) -> Search:
    """Eight bits a number; the best 4 K are compared again in full."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexScalarQuantizer(DIMS, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_INNER_PRODUCT)
    index.train(documents[:50_000])
    index.add(documents)
    choose = faiss_filters(faiss, scopes)

    def search(query: Floats, scope: int | None) -> NDArray[np.int64]:
        _, near = index.search(query[None], 4 * K, params=choose(scope))
        rows = np.asarray(near[0], np.int64)
        rows = rows[rows >= 0]
        return rows[np.argsort(-(documents[rows] @ query))[:K]]

    return search


def faiss_filters(faiss: Any, scopes: NDArray[np.int64]) -> Callable[[int | None], Any]:
    chosen: dict[int | None, Any] = {None: None}
    for scope in SHARES:
        bits = np.packbits(scopes == scope, bitorder="little")
        chosen[scope] = faiss.SearchParameters(sel=faiss.IDSelectorBitmap(bits))
    return lambda scope: chosen[scope]


# Measuring


def run(size: int, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    documents, queries, centre = dataset(size, options)
    scopes = scopes_of(size)
    store = folder / f"{size}.db"
    fill_store(store, documents, scopes, centre)
    shared = VectorCache(store.with_name(store.name + "-vectors"))
    two_stages = ours(store, shared, centre)
    start = time.process_time()
    two_stages(queries[0], None)
    built = time.process_time() - start
    engines: dict[str, Search] = {
        "recollect": two_stages,
        "recollect, exact": ours(store, VectorCache(store.with_name("exact")), None),
        "NumPy X @ q": plain_numpy(documents, scopes),
        "sqlite-vec": sqlite_vec(documents, scopes, folder / f"{size}-vec.db"),
        "faiss flat": faiss_flat(documents, scopes),
        "faiss SQ8, rescored": faiss_sq8(documents, scopes),
    }
    floor = bandwidth(documents)
    times = {which: measured(engines, queries, scope, documents, scopes) for which, scope in FILTERS.items()}
    print_table(size, times, floor, documents.nbytes)
    result: dict[str, Any] = {
        "size": size,
        "floor_gb_per_s": round(floor / 1e9, 1),
        "floor_ms": round(1e3 * documents.nbytes / floor, 3),
        "cache_build_cpu_s": round(built, 3),
        "filters": times,
    }
    print(f"cache made from SQLite in {built:.2f} CPU s")
    result["recall"] = {
        about: recalls(about, two_stages, asked, documents)
        for about, asked in asked_of(queries, options).items()
    }
    result["processes"] = processes(store, queries, folder)
    return result


def asked_of(queries: Floats, options: argparse.Namespace) -> dict[str, Floats]:
    """Queries by what they are about, as far as there are any."""
    asked = {"the texts": queries}
    if options.other_queries is not None and options.other_queries.exists():
        asked["something else"] = np.load(options.other_queries)[: options.count]
    return asked


def recalls(about: str, search: TopSearch, queries: Floats, documents: Floats) -> dict[str, dict[str, float]]:
    """How much of the exact top is found, at several depths, and what each search costs."""
    rows: dict[int, list[tuple[float, float]]] = {k: [] for k in TOPS}
    for query in queries:
        scores = np.vecdot(documents, query)
        for k in TOPS:
            good = scores >= np.partition(scores, -k)[-k]
            found, cpu, _ = timed(partial(search, query, None, k))
            rows[k].append((float(good[found].sum()) / k, cpu))
    result = {
        f"top {k}": {
            "recall": round(float(np.mean([recall for recall, _ in row])), 4),
            "least": round(min(recall for recall, _ in row), 4),
            "cpu_ms": round(1e3 * float(np.median([cpu for _, cpu in row])), 3),
        }
        for k, row in rows.items()
    }
    print(
        about, {name: tuple(numbers.values()) for name, numbers in result.items()}, "(recall, least, CPU ms)"
    )
    return result


def bandwidth(documents: Floats) -> float:
    """Bytes per second at which one thread reads the vectors once and does next to nothing with them."""
    words = documents.reshape(-1).view(np.uint64)
    best = min(timed(words.sum)[1] for _ in range(5))
    best = min(best, *(timed(lambda: np.bitwise_or.reduce(words))[1] for _ in range(5)))
    return documents.nbytes / best


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The answer, CPU seconds and wall seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    answer = work()
    return answer, time.process_time() - cpu, time.perf_counter() - wall


def measured(
    engines: dict[str, Search],
    queries: Floats,
    scope: int | None,
    documents: Floats,
    scopes: NDArray[np.int64],
) -> dict[str, dict[str, float]]:
    """Median times over the queries; engines take turns, so that a busy machine slows all alike."""
    samples: dict[str, list[tuple[float, float, float]]] = {name: [] for name in engines}
    for search in engines.values():
        search(queries[0], scope)
    for query in queries:
        scores = np.vecdot(documents, query)
        if scope is not None:
            scores[scopes != scope] = -np.inf
        # What ties with the last is as good as it.
        good = scores >= np.partition(scores, -K)[-K]
        for name, search in engines.items():
            found, cpu, wall = timed(partial(search, query, scope))
            samples[name].append((cpu, wall, float(good[found].sum()) / K))
    return {
        name: {
            "cpu_ms": round(1e3 * float(np.median([cpu for cpu, _, _ in rows])), 3),
            "wall_ms": round(1e3 * float(np.median([wall for _, wall, _ in rows])), 3),
            "recall": round(float(np.mean([recall for _, _, recall in rows])), 4),
        }
        for name, rows in samples.items()
    }


def print_table(size: int, times: dict[str, dict[str, dict[str, float]]], floor: float, nbytes: int) -> None:
    once = f"{1e3 * nbytes / floor:.2f} ms at {floor / 1e9:.1f} GB/s"
    print(f"\n{size:,} vectors, top {K}; one reading of them: {once}")
    heads = "".join(f"{f'scope {which}':^30}" if which != "all" else f"{'no filter':^30}" for which in times)
    print(f"{'':22}{heads}")
    print(f"{'':22}" + f"{'CPU ms':>8}{'wall ms':>9}{'recall':>8}{'x':>5}" * len(times))
    for name in times["all"]:
        line = f"{name:22}"
        for rows in times.values():
            row = rows[name]
            less = rows["sqlite-vec"]["cpu_ms"] / row["cpu_ms"]
            line += f"{row['cpu_ms']:8.2f}{row['wall_ms']:9.2f}{row['recall']:8.3f}{less:5.1f}"
        print(line)
    print("x: times less CPU than sqlite-vec")


# Fresh processes


def processes(store: Path, queries: Floats, folder: Path) -> dict[str, Any]:
    """A process that opens the store and searches; then one more beside it, which shares its file."""
    np.save(folder / "query.npy", queries[0])
    first, second = start(store), start(store)
    result = {"first": finished(first), "second": finished(second)}
    for process in (first, second):
        assert process.stdin
        process.stdin.close()
        process.wait()
    fresh = result["first"]
    print(
        f"fresh process: open to first hit {fresh['first_hit_wall_ms']:.0f} ms wall, "
        f"{fresh['first_hit_cpu_ms']:.0f} ms CPU; peak memory {fresh['peak_mb']:.0f} MB, "
        f"shared pages included; a second process: {result['second']['private_mb']:.1f} MB private"
    )
    return result


def start(store: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--child", str(store)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def finished(process: subprocess.Popen[str]) -> dict[str, float]:
    """Its numbers; the process stays, so that its maps stay shared."""
    assert process.stdout
    numbers: dict[str, float] = json.loads(process.stdout.readline())
    return numbers


def child(options: argparse.Namespace) -> None:
    store: Path = options.child
    query = np.load(store.with_name("query.npy"))
    connection = apsw.Connection(str(store))
    centre = np.frombuffer(connection.execute("SELECT centre FROM model").get, np.float32)
    before = memory_mb("/proc/self/smaps_rollup", "Private_")
    search = ours(store, VectorCache(store.with_name(store.name + "-vectors")), centre)
    _, cpu, wall = timed(lambda: search(query, None))
    numbers = {
        "first_hit_cpu_ms": round(1e3 * cpu, 1),
        "first_hit_wall_ms": round(1e3 * wall, 1),
        "peak_mb": round(memory_mb("/proc/self/status", "VmHWM"), 1),
        "private_mb": round(memory_mb("/proc/self/smaps_rollup", "Private_") - before, 2),
    }
    print(json.dumps(numbers), flush=True)
    sys.stdin.read()


def memory_mb(file: str, what: str) -> float:
    """Memory of this process; where the system does not tell, not a number."""
    try:
        lines = Path(file).read_text(encoding="ascii").splitlines()
    except OSError:
        return float("nan")
    return sum(int(line.split()[1]) for line in lines if line.startswith(what)) / 1024


if __name__ == "__main__":
    main()
