"""Data classes for writes: inputs from callers, the changes to apply, and receipts with the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Arm, Kind, Memory, Model, Relation, Scope, Status

if TYPE_CHECKING:
    from collections.abc import Callable

    from recollect.domain.learnt import Learnt

UNKNOWN = "unknown"
"""The type of an entity until a real type is known."""

GENERIC = "generic"
"""The kind of an observation without a given kind."""

# Values that a caller wants stored. The store adds ids and times.


@dataclass(frozen=True, slots=True)
class NewObservation:
    """An observation to add. `supersedes` names the older one by its id or by its exact content."""

    content: str
    kind: str = GENERIC
    happened_at: datetime | None = None
    supersedes: int | str | None = None


@dataclass(frozen=True, slots=True)
class NewEntity:
    """An entity to create.

    Examples:
        >>> ana = recollect.NewEntity("Ana", "person", (recollect.NewObservation("Speaks Czech"),))
        >>> memory.create_entities([ana])[0].created
        True
    """

    name: str
    type: str = UNKNOWN
    observations: tuple[NewObservation, ...] = ()
    status: Status | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class NewRelation:
    """A relation to create between two entities.

    Examples:
        >>> relation = recollect.NewRelation("Tidebook", "Marisol Vega", "belongs to")
        >>> memory.graph.create_relations([relation])[0].created
        True
    """

    source: str
    target: str
    type: str
    context: str = ""
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation to store."""

    content: str
    role: str | None = None
    speaker: str | None = None
    at: datetime | None = None
    """When it was said (default: now)."""
    source: str | None = None
    """Where it comes from. The same source again in the same session is the same turn."""
    metadata: Mapping[str, Any] | None = None
    """A JSON object to keep with it."""


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
    """Defaults to the time of the write."""
    undated: bool = False
    tags: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    """Entities that it mentions, by name; they must exist."""
    drawn_from: int | None = None
    expires_at: datetime | None = None
    """For notes: the time after which searches do not find it. None: never."""
    ref: str | None = None
    """For notes: the caller's own name for it. Storing under the same name replaces the note."""
    metadata: Mapping[str, Any] | None = None
    fields: tuple[tuple[str, str], ...] = ()
    """For notes: values of the fields in `NOTE_FIELDS`."""


# The changes. Only `write/apply.py` applies them to a store.


@dataclass(frozen=True, slots=True)
class PutEntity:
    """Create an entity, or add its new observations to the existing entity of that name.

    An existing entity keeps its type, unless the type is `unknown`.
    """

    scope: Scope
    entity: NewEntity
    counts: bool = True
    """A repeat raises the duplicate count and `updated_at`. A repeated import sets False."""


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Vectors of a text's passages, in order."""

    model: str
    vectors: tuple[bytes, ...] = field(repr=False)
    """Packed float32."""
    tokens: tuple[bytes | None, ...] = field(repr=False)
    """The signs of each passage's token vectors; None if the model has no token vectors."""


@dataclass(frozen=True, slots=True)
class PutText:
    """Store a note or a message."""

    scope: Scope
    text: NewText
    embedded: TextVectors | None = None
    """Vectors of a new text, by the model that searches use. None: the passages are embedded later."""
    similar: tuple[int, float] | None = None
    """An older note that this note nearly repeats, and their similarity."""


@dataclass(frozen=True, slots=True)
class AddObservations:
    """Add observations to an entity."""

    scope: Scope
    name: str
    """Name of an entity that must exist."""
    observations: tuple[NewObservation, ...]


@dataclass(frozen=True, slots=True)
class RemoveObservations:
    """Soft-delete observations by content. Contents that do not exist are ignored."""

    scope: Scope
    name: str
    contents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Relate:
    """Create a relation between two entities, and the inverse relation if the type declares one."""

    scope: Scope
    relation: NewRelation
    create_missing: bool = False


