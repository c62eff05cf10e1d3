"""The types of `recollect.aio`, made from the engine by `make docs`."""

from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, Self, TypeVar, Unpack

from recollect.admin import BackupFile, StoreState
from recollect.domain.records import (
    AsOf,
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
    """A memory for `async` code. It has the engine's methods and groups; await each call."""

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
        """The time zone of the user's days: the setting `time_zone`, else the zone of this machine."""
    def scoped(self, owner: str = ..., agent: str | None = ...) -> AsyncEngine:
        """Return the same store for another owner or agent.

        Args:
            owner: The owner whose memories are read and written.
            agent: The agent. With None, the memories of all agents are read, and writes belong to no agent.
                Dreams, tuning and tidying then cover what belongs to no agent."""
    @property
    def graph(self) -> AsyncKnowledgeGraph:
        """Entities, observations and relations."""
    @property
    def sessions(self) -> AsyncSessions:
        """Conversations and their messages."""
    @property
    def browse(self) -> AsyncBrowse:
        """Whole memories, filtered lists, and a timeline."""
    @property
    def dreams(self) -> AsyncDreams:
        """The history of dreams, and their undo."""
    @property
    def answers(self) -> AsyncAnswerLog:
        """The answer log: each question, its hits, and the feedback on them."""
    @property
    def tuning(self) -> AsyncTuning:
        """Measurements of a profile on this store's own answers, and changes of its parameters."""
    @property
    def upkeep(self) -> AsyncUpkeep:
        """Backups and checks of the store, and tidying of the graph."""
    async def create_entities(
        self,
        entities: Iterable[EntityLike],
        *,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its status and type, and gains the new observations.

        The type `unknown` is replaced by the first real one; see `took_type` and `kept_type` of the result.

        Args:
            entities: Names, `NewEntity` values, or mappings with `name`, `type` and `observations`.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`. Without it, one
                such row stops the batch and nothing is written.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Reports the embedding, which follows the write.

        Raises:
            InvalidInput: A row cannot be stored."""
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
        """Store a note. The same text again raises its duplicate count instead of making a second note.

        Args:
            text: One self-contained sentence is best.
            importance: From 0 to 1.
            category: A word of your own, such as `decision`.
            happened_at: When it happened, if that is not now.
            expires_at: After this time no search finds the note, though it stays in the store. Storing the
                note again without it removes the expiry.
            tags: Words to filter by.
            about: Names of existing entities to link, in addition to those that the text mentions.
            source: Where it comes from.
            ref: Your program's own name for the note. Storing a note with the same ref replaces its text and
                values.
            metadata: A JSON object to keep with the note. A note with `ref` or `metadata` is never merged
                with another one, and dreams leave it as it is.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            InvalidInput: A value cannot be stored; the message says why.
            NotFound: `about` names an entity that does not exist."""
    async def remember_many(
        self, notes: Iterable[NoteLike], *, keep_going: bool = ..., key: str | None = ...
    ) -> RememberedBatch:
        """Store many notes in one transaction.

        Args:
            notes: Texts, or mappings with the arguments of `remember`.
            keep_going: Leave out notes that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            InvalidInput: A note cannot be stored, and `keep_going` is off. Nothing was written."""
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
        """Store messages of a conversation, in order.

        Args:
            session: The name of the conversation. Messages are appended to it.
            messages: `Turn` values, or mappings with `content` and perhaps `role`, `speaker` and `at`.
            extract: Also extract facts worth keeping as notes. Each note points to its message.
            keep_going: Leave out messages that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Reports the embedding, which follows the write.

        Raises:
            InvalidInput: A message cannot be stored, and `keep_going` is off. Nothing was written."""
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
        """Change the given fields of a memory. A former text is kept as a revision.

        Args:
            id: The memory.
            text: The new text.
            importance: From 0 to 1.
            category: An empty text removes it.
            happened_at: "unknown" removes it.
            tags: All tags, not only new ones.
            status: `active`, `paused`, `completed` or `archived`.
            pinned: A pinned memory is never forgotten by a dream.
            importance_tag: A memory with this tag is not forgotten either. An empty text removes it.
            expires_at: "never" removes the expiry, also after it has passed.
            metadata: The whole JSON object.

        Raises:
            InvalidInput: A value cannot be stored, or none was given.
            NotFound: The scope has no such memory."""
    async def supersede(
        self, old: int, new: int | NoteLike, *, copies: bool = ..., key: str | None = ...
    ) -> SupersedeResult:
        """Replace a note or message, and its near-copies, by another one.

        Replaced memories are found with `as_of` or `include_superseded`; `restore` brings one back.

        Args:
            old: The memory to replace.
            new: The id of another memory, a text, or a mapping with the arguments of `remember`.
            copies: Also replace memories that say nearly the same as the old one.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: The scope has no such memory.
            Conflict: A memory cannot replace itself, or was replaced already."""
    async def history(self, id: int) -> History:
        """Return what happened to a memory, oldest first: former texts, corrections, and other events.

        Raises:
            NotFound: The scope has no such memory."""
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
        """Return a text for an agent to read before it answers: recent messages and relevant memories.

        Args:
            asked: A query, or the last messages of the conversation.
            query: The same as `asked`, for a query.
            messages: The same as `asked`, for messages.
            budget_tokens: The most tokens that the text may have.
            session: The conversation whose recent messages are included.
            profile: The ranking profile.
            as_of: Answer from the store's state at that time. A day alone means its end in `zone`.

        Raises:
            InvalidInput: None or several of `asked`, `query` and `messages` were given."""
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
        options: RecallOptions | dict[str, Any] | None = ...,
    ) -> Answer:
        """Return the best memories for a query, best first.

        The answer and every hit have a `confidence` from 0 to 1. `bool(answer)` says whether a
        hit seems to answer. A named profile uses its tuned parameters; a profile object is used as it is.

        Args:
            query: A question or a few words. Times in it, such as "last week", are understood.
            limit: Number of hits. Without it, weak hits are dropped, and one to ten are left.
            profile: The ranking profile, by name or as a value.
            kinds: `note`, `entity`, `message`, or several of them.
            session: Search only the messages of this conversation. Notes and entities of all sessions are
                searched.
            as_of: Answer from the store's state at that time. A day alone means its end in `zone`.
            tags: Only memories with all of these.
            include_superseded: Also search replaced memories.
            budget_tokens: The most tokens that the texts of the hits may have together.
            explain: Add the effect of each ranking step to every hit.
            record: Record the hits, as a signal for later rankings. With False, nothing is recorded.
            options: Arguments that few callers need, as `RecallOptions` or a dictionary of them.

        Raises:
            InvalidInput: An argument is wrong; the message says what to write.
            ModelUnavailable: The store's embedding model is not installed."""
    async def search(self, query: str, *, explain: bool = ..., **given: Unpack[SearchArguments]) -> Answer:
        """Return the same answer as `recall` without recording it."""
    async def record_shown(self, ids: Sequence[int], answer: Answer | None = ...) -> None:
        """Record that memories were shown, best first. `recall` does so by itself.

        Args:
            ids: The memories that were shown.
            answer: The answer that they come from, recalled with the option `defer_recording`."""
    async def feedback(
        self,
        ids: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = ...,
        *,
        query: str | None = ...,
    ) -> None:
        """Rate memories for the query that they were shown for. A new rating replaces the old one.

        `recollect tune` learns from it.

        Args:
            ids: One id, or several.
            grade: From -1 (wrong) to 1 (exactly right).
            answer: The answer of `recall`, or its `event`. Without it, the last answer that showed the
                memory.
            query: Without `answer`, rate the last answer to this query.

        Raises:
            InvalidInput: The grade is out of range.
            NotFound: No recorded answer showed the memory."""
    async def why_not(self, query: str, memory: int | str, **given: Unpack[SearchArguments]) -> WhyNot:
        """Explain where a memory ranks for a query, or which step dropped it, and what would lift it.

        The other arguments are those of `recall`.

        Args:
            query: The query.
            memory: An id, or the name of an entity.

        Raises:
            NotFound: The scope has no such memory."""
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
        """Ask questions made from the stored texts, and measure how many find them. Nothing is written.

        The same store, seed and moment give the same result.

        Args:
            profiles: The profiles to test (default: all).
            sample: Number of memories to test; 0 for all.
            limit: Number of hits that count.
            seed: Chooses the sample.
            languages: Languages that the model knows, if known.
            at: The time to ask at (default: the end of this day).
            progress: Reports the questions asked."""
    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every ranking profile by name: the built-in ones and the user's own."""
    async def get(self, id: int, *, record: bool = ...) -> Memory | None:
        """Return one memory of this scope by its id, forgotten or not, or None.

        Args:
            id: The memory.
            record: Count it as opened."""
    async def get_many(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Return the memories of this scope that exist, by id, forgotten or not."""
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
        """Return one page of memories, newest first, without a search. It is not recorded as usage.

        Args:
            kinds: `note`, `entity`, `message`, or several of them.
            category: Only memories of this category.
            tags: Only memories with all of these tags.
            session: Only memories of this conversation.
            refs: Only notes that programs stored under these names.
            include_superseded: Also list replaced memories.
            limit: Number of memories.
            after: The `cursor` of the previous page."""
    async def forget(self, ids: int | Iterable[int]) -> tuple[int, ...]:
        """Forget memories. `restore` brings one back.

        Args:
            ids: One id, or several.

        Returns:
            The ids of the forgotten memories."""
    async def restore(self, id: int) -> Memory:
        """Bring back a forgotten memory, with the relations forgotten with it, or a superseded one.

        Raises:
            NotFound: The scope has no such memory.
            Conflict: Another memory has taken its place; the message names it."""
    async def purge(
        self, before: datetime | None = ..., *, ids: int | Iterable[int] | None = ...
    ) -> PurgeResult:
        """Destroy forgotten memories. This cannot be undone.

        The queries and answers that showed them, and reports of dreams that may quote them, are destroyed as
        well.

        Args:
            before: Destroy what was forgotten before this time, in every scope.
            ids: Destroy these forgotten memories of this scope instead.

        Returns:
            The number of memories. Its `note` says if parts of them remain in the store's files for a while.

        Raises:
            InvalidInput: Both or none of the arguments were given.
            Conflict: A memory of `ids` is not forgotten."""
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
        """Consolidate: strengthen used memories, let unused ones fade, merge copies, and tidy.

        `dreams.undo` takes a dream back.

        Args:
            phases: The phases to run (default: those of the settings).
            without: Phases to leave out.
            dry_run: Report what would change, and write nothing.
            gate: Write nothing if searches would find less afterwards.
            drop_failing: Leave out only the phase that would lose something.
            knobs: Parameters that replace those of the settings.
            progress: Reports the stages.

        Raises:
            Conflict: Another process dreams on this store."""
    async def counts(self) -> Counts:
        """Count the whole store, all scopes together."""
    async def model(self) -> Model | None:
        """The embedding model whose vectors the store holds, or None."""
    async def reindex(self, model: str | None = ..., progress: Progress | None = ...) -> ReindexResult:
        """Embed texts that have no vector yet.

        A store that was made with a former default model switches to its successor.

        Args:
            model: The name of another model: embed all texts again and switch to it.
            progress: Reports the texts embedded.

        Raises:
            ModelUnavailable: The model is not installed."""

class AsyncKnowledgeGraph:
    """`memory.graph`: entities, their observations, and the relations between them."""
    async def add_observations(
        self,
        additions: Mapping[str, Sequence[ObservationLike]],
        *,
        keep_going: bool = ...,
        key: str | None = ...,
        progress: Progress | None = ...,
    ) -> ObservedBatch:
        """Add observations to existing entities. Near-copies of older ones are flagged, never dropped.

        Args:
            additions: For each name a text, or a list of texts, `NewObservation` values or mappings.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Called during the embedding, which follows the write.

        Raises:
            NotFound: There is no entity of that name."""
    async def create_relations(
        self,
        relations: Iterable[RelationLike],
        *,
        create_missing: bool = ...,
        keep_going: bool = ...,
        key: str | None = ...,
    ) -> RelatedBatch:
        """Connect entities.

        Args:
            relations: `(source, type, target)` tuples, `NewRelation` values or mappings.
            create_missing: Create entities that do not exist, of type `unknown`.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: An entity does not exist, and `create_missing` is off."""
    async def end_relation(self, source: str, type: str, target: str, *, at: datetime | None = ...) -> None:
        """End a relation. It is kept as history.

        Args:
            source: The name of the entity where it starts.
            type: The type of the relation.
            target: The name of the entity where it ends.
            at: When it ended (default: now).

        Raises:
            NotFound: There is no such current relation."""
    async def delete_entities(self, names: Iterable[str]) -> tuple[int, ...]:
        """Forget entities by exact name, with their relations. Unknown names are ignored.

        Returns:
            The ids of the forgotten entities, for `restore`."""
    async def delete_observations(self, removals: Mapping[str, Sequence[str]]) -> int:
        """Remove observations by exact text.

        Args:
            removals: For each name a text, or a list of texts.

        Returns:
            The number of observations that existed."""
    async def delete_relations(self, relations: Iterable[RelationLike]) -> int:
        """Remove relations that were never true; `end_relation` ends those that were.

        Returns:
            The number of relations that existed, inverses included."""
    async def set_status(self, name: str, status: str) -> Status:
        """Mark an entity as active, paused, completed or archived.

        Raises:
            InvalidInput: There is no such status.
            NotFound: There is no entity of that name."""
    async def restore_observation(self, id: int) -> None:
        """Restore an observation that was superseded, or removed separately from its entity.

        Raises:
            NotFound: There is no such observation."""
    async def read_graph(self, *, limit: int = ..., after: int = ...) -> Graph:
        """Return one page of the graph, oldest entities first.

        Args:
            limit: Number of entities.
            after: The `cursor` of the previous page."""
    async def search_nodes(self, query: str, *, limit: int = ..., after: int = ...) -> Graph:
        """Find entities whose name, type or observations contain the words, or the text literally.

        Entities with the words come first, best first. Then follow those that contain the text inside a word.

        Args:
            query: Words, or a part of a word.
            limit: Number of entities.
            after: The `cursor` of the previous page."""
    async def open_nodes(self, names: Sequence[str], *, record: bool = ..., history: bool = ...) -> Graph:
        """Return entities by name, in the given order, with the relations that start or end at them.

        Unknown names are ignored.

        Args:
            names: One name, or several.
            record: Count the entities as opened.
            history: Also return relations that ended."""
    async def neighbours_of(self, name: str, *, depth: int = ..., as_of: AsOf | None = ...) -> Neighbourhood:
        """Return the entities around one, nearest first, over relations in either direction.

        Args:
            name: The entity.
            depth: Maximum number of relations between it and a neighbour.
            as_of: Use the graph at that time. A date without a time means its end in the user's zone.

        Raises:
            NotFound: There is no entity of that name."""
    async def paths(self, source: str, target: str, *, depth: int = ..., limit: int = ...) -> GraphPaths:
        """Return the paths from one entity to another, shortest first.

        Args:
            source: The entity to start at.
            target: The entity to reach.
            depth: Maximum number of relations in a path.
            limit: Number of paths.

        Raises:
            NotFound: There is no entity of that name."""

class AsyncSessions:
    """`memory.sessions`: the conversations of a scope, and their messages."""
    async def list(self) -> Sequence[Session]:
        """Return the sessions of this scope, most recently active first."""
    async def turns(self, session: str, *, last: int | None = ...) -> Sequence[Memory]:
        """Return the messages of a session in order.

        Args:
            session: The name of the conversation.
            last: Return only this many messages, the last ones.

        Raises:
            NotFound: There is no such conversation."""
    async def neighbours(self, id: int, *, before: int = ..., after: int = ...) -> Sequence[Memory]:
        """Return a message and the messages around it in its session, in order.

        Args:
            id: The message.
            before: Number of messages before it.
            after: Number of messages after it.

        Raises:
            NotFound: There is no such message."""
    async def extract(self, session: str) -> tuple[Remembered, ...]:
        """Extract notes from the stored messages of a session, as `add_messages` does.

        Notes that were extracted before are skipped, even if they have been corrected or forgotten.

        Raises:
            ExtractionFailed: The extractor cannot be reached or returns no usable answer."""
    async def forget(self, session: str) -> tuple[int, ...]:
        """Forget a conversation: its messages, and the notes extracted from them. `restore` brings each back.

        Returns:
            The ids of the forgotten memories."""

class AsyncBrowse:
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""
    async def memory(self, id: int, *, showings: int = ..., as_of: AsOf | None = ...) -> WholeMemory:
        """Return a memory, even a forgotten one, with everything that the store has about it.

        Args:
            id: The memory.
            showings: Number of recent answers to list that showed it.
            as_of: Return the text at that time. A date without a time means its end in the user's zone.

        Raises:
            NotFound: The scope has no such memory."""
    async def page(
        self,
        wanted: BrowseFilter | None = ...,
        *,
        order: Order = ...,
        limit: int = ...,
        after: str | None = ...,
    ) -> BrowsePage:
        """Return one page of memories of any kind, filtered and sorted.

        Args:
            wanted: The filter (default: all current memories).
            order: The order of the memories.
            limit: Number of memories.
            after: The `cursor` of the previous page."""
    async def timeline(self, wanted: BrowseFilter | None = ..., unit: Unit = ...) -> Sequence[Bucket]:
        """Count memories by the user's days, weeks (from Monday) or months.

        The store does the counting and returns no memories.

        Args:
            wanted: The filter (default: all current memories).
            unit: `day`, `week` or `month`."""
    async def tags(self) -> Sequence[NameCount]:
        """Return every tag in use, most frequent first, in its most frequent spelling."""
    async def categories(self) -> Sequence[NameCount]:
        """Return every category in use, most frequent first."""
    async def entities(
        self,
        *,
        type: str | None = ...,
        contains: str | None = ...,
        order: EntityOrder = ...,
        start: int = ...,
        limit: int = ...,
    ) -> Sequence[EntityCounts]:
        """Return entities with the number of observations, relations and mentions of each.

        Args:
            type: Only entities of this type.
            contains: Only entities whose name contains this text.
            order: The order of the entities.
            start: Number of entities to skip.
            limit: Number of entities to return."""

class AsyncDreams:
    """`memory.dreams`: the history of dreams in a scope, and their undo."""
    async def history(self, limit: int = ..., before: int | None = ...) -> tuple[DreamRecord, ...]:
        """Return the dreams of this scope, newest first.

        Args:
            limit: Number of dreams.
            before: Only dreams before this one."""
    async def journal(self, id: int) -> tuple[DreamRecord, Mapping[str, object]]:
        """Return a dream, and every change that it made, with the values before and after.

        Raises:
            NotFound: There is no such dream."""
    async def undo(self, id: int, *, later: bool = ...) -> DreamUndoResult:
        """Undo a dream. Values that were changed after it stay, and `left` lists their memories.

        Args:
            id: The dream.
            later: Also undo all later dreams.

        Raises:
            NotFound: There is no such dream.
            Conflict: Later dreams build on it, and `later` is off."""

class AsyncAnswerLog:
    """`memory.answers`: the answer log, with questions, hits and feedback."""
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
        """Return logged answers, newest first.

        Args:
            profile: Only answers of this profile.
            judged: True for only answers with feedback, False for only answers without.
            memory: Only answers with feedback on this memory.
            contains: Only answers to questions that contain this text.
            before: The id of the last answer on the previous page.
            limit: Number of answers."""
    async def get(self, id: int) -> tuple[LoggedAnswer, Mapping[int, Memory]]:
        """Return one answer, with the memories that it ranked and that still exist.

        Raises:
            NotFound: There is no such answer."""
    async def replay(self, id: int) -> AnswerReplay:
        """Ask a logged question again, and return the ranks then and now, by profile and by baseline.

        Raises:
            NotFound: There is no such answer."""

class AsyncTuning:
    """`memory.tuning`: measure and change the parameters of a profile."""
    async def analyze(self, profile: str | None = ...) -> TuningAnalysis:
        """Compare the profile with its baseline on the logged answers.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used)."""
    async def run(
        self,
        profile: str | None = ...,
        *,
        ranges: Mapping[str, Sequence[float]] | None = ...,
        dry_run: bool = ...,
    ) -> TuningChange:
        """Search for better parameters, and take a step towards them if they are significantly better.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            ranges: The values to try, by parameter.
            dry_run: Report the step, and change nothing."""
    async def set(
        self,
        values: Mapping[str, float],
        profile: str | None = ...,
        *,
        exactly: bool = ...,
        dry_run: bool = ...,
    ) -> TuningChange:
        """Move parameters a tenth of the way towards the given values.

        Args:
            values: The values, by parameter.
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            exactly: Set exactly these values.
            dry_run: Report the change, and write nothing.

        Raises:
            InvalidInput: There is no parameter of that name, or the value is out of range."""
    async def confidence_curve(self, sample: int = ..., progress: Progress | None = ...) -> ConfidenceCurve:
        """Measure how well the confidence of hits is calibrated, by feedback or by a self-test.

        Args:
            sample: Number of answers, or of memories in a self-test.
            progress: Gets the number of questions asked."""
    async def log_status(self) -> AnswerLogStatus:
        """Return the size of the answer log, whether it is on, and the settings of the A/B test."""
    async def empty_log(self) -> int:
        """Delete all logged answers and queries. Usage stays. This cannot be undone.

        Returns:
            The number of deleted answers."""
    async def reset(self, profile: str | None = ..., *, dry_run: bool = ...) -> TuningChange:
        """Go back to the published values.

        Args:
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            dry_run: Report the change, and write nothing."""
    async def rollback(
        self, version: int | None = ..., profile: str | None = ..., *, dry_run: bool = ...
    ) -> TuningChange:
        """Go back to the values of an earlier version.

        Args:
            version: The version (default: the previous one; repeated calls go further back).
            profile: The profile (default: `recollect`, or `limbic` if only that was used).
            dry_run: Report the change, and write nothing.

        Raises:
            NotFound: There is no such version."""
    async def history(self, profile: str | None = ..., limit: int = ...) -> tuple[Tuned, ...]:
        """Return the versions of tuned parameters, newest first.

        Args:
            profile: Only versions of this profile.
            limit: Number of versions."""
    async def numbers(self, profile: str) -> ProfileNumbers:
        """Return the published and the tuned values of a profile's parameters."""

class AsyncUpkeep:
    """`memory.upkeep`: back up and check the store, and tidy the graph."""
    @property
    def settling(self) -> AsyncSettling:
        """The open review items, such as contradictions and duplicates, and methods that settle them."""
    async def backup(self, path: str | None = ..., progress: Progress | None = ...) -> BackupFile:
        """Copy the store to a new file. Other processes can keep writing.

        Args:
            path: The new file (default: one in the backup folder next to the store).
            progress: Reports the pages copied.

        Raises:
            StoreUnavailable: The store is not a file, or the new file cannot be written."""
    async def store_state(self) -> StoreState:
        """Return the kind of store, its size, its leases, its backups and its replica."""
    async def verify(self, *, quick: bool = ...) -> Sequence[Problem]:
        """Return every problem of the store.

        Args:
            quick: Check only that everything can be read, and that no stored text has changed."""
    async def repair(self) -> Sequence[Problem]:
        """Rebuild everything that is derived from the rows.

        Readable rows of a damaged file are copied to a new one, which replaces it if no row was lost.

        Returns:
            The remaining problems."""
    async def model_proposal(self) -> ModelProposal | None:
        """Return the model that suits the languages of the newest texts better, if there is one."""
    async def find_duplicate_observations(
        self,
        entity: str | None = ...,
        *,
        threshold: float = ...,
        containment: float = ...,
        limit: int = ...,
        progress: Progress | None = ...,
    ) -> Duplicates:
        """Return pairs of observations that are nearly equal, most similar first.

        Args:
            entity: Only pairs of this entity.
            threshold: The minimum cosine of two vectors.
            containment: The minimum share of one text's words that the other text has.
            limit: Number of pairs.
            progress: Reports the entities compared."""
    async def consolidation_report(
        self, *, stale_days: float = ..., progress: Progress | None = ...
    ) -> ConsolidationReport:
        """Report what could be tidied: entities to split, near-duplicates, contradictions, stale entities.

        Args:
            stale_days: Days without use after which an entity counts as stale.
            progress: Reports the entities read."""
    async def find_split_candidates(self, progress: Progress | None = ...) -> tuple[SplitAnalysis, ...]:
        """Return entities with many observations on separate topics, the most urgent first."""
    async def propose_split(self, name: str) -> SplitProposal:
        """Check whether an entity should be split, and propose parts for `execute_split`. Nothing is written.

        Raises:
            NotFound: There is no entity of that name."""
    async def execute_split(
        self, name: str, parts: Iterable[PartLike], progress: Progress | None = ...
    ) -> SplitResult:
        """Move observations of an entity to new entities, and relate these to it.

        Observations that no part lists stay. The split is written as a whole or not at all.

        Args:
            name: The entity.
            parts: Parts of a proposal, or mappings with `name`, `observations` (texts) and perhaps `type`.
            progress: Reports the embedding, which follows the write.

        Returns:
            The new entities. Pass its `undo` to `undo_split` to undo the split.

        Raises:
            InvalidInput: A part names an observation that the entity does not have."""
    async def undo_split(self, undo: SplitUndo | Mapping[str, Any]) -> UndoSplitResult:
        """Undo a split.

        Raises:
            Conflict: A part has changed since the split."""
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
        """Store a reflection: a note with an opinion on stored memories.

        Entities named in the text are linked as well.

        Args:
            content: The text.
            about: Names of existing entities.
            author: The agent or person who reflects.
            mood: Any word, such as `doubt`.
            session: An existing conversation that it is about.
            relation: An existing (source, type, target) that it is about.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: An entity, conversation or relation does not exist."""
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
        """Search reflections only, and return an answer like that of `recall`.

        Args:
            query: The query.
            author: Only reflections of this author.
            mood: Only reflections in this mood.
            about: Only reflections about this entity.
            session: Only reflections about this conversation.
            relation: Only reflections about this (source, type, target).
            limit: Number of hits.
            profile: The ranking profile.
            explain: Show for every hit what each ranking step did.
            record: Record the hits, as a signal for later rankings."""

class AsyncSettling:
    """`memory.upkeep.settling`: decisions for a person to make."""
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
        """Return a page of the items of one kind, and whether there are more.

        Contradictions are searched among the newest texts: two thousand notes, and as many observations.
        Only entities with one of the newest twenty thousand observations are considered for a split.

        Args:
            kind: The kind of decision.
            start: Number of items to skip.
            limit: Number of items to return.
            dismissed: Return the dismissed items instead.
            stale_days: Days without use after which an entity counts as stale.
            progress: Reports the entities analysed for a split."""
    async def settle(self, key: str, action: SettleAction) -> SettleUndo:
        """Apply one decision.

        Args:
            key: The `key` of an item.
            action: One of the item's actions.

        Returns:
            A value for `undo`.

        Raises:
            NotFound: The item was decided already, or its texts are no longer current."""
    async def undo(self, undo: SettleUndo) -> None:
        """Undo a decision.

        Raises:
            Conflict: A memory was changed after it."""

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

        Args:
            store: A file path, `postgresql://…` for a database, or `:memory:` for a store that ends with the
                process (default: the setting `store`, else a file in the user's data folder).
            owner: The owner of the memories that are read and written.
            agent: The agent whose memories are read and written (default: memories of all agents are read).
            model: An embedding model. `auto` chooses an installed model for the languages of the first texts;
                `none` searches by words only.
            session: The conversation that the calls belong to (default: a new one).
            clock: Returns the time, for tests.

        Raises:
            InvalidInput: A setting is wrong.
            NotAStore: The file is not a store, or a newer version wrote it.
            StoreUnavailable: The store cannot be reached, or another process locks it."""
    def __await__(self) -> Generator[Any, None, AsyncEngine]: ...
    async def __aenter__(self) -> AsyncEngine: ...
    async def __aexit__(self, *_: object) -> None: ...
