"""The lines of a Markdown text: which are headings, and which stand in code, where nothing means anything."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*")
_FENCE = re.compile(r" {0,3}(?:> ?)?(`{3,}|~{3,})(.*)")


class Line(NamedTuple):
    number: int
    """In the file, from 1."""
    text: str
    level: int = 0
    """A heading's, from 1; 0 for what is none."""
    heading: str = ""
    coded: bool = False


def marked_lines(lines: list[str], first: int) -> tuple[Line, ...]:
    """`first` is the number of the first one. A heading that is underlined is one line here, not two."""
    found: list[Line] = []
    fence = ""
    for number, text in enumerate(lines, first):
        if fence:
            closing = _FENCE.fullmatch(text)
            found.append(Line(number, text, coded=True))
            if closing and closing[1].startswith(fence) and not closing[2].strip():
                fence = ""
        elif opening := _FENCE.fullmatch(text):
            # Backticks after backticks: code within a line.
            fence = opening[1] if not (opening[1][0] == "`" and "`" in opening[2]) else ""
            found.append(Line(number, text, coded=bool(fence)))
        elif heading := _HEADING.match(text):
            found.append(Line(number, text, len(heading[1]), _unclosed(text[heading.end() :].strip())))
        elif (under := _UNDERLINE.fullmatch(text)) and _is_title(found, under[1][0]):
            title = found.pop()
            found.append(Line(title.number, title.text, 1 if under[1][0] == "=" else 2, title.text.strip()))
        else:
            found.append(Line(number, text))
    return tuple(found)


def _unclosed(heading: str) -> str:
    """Without the number signs that may close it."""
    text = heading.rstrip("#")
    return text.rstrip() if not text or text[-1] in " \t" else heading


def _is_title(found: list[Line], under: str) -> bool:
    """One line of text by itself, which an underline makes a heading."""
    if not found or not found[-1].text.strip() or found[-1].level or found[-1].coded:
        return False
    text = found[-1].text.lstrip()
    # Under `Alice: good night`, dashes part one turn from the next.
    if text.startswith((">", "-", "*", "+", "|")) or (under == "-" and ":" in text):
        return False
    return len(found) == 1 or not found[-2].text.strip() or found[-2].level > 0
