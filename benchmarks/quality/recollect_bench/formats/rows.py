"""Reading what others wrote: a value of the expected kind, or an error that names the row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recollect.errors import InvalidInput


def content(path: Path) -> Any:
    """What a file of JSON holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput(f"{path} cannot be read as JSON: {error}.") from error


def table(value: object, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{where}: expected an object with keys, not {_shown(value)}.")
    return value


def rows(value: object, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise InvalidInput(f"{where}: expected a list, not {_shown(value)}.")
    return value


def text(row: Mapping[str, Any], key: str, where: str) -> str:
    """Text that says something; numbers are read as text, since some write an id as one."""
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float) or not str(value).strip():
        raise InvalidInput(f"{where}: {key!r} must be text, not {_shown(value)}.")
    return str(value)


def words(row: Mapping[str, Any], *keys: str) -> str:
    """The first of these that holds text; empty where none does."""
    return next(
        (value.strip() for key in keys if isinstance(value := row.get(key), str) and value.strip()), ""
    )


def moment(value: object, forms: Sequence[str], where: str) -> datetime:
    """A time in one of these forms, or as ISO 8601; where it names no zone, UTC."""
    if isinstance(value, str):
        for form in forms:
            try:
                return datetime.strptime(value.strip(), form).replace(tzinfo=UTC)
            except ValueError:
                continue
        try:
            read = datetime.fromisoformat(value.strip())
        except ValueError:
            pass
        else:
            return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
    raise InvalidInput(f"{where}: {_shown(value)} is no time; write it as 2023-05-08T13:56:00.")


def _shown(value: object) -> str:
    return "nothing" if value is None else f"{str(value)[:60]!r}"
