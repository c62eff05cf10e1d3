"""A Markdown document or journal: each section under a heading is one message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from recollect.transfer.chats.times import of_words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from recollect.transfer.chats.lines import Line


class Section(NamedTuple):
    number: int
    """The line on which it begins."""
    text: str
    at: datetime | None


@dataclass(slots=True)
class _Open:
    """The section that is being read, under the headings that lead to it."""

    number: int
    path: tuple[tuple[int, str], ...] = ()
    lines: list[str] = field(default_factory=list)

    def text(self) -> str:
        headings = " › ".join(heading for _, heading in self.path if heading)
        body = "\n".join(self.lines).strip("\n").rstrip()
        return f"{headings}\n\n{body}" if headings and body else headings or body

    def at(self, day: datetime | None) -> datetime | None:
        """As the headings say, the inner ones last; a time alone is of the day found so far."""
        for _, heading in self.path:
            day = of_words(heading, day.date() if day else None) or day
        return day


def sections(lines: tuple[Line, ...], day: datetime | None) -> Iterator[Section]:
    """Each with its headings before its text. A heading with deeper ones alone under it is no section."""
    here = _Open(lines[0].number if lines else 1)
    for line in lines:
        if not line.level:
            here.lines.append(line.text)
            continue
        above = tuple(one for one in here.path if one[0] < line.level)
        if _says_something(here) and (_has_text(here) or len(above) < len(here.path)):
            yield Section(here.number, here.text(), here.at(day))
        here = _Open(line.number, (*above, (line.level, line.heading)))
    if _says_something(here):
        yield Section(here.number, here.text(), here.at(day))


def _has_text(here: _Open) -> bool:
    return any(line.strip() for line in here.lines)


def _says_something(here: _Open) -> bool:
    return bool(here.text().strip())
