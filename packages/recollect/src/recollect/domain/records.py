"""The frozen values of the domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, fields, replace
from datetime import date, datetime  # dataclass fields: read at run time by typing.get_type_hints
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypedDict

from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import HIDDEN, LISTED, Record, in_json
from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from recollect.language.time_phrases import TimePhrase
    from recollect.ranking.candidates import Profile


AsOf = datetime | date | str
"""A past moment: a time with a zone, a day, or either as an ISO 8601 text."""


class Kind(StrEnum):
    """The kind of a memory."""

    ENTITY = "entity"
    NOTE = "note"
    MESSAGE = "message"


class Status(StrEnum):
    """The user's status of a memory."""

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
            raise InvalidInput(f"No status named {word!r}; the statuses are: {allowed}.") from None


_SPANISH = {
    f"{stem}{ending}": status
    for stem, status in zip(("activ", "pausad", "completad", "archivad"), Status, strict=True)
    for ending in "oa"
}


class Consolidation(StrEnum):
    """The stage of a memory's consolidation. Dreams set it; ranking ignores it."""

    STAGED = "staged"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner and agent of a memory. Two scopes never see or influence one another.

    Examples:
        >>> memory.scoped("ana", "planner").remember("Ana prefers tea").id
        6
        >>> memory.get(6) is None
        True
    """

    owner: str = ""
    agent: str | None = ""
    """With None, all agents of the owner, and memories without an agent. Only for reading."""


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token for the use of a server over HTTP. The token itself is not stored."""

    name: str
    digest: str = field(metadata=HIDDEN)
    """The SHA-256 of the token, in hexadecimal."""
    right: str
    """read, write or admin."""
    sees: Annotated[Scope | None, "The only scope that its holder sees; null: every scope"]
    created_at: datetime
    used_at: Annotated[datetime | None, "Its last use, to within a few minutes"] = None


@dataclass(frozen=True, slots=True)
class Observation(Record):
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
    """The memory that corrects it, if it was superseded because it nearly repeats an error."""
    deleted_at: datetime | None = None

    @property
    def in_force(self) -> bool:
        """Whether it is neither superseded nor deleted."""
        return self.superseded_at is None and self.deleted_at is None


@dataclass(frozen=True, slots=True)
class Revision(Record):
    """A former text."""

    text: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Absence(Record):
    """A period in which a memory was forgotten or superseded."""

    why: str
    """`forgotten` or `superseded`."""
    since: datetime
    until: datetime


def note_field(about: str) -> Any:
    """Declare an optional text of a note. The store has a column for it; all interfaces show and set it."""
    return field(default=None, metadata={**LISTED, "note_field": about})


class NoteFields(TypedDict, total=False):
    """The arguments of `remember` and `update` for the fields that `note_field` declares in `Memory`."""


