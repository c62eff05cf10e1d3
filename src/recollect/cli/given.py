"""What a command is given to read: words of the command line, standard input, files of turns."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.changes import Turn

STDIN = "-"


def text_of(words: tuple[str, ...], what: str) -> str:
    """The words as one text; `-`, or no words where something is piped in, is standard input."""
    if words and words != (STDIN,):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise click.UsageError(f"There is no {what}; give it as an argument, or pipe it in.")
    text = content_of(STDIN).decode("utf-8", "surrogateescape").strip()
    if not text:
        raise click.UsageError(f"There is no {what}: standard input is empty.")
    return text


def lines_of() -> list[tuple[int, str]]:
    """The lines of standard input that hold something, by their numbers."""
    text = content_of(STDIN).decode("utf-8", "surrogateescape")
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def content_of(file: str) -> bytes:
    """A file, or standard input for `-`; a byte-order mark is taken off."""
    raw = sys.stdin.buffer.read() if file == STDIN else existing(file).read_bytes()
    return raw.removeprefix(b"\xef\xbb\xbf")


def existing(file: str, otherwise: str = "") -> Path:
    path = Path(file)
    if not path.is_file():
        # Before a store is created for it.
        raise click.ClickException(f"There is no file {file}.{otherwise}")
    return path


def turns_in(content: bytes) -> tuple[list[Turn], list[str]]:
    """The turns of a JSON list, of an object with `messages`, or of one object to a line; then what is wrong.

    What is no JSON as a whole is read line by line, so that a line that is broken spoils no other.
    """
    turns: list[Turn] = []
    wrong: list[str] = []
    for place, row in _rows(content):
        if isinstance(row, InvalidInput):
            wrong.append(f"{place}: {row}")
        else:
            turns.append(row)
    return turns, wrong


def _rows(content: bytes) -> Iterator[tuple[str, Turn | InvalidInput]]:
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        yield from _lines(content)
        return
    if isinstance(whole, list):
        for number, row in enumerate(whole, 1):
            yield from ((f"item {number}", turn) for turn in _turns(row))
    else:
        yield from (("top level", turn) for turn in _turns(whole))


def _lines(content: bytes) -> Iterator[tuple[str, Turn | InvalidInput]]:
    from recollect.transfer.plain import object_of  # noqa: PLC0415  # loads the engine

    for number, line in enumerate(content.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = object_of(line)
        except InvalidInput as error:
            yield f"line {number}", error
        else:
            yield from ((f"line {number}", turn) for turn in _turns(row))


def _turns(row: object) -> Iterator[Turn | InvalidInput]:
    from recollect.transfer.chats.conversation import object_at  # noqa: PLC0415  # loads the engine
    from recollect.transfer.chats.rows import Said, parsed  # noqa: PLC0415

    try:
        read = parsed(object_at(row, "It"))
    except InvalidInput as error:
        yield error
        return
    if isinstance(read, Said):
        yield read.turn
    else:
        yield from read.turns