@dataclass(frozen=True, slots=True)
class EndRelation:
    """End a relation at `at`. The relation is kept as history."""

    scope: Scope
    source: str
    target: str
    type: str
    at: datetime | None = None
    """Defaults to the time of the write."""


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Soft-delete a relation and its automatic inverse. A relation that does not exist is ignored."""

    scope: Scope
    source: str
    target: str
    type: str


@dataclass(frozen=True, slots=True)
class Forget:
    """Soft-delete memories by id, or entities by exact name. Those that do not exist are ignored."""

    scope: Scope
    ids: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore a superseded memory, or a forgotten one with the rows that were forgotten with it."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class RestoreObservation:
    """Restore an observation that was superseded, or removed separately from its entity."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class Unmake:
    """Delete memories and all their rows without a trace.

    Only for undoing the operation that created them, when other memories hold all their content.
    """

    scope: Scope
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """Permanently delete everything that was forgotten before a time. This cannot be undone."""

    before: datetime


@dataclass(frozen=True, slots=True)
class PurgeMemories:
    """Permanently delete these memories, which must all be forgotten. This cannot be undone."""

    scope: Scope
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Amend:
    """Set fields of a memory; None leaves a field unchanged. The previous text is kept as a revision."""

    scope: Scope
    id: int
    status: Status | None = None
    importance: float | None = None
    pinned: bool | None = None
    text: str | None = None
    category: str | None = None
    """An empty text removes the category."""
    happened_at: datetime | Literal["unknown"] | None = None
    tags: tuple[str, ...] | None = None
    importance_tag: str | None = None
    """An empty text removes the tag."""
    expires_at: datetime | Literal["never"] | None = None
    """For notes only."""
    metadata: Mapping[str, Any] | None = None
    """Replaces the previous metadata. For notes and messages only."""
    fields: tuple[tuple[str, str], ...] = ()
    """For notes: values of the fields in `NOTE_FIELDS`. An empty value removes the field."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Mark memories, and observations with the same content, as superseded by a correction."""

    scope: Scope
    ids: tuple[int, ...]
    by: int | NewText
    """The id of the correction, or a new text, which this change stores as well."""
    observations: tuple[int, ...] = ()
    embedded: TextVectors | None = None
    """Vectors of the text, as with `PutText`."""
    copies: tuple[int, ...] = ()
    """Memories with the same content as the first of `ids`, which are superseded with it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of the answer log of each scope. The oldest entries are deleted first."""

    events: int = 10_000
    bytes: int = 64_000_000
    days: float = 90.0


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An answer for the log, with its ranking and the ranking of the baseline."""

    handle: str
    """The id of this answer, which the caller sends back with feedback."""
    arm: Arm
    against: str
    ranked: tuple[int, ...]
    """All ids up to the requested limit, as in `baseline`. Fewer may have been shown."""
    baseline: tuple[int, ...]
    candidates: bytes = field(repr=False)
    version: int = 0
    """Version of the tuned numbers; 0 means the published numbers."""
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class RecordUsage:
    """Record that an answer of this session showed these memories, best first.

    An earlier hit of the session counts as good if it is now opened, or found by another query.
    """

    scope: Scope
    ids: tuple[int, ...]
    session: str
    missed: int = 0
    """How many answers before this one could not be recorded."""
    query: str | None = None
    """The query; None if there was none, such as when a memory is opened by name."""
    profile: str | None = None
    opened: bool = False
    """The caller requested these memories by name or id."""
    log: LogEntry | None = None


@dataclass(frozen=True, slots=True)
class GiveFeedback:
    """Rate a memory for the query that it was shown for; a new rating replaces the old one."""

    scope: Scope
    memory: int
    grade: float
    """From 1 (helpful) to -1 (wrong)."""
    handle: str | None = None
    """The answer. None: the last answer that showed the memory, preferably in this session."""
    query: str | None = None
    """Rate only an answer to this query. Case and accents are ignored."""
    session: str | None = None


@dataclass(frozen=True, slots=True)
class TuneProfile:
    """Change the numbers of a profile. Every process uses them from its next answer on."""

    scope: Scope
    profile: str
    knobs: tuple[tuple[str, float], ...]
    """Every number that differs from the published one. Empty: use the published numbers."""
    why: Literal["run", "set", "reset", "rollback"]
    report: str = "{}"
    """A report for people, as JSON."""
    after: int = 0
    """The version that this change is based on. The change is refused if a newer version exists."""


@dataclass(frozen=True, slots=True)
class FlagSimilar:
    """Mark a note or an observation as a near-duplicate of an older one."""

    table: Literal["memory", "observation"]
    id: int
    similar_to: int
    similarity: float
    scope: Scope | None = None
    """The scope of both rows. Without it, a store may lock all scopes."""


@dataclass(frozen=True, slots=True)
class PutVectors:
    """Store vectors by passage id, as packed float32. Passages that no longer exist are ignored."""

    model: Model
    vectors: tuple[tuple[int, bytes], ...] = field(repr=False)
    searched: bool = False
    """The vectors are for searches. Refused if searches use another model; if they use none, they use
    this model from now on.
    """
    automatic: bool = False
    """If this puts the model into use: Recollect chose it by the texts' language, not the user."""
    tokens: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)
    """Signs of token vectors by passage id. These passages need not be among those of `vectors`."""
    scope: Scope | None = None
    """The scope of all passages. None if there are several or it is unknown, as with `FlagSimilar`."""


