"""Is everything in step in an SQLite file? And rebuilding what is derived from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from recollect.conditions import Equals, OneOf
from recollect.records import Problem
from recollect.stores.check import (
    DERIVED,
    add_checksums,
    broken_vectors,
    checksum_problems,
    count_problem,
    every_scope_id,
    forget_caches,
    rebuild_passages,
    refill_words,
    row_problems,
    word_problems,
)
from recollect.stores.sqlite.change_number import LOST_CHANGES
from recollect.stores.sqlite.snapshot import SqliteSnapshot
from recollect.stores.sqlite.vector_queries import SqliteVectorQueries
from recollect.stores.vectors.source import VectorSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.stores.sqlite.snapshot import SqliteTransaction
    from recollect.stores.vectors.cache import VectorCache
    from recollect.tables import Row

# What takes bytes to tell, which need not be fetched for it.
_WRONG_LENGTH = {
    "vectors of the wrong length": (
        "SELECT count(*) FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE length(v.embedding) <> 4 * model.dims"
    ),
    "token vectors of the wrong length": (
        "SELECT count(*) FROM passage_tokens AS t JOIN model ON model.id = t.model_id "
        "WHERE length(t.signs) % ((model.dims + 7) / 8) <> 0"
    ),
}


def problems(connection: apsw.Connection, cache: VectorCache, *, quick: bool = False) -> list[Problem]:
    """Everything that is wrong, from the file's pages up to the cache; `quick`: of pages and words alone."""
    rows = SqliteSnapshot(connection, cache)
    parts = {
        "the file": _file_problems(connection, quick=quick),
        "checksums": checksum_problems(rows),
    }
    if not quick:
        parts |= {
            "rows": row_problems(rows),
            "lengths": _length_problems(connection),
            "numbers": _vector_problems(rows),
            "words": _word_problems(rows),
            "vectors": _cache_problems(connection, cache),
        }
    return [problem for where, found in parts.items() for problem in _as_far_as_readable(found, where)]


def has_sound_pages(connection: apsw.Connection) -> bool:
    """Whether SQLite can read every page, and every index has what its table has."""
    try:
        return bool(connection.execute("PRAGMA integrity_check(1)").get == "ok")
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
        return False


def rebuild(rows: SqliteTransaction) -> None:
    """Make the derived anew: passages and their lives, the queue for vectors, indexes of words."""
    rows.remove("setting", (Equals("name", LOST_CHANGES),))
    _drop_orphans(rows.connection)
    rows.remove("vector", (OneOf("id", broken_vectors(rows)),))
    add_checksums(rows)
    rebuild_passages(rows)
    for scope in every_scope_id(rows):
        refill_words(rows, scope)
    # Vectors went without a word in the log that caches follow.
    forget_caches(rows)


def _as_far_as_readable(found: Iterable[Problem], where: str) -> Iterator[Problem]:
    """A damaged file may end a check half way; what is known until then is still worth telling."""
    try:
        yield from found
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        yield Problem(f"the check could not go on: {error}", where, repairable=where == "words")


def _drop_orphans(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM passage WHERE memory_id NOT IN (SELECT id FROM memory) "
        # Asked whether it is there at all, too: of an empty table, even nothing is not in it.
        "OR (observation_id IS NOT NULL AND observation_id NOT IN (SELECT id FROM observation)) "
        "OR (revision_id IS NOT NULL AND revision_id NOT IN (SELECT id FROM revision))"
    )
    connection.execute(
        "DELETE FROM vector WHERE passage_id NOT IN (SELECT id FROM passage) "
        "OR model_id NOT IN (SELECT id FROM model) "
        "OR length(embedding) <> 4 * (SELECT dims FROM model WHERE id = model_id)"
    )
    connection.execute(
        "DELETE FROM passage_tokens WHERE passage_id NOT IN (SELECT id FROM passage) "
        "OR model_id NOT IN (SELECT id FROM model) "
        "OR length(signs) % ((SELECT dims + 7 FROM model WHERE id = model_id) / 8) <> 0"
    )
    # Of all scopes at once: a row may name a scope or a term that is not its own, or not there.
    for table in ("posting", "document", "term"):
        connection.execute(f"DELETE FROM {table}")


def _file_problems(connection: apsw.Connection, *, quick: bool) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA quick_check" if quick else "PRAGMA integrity_check"):
        # A repair mends indexes, and says what it could not read of the rows.
        for line in str(message).splitlines():
            if line != "ok" and not line.startswith("***"):
                yield Problem(line, "the file", repairable=True)
    lost = connection.execute("SELECT value FROM setting WHERE name = ?", (LOST_CHANGES,)).get
    if lost is not None:
        yield Problem(
            f"{lost} changes are lost: the log ({connection.filename}-wal) was missing when the store was "
            "opened after a crash. Put back a backup, or repair the store to go on without them",
            "the file",
            repairable=True,
        )
    if quick:
        return
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem(
            f"row {row} of {table} points to a {parent} that is not there",
            "rows",
            repairable=table in DERIVED,
        )


def _length_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for what, question in _WRONG_LENGTH.items():
        yield from count_problem(connection.execute(question).get, what)


def _vector_problems(rows: SqliteSnapshot) -> Iterator[Problem]:
    yield from count_problem(len(broken_vectors(rows)), "vectors whose numbers were changed")


def _word_problems(rows: SqliteSnapshot) -> Iterator[Problem]:
    for scope in every_scope_id(rows):
        yield from word_problems(rows, scope)


def _cache_problems(connection: apsw.Connection, cache: VectorCache) -> Iterator[Problem]:
    identity: Row | None = connection.execute("SELECT value FROM setting WHERE name = 'store_id'").fetchone()
    if identity is None:
        yield Problem("the store has no identity", "vectors", repairable=True)
        return
    models: list[Row] = list(connection.execute("SELECT id, dims, centre FROM model WHERE in_use = 1"))
    for model in models:
        for trouble in cache.check(SqliteVectorQueries(connection), VectorSource(identity[0], *model)):
            yield Problem(trouble, "vectors", repairable=True)
