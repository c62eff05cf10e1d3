"""The values of the domain: frozen, without behaviour beyond what their fields say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from datetime import datetime  # dataclass fields: read at run time by typing.get_type_hints
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass


class Kind(StrEnum):
    """What sort of thing a memory is."""

    ENTITY = "entity"
    NOTE = "note"
    MESSAGE = "message"


class Status(StrEnum):
    """What the user says of a memory."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    ARCHIVED = "archived"

    @classmethod
    def of(cls, word: str) -> Status:
        """Read a status in English or Spanish, in any case."""
        plain = word.strip().lower()
        try:
            return cls(_SPANISH.get(plain, plain))
        except ValueError:
            allowed = ", ".join(cls)
            raise InvalidInput(f"No status named {word!r}; there are: {allowed}.") from None


_SPANISH = {
    f"{stem}{ending}": status
    for stem, status in zip(("activ", "pausad", "completad", "archivad"), Status, strict=True)
    for ending in "oa"
}


class Consolidation(StrEnum):
    """How far a memory has come in sleep; written by dreams, not a ranking factor."""

    STAGED = "staged"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose memory this is. Two scopes never see or weigh one another."""

    owner: str = ""
    agent: str | None = ""
    """None: all agents of the owner, and what belongs to none of them. Only for reading."""


@dataclass(frozen=True, slots=True)
class NamedToken:
    """Lets its holder use a server over HTTP. The token itself is kept nowhere."""

    name: str
    digest: str
    """The SHA-256 of the token, in hexadecimal."""
    right: str
    """read, write or admin."""
    sees: Scope | None
    """The only scope that its holder sees; None: every scope."""
    created_at: datetime
    used_at: datetime | None = None
    """Its last use, to within a few minutes."""


@dataclass(frozen=True, slots=True)
class Observation:
    """One thing known about an entity."""

    id: int
    content: str
    kind: str
    created_at: datetime
    happened_at: datetime | None = None
    superseded_by: int | None = None
    superseded_at: datetime | None = None
    similar_to: int | None = None
    similarity: float | None = None
    corrected_by: int | None = None
    """The memory that corrects it, where it was retired as a near-copy of another error."""
    deleted_at: datetime | None = None

    @property
    def in_force(self) -> bool:
        """Neither replaced by a later observation nor deleted."""
        return self.superseded_at is None and self.deleted_at is None


@dataclass(frozen=True, slots=True)
class Revision:
    """What a text said before it was updated."""

    text: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Absence:
    """A while in which a memory was gone."""

    why: str
    """`forgotten` or `superseded`."""
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing remembered, of any kind; fields that a kind does not use keep their default."""

    id: int
    kind: Kind
    scope: Scope
    created_at: datetime
    updated_at: datetime
    happened_at: datetime | None = None
    # an entity
    name: str = ""
    type: str = ""
    observations: tuple[Observation, ...] = ()
    # a note or a message
    text: str = ""
    category: str | None = None
    source: str | None = None
    session: str | None = None
    position: int | None = None
    role: str | None = None
    speaker: str | None = None
    undated: bool = False
    """Nobody knows when it was said: `created_at` is only when it was stored."""
    drawn_from: int | None = None
    """The message that a note was drawn from."""
    tags: tuple[str, ...] = ()
    mentions: tuple[int, ...] = ()
    """The entities that it speaks of."""
    about: tuple[int, ...] = ()
    """Those of them that the caller named, rather than the text."""
    former: tuple[Revision, ...] = ()
    """What it said before, oldest first."""
    similar_to: int | None = None
    similarity: float | None = None
    # its life
    absences: tuple[Absence, ...] = ()
    """When it was gone and came back, oldest first."""
    status: Status = Status.ACTIVE
    consolidation: Consolidation = Consolidation.STAGED
    strength: float = 1.0
    depth: int = 2
    spread: int = 1
    stability: float = 1.0
    importance: float = 0.5
    importance_tag: str | None = None
    pinned: bool = False
    revisions: int = 0
    duplicates: int = 0
    superseded_by: int | None = None
    superseded_at: datetime | None = None
    deleted_at: datetime | None = None
    expires_at: datetime | None = None
    """Of a note: from then on no search finds it, unless it asks about the time before."""
    # what a program keeps with it
    ref: str | None = None
    """Of a note: by which the program that stored it knows it. In a scope, one note in force has it."""
    metadata: Mapping[str, Any] | None = None
    """A JSON object that the caller gave along with a note or message."""

    @property
    def in_force(self) -> tuple[Observation, ...]:
        """The observations that hold now, oldest first."""
        return tuple(observation for observation in self.observations if observation.in_force)


_ASSISTANTS = frozenset({"assistant", "ai", "bot", "model"})


def is_assistant(role: str | None) -> bool:
    """Whether a message of this role is an assistant's, by any of the names that clients use."""
    return (role or "").lower() in _ASSISTANTS