@dataclass(frozen=True, slots=True)
class UseModel:
    """Use this model's vectors for searches by meaning, and delete the vectors of other models."""

    model: Model
    automatic: bool = False
    """Recollect chose the model by the texts' language, not the user."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Import a memory from an export unchanged: free ids, times, and its whole history.

    A negative id of a memory or observation is a placeholder: the store assigns the next free id.

    `AdoptLinks` adds the memory that superseded it, once all ids are known.
    """

    memory: Memory
    fresh: bool = False
    """The store was empty before this import, so an equal memory is a second one of the same export."""
    keeps_mentions: bool = False
    """Its mentions come from `AdoptLinks`. They are not derived from its text."""


@dataclass(frozen=True, slots=True)
class AdoptRelation:
    """Import a relation from an export unchanged. Its ends are entity ids of this store."""

    relation: Relation
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class AdoptLinks:
    """Link imported rows to each other, by their ids in this store. Existing links are kept."""

    superseded: tuple[tuple[int, int], ...] = ()
    """Pairs of a memory and the memory that superseded it."""
    inverse: tuple[tuple[int, int], ...] = ()
    """Pairs of an automatic inverse and the relation that it belongs to."""
    about: tuple[tuple[int, int], ...] = ()
    """Pairs of a text and an entity that the caller named in `about`."""
    mentions: tuple[tuple[int, int], ...] = ()
    """Pairs of a text and an entity whose name occurs in it."""
    drawn: tuple[tuple[int, int], ...] = ()
    """Pairs of a note and the message that it was extracted from."""
    similar: tuple[tuple[int, int], ...] = ()
    """Pairs of a note and the older note that it nearly repeats."""


@dataclass(frozen=True, slots=True)
class AdoptLearnt:
    """Import usage, feedback and tuning from another store, with memory ids of this store.

    Existing rows are kept unchanged.
    """

    learnt: Learnt
    fresh: bool = False
    """The store was empty before this import, so the rows keep their ids."""


@dataclass(frozen=True, slots=True)
class NoteImport:
    """Record that this file was imported into the scope, so that it is not offered again."""

    scope: Scope
    file: str
    """Its absolute path."""


