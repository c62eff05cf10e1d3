"""Check, repair and vacuum a store on PostgreSQL."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import psycopg
from psycopg import errors

from recollect.domain.errors import StoreUnavailable
from recollect.domain.records import Problem
from recollect.domain.tables import TABLES
from recollect.stores.check import (
    DERIVED,
    checksum_problems,
    count_problem,
    drop_broken,
    every_scope_id,
    invalidate_caches,
    number_problems,
    orphans,
    rebuild_passages,
    refill_words,
    row_problems,
    word_problems,
)
from recollect_postgres.snapshot import STORE_WIDE
from recollect_postgres.vectors import ScopeQueries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from psycopg import Connection
    from psycopg.errors import Diagnostic

    from recollect.domain.tables import Row, Table
    from recollect.stores.url import StoreUrl
    from recollect_postgres.snapshot import PostgresSnapshot
    from recollect_postgres.transaction import PostgresTransaction
    from recollect_postgres.vectors import VectorCaches


# Errors of unreadable pages.
_UNREADABLE = (errors.DataCorrupted, errors.IndexCorrupted, errors.InternalError_, errors.IoError)

_NUMBERED: tuple[Table, ...] = tuple(
    table for table, form in TABLES.items() if form.key == ("id",) and table not in STORE_WIDE
)
_REBUILT: frozenset[Table] = frozenset({"term", "vector"})
_MAX_LISTED = 10
"""The maximum number of duplicates per table that are listed."""
# Counters of a scope by which caches find changes, and their lowest correct value.
_CACHE_COUNTERS = {
    "last_vector": "coalesce((SELECT max(id) FROM {schema}.vector AS v WHERE v.scope_id = s.id), 0)",
    "last_vector_change": "coalesce((SELECT max(seq) FROM {schema}.vector_change AS c "
    "WHERE c.scope_id = s.id), 0)",
}


def server_problems(
    rows: PostgresSnapshot, caches: VectorCaches | None, *, quick: bool = False
) -> list[Problem]:
    """Return all problems, from the indexes up to the caches; `quick`: of indexes and texts only."""
    parts: dict[str, Callable[[], Iterable[Problem]]] = {
        "indexes": lambda: [
            Problem(f"the index {rows.schema}.{name} is not valid", "indexes", repairable=ours)
            for name, ours in _broken_indexes(rows)
        ],
        "checksums": lambda: list(checksum_problems(rows)),
    }
    more: dict[str, Callable[[], Iterable[Problem]]] = {
        "rows": lambda: [
            *_orphan_problems(rows),
            *row_problems(rows),
            *number_problems(rows),
            *_sequence_problems(rows),
            *_duplicate_id_problems(rows),
        ],
        "words": lambda: word_problems(rows),
        "vectors": lambda: _cache_problems(rows, caches),
    }
    if not quick:
        parts |= more
    return [problem for where, ask in parts.items() for problem in _run_check(rows, ask, where)]


def rebuild_derived(rows: PostgresTransaction) -> None:
    """Rebuild derived rows: passages, pending vectors and word indexes."""
    rows.lock_scopes(None)
    for name, ours in _broken_indexes(rows):
        # Rows may violate a unique index that a user added. The check reports it again.
        with suppress(psycopg.errors.IntegrityError):
            if ours:
                with rows.savepoint():
                    rows.change(f'REINDEX INDEX {rows.schema}."{name}"')
    # Keep one of two vectors with the same id. The passage of the other waits for a new one.
    rows.change(
        f"DELETE FROM {rows.schema}.vector AS v USING {rows.schema}.vector AS other "
        "WHERE other.id = v.id AND other.scope_id < v.scope_id"
    )
    drop_broken(rows)
    for scope in every_scope_id(rows):
        with rows.within(scope):
            rebuild_passages(rows)
            refill_words(rows, scope)
    _advance_counters(rows)
    # Vectors were deleted without an entry in `vector_change`.
    invalidate_caches(rows)


def _run_check(rows: PostgresSnapshot, ask: Callable[[], Iterable[Problem]], where: str) -> Iterable[Problem]:
    """Run one check. An unreadable page ends it, and is reported as a problem."""
    rows.connection.execute("SAVEPOINT part")
    try:
        return list(ask())
    except _UNREADABLE as error:
        rows.connection.execute("ROLLBACK TO SAVEPOINT part")
        message = str(error).strip().partition("\n")[0]
        return [Problem(f"the check stopped: {message}", where, repairable=where == "words")]


def _broken_indexes(rows: PostgresSnapshot) -> list[Row]:
    """Return the names of invalid indexes, and whether this user may rebuild them."""
    return rows.ask(
        "SELECT c.relname, pg_has_role(c.relowner, 'USAGE') FROM pg_index AS i "
        "JOIN pg_class AS c ON c.oid = i.indexrelid WHERE c.relnamespace = %s::regnamespace "
        "AND NOT (i.indisvalid AND i.indisready) ORDER BY c.relname",
        [rows.schema],
    )


def _orphan_problems(rows: PostgresSnapshot) -> Iterator[Problem]:
    # Foreign keys prevent these, unless they were switched off.
    pairs = list(orphans(rows))
    counted = (f"(SELECT count(*) FROM {rows.prefix}{table} AS r WHERE {lost})" for table, *_, lost in pairs)
    (counts,) = rows.ask(f"SELECT {', '.join(counted)}")
    for (table, _, parent, _), count in zip(pairs, counts, strict=True):
        if count:
            message = f"{count} rows of {table} point to a {parent} that does not exist"
            yield Problem(message, "rows", repairable=table in DERIVED)


# Sequences, and the counters of caches


def _sequences_behind(rows: PostgresSnapshot) -> list[tuple[str, int]]:
    """Return sequences that would repeat an id, with the highest used id."""
    numbered = [table for table, form in TABLES.items() if form.key == ("id",)]
    given = rows.ask(
        "SELECT * FROM (VALUES "
        + ", ".join(
            f"('{table}_id_seq', (SELECT coalesce(max(id), 0) FROM {rows.schema}.{table}))"
            for table in numbered
        )
        + ") AS given"
    )
    # Skip sequences that this role may not read.
    known: dict[str, int] = dict(
        rows.ask(
            "SELECT sequencename::text, coalesce(last_value, 0) FROM pg_sequences WHERE schemaname = %s "
            "AND has_sequence_privilege(format('%%I.%%I', schemaname, sequencename), 'SELECT')",
            [rows.schema],
        )
    )
    return [(name, highest) for name, highest in given if highest > known.get(name, highest)]


def _sequence_problems(rows: PostgresSnapshot) -> Iterator[Problem]:
    yield from count_problem(len(_sequences_behind(rows)), "sequences that would assign an id twice")
    behind = " OR ".join(
        f"s.{column} < {highest.format(schema=rows.schema)}" for column, highest in _CACHE_COUNTERS.items()
    )
    ((count,),) = rows.ask(f"SELECT count(*) FROM {rows.schema}.scope AS s WHERE {behind}")
    yield from count_problem(count, "scopes with a vector version that is too low for caches")


def _advance_counters(rows: PostgresTransaction) -> None:
    for name, highest in _sequences_behind(rows):
        rows.ask(f"SELECT setval('{rows.schema}.{name}', %s)", [highest])
    setting = ", ".join(
        f"{column} = greatest(s.{column}, {highest.format(schema=rows.schema)})"
        for column, highest in _CACHE_COUNTERS.items()
    )
    rows.change(f"UPDATE {rows.schema}.scope AS s SET {setting}")


# Ids that occur in two scopes: keys begin with the scope, so PostgreSQL allows them


def _duplicate_id_problems(rows: PostgresSnapshot) -> Iterator[Problem]:
    named = {
        id_: f"owner {owner!r}, agent {agent!r}"
        for id_, owner, agent in rows.rows("scope", ("id", "owner", "agent"))
    }
    for table in _NUMBERED:
        duplicates = rows.ask(
            f"SELECT id, array_agg(scope_id ORDER BY scope_id) FROM {rows.schema}.{table} "
            f"GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT {_MAX_LISTED}"
        )
        for id_, scopes in duplicates:
            listed = " and ".join(named.get(scope, f"scope {scope}") for scope in scopes)
            yield Problem(
                f"{table} {id_} is in {len(scopes)} scopes: {listed}", "rows", repairable=table in _REBUILT
            )


def _cache_problems(rows: PostgresSnapshot, caches: VectorCaches | None) -> Iterator[Problem]:
    if not rows.ask(f"SELECT 1 FROM {rows.schema}.setting WHERE name = 'store_id'"):
        yield Problem("the store has no id", "vectors", repairable=True)
        return
    model = rows.model()
    if model is None or caches is None:
        return
    for scope in every_scope_id(rows):
        cache = caches.of(model.store_id, scope)
        for trouble in cache.check(ScopeQueries(rows, scope), model.source(scope)):
            yield Problem(trouble, "vectors", repairable=True)


_IN_USE = "55P03"


def store_bytes(connection: Connection[Row], schema: str) -> int:
    """Return the size of the schema's tables with indexes and long values; 0 without a schema."""
    row = connection.execute(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind IN ('r', 'S')",
        (schema,),
    ).fetchone()
    return 0 if row is None else int(row[0])


