"""Parse JSON of public data sets into models; an error names the file and the place in it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from recollect.domain.errors import InvalidInput

_TIME_FORMS = ("%I:%M %p on %d %B, %Y", "%d.%m.%Y, %H:%M:%S", "%Y/%m/%d (%a) %H:%M")
_Parsed = TypeVar("_Parsed")


class Row(BaseModel):
    """An object of a data file. Numbers are accepted as text, because some ids are numbers."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


def read_time(value: object) -> datetime:
    """Parse a time in a format of the data sets or ISO 8601; without a zone, it is UTC."""
    text = str(value).strip()
    for form in _TIME_FORMS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"{text[:60]!r} is no time; write it as 2023-05-08T13:56:00") from None
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


Text = Annotated[str, Field(pattern=r"\S")]
OptionalText = Annotated[str, BeforeValidator(lambda value: value.strip() if isinstance(value, str) else "")]
"""A stripped text, or an empty one if the value is missing."""
Time = Annotated[datetime, BeforeValidator(read_time)]


def parse(kind: type[_Parsed], value: object, where: str) -> _Parsed:
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise malformed(error, where) from error


def malformed(error: ValidationError, where: str) -> InvalidInput:
    """Return the first error, with its place as a `jq` path."""
    first = error.errors()[0]
    return InvalidInput(f"{where}: {_path(first['loc'])}{first['msg']}.")


def _path(place: Sequence[str | int]) -> str:
    steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
    return f"{''.join(steps)}: " if place else ""
