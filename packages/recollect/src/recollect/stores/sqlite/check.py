"""Check an SQLite file, rebuild its derived rows, and salvage a damaged file."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from recollect.domain.records import Problem
from recollect.domain.tables import TABLES, Equals
from recollect.stores.check import (
    DERIVED,
    checksum_problems,
    drop_broken,
    every_scope_id,
    invalidate_caches,
    number_problems,
    orphans,
    rebuild_passages,
    refill_words,
    row_problems,
    with_checksums,
    word_problems,
)
from recollect.stores.sqlite.connection import LOST_CHANGES, connect, prepare
from recollect.stores.sqlite.snapshot import SqliteSnapshot, SqliteTransaction, SqliteVectorQueries
from recollect.stores.vectors.block import VectorSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from recollect.domain.tables import Row
    from recollect.stores.vectors.cache import VectorCache


def find_problems(connection: apsw.Connection, cache: VectorCache, *, quick: bool = False) -> list[Problem]:
    """Return all problems, from the file's pages up to the cache; `quick` checks only pages and texts."""
    rows = SqliteSnapshot(connection, cache)
    parts = {"the file": _file_problems(connection, quick=quick), "checksums": checksum_problems(rows)}
    if not quick:
        parts |= {
            "rows": row_problems(rows),
            "numbers": number_problems(rows),
            "words": word_problems(rows),
            "vectors": _cache_problems(connection, cache),
        }
    return [problem for where, found in parts.items() for problem in _until_unreadable(found, where)]


def rebuild(rows: SqliteTransaction) -> None:
    """Rebuild derived rows: passages, pending vectors and word indexes."""
    rows.remove("setting", (Equals("name", LOST_CHANGES),))
    # Delete the rows of all scopes, since a row may point to a wrong or missing scope or term.
    for table in ("posting", "document", "term"):
        rows.change(f"DELETE FROM {table}")
    drop_broken(rows)
    rebuild_passages(rows)
    for scope in every_scope_id(rows):
        refill_words(rows, scope)
    # Vectors were deleted without an entry in `vector_change`.
    invalidate_caches(rows)


def _until_unreadable(found: Iterable[Problem], where: str) -> Iterator[Problem]:
    """Yield problems until damage ends the check; then yield that as a problem."""
    try:
        yield from found
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        yield Problem(f"the check stopped: {error}", where, repairable=where == "words")


def _file_problems(connection: apsw.Connection, *, quick: bool) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA quick_check" if quick else "PRAGMA integrity_check"):
        # Repairable: a repair rebuilds indexes, and reports rows that it could not read.
        for line in str(message).splitlines():
            if line != "ok" and not line.startswith("***"):
                yield Problem(line, "the file", repairable=True)
    lost = connection.execute("SELECT value FROM setting WHERE name = ?", (LOST_CHANGES,)).get
    if lost is not None:
        yield Problem(
            f"{lost} changes are lost: the log ({connection.filename}-wal) was missing when the store was "
            "opened after a crash. Restore a backup, or repair the store to continue without them",
            "the file",
            repairable=True,
        )
    if quick:
        return
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem(
            f"row {row} of {table} points to a {parent} that does not exist",
            "rows",
            repairable=table in DERIVED,
        )


def _cache_problems(connection: apsw.Connection, cache: VectorCache) -> Iterator[Problem]:
    identity: Row | None = connection.execute("SELECT value FROM setting WHERE name = 'store_id'").fetchone()
    if identity is None:
        yield Problem("the store has no id", "vectors", repairable=True)
        return
    models: list[Row] = list(connection.execute("SELECT id, dims, centre FROM model WHERE in_use = 1"))
    for model in models:
        for trouble in cache.check(SqliteVectorQueries(connection), VectorSource(identity[0], *model)):
            yield Problem(trouble, "vectors", repairable=True)


# Salvaging a file with damaged pages