def vacuum(connection: Connection[Row], location: StoreUrl) -> None:
    """Free the space of deleted rows, outside a transaction. Tables that another process vacuums are skipped.

    Deleted bytes stay in the pages until they are overwritten. To wipe them, the owner runs VACUUM FULL, for
    which all other processes wait.
    """
    skipped: list[str] = []

    def note(diagnostic: Diagnostic) -> None:
        # Warnings about missing rights have no code of their own.
        if diagnostic.severity_nonlocalized == "WARNING" and diagnostic.sqlstate != _IN_USE:
            skipped.append(diagnostic.message_primary or "")

    tables = connection.execute(
        "SELECT format('%%I.%%I', n.nspname, c.relname) FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace "
        "WHERE n.nspname = %s AND c.relkind = 'r' ORDER BY c.relname",
        (location.schema,),
    ).fetchall()
    connection.add_notice_handler(note)
    try:
        connection.execute(f"VACUUM (SKIP_LOCKED) {', '.join(name for (name,) in tables)}".encode())
    finally:
        connection.remove_notice_handler(note)
    if skipped:
        raise StoreUnavailable(
            f"{len(skipped)} tables of {location} were not cleaned: user {connection.info.user} does not own "
            f"them. The server cleans them in time (autovacuum). Their owner can do it now: VACUUM"
        )


def backup_error(location: StoreUrl, path: str) -> StoreUnavailable:
    """Return the error that names pg_dump: administrators expect its backups."""
    return StoreUnavailable(
        f"{location} is on a server. Back it up with PostgreSQL's tool: PGOPTIONS='-c recollect.scopes=*' "
        f"pg_dump --enable-row-security --format=custom --schema={location.schema} --file={path} "
        f"'{location}'. For a file that Recollect opens: recollect copy '{location}' {path}"
    )
