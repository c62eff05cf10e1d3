"""What the owner of a database does for a store's health: how large it is, its cleaning, and its backups."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.errors import StoreUnavailable

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.errors import Diagnostic

    from recollect.store_url import StoreUrl
    from recollect.tables import Row

_IN_USE = "55P03"


def store_bytes(connection: Connection[Row], schema: str) -> int:
    """What the schema's tables take, with their indexes and long values; 0 where there is none."""
    row = connection.execute(
        "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint FROM pg_class AS c "
        "JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = %s AND c.relkind IN ('r', 'S')",
        (schema,),
    ).fetchone()
    return 0 if row is None else int(row[0])


def vacuum(connection: Connection[Row], location: StoreUrl) -> None:
    """Free what deleted rows take, outside a transaction. Tables that another cleans at this moment are left.

    Their bytes stay in the pages until others are written over them: to wipe those out, the owner runs
    VACUUM FULL, for which everybody has to wait.
    """
    skipped: list[str] = []

    def note(diagnostic: Diagnostic) -> None:
        # The server warns of what this user may not clean under no code of its own.
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
            f"them. The server cleans them in time (autovacuum); their owner can at once: VACUUM"
        )


def no_backup_file(location: StoreUrl, path: str) -> StoreUnavailable:
    """A file of ours would not be what an administrator of PostgreSQL expects of a backup."""
    return StoreUnavailable(
        f"{location} is kept by a server, and its own tool backs it up: PGOPTIONS='-c recollect.scopes=*' "
        f"pg_dump --enable-row-security --format=custom --schema={location.schema} --file={path} "
        f"'{location}'. For a file that Recollect opens: recollect copy '{location}' {path}"
    )
