"""Measure one peer in the environment that it is installed in, and print a row of JSON.

    python measure.py speed NAME DATA SIZE     DATA has texts and queries as JSON, and their vectors
    python measure.py writes NAME DATA COUNT   single writes, to count their system calls with strace
    python measure.py locomo NAME DATA         DATA has conversations, questions and their vectors

It runs in environments without Recollect, so it needs only NumPy.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from catalogue import NAMES
from peer import Memory, Peer, Vectors

BATCH = 1_000
SINGLES = 20
TEXTS_BEFORE_WRITES = 100
LIMIT = 10


def main() -> None:
    task, name, data, *rest = sys.argv[1:]
    peer, folder = NAMES[name], Path(data)
    if task == "locomo":
        _print_row({"r_at_10": round(locomo_recall(peer, folder), 4)})
        return
    texts, vectors = json.loads((folder / "texts.json").read_text("utf-8")), np.load(folder / "vectors.npy")
    queries = json.loads((folder / "queries.json").read_text("utf-8"))
    asked = np.load(folder / "query_vectors.npy")
    (number,) = map(int, rest)
    with tempfile.TemporaryDirectory(prefix="recollect-peer-") as place:
        if task == "writes":
            _write(peer.open(Path(place)), texts, vectors, number)
            _print_row({"writes": number})
            os._exit(0)  # without closing the store, whose syncs must not count
        _print_row(measure_speed(peer, Path(place), texts[: number + SINGLES], vectors, queries, asked))


def _write(memory: Memory, texts: Sequence[str], vectors: Vectors, count: int) -> None:
    _fill(memory, texts[:TEXTS_BEFORE_WRITES], vectors)
    for id_ in range(TEXTS_BEFORE_WRITES, TEXTS_BEFORE_WRITES + count):
        memory.add([id_], [texts[id_]], vectors[id_ : id_ + 1])


def measure_speed(
    peer: Peer, place: Path, texts: Sequence[str], vectors: Vectors, queries: Sequence[str], asked: Vectors
) -> dict[str, Any]:
    size = len(texts) - SINGLES
    memory = peer.open(place)
    cpu, wall = time.process_time(), time.perf_counter()
    _fill(memory, texts[:size], vectors)
    filling = time.process_time() - cpu, time.perf_counter() - wall
    memory.search(queries[0], asked[0], LIMIT)
    searches = [
        _timed(lambda row=row, query=query: memory.search(query, asked[row], LIMIT))
        for row, query in enumerate(queries)
    ]
    writes = [
        _timed(lambda id_=id_: memory.add([id_], [texts[id_]], vectors[id_ : id_ + 1]))
        for id_ in range(size, size + SINGLES)
    ]
    memory.close()
    used = sum(file.stat().st_size for file in place.rglob("*") if file.is_file())
    return {
        "size": size,
        "search": _spread(searches),
        "write": _spread(writes),
        "bulk_per_second": round(size / filling[1], 1),
        "bulk_cpu_ms": round(filling[0] * 1000 / size, 4),
        "bytes_each": round(used / size),
    }


def _fill(memory: Memory, texts: Sequence[str], vectors: Vectors) -> None:
    for start in range(0, len(texts), BATCH):
        stop = min(start + BATCH, len(texts))
        memory.add(range(start, stop), texts[start:stop], vectors[start:stop])


def _timed(work: Any) -> tuple[float, float]:
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def _spread(times: Sequence[tuple[float, float]]) -> dict[str, float]:
    cpu, wall = (sorted(each[place] * 1000 for each in times) for place in (0, 1))
    return {
        "cpu_ms": round(statistics.median(cpu), 3),
        # The mean includes the work that some peers do in the background.
        "cpu_ms_mean": round(statistics.fmean(cpu), 3),
        "wall_ms": round(statistics.median(wall), 3),
        "wall_ms_p99": round(wall[min(len(wall) - 1, int(0.99 * len(wall)))], 3),
    }


def locomo_recall(peer: Peer, folder: Path) -> float:
    """Return the mean recall among ten hits, with one store of plain notes per conversation."""
    shares: list[float] = []
    for conversation in json.loads((folder / "conversations.json").read_text("utf-8")):
        rows = np.load(folder / f"{conversation['name']}.npy")
        asked = np.load(folder / f"{conversation['name']}-asked.npy")
        with tempfile.TemporaryDirectory(prefix="recollect-peer-") as place:
            memory = (peer.open_as_users_do or peer.open)(Path(place))
            _fill(memory, conversation["texts"], rows)
            for row, question in enumerate(conversation["questions"]):
                found = set(memory.search(question["text"], asked[row], LIMIT))
                gold = set(question["gold"])
                shares.append(len(found & gold) / len(gold))
            memory.close()
    return statistics.fmean(shares)


def _print_row(row: dict[str, Any]) -> None:
    print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
