"""Is everything in step? And rebuilding what is derived from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Problem
from recollect.stores.sqlite import vector_rows, word_index
from recollect.stores.sqlite.documents import index_words
from recollect.stores.sqlite.rows import first

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from recollect.stores.sqlite.rows import Row
    from recollect.stores.sqlite.vector_cache import VectorCache

_SEARCHABLE = "SELECT id FROM memory WHERE scope_id = ? AND deleted_at IS NULL AND superseded_at IS NULL"
_BATCH = 2_000

_ORPHANS = {
    "passages without their memory": (
        "SELECT count(*) FROM passage WHERE memory_id NOT IN (SELECT id FROM memory)"
    ),
    "vectors without their passage": (
        "SELECT count(*) FROM vector WHERE passage_id NOT IN (SELECT id FROM passage)"
    ),
}
_ASKEW = {
    "entities without a passage of their own": (
        "SELECT count(*) FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM passage WHERE memory_id = m.id "
        "AND observation_id IS NULL)"
    ),
    "observations without passages": (
        "SELECT count(*) FROM observation AS o WHERE NOT EXISTS ("
        "SELECT 1 FROM passage WHERE observation_id = o.id)"
    ),
    "passages whose life differs from their memory's": (
        "SELECT count(*) FROM passage AS p JOIN memory AS m ON m.id = p.memory_id "
        "LEFT JOIN observation AS o ON o.id = p.observation_id WHERE p.live <> (m.deleted_at IS NULL "
        "AND m.superseded_at IS NULL AND (o.id IS NULL OR o.deleted_at IS NULL AND o.superseded_at IS NULL))"
    ),
    "vectors of the wrong length": (
        "SELECT count(*) FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE length(v.embedding) <> 4 * model.dims"
    ),
    "live passages with neither a vector nor a place in the queue for one": (
        "SELECT count(*) FROM passage AS p WHERE NOT EXISTS (SELECT 1 FROM due WHERE passage_id = p.id) "
        "AND NOT EXISTS (SELECT 1 FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE v.passage_id = p.id AND model.in_use = 1)"
    ),
    "memories said to be superseded by one that is not there": (
        "SELECT count(*) FROM memory WHERE superseded_by IS NOT NULL "
        "AND superseded_by NOT IN (SELECT id FROM memory)"
    ),
}


def problems(connection: apsw.Connection, cache: VectorCache) -> list[Problem]:
    """Everything that is wrong, from the file's pages up to the cache."""
    return [
        *_file_problems(connection),
        *_row_problems(connection),
        *_word_problems(connection),
        *_cache_problems(connection, cache),
    ]


def rebuild(connection: apsw.Connection) -> None:
    """Make the derived anew: indexes of words, passages' lives; drop orphans."""
    connection.execute("DELETE FROM vector WHERE passage_id NOT IN (SELECT id FROM passage)")
    connection.execute("DELETE FROM passage WHERE memory_id NOT IN (SELECT id FROM memory)")
    connection.execute(
        "DELETE FROM vector WHERE id IN (SELECT v.id FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE length(v.embedding) <> 4 * model.dims)"
    )
    connection.execute(
        "UPDATE passage SET live = (SELECT m.deleted_at IS NULL AND m.superseded_at IS NULL FROM memory AS m "
        "WHERE m.id = passage.memory_id) AND (observation_id IS NULL OR EXISTS (SELECT 1 FROM observation "
        "AS o WHERE o.id = observation_id AND o.deleted_at IS NULL AND o.superseded_at IS NULL))"
    )
    vector_rows.note_due(connection)
    for scope in _scopes(connection):
        word_index.drop(connection, scope)
        word_index.create(connection, scope)
        fill_words(connection, scope)


def backfill(connection: apsw.Connection) -> None:
    """Fill the indexes of scopes that have memories and no words, as after a repair by hand."""
    for scope in _scopes(connection):
        if word_index.is_empty(connection, scope):
            word_index.drop(connection, scope)
            word_index.create(connection, scope)
            fill_words(connection, scope)


def lacks_words(connection: apsw.Connection) -> bool:
    """Whether `backfill` has something to do: a look at each scope, cheap enough for every start."""
    return any(
        word_index.is_empty(connection, scope)
        and connection.execute(f"{_SEARCHABLE} LIMIT 1", (scope,)).fetchone() is not None
        for scope in _scopes(connection)
    )


def fill_words(connection: apsw.Connection, scope: int) -> None:
    searchable = [id_ for (id_,) in connection.execute(_SEARCHABLE, (scope,))]
    for start in range(0, len(searchable), _BATCH):
        index_words(connection, scope, searchable[start : start + _BATCH])


def _file_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Problem(str(message), "the file", repairable=False)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem(
            f"row {row} of {table} points to a {parent} that is not there", "rows", repairable=False
        )


def _row_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for what, question in (_ORPHANS | _ASKEW).items():
        count = first(connection.execute(question))
        if count:
            yield Problem(f"{count} {what}", "rows", repairable=True)


def _word_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for scope in _scopes(connection):
        searchable = {id_ for (id_,) in connection.execute(_SEARCHABLE, (scope,))}
        for table, held in word_index.held(connection, scope).items():
            if held is None:
                yield Problem(f"the index {table} is missing", "words", repairable=True)
            elif held - searchable or (searchable - held and not table.startswith("pairs")):
                missing, extra = len(searchable - held), len(held - searchable)
                yield Problem(
                    f"the index {table} lacks {missing} memories and holds {extra} too many",
                    "words",
                    repairable=True,
                )


def _cache_problems(connection: apsw.Connection, cache: VectorCache) -> Iterator[Problem]:
    store_id = first(connection.execute("SELECT value FROM setting WHERE name = 'store_id'"))
    models: list[Row] = list(connection.execute("SELECT id, dims FROM model WHERE in_use = 1"))
    for model, dims in models:
        for trouble in cache.check(connection, store_id, model, dims):
            yield Problem(trouble, "vectors", repairable=True)


def _scopes(connection: apsw.Connection) -> list[int]:
    return [id_ for (id_,) in connection.execute("SELECT id FROM scope ORDER BY id")]
