"""How fast the store searches words, takes writes and reads files, beside plain FTS5 and sqlite-utils.

    python benchmarks/speed/store.py --sizes 10k,100k --json results.json

Needs `pip install sqlite-utils` for that peer. The texts are made with a fixed seed: words of a vocabulary
in which the n-th word is n times rarer than the first, as in any language.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import numpy as np
from facts import facts, write_json

import recollect
from recollect.changes import NewEntity, NewObservation, NewText, PutEntity, PutText
from recollect.engine.repository import Repository
from recollect.query import Filter
from recollect.records import Found, Kind, Scope
from recollect.retrieval.search import Search
from recollect.stores.sqlite.store import SqliteStore
from recollect.transfer import import_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.ports import Analyser

K = 30
SEED = 20_260_301
NOW = datetime(2026, 3, 1, tzinfo=UTC)
VOCABULARY = 50_000
WORDS_PER_TEXT = 40
QUERIES = 60
BATCH = 1_000
SINGLES = 300
WHOLE, SMALL = Scope("whole"), Scope("small")

Results = list[dict[str, Any]]


def main() -> None:
    options = _options()
    if options.child:
        print(json.dumps(_import_child(Path(options.child[0]), Path(options.child[1]))))
        return
    results: Results = []
    for size in (_number(size) for size in options.sizes.split(",")):
        with tempfile.TemporaryDirectory(prefix="recollect-bench-", dir=options.folder) as folder:
            for part in (words, bulk, singles, importing):
                for row in part(size, Path(folder)):
                    results.append(row)
                    _show(row)
    if options.json:
        plain = {
            "facts": facts("sqlite-utils") | {"stdlib_sqlite": sqlite3.sqlite_version},
            "results": results,
        }
        write_json(Path(options.json), plain)


# Texts


class Texts:
    """Words by how common they are, and texts made of them."""

    def __init__(self) -> None:
        self._chance = np.random.default_rng(SEED)
        letters = np.array(list("etaoinshrdlcumwfgypbvk"))
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            made["".join(self._chance.choice(letters, self._chance.integers(3, 9)))] = None
        self.words = np.array(list(made))
        weights = 1 / np.arange(1, VOCABULARY + 1)
        self._bounds = np.cumsum(weights / weights.sum())

    def some(self, count: int, length: int = WORDS_PER_TEXT) -> list[str]:
        places = np.searchsorted(self._bounds, self._chance.random((count, length)))
        return [" ".join(row) for row in self.words[np.minimum(places, VOCABULARY - 1)]]

    def queries(self, common: int, telling: int) -> list[str]:
        """So many of the twenty commonest words, and so many of those of middling rarity."""
        return [
            " ".join(
                [
                    *self.words[self._chance.integers(0, 20, common)],
                    *self.words[self._chance.integers(500, 10_000, telling)],
                ]
            )
            for _ in range(QUERIES)
        ]


# Full-text search


def words(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    texts = Texts()
    whole, small = texts.some(size), texts.some(max(size // 100, 100))
    store = Repository(SqliteStore(folder / "words.db"))
    _put_texts(store, WHOLE, whole)
    _put_texts(store, SMALL, small)
    naive = _naive(folder / "naive.db", whole, small)
    questions = {
        "telling words": texts.queries(0, 4),
        "with very common words": texts.queries(3, 3),
        "very common words only": texts.queries(3, 0),
    }
    with store.read() as snapshot:

        def by_words(query: str, k: int, where: Filter, index: Analyser = "plain") -> Sequence[Found]:
            return Search(snapshot, where).by_words(query, k, index)

        for what, asked in questions.items():
            for index in ("plain", "stemmed"):
                yield _compared(size, f"search, {what}", index, asked, by_words, naive)
        yield from _filtered(size, questions["with very common words"], by_words, naive)
    naive.close()
    store.close()


def _put_texts(store: Repository, scope: Scope, texts: Sequence[str]) -> None:
    """One in a hundred is a message of a session, the rest are notes."""
    changes = [
        PutText(scope, NewText(Kind.MESSAGE, text, session="s"))
        if number % 100 == 0
        else PutText(scope, NewText(Kind.NOTE, text))
        for number, text in enumerate(texts)
    ]
    for start in range(0, len(changes), BATCH):
        store.apply(changes[start : start + BATCH], at=NOW)


def _naive(path: Path, whole: Sequence[str], small: Sequence[str]) -> apsw.Connection:
    """One table of texts of all scopes, and FTS5 on it as its manual shows."""
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE text (id INTEGER PRIMARY KEY, scope TEXT, kind TEXT, body TEXT)")
    rows = [
        (scope, "message" if number % 100 == 0 else "note", text)
        for scope, texts in (("whole", whole), ("small", small))
        for number, text in enumerate(texts)
    ]
    with connection:
        connection.executemany("INSERT INTO text(scope, kind, body) VALUES (?, ?, ?)", rows)
        for table, tokenizer in (("plain", "unicode61"), ("stemmed", "porter unicode61")):
            connection.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(body, content='text', content_rowid='id', "
                f"tokenize='{tokenizer} remove_diacritics 2')"
            )
            connection.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
    return connection


def _asked_naively(
    connection: apsw.Connection, index: Analyser, query: str, condition: str = ""
) -> list[int]:
    match = " OR ".join(f'"{word}"' for word in query.split())
    rows = connection.execute(
        f"SELECT f.rowid FROM {index} AS f {'JOIN text AS t ON t.id = f.rowid' if condition else ''} "
        f"WHERE {index} MATCH ? {condition} ORDER BY rank LIMIT ?",
        (match, K),
    )
    return [id_ for (id_,) in rows]


def _compared(
    size: int,
    what: str,
    index: Analyser,
    asked: Sequence[str],
    by_words: Callable[..., Any],
    naive: apsw.Connection,
) -> dict[str, Any]:
    """Both sides on the same texts in the same order, so ids are comparable."""
    where = Filter(owner=WHOLE.owner)
    ours = [[found.id for found in by_words(query, K, where, index)] for query in asked]
    theirs = [_asked_naively(naive, index, query, "AND t.scope = 'whole'") for query in asked]
    return {
        "size": size,
        "what": f"{what}, {index}",
        "recollect": _each(lambda query: by_words(query, K, where, index), asked),
        "fts5": _each(lambda query: _asked_naively(naive, index, query), asked),
        "same_of_first_30": round(_agreement(ours, theirs, K), 3),
        "same_of_first_5": round(_agreement(ours, theirs, 5), 3),
    }


def _agreement(ours: Sequence[list[int]], theirs: Sequence[list[int]], first: int) -> float:
    shares = [
        len(set(one[:first]) & set(other[:first])) / max(1, len(other[:first]))
        for one, other in zip(ours, theirs, strict=True)
    ]
    return statistics.fmean(shares)


def _filtered(
    size: int, asked: Sequence[str], by_words: Callable[..., Any], naive: apsw.Connection
) -> Iterator[dict[str, Any]]:
    filters = {
        "no filter": (Filter(owner=WHOLE.owner), ""),
        "a scope of 1 %": (Filter(owner=SMALL.owner), "AND t.scope = 'small'"),
        "a kind of 1 %": (
            Filter(owner=WHOLE.owner, kinds=frozenset({Kind.MESSAGE})),
            "AND t.scope = 'whole' AND t.kind = 'message'",
        ),
        "a session": (Filter(owner=WHOLE.owner, session="s"), "AND t.scope = 'whole' AND t.kind = 'message'"),
        "all agents of the owner": (Filter(owner=WHOLE.owner, agent=None), "AND t.scope = 'whole'"),
    }
    for what, (where, condition) in filters.items():

        def ours(query: str, where: Filter = where) -> object:
            return by_words(query, K, where)

        def theirs(query: str, condition: str = condition) -> object:
            return _asked_naively(naive, "plain", query, condition)

        yield {
            "size": size,
            "what": f"filter: {what}",
            "recollect": _each(ours, asked),
            "fts5": _each(theirs, asked),
            "hits": round(statistics.fmean(len(by_words(query, K, where)) for query in asked), 1),
        }


# Writes


def bulk(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    entities = _entities(size)
    store = Repository(SqliteStore(folder / "bulk.db"))
    with _timed() as ours:
        for start in range(0, size, BATCH):
            changes = [PutEntity(WHOLE, entity) for entity in entities[start : start + BATCH]]
            store.apply(changes, at=NOW)
    store.close()
    yield {
        "size": size,
        "what": "bulk load of entities with 3 observations each, embedding apart",
        "recollect": _rate(ours, 4 * size)
        | {
            "does": "per batch of 1,000 one durable transaction; looks each name up; rows, passages and the "
            "queue for vectors; two full-text indexes, plain and stemmed"
        },
        **_sqlite_utils_bulk(entities, folder),
    }


def _entities(size: int) -> list[NewEntity]:
    seen = Texts().some(3 * size, 12)
    return [
        NewEntity(
            f"entity {number}",
            "thing",
            tuple(NewObservation(content) for content in seen[3 * number : 3 * number + 3]),
        )
        for number in range(size)
    ]


def _sqlite_utils_bulk(entities: Sequence[NewEntity], folder: Path) -> dict[str, Any]:
    try:
        import sqlite_utils
    except ImportError:
        return {"sqlite_utils": "not installed: pip install sqlite-utils"}
    results: dict[str, Any] = {}
    for name, triggers in (("sqlite_utils", True), ("sqlite_utils_index_last", False)):
        database = sqlite_utils.Database(folder / f"{name}.db")
        database.enable_wal()
        _sqlite_utils_tables(database, triggers=triggers)
        with _timed() as theirs:
            database.table("entity").insert_all(
                (
                    {"id": number, "name": entity.name, "type": entity.type}
                    for number, entity in enumerate(entities, 1)
                ),
                batch_size=BATCH,
            )
            database.table("observation").insert_all(
                (
                    {"entity_id": number, "content": seen.content}
                    for number, entity in enumerate(entities, 1)
                    for seen in entity.observations
                ),
                batch_size=BATCH,
            )
            if not triggers:
                database.table("observation").enable_fts(["content"], tokenize="porter")
        does = "rows and a foreign key; one full-text index, stemmed, of the observations, "
        does += "kept by triggers" if triggers else "made once at the end"
        results[name] = _rate(theirs, 4 * len(entities)) | {"does": does}
        database.close()
    return results


def _sqlite_utils_tables(database: Any, *, triggers: bool) -> None:
    database.table("entity").create({"id": int, "name": str, "type": str}, pk="id")
    database.table("entity").create_index(["name"], unique=True)
    database.table("observation").create(
        {"id": int, "entity_id": int, "content": str}, pk="id", foreign_keys=[("entity_id", "entity", "id")]
    )
    if triggers:
        database.table("observation").enable_fts(["content"], create_triggers=True, tokenize="porter")


def singles(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    """One entity with one observation at a time, each on the disk before the next."""
    store = Repository(SqliteStore(folder / "bulk.db"))  # as the bulk load left it
    made = [
        NewEntity(f"single {number}", "thing", entity.observations[:1])
        for number, entity in enumerate(_entities(SINGLES))
    ]
    with _timed() as ours:
        for entity in made:
            store.apply([PutEntity(WHOLE, entity)], at=NOW)
    store.close()
    row: dict[str, Any] = {
        "size": size,
        "what": "single writes, each durable",
        "recollect": _rate(ours, SINGLES),
    }
    path = folder / "sqlite_utils.db"
    if path.exists():
        import sqlite_utils

        database = sqlite_utils.Database(path)
        with _timed() as theirs:
            for entity in made:
                with database.conn:
                    id_ = database.table("entity").insert({"name": entity.name, "type": entity.type}).last_pk
                    database.table("observation").insert(
                        {"entity_id": id_, "content": entity.observations[0].content}
                    )
        row["sqlite_utils"] = _rate(theirs, SINGLES)
        database.close()
    yield row


# Import


def importing(size: int, folder: Path) -> Iterator[dict[str, Any]]:
    """So many lines: seven of ten are entities with two observations, the rest relations."""
    path = folder / "official.jsonl"
    entities = size * 7 // 10
    seen = Texts().some(2 * entities, 12)
    with path.open("w", encoding="utf-8") as file:
        for number in range(entities):
            line = {"type": "entity", "name": f"entity {number}", "entityType": "thing"}
            file.write(json.dumps({**line, "observations": seen[2 * number : 2 * number + 2]}) + "\n")
        for number in range(size - entities):
            ends = {"from": f"entity {number}", "to": f"entity {number * 7919 % entities}"}
            file.write(json.dumps({"type": "relation", **ends, "relationType": "leads_to"}) + "\n")
    for what in ("import of the official format", "the same import again"):
        child = subprocess.run(
            [sys.executable, __file__, "--child", str(path), str(folder / "imported.db")],
            capture_output=True,
            text=True,
            check=True,
        )
        yield {"size": size, "what": f"{what}, lines", "recollect": json.loads(child.stdout)}


def _import_child(path: Path, store: Path) -> dict[str, Any]:
    """In a process of its own, so that its peak of memory is its own."""
    with recollect.open(store, model="none") as engine:
        before = _peak_mb()
        with _timed() as time_:
            report = import_file(engine, path, embed=False)
    assert report.bad_count == report.dangling_count == 0
    return _rate(time_, report.lines) | {"peak_mb": _peak_mb(), "peak_mb_before": before}


def _peak_mb() -> float:
    """The most this process held. Not `ru_maxrss`, which begins with what its parent held."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return round(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024, 1)