def as_it_stood(memory: Memory, at: datetime | None) -> Memory:
    """The memory as it read at a moment; None: as it reads now."""
    if at is None:
        return memory
    former = next((revision.text for revision in memory.former if revision.until > at), None)
    return replace(
        memory,
        text=memory.text if former is None else former,
        observations=tuple(
            _seen_at(observation, at) for observation in memory.observations if observation.created_at <= at
        ),
        former=tuple(revision for revision in memory.former if revision.until <= at),
        superseded_by=memory.superseded_by if _passed(memory.superseded_at, at) else None,
        superseded_at=memory.superseded_at if _passed(memory.superseded_at, at) else None,
        deleted_at=memory.deleted_at if _passed(memory.deleted_at, at) else None,
    )


def _seen_at(observation: Observation, at: datetime) -> Observation:
    superseded = _passed(observation.superseded_at, at)
    return replace(
        observation,
        superseded_by=observation.superseded_by if superseded else None,
        superseded_at=observation.superseded_at if superseded else None,
        corrected_by=observation.corrected_by if superseded else None,
        deleted_at=observation.deleted_at if _passed(observation.deleted_at, at) else None,
    )


def _passed(moment: datetime | None, at: datetime) -> bool:
    return moment is not None and moment <= at


@dataclass(frozen=True, slots=True)
class Relation:
    """A directed link between two entities, and the span in which it holds."""

    id: int
    source: int
    target: int
    source_name: str
    target_name: str
    type: str
    created_at: datetime
    context: str = ""
    since: datetime | None = None
    until: datetime | None = None
    inverse_of: int | None = None
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a memory that gets a vector of its own."""

    id: int
    memory: int
    scope: Scope
    text: str
    """What the embedder reads: the piece, and who or what it is about."""
    piece: str | None = None
    """The piece by itself, where it is not the whole text."""


@dataclass(frozen=True, slots=True)
class Statement:
    """Something in a message that is worth keeping as a note of its own."""

    message: int
    """The id of the message that says it."""
    text: str
    """It stands by itself: who speaks is named in it, or is the message's speaker."""
    category: str
    importance: float = 0.5
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Model:
    """An embedding model. Vectors of two names are never compared."""

    name: str
    dims: int
    centre: bytes | None = field(default=None, repr=False)
    """Where this model's vectors crowd, as packed float32: a fact of the model, never of what is stored,
    so that no scope's texts move another's shortlist. None: searches of any size are exact scans."""
    rotation: bytes | None = field(default=None, repr=False, compare=False)
    """How to turn vectors so that a prefix of them is worth the most: `dims // 3` orthonormal rows of `dims`
    numbers, as packed float16; a fact of the model, too. None: its first numbers weigh the most as it is
    (Matryoshka), or nobody knows better. A store keeps it to itself: views give models without it."""


class Found(NamedTuple):
    """A memory that one search of the store came up with. The higher the score, the better."""

    id: int
    score: float
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, as a whole."""

    name: str
    turns: int
    first_at: datetime
    last_at: datetime
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """Something that was asked, and what was shown for it, best first."""

    query: str
    profile: str | None
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DreamRecord:
    """A dream that was dreamt."""

    id: int
    at: datetime
    phases: tuple[str, ...]
    report: Mapping[str, Any]
    """What it did, in numbers and ids."""
    undone_at: datetime | None = None


Arm = Literal["ours", "baseline", "interleaved"]
"""Which ranking the caller saw: the profile's, the baseline's, or both in turns (earlier versions)."""


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """An answer as the store's log holds it."""

    id: int
    at: datetime
    handle: str
    session: str
    query: str
    profile: str
    version: int
    """Of the tuned numbers that ranked it; 0: as published."""
    arm: Arm
    against: str
    """What the baseline is."""
    shown: tuple[int, ...]
    ranked: tuple[int, ...]
    baseline: tuple[int, ...]
    candidates: bytes = field(repr=False)
    """All that the ranking read, packed."""
    feedback: tuple[tuple[int, str, float], ...] = ()
    """Memories, each with how we know (opened, recalled, said) and how good it was, from -1 to 1."""


@dataclass(frozen=True, slots=True)
class LogSize:
    """How much of a scope's answers the log holds."""

    events: int
    treated: int
    """Those in which the profile had its say."""
    judged: int
    """Those with feedback of any kind."""
    profile: str = ""
    """Of which profile; empty: of all."""


@dataclass(frozen=True, slots=True)
class Tuned:
    """Numbers that a profile was given in the place of its published ones; the newest of a profile hold."""

    version: int
    profile: str
    at: datetime
    knobs: Mapping[str, float]
    """Empty: the profile as published."""
    why: Literal["run", "set", "reset", "rollback"]
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds."""

    entities: int
    notes: int
    messages: int
    observations: int
    relations: int
    forgotten: int
    passages: int
    vectors: int
    """Of the model in use, for what is live."""
    due: int
    """Live passages that wait for a vector."""
    scopes: int
    unnoted: int
    """Answers whose use could not be recorded since the store was made."""
    bytes: int
    schema: int
    """The version of the store's form."""


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """How much of a store belongs to an owner, beside memories of each kind."""

    observations: int
    relations: int
    forgotten: int
    vectors: int
    """Of the model in use, for what is live."""
    due: int
    """Live passages that wait for a vector."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that `verify` found."""

    what: str
    where: str
    repairable: bool
    """Only what is derived from the rows can be repaired: indexes, vectors, the cache."""
