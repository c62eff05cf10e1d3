"""Use cases: each reads, decides, and writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, tzinfo
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from recollect.domain.changes import Forget, Purge, PurgeMemories, Restore
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import DEFAULT_BUDGET, DEFAULT_PROFILE, SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.records import Counts, Kind, Memory, Model, NoteFields, RecallOptions, Scope
from recollect.domain.times import AsOf, as_of_time, aware
from recollect.search.rows import memories_by_id
from recollect.services import Services, retry_after_failover
from recollect.stores.port import Progress
from recollect.write.inputs import EntityLike, NoteLike, TurnLike, ids_of, one_or_more

if TYPE_CHECKING:
    from recollect.admin import Upkeep
    from recollect.domain.records import Query, SearchArguments
    from recollect.domain.results import (
        AddMessagesResult,
        Answer,
        Context,
        History,
        MemoryPage,
        ObservedBatch,
        PurgeResult,
        ReindexResult,
        Remembered,
        RememberedBatch,
        SupersedeResult,
    )
    from recollect.dreams.dreaming import DreamResult, Dreams
    from recollect.dreams.knobs import Knobs
    from recollect.memories.browse import Browse
    from recollect.memories.graph import KnowledgeGraph
    from recollect.memories.sessions import Sessions
    from recollect.ranking.candidates import Profile
    from recollect.search.why_not import WhyNot
    from recollect.self_test.questions import SelfTest
    from recollect.tuning.answers import AnswerLog
    from recollect.tuning.tuning import Tuning


# The façade that every edge calls: one method for each thing that one can do with a memory.

_AT_ONCE = 500


class Engine:
    """A memory. Safe to share between threads; several processes may open the same store."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(store={self._services.store.place!r}, scope={self._services.scope!r})"

    def close(self) -> None:
        """End what runs in the background, write what is left to be noted, and release the file."""
        self._services.usage.close()
        self._services.store.close()

    @property
    def scope(self) -> Scope:
        """The scope that writes go to."""
        return self._services.for_writing.scope

    @property
    def zone(self) -> tzinfo:
        """The time zone in which the user's days begin."""
        return self._services.zone

    def scoped(self, owner: str = "", agent: str | None = "") -> Engine:
        """The same store for another owner or agent; with None, for an owner who reads all agents.

        Such an owner's writes belong to no agent. A memory named by its id is changed where it is. Dreams,
        tuning and tidying cover what belongs to no agent.
        """
        return Engine(replace(self._services, scope=Scope(owner, agent)))

    @property
    def graph(self) -> KnowledgeGraph:
        """Observations, relations and reading of the knowledge graph."""
        from recollect.memories.graph import KnowledgeGraph

        return KnowledgeGraph(self._services)

    @property
    def sessions(self) -> Sessions:
        """The conversations of this scope."""
        from recollect.memories.sessions import Sessions

        return Sessions(self._services)

    @property
    def browse(self) -> Browse:
        """Whole memories, lists of any kind, and a timeline, for a person to look at."""
        from recollect.memories.browse import Browse

        return Browse(self._services)

    @property
    def dreams(self) -> Dreams:
        """Earlier dreams, and how to undo one."""
        from recollect.dreams.dreaming import Dreams

        return Dreams(self._services.for_writing)

    @property
    def answers(self) -> AnswerLog:
        """The log of answers: what was asked, shown and used, and the same question now."""
        from recollect.tuning.answers import AnswerLog

        return AnswerLog(self._services)

    @property
    def tuning(self) -> Tuning:
        """A profile's numbers: how they fare on this store's own answers, and the ways to change them."""
        from recollect.tuning.tuning import Tuning

        return Tuning(self._services.for_writing)

    @property
    def upkeep(self) -> Upkeep:
        """Care for the store, and tidying of the graph."""
        from recollect.admin import Upkeep

        return Upkeep(self._services)

    # Writing

    def create_entities(
        self,
        entities: Iterable[EntityLike],
        *,
        keep_going: bool = False,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its status and type and gains the new observations.

        The type `unknown` is replaced by the first real one; see `took_type` and `kept_type`.

        With `keep_going`, rows that cannot be stored are left out and named; without it, one such row stops
        the batch and nothing is written. The same `key` again returns the first result. `progress` reports
        the embedding, which follows the write.
        """
        from recollect.memories.graph import create_entities

        own = self._services.for_writing
        return create_entities(own, entities, keep_going=keep_going, key=key, progress=progress)

    def remember(
        self,
        text: str,
        *,
        importance: float = 0.5,
        category: str | None = None,
        happened_at: datetime | None = None,
        expires_at: datetime | None = None,
        tags: Iterable[str] = (),
        about: Iterable[str] = (),
        source: str | None = None,
        ref: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
        **fields: Unpack[NoteFields],
    ) -> Remembered:
        """Store a note. The same words again raise its duplicate count instead of making a second note.

        It is linked to entities whose names it mentions; `about` names more of them, which must exist. After
        `expires_at`, no search finds it, though it stays; storing it again without one removes the expiry.

        `ref` is a program's own name for the note: stored again under it, the note gets the new text and the
        new values. `metadata` is a JSON object to keep with it. A note with either is never merged with
        another one, and dreams leave it as it is.
        """
        from recollect.memories.notes import remember

        note = {
            "text": text,
            "importance": importance,
            "category": category,
            "happened_at": happened_at,
            "expires_at": expires_at,
            "tags": tags,
            "about": about,
            "source": source,
            "ref": ref,
            "metadata": metadata,
            **fields,
        }
        return remember(self._services.for_writing, note, key)

    def remember_many(
        self, notes: Iterable[NoteLike], *, keep_going: bool = False, key: str | None = None
    ) -> RememberedBatch:
        """Store many notes at once: texts, or mappings with the arguments of `remember`."""
        from recollect.memories.notes import remember_many

        return remember_many(self._services.for_writing, notes, keep_going=keep_going, key=key)

    def add_messages(
        self,
        session: str,
        messages: Iterable[TurnLike],
        *,
        extract: bool = True,
        keep_going: bool = False,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> AddMessagesResult:
        """Store raw turns of a session, in order: mappings with `content`, `role`, `speaker` and `at`.

        With `extract`, what is worth keeping in them also becomes notes, each pointing to its message.
        """
        from recollect.memories.sessions import add_messages

        return add_messages(
            self._services.for_writing,
            session,
            messages,
            extract=extract,
            keep_going=keep_going,
            key=key,
            progress=progress,
        )

    def update(
        self,
        id: int,  # noqa: A002  # the domain's word
        *,
        text: str | None = None,
        importance: float | None = None,
        category: str | None = None,
        happened_at: datetime | Literal["unknown"] | None = None,
        tags: Iterable[str] | None = None,
        status: str | None = None,
        pinned: bool | None = None,
        importance_tag: str | None = None,
        expires_at: datetime | Literal["never"] | None = None,
        metadata: Mapping[str, Any] | None = None,
        **fields: Unpack[NoteFields],
    ) -> Memory:
        """Change what is given, and leave the rest. A former text is kept as a revision.

        "unknown" empties `happened_at`, and an empty category removes it. A memory that is pinned or has an
        `importance_tag` is not forgotten; an empty tag removes it. A note expires at `expires_at`; "never"
        removes the expiry, also afterwards.
        """
        from recollect.memories.notes import update

        return update(
            self._services.of_memory(id),
            id,
            text=text,
            importance=importance,
            category=category,
            happened_at=happened_at,
            tags=tags,
            status=status,
            pinned=pinned,
            importance_tag=importance_tag,
            expires_at=expires_at,
            metadata=metadata,
            **fields,
        )

    def supersede(
        self, old: int, new: int | NoteLike, *, copies: bool = True, key: str | None = None
    ) -> SupersedeResult:
        """Retire a note or message, and its near-copies with it, in favour of another, or of a new note.

        `new` is an id, a text, or a mapping with the arguments of `remember`.

        Retired memories are found by `as_of` or `include_superseded`; `restore` brings them back.
        """
        from recollect.memories.corrections import supersede

        return supersede(self._services.of_memory(old), old, new, copies=copies, key=key)

    @retry_after_failover
    def history(self, id: int) -> History:  # noqa: A002  # the domain's word
        """Return the history of a memory: its former texts, corrections, and other events."""
        from recollect.memories.corrections import history

        return history(self._services, id)

    @retry_after_failover
    def context(
        self,
        asked: str | Sequence[TurnLike] | None = None,
        *,
        query: str | None = None,
        messages: Sequence[TurnLike] | None = None,
        budget_tokens: int = DEFAULT_BUDGET,
        session: str | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        as_of: AsOf | None = None,
    ) -> Context:
        """Return what an agent should read before it answers: recent turns and memories, within a budget.

        `asked` is a query, or the last messages of the conversation; either may be given by its name.
        """
        from recollect.search.context import context

        given = [each for each in (asked, query, messages) if each is not None]
        if len(given) != 1:
            raise InvalidInput("Give either a `query` or the last `messages` of the conversation.")
        return context(
            self._services,
            given[0],
            profile=self._services.profile(profile),
            budget_tokens=budget_tokens,
            session=session,
            as_of=as_of_time(as_of, self.zone),
        )

    # Memories of every kind

    @retry_after_failover
    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        kinds: Collection[str] = tuple(Kind),
        session: str | None = None,
        as_of: AsOf | None = None,
        tags: Iterable[str] = (),
        include_superseded: bool = False,
        budget_tokens: int | None = None,
        explain: bool = False,
        record: bool = True,
        options: RecallOptions | None = None,
    ) -> Answer:
        """Return the best memories for a query, best first, ranked by a profile.

        An explicit `limit` is filled. Without one, weak hits are dropped, and one to ten are left. Notes and
        entities are found whatever their session. Messages are those of the current `session`; without one,
        of all. `as_of` answers from the store's state at that time; a day alone means its end in `zone`.

        With `explain`, every hit shows what each step did. Hits are recorded, as a signal for later rankings;
        with `record=False` the call leaves no trace. Every hit has a `confidence`, and so has the answer: how
        likely the store is to hold one at all. `options` holds what few callers need.

        A named profile ranks with the numbers it was tuned to. A profile passed as a value ranks as it is.
        """
        from recollect.search.recall import recall

        asked, ranker = self._query_and_profile(
            query,
            profile,
            options,
            limit=limit,
            kinds=kinds,
            session=session,
            as_of=as_of,
            tags=tags,
            include_superseded=include_superseded,
            budget_tokens=budget_tokens,
            explain=explain,
            record=record,
        )
        return recall(self._services, asked, ranker)

    def search(self, query: str, *, explain: bool = False, **given: Unpack[SearchArguments]) -> Answer:
        """As `recall`, without leaving a trace: for looking around."""
        return self.recall(query, explain=explain, record=False, **given)

    def _query_and_profile(
        self,
        query: str,
        profile: str | Profile = DEFAULT_PROFILE,
        options: RecallOptions | None = None,
        **given: Any,
    ) -> tuple[Query, Profile]:
        """The question and its ranking. A profile that is passed as a value has no tuned numbers."""
        from recollect.search.recall import query_of

        ranker = self._services.profile(profile)
        rare = asdict(options or RecallOptions())
        rare["tuned"] = rare["tuned"] and isinstance(profile, str)
        if rare["defer_recording"]:
            given["record"] = False
        return query_of(self._services, query, ranker, **given, **rare), ranker

    def record_shown(self, ids: Sequence[int], answer: Answer | None = None) -> None:
        """Record that these were shown, best first, as `recall` does by itself.

        `answer` is the answer that they begin, asked for with the option `defer_recording`.
        """
        from recollect.search.recording import record_shown

        at = self._services.clock()
        if answer is None:
            self._services.usage.record(self.scope, ids, at)
        else:
            found = {hit.memory.id: hit.memory for hit in answer.hits}
            shown = [found[id_] for id_ in ids if id_ in found]
            record_shown(self._services, shown, at, answer.query, answer.profile, answer.trace)

    def feedback(
        self,
        memories: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = None,
        *,
        query: str | None = None,
    ) -> None:
        """Rate memories for the query that they were shown for: 1 just right, -1 wrong.

        `answer` is the answer of `recall`, or its `event`; without it, the last answer that showed the
        memory, to `query` if given. A new rating replaces the old one. `recollect tune` learns from it.
        """
        from recollect.tuning.tuning import feedback

        feedback(self._services, ids_of(memories), grade, answer, query)

    @retry_after_failover
    def why_not(self, query: str, memory: int | str, **given: Unpack[SearchArguments]) -> WhyNot:
        """Return where a memory, given by id or by an entity's name, ranks or was dropped, and what would
        lift it. The other arguments are those of `recall`.
        """
        from recollect.memories.graph import entity_named
        from recollect.search.why_not import why_not

        asked, ranker = self._query_and_profile(query, **given, record=False)
        id_ = memory if isinstance(memory, int) else entity_named(self._services, memory)
        return why_not(self._services, asked, ranker, id_)

    @retry_after_failover
    def self_test(
        self,
        *,
        profiles: Iterable[str] = (),
        sample: int = SELF_TEST_SAMPLE,
        limit: int = SELF_TEST_HITS,
        seed: int = 0,
        languages: Iterable[str] | None = None,
        at: datetime | None = None,
        progress: Progress | None = None,
    ) -> SelfTest:
        """Measure how well this memory is found by questions made from itself, by these profiles or all.

        Nothing is written. `sample` memories are asked for, 0 for all; the first `limit` hits count.
        `languages` are those that the model knows, if known. `at` is the moment to ask at; without one, the
        end of this day. The same store, seed and moment give the same answer.
        """
        from recollect.self_test.self_test import SelfTestOptions, self_test

        names = one_or_more(profiles, "Profiles")
        chosen = {name: self._services.profile(name) for name in names} or self.profiles
        known = None if languages is None else tuple(languages)
        options = SelfTestOptions(sample, limit, seed, known, aware(at, "at"))
        return self_test(self._services, chosen, options, progress)

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every profile by name: the built-in ones, and the user's own."""
        return self._services.all_profiles

    @retry_after_failover
    def get(self, id: int, *, record: bool = False) -> Memory | None:  # noqa: A002  # the domain's word
        """One memory of this scope by its id, forgotten or not. With `record`, it counts as opened."""
        with self._services.read() as view:
            memory = memories_by_id(view, [id]).get(id)
        if memory is None or not self._services.can_read(memory.scope):
            return None
        if record and memory.deleted_at is None:
            self._services.usage.record(memory.scope, [id], self._services.clock(), opened=True)
        return memory

    @retry_after_failover
    def get_many(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Those memories of this scope that are there, by id, forgotten or not."""
        wanted = ids_of(ids)
        found: dict[int, Memory] = {}
        with self._services.read() as view:
            for start in range(0, len(wanted), _AT_ONCE):
                found.update(memories_by_id(view, wanted[start : start + _AT_ONCE]))
        return {id_: memory for id_, memory in found.items() if self._services.can_read(memory.scope)}

    @retry_after_failover
    def list(
        self,
        *,
        kinds: Collection[str] = (Kind.NOTE,),
        category: str | None = None,
        tags: Iterable[str] = (),
        session: str | None = None,
        refs: Iterable[str] | None = None,
        include_superseded: bool = False,
        limit: int = 100,
        after: int = 0,
    ) -> MemoryPage:
        """Return one page of memories, the newest first; pass its `cursor` as `after` for the next.

        Notes, unless `kinds` names others; with `refs`, those with these names of programs. It searches
        nothing and leaves no trace.
        """
        from recollect.memories.notes import list_memories

        return list_memories(
            self._services,
            kinds=kinds,
            category=category,
            tags=tags,
            session=session,
            refs=refs,
            include_superseded=include_superseded,
            limit=limit,
            after=after,
        )

    def forget(self, ids: int | Iterable[int]) -> tuple[int, ...]:
        """Forget memories, so that `restore` can bring them back; returns those that were there."""
        wanted = self._services.by_scope(ids_of(ids))
        outcomes = self._services.for_writing.write(
            [Forget(scope, ids=those) for scope, those in wanted.items()]
        )
        return tuple(id_ for outcome in outcomes for id_ in outcome.ids)

    def restore(self, id: int) -> Memory:  # noqa: A002  # the domain's word
        """Bring back a forgotten memory, with the relations that went with it, or a superseded one."""
        from recollect.write.embedding import catch_up

        services, read = self._services.of_memory(id), dict[int, Memory]()
        services.write(
            [Restore(services.scope, id)],
            before_commit=lambda view, _: read.update(memories_by_id(view, [id])),
        )
        catch_up(services)
        return read[id]

    def purge(self, before: datetime | None = None, *, ids: int | Iterable[int] | None = None) -> PurgeResult:
        """Destroy for good what was forgotten before a time, in every scope. There is no way back.

        With `ids`, destroy these forgotten memories of this scope instead. With them goes what may quote
        them: the queries and answers that showed them, reports of dreams.

        The result is the number of memories; its `note` says what of them is still in the file, if so.
        """
        from recollect.domain.results import PURGE_WAITS, PurgeResult
        from recollect.services import attempt_follow_up

        changes: list[Purge | PurgeMemories]
        if before is not None and ids is None:
            changes = [Purge(before)]
        elif ids is not None and before is None:
            wanted = self._services.by_scope(ids_of(ids))
            changes = [PurgeMemories(scope, those) for scope, those in wanted.items() if those]
        else:
            raise InvalidInput("Give either a time, `before`, or the `ids` of forgotten memories.")
        count = sum(outcome.count for outcome in self._services.for_writing.write(changes))
        done, failure = attempt_follow_up(self._services.store.compact)
        return PurgeResult(count, None if done else failure or PURGE_WAITS)

    # Dreams

    def dream(
        self,
        *,
        phases: Collection[str] | None = None,
        without: Collection[str] = (),
        dry_run: bool = False,
        gate: bool = True,
        drop_failing: bool = False,
        knobs: Knobs | None = None,
        progress: Progress | None = None,
    ) -> DreamResult:
        """Dream: strengthen used memories, let others fade, merge and tidy. `dreams.undo` takes it back.

        Nothing is written with `dry_run`, nor where people would find less, unless `gate` is off; with
        `drop_failing`, only the phase that would lose something is left out.
        """
        from recollect.dreams.dreaming import DreamOptions, dream, phases_of

        options = DreamOptions(
            phases=phases_of(self._services.phases if phases is None else phases, without),
            knobs=knobs or self._services.knobs,
            dry_run=dry_run,
            gate=gate,
            drop_failing=drop_failing,
        )
        return dream(self._services.for_writing, options, progress)

    # The store

    @retry_after_failover
    def counts(self) -> Counts:
        """Count the whole store, all scopes together."""
        from recollect.ranking.factors import microseconds
        from recollect.search.texts import store_counts

        now = microseconds(self._services.clock())
        with self._services.read_everything() as view:
            return store_counts(view, self._services.store.size(), now)

    @property
    @retry_after_failover
    def model(self) -> Model | None:
        """The model whose vectors the store holds."""
        from recollect.search.texts import model_in_use

        with self._services.read() as view:
            return model_in_use(view)

    def reindex(self, model: str | None = None, progress: Progress | None = None) -> ReindexResult:
        """Embed what has no vector yet; with another model's name, embed everything and switch to it."""
        from recollect.write.embedding import reindex

        return reindex(self._services.for_writing, model, progress)
