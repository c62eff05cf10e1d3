"""Counting what an import does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recollect.transfer.reports import SHOWN, BadLine, Dangling, ImportReport

if TYPE_CHECKING:
    from recollect.transfer.reports import Format


class Tally:
    """A report under way: counts, and the first of what went wrong."""

    def __init__(self) -> None:
        self.lines = 0
        self.counts: Counter[str] = Counter()
        """By the names of the report's counts."""
        self._bad: list[BadLine] = []
        self._bad_count = 0
        self._dangling: list[Dangling] = []
        self._dangling_count = 0

    def bad(self, line: int, reason: str) -> None:
        self._bad_count += 1
        if len(self._bad) < SHOWN:
            self._bad.append(BadLine(line, reason))

    def dangling(self, relation: Dangling) -> None:
        self._dangling_count += 1
        if len(self._dangling) < SHOWN:
            self._dangling.append(relation)

    def report(self, format_: Format, embedded: int, note: str | None) -> ImportReport:
        return ImportReport(
            format=format_,
            lines=self.lines,
            dangling=tuple(self._dangling),
            dangling_count=self._dangling_count,
            bad_lines=tuple(self._bad),
            bad_count=self._bad_count,
            embedded=embedded,
            note=note,
            **self.counts,
        )
