"""Files of JSON lines: each line as an object, the records that lines hold, and why some hold none."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.transfer.files import LINE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from recollect.transfer.files import LineFile

# What one write takes: so many lines, or so many bytes of them if they are long.
_BATCH_LINES = 1_000
_BATCH_BYTES = 4_000_000
_JSON_TYPES = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}


def read_object(content: bytes | None) -> dict[str, Any]:
    """The object on a line; `InvalidInput` says what is there instead."""
    if content is None:
        raise InvalidInput(f"The line is too long to be read: it has over {LINE_LIMIT:,} bytes.")
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


@dataclass(frozen=True, slots=True)
class LineFormat:
    """How the lines of a file say what they hold."""

    key: str
    """What names the kind of a line's record."""
    parsers: Mapping[str, Callable[[dict[str, Any]], tuple[Any, str | None]]]
    """By kind: the record of a line and, if something of it had to be left out, what."""
    headed: bool = False
    """Whether records begin after the first line."""

    def parse(self, plain: dict[str, Any]) -> tuple[Any, str | None]:
        kind = plain.pop(self.key, None)
        if isinstance(kind, str) and kind in self.parsers:
            return self.parsers[kind](plain)
        known = " or ".join(self.parsers)
        if kind is None:
            raise InvalidInput(f"The line has no `{self.key}`; it is {known}.")
        raise InvalidInput(f"The line's `{self.key}` is {str(kind)[:40]!a}; it is {known}.")


class NumberedRecord(NamedTuple):
    """A record, the line that it stood on, and how many bytes that has."""

    line: int
    size: int
    record: Any


def records(
    source: LineFile, format_: LineFormat, bad: Callable[[int, str], None], without: str | None = None
) -> Iterator[NumberedRecord]:
    """The records of every line that can be read, but for those of a kind; `bad` gets the others."""
    for number, content in islice(source.lines(), int(format_.headed), None):
        try:
            plain = read_object(content)
            if without is not None and plain.get(format_.key) == without:
                continue
            record, left_out = format_.parse(plain)
        except InvalidInput as error:
            bad(number, str(error))
            continue
        if left_out is not None:
            bad(number, left_out)
        yield NumberedRecord(number, len(content or b""), record)


def record_batches(numbered: Iterable[NumberedRecord]) -> Iterator[list[NumberedRecord]]:
    batch: list[NumberedRecord] = []
    size = 0
    for one in numbered:
        batch.append(one)
        size += one.size
        if len(batch) >= _BATCH_LINES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
