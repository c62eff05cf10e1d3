"""The types of `recollect.aio`, made from the engine by `make docs`."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar, Unpack

from recollect.admin import BackupFile, StoreState
from recollect.domain.records import (
    Counts,
    DreamRecord,
    LoggedAnswer,
    Memory,
    Model,
    NoteFields,
    Problem,
    RecallOptions,
    Scope,
    SearchArguments,
    Session,
    Status,
    Tuned,
)
from recollect.domain.results import (
    AddMessagesResult,
    Answer,
    BrowsePage,
    Bucket,
    Context,
    EntityCounts,
    Graph,
    GraphPaths,
    History,
    MemoryPage,
    ModelProposal,
    NameCount,
    Neighbourhood,
    ObservedBatch,
    PurgeResult,
    ReindexResult,
    RelatedBatch,
    Remembered,
    RememberedBatch,
    SupersedeResult,
    WholeMemory,
)
from recollect.domain.times import AsOf
from recollect.dreams.dreaming import DreamResult, DreamUndoResult
from recollect.dreams.knobs import Knobs
from recollect.engine import Engine
from recollect.memories.browse import BrowseFilter, EntityOrder, Order, Unit
from recollect.ranking.candidates import Profile
from recollect.review.results import (
    ConsolidationReport,
    Duplicates,
    SettleKind,
    SplitAnalysis,
    SplitProposal,
    SplitResult,
    SplitUndo,
    UndoSplitResult,
)
from recollect.review.settling import ReviewItem, SettleAction, SettleUndo
from recollect.review.split import PartLike
from recollect.search.why_not import WhyNot
from recollect.self_test.questions import SelfTest
from recollect.stores.port import Clock, Progress
from recollect.tuning.answers import AnswerReplay, ConfidenceCurve
from recollect.tuning.tuning import (
    AnswerLogStatus,
    ProfileNumbers,
    TuningAnalysis,
    TuningChange,
)
from recollect.write.inputs import (
    EntityLike,
    NoteLike,
    ObservationLike,
    RelationLike,
    TurnLike,
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
        """The scope that writes go to."""
    @property
    def zone(self) -> tzinfo:
        """The time zone in which the user's days begin."""
    def scoped(self, owner: str = ..., agent: str | None = ...) -> AsyncEngine:
        """The same store for another owner or agent; with None, for an owner who reads all agents.

        Such an owner's writes belong to no agent. A memory named by its id is changed where it is. Dreams,
        tuning and tidying cover what belongs to no agent."""
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
        """Earlier dreams, and how to undo one."""
    @property
    def answers(self) -> AsyncAnswerLog:
        """The log of answers: what was asked, shown and used, and the same question now."""
    @property
    def tuning(self) -> AsyncTuning:
        """A profile's numbers: how they fare on this store's own answers, and the ways to change them."""
    @property
    def upkeep(self) -> AsyncUpkeep:
        """Care for the store, and tidying of the graph."""
    async def create_entities(
        self,
        entities: Iterable[EntityLike],
        *,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its status and type and gains the new observations.

        The type `unknown` is replaced by the first real one; see `took_type` and `kept_type`.

        With `keep_going`, rows that cannot be stored are left out and named; without it, one such row stops
        the batch and nothing is written. The same `key` again returns the first result. `progress` reports
        the embedding, which follows the write."""
    async def remember(
        self,
        text: str,
        *,
        importance: float = ...,
        category: str | None = ...,
        happened_at: datetime | None = ...,
        expires_at: datetime | None = ...,
        tags: Iterable[str] = ...,
        about: Iterable[str] = ...,
        source: str | None = ...,
        ref: str | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        key: str | None = ...,
        **fields: Unpack[NoteFields],
    ) -> Remembered:
        """Store a note. The same words again raise its duplicate count instead of making a second note.

        It is linked to entities whose names it mentions; `about` names more of them, which must exist. After
        `expires_at`, no search finds it, though it stays; storing it again without one removes the expiry.

        `ref` is a program's own name for the note: stored again under it, the note gets the new text and the
        new values. `metadata` is a JSON object to keep with it. A note with either is never merged with
        another one, and dreams leave it as it is."""
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
        tags: Iterable[str] | None = ...,
        status: str | None = ...,
        pinned: bool | None = ...,
        importance_tag: str | None = ...,
        expires_at: datetime | Literal["never"] | None = ...,
        metadata: Mapping[str, Any] | None = ...,
        **fields: Unpack[NoteFields],
    ) -> Memory:
        """Change what is given, and leave the rest. A former text is kept as a revision.

        "unknown" empties `happened_at`, and an empty category removes it. A memory that is pinned or has an
        `importance_tag` is not forgotten; an empty tag removes it. A note expires at `expires_at`; "never"
        removes the expiry, also afterwards."""
    async def supersede(
        self, old: int, new: int | NoteLike, *, copies: bool = ..., key: str | None = ...
    ) -> SupersedeResult:
        """Retire a note or message, and its near-copies with it, in favour of another, or of a new note.

        `new` is an id, a text, or a mapping with the arguments of `remember`.

        Retired memories are found by `as_of` or `include_superseded`; `restore` brings them back."""
    async def history(self, id: int) -> History:
        """Return the history of a memory: its former texts, corrections, and other events."""
    async def context(
        self,
        asked: str | Sequence[TurnLike] | None = ...,
        *,
        query: str | None = ...,
        messages: Sequence[TurnLike] | None = ...,
        budget_tokens: int = ...,
        session: str | None = ...,
        profile: str | Profile = ...,
        as_of: AsOf | None = ...,
    ) -> Context:
        """Return what an agent should read before it answers: recent turns and memories, within a budget.

        `asked` is a query, or the last messages of the conversation; either may be given by its name."""
    async def recall(
        self,
        query: str,
        *,
        limit: int | None = ...,
        profile: str | Profile = ...,
        kinds: Collection[str] = ...,
        session: str | None = ...,
        as_of: AsOf | None = ...,
        tags: Iterable[str] = ...,
        include_superseded: bool = ...,
        budget_tokens: int | None = ...,
        explain: bool = ...,
        record: bool = ...,
        options: RecallOptions | None = ...,
    ) -> Answer:
        """Return the best memories for a query, best first, ranked by a profile.

        An explicit `limit` is filled. Without one, weak hits are dropped, and one to ten are left. Notes and
        entities are found whatever their session. Messages are those of the current `session`; without one,
        of all. `as_of` answers from the store's state at that time; a day alone means its end in `zone`.

        With `explain`, every hit shows what each step did. Hits are recorded, as a signal for later rankings;
        with `record=False` the call leaves no trace. Every hit has a `confidence`, and so has the answer: how
        likely the store is to hold one at all. `options` holds what few callers need.

        A named profile ranks with the numbers it was tuned to. A profile passed as a value ranks as it is."""
    async def search(self, query: str, *, explain: bool = ..., **given: Unpack[SearchArguments]) -> Answer:
        """As `recall`, without leaving a trace: for looking around."""
    async def record_shown(self, ids: Sequence[int], answer: Answer | None = ...) -> None:
        """Record that these were shown, best first, as `recall` does by itself.

        `answer` is the answer that they begin, asked for with the option `defer_recording`."""
    async def feedback(
        self,
        memories: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = ...,
        *,
        query: str | None = ...,
    ) -> None:
        """Rate memories for the query that they were shown for: 1 just right, -1 wrong.

        `answer` is the answer of `recall`, or its `event`; without it, the last answer that showed the
        memory, to `query` if given. A new rating replaces the old one. `recollect tune` learns from it."""
    async def why_not(self, query: str, memory: int | str, **given: Unpack[SearchArguments]) -> WhyNot:
        """Return where a memory, given by id or by an entity's name, ranks or was dropped, and what would
        lift it. The other arguments are those of `recall`."""
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
        """Measure how well this memory is found by questions made from itself, by these profiles or all.

        Nothing is written. `sample` memories are asked for, 0 for all; the first `limit` hits count.
        `languages` are those that the model knows, if known. `at` is the moment to ask at; without one, the
        end of this day. The same store, seed and moment give the same answer."""
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
        """Return one page of memories, the newest first; pass its `cursor` as `after` for the next.

        Notes, unless `kinds` names others; with `refs`, those with these names of programs. It searches
        nothing and leaves no trace."""
    async def forget(self, ids: int | Iterable[int]) -> tuple[int, ...]:
        """Forget memories, so that `restore` can bring them back; returns those that were there."""
    async def restore(self, id: int) -> Memory:
        """Bring back a forgotten memory, with the relations that went with it, or a superseded one."""
    async def purge(
        self, before: datetime | None = ..., *, ids: int | Iterable[int] | None = ...
    ) -> PurgeResult:
        """Destroy for good what was forgotten before a time, in every scope. There is no way back.

        With `ids`, destroy these forgotten memories of this scope instead. With them goes what may quote
        them: the queries and answers that showed them, reports of dreams.

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
        """Dream: strengthen used memories, let others fade, merge and tidy. `dreams.undo` takes it back.

        Nothing is written with `dry_run`, nor where people would find less, unless `gate` is off; with
        `drop_failing`, only the phase that would lose something is left out."""
    async def counts(self) -> Counts:
        """Count the whole store, all scopes together."""
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
        """Find entities whose name, type or observations contain the words, or the text literally.

        Entities with the words come first, best first; then those that contain the text inside a word. Pass
        the answer's `cursor` as `after` for the next page."""
    async def open_nodes(self, names: Sequence[str], *, record: bool = ..., history: bool = ...) -> Graph:
        """Entities by name, in the order asked for, with the relations in force that touch them.

        With `history`, also the relations that ended. Names that are absent are passed over."""
    async def neighbours_of(self, name: str, *, depth: int = ..., as_of: AsOf | None = ...) -> Neighbourhood:
        """The entities within `depth` relations in force of one, in either direction, the nearest first.

        With `as_of`, those that were known and in force at that moment."""
    async def paths(self, source: str, target: str, *, depth: int = ..., limit: int = ...) -> GraphPaths:
        """How two entities are connected: ways of at most `depth` relations in force, the shortest first."""

class AsyncSessions:
    """`memory.sessions`: the conversations of a scope, and their messages."""
    async def list(self) -> Sequence[Session]:
        """The conversations of this scope, the one with the newest turn first."""
    async def turns(self, session: str, *, last: int | None = ...) -> Sequence[Memory]:
        """Return a session's messages in order; with `last`, only that number from its end."""
    async def neighbours(self, id: int, *, before: int = ..., after: int = ...) -> Sequence[Memory]:
        """A message with its neighbours in the session, in order."""
    async def extract(self, session: str) -> tuple[Remembered, ...]:
        """Extract notes from a session's messages, as `add_messages` does, later.

        Notes that were extracted before are skipped, also if they were corrected or forgotten since."""
    async def forget(self, session: str) -> tuple[int, ...]:
        """Forget a conversation: its messages, and its notes. `restore` brings each back."""

class AsyncBrowse:
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""
    async def memory(self, id: int, *, showings: int = ..., as_of: AsOf | None = ...) -> WholeMemory:
        """Return a memory with everything that the store knows of it, forgotten or not; with `as_of`, as it
        read then.

        `showings` is the number of recent answers to list that showed it."""
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
        """How many of these memories are of each of the user's days, weeks (from Monday) or months.

        The store counts by the quarter of an hour, or by the day where those are UTC's: it reads no memory."""
    async def tags(self) -> Sequence[NameCount]:
        """Every tag that something in force has, the most frequent first, in its most frequent spelling."""
    async def categories(self) -> Sequence[NameCount]:
        """Every category that something in force has, the most frequent first."""
    async def entities(
        self,
        *,
        type: str | None = ...,
        contains: str | None = ...,
        order: EntityOrder = ...,
        start: int = ...,
        limit: int = ...,
    ) -> Sequence[EntityCounts]:
        """Live entities with how many observations, relations and mentions each has."""

class AsyncDreams:
    """`memory.dreams`: the dreams of a scope, and how to undo one."""
    async def history(self, limit: int = ..., before: int | None = ...) -> tuple[DreamRecord, ...]:
        """The dreams of this scope, the newest first; with `before`, only those before that one."""
    async def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:
        """A dream, and every change that it made, with before and after."""
    async def undo(self, id: int, *, later: bool = ...) -> DreamUndoResult:
        """Put everything back as it was before a dream; what was changed since is reported and left.

        With `later`, the dreams that came after it are undone as well."""

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
        """Return the contents of the log, whether it grows, and which ranking queries get."""
    async def empty_log(self) -> int:
        """Empty the log of answers and forget the queries; returns the number of answers.

        Usage stays. There is no way back."""
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
        """Decisions for a person to make, and the ways to make them."""
    async def backup(self, path: str | None = ..., progress: Progress | None = ...) -> BackupFile:
        """Copy the store to a new file, while others may go on writing.

        Without a path, into the folder of backups beside the store, under the name of this moment."""
    async def store_state(self) -> StoreState:
        """Return the kind of store, its size, who works on it, its backups and its replica."""
    async def verify(self, *, quick: bool = ...) -> Sequence[Problem]:
        """Everything that is wrong with the store; empty if nothing is.

        With `quick`, only whether all of it can be read, and texts are what was stored."""
    async def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived from the rows; returns the remaining problems.

        From a file with damaged pages, everything readable is copied to a new one."""
    async def model_proposal(self) -> ModelProposal | None:
        """The model that suits the languages of the newest texts better, if there is one, and what to run."""
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
        """Report what could be tidied: entities to split, near-repeats, and stale entities."""
    async def find_split_candidates(self, progress: Progress | None = ...) -> tuple[SplitAnalysis, ...]:
        """Entities with too many observations that fall into topics, the most urgent first."""
    async def propose_split(self, name: str) -> SplitProposal:
        """Whether an entity should be split, and parts for `execute_split`. Nothing is written."""
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
        """Store a reflection: a note of that category with an opinion on what is remembered.

        `about` names entities, `session` a conversation and `relation` a (source, type, target), all of which
        must exist. Entities that the text names are linked as well."""
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
    ) -> tuple[tuple[ReviewItem, ...], bool]:
        """Return items of one kind from `start` on, and whether there are more; with `dismissed`, the
        dismissed ones.

        Contradictions are searched among the newest texts: two thousand notes, and as many observations.
        Entities to split are those that gained one of the newest twenty thousand observations."""
    async def settle(self, key: str, action: SettleAction) -> SettleUndo:
        """Do one thing about what this key names; what it returns takes it back."""
    async def undo(self, undo: SettleUndo) -> None: ...

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
        """Open a memory, or create it.

        `store` is the path of its file, `postgresql://…` for one in a database, or `:memory:` for one that ends
        with the process; without it, the setting, or one file in the user's data folder. `owner` and `agent` are
        the scope; without an agent, what all agents of the owner keep is read. `model` names an embedding model;
        `auto` chooses, among those installed, by the languages of the first texts; `none` searches by words
        alone. `session` names the conversation that the calls belong to; without it, this opening is a session of
        its own."""
    def __await__(self) -> Generator[Any, None, AsyncEngine]: ...
    async def __aenter__(self) -> AsyncEngine: ...
    async def __aexit__(self, *_: object) -> None: ...
