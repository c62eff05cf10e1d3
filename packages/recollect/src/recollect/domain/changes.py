"""Writes are values: what a caller wants stored, the changes that say so, and the receipt that answers."""

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
    """When a note is no longer to be found; None: never."""
    ref: str | None = None
    """For notes: the caller's own name for it. Storing under the same name replaces the note."""
    metadata: Mapping[str, Any] | None = None
    fields: tuple[tuple[str, str], ...] = ()
    """For notes: values of the fields in `NOTE_FIELDS`."""


# Writes are values. `write/apply.py` applies them; nothing else changes a store.


@dataclass(frozen=True, slots=True)
class PutEntity:
    """Create an entity, or add its new observations to the one of that name.

    That one keeps its type, unless it is `unknown`.
    """

    scope: Scope
    entity: NewEntity
    counts: bool = True
    """A repeat raises the duplicate count and `updated_at`. An import that is run again says no."""


@dataclass(frozen=True, slots=True)
class TextVectors:
    """Vectors of a text's passages, in order."""

    model: str
    vectors: tuple[bytes, ...] = field(repr=False)
    """Packed float32."""
    tokens: tuple[bytes | None, ...] = field(repr=False)
    """The signs of each passage's token vectors; None: the model gives none."""


@dataclass(frozen=True, slots=True)
class PutText:
    scope: Scope
    text: NewText
    embedded: TextVectors | None = None
    """Where the text is new and searches use this model. None: its passages wait for their vectors."""
    similar: tuple[int, float] | None = None
    """An older note that a new one nearly repeats, and how similar they are."""


@dataclass(frozen=True, slots=True)
class AddObservations:
    scope: Scope
    name: str
    """Name of an entity that must exist."""
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
    """Defaults to the time of the write."""


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
    """Bring a forgotten memory back, with what was forgotten together with it; or a superseded one."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class RestoreObservation:
    """Bring back an observation that was removed by itself, or superseded."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class Unmake:
    """Take memories away as if they had never been made, with all that belongs to them.

    Only for what undoes their making, and where all that they hold is elsewhere.
    """

    scope: Scope
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Purge:
    """Destroy for good what was forgotten before a time. The only change that cannot be taken back."""

    before: datetime


@dataclass(frozen=True, slots=True)
class PurgeMemories:
    """Destroy these memories for good, each of which must be forgotten. There is no way back."""

    scope: Scope
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Amend:
    """Set fields of a memory; None leaves a field as it is. A former text is kept as a revision."""

    scope: Scope
    id: int
    status: Status | None = None
    importance: float | None = None
    pinned: bool | None = None
    text: str | None = None
    category: str | None = None
    """Empty: take it off."""
    happened_at: datetime | Literal["unknown"] | None = None
    tags: tuple[str, ...] | None = None
    importance_tag: str | None = None
    """Empty: take it off."""
    expires_at: datetime | Literal["never"] | None = None
    """For notes only."""
    metadata: Mapping[str, Any] | None = None
    """In place of the former; of a note or message."""
    fields: tuple[tuple[str, str], ...] = ()
    """For notes: values of the fields in `NOTE_FIELDS`. An empty value removes the field."""