_UNREADABLE = (apsw.CorruptError, apsw.IOError, apsw.NotADBError)
_REFUSED_BY_TABLE = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
_OWN_TABLES = ("vector_change", "change_number")
_LOWEST = -(1 << 63)
_HIGHEST = 1 << 53
SALVAGED_OWNER = "salvaged"
"""The owner of texts whose memory is lost, so that no other owner sees them."""


@dataclass(slots=True)
class Salvage:
    """The result of salvaging a damaged file."""

    lost: list[str] = field(default_factory=list)
    """Descriptions of users' rows that could not be read."""
    adopted: int = 0
    """The number of memories created for texts whose memory is lost."""

    @property
    def problems(self) -> list[Problem]:
        made = (
            f"{self.adopted} lost memories were made again from their texts, for the owner {SALVAGED_OWNER!r}"
        )
        messages = [*self.lost, made] if self.adopted else self.lost
        return [Problem(each, "the file", repairable=False) for each in messages]


def salvage(source: apsw.Connection, target: Path, busy_ms: int, cache: VectorCache) -> Salvage:
    """Copy all rows that can be read to a new store at `target`."""
    result = Salvage()
    prepare(target, busy_ms)
    with closing(connect(target, busy_ms, writes=True)) as connection:
        # A row is copied before its owner if its table comes first, and its owner may be lost.
        connection.pragma("foreign_keys", 0)
        connection.execute("BEGIN IMMEDIATE")
        rows = SqliteTransaction(connection, cache)
        for table in (*TABLES, *_OWN_TABLES):
            rows.change(f"DELETE FROM {table}")
            _copy_table(source, rows, table, result)
        _copy_last_ids(source, connection)
        _adopt_orphans(rows, result)
        _drop_ownerless(rows, result)
        rebuild(rows)
        rows.finish()
        connection.execute("COMMIT")
    return result


def _copy_table(source: apsw.Connection, rows: SqliteTransaction, table: str, result: Salvage) -> None:
    is_users = table not in (*DERIVED, *_OWN_TABLES)
    columns = rows.stored_columns(table)
    listed, marks = ", ".join(columns), ", ".join("?" * len(columns))
    for row in _readable_rows(source, table, columns, result if is_users else None):
        try:
            rows.change(f"INSERT OR IGNORE INTO {table}({listed}) VALUES ({marks})", row)
        except _REFUSED_BY_TABLE:
            if is_users:
                result.lost.append(f"a row of {table} ({columns[0]} {row[0]!r:.40}) does not fit its table")


def _readable_rows(
    source: apsw.Connection, table: str, columns: Sequence[str], result: Salvage | None
) -> Iterator[Row]:
    """Yield every row that can be read, and add the gaps to the result."""
    first_key = source.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,)).get
    key = str(first_key or columns[0])
    listed, place = ", ".join(columns), columns.index(key)
    after: int | str = _LOWEST
    seen = False
    while True:
        try:
            for row in source.execute(
                f"SELECT {listed} FROM {table} NOT INDEXED WHERE {key} > ? ORDER BY {key}", (after,)
            ):
                yield row
                after, seen = row[place], True
        except _UNREADABLE as error:
            first = after
            following = _next_readable(source, table, listed, key, after) if isinstance(after, int) else None
            if result is not None:
                start = "the beginning" if not seen and first == _LOWEST else f"{key} {first!r:.40}"
                end = "the end" if following is None else f"{key} {following}"
                result.lost.append(f"rows of {table} between {start} and {end} cannot be read ({error})")
            if following is None:
                with suppress(*_UNREADABLE):
                    backwards = f"SELECT {listed} FROM {table} NOT INDEXED ORDER BY {key} DESC"
                    for row in source.execute(backwards):
                        if type(row[place]) is type(after) and row[place] <= after:
                            return
                        yield row
                return
            # Never go back: a key that could be read before may fail now.
            after = max(following - 1, after + 1) if isinstance(after, int) else after
        else:
            return


