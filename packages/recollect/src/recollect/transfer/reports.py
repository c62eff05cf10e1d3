"""Reports of imports and exports."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Literal

from recollect.domain.changes import NewEntity
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Kind, Memory

if TYPE_CHECKING:
    from collections.abc import Sized

Format = Literal["official", "full", "markdown-export"]
ExportFormat = Literal["full", "official", "markdown", "csv", "parquet"]

SHOWN = 100
"""Maximum number of bad lines, relations and names that a report lists; the rest is only counted."""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read, or only in part. Lines are counted from 1."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Dangling:
    """A relation of a full export that was not created, since the file lacks one of its ends."""

    line: int
    source: str
    type: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The outcome of an import, mostly as counts of lines. Empty lines are not counted."""

    format: Format
    lines: int = 0
    """All lines, including a header."""
    entities_created: int = 0
    entities_merged: int = 0
    """Lines whose entity already existed, in the store or from an earlier line."""
    observations_added: int = 0
    texts_created: int = 0
    """Notes and messages."""
    texts_known: int = 0
    forgotten: int = 0
    """Created memories that were forgotten in the source, and are imported as history."""
    relations_created: int = 0
    """Relations of the file, without automatic inverses."""
    relations_known: int = 0
    also_created: tuple[str, ...] = ()
    """The first entities that were created because a relation names them, with the type `unknown`."""
    also_created_count: int = 0
    types_taken: int = 0
    """Entities of type `unknown` that took the file's type."""
    types_kept: int = 0
    """Lines whose entity has another type here, and keeps it."""
    dangling: tuple[Dangling, ...] = ()
    """The first relations that were not created."""
    dangling_count: int = 0
    learnt: int = 0
    """Lines with data learnt from use that was new to the store."""
    learnt_known: int = 0
    learnt_left: tuple[BadLine, ...] = ()
    """The first lines with learnt data that were left out, wholly or in part."""
    learnt_left_count: int = 0
    bad_lines: tuple[BadLine, ...] = ()
    """The first bad lines."""
    bad_count: int = 0
    embedded: int = 0
    """Passages that got their vectors."""
    note: str | None = None
    """The reason if new memories cannot yet be found by meaning."""
    model_note: str | None = None
    """A note if the languages of the texts chose or changed the model, or a command to change it."""

    @property
    def changed(self) -> bool:
        """Whether the store holds anything that it did not hold before."""
        created = self.entities_created + self.texts_created + self.relations_created
        return bool(created + self.observations_added + self.types_taken + self.learnt)


@dataclass(frozen=True, slots=True)
class Unplaced:
    """A kind of data in another program's memory that Recollect cannot keep."""

    what: str
    count: int
    examples: tuple[str, ...] = ()
    """The first of them, where they can be shown."""


@dataclass(frozen=True, slots=True)
class ForeignReport:
    """The outcome of an import from another program: items that were read, and how many were new."""

    format: str
    title: str
    """A description of the format for people."""
    entities: int = 0
    entities_new: int = 0
    observations: int = 0
    observations_new: int = 0
    notes: int = 0
    notes_new: int = 0
    notes_changed: int = 0
    """Known notes that the source has changed or superseded since the last import."""
    sessions: int = 0
    """Conversations that have at least one message."""
    messages: int = 0
    messages_new: int = 0
    notes_drawn: int = 0
    """New notes that were extracted from new messages."""
    relations: int = 0
    relations_new: int = 0
    forgotten: int = 0
    """Entities and notes that the source had forgotten, imported as history."""
    superseded: int = 0
    also_created: tuple[str, ...] = ()
    """The first entities that were created because a relation or note names them, with the type `unknown`."""
    also_created_count: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    """Counts by `owner` or `owner/agent`; "" for no owner."""
    no_place: tuple[Unplaced, ...] = ()
    left: tuple[str, ...] = ()
    """The first changes of the source that were not applied here."""
    left_count: int = 0
    bad: tuple[str, ...] = ()
    """The first bad rows, each with its place and the reason."""
    bad_count: int = 0
    examples: tuple[str, ...] = ()
    """Some of the items that were read."""
    embedded: int = 0
    """Passages that got their vectors."""
    waiting: int = 0
    """Passages that still have none."""
    note: str | None = None
    """The reason if memories cannot yet be found by meaning, or notes could not be extracted."""
    model_note: str | None = None
    """A note if the languages of the texts chose or changed the model, or a command to change it."""

    @property
    def read(self) -> int:
        """The number of items that could be read."""
        return self.entities + self.notes + self.messages + self.relations

    @property
    def changed(self) -> bool:
        """Whether the store holds anything that it did not hold before."""
        new = self.entities_new + self.observations_new + self.notes_new + self.messages_new
        return bool(new + self.relations_new + self.notes_changed + self.also_created_count)


@dataclass(frozen=True, slots=True)
class ExportReport:
    """Counts of an export."""

    format: ExportFormat
    lines: int = 0
    entities: int = 0
    observations: int = 0
    texts: int = 0
    """Notes and messages."""
    relations: int = 0
    forgotten: int = 0
    """Forgotten memories among the entities and texts."""
    learnt: int = 0
    """Lines with data learnt from use."""
    note: str | None = None
    """A note on data that the format cannot hold."""


@dataclass(frozen=True, slots=True)
class ImportPreview:
    """Counts of what an import would read. Only the import itself shows how much of it is new."""

    format: Format
    lines: int
    entities: int = 0
    observations: int = 0
    texts: int = 0
    """Notes and messages."""
    relations: int = 0
    forgotten: int = 0
    learnt: int = 0
    """Lines with data learnt from use."""
    owners: tuple[str, ...] = ()
    """Owners of the memories in a full export, "" for no owner; none in the official format."""
    bad_lines: tuple[BadLine, ...] = ()
    """The first bad lines."""
    bad_count: int = 0


class Tally:
    """The report of an import in progress."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Counts by the name of the report's field."""
        self._lists: defaultdict[str, list[object]] = defaultdict(list)

    def add(self, name: str, *items: object) -> None:
        """Count items of a list in the report, and keep the first of them."""
        listed = self._lists[name]
        listed += items[: SHOWN - len(listed)]
        self.counts["bad_count" if name.startswith("bad") else f"{name}_count"] += len(items)

    def bad_line(self, line: int, reason: str) -> None:
        self.add("bad_lines", BadLine(line, reason))

    def fields(self) -> dict[str, Any]:
        """Return the counts and lists, by the name of the report's field."""
        return {**self.counts, **{name: tuple(items) for name, items in self._lists.items()}}


def count_memory(counts: Counter[str], memory: Memory | NewEntity, observations: Sized) -> None:
    """Count a memory of an export, or of an import's preview."""
    is_text = isinstance(memory, Memory) and memory.kind is not Kind.ENTITY
    counts["texts" if is_text else "entities"] += 1
    counts["observations"] += len(observations)
    counts["forgotten"] += isinstance(memory, Memory) and memory.deleted_at is not None
