"""Results of the use cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple, Self

from recollect.domain.changes import Added
from recollect.domain.json_values import HIDDEN, Record, Rows, in_json, omitted
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import UNLIKELY
from recollect.domain.records import Memory, Model, Relation

if TYPE_CHECKING:
    from recollect.language.time_phrases import TimePhrase
    from recollect.ranking.candidates import Reason
    from recollect.search.recording import Trace


Mode = Literal["hybrid", "meaning", "words"]


@dataclass(frozen=True, slots=True)
class RejectedRow(Record):
    """A row of a batch that was not stored."""

    index: Annotated[int, "Its index in the batch, from 0"]
    reason: str


@dataclass(frozen=True, slots=True)
class SimilarObservation(Record):
    """A new observation that nearly repeats an older one. Both are kept."""

    observation: int
    content: str
    similar_to: int
    similar_content: str
    similarity: float


@dataclass(frozen=True, slots=True)
class ContradictedObservation(Record):
    """A new observation that seems to contradict an older one. Both are kept."""

    observation: int
    content: str
    contradicts: int
    contradicted_content: str


@dataclass(frozen=True, slots=True)
class ObservedEntity(Record):
    """The result for one entity: it was created, or it gained observations."""

    id: int
    name: str
    created: bool
    added: tuple[Added, ...]
    similar: tuple[SimilarObservation, ...] = ()
    took_type: str | None = None
    kept_type: str | None = None
    contradicts: tuple[ContradictedObservation, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the write changed it."""
        return bool(self.created or self.added or self.took_type)