@dataclass(frozen=True, slots=True)
class TellOnce:
    """Record that a one-time message was shown. `Outcome.created` is true the first time."""

    topic: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Dismiss a review item, so that reviews no longer list it; or undo the dismissal."""

    scope: Scope
    key: str
    dismissed: bool = True


DREAMING = "dream"
"""The name of the lease on dreaming."""


@dataclass(frozen=True, slots=True)
class FieldChanges:
    """One field of several memories, before and after a dream."""

    field: str
    ids: tuple[int, ...]
    before: tuple[float | str, ...]
    after: tuple[float | str, ...]


@dataclass(frozen=True, slots=True)
class CommitDream:
    """Write a dream's changes and its journal. Rows that changed since the dream read them are skipped."""

    scope: Scope
    through: int
    """The id of the newest answer that the dream replayed."""
    phases: tuple[str, ...]
    report: str
    field_changes: tuple[FieldChanges, ...] = ()
    pruned: tuple[int, ...] = ()
    merged: tuple[tuple[int, int], ...] = ()
    """Pairs of a note and the note that it is merged into."""
    merged_observations: tuple[tuple[int, int], ...] = ()
    corrected: tuple[tuple[int, int], ...] = ()
    """Pairs of a text and the memory that corrects it."""
    corrected_observations: tuple[tuple[int, int], ...] = ()
    links: tuple[tuple[int, int, int, int], ...] = ()
    """Two ids, the lower first, and the strength of their link before and after; 0 means no link."""
    holder: str | None = None
    """The process that must hold the lease on dreaming, or None."""
    pack_rest: Callable[[Mapping[str, object]], bytes] | None = None
    """Appends the rest of the journal to its packed fields. They are packed before the write, because the
    write blocks other writers. With this function, a changed field raises `Outdated`; without, it is skipped.
    """


@dataclass(frozen=True, slots=True)
class UndoDream:
    """Undo a dream, except for rows that changed since."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class TakeLease:
    """Take a lease for a number of seconds. Refused while another process holds it."""

    name: str
    holder: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DropLease:
    """Release a lease."""

    name: str
    holder: str


@dataclass(frozen=True, slots=True)
class CreateToken:
    """Create a named token. Refused if the name is taken."""

    name: str
    digest: str
    right: str
    sees: Scope | None


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """Revoke a token by name. `Outcome.count` is 1 if it existed."""

    name: str


@dataclass(frozen=True, slots=True)
class NoteTokenUse:
    """Record that a token was used."""

    digest: str


@dataclass(frozen=True, slots=True)
class EmptyLog:
    """Delete the answer log of a scope, with its queries. This cannot be undone."""

    scope: Scope


_GraphChange = (
    PutEntity | AddObservations | RemoveObservations | RestoreObservation | Relate | EndRelation | Unrelate
)
_MemoryChange = (
    PutText
    | Amend
    | Supersede
    | FlagSimilar
    | Forget
    | Restore
    | Unmake
    | Purge
    | PurgeMemories
    | PutVectors
    | UseModel
)
_ImportChange = Adopt | AdoptRelation | AdoptLinks | AdoptLearnt | NoteImport | TellOnce | Dismiss
_LearningChange = RecordUsage | GiveFeedback | EmptyLog | TuneProfile | CommitDream | UndoDream
_ServerChange = CreateToken | RevokeToken | NoteTokenUse | TakeLease | DropLease
Change = _GraphChange | _MemoryChange | _ImportChange | _LearningChange | _ServerChange


@dataclass(frozen=True, slots=True)
class Added:
    """A newly stored observation."""

    id: int
    content: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one change. `ids` are the memories it touched, in the order of the change."""

    ids: tuple[int, ...] = ()
    created: bool = False
    """The change created a row, rather than merging into or repeating an existing one."""
    names: tuple[str, ...] = ()
    """The stored names of the entities in `ids`."""
    added: tuple[Added, ...] = ()
    relations: tuple[int, ...] = ()
    """Relations created, ended or deleted: the named one first, then its inverse."""
    also_created: tuple[str, ...] = ()
    """Entities created because a relation named them."""
    observations: tuple[int, ...] = ()
    """Observations that were superseded."""
    took_type: str | None = None
    """The new type of an entity whose type was `unknown`."""
    kept_type: str | None = None
    """The type that an entity keeps although the change names another type."""
    count: int = 0
    """How many rows changed, for changes that fill no other field."""
    left: tuple[int, ...] = ()
    """Memories that were skipped because they had changed."""
    error: str | None = None
    """Why this change was skipped, if the caller asked to apply the others."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of `apply`: one outcome per change, in the same order."""

    outcomes: tuple[Outcome, ...]
    repeated: bool = False
    """The key was used before: nothing was written, and these are the outcomes of the first use."""
