"""The types of `recollect.aio`, made from the engine by `make docs`."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar

from recollect.dreams.forecast import Forecast
from recollect.dreams.knobs import Knobs
from recollect.engine.browse import names
from recollect.engine.browse.pages import BrowseFilter, Order
from recollect.engine.browse.results import (
    BrowsePage,
    Bucket,
    EntityCounts,
    NameCount,
    WholeMemory,
)
from recollect.engine.browse.timeline import Unit
from recollect.engine.dreams.dreaming import DreamResult
from recollect.engine.dreams.dreams import DreamUndoResult
from recollect.engine.engine import Engine
from recollect.engine.inputs import (
    EntityLike,
    NoteLike,
    ObservationLike,
    RelationLike,
    TurnLike,
)
from recollect.engine.results import (
    AddMessagesResult,
    Answer,
    Context,
    EmbedResult,
    Graph,
    GraphPaths,
    History,
    MemoryPage,
    ModelProposal,
    Neighbourhood,
    ObservedBatch,
    PurgeResult,
    ReindexResult,
    RelatedBatch,
    Remembered,
    RememberedBatch,
    SupersedeResult,
)
from recollect.engine.self_test.results import SelfTest
from recollect.engine.tuning.answers import AnswerReplay
from recollect.engine.tuning.confidence_curve import ConfidenceCurve
from recollect.engine.tuning.tuning import (
    AnswerLogStatus,
    ProfileNumbers,
    TuningAnalysis,
    TuningChange,
)
from recollect.engine.upkeep.decisions import SettleKind
from recollect.engine.upkeep.results import (
    ConsolidationReport,
    Duplicates,
    SplitAnalysis,
    SplitProposal,
    SplitResult,
    SplitUndo,
    UndoSplitResult,
)
from recollect.engine.upkeep.settling import SettleAction, SettleUndo, ToSettle
from recollect.engine.upkeep.split import PartLike
from recollect.engine.upkeep.store_state import BackupFile, StoreState
from recollect.engine.why_not import WhyNot
from recollect.ports import Clock, Progress, Vector
from recollect.ranking.pipeline import Profile
from recollect.records import (
    Counts,
    DreamRecord,
    Kind,
    LoggedAnswer,
    Memory,
    Model,
    NamedToken,
    Problem,
    Scope,
    ScopeCounts,
    Session,
    Status,
    Tuned,
)

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

class AsyncEngine:
    """A memory for `async` code. It has the engine's methods and groups; each call is to be awaited."""

    def __init__(self, engine: Engine) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(self, *_: object) -> None: ...
    async def run(
        self,
        work: Callable[Concatenate[Engine, _Given], _Result],
        *args: _Given.args,
        **options: _Given.kwargs,
    ) -> _Result:
        """Call `work(engine, …)` in a thread, to its end."""
    async def close(self) -> None:
        """Let the calls under way end, write what is left to be noted, and release the file."""

    @property
    def scope(self) -> Scope:
        """Whose memory it is: what is written belongs there."""
    @property
    def reads(self) -> Scope:
        """Whose memories it shows; with the agent None, those of all agents of the owner."""
    @property
    def zone(self) -> tzinfo:
        """The time zone in which the user's days begin."""
    def scoped(self, owner: str = ..., agent: str | None = ...) -> AsyncEngine:
        """The same store, seen as another owner or agent; None: as an owner who sees all their agents.

        What such an owner writes belongs to no agent. A memory that is named by its id is changed where it
        is. Dreams, tuning and tidying are of what belongs to no agent."""
    @property
    def graph(self) -> AsyncKnowledgeGraph:
        """Observations, relations and reading of the knowledge graph."""
    @property
    def sessions(self) -> AsyncSessions:
        """The conversations of this scope."""
    @property
    def browse(self) -> AsyncBrowse:
        """Whole memories, lists of any kind, and a timeline, for a person to look at."""
    @property
    def dreams(self) -> AsyncDreams:
        """Earlier dreams, how to undo one, and what future ones would do."""
    @property
    def answers(self) -> AsyncAnswerLog:
        """The log of answers: what was asked, shown and used, and the same question now."""
    @property
    def tuning(self) -> AsyncTuning:
        """A profile's numbers: how they fare on this store's own answers, and the ways to change them."""
    @property
    def upkeep(self) -> AsyncUpkeep:
        """Care for the store, and tidying of the graph."""
    @property
    def tokens(self) -> AsyncTokens:
        """Named tokens for a server over HTTP, of the whole store."""
    async def create_entities(
        self,
        entities: Iterable[EntityLike],
        *,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its status and type and gains the new observations.

        A type `unknown` gives way to the first real one; `took_type` and `kept_type` tell what became of it.

        With `keep_going`, rows that cannot be stored are left out and named; without it, one such row
        stops the batch and nothing is written. The same `key` again is answered, not repeated. `progress`
        is told of the embedding, which follows the write."""
    async def remember(
        self,
        text: str,
        *,
        importance: float = ...,
        category: str | None = ...,
        happened_at: datetime | None = ...,
        at: datetime | None = ...,
        expires_at: datetime | None = ...,
        tags: Iterable[str] = ...,
        about: Iterable[str] = ...,
        source: str | None = ...,
        ref: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        key: str | None = ...,
    ) -> Remembered:
        """Store a note. The same words again raise its duplicate count instead of making a twin.

        It links by itself to entities whose names it mentions; `about` names more of them, which must exist.
        `at` is another name of `happened_at`, as messages have it. From `expires_at` on, no search finds it,
        though it stays; said again without one, it lasts.

        `ref` is the name by which a program knows the note: stored again under it, the note gets this text,
        and all else that is said of it now. `metadata` is a JSON object to keep with it. A note that has
        either is never one with another that says the same, and dreams leave it as it is."""
    async def remember_many(
        self, notes: Iterable[NoteLike], *, keep_going: bool = ..., key: str | None = ...
    ) -> RememberedBatch:
        """Store many notes at once: texts, or mappings with the arguments of `remember`."""
    async def add_messages(
        self,
        session: str,
        messages: Iterable[TurnLike],
        *,
        extract: bool = ...,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> AddMessagesResult:
        """Store raw turns of a session, in order: mappings with `content`, `role`, `speaker` and `at`.

        With `extract`, what is worth keeping in them also becomes notes, each pointing to its message."""
    async def update(
        self,
        id: int,
        *,
        text: str | None = ...,
        importance: float | None = ...,
        category: str | None = ...,
        happened_at: datetime | Literal["unknown"] | None = ...,
        at: datetime | None = ...,
        tags: Iterable[str] | None = ...,
        status: str | None = ...,
        pinned: bool | None = ...,
        importance_tag: str | None = ...,
        expires_at: datetime | Literal["never"] | None = ...,
        metadata: Mapping[str, Any] | None = ...,
    ) -> Memory:
        """Change what is given, and leave the rest. A former text is kept as a revision.

        `at` is another name of `happened_at`; "unknown" empties it, and an empty category takes that off.
        What is pinned or has an `importance_tag` resists forgetting; an empty tag takes it off.
        A note expires at `expires_at`; "never" takes that back, also once it has expired."""
    async def supersede(
        self, old: int, new: int | NoteLike, *, copies: bool = ..., key: str | None = ...
    ) -> SupersedeResult:
        """Retire a note or message, and its near-copies with it, in favour of another, or of a new note.

        `new` is an id, a text, or a mapping with the arguments of `remember`.

        What was retired is found by `as_of` or `include_superseded`; `restore` takes it back."""
    async def history(self, id: int) -> History:
        """What happened to a memory: its former texts, corrections, and what became of it."""
    async def context(
        self,
        asked: str | Sequence[TurnLike] | None = ...,
        *,
        query: str | None = ...,
        messages: Sequence[TurnLike] | None = ...,
        budget_tokens: int = ...,
        session: str | None = ...,
        profile: str | Profile = ...,
        as_of: datetime | None = ...,
    ) -> Context:
        """What an agent should read before it answers: recent turns and memories, within a budget.

        `asked` is a query, or the last messages of the conversation; either may be given by its name."""
    async def recall(
        self,
        query: str,
        *,
        limit: int | None = ...,
        profile: str | Profile = ...,
        kinds: Collection[str] = ...,
        explain: bool = ...,
        record: bool = ...,
        scope: Scope | None = ...,
        session: str | None = ...,
        as_of: datetime | None = ...,
        tags: Iterable[str] = ...,
        category: str | None = ...,
        include_superseded: bool = ...,
        budget_tokens: int | None = ...,
        rerank: bool | None = ...,
        min_confidence: float | None = ...,
        abstain: bool = ...,
        tuned: bool = ...,
        noted_later: bool = ...,
    ) -> Answer:
        """The best memories for a query, best first, ranked by a profile.

        Without a `limit`, those that are worth reading, one to ten; a limit is filled. Notes and entities
        are found whatever their session. Messages are those of the current `session`; without one, of all.
        With a `category`, only texts of it are found. `as_of` answers as the store stood then.

        With `explain`, every hit carries what each step found and did. What is shown is noted, as a signal
        for later rankings; with `record=False` the call leaves no trace. With `rerank`, a model reads the
        first places again with the query; without it, as the setting `rerank` says. Every hit has a
        `confidence`, and so has the answer: how likely the store is to hold one at all. `min_confidence`
        leaves out hits below it; with `abstain` there are none where nothing seems to answer.

        A profile that is named ranks with the numbers it was tuned to; with `tuned=False`, as published. One
        that is passed as a value ranks as it is."""
    async def search(
        self,
        query: str,
        *,
        limit: int | None = ...,
        profile: str | Profile = ...,
        kinds: Collection[str] = ...,
        explain: bool = ...,
        session: str | None = ...,
        as_of: datetime | None = ...,
        tags: Iterable[str] = ...,
        include_superseded: bool = ...,
        rerank: bool | None = ...,
        tuned: bool = ...,
    ) -> Answer:
        """As `recall`, without leaving a trace: for looking around."""
    async def record_shown(self, ids: Sequence[int], answer: Answer | None = ...) -> None:
        """Note that somebody was shown these, best first, as `recall` does by itself.

        `answer` is what they are the first of, asked for with `record=False` and `noted_later`."""
    async def feedback(
        self,
        memories: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = ...,
        *,
        query: str | None = ...,
    ) -> None:
        """Say how good memories were for the question that they were shown for: 1 just right, -1 wrong.

        `answer` is what `recall` gave, or its `event`; without it, the last answer that showed the memory, to
        this `query` if one is given. Said again, it is said anew. `recollect tune` learns from it."""
    async def why_not(
        self,
        query: str,
        memory: int | str,
        *,
        limit: int | None = ...,
        profile: str | Profile = ...,
        kinds: Collection[str] = ...,
        session: str | None = ...,
        as_of: datetime | None = ...,
        tags: Iterable[str] = ...,
        include_superseded: bool = ...,
        rerank: bool | None = ...,
        tuned: bool = ...,
    ) -> WhyNot:
        """Where a memory, by id or by an entity's name, stands or fell out, and what would lift it."""
    async def self_test(
        self,
        *,
        profiles: Iterable[str] = ...,
        sample: int = ...,
        limit: int = ...,
        seed: int = ...,
        languages: Iterable[str] | None = ...,
        at: datetime | None = ...,
        progress: Progress | None = ...,
    ) -> SelfTest:
        """How well this memory is found by questions made of itself, by these profiles, or by all.

        Nothing is written, and nobody is asked. `sample` memories are asked for, 0 for all; the first `limit`
        hits count. `languages` are those that the model knows, where that is known. `at` is the moment to
        ask at; without one, the end of this day. The same store, seed and moment give the same answer."""
    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every profile by name: the built-in ones, and the user's own."""
    async def get(self, id: int, *, record: bool = ...) -> Memory | None:
        """One memory of this scope by its id, forgotten or not. With `record`, it counts as opened."""
    async def get_many(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Those memories of this scope that are there, by id, forgotten or not."""
    async def list(
        self,
        *,
        kinds: Collection[str] = ...,
        category: str | None = ...,
        tags: Iterable[str] = ...,
        session: str | None = ...,
        refs: Iterable[str] | None = ...,
        include_superseded: bool = ...,
        limit: int = ...,
        after: int = ...,
    ) -> MemoryPage:
        """One page of what is remembered, the newest first; pass its `cursor` as `after` for the next.

        Notes, unless `kinds` names others; with `refs`, those that programs know by these names. It searches
        nothing and leaves no trace."""
    async def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Forget memories, so that `restore` can bring them back; returns those that were there."""
    async def restore(self, id: int) -> Memory:
        """Bring back a forgotten memory, with the relations that went with it, or a superseded one."""
    async def purge(self, before: datetime) -> PurgeResult:
        """Destroy for good what was forgotten before a time, in every scope. There is no way back.

        The result is the number of memories; its `note` says what of them is still in the file, if so."""
    async def dream(
        self,
        *,
        phases: Collection[str] | None = ...,
        without: Collection[str] = ...,
        dry_run: bool = ...,
        gate: bool = ...,
        drop_failing: bool = ...,
        knobs: Knobs | None = ...,
        progress: Progress | None = ...,
    ) -> DreamResult:
        """Sleep on it: strengthen what was used, let the rest fade, tidy up. `dreams.undo` takes it back.

        Nothing is written with `dry_run`, nor where people would no longer find what they found, unless
        `gate` is off; with `drop_failing`, only the phase that would lose something is left out."""
    async def counts(self) -> Counts:
        """Of the whole store, all scopes together."""
    async def model(self) -> Model | None:
        """The model whose vectors the store holds."""
    async def reindex(self, model: str | None = ..., progress: Progress | None = ...) -> ReindexResult:
        """Embed what has no vector yet; with another model's name, embed everything and switch to it."""

class AsyncKnowledgeGraph:
    """`memory.graph`: what one can do with entities, beside creating them."""
    async def add_observations(
        self,
        additions: Mapping[str, Sequence[ObservationLike]],
        *,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> ObservedBatch:
        """Add observations to entities that exist, by name. Near-repeats are flagged, never dropped."""
    async def create_relations(
        self,
        relations: Iterable[RelationLike],
        *,
        create_missing: bool = ...,
        keep_going: bool = ...,
        key: str | None = ...,
    ) -> RelatedBatch:
        """Connect entities. With `create_missing`, one that is absent is made, of type `unknown`."""
    async def end_relation(self, source: str, type: str, target: str, *, at: datetime | None = ...) -> None:
        """Say that a relation held until `at` (now, if not given). It stays, as history."""
    async def delete_entities(self, names: Iterable[str]) -> tuple[int, ...]:
        """Forget entities by exact name, and their relations; returns the ids, which `restore` takes.

        Names that are absent are passed over."""
    async def delete_observations(self, removals: Mapping[str, Sequence[str]]) -> int:
        """Remove observations by exact text; returns how many there were."""
    async def delete_relations(self, relations: Iterable[RelationLike]) -> int:
        """Remove relations; returns how many there were, inverses included."""
    async def set_status(self, name: str, status: str) -> Status:
        """Mark an entity as active, paused, completed or archived."""
    async def restore_observation(self, id: int) -> None:
        """Bring back an observation that was removed by itself, or superseded."""
    async def read_graph(self, *, limit: int = ..., after: int = ...) -> Graph:
        """One page of the graph, oldest entities first; pass its `cursor` as `after` for the next."""
    async def search_nodes(self, query: str, *, limit: int = ..., after: int = ...) -> Graph:
        """Entities whose name, type or observations hold the words, or the text as it stands.

        Those that hold the words come first, the best of them before the others; then those in which the text
        stands inside a word. Pass the answer's `cursor` as `after` for the next page."""
    async def open_nodes(self, names: Sequence[str], *, record: bool = ..., history: bool = ...) -> Graph:
        """Entities by name, in the order asked for, with the relations in force that touch them.

        With `history`, also the relations that ended. Names that are absent are passed over."""
    async def search_semantic(
        self,
        query: str,
        limit: int | None = ...,
        *,
        explain: bool = ...,
        record: bool = ...,
        tuned: bool = ...,
    ) -> dict[str, Any]:
        """As `find_entities`, in the form that MCP Memory v2 answers in."""
    async def find_entities(
        self,
        query: str,
        limit: int | None = ...,
        *,
        explain: bool = ...,
        record: bool = ...,
        tuned: bool = ...,
        noted_later: bool = ...,
    ) -> Answer:
        """The best entities for a query, by the limbic profile. `noted_later` is as in `recall`."""
    async def texts_about(self, name: str, *, limit: int = ...) -> Sequence[Memory]:
        """Notes and messages in force that speak of an entity, the newest first."""
    async def neighbours_of(
        self, name: str, *, depth: int = ..., as_of: datetime | None = ...
    ) -> Neighbourhood:
        """The entities within `depth` relations in force of one, in either direction, the nearest first.

        With `as_of`, those that were known and in force at that moment."""
    async def paths(self, source: str, target: str, *, depth: int = ..., limit: int = ...) -> GraphPaths:
        """How two entities are connected: ways of at most `depth` relations in force, the shortest first."""
    async def entity_id(self, name: str) -> int:
        """The id of an entity that must exist; its name may differ in case and accents."""
    async def existing_names(self, names: Iterable[str]) -> set[str]:
        """Those of the names that an entity has, letter by letter."""
    async def similar_names(self, name: str) -> Sequence[str]:
        """Names of entities that differ from this one at most in case and accents."""
    async def complete_name(self, begun: str, limit: int) -> tuple[list[str], int]:
        """Names that contain this text, those that begin with it first, and how many there are."""
    async def count_existing(self, relations: Iterable[RelationLike]) -> int:
        """How many of these relations there are."""
    async def ever_had_entities(self) -> bool:
        """Whether there is an entity, or was one that is now forgotten."""
    async def fingerprint(self) -> int:
        """A number that differs once the graph reads otherwise."""

class AsyncSessions:
    """`memory.sessions`: the conversations of a scope, and their messages."""
    async def list(self) -> Sequence[Session]:
        """The conversations of this scope, the one with the newest turn first."""
    async def turns(self, session: str, *, last: int | None = ...) -> Sequence[Memory]:
        """A session's messages in order; with `last`, only so many from its end."""
    async def neighbours(self, id: int, *, before: int = ..., after: int = ...) -> Sequence[Memory]:
        """A message with its neighbours in the session, in order."""
    async def extract(self, session: str) -> tuple[Remembered, ...]:
        """Draw notes out of a session's messages, as `add_messages` does, after the fact.

        What was drawn before is passed over, also if it was corrected or forgotten since."""
    async def forget(self, session: str) -> tuple[int, ...]:
        """Forget a conversation: its messages, and the notes that were drawn out of them. `restore` brings
        each back."""
    async def import_turns(
        self, session: str, turns: Iterable[TurnLike], *, extract: bool
    ) -> AddMessagesResult:
        """As `add_messages`, leaving out what cannot be stored, and embedding nothing yet."""

class AsyncBrowse:
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""
    async def memory(self, id: int, *, showings: int = ..., as_of: datetime | None = ...) -> WholeMemory:
        """A memory with all that the store knows of it, forgotten or not; with `as_of`, as it read then.

        `showings` is how many of the last answers that showed it are told."""
    async def page(
        self,
        wanted: BrowseFilter | None = ...,
        *,
        order: Order = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> BrowsePage:
        """Memories of any kind, filtered and sorted; pass the page's `cursor` as `after` for the next."""
    async def timeline(self, wanted: BrowseFilter | None = ..., unit: Unit = ...) -> Sequence[Bucket]:
        """How many of these memories are of each of the user's days, weeks (from Monday) or months."""
    async def tags(self) -> Sequence[NameCount]:
        """Every tag that something in force has, the most frequent first."""
    async def categories(self) -> Sequence[NameCount]:
        """Every category that something in force has, the most frequent first."""
    async def sessions(self, start: int = ..., limit: int = ...) -> tuple[Sequence[Session], int]:
        """Conversations from this place on, that with the newest turn first, and how many there are."""
    async def turns(
        self, session: str, *, after: int = ..., limit: int = ..., newest_first: bool = ...
    ) -> Sequence[Memory]:
        """Messages of a session after this position; with `newest_first`, before it (0: from the end)."""
    async def entities(
        self,
        *,
        type: str | None = ...,
        contains: str | None = ...,
        order: names.EntityOrder = ...,
        start: int = ...,
        limit: int = ...,
    ) -> Sequence[EntityCounts]:
        """Live entities with how many observations, relations and mentions each has."""

class AsyncDreams:
    """`memory.dreams`: the dreams of a scope, how to undo one, and what future ones would do."""
    async def history(self, limit: int = ..., before: int | None = ...) -> tuple[DreamRecord, ...]:
        """The dreams of this scope, the newest first; with `before`, only those before that one."""
    async def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:
        """A dream, and every change that it made, with before and after."""
    async def undone_with(self, id: int) -> tuple[int, ...]:
        """The dreams that `undo` with `later` takes back: it and those after it, the newest first."""
    async def undo(self, id: int, *, later: bool = ...) -> DreamUndoResult:
        """Put everything back as it was before a dream; what was changed since is reported and left.

        With `later`, the dreams that came after it are undone as well."""
    async def forecast(self, days: int = ...) -> Forecast:
        """What nightly dreams would do to memories that nobody uses from now on."""
    async def links(self, id: int) -> tuple[tuple[Memory, int], ...]:
        """The memories that keep coming up together with one, and in how many answers they did."""

class AsyncAnswerLog:
    """`memory.answers`: what was asked, what was shown, and what became of it."""
    async def page(
        self,
        *,
        profile: str | None = ...,
        judged: bool | None = ...,
        memory: int | None = ...,
        contains: str | None = ...,
        before: int | None = ...,
        limit: int = ...,
    ) -> Sequence[LoggedAnswer]:
        """Answers, the newest first: of a profile, with or without feedback, with feedback on a memory, or to
        questions that contain a text. `before` is the number of the last one that was seen."""
    async def get(self, id: int) -> tuple[LoggedAnswer, Mapping[int, Memory]]:
        """One answer, with the memories that it ranked and that are still there."""
    async def replay(self, id: int) -> AnswerReplay:
        """The same question now, by the profile and by what it is compared with, beside what it gave then."""

class AsyncTuning:
    """Everything that one can do to a profile's numbers."""
    async def analyze(self, profile: str | None = ...) -> TuningAnalysis:
        """How the profile fares in the log against what it is compared with."""
    async def run(
        self,
        profile: str | None = ...,
        *,
        ranges: Mapping[str, Sequence[float]] | None = ...,
        dry_run: bool = ...,
    ) -> TuningChange:
        """Look for better numbers, and take a step towards them if they are better beyond chance."""
    async def set(
        self,
        values: Mapping[str, float],
        profile: str | None = ...,
        *,
        exactly: bool = ...,
        dry_run: bool = ...,
    ) -> TuningChange:
        """Move numbers towards these by a tenth of the way, or `exactly` there."""
    async def confidence_curve(self, sample: int = ..., progress: Progress | None = ...) -> ConfidenceCurve:
        """How far the confidence of hits can be believed, by feedback, else by memories' own words."""
    async def log_status(self) -> AnswerLogStatus:
        """What the log holds, and whether it grows; and who is shown which ranking."""
    async def empty_log(self) -> int:
        """Empty the log of answers and forget what was asked; returns how many answers it held.

        What was shown still counts as used. There is no way back."""
    async def reset(self, profile: str | None = ..., *, dry_run: bool = ...) -> TuningChange:
        """Back to the published numbers."""
    async def rollback(
        self, version: int | None = ..., profile: str | None = ..., *, dry_run: bool = ...
    ) -> TuningChange:
        """Back to the numbers of a version; without one, to those before the last, and each time further."""
    async def history(self, profile: str | None = ..., limit: int = ...) -> tuple[Tuned, ...]:
        """Every set of numbers that was given, to this profile or to any, the newest first."""
    async def numbers(self, profile: str) -> ProfileNumbers:
        """Published and tuned, side by side."""

class AsyncUpkeep:
    """`memory.upkeep`: care for the store, and tidy the graph."""
    @property
    def settling(self) -> AsyncSettling:
        """What a person should decide, and the ways to decide it."""
    async def backup(self, path: str, progress: Progress | None = ...) -> None:
        """Copy the store to a new file, while others may go on writing."""
    async def backup_beside(self, progress: Progress | None = ...) -> BackupFile:
        """Copy the store into the folder of backups beside its file, under the name of this moment."""
    async def store_state(self) -> StoreState:
        """What kind of store it is, who works on it, its backups and its replica."""
    async def now(self) -> datetime:
        """The present, as this memory's clock has it."""
    async def purge_memories(self, ids: Iterable[int]) -> PurgeResult:
        """Destroy for good memories of this scope that are forgotten, each by its id. There is no way back.

        With them goes what may quote them: the questions and answers that showed them, reports of dreams."""
    async def verify(self, *, quick: bool = ...) -> Sequence[Problem]:
        """Everything that is wrong with the store; empty if nothing is.

        With `quick`, only whether all of it can be read, and texts are what was stored."""
    async def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived from the rows; returns what remains wrong.

        Of a file with damaged pages, all that can be read is carried over to a new one."""
    async def version(self) -> int:
        """Another number once anybody has written something, in this process or another."""
    def expecting(self, id: int, versions: Iterable[str]) -> AsyncEngine:
        """The same memory for one change: `Outdated`, and nothing is written, unless a memory has one of
        these versions, as `memory_version` tells them. It is checked in the change's transaction."""
    async def begin_shutdown(self) -> None:
        """Begin nothing any more: texts that lack a vector get it when the memory is next opened."""
    async def how_many(self, *, superseded: bool = ...) -> Mapping[Kind, int]:
        """The live memories of this scope, by kind; with `superseded`, those too."""
    async def own_counts(self) -> ScopeCounts:
        """How much this scope holds beside its memories; nothing of what others keep in the same store."""
    async def size(self) -> tuple[int, int]:
        """How many bytes the whole store takes, and the version of its form."""
    async def store_id(self) -> str:
        """Of each store another one, also of a copy."""
    async def session_count(self) -> int:
        """How many conversations there are, in every scope."""
    async def scopes(self) -> Sequence[Scope]:
        """Every scope of the store that anybody ever wrote to, whatever is left in it; no memory is read."""
    async def notes_by_scope(self) -> Mapping[Scope, int]:
        """Every scope of the store that holds something live, with the number of its notes in force."""
    async def scope_of_memory(self, id: int) -> Scope | None:
        """Whose memory this is, in the whole store; also one that is forgotten. None: nobody's."""
    async def ids_after(self, after: int, limit: int) -> list[int]:
        """The ids of the live memories of this scope that are greater than `after`, the lowest first."""
    async def passages_without_tokens(self) -> int:
        """How many passages got their vectors before tokens were kept; 0 where the model gives no tokens."""
    async def vector_cache_problem(self, query: Vector | None) -> str | None:
        """Why programs do not share one cache of vectors, if so. A search for `query` brings the cache up."""
    async def replica_problem(self) -> str | None:
        """Why the server that is to answer questions left the last one to the primary, if it did."""
    async def replica_lag_seconds(self) -> float | None:
        """How far the server that answers questions is behind; None where there is none, or nobody knows."""
    async def unrecorded_answers(self) -> tuple[int, str | None]:
        """How many answers could not be noted as shown, in any process, and why not, in this one."""
    async def model_proposal(self) -> ModelProposal | None:
        """The model that suits the languages of the newest texts better, if there is one, and what to run."""
    async def embed_pending(self, progress: Progress | None = ..., *, past: bool = ...) -> EmbedResult:
        """Embed the texts that wait for a vector: how many, and why they must go on waiting, if so.

        With `past`, also former and superseded ones, which came from elsewhere without their vectors."""
    async def embed_in_background(self) -> None:
        """Embed the texts that wait for a vector, until none does or the memory is closed."""
    async def forget_all(self) -> int:
        """Forget everything of this scope, so that `restore` can bring each back; returns how many."""
    async def find_duplicate_observations(
        self,
        entity: str | None = ...,
        *,
        threshold: float = ...,
        containment: float = ...,
        limit: int = ...,
        progress: Progress | None = ...,
    ) -> Duplicates:
        """Pairs of observations of one entity, or of each, that nearly say the same, the most alike first."""
    async def consolidation_report(
        self, *, stale_days: float = ..., progress: Progress | None = ...
    ) -> ConsolidationReport:
        """What could be tidied: what to split, what repeats itself, what nobody has looked at for long."""
    async def find_split_candidates(self, progress: Progress | None = ...) -> tuple[SplitAnalysis, ...]:
        """Entities with too many observations that fall into topics, the most urgent first."""
    async def analyze_split(self, name: str) -> SplitAnalysis:
        """Whether an entity should be split, and into which topics."""
    async def propose_split(self, name: str) -> SplitProposal:
        """Parts for `execute_split`, to look over first. Nothing is written."""
    async def execute_split(
        self, name: str, parts: Iterable[PartLike], progress: Progress | None = ...
    ) -> SplitResult:
        """Make entities of an entity's observations, and relate them to it: all of it, or nothing.

        Parts are those of a proposal, or mappings with `name`, `observations` (texts that it has in force)
        and perhaps `type`. Observations that no part names stay. The answer's `undo` goes to `undo_split`."""
    async def undo_split(self, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
        """Take a split back as if it had not been; refused where a part was changed since."""
    async def add_reflection(
        self,
        content: str,
        *,
        about: Iterable[str] = ...,
        author: str | None = ...,
        mood: str | None = ...,
        session: str | None = ...,
        relation: tuple[str, str, str] | None = ...,
        key: str | None = ...,
    ) -> Remembered:
        """Keep what somebody thinks about what is remembered: a note of the category `reflection`.

        `about` names entities, `session` a conversation and `relation` a (source, type, target), all of which
        must exist; whatever the text names is linked as well."""
    async def search_reflections(
        self,
        query: str,
        *,
        author: str | None = ...,
        mood: str | None = ...,
        about: str | None = ...,
        session: str | None = ...,
        relation: tuple[str, str, str] | None = ...,
        limit: int | None = ...,
        profile: str | Profile = ...,
        explain: bool = ...,
        record: bool = ...,
    ) -> Answer:
        """As `recall`, over reflections alone: of an author, in a mood, about an entity and so on."""

class AsyncSettling:
    """`memory.upkeep.settling`: what there is to decide, and the ways to decide it."""
    async def page(
        self,
        kind: SettleKind,
        *,
        start: int = ...,
        limit: int = ...,
        dismissed: bool = ...,
        stale_days: float = ...,
        progress: Progress | None = ...,
    ) -> tuple[tuple[ToSettle, ...], bool]:
        """Some of one kind from this place on, and whether there are more; with `dismissed`, those that were
        kept as they are instead.

        Contradictions are told among the newest texts alone: two thousand notes, and as many observations.
        Entities to split are told among those that gained one of the newest twenty thousand observations."""
    async def settle(self, key: str, action: SettleAction) -> SettleUndo:
        """Do one thing about what this key names; what it returns takes it back."""
    async def undo(self, undo: SettleUndo) -> None:
        """Take a decision back."""

class AsyncTokens:
    """Creates, lists and revokes named tokens. They belong to the store, whatever scope the memory is of."""
    async def create(self, name: str, *, right: str = ..., sees: Scope | None = ...) -> str:
        """Make a token and return it: it is kept only as its hash, so that nobody can show it again.

        `sees` is the only scope that its holder sees, with the agent None all agents of an owner; None:
        every scope."""
    async def list(self) -> tuple[NamedToken, ...]:
        """By name."""
    async def revoke(self, name: str) -> None:
        """From now on, nobody is let in by it: a server notices within a second or two."""
    async def note_use(self, token: NamedToken) -> None:
        """In the background: nobody waits for it, and a store that is busy or cannot be written goes on."""

class open:
    """Open a memory, with what `recollect.open` takes: `async with open(…)`, or `await open(…)`."""
    def __init__(
        self,
        store: str | Path | None = ...,
        *,
        owner: str | None = ...,
        agent: str | None = ...,
        model: str | None = ...,
        session: str | None = ...,
        clock: Clock = ...,
    ) -> None:
        """Open a memory, or create it where there is none.

        `store` is the path of its file, `postgresql://…` for one in a database, or `:memory:` for one that ends
        with the process; without it, the setting, or one file in the user's data folder.
        `owner` and `agent` say whose memory it is; without an agent, what all agents of the owner keep is read.
        `model` names an embedding model; `auto` takes, of those installed, the one that suits the languages of
        the first texts; `none` searches by words alone.
        `session` names the conversation that the calls belong to; without it, this opening is one of its own."""
    def __await__(self) -> Generator[Any, None, AsyncEngine]: ...
    async def __aenter__(self) -> AsyncEngine: ...
    async def __aexit__(self, *_: object) -> None: ...
