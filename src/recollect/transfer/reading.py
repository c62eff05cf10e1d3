"""Going over the lines of a file: what they hold, and what is wrong with them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.transfer.source import Source

_Record = TypeVar("_Record")
# What one write takes: so many lines, or so many bytes of them if they are long.
_LINES = 1_000
_BYTES = 4_000_000


class Read(NamedTuple, Generic[_Record]):
    """What a line holds, and what of it had to be left out, if something had."""

    record: _Record
    left_out: str | None = None


class Numbered(NamedTuple, Generic[_Record]):
    """A record, and where it stood."""

    line: int
    size: int
    record: _Record


def records(
    source: Source,
    parse: Callable[[bytes | None], Read[_Record]],
    bad: Callable[[int, str], None],
    *,
    headed: bool = False,
) -> Iterator[Numbered[_Record]]:
    """The records of every line that can be read; `bad` is told of what cannot. `headed`: after the first."""
    for number, content in islice(source.lines(), int(headed), None):
        try:
            record, left_out = parse(content)
        except InvalidInput as error:
            bad(number, str(error))
            continue
        if left_out is not None:
            bad(number, left_out)
        yield Numbered(number, len(content or b""), record)


def refuse(line: int, reason: str) -> None:
    """For `records`: stop at the first bad line."""
    raise InvalidInput(
        f"Line {line}: {reason} Nothing was imported; correct the line, or let the import leave out bad ones."
    )


def passed_over(line: int, reason: str) -> None:
    """For `records`: it was told before."""


def present(numbered: Iterable[Numbered[_Record | None]]) -> Iterator[Numbered[_Record]]:
    """Those lines that hold what is wanted."""
    for line, size, record in numbered:
        if record is not None:
            yield Numbered(line, size, record)


def batches(numbered: Iterable[Numbered[_Record]]) -> Iterator[list[Numbered[_Record]]]:
    batch: list[Numbered[_Record]] = []
    size = 0
    for one in numbered:
        batch.append(one)
        size += one.size
        if len(batch) >= _LINES or size >= _BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