@dataclass(frozen=True, slots=True)
class Supersede:
    """Retire memories, and observations that say the same, in favour of one that corrects them."""

    scope: Scope
    ids: tuple[int, ...]
    by: int | NewText
    """The correction's id, or what it says, to be stored along with it."""
    observations: tuple[int, ...] = ()
    embedded: TextVectors | None = None
    """Vectors of the text, as with `PutText`."""
    copies: tuple[int, ...] = ()
    """Memories that say the same as the first of `ids`, and are retired with it."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much the log of answers may hold of each scope; the oldest go first."""

    events: int = 10_000
    bytes: int = 64_000_000
    days: float = 90.0


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An answer for the log: as it was ranked, and as it would have been otherwise."""

    handle: str
    """By which its caller names it, to say how good it was."""
    arm: Arm
    against: str
    ranked: tuple[int, ...]
    """As long as was asked for, like the baseline; fewer may have been shown."""
    baseline: tuple[int, ...]
    candidates: bytes = field(repr=False)
    version: int = 0
    """Version of the tuned numbers; 0: as published."""
    bounds: Bounds = field(default_factory=Bounds)


@dataclass(frozen=True, slots=True)
class RecordUsage:
    """Record that a caller was shown these, best first, in this session.

    An earlier hit of this session that is now opened, or found by another query, was good.
    """

    scope: Scope
    ids: tuple[int, ...]
    session: str
    missed: int = 0
    """How many answers before this one could not be noted."""
    query: str | None = None
    """The query; absent where there was none, such as when a memory is opened by name."""
    profile: str | None = None
    opened: bool = False
    """The caller asked for these themselves, by name or id."""
    log: LogEntry | None = None


@dataclass(frozen=True, slots=True)
class GiveFeedback:
    """Rate a memory for the query that it was shown for; a new rating replaces the old one."""

    scope: Scope
    memory: int
    grade: float
    """From 1, just right, to -1, wrong."""
    handle: str | None = None
    """The answer; None: the last one that showed the memory, of this session if one of its answers did."""
    query: str | None = None
    """Only an answer to this question, whatever the case and accents."""
    session: str | None = None


@dataclass(frozen=True, slots=True)
class TuneProfile:
    """Give a profile other numbers, from the next answer on, in every process."""

    scope: Scope
    profile: str
    knobs: tuple[tuple[str, float], ...]
    """Every number that differs from the published one; none: the profile as published."""
    why: Literal["run", "set", "reset", "rollback"]
    report: str = "{}"
    """For people to read later, as JSON."""
    after: int = 0
    """The version that this follows; refused where there is another by now."""


@dataclass(frozen=True, slots=True)
class FlagSimilar:
    """Say of a note or an observation that it nearly repeats an older one."""

    table: Literal["memory", "observation"]
    id: int
    similar_to: int
    similarity: float
    scope: Scope | None = None
    """The scope of both. Without it, a store may lock all scopes."""


@dataclass(frozen=True, slots=True)
class PutVectors:
    """Vectors by passage id, as packed float32. Passages that are gone by now are passed over."""

    model: Model
    vectors: tuple[tuple[int, bytes], ...] = field(repr=False)
    searched: bool = False
    """They are for searches: refused where another model is in use by now. The first one comes into use."""
    automatic: bool = False
    """If this puts the model into use, texts chose it, not the user."""
    tokens: tuple[tuple[int, bytes], ...] = field(default=(), repr=False)
    """By passage id, the signs of its token vectors; for passages with or without a vector here."""
    scope: Scope | None = None
    """The scope of all passages. Absent if there are several, or it is unknown, as with `FlagSimilar`."""


@dataclass(frozen=True, slots=True)
class UseModel:
    """From now on, searches by meaning use this model's vectors; those of every other are dropped."""

    model: Model
    automatic: bool = False
    """Texts chose it, not the user."""


@dataclass(frozen=True, slots=True)
class Adopt:
    """Take over a memory from an export as it is: ids where free, times, and its whole history.

    A negative id, also of an observation, is not ours: the next free one is given instead.

    `AdoptLinks` adds what superseded it, once all ids are known.
    """

    memory: Memory
    fresh: bool = False
    """The store was empty before this export, so one that looks equal is another one of the same export."""
    keeps_mentions: bool = False
    """`AdoptLinks` adds its mentions, rather than its text."""


@dataclass(frozen=True, slots=True)
class AdoptRelation:
    """Take over a relation from an export as it is; its ends are named by the ids they have here."""

    relation: Relation
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class AdoptLinks:
    """Which of what was adopted belongs to which, by the ids they have here; what is linked stays so."""

    superseded: tuple[tuple[int, int], ...] = ()
    """Memories, each with the one that superseded it."""
    inverse: tuple[tuple[int, int], ...] = ()
    """Relations, each with the one whose automatic inverse it is."""
    about: tuple[tuple[int, int], ...] = ()
    """Texts, each with an entity that the caller said it is about."""
    mentions: tuple[tuple[int, int], ...] = ()
    drawn: tuple[tuple[int, int], ...] = ()
    similar: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class AdoptLearnt:
    """Take over what another store learnt; memories are named by the ids that they have here.

    Rows that are here already stay as they are.
    """

    learnt: Learnt
    fresh: bool = False
    """As for `Adopt`: then it is taken over with its own ids, too."""


