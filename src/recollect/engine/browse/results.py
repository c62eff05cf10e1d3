"""What looking around answers with."""

from __future__ import annotations

from datetime import datetime

from recollect.engine.results import ConflictingMemory, HistoryEvent, SimilarMemory
from recollect.lazy_dataclass import dataclass
from recollect.records import Memory, Relation


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """What a memory said from one moment to another."""

    text: str
    since: datetime
    until: datetime | None
    """None: it says so now."""


@dataclass(frozen=True, slots=True)
class Showing:
    """An answer that showed a memory."""

    at: datetime
    place: int
    """From 1, the best."""
    query: str | None
    """None: it was opened by its name or id, or the log keeps no questions."""
    profile: str | None
    answer: int | None
    """The answer's number in the log, if it is still there."""


@dataclass(frozen=True, slots=True)
class Usage:
    """How often a memory was shown, and when."""

    shown: int
    opened: int
    """Answers after which somebody opened it, as far as the log reaches."""
    days: int
    """Days on which it was shown."""
    last_at: datetime | None
    """None: never."""


@dataclass(frozen=True, slots=True)
class WholeMemory:
    """A memory with all that the store knows of it. Lists are bounded."""

    memory: Memory
    versions: tuple[MemoryVersion, ...]
    """Oldest first; of an entity none: its observations have times of their own."""
    events: tuple[HistoryEvent, ...]
    supersedes: tuple[Memory, ...]
    superseded_by: Memory | None
    mentions: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    drawn: tuple[Memory, ...]
    """Notes that were drawn out of this message."""
    neighbours: tuple[Memory, ...]
    """The turns around it in its conversation, itself included."""
    similar: tuple[SimilarMemory, ...]
    """In force, the most alike first."""
    conflicts: tuple[ConflictingMemory, ...]
    links: tuple[tuple[Memory, int], ...]
    """What keeps coming up together with it, and in how many answers."""
    usage: Usage
    showings: tuple[Showing, ...]
    """The newest first."""


@dataclass(frozen=True, slots=True)
class BrowsePage:
    """Some memories of a longer list."""

    memories: tuple[Memory, ...]
    cursor: str | None = None
    """Pass it as `after` for the next page; None: this was the last."""
    note: str | None = None
    """What the list leaves out, if anything."""


@dataclass(frozen=True, slots=True)
class NameCount:
    """A tag or a category, and how many memories in force have it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class EntityCounts:
    """An entity, and how much is known of it."""

    entity: Memory
    observations: int
    """In force."""
    relations: int
    """In force, starting or ending at it."""
    mentions: int
    """Notes and messages that speak of it."""


@dataclass(frozen=True, slots=True)
class Bucket:
    """A stretch of the timeline that holds something."""

    start: datetime
    stop: datetime
    """The first moment after it."""
    count: int
