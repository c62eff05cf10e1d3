"""What the use cases answer with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, Self

from recollect.changes import Added
from recollect.lazy_dataclass import dataclass
from recollect.ranking.confidence_label import UNLIKELY
from recollect.records import Memory, Model, Relation

if TYPE_CHECKING:
    from recollect.engine.shadow import Trace
    from recollect.ranking.explain import Reason
    from recollect.text.time_phrases import TimePhrase


Mode = Literal["hybrid", "meaning", "words"]


@dataclass(frozen=True, slots=True)
class RejectedRow:
    """A row of a batch that was left out."""

    index: int
    """Its place in the batch, from 0."""
    reason: str


@dataclass(frozen=True, slots=True)
class SimilarObservation:
    """A new observation that nearly repeats one that was there. Both are kept."""

    observation: int
    content: str
    similar_to: int
    similar_content: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ContradictedObservation:
    """A new observation that seems to contradict one that was there. Both are kept."""

    observation: int
    content: str
    contradicts: int
    contradicted_content: str


@dataclass(frozen=True, slots=True)
class ObservedEntity:
    """What happened to one entity: it was created, or it was there and gained observations."""

    id: int
    name: str
    created: bool
    added: tuple[Added, ...]
    similar: tuple[SimilarObservation, ...] = ()
    took_type: str | None = None
    """The type that it took, having been of type `unknown`."""
    kept_type: str | None = None
    """The type that it has, where another one was given and not taken."""
    contradicts: tuple[ContradictedObservation, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether anything of it is new."""
        return bool(self.created or self.added or self.took_type)


