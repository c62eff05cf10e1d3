"""Carrying all that is readable of a file with damaged pages over to a new one.

Rows are read in the order of their own tables, never through an index, so that a damaged index costs nothing:
in the new file every index is made anew. Where a page of a table itself is damaged, the rows before and after
it are still read, and what lay between is named.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw

from recollect.records import Problem
from recollect.stores.check import DERIVED
from recollect.stores.checksums import with_checksums
from recollect.stores.sqlite import check
from recollect.stores.sqlite.connection import connect, prepare
from recollect.stores.sqlite.snapshot import SqliteTransaction
from recollect.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from recollect.stores.vectors.cache import VectorCache
    from recollect.tables import Row, Table

_UNREADABLE = (apsw.CorruptError, apsw.IOError, apsw.NotADBError)
_UNFIT = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError)
_OWN_TABLES = ("vector_life", "change_number")
_LOWEST = -(1 << 63)
_HIGHEST = 1 << 53
SALVAGED_OWNER = "salvaged"
"""Whose the words are that belonged to a memory which is lost: nobody else may see them."""


@dataclass(slots=True)
class Salvage:
    """What became of a damaged file."""

    lost: list[str] = field(default_factory=list)
    """What could not be read of the rows that hold what was said."""
    adopted: int = 0
    """Memories that were made for words whose memory is lost."""

    @property
    def problems(self) -> list[Problem]:
        adopted = (
            [f"{self.adopted} memories were made under the owner {SALVAGED_OWNER!r} for words of lost ones"]
            if self.adopted
            else []
        )
        return [Problem(what, "the file", repairable=False) for what in (*self.lost, *adopted)]


def salvage(source: apsw.Connection, target: Path, busy_ms: int, cache: VectorCache) -> Salvage:
    """Make a new store at `target` of all that can be read."""
    result = Salvage()
    prepare(target, busy_ms)
    with closing(connect(target, busy_ms, writes=True)) as connection:
        # Rows come table by table, and what they belong to may be lost.
        connection.pragma("foreign_keys", 0)
        connection.execute("BEGIN IMMEDIATE")
        for table in (*TABLES, *_OWN_TABLES):
            connection.execute(f"DELETE FROM {table}")
            _carry(source, connection, table, result)
        _carry_numbers(source, connection)
        rows = SqliteTransaction(connection, cache)
        _adopt_orphans(rows, result)
        _drop_without_owner(connection, result)
        check.rebuild(rows)
        rows.finish()
        connection.execute("COMMIT")
    return result


def _carry(source: apsw.Connection, target: apsw.Connection, table: str, result: Salvage) -> None:
    said = table not in (*DERIVED, *_OWN_TABLES)
    columns = [
        str(name)
        for (name,) in target.execute(
            "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0 ORDER BY cid", (table,)
        )
    ]
    statement = (
        f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    )
    for row in _readable(source, table, columns, result if said else None):
        try:
            target.execute(statement, row)
        except _UNFIT:
            if said:
                result.lost.append(f"a row of {table} ({columns[0]} {row[0]!r:.40}) is not of its form")


def _readable(
    source: apsw.Connection, table: str, columns: Sequence[str], result: Salvage | None
) -> Iterator[Row]:
    """Every row that can be read; the gaps are noted in the result."""
    key = str(
        source.execute("SELECT name FROM pragma_table_info(?) WHERE pk = 1", (table,)).get or columns[0]
    )
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
                behind = "the beginning" if not seen and first == _LOWEST else f"{key} {first!r:.40}"
                end = "the end" if following is None else f"{key} {following}"
                result.lost.append(f"rows of {table} between {behind} and {end} cannot be read ({error})")
            if following is None:
                yield from _from_the_end(source, table, listed, key, place, after)
                return
            # Never back: what could be read a moment ago may fail again.
            after = max(following - 1, after + 1) if isinstance(after, int) else after
        else:
            return


def _next_readable(source: apsw.Connection, table: str, listed: str, key: str, after: int) -> int | None:
    """The lowest key after a gap; None where nothing after it can be read this way."""
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
    # Halve what lies between a key that cannot be read and one that can.
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
    """The lowest key from this one on; its whole row must be readable, with what lies on other pages."""
    for found, *_ in source.execute(
        f"SELECT {key}, {listed} FROM {table} NOT INDEXED WHERE {key} >= ? ORDER BY {key} LIMIT 1", (least,)
    ):
        return int(found)
    return None


def _from_the_end(
    source: apsw.Connection, table: str, listed: str, key: str, place: int, after: int | str
) -> Iterator[Row]:
    try:
        for row in source.execute(f"SELECT {listed} FROM {table} NOT INDEXED ORDER BY {key} DESC"):
            if type(row[place]) is type(after) and row[place] <= after:
                return
            yield row
    except _UNREADABLE:
        return


def _carry_numbers(source: apsw.Connection, target: apsw.Connection) -> None:
    """No number is given again, not even that of a row which is lost."""
    try:
        given: list[Row] = source.execute("SELECT name, seq FROM sqlite_sequence").fetchall()
    except _UNREADABLE:
        return
    for name, seq in given:
        target.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (seq, name))
        if not target.changes():
            target.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (?, ?)", (name, seq))


def _adopt_orphans(rows: SqliteTransaction, result: Salvage) -> None:
    """Words whose memory is lost get one that says so."""
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
        connection.execute(
            f"INSERT INTO memory({', '.join(complete)}) VALUES ({', '.join('?' * len(complete))})",
            tuple(complete.values()),
        )
        result.adopted += 1


def _drop_without_owner(connection: apsw.Connection, result: Salvage) -> None:
    """What belongs to a row that is lost goes with it; of relations it is said."""
    while True:
        dropped = 0
        for table, form in TABLES.items():
            if table in DERIVED:
                continue
            for column, owner in form.owners.items():
                connection.execute(
                    f"DELETE FROM {table} WHERE {column} IS NOT NULL "
                    f"AND {column} NOT IN (SELECT id FROM {owner})"
                )
                count = connection.changes()
                dropped += count
                if count and table in {"memory", "relation"}:
                    result.lost.append(f"{count} rows of {table} whose {owner} is lost")
            _drop_pointers(connection, table)
        if not dropped:
            return


def _drop_pointers(connection: apsw.Connection, table: Table) -> None:
    for column, owner in TABLES[table].pointers.items():
        connection.execute(
            f"UPDATE {table} SET {column} = NULL WHERE {column} IS NOT NULL "
            f"AND {column} NOT IN (SELECT id FROM {owner})"
        )
    if table == "memory":
        connection.execute(
            "UPDATE memory SET superseded_by = NULL WHERE superseded_by IS NOT NULL "
            "AND superseded_by NOT IN (SELECT id FROM memory)"
        )
