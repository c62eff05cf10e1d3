"""Files of JSON lines: each line as an object, the records that lines hold, and why some hold none."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.transfer.files import LineFile

_Record = TypeVar("_Record")
# What one write takes: so many lines, or so many bytes of them if they are long.
_BATCH_LINES = 1_000
_BATCH_BYTES = 4_000_000
_JSON_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


def read_object(content: bytes | None) -> dict[str, Any]:
    """The object on a line; `InvalidInput` says what is there instead."""
    if content is None:
        raise InvalidInput("The line is too long to be read.")
    try:
        plain = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise InvalidInput(f"The line is not UTF-8 text: byte {error.start + 1} is wrong.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(f"The line is not JSON: {error.msg} at character {error.colno}.") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets without end
        raise InvalidInput(f"The line cannot be read as JSON: {error}.") from None
    if not isinstance(plain, dict):
        raise InvalidInput(f"The line holds {json_type(plain)}, where an object was expected.")
    return plain


def write_object(plain: dict[str, object]) -> str:
    """One line, as the official server writes it: no spaces, and text as it is."""
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def json_type(value: object) -> str:
    """What a JSON value is, in words."""
    return _JSON_TYPES.get(type(value), "a number")


class ParsedLine(NamedTuple, Generic[_Record]):
    """What a line holds, and what of it had to be left out, if something had."""

    record: _Record
    left_out: str | None = None


class NumberedRecord(NamedTuple, Generic[_Record]):
    """A record, the line that it stood on, and how many bytes that has."""

    line: int
    size: int
    record: _Record


def records(
    source: LineFile,
    parse: Callable[[bytes | None], ParsedLine[_Record]],
    bad: Callable[[int, str], None],
    *,
    headed: bool = False,
) -> Iterator[NumberedRecord[_Record]]:
    """The records of every line that can be read; `bad` gets the others. `headed`: after the first line."""
    for number, content in islice(source.lines(), int(headed), None):
        try:
            record, left_out = parse(content)
        except InvalidInput as error:
            bad(number, str(error))
            continue
        if left_out is not None:
            bad(number, left_out)
        yield NumberedRecord(number, len(content or b""), record)


def refuse_line(line: int, reason: str) -> None:
    """For `records`: stop at the first bad line."""
    raise InvalidInput(
        f"Line {line}: {reason} Nothing was imported; correct the line, or let the import leave out bad ones."
    )


def ignore_line(line: int, reason: str) -> None:
    """For `records`: it was reported before."""


def without_none(
    numbered: Iterable[NumberedRecord[_Record | None]],
) -> Iterator[NumberedRecord[_Record]]:
    for line, size, record in numbered:
        if record is not None:
            yield NumberedRecord(line, size, record)


def record_batches(numbered: Iterable[NumberedRecord[_Record]]) -> Iterator[list[NumberedRecord[_Record]]]:
    batch: list[NumberedRecord[_Record]] = []
    size = 0
    for one in numbered:
        batch.append(one)
        size += one.size
        if len(batch) >= _BATCH_LINES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