# Measuring


@dataclass(slots=True)
class Time:
    cpu: float = 0.0
    wall: float = 0.0


@contextmanager
def _timed() -> Iterator[Time]:
    time_ = Time()
    cpu, wall = time.process_time(), time.perf_counter()
    yield time_
    time_.cpu, time_.wall = time.process_time() - cpu, time.perf_counter() - wall


def _each(ask: Callable[[str], object], queries: Sequence[str]) -> dict[str, float]:
    """Milliseconds for a query: its cost in CPU on average, and how long one waits."""
    for query in queries[:5]:
        ask(query)
    waits = []
    with _timed() as whole:
        for query in queries:
            with _timed() as one:
                ask(query)
            waits.append(one.wall * 1000)
    return {
        "cpu_ms": round(whole.cpu * 1000 / len(queries), 3),
        "median_ms": round(statistics.median(waits), 3),
        "p95_ms": round(statistics.quantiles(waits, n=20)[-1], 3),
    }


def _rate(time_: Time, rows: int) -> dict[str, Any]:
    return {
        **{name: round(seconds, 3) for name, seconds in asdict(time_).items()},
        "per_second": round(rows / time_.wall),
        "per_cpu_second": round(rows / time_.cpu),
    }


def _show(row: dict[str, Any]) -> None:
    print(f"{row['size']:>9,}  {row['what']}")
    for name, value in row.items():
        if isinstance(value, dict):
            numbers = "  ".join(f"{key} {number:,}" for key, number in value.items() if key != "does")
            print(f"           {name:<24} {numbers}")
        elif name not in {"size", "what"}:
            print(f"           {name:<24} {value}")


def _number(text: str) -> int:
    return int(float(text.lower().removesuffix("k")) * 1000) if text.lower().endswith("k") else int(text)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default="10k,100k", help="how many texts, entities and lines")
    parser.add_argument("--json", help="where to write the results")
    parser.add_argument("--folder", help="where to put the stores; the disk that is measured")
    parser.add_argument("--child", nargs=2, metavar=("FILE", "STORE"), help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
