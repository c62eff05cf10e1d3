"""Counting what an import does."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recollect.transfer.reports import SHOWN, BadLine, Dangling, ImportReport

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.transfer.reports import Format


class Tally:
    """A report under way: counts, and the first of what went wrong."""

    def __init__(self) -> None:
        self.lines = 0
        self.counts: Counter[str] = Counter()
        """By the names of the report's counts."""
        self._bad: list[BadLine] = []
        self._bad_count = 0
        self._also_created: list[str] = []
        self._dangling: list[Dangling] = []
        self._dangling_count = 0

    @property
    def found_something(self) -> bool:
        """Whether any line could be read."""
        return self.lines > self._bad_count

    def bad(self, line: int, reason: str) -> None:
        self._bad_count += 1
        if len(self._bad) < SHOWN:
            self._bad.append(BadLine(line, reason))

    def also_created(self, names: Sequence[str]) -> None:
        self.counts["also_created_count"] += len(names)
        self._also_created += names[: SHOWN - len(self._also_created)]

    def dangling(self, relation: Dangling) -> None:
        self._dangling_count += 1
        if len(self._dangling) < SHOWN:
            self._dangling.append(relation)

    def report(self, format_: Format, embedded: int, note: str | None) -> ImportReport:
        return ImportReport(
            format=format_,
            lines=self.lines,
            also_created=tuple(self._also_created),
            dangling=tuple(self._dangling),
            dangling_count=self._dangling_count,
            bad_lines=tuple(self._bad),
            bad_count=self._bad_count,
            embedded=embedded,
            note=note,
            **self.counts,
        )
