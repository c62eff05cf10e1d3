"""PostgreSQL databases of other programs: opened read-only, and read as of one moment."""

from __future__ import annotations

from collections import defaultdict
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.store_url import SCHEMES, parse_store_url

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from psycopg import Connection

_CONNECT_SECONDS = 10
_AT_ONCE = 500
_COLUMNS = (
    "SELECT table_name, column_name FROM information_schema.columns "
    "WHERE table_schema = ANY(current_schemas(false)) ORDER BY table_name, ordinal_position"
)


def is_server_url(path: str | Path) -> bool:
    """Whether it is the URL of a database rather than a path."""
    return isinstance(path, str) and path.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def table_columns(url: str) -> dict[str, tuple[str, ...]]:
    """The columns of every table that the URL's user may see and its search path names."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in select_rows(url, _COLUMNS):
        found[row["table_name"]].append(row["column_name"])
    return {table: tuple(columns) for table, columns in found.items()}


def select_rows(url: str, statement: str) -> Iterator[Mapping[str, Any]]:
    """The rows of a query, by column; the server sends them a few at a time."""
    with needs_extra("Importing from PostgreSQL", "postgres"):
        from psycopg.rows import dict_row  # noqa: PLC0415  # an extra's

    with _connected(url) as connection, connection.cursor("recollect_import", row_factory=dict_row) as cursor:
        cursor.itersize = _AT_ONCE
        yield from cursor.execute(statement)


@contextmanager
def _connected(url: str) -> Iterator[Connection[Any]]:
    import psycopg  # noqa: PLC0415  # an extra's

    place = parse_store_url(url)
    try:
        with psycopg.connect(place.server, connect_timeout=_CONNECT_SECONDS) as connection:
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            yield connection
    except psycopg.ProgrammingError as error:
        # What is said of a URL that cannot be read may show its password.
        if error.sqlstate:
            raise InvalidInput(f"{place} could not be read: {error}") from error
        raise InvalidInput(
            "The URL is not valid; write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
        ) from error
    except psycopg.Error as error:
        raise InvalidInput(f"{place} could not be read: {error}") from error
