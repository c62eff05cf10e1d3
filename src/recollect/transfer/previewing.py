"""What a file of memories holds, for who looks before importing it: nothing is written."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING

from recollect.changes import NewEntity, NewRelation
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind, Memory, Relation
from recollect.transfer.files import open_lines
from recollect.transfer.full import FULL, check_header, is_header
from recollect.transfer.json_lines import records
from recollect.transfer.official import OfficialImport
from recollect.transfer.reports import SHOWN, BadLine, Format

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.ports import Progress


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """What an import would read; how much of it is new shows only when it is brought in."""

    format: Format
    lines: int
    entities: int
    observations: int
    texts: int
    """Notes and messages."""
    relations: int
    forgotten: int
    learnt: int
    """Lines of what was learnt from use."""
    owners: tuple[str, ...]
    """Whose memories a full export holds, the empty name for nobody's; none in the official format."""
    bad_lines: tuple[BadLine, ...]
    """The first of them."""
    bad_count: int


def import_preview(
    source: str | Path | IO[str] | IO[bytes], progress: Progress | None = None
) -> ImportPreview:
    """Read a file as `import_file` does, and count what it holds."""
    seen = PreviewCount()
    with open_lines(source, progress) as file:
        first = file.first()
        is_full = first is not None and is_header(first.content)
        if is_full:
            check_header(first)
        for each in records(file, FULL if is_full else OfficialImport.format, seen.bad_line):
            seen.count(each.record)
        return seen.preview("full" if is_full else "official", file.read)


class PreviewCount:
    """What was seen so far of a source."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._bad: list[BadLine] = []
        self._owners: set[str] = set()

    def bad_line(self, line: int, reason: str) -> None:
        self._counts["bad_count"] += 1
        if len(self._bad) < SHOWN:
            self._bad.append(BadLine(line, reason))

    def count(self, record: object) -> None:
        counts = self._counts
        if not isinstance(record, NewEntity | Memory):
            counts["relations" if isinstance(record, NewRelation | Relation) else "learnt"] += 1
            return
        counts["observations"] += len(record.observations)
        is_text = isinstance(record, Memory) and record.kind is not Kind.ENTITY
        counts["texts" if is_text else "entities"] += 1
        if isinstance(record, Memory):
            counts["forgotten"] += record.deleted_at is not None
            self._owners.add(record.scope.owner)

    def preview(self, format_: Format, lines: int) -> ImportPreview:
        names = ("entities", "observations", "texts", "relations", "forgotten", "learnt", "bad_count")
        return ImportPreview(
            format_,
            lines,
            owners=tuple(sorted(self._owners)),
            bad_lines=tuple(self._bad),
            **{name: self._counts[name] for name in names},
        )