@dataclass(frozen=True, slots=True)
class ObservedBatch:
    entities: tuple[ObservedEntity, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why what was written cannot yet be found by meaning, if it cannot."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A memory that says nearly the same. Both are kept."""

    id: int
    text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ConflictingMemory:
    """A memory in force that another one seems to contradict. Both are kept."""

    id: int
    text: str
    """What it says; of an entity, the observation."""
    is_newer: bool
    """It is the later of the two, by when it happened, else by when it was said."""
    at: datetime | None = None
    observation: int | None = None
    """Of an entity, the observation that says so."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What happened to one note."""

    id: int
    text: str
    created: bool
    """False: it was there already, and its duplicate count went up."""
    category: str | None = None
    mentions: tuple[str, ...] = ()
    """The names of the entities that it speaks of."""
    similar: SimilarMemory | None = None
    model_note: str | None = None
    """What its language means for the model, as a batch says it of all its notes; and before that, what could
    not follow though it is stored, and why, if so."""
    contradicts: tuple[ConflictingMemory, ...] = ()
    """Notes that it seems to contradict, the most alike first; `supersede` settles which of them holds."""


@dataclass(frozen=True, slots=True)
class RememberedBatch:
    notes: tuple[Remembered, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why what was written cannot yet be found by meaning, if it cannot."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""


@dataclass(frozen=True, slots=True)
class AddMessagesResult:
    """What happened to the turns of a conversation."""

    session: str
    ids: tuple[int, ...]
    """The messages in the order given; those that were rejected are left out."""
    created: int
    """How many were new."""
    notes: tuple[Remembered, ...] = ()
    """What was drawn out of them."""
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why something cannot be found by meaning yet, or could not be drawn out, if so."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""


@dataclass(frozen=True, slots=True)
class RetiredMemory:
    """Something that a correction put out of force: a memory, or an observation of an entity."""

    id: int
    text: str
    observation: int | None = None


@dataclass(frozen=True, slots=True)
class SupersedeResult:
    by: Memory
    retired: tuple[RetiredMemory, ...]
    """What was named first, then its near-copies."""
    similar: tuple[SimilarMemory, ...] = ()
    """What says nearly the same and yet may be something else; it was left in force."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""
    note: str | None = None
    """Why it cannot be found by meaning yet, if so."""


PURGE_WAITS = (
    "Somebody who reads the store at this moment still holds its former pages; they are overwritten as soon "
    "as that reading ends, by the next write or when the store is closed or opened."
)


class PurgeResult(int):
    """How many memories were destroyed."""

    note: str | None
    """What is left of them in the store's files for now, if anything."""

    def __new__(cls, count: int, note: str | None = None) -> Self:
        made = super().__new__(cls, count)
        made.note = note
        return made


@dataclass(frozen=True, slots=True)
class HistoryEvent:
    """One thing that happened to a memory."""

    at: datetime
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class History:
    memory: Memory
    events: tuple[HistoryEvent, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class ContextItem:
    """One entry of a context."""

    id: int | None
    """None: a turn that is not in the store."""
    kind: str
    """`turn`, or the kind of the memory."""
    text: str
    at: datetime | None
    """When it happened or was said; None where nobody knows."""
    source: str
    """Who said it and where, or what it is."""
    line: str
    """As it stands in the context's text."""
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """What an agent should read before it answers."""

    query: str
    memories: tuple[ContextItem, ...]
    turns: tuple[ContextItem, ...]
    text: str
    tokens: int
    budget_tokens: int
    left_out: int
    """Memories that were worth giving and did not fit, of the twenty best at most."""
    bearing: float = 1.0
    """How likely the query calls for something remembered; where that is unlikely, no memory is given."""
    note: str | None = None


@dataclass(frozen=True, slots=True)
class RelationResult:
    source: str
    target: str
    type: str
    created: bool
    """False: it was in force already."""
    inverse: bool
    """The inverse is in force too."""
    also_created: tuple[str, ...]
    """Entities made because the relation named them."""


@dataclass(frozen=True, slots=True)
class RelatedBatch:
    relations: tuple[RelationResult, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why entities that were made cannot be found by meaning yet, if so."""


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities, and the relations in force that start or end at one of them."""

    entities: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    cursor: int | None = None
    """Pass it as `after` for the next page; None: this was the last."""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Some memories of a longer list."""

    memories: tuple[Memory, ...]
    cursor: int | None = None
    """Pass it as `after` for the next page; None: this was the last."""


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """Entities around one, the nearest first, and the relations in force that lead to them."""

    entities: tuple[tuple[Memory, int], ...]
    """Each with the number of relations that lie between."""
    relations: tuple[Relation, ...]
    is_cut: bool = False
    """There are more than were looked at."""


@dataclass(frozen=True, slots=True)
class GraphPaths:
    """Ways from one entity to another, over relations in force in either direction, the shortest first."""

    paths: tuple[tuple[Relation, ...], ...]
    is_cut: bool = False
    """There are more than were looked at."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one search put a memory."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search found, and why it stands where it does."""

    memory: Memory
    score: float
    places: Mapping[str, Place] = field(default_factory=dict)
    """By each search that found it: `words` (score: BM25), `meaning` (cosine), `nearby` (how much of the
    query stands around it) and `linked` (how strongly it is tied to whom the query names)."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Scores on the way that a profile keeps, such as `limbic_score`."""
    reasons: tuple[Reason, ...] = ()
    """What each step found and did, where it was asked for; recombined, they give the score exactly."""
    passage: str | None = None
    """The piece that was nearest in meaning, as the model read it."""
    piece: str | None = None
    """That piece of a long text, where it is not the whole."""
    confidence: float | None = None
    """How likely it is to be what was asked for; None where it was not judged."""
    conflicts_with: tuple[ConflictingMemory, ...] = ()
    """Memories that it seems to contradict, shown or not, newest first."""

    @property
    def outdated_by(self) -> ConflictingMemory | None:
        """The newest memory that says otherwise and is later than this one."""
        return next((each for each in self.conflicts_with if each.is_newer), None)


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a search, best first."""

    query: str
    hits: tuple[Hit, ...]
    mode: Mode
    """Which searches found something."""
    note: str | None = None
    """What the caller should know of how it was made: that meaning was not searched, or that texts wait for
    a vector, that it was not re-ranked, or not ranked as tuned."""
    profile: str = ""
    strategy: str | None = None
    """What kind of question the router took it for; None where the profile does not route."""
    time: TimePhrase | None = None
    """The time that the query speaks of, if it does."""
    left_out: int = 0
    """Hits beyond the budget of tokens."""
    confidence: float | None = None
    """How likely the store is to hold an answer at all; None where nothing was asked, or nobody judged."""
    abstained: bool = False
    """Nothing seemed to answer, and the caller wanted no guesses."""
    withheld: int = 0
    """Hits that were left out as too unlikely."""
    unread: int = 0
    """Further hits that are not worth reading, and were left out because the caller named no limit."""
    trace: Trace | None = field(default=None, repr=False, compare=False)
    """What the log keeps of it; None where it keeps nothing."""

    @property
    def doubtful(self) -> bool:
        """Nothing here seems to answer; the hits are the nearest there is."""
        return self.confidence is not None and self.confidence < UNLIKELY

    @property
    def event(self) -> str | None:
        """By which `feedback` knows this answer, once it was noted."""
        return None if self.trace is None else self.trace.handle


@dataclass(frozen=True, slots=True)
class ReindexResult:
    model: Model
    embedded: int
    switched: bool
    """The store used another model before."""


@dataclass(frozen=True, slots=True)
class ModelProposal:
    """Another model would suit the languages of this memory better."""

    model: str
    reason: str
    commands: tuple[str, ...]
    """What to run, in this order."""

    @property
    def text(self) -> str:
        return f"{self.reason} Run: {', then: '.join(self.commands)}"


@dataclass(frozen=True, slots=True)
class EmbedResult:
    """What became of texts that waited for a vector."""

    embedded: int = 0
    problem: str | None = None
    """Why some must go on waiting, if so."""
    model_note: str | None = None
    """What the languages of the texts mean for the model: that it was chosen or changed, or what to run."""
