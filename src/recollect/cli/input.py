"""What a command reads: words of the command line, standard input, files of turns, a yes or no."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from recollect.changes import Turn

STDIN = "-"
_LONGEST_INPUT = 64 * 1024 * 1024


def read_text(words: tuple[str, ...], what: str) -> str:
    """The words as one text; `-`, or no words where something is piped in, is standard input."""
    if words and words != (STDIN,):
        return " ".join(words)
    if not words and sys.stdin.isatty():
        raise click.UsageError(f"There is no {what}; give it as an argument, or pipe it in.")
    text = read_bytes(STDIN).decode("utf-8", "surrogateescape").strip()
    if not text:
        raise click.UsageError(f"There is no {what}: standard input is empty.")
    return text


def read_lines() -> list[tuple[int, str]]:
    """The lines of standard input that are not empty, each with its number."""
    text = read_bytes(STDIN).decode("utf-8", "surrogateescape")
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def read_bytes(file: str) -> bytes:
    """A file, or standard input for `-`; without a byte-order mark."""
    if file != STDIN:
        return existing_file(file).read_bytes().removeprefix(b"\xef\xbb\xbf")
    raw = sys.stdin.buffer.read(_LONGEST_INPUT + 1)
    if len(raw) > _LONGEST_INPUT:
        raise click.ClickException(
            f"Standard input has more than {_LONGEST_INPUT // 1024**2} MiB; give it in several, or import "
            "a file."
        )
    return raw.removeprefix(b"\xef\xbb\xbf")


def existing_file(file: str, otherwise: str = "") -> Path:
    """Refuse a file that is not there, before a store is created for it."""
    path = Path(file)
    if not path.is_file():
        raise click.ClickException(f"There is no file {file}.{otherwise}")
    return path


def confirm(question: str, *, yes: bool) -> None:
    """Go on only if the user agrees, here or beforehand by --yes."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.ClickException(f"{question} Nobody is there to answer; add --yes to do it.")
    if not click.confirm(question, err=True):
        raise click.ClickException("nothing was changed.")


def read_turns(content: bytes) -> tuple[list[Turn], list[str]]:
    """The turns of a JSON list, of an object with `messages`, or of one object to a line; then what is wrong.

    What is no JSON as a whole is read line by line, so that a broken line spoils no other.
    """
    turns: list[Turn] = []
    wrong: list[str] = []
    for place, row in _json_rows(content):
        for turn in _turns_of(row):
            if isinstance(turn, InvalidInput):
                wrong.append(f"{place}: {turn}")
            else:
                turns.append(turn)
    return turns, wrong


def _json_rows(content: bytes) -> Iterator[tuple[str, object]]:
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError):
        lines = enumerate(content.split(b"\n"), 1)
        yield from ((f"line {number}", line) for number, line in lines if line.strip())
        return
    if isinstance(whole, list):
        yield from ((f"item {number}", row) for number, row in enumerate(whole, 1))
    else:
        yield "top level", whole


def _turns_of(row: object) -> Sequence[Turn | InvalidInput]:
    from recollect.transfer.chats.conversation import object_at  # loads the engine
    from recollect.transfer.chats.turns import parse_turn_row
    from recollect.transfer.json_lines import read_object

    try:
        return parse_turn_row(read_object(row) if isinstance(row, bytes) else object_at(row, "It")).turns
    except InvalidInput as error:
        return [error]
