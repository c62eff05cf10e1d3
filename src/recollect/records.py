"""The values of the domain: frozen, without behaviour beyond what their fields say."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime  # dataclass fields: read at run time by typing.get_type_hints
from enum import StrEnum

from recollect.errors import InvalidInput


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
    "activo": "active",
    "activa": "active",
    "pausado": "paused",
    "pausada": "paused",
    "completado": "completed",
    "completada": "completed",
    "archivado": "archived",
    "archivada": "archived",
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
    agent: str = ""


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
    deleted_at: datetime | None = None

    @property
    def in_force(self) -> bool:
        """Neither replaced by a later observation nor deleted."""
        return self.superseded_at is None and self.deleted_at is None


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
    # its life
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

    @property
    def in_force(self) -> tuple[Observation, ...]:
        """The observations that hold now, oldest first."""
        return tuple(observation for observation in self.observations if observation.in_force)


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
    text: str


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


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that one search of the store came up with. The higher the score, the better."""

    id: int
    score: float
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search may see. Applied inside the search, so that `k` hits are `k` allowed ones."""

    owner: str = ""
    agent: str | None = ""
    """None: any agent of the owner."""
    kinds: frozenset[Kind] = frozenset(Kind)
    session: str | None = None
    """None: any session, and what belongs to none."""
    deleted: bool = False
    """Also what was forgotten. Only for `page`: no search finds it."""


# What a caller wants stored. The store gives ids and times.


@dataclass(frozen=True, slots=True)
class NewObservation:
    """`supersedes` names the older observation by its id or by its exact content."""

    content: str
    kind: str = "generic"
    happened_at: datetime | None = None
    supersedes: int | str | None = None


@dataclass(frozen=True, slots=True)
class NewEntity:
    name: str
    type: str = "unknown"
    observations: tuple[NewObservation, ...] = ()
    status: Status | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class NewRelation:
    source: str
    target: str
    type: str
    context: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class NewText:
    """A note, or a message of a session."""

    kind: Kind
    text: str
    category: str | None = None
    source: str | None = None
    session: str | None = None
    role: str | None = None
    speaker: str | None = None
    importance: float = 0.5
    happened_at: datetime | None = None
    created_at: datetime | None = None
    """None: the time of the write."""


# Writes are values: `Store.apply` is the one way to change a store.


@dataclass(frozen=True, slots=True)
class PutEntity:
    """Create an entity, or add its new observations to the one of that name."""

    scope: Scope
    entity: NewEntity
    counts: bool = True
    """A repeat raises the duplicate count and `updated_at`. An import that is run again says no."""


@dataclass(frozen=True, slots=True)
class PutText:
    """Store a note or a message."""

    scope: Scope
    text: NewText


@dataclass(frozen=True, slots=True)
class AddObservations:
    """Add to an entity that must exist."""

    scope: Scope
    name: str
    observations: tuple[NewObservation, ...]


@dataclass(frozen=True, slots=True)
class RemoveObservations:
    """Softly delete observations by content; what is absent is passed over."""

    scope: Scope
    name: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relate:
    """Connect two entities, and back again where the type has a declared inverse."""

    scope: Scope
    relation: NewRelation
    create_missing: bool = False


@dataclass(frozen=True, slots=True)
class EndRelation:
    """The relation held until `at`; it stays, as history."""

    scope: Scope
    source: str
    target: str
    type: str
    at: datetime | None = None
    """None: the time of the write."""


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Softly delete a relation and its automatic inverse; silent where it is absent."""

    scope: Scope
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Softly delete memories, by id or, for entities, by exact name; silent on what is absent."""

    scope: Scope
    ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restore:
    """Bring a forgotten memory back, with what was forgotten together with it."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class RestoreObservation:
    """Bring back an observation that was removed by itself."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class Purge:
    """Destroy for good what was forgotten before a time. The only change that cannot be taken back."""

    before: datetime


@dataclass(frozen=True, slots=True)
class Amend:
    """Set fields of a memory; None leaves a field as it is."""

    scope: Scope
    id: int
    status: Status | None = None
    importance: float | None = None
    pinned: bool | None = None


@dataclass(frozen=True, slots=True)
class RecordUse:
    """A caller was shown these, best first, in this session."""

    scope: Scope
    ids: tuple[int, ...]
    session: str
    missed: int = 0
    """How many answers before this one could not be noted."""


@dataclass(frozen=True, slots=True)
class FlagSimilar:
    """Note on an observation that it nearly repeats an older one."""

    observation: int
    similar_to: int
    similarity: float


@dataclass(frozen=True, slots=True)
class PutVectors:
    """Vectors by passage id, as packed float32. Passages that are gone by now are passed over."""

    model: Model
    vectors: tuple[tuple[int, bytes], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class UseModel:
    """From now on, searches by meaning use this model's vectors; those of every other are dropped."""

    model: Model


@dataclass(frozen=True, slots=True)
class Adopt:
    """Take over a memory from an export as it is: ids where free, times, and its whole life.

    What it was superseded by follows with `AdoptLinks`, once the ids of all are known.
    """

    memory: Memory
    fresh: bool = False
    """The store was empty before this export, so one that looks equal is another one of the same export."""


@dataclass(frozen=True, slots=True)
class AdoptRelation:
    """Take over a relation from an export as it is; its ends are named by the ids they have here."""

    relation: Relation
    fresh: bool = False
    """As for `Adopt`."""


@dataclass(frozen=True, slots=True)
class AdoptLinks:
    """Which of what was adopted belongs to which, by the ids they have here; what is linked stays so."""

    superseded: tuple[tuple[int, int], ...] = ()
    """Memories, each with the one that superseded it."""
    inverse: tuple[tuple[int, int], ...] = ()
    """Relations, each with the one whose automatic inverse it is."""


Change = (
    PutEntity
    | PutText
    | AddObservations
    | RemoveObservations
    | Relate
    | EndRelation
    | Unrelate
    | Forget
    | Restore
    | RestoreObservation
    | Purge
    | Amend
    | RecordUse
    | FlagSimilar
    | PutVectors
    | UseModel
    | Adopt
    | AdoptRelation
    | AdoptLinks
)


@dataclass(frozen=True, slots=True)
class Added:
    """An observation that was not there before."""

    id: int
    content: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one change did. `ids` are the memories it touched, in the order the change named them."""

    ids: tuple[int, ...] = ()
    created: bool = False
    """The change made something new, rather than merging into or repeating what was there."""
    names: tuple[str, ...] = ()
    """The entities' names as stored, beside `ids`."""
    added: tuple[Added, ...] = ()
    relations: tuple[int, ...] = ()
    """Relations made, ended or deleted: the named one first, then its inverse."""
    also_created: tuple[str, ...] = ()
    """Entities made because a relation named them."""
    count: int = 0
    """How many rows the change reached, where nothing above says it."""
    error: str | None = None
    """Why this change was left out, where the caller asked to keep the rest."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `apply` did, one outcome per change in the order given."""

    outcomes: tuple[Outcome, ...]
    repeated: bool = False
    """The key was seen before: nothing was written, and these are the outcomes of that time."""


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
    """Answers that could not be noted as signals since the store was made."""
    bytes: int


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that `verify` found."""

    what: str
    where: str
    repairable: bool
    """Only what is derived from the rows can be repaired: indexes, vectors, the cache."""