def _next_readable(source: apsw.Connection, table: str, listed: str, key: str, after: int) -> int | None:
    """Return the lowest readable key after a gap, if any."""
    low, step = max(after, 0), 1
    high: int | None = None
    while high is None:
        if low + step > _HIGHEST:
            return None
        try:
            found = _key_from(source, table, listed, key, low + step)
        except _UNREADABLE:
            step *= 2
            continue
        if found is None:
            break
        high = found
    # Binary search between an unreadable key and a readable one.
    bad, good = low + step // 2, high if high is not None else low + step
    lowest = high
    while good - bad > 1:
        middle = (bad + good) // 2
        try:
            found = _key_from(source, table, listed, key, middle)
        except _UNREADABLE:
            bad = middle
            continue
        good = middle
        lowest = found if found is not None else lowest
    return lowest


def _key_from(source: apsw.Connection, table: str, listed: str, key: str, least: int) -> int | None:
    """Return the lowest key from this one on. Its whole row is read, with overflow pages."""
    for found, *_ in source.execute(
        f"SELECT {key}, {listed} FROM {table} NOT INDEXED WHERE {key} >= ? ORDER BY {key} LIMIT 1", (least,)
    ):
        return int(found)
    return None


def _copy_last_ids(source: apsw.Connection, target: apsw.Connection) -> None:
    """Copy the last ids, so that no id is used again, not even that of a lost row."""
    try:
        given: list[Row] = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    except _UNREADABLE:
        return
    for name, seq in given:
        target.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (seq, name))
        if not target.changes():
            target.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (name, seq))


def _adopt_orphans(rows: SqliteTransaction, result: Salvage) -> None:
    """Add a placeholder memory for texts whose memory is lost."""
    connection = rows.connection
    lost: list[Row] = connection.execute(
        "SELECT memory_id, min(created_at) FROM observation WHERE memory_id NOT IN (SELECT id FROM memory) "
        "GROUP BY memory_id UNION ALL SELECT memory_id, min(since) FROM revision "
        "WHERE memory_id NOT IN (SELECT id FROM memory UNION SELECT memory_id FROM observation) "
        "GROUP BY memory_id"
    ).fetchall()
    if not lost:
        return
    owner = connection.execute("SELECT id FROM scope WHERE owner = ? AND agent = ''", (SALVAGED_OWNER,)).get
    scope = owner or rows.put("scope", [{"owner": SALVAGED_OWNER, "agent": ""}])[0]
    for id_, at in lost:
        text = connection.execute(
            "SELECT text FROM revision WHERE memory_id = ? ORDER BY id DESC LIMIT 1", (id_,)
        ).get
        name = "" if text is not None else f"Lost memory {id_}"
        values = {
            "id": id_,
            "kind": "entity" if text is None else "note",
            "scope_id": scope,
            "created_at": at,
            "updated_at": at,
            "name": name,
            "folded_name": name.lower(),
            "first_word": None if text is not None else "lost",
            "type": "" if text is not None else "unknown",
            "text": text or "",
        }
        (complete,) = with_checksums("memory", [values])
        rows.fill("memory", tuple(complete), [tuple(complete.values())])
        result.adopted += 1


def _drop_ownerless(rows: SqliteTransaction, result: Salvage) -> None:
    """Delete rows whose owner is lost, clear dangling pointers, and report lost memories and relations."""
    dropped = 1
    while dropped:
        dropped = 0
        for table, column, owner, lost in orphans(rows):
            if column in TABLES[table].pointers:
                rows.change(f"UPDATE {table} AS r SET {column} = NULL WHERE {lost}")
            elif table not in DERIVED:
                count = rows.change(f"DELETE FROM {table} AS r WHERE {lost}")
                dropped += count
                if count and table in {"memory", "relation"}:
                    result.lost.append(f"{count} rows of {table} whose {owner} is lost")
    rows.change("UPDATE memory SET superseded_by = NULL WHERE superseded_by NOT IN (SELECT id FROM memory)")