@dataclass(frozen=True, slots=True)
class Memory(Record):
    """One memory of any kind. Fields that a kind does not use keep their default.

    Examples:
        >>> note = memory.get(1)
        >>> note
        Memory(id=1, kind='note', text='Marisol Vega is allergic to nuts', date=2026-03-01 12:00)
        >>> note.to_dict()["tags"]
        ['health']
    """

    id: int
    kind: Kind
    scope: Scope = field(metadata=in_json(inline=True))
    created_at: datetime
    updated_at: datetime
    happened_at: datetime | None = None
    # an entity
    name: str = field(default="", metadata=LISTED)
    type: str = ""
    observations: tuple[Observation, ...] = ()
    # a note or a message
    text: str = ""
    category: str | None = field(default=None, metadata=LISTED)
    source: str | None = field(default=None, metadata=LISTED)
    session: str | None = field(default=None, metadata=LISTED)
    position: int | None = None
    role: str | None = None
    speaker: str | None = field(default=None, metadata=LISTED)
    undated: bool = False
    """The time of the message is unknown; `created_at` is when it was stored."""
    drawn_from: int | None = None
    """The message from which a note was extracted."""
    tags: tuple[str, ...] = field(default=(), metadata=LISTED)
    mentions: tuple[int, ...] = field(default=(), metadata=HIDDEN)
    """The entities that it mentions."""
    about: tuple[int, ...] = field(default=(), metadata=HIDDEN)
    """The mentioned entities that the caller named."""
    former: tuple[Revision, ...] = field(default=(), metadata=HIDDEN)
    """Former texts, oldest first."""
    similar_to: int | None = None
    similarity: float | None = None
    # its state
    absences: tuple[Absence, ...] = field(default=(), metadata=HIDDEN)
    """Periods in which it was forgotten or superseded, oldest first."""
    status: Status = field(default=Status.ACTIVE, metadata=LISTED)
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
    superseded_by: int | None = field(default=None, metadata=LISTED)
    superseded_at: datetime | None = None
    deleted_at: datetime | None = None
    expires_at: datetime | None = field(default=None, metadata=LISTED)
    """For notes: after this time, only searches about earlier times find it."""
    # A program's own data
    ref: str | None = field(default=None, metadata=HIDDEN)
    """For notes: a name from the program that stored it. At most one note in force of a scope has it."""
    metadata: Mapping[str, Any] | None = field(default=None, hash=False, metadata=HIDDEN)
    """For notes and messages: a JSON object from the caller."""

    @property
    def in_force(self) -> tuple[Observation, ...]:
        """The current observations, oldest first."""
        return tuple(observation for observation in self.observations if observation.in_force)

    @property
    def summary(self) -> str:
        """The text of a note or message; the name and current observations of an entity."""
        known = "; ".join(each.content for each in self.in_force)
        return self.text or (f"{self.name}: {known}" if known else self.name)

    def __cells__(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "kind": str(self.kind),
            "text": self.summary,
            "date": self.happened_at or self.created_at,
        }


NOTE_FIELDS: Mapping[str, str] = {
    each.name: each.metadata["note_field"] for each in fields(Memory) if "note_field" in each.metadata
}
"""The fields declared with `note_field`, by name, with their descriptions."""

_ASSISTANTS = frozenset({"assistant", "ai", "bot", "model"})


def is_assistant(role: str | None) -> bool:
    """Whether a role means an assistant, by any of the names that clients use."""
    return (role or "").lower() in _ASSISTANTS


def memory_at(memory: Memory, at: datetime | None) -> Memory:
    """Return the memory as it was at a moment, or as it is now if `at` is None."""
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
        superseded_by=memory.superseded_by if _has_passed(memory.superseded_at, at) else None,
        superseded_at=memory.superseded_at if _has_passed(memory.superseded_at, at) else None,
        deleted_at=memory.deleted_at if _has_passed(memory.deleted_at, at) else None,
    )


def _seen_at(observation: Observation, at: datetime) -> Observation:
    superseded = _has_passed(observation.superseded_at, at)
    return replace(
        observation,
        superseded_by=observation.superseded_by if superseded else None,
        superseded_at=observation.superseded_at if superseded else None,
        corrected_by=observation.corrected_by if superseded else None,
        deleted_at=observation.deleted_at if _has_passed(observation.deleted_at, at) else None,
    )


def _has_passed(moment: datetime | None, at: datetime) -> bool:
    return moment is not None and moment <= at


@dataclass(frozen=True, slots=True)
class Relation(Record):
    """A directed link between two entities, and the period in which it is valid."""

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
    """A piece of a memory that has its own vector."""

    id: int
    memory: int
    scope: Scope
    text: str
    """The text for the embedder: the passage, with its subject."""
    piece: str | None = None
    """The piece without its subject; None if it is the whole text."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement in a message that is worth a note."""

    message: int
    """The id of the message that says it."""
    text: str
    """Clear without the message, except that it may leave out the name of the speaker."""
    category: str
    importance: float = 0.5
    happened_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Model(Record):
    """An embedding model. Vectors of models with different names are never compared."""

    name: str
    dims: int
    centre: bytes | None = field(default=None, repr=False, metadata=HIDDEN)
    """The centre of this model's vectors, as packed float32. It depends on the model only, so that no scope's
    texts influence another's shortlist. If None, all searches are exact scans."""
    rotation: bytes | None = field(default=None, repr=False, compare=False, metadata=HIDDEN)
    """A rotation that puts most information into the first numbers: `dims // 3` orthonormal rows of `dims`
    numbers, as packed float16. None if no rotation is known, or none is needed (Matryoshka models).
    Only stores use it: views return models without it.
    """


