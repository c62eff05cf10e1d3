"""How long a dream takes, stage by stage, and what callers feel of it.

    python benchmarks/speed/dreams.py --sizes 10k,100k --json results.json

Three dreams are timed: the first one ever, one on the night after, with the day's answers to replay, and one
after 40 days away, when so much has faded that a thousand memories are looked at for pruning. Each is taken
back, timed, and dreamt again. Then somebody asks and remembers without a dream, while dreams follow each
other in a thread of the same process, and while they do in another process; in turn, so that a busy machine
disturbs all three alike. As in `asking.py`, potion embeds what is stored, and a query costs what the default
model costs.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from asking import MODEL, StandIn
from facts import facts, write_json
from sentences import Sentences
from timing import number, tell, timed

from recollect.changes import NewEntity, NewObservation, NewText, PutEntity, PutText, PutVectors
from recollect.engine.engine import Engine
from recollect.engine.repository import Repository
from recollect.engine.services import Services
from recollect.engine.usage import UsageRecorder
from recollect.ports import Embedder
from recollect.records import Kind, Scope
from recollect.retrieval.passages import pending_passages
from recollect.stores.sqlite.store import SqliteStore
from recollect.vectors import pack_vector

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST = NOW - timedelta(days=700)
BATCH = 1_000
ENTITIES = 0.05
"""Of all memories; the others are notes."""
TWINS = 100
ANSWERS = 200
"""That a day leaves to be replayed."""
CALLS, MOST_CALLS = 40, 300
"""Of each sort in one turn of a caller: at least so many, and as many as it takes to see a dream written."""
TURNS = 3
AWAY_DAYS = 40
STAGES = (
    "look",
    "search who else says what fades",
    "search copies of errors",
    "plan and gate",
    "report",
    "write",
)


@dataclass(slots=True)
class Clock:
    now: datetime = NOW
    step: timedelta = field(default_factory=timedelta)

    def __call__(self) -> datetime:
        return self.now


def main() -> None:
    options = _options()
    if options.child:
        _keep_dreaming_here(Path(options.child))
        return
    results: list[dict[str, Any]] = []
    for size in map(number, options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
            for row in _rows(size, Path(folder)):
                results.append(row)
                print(json.dumps(row))
                if options.json:
                    write_json(
                        Path(options.json),
                        {
                            "facts": facts("onnxruntime") | {"model": MODEL, "filled_by": "potion"},
                            "results": results,
                        },
                    )


def _rows(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    embedder, clock, made = StandIn(), Clock(), Sentences()
    path = folder / "memory.db"
    tell(f"dreams: filling {size:,}")
    texts = made.notes(size + MOST_CALLS * TURNS * 3)
    _fill(path, embedder, texts[:size], made)
    queries = made.queries(MOST_CALLS * TURNS * 3)
    with _engine(path, embedder, clock) as engine:
        for text in texts[int(size * ENTITIES) :][:TWINS]:
            engine.remember(f"Reminder: {text}")
        for what, days in (("the first", 0), ("the night after", 1), (f"after {AWAY_DAYS} days", AWAY_DAYS)):
            tell(f"dreams: {size:,}, {what}")
            clock.now += timedelta(days=days)
            _day(engine, clock, queries[:ANSWERS])
            yield {"what": f"a dream: {what}", "size": size} | _dream(engine)
        tell(f"dreams: {size:,}, callers")
        yield {"what": "callers, while dreams are dreamt", "size": size} | _callers(
            engine, path, clock, queries, texts[size:]
        )


# One dream


def _day(engine: Engine, clock: Clock, queries: Sequence[str]) -> None:
    """Somebody asks, in sessions of ten questions; and it is night a few hours later."""
    for place, query in enumerate(queries):
        if place % 10 == 0:
            engine._services.usage.settle(None)
            engine._services.usage.session = f"{clock.now:%j} {place}"
        engine.recall(query)
    engine._services.usage.settle(None)
    clock.now += timedelta(hours=8)


def _dream(engine: Engine) -> dict[str, Any]:
    first, _ = _timed_dream(engine)
    record = engine.dreams.history(1)[0]
    with timed() as undo:
        undone = engine.dreams.undo(record.id)
    again, dreamt = _timed_dream(engine)
    assert undone.left == ()
    report = dreamt.report
    return {
        "seconds": min(first["seconds"], again["seconds"]),
        "stages": {name: min(first["stages"][name], again["stages"][name]) for name in STAGES},
        "peak_mb": again["peak_mb"],
        "peak_above_start_mb": again["peak_above_start_mb"],
        "undo_seconds": round(undo.wall, 3),
        "changes": undone.changes,
        "journal_kb": round(_journal_bytes(engine, engine.dreams.history(1)[0].id) / 1000, 1),
        "report": {
            "answers": report.answers,
            "stronger": report.stronger,
            "faded": report.faded,
            "pruned": len(report.pruned),
            "unique": report.unique,
            "merged": len(report.merged),
            "links": report.links,
            "gate": None if report.gate is None else report.gate.questions,
            "skipped": list(report.skipped),
        },
    }


def _timed_dream(engine: Engine) -> tuple[dict[str, Any], Any]:
    before = _reset_peak()
    marks = [time.perf_counter()]
    dreamt = engine.dream(drop_failing=True, progress=lambda *_: marks.append(time.perf_counter()))
    stages = {
        name: round(later - earlier, 4)
        for name, earlier, later in zip(STAGES, marks, marks[1:], strict=False)
    }
    peak = _status_mb("VmHWM")
    return {
        "seconds": round(marks[-1] - marks[0], 3),
        "stages": stages,
        "peak_mb": peak,
        "peak_above_start_mb": round(peak - before, 1),
    }, dreamt


def _reset_peak() -> float:
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # Linux forgets the peak so far
    return _status_mb("VmRSS")


def _status_mb(name: str) -> float:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith(name))
    return round(int(line.split()[1]) / 1000, 1)


def _journal_bytes(engine: Engine, dream: int) -> int:
    with engine._services.store.read() as view:
        rows = view.connection.execute(  # type: ignore[attr-defined]  # what no port tells
            "SELECT length(journal) FROM dream WHERE id = ?", (dream,)
        ).fetchall()
    return int(rows[0][0])


# Callers beside a dream


def _callers(
    engine: Engine, path: Path, clock: Clock, queries: Sequence[str], new: Sequence[str]
) -> dict[str, Any]:
    waits: dict[str, dict[str, list[float]]] = {}
    dreams: dict[str, int] = {}
    ways: dict[str, Callable[[], Any]] = {
        "without": nullcontext,
        "in a thread": lambda: _dreaming_in_a_thread(engine, clock),
        "in another process": lambda: _dreaming_in_a_process(path),
    }
    place = 0
    for query in queries[:5]:  # the model, the vectors and the pages into memory
        engine.recall(query, record=False)
    for turn in range(TURNS):
        for shift in range(len(ways)):
            name = list(ways)[(turn + shift) % len(ways)]
            before = _last_dream(engine)
            with ways[name]():
                for turned in range(MOST_CALLS):
                    if turned >= CALLS and (name == "without" or _last_dream(engine) > before):
                        break
                    with timed() as asked:
                        engine.recall(queries[place])
                    with timed() as told:
                        engine.remember(new[place])
                    place += 1
                    kept = waits.setdefault(name, {"recall": [], "remember": []})
                    kept["recall"].append(asked.wall * 1000)
                    kept["remember"].append(told.wall * 1000)
            dreams[name] = dreams.get(name, 0) + _last_dream(engine) - before
    base = waits["without"]
    calls = {name: len(found["recall"]) for name, found in waits.items()}
    return {"calls": calls, "dreams_meanwhile": dreams} | {
        call: {
            name: {
                "p50_ms": round(statistics.median(found[call]), 2),
                "p95_ms": round(_p95(found[call]), 2),
                "p50_ratio": round(statistics.median(found[call]) / statistics.median(base[call]), 2),
                "p95_ratio": round(_p95(found[call]) / _p95(base[call]), 2),
                "longest_ms": round(max(found[call]), 1),
            }
            for name, found in waits.items()
        }
        for call in ("recall", "remember")
    }


def _last_dream(engine: Engine) -> int:
    return engine.dreams.history(1)[0].id


def _p95(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


@contextmanager
def _dreaming_in_a_thread(engine: Engine, clock: Clock) -> Iterator[None]:
    enough = threading.Event()

    def sleep() -> None:
        while not enough.is_set():
            clock.now += timedelta(hours=6)
            engine.dream(drop_failing=True)

    thread = threading.Thread(target=sleep)
    thread.start()
    try:
        yield
    finally:
        enough.set()
        thread.join()


@contextmanager
def _dreaming_in_a_process(path: Path) -> Iterator[None]:
    with subprocess.Popen(
        [sys.executable, __file__, "--child", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdout.readline()  # it has loaded the model, and begins
        yield
        child.stdin.close()  # it ends after the dream that it is in


def _keep_dreaming_here(path: Path) -> None:
    clock, enough = Clock(), threading.Event()
    with _engine(path, StandIn(), clock) as engine:
        engine.recall("Where are the keys?", record=False)
        clock.now = max(each.at for each in engine.dreams.history(1)) + timedelta(hours=6)
        print("ready", flush=True)
        threading.Thread(target=_until_told, args=(enough,), daemon=True).start()
        while not enough.is_set():
            engine.dream(drop_failing=True)
            clock.now += timedelta(hours=6)


def _until_told(enough: threading.Event) -> None:
    sys.stdin.read()
    enough.set()


# The store


def _engine(path: Path, embedder: Embedder, clock: Clock) -> Engine:
    store = Repository(SqliteStore(path))
    return Engine(
        Services(
            store,
            clock,
            lambda _: embedder,
            embedder.model.name,
            Scope(),
            UsageRecorder(store, "bench"),
            zone=UTC,
        )
    )


def _fill(path: Path, embedder: Embedder, texts: Sequence[str], made: Sentences) -> None:
    store = Repository(SqliteStore(path))
    entities = int(len(texts) * ENTITIES)
    names = made.names(entities)
    step = (NOW - FIRST) / len(texts)
    for start in range(0, len(texts), BATCH):
        store.apply(
            [
                PutEntity(Scope(), NewEntity(names[place], "thing", (NewObservation(texts[place]),)))
                if place < entities
                else PutText(Scope(), NewText(Kind.NOTE, texts[place], created_at=FIRST + place * step))
                for place in range(start, min(start + BATCH, len(texts)))
            ],
            at=FIRST if start < entities else NOW,
        )
        with store.read() as view:
            waiting = pending_passages(view, embedder.model, 0, 10 * BATCH)
        rows = embedder.documents([passage.text for passage in waiting])
        vectors = tuple((passage.id, pack_vector(row)) for passage, row in zip(waiting, rows, strict=True))
        store.apply([PutVectors(embedder.model, vectors)], at=NOW)
    store.close()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="10k,100k", help="how many memories")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
