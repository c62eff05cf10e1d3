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
    counts: Counter[str] = Counter()
    bad: list[BadLine] = []
    owners: set[str] = set()

    def bad_line(line: int, reason: str) -> None:
        counts["bad_count"] += 1
        if len(bad) < SHOWN:
            bad.append(BadLine(line, reason))

    with open_lines(source, progress) as file:
        first = file.first()
        is_full = first is not None and is_header(first.content)
        if is_full:
            check_header(first)
        for each in records(file, FULL if is_full else OfficialImport.format, bad_line):
            record = each.record
            if not isinstance(record, NewEntity | Memory):
                counts["relations" if isinstance(record, NewRelation | Relation) else "learnt"] += 1
                continue
            counts["observations"] += len(record.observations)
            is_text = isinstance(record, Memory) and record.kind is not Kind.ENTITY
            counts["texts" if is_text else "entities"] += 1
            if isinstance(record, Memory):
                counts["forgotten"] += record.deleted_at is not None
                owners.add(record.scope.owner)
        lines = file.read
    names = ("entities", "observations", "texts", "relations", "forgotten", "learnt", "bad_count")
    return ImportPreview(
        "full" if is_full else "official",
        lines,
        owners=tuple(sorted(owners)),
        bad_lines=tuple(bad),
        **{name: counts[name] for name in names},
    )