class Found(NamedTuple):
    """A memory that a search of the store found. A higher score is better."""

    id: int
    score: float
    passage: int | None = None


@dataclass(frozen=True, slots=True)
class Session(Record):
    """A conversation."""

    name: str
    turns: int
    first_at: datetime
    last_at: datetime
    speakers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PastQuestion:
    """A question, and the memories shown for it, best first."""

    query: str
    profile: str | None
    shown: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DreamRecord(Record):
    """A past dream."""

    id: int
    at: datetime
    phases: tuple[str, ...]
    report: Mapping[str, Any]
    """The result in numbers and ids."""
    undone_at: datetime | None = None


Arm = Literal["ours", "baseline", "interleaved"]
"""Which ranking the caller saw: the profile's, the baseline's, or both in turns (earlier versions)."""


class AnswerFeedback(NamedTuple):
    """Feedback on a memory that an answer showed."""

    id: int
    kind: Annotated[str, "opened, recalled, or said: given explicitly"]
    grade: Annotated[float, "From -1 (wrong) to 1 (helpful)"]


@dataclass(frozen=True, slots=True)
class LoggedAnswer(Record):
    """An answer in the log."""

    id: int
    at: datetime
    handle: Annotated[str, "Pass it to `feedback`"] = field(metadata=in_json(key="event"))
    session: str
    query: str
    profile: str
    version: Annotated[int, "Version of the tuned numbers; 0: the published ones"]
    arm: Annotated[Arm, "ours: the profile's ranking was shown; baseline: the baseline's"]
    against: str
    """Name of the baseline."""
    shown: tuple[int, ...]
    ranked: Annotated[tuple[int, ...], "Ids in the profile's order"]
    baseline: Annotated[tuple[int, ...], "Ids in the baseline's order"]
    candidates: bytes = field(repr=False, metadata=HIDDEN)
    """The input of the ranking, packed."""
    feedback: tuple[AnswerFeedback, ...] = ()


@dataclass(frozen=True, slots=True)
class LogSize:
    """Numbers of a scope's answers in the log."""

    events: int
    treated: int
    """Answers of which at least a part was ranked by the profile."""
    judged: int
    """Answers with feedback of any kind."""
    profile: str = ""
    """The profile whose answers are counted; empty: all profiles."""


@dataclass(frozen=True, slots=True)
class Tuned(Record):
    """Tuned numbers, which replace the published numbers of a profile. The newest version is in use."""

    version: int
    profile: str
    at: datetime
    knobs: Mapping[str, float]
    """Empty: the published numbers."""
    why: Literal["run", "set", "reset", "rollback"]
    report: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Counts(Record):
    """How much a store holds."""

    entities: int
    notes: int
    messages: int
    observations: int
    relations: int
    forgotten: int
    passages: int
    vectors: int
    """Vectors of the model in use, of live memories."""
    due: int
    """Live passages that wait for a vector."""
    scopes: int
    unnoted: int
    """Answers whose use could not be recorded since the store was created."""
    bytes: int
    schema: int
    """The version of the store's schema."""


@dataclass(frozen=True, slots=True)
class ScopeCounts:
    """How much of a store belongs to an owner, besides the memories of each kind."""

    observations: int
    relations: int
    forgotten: int
    vectors: int
    """Vectors of the model in use, of live memories."""
    due: int
    """Live passages that wait for a vector."""


@dataclass(frozen=True, slots=True)
class Problem(Record):
    """A problem that `verify` found."""

    what: str
    where: str
    repairable: bool
    """Only derived data can be repaired: indexes, vectors, the cache."""