@dataclass(frozen=True, slots=True)
class NoteImport:
    """Remember that this file was imported into the scope, so that it is not offered again."""

    scope: Scope
    file: str
    """Its whole path."""


@dataclass(frozen=True, slots=True)
class TellOnce:
    """Note that a message was shown once for a store; `created` says that it is new."""

    topic: str


@dataclass(frozen=True, slots=True)
class Dismiss:
    """Store a decision to keep something, so that it is not listed again; or undo that."""

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
    """Everything that a dream changes, and its journal. What has changed since the dream looked is left."""

    scope: Scope
    through: int
    """The newest answer that it replayed."""
    phases: tuple[str, ...]
    report: str
    lived: tuple[FieldChanges, ...] = ()
    pruned: tuple[int, ...] = ()
    merged: tuple[tuple[int, int], ...] = ()
    """Notes, each with the one that it lives on in."""
    merged_observations: tuple[tuple[int, int], ...] = ()
    corrected: tuple[tuple[int, int], ...] = ()
    """Texts, each with the memory that corrects it."""
    corrected_observations: tuple[tuple[int, int], ...] = ()
    links: tuple[tuple[int, int, int, int], ...] = ()
    """Two ids, the lower first, and how firmly they are linked before and after; 0: not at all."""
    holder: str | None = None
    """The process that must hold the lease on dreaming, if any."""
    pack_rest: Callable[[Mapping[str, object]], bytes] | None = None
    """Packs the rest of a journal whose fields are packed already, since writing a dream blocks others. With
    it, a field that changed raises `Outdated`; without it, that field is skipped.
    """


@dataclass(frozen=True, slots=True)
class UndoDream:
    """Take a dream back, but for what was changed since."""

    scope: Scope
    id: int


@dataclass(frozen=True, slots=True)
class TakeLease:
    """Take the lease on some work for a number of seconds; refused while another process holds it."""

    name: str
    holder: str
    seconds: float


@dataclass(frozen=True, slots=True)
class DropLease:
    name: str
    holder: str


@dataclass(frozen=True, slots=True)
class CreateToken:
    """Refused where another token has this name."""

    name: str
    digest: str
    right: str
    sees: Scope | None


@dataclass(frozen=True, slots=True)
class RevokeToken:
    """`count` is 1 if it existed."""

    name: str


@dataclass(frozen=True, slots=True)
class NoteTokenUse:
    digest: str


@dataclass(frozen=True, slots=True)
class EmptyLog:
    """Empty the log of answers, and forget what was asked. There is no way back."""

    scope: Scope


_OfGraph = (
    PutEntity | AddObservations | RemoveObservations | RestoreObservation | Relate | EndRelation | Unrelate
)
_OfMemories = (
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
_OfExports = Adopt | AdoptRelation | AdoptLinks | AdoptLearnt | NoteImport | TellOnce | Dismiss
_OfLearning = RecordUsage | GiveFeedback | EmptyLog | TuneProfile | CommitDream | UndoDream
_OfServers = CreateToken | RevokeToken | NoteTokenUse | TakeLease | DropLease
Change = _OfGraph | _OfMemories | _OfExports | _OfLearning | _OfServers


@dataclass(frozen=True, slots=True)
class Added:
    """An observation that was not there before."""

    id: int
    content: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one change. `ids` are the memories it touched, in the order of the change."""

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
    observations: tuple[int, ...] = ()
    """Observations that were retired."""
    took_type: str | None = None
    """The type that an entity took which was of type `unknown`."""
    kept_type: str | None = None
    """The type that an entity has, where another one was given and not taken."""
    count: int = 0
    """How many rows the change reached, where nothing above says it."""
    left: tuple[int, ...] = ()
    """Memories that were skipped, since they had changed."""
    error: str | None = None
    """Why this change was left out, where the caller asked to keep the rest."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What `apply` did, one outcome per change in the order given."""

    outcomes: tuple[Outcome, ...]
    repeated: bool = False
    """The key was seen before: nothing was written, and these are the outcomes of that time."""
