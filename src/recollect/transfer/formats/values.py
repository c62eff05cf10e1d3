"""Parses values that several formats share: JSON in a column, numbers as texts, times."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from recollect.transfer.chats.conversation import time_of_iso, time_of_seconds

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


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