@dataclass(frozen=True, slots=True)
class ObservedBatch(Rows[ObservedEntity]):
    """Entities that were created or gained observations. Iterating gives the result of each."""

    __rows__ = "entities"
    entities: tuple[ObservedEntity, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why search by meaning cannot find the new texts yet, if so."""
    model_note: str | None = None
    """A note on the model and the languages of the texts: it was chosen or switched, or a command to run."""


@dataclass(frozen=True, slots=True)
class SimilarMemory(Record):
    """A memory that says nearly the same. Both are kept."""

    id: int
    text: str
    similarity: float = field(metadata=in_json(digits=3))


@dataclass(frozen=True, slots=True)
class ConflictingMemory(Record):
    """A memory in force that another one seems to contradict. Both are kept."""

    id: int
    text: str = field(metadata=in_json(letters=120))
    """The text; for an entity, the observation."""
    is_newer: Annotated[bool, "It is newer, so it is probably the valid one"]
    at: datetime | None = omitted()
    """When it happened, else when it was said."""
    observation: int | None = field(default=None, metadata=HIDDEN)
    """For an entity, the id of the observation."""


@dataclass(frozen=True, slots=True)
class Remembered(Record):
    """The result of storing one note.

    Examples:
        >>> memory.remember("The release is on 12 March").created
        False
    """

    id: int
    text: str = field(metadata=HIDDEN)
    created: Annotated[bool, "False: it existed, and its count was raised"]
    category: str | None = field(default=None, metadata=HIDDEN)
    mentions: tuple[str, ...] = field(default=(), metadata=in_json(most=50, letters=400))
    similar: SimilarMemory | None = omitted()
    model_note: Annotated[str | None, "Advice on a better model for the text's language"] = omitted(
        key="note"
    )
    """If a step after the write failed, it first says which and why."""
    contradicts: Annotated[tuple[ConflictingMemory, ...], "Notes in force that it seems to contradict"] = (
        omitted(())
    )
    """The most similar first. `supersede` marks those that are no longer valid."""


@dataclass(frozen=True, slots=True)
class RememberedBatch(Rows[Remembered]):
    """Notes that were stored. Iterating gives the result of each."""

    __rows__ = "notes"
    notes: tuple[Remembered, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = omitted()
    model_note: str | None = omitted()


@dataclass(frozen=True, slots=True)
class AddMessagesResult(Record):
    """The result for the turns of a conversation."""

    session: str
    ids: tuple[int, ...]
    """The messages in the order given; those that were rejected are left out."""
    created: int
    notes: tuple[Remembered, ...] = ()
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None
    """Why search by meaning cannot find something yet, or why extraction failed, if so."""
    model_note: str | None = None


@dataclass(frozen=True, slots=True)
class RetiredMemory(Record):
    """A memory, or an observation of an entity, that a correction superseded."""

    id: int
    text: str
    observation: int | None = None


@dataclass(frozen=True, slots=True)
class SupersedeResult(Record):
    """A correction: the new memory, and those that it replaced."""

    by: Memory = field(metadata=HIDDEN)
    retired: Annotated[tuple[RetiredMemory, ...], "The named memories first, then their near-copies"]
    similar: Annotated[tuple[SimilarMemory, ...], "Similar memories, which stay in force"] = ()
    model_note: str | None = omitted()
    note: str | None = omitted()
    JSON_PROPERTIES = ("id",)

    @property
    def id(self) -> Annotated[int, "The memory that is now valid"]:
        return self.by.id


PURGE_WAITS = (
    "A process that is reading the store still holds its former pages. After that, the next write, or "
    "closing or opening the store, overwrites them."
)


class PurgeResult(int):
    """The number of permanently deleted memories."""

    note: str | None
    """Set if the store's files may still contain parts of them."""

    def __new__(cls, count: int, note: str | None = None) -> Self:
        made = super().__new__(cls, count)
        made.note = note
        return made


@dataclass(frozen=True, slots=True)
class HistoryEvent(Record):
    """An event in the history of a memory."""

    at: datetime
    what: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class History(Rows[HistoryEvent]):
    """The events of a memory. Iterating gives them, oldest first."""

    __rows__ = "events"
    memory: Memory
    events: tuple[HistoryEvent, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class ContextItem(Record):
    """One entry of a context."""

    id: int | None
    """Missing (None) for a turn outside the store."""
    kind: str
    """`turn`, or the kind of the memory."""
    text: str
    at: datetime | None
    source: str
    """The speaker and the place, or the kind of memory."""
    line: str
    score: float | None = None

    def __cells__(self) -> dict[str, Any]:
        return {"score": self.score, "id": self.id, "kind": self.kind, "text": self.text, "date": self.at}


@dataclass(frozen=True, slots=True)
class Context(Rows[ContextItem]):
    """A text for an agent to read before it answers, and the memories in it.

    `str(context)` is the text. Iterating gives the memories. It is true if it has a text.

    Examples:
        >>> context = memory.context("What may I cook for Marisol?", budget_tokens=200)
        >>> context[0].id
        1
    """

    __rows__ = "memories"
    query: str
    memories: tuple[ContextItem, ...]
    turns: tuple[ContextItem, ...]
    text: str
    tokens: int
    budget_tokens: int
    left_out: int
    """Relevant memories that did not fit the budget."""
    confidence: float = 1.0
    """The probability that a memory helps, as in `Answer`. If it is low, no memories are returned."""
    note: str | None = None

    def __bool__(self) -> bool:
        return bool(self.text)

    def __str__(self) -> str:
        return self.text

    def __cells__(self) -> dict[str, Any]:
        return {"query": self.query, "tokens": self.tokens, "turns": self.turns or None, "note": self.note}


@dataclass(frozen=True, slots=True)
class RelationResult(Record):
    source: str
    target: str
    type: str
    created: bool
    """False: it already existed."""
    inverse: bool
    """The inverse relation exists too."""
    also_created: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RelatedBatch(Rows[RelationResult]):
    """Relations that were created or already existed. Iterating gives the result of each."""

    __rows__ = "relations"
    relations: tuple[RelationResult, ...]
    rejected: tuple[RejectedRow, ...] = ()
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Graph(Rows[Memory]):
    """Entities, and the relations in force that start or end at one of them. Iterating gives the entities.

    Examples:
        >>> graph = memory.graph.read_graph()
        >>> len(graph), len(graph.relations)
        (2, 1)
    """

    __rows__ = "entities"
    entities: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    cursor: int | None = None
    """Pass it as `after` for the next page; None: this was the last."""


@dataclass(frozen=True, slots=True)
class MemoryPage(Rows[Memory]):
    """Some memories of a longer list."""

    __rows__ = "memories"
    memories: tuple[Memory, ...]
    cursor: int | None = None


@dataclass(frozen=True, slots=True)
class Neighbourhood(Record):
    """Entities around one, the nearest first, and the relations in force that lead to them."""

    entities: tuple[tuple[Memory, int], ...]
    """Each with its distance in relations."""
    relations: tuple[Relation, ...]
    is_cut: bool = False
    """There are more than the query visits."""


@dataclass(frozen=True, slots=True)
class GraphPaths(Record):
    """Paths from one entity to another, over relations in force in either direction, shortest first."""

    paths: tuple[tuple[Relation, ...], ...]
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """The rank and the score of a memory in one search."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit(Record):
    """A memory that a search found, with the reasons for its rank.

    Examples:
        >>> hit = memory.recall("nuts", kinds="note")[0]
        >>> hit.text
        'Marisol Vega is allergic to nuts'
        >>> 0 <= hit.confidence <= 1
        True
    """

    __merged__: ClassVar[tuple[str, ...]] = ("memory",)
    memory: Memory
    score: float
    places: Mapping[str, Place] = field(default_factory=dict, hash=False)
    """The place in each search that found it: `words` (score: BM25), `meaning` (cosine), `nearby` (share of
    the query around it) and `linked` (strength of its relation to the entities that the query names).
    """
    scores: Mapping[str, float] = field(default_factory=dict, hash=False)
    """Intermediate scores that a profile records, such as `limbic_score`."""
    reasons: tuple[Reason, ...] = ()
    """The effect of each step, if asked for; together they give the score exactly."""
    passage: str | None = None
    """The passage nearest in meaning, as the model read it."""
    piece: str | None = None
    """The same passage as text, if it is only a part of a long text."""
    confidence: float | None = None
    """The probability that it answers the question, if estimated."""
    conflicts_with: tuple[ConflictingMemory, ...] = ()
    """Memories that it seems to contradict, shown or not, newest first."""

    @property
    def text(self) -> str:
        """The text of a note or message; the name and current observations of an entity."""
        return self.memory.summary

    @property
    def outdated_by(self) -> ConflictingMemory | None:
        """The newest memory that seems to contradict this one and is newer."""
        return next((each for each in self.conflicts_with if each.is_newer), None)

    def __cells__(self) -> dict[str, Any]:
        newer = None if self.outdated_by is None else f"older than #{self.outdated_by.id}"
        cells = {"score": self.score, "confidence": self.confidence, **self.memory.__cells__()}
        return cells if newer is None else {**cells, "note": newer}


@dataclass(frozen=True, slots=True)
class Answer(Rows[Hit]):
    """The hits of a search, best first: a sequence with a summary.

    It is true if it has hits and one of them seems to answer. A `doubtful` answer is false, though its hits,
    the nearest memories, can be read.

    Examples:
        >>> answer = memory.recall("nuts", kinds="note")
        >>> len(answer), bool(answer)
        (1, True)
        >>> for hit in answer:
        ...     print(hit.memory.id, hit.text)
        1 Marisol Vega is allergic to nuts
        >>> answer.to_dicts()[0]["kind"]
        'note'
    """

    __rows__ = "hits"
    query: str
    hits: tuple[Hit, ...]
    mode: Mode
    """The searches that found something."""
    note: str | None = None
    """A note on how the answer was made: meaning was not searched, texts wait for a vector, it was not
    re-ranked, or not ranked as tuned.
    """
    profile: str = ""
    strategy: str | None = None
    """The router's class of the query; None if the profile does not route."""
    time: TimePhrase | None = None
    left_out: int = 0
    """Hits beyond the budget of tokens."""
    confidence: float | None = None
    """The probability that the store has an answer; None for an empty query, or if not estimated."""
    abstained: bool = False
    """No hits, because none seemed to answer and the caller set `abstain`."""
    withheld: int = 0
    """Hits left out because of `abstain` or `min_confidence`."""
    unread: int = 0
    """Further hits that are not worth reading, and were left out because the caller named no limit."""
    trace: Trace | None = field(default=None, repr=False, compare=False)

    @property
    def doubtful(self) -> bool:
        """Whether no hit seems to answer; the hits are the nearest."""
        return self.confidence is not None and self.confidence < UNLIKELY

    def __bool__(self) -> bool:
        return bool(self.hits) and not self.doubtful

    def __cells__(self) -> dict[str, Any]:
        left_out = self.left_out + self.withheld or None
        doubt = "nothing here seems to answer that" if self.doubtful else None
        note = "; ".join(filter(None, (doubt, self.note))) or None
        return {"query": self.query, "confidence": self.confidence, "left_out": left_out, "note": note}

    @property
    def event(self) -> str | None:
        """The id of this answer for `feedback`; None if it was not logged."""
        return None if self.trace is None else self.trace.handle


@dataclass(frozen=True, slots=True)
class ReindexResult(Record):
    """The number of texts embedded, and the model."""

    model: Model
    embedded: int
    switched: bool
    """The store used another model before."""


@dataclass(frozen=True, slots=True)
class ModelProposal(Record):
    """Another model would suit the languages of this memory better."""

    model: str
    reason: str
    commands: tuple[str, ...]

    @property
    def text(self) -> str:
        return f"{self.reason} Run: {', then: '.join(self.commands)}"


@dataclass(frozen=True, slots=True)
class EmbedResult(Record):
    """The result for texts that waited for a vector."""

    embedded: int = 0
    problem: str | None = None
    """Why some texts still wait, if so."""
    model_note: str | None = None


# Results of browsing.


@dataclass(frozen=True, slots=True)
class MemoryVersion(Record):
    """The text of a memory between two moments."""

    text: str
    since: datetime
    until: datetime | None
    """Missing (None) for the current text."""


@dataclass(frozen=True, slots=True)
class Showing(Record):
    """An answer that showed a memory."""

    at: datetime
    place: int
    """From 1, the best."""
    query: str | None
    """Missing (None) if it was opened by its name or id, or the log keeps no queries."""
    profile: str | None
    answer: int | None
    """The answer's id in the log, if it is still there."""


@dataclass(frozen=True, slots=True)
class Usage(Record):
    """How often a memory was shown, and when."""

    shown: int
    opened: int
    """Logged answers after which it was opened."""
    days: int
    last_at: datetime | None
    """Missing (None) if never."""


class MemoryLink(NamedTuple):
    """A memory that often appears together with another, and in how many answers."""

    memory: Memory
    answers: int


@dataclass(frozen=True, slots=True)
class WholeMemory(Record):
    """A memory with everything that is stored about it. Lists have a maximum length."""

    memory: Memory
    versions: tuple[MemoryVersion, ...]
    """Oldest first. Empty for an entity, whose observations have their own times."""
    events: tuple[HistoryEvent, ...]
    supersedes: tuple[Memory, ...]
    superseded_by: Memory | None
    mentions: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    drawn: tuple[Memory, ...]
    """Notes extracted from this message."""
    neighbours: tuple[Memory, ...]
    """The turns around it in its conversation, itself included."""
    similar: tuple[SimilarMemory, ...]
    """In force, the most similar first."""
    conflicts: tuple[ConflictingMemory, ...]
    links: tuple[MemoryLink, ...]
    usage: Usage
    showings: tuple[Showing, ...]
    """The newest first."""


@dataclass(frozen=True, slots=True)
class BrowsePage(Rows[Memory]):
    """Some memories of a longer list."""

    __rows__ = "memories"
    memories: tuple[Memory, ...]
    cursor: Annotated[str | None, "Pass it on for what comes after; absent at the end"] = omitted()
    note: Annotated[str | None, "Parts missing from the list"] = omitted()


@dataclass(frozen=True, slots=True)
class NameCount(Record):
    """A tag or a category, and how many memories in force have it."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class EntityCounts(Record):
    """An entity, and how much is known about it."""

    entity: Memory
    observations: int
    """In force."""
    relations: int
    """In force, starting or ending at it."""
    mentions: int


@dataclass(frozen=True, slots=True)
class Bucket(Record):
    """A period of the timeline that contains memories."""

    start: datetime
    stop: datetime
    """The first moment after it."""
    count: int
