"""Build records from rows of other programs, following a list of fields and their columns."""

from __future__ import annotations

import json
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.transfer.importers import BadRow, ForeignRow, NotImported
from recollect.transfer.turns import time_of_iso, time_of_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from recollect.transfer.importers import ForeignSource

    Sections = Callable[[str], Iterable[ForeignRow]]

_T = TypeVar("_T")


@contextmanager
def open_sections(source: ForeignSource) -> Iterator[Sections]:
    """Yield a function that returns the rows of a table, or of a list in a JSON document.

    A missing table or list has no rows.
    """
    if not source.is_database:
        yield lambda name: objects_of(source.document.get(name))
        return
    with source.database() as connection:

        def rows(table: str) -> Iterator[ForeignRow]:
            if table in source.tables:
                yield from connection.execute(f'SELECT * FROM "{table}" ORDER BY rowid')  # noqa: S608  # the names are constants

        yield rows


def count_sections(rows: Sections, unplaced: Mapping[str, str]) -> Iterator[NotImported]:
    """Count the rows of tables or lists that Recollect cannot keep; `unplaced` describes their content."""
    for section, what in unplaced.items():
        if number := sum(1 for _ in rows(section)):
            yield NotImported(what, count=number)


def make_record(record: Callable[..., _T], row: Mapping[str, Any], fields: str, **given: Any) -> _T:
    """Build a record from a row. Each word of `fields` names a field and the source of its value:

    `created_at`: the column of that name; `key=memory_id|id`: the first of these columns with a value;
    `key=belief:{hash}`: a text with columns in it; `tags=[status]`: a list of one column;
    `category='belief'`: a constant. Times, tags, metadata, pins and the importance are parsed; all else
    is text.
    """
    for word in fields.split():
        field, _, columns = word.partition("=")
        found: Any = None
        if columns.startswith("'"):
            found = columns.strip("'")
        elif "{" in columns:
            found = columns.format_map(ForeignRow(row))
        elif columns.startswith("["):
            found = (text_of_value(row.get(columns.strip("[]"))),)
        else:
            is_time = field.endswith("_at") or field in {"since", "until"}
            parse = moment_of if is_time else _PARSERS.get(field, text_of_value)
            values = (parse(row.get(column)) for column in (columns or field).split("|"))
            found = next((value for value in values if value not in (None, "", (), {})), None)
        if found is not None:
            given.setdefault(field, found)
        elif field in _REQUIRED:
            given.setdefault(field, "")
    return record(**given)


_REQUIRED = frozenset({"key", "text", "session", "content", "source", "type", "target", "name"})


def text_of_value(value: object) -> str:
    """Return a text or a number as text; empty for anything else."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if isinstance(value, str) else str(value) if is_number else ""


def moment_of(value: object) -> datetime | None:
    """Parse a time: ISO 8601, or seconds or milliseconds since 1970; without a zone it is UTC."""
    if isinstance(value, datetime):
        return value
    return time_of_iso(value) or time_of_seconds(value)


def _parse_json(value: object) -> object:
    """Parse a JSON text; None if it is not JSON."""
    try:
        return json.loads(value) if isinstance(value, str | bytes) else value
    except (ValueError, RecursionError):
        return None


def object_of(value: object) -> dict[str, Any]:
    """Return a JSON object, or parse one from text; otherwise an empty object."""
    parsed = _parse_json(value)
    return parsed if isinstance(parsed, dict) else {}


def objects_of(value: object) -> list[ForeignRow]:
    return [ForeignRow(each) for each in list_of(value) if isinstance(each, dict)]


def checked_objects(values: Iterable[object], place: str) -> Iterator[ForeignRow | BadRow]:
    """Yield the objects of a list; any other element is a bad row."""
    for number, value in enumerate(values, 1):
        is_object = isinstance(value, dict)
        yield ForeignRow(value) if is_object else BadRow(f"{place} {number}", "It is not a JSON object.")  # type: ignore[call-overload]


def split_tags(value: object) -> tuple[str, ...]:
    """Read tags from a list, the JSON of a list, or a text with commas."""
    if isinstance(value, str):
        parsed = _parse_json(value)
        value = parsed if isinstance(parsed, list) else value.split(",")
    if not isinstance(value, list | tuple):
        return ()
    return tuple(word.strip() for word in value if isinstance(word, str) and word.strip())


def fraction_of(value: object) -> float | None:
    """Return a number from 0 to 1; otherwise None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 1 else None  # type: ignore[arg-type, operator]


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text_value(value: object) -> str:
    return value if isinstance(value, str) else ""


def other_fields(fields: Mapping[str, Any], placed: Collection[str] = ()) -> dict[str, Any]:
    """Return the metadata without empty values and without keys that become fields."""
    return {
        key: value for key, value in fields.items() if key not in placed and value not in (None, "", [], {})
    }


def non_default(row: Mapping[str, Any], usual: Mapping[str, object]) -> dict[str, Any]:
    """Return the columns that differ from the program's defaults."""
    return {name: row[name] for name, value in usual.items() if row.get(name) not in (None, value)}


_PARSERS: dict[str, Callable[[object], Any]] = {
    "importance": fraction_of,
    "tags": split_tags,
    "metadata": lambda value: other_fields(object_of(value)),
    "pinned": bool,
}
