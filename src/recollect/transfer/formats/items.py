"""What a reader of another program's memory yields: our own record types, with that program's keys."""

from __future__ import annotations

from collections.abc import Mapping  # dataclass fields: read at run time by typing.get_type_hints
from dataclasses import field
from datetime import datetime  # likewise
from typing import Any  # likewise

from recollect.lazy_dataclass import dataclass
from recollect.records import Revision, Status  # likewise


@dataclass(frozen=True, slots=True)
class ForeignObservation:
    """One thing known about an entity."""

    content: str
    kind: str = "generic"
    created_at: datetime | None = None
    """None: when its entity was made."""
    happened_at: datetime | None = None
    superseded_at: datetime | None = None
    superseded_by: str | None = None
    """The content of the observation of the same entity that replaced it."""
    forgotten_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ForeignEntity:
    """An entity, which has one name in its scope."""

    name: str
    type: str = ""
    """Empty: `unknown`."""
    observations: tuple[ForeignObservation, ...] = ()
    created_at: datetime | None = None
    """None: now, as far as anyone knows."""
    updated_at: datetime | None = None
    tags: tuple[str, ...] = ()
    importance: float | None = None
    """From 0 to 1."""
    status: Status = Status.ACTIVE
    pinned: bool = False
    forgotten_at: datetime | None = None
    owner: str = ""
    """Whose it is; empty: whoever imports."""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ForeignNote:
    """A note: one independent text."""

    key: str
    """The source's own id of it, or what else stays the same in a later state of the source."""
    text: str
    created_at: datetime | None = None
    updated_at: datetime | None = None
    happened_at: datetime | None = None
    category: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What else the source says of it, as a JSON object."""
    importance: float | None = None
    speaker: str = ""
    session: str = ""
    about: tuple[str, ...] = ()
    """Entities that it speaks of, by name. A missing entity is created with the type `unknown`."""
    former: tuple[Revision, ...] = ()
    """What it said before, oldest first."""
    status: Status = Status.ACTIVE
    pinned: bool = False
    superseded_by: str | None = None
    """The key of the note that replaced it."""
    superseded_at: datetime | None = None
    forgotten_at: datetime | None = None
    expires_at: datetime | None = None
    """From then on no search finds it; it may be past."""
    owner: str = ""
    agent: str = ""
    ref: str = ""
    """The name by which an adapter of ours for that program finds it; empty: none does."""


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """A turn of a conversation; turns of a session are read in the order in which they were said."""

    session: str
    key: str
    """As a note's, within its session."""
    text: str
    role: str = ""
    speaker: str = ""
    created_at: datetime | None = None
    """When it was said. None: nobody knows."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    importance: float | None = None
    owner: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class ForeignRelation:
    """A link between two entities, by name. A missing entity is created with the type `unknown`."""

    source: str
    type: str
    target: str
    context: str = ""
    created_at: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    forgotten_at: datetime | None = None
    owner: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True)
class NoPlace:
    """Something in the source that we cannot keep; the report counts it and shows examples."""

    what: str
    """The sort of thing, in the plural: `access counts`. The report has one line for each sort."""
    example: str = ""
    count: int = 1
    merged: ForeignRelation | None = None
    """What takes its place when all owners are merged, because only its owner is unknown."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that cannot be read; it is named and left out, or stops the import before anything is written."""

    place: str
    """Where it is: `memories, row 7`."""
    reason: str
    """A sentence."""


ForeignItem = ForeignEntity | ForeignNote | ForeignMessage | ForeignRelation | NoPlace | BadRow
