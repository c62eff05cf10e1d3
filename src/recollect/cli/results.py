"""What a command returns: data for programs, and a description of what people see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

Mark = Literal["ok", "note", "problem"]
Role = Literal[
    "", "muted", "strong", "name", "entity", "speaker", "match", "good", "changed", "bad", "struck"
]
"""What a piece of text is, from which the renderer chooses its style."""


class Styled(NamedTuple):
    text: str
    role: Role


SIGNS: dict[Mark, Styled] = {
    "ok": Styled("✓", "good"),
    "note": Styled("●", "changed"),
    "problem": Styled("✗", "bad"),
}
Words: TypeAlias = str | Styled | tuple[str | Styled, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A score before and after a step; `full` is the score of the longest bar."""

    before: float
    after: float
    full: float


Cell: TypeAlias = Words | int | Bar
"""Whole numbers get thousands separators, and a column of them is right-aligned."""


@dataclass(frozen=True, slots=True)
class Column:
    """How a table shows one column."""

    title: str = ""
    role: Role = ""
    wrap: Literal["fold", "whole", "cut"] = "fold"
    """Fold long texts, never fold them, or cut them to one line."""
    right: bool = False
    fill: bool = False
    """Takes the width that the others leave."""
    width: int | None = None
    max_width: int | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A sentence or a heading, for a terminal only."""

    words: Words = ""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """What was done, and what to know about it."""

    text: str
    details: Sequence[str] = ()
    mark: Mark = "ok"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under titles; a title alone is a column with the usual looks."""

    columns: Sequence[Column | str]
    rows: Sequence[Sequence[Cell]]
    word: str = ""
    """What each line begins with in a pipe."""
    grid: bool = False
    """Without titles and rules."""
    indent: int = 0


@dataclass(frozen=True, slots=True)
class Card:
    """A frame with a title and a subtitle."""

    title: Words
    subtitle: str
    blocks: Sequence[Block]


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Text to copy or to pipe on; its lines stay as they are."""

    text: str


Block: TypeAlias = "Paragraph | Message | Table | Card | Verbatim"


@dataclass(frozen=True, slots=True)
class Result:
    """What a command found or did, in every form that it may be shown in."""

    data: Any
    """What `--json` prints: dataclasses, times and mappings may be in it."""
    view: Iterable[Block] = ()
    """What a terminal shows."""
    lines: Iterable[Sequence[str]] | None = None
    """The fields of each line in a pipe; None: the messages and the tables' rows of the view."""
    warnings: Sequence[str] = ()
    """Go to standard error, in every form."""
    hints: Sequence[str] = ()
    """Go to standard error, but not beside JSON."""
    exit_code: int = 0


def message_result(
    text: str, data: Any, details: Sequence[str] = (), mark: Mark = "ok", warnings: Sequence[str] = ()
) -> Result:
    return Result(data, [Message(text, details, mark)], warnings=warnings)


def table_result(
    data: Any, columns: Sequence[Column | str], rows: Sequence[Sequence[Cell]], footer: str = ""
) -> Result:
    """A table alone; the footer says what to do next."""
    view: list[Block] = [Table(columns, rows)] if rows else []
    return Result(data, [*view, *muted(footer)])


def stacked(*lines: Words) -> Words:
    """Several lines in one cell; empty ones are left out."""
    pieces: list[str | Styled] = []
    for line in lines:
        words = [line] if isinstance(line, str | Styled) else [*line]
        if any(each.text if isinstance(each, Styled) else each for each in words):
            pieces += ["\n", *words] if pieces else words
    return tuple(pieces)


def muted(*lines: str) -> list[Paragraph]:
    return [Paragraph(Styled(line, "muted")) for line in lines if line]


def right_aligned(*titles: str) -> list[Column]:
    """Columns of numbers."""
    return [Column(title, right=True) for title in titles]
