"""Makes records from the rows of other programs: which column becomes which field is data."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.transfer.importers import NoPlace
from recollect.transfer.turns import time_of_iso, time_of_seconds

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Collection, Iterator, Mapping

    from recollect.transfer.importers import ForeignSource

_T = TypeVar("_T")


def made(record: Callable[..., _T], row: Mapping[str, Any], fields: str, **given: Any) -> _T:
    """A record of a row. `fields` are words such as `created_at` or `key=memory_id|id`: the field, and the
    columns of which the first that holds something becomes it.

    Times, tags, metadata, pins and the importance are parsed; everything else is text.
    """
    for word in fields.split():
        field, _, columns = word.partition("=")
        values = (_parser(field)(row.get(column)) for column in (columns or field).split("|"))
        found = next((value for value in values if value not in (None, "", (), {})), None)
        if found is not None:
            given.setdefault(field, found)
        elif field in _REQUIRED:
            given.setdefault(field, "")
    return record(**given)


_REQUIRED = frozenset({"key", "text", "session", "content", "source", "type", "target", "name"})


def _parser(field: str) -> Callable[[object], Any]:
    if field.endswith("_at") or field in {"since", "until"}:
        return moment_of
    return _PARSERS.get(field, text_of_value)


def text_of_value(value: object) -> str:
    """A text or a number as text; empty for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if isinstance(value, str) else str(value) if is_number else ""


def moment_of(value: object) -> datetime | None:
    """A time, as ISO 8601 or as seconds or milliseconds since 1970; without a zone it is UTC."""
    if isinstance(value, datetime):
        return value
    return time_of_iso(value) or time_of_seconds(value)


def object_of(value: object) -> dict[str, Any]:
    """A JSON object, or the text of one; empty where there is none."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[dict[str, Any]]:
    return [each for each in list_of(value) if isinstance(each, dict)]


def words_of(value: object) -> tuple[str, ...]:
    """Tags: a list of texts, the JSON of one, or texts with commas between."""
    if isinstance(value, str):
        try:
            parsed = json.loads(value)
        except (ValueError, RecursionError):
            parsed = None
        value = parsed if isinstance(parsed, list) else value.split(",")
    if not isinstance(value, list | tuple):
        return ()
    return tuple(word.strip() for word in value if isinstance(word, str) and word.strip())


def share_of(value: object) -> float | None:
    """A number from 0 to 1; None where there is none, or another."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]


def list_of(value: object) -> list[Any]:
    """A list, or none."""
    return value if isinstance(value, list) else []


def text_value(value: object) -> str:
    """A text, or none."""
    return value if isinstance(value, str) else ""


def other_fields(fields: Mapping[str, Any], placed: Collection[str] = ()) -> dict[str, Any]:
    """What else a memory's metadata says."""
    return {
        key: value for key, value in fields.items() if key not in placed and value not in (None, "", [], {})
    }


def unusual(row: Mapping[str, Any], usual: Mapping[str, object]) -> dict[str, Any]:
    """The columns that differ from what the program writes by default."""
    return {name: row[name] for name, value in usual.items() if row.get(name) not in (None, value)}


def count_tables(
    source: ForeignSource, rows: sqlite3.Connection, unplaced: Mapping[str, str]
) -> Iterator[NoPlace]:
    """How many rows there are in tables that have no place here; `unplaced` says what they hold."""
    for table, what in unplaced.items():
        if table in source.tables:
            statement = f'SELECT count(*) AS number FROM "{table}"'  # noqa: S608  # a name of ours
            if number := rows.execute(statement).fetchone()["number"]:
                yield NoPlace(what, count=number)


_PARSERS: dict[str, Callable[[object], Any]] = {
    "importance": share_of,
    "tags": words_of,
    "metadata": lambda value: other_fields(object_of(value)),
    "pinned": bool,
}