# A query: what is asked, which memories may answer it, and how the answer is made.


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search may return. It is applied before the limit, so that hits are not lost."""

    owner: str = ""
    agent: str | None = ""
    """With None, all agents of the owner."""
    kinds: frozenset[Kind] = frozenset(Kind)
    session: str | None = None
    """Only texts of this session. With None, all texts."""
    current: str | None = None
    """Search only the messages of this session, and all notes and entities. None: all messages."""
    tags: frozenset[str] = frozenset()
    """Only memories with all these tags."""
    refs: frozenset[str] | None = None
    """Only notes with one of these names from programs. None: any."""
    category: str | None = None
    """Only texts of this category. None: any, and entities."""
    speaker: str | None = None
    """Only texts of exactly this speaker."""
    about: int | None = None
    """Only texts that mention this entity."""
    span: tuple[int, int] | None = None
    """Only texts whose event, or else creation, is in this span, in microseconds since 1970."""
    as_of: datetime | None = None
    """The store's state at that time: what was known and in force."""
    superseded: bool = False
    """Include superseded memories."""
    deleted: bool = False
    """Include forgotten memories. Only for `page`: searches never find them."""
    expired_by: int | None = None
    """Leave out notes that expired by this time, in microseconds since 1970. None: keep them."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question with its options, as the searches and the ranking read it."""

    text: str
    now: int
    """The time of the question, or its `as_of`: microseconds since 1970, UTC."""
    limit: int
    limit_given: bool = False
    """The caller chose the limit; the default says nothing about the question."""
    span: tuple[int, int] | None = None
    """The time that the query mentions, if any: from NEVER or until ALWAYS where it is open."""
    next_span: tuple[int, int] | None = None
    """If `span` is the last such month or weekday: the next one, which may be meant instead."""
    time_words: tuple[str, ...] = ()
    """Words of that time to search for, because texts may contain them: `September`, `1944`."""
    # Input of the searches
    where: Filter = field(default_factory=Filter)
    search_text: str = ""
    """The text to search for. If the profile uses time, it lacks the time words."""
    vector: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Vector of `search_text`. None: no search by meaning."""
    tokens: NDArray[np.float32] | None = field(default=None, compare=False, repr=False)
    """Vectors of its tokens, as rows. None: tokens are not compared."""
    session: str | None = None
    """The current session. The query itself may be one of its messages, which is then dropped."""
    time: TimePhrase | None = None
    """The words that mention a time, and its meaning."""
    only_time: bool = False
    """The query has no topic besides the time."""
    # How the answer is made, as in `RecallOptions`
    explain: bool = False
    record: bool = True
    """False: the answer leaves no trace in the store."""
    defer_recording: bool = False
    """The caller records later what it showed, so the answer may be part of a trial."""
    budget_tokens: int | None = None
    rerank: bool | None = False
    tuned: bool = True
    """Use the tuned numbers. False: use the published ones, and take part in no trial."""
    min_confidence: float | None = None
    abstain: bool = False
    with_confidence: bool = True
    parts: tuple[Query, ...] = ()
    """The single queries, if the tuner ranks several at once."""

    @property
    def queries(self) -> tuple[Query, ...]:
        return self.parts or (self,)


@dataclass(frozen=True, slots=True)
class RecallOptions:
    """Options of `recall`, `search` and `why_not` that few callers need.

    Examples:
        >>> options = recollect.RecallOptions(min_confidence=0.5, abstain=True)
        >>> len(memory.recall("the boiling point of tungsten", options=options))
        0
    """

    category: str | None = None
    """Only texts of this category."""
    rerank: bool | None = None
    """Let a model rank the first hits again. None: as the setting `rerank` says."""
    min_confidence: float | None = None
    """Leave out hits that are less likely than this to answer."""
    abstain: bool = False
    """Return no hits if none seems to answer."""
    tuned: bool = True
    """Use the tuned numbers of a named profile; False: the published ones."""
    defer_recording: bool = False
    """Record nothing now. The caller later passes the hits that it showed to `record_shown`."""
    with_confidence: bool = True
    """Estimate how likely the answer and each hit are."""


class SearchArguments(TypedDict, total=False):
    """The arguments of `recall` that `search` and `why_not` take as well."""

    limit: int | None
    profile: str | Profile
    kinds: Collection[str]
    session: str | None
    as_of: AsOf | None
    tags: Iterable[str]
    include_superseded: bool
    options: RecallOptions | dict[str, Any] | None


def recall_arguments(given: Mapping[str, Any]) -> dict[str, Any]:
    """Turn flat arguments into those of `recall`: rare ones move into `options`."""
    names = {each.name for each in fields(RecallOptions)}
    rare = {name: value for name, value in given.items() if name in names}
    return {
        **{name: value for name, value in given.items() if name not in names},
        "options": RecallOptions(**rare),
    }
