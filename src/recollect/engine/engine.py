"""The façade that every edge calls: one method for each thing that one can do with a memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, tzinfo
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from recollect.changes import Forget, Purge, Restore
from recollect.engine.inputs import EntityLike, NoteLike, TurnLike, aware, ids_of, listed, one_time, scope_of
from recollect.engine.limits import DEFAULT_BUDGET, SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.engine.services import Services, asks_again
from recollect.errors import InvalidInput
from recollect.ports import Progress
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.records import Counts, Kind, Memory, Model, Scope
from recollect.retrieval.records import memories_by_id

if TYPE_CHECKING:
    from recollect.dreams.knobs import Knobs
    from recollect.engine.browse.browse import Browse
    from recollect.engine.dreams.dreaming import DreamResult
    from recollect.engine.dreams.dreams import Dreams
    from recollect.engine.graph.knowledge_graph import KnowledgeGraph
    from recollect.engine.notes.sessions import Sessions
    from recollect.engine.results import (
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
    from recollect.engine.self_test.results import SelfTest
    from recollect.engine.tokens import Tokens
    from recollect.engine.tuning.answers import AnswerLog
    from recollect.engine.tuning.tuning import Tuning
    from recollect.engine.upkeep.upkeep import Upkeep
    from recollect.engine.why_not import WhyNot
    from recollect.ranking.pipeline import Profile


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

    def close(self) -> None:
        """End what runs in the background, write what is left to be noted, and release the file."""
        self._services.usage.close()
        self._services.store.close()

    @property
    def scope(self) -> Scope:
        """Whose memory it is: what is written belongs there."""
        return self._services.own.scope

    @property
    def reads(self) -> Scope:
        """Whose memories it shows; with the agent None, those of all agents of the owner."""
        return self._services.scope

    @property
    def zone(self) -> tzinfo:
        """The time zone in which the user's days begin."""
        return self._services.zone

    def scoped(self, owner: str = "", agent: str | None = "") -> Engine:
        """The same store, seen as another owner or agent; None: as an owner who sees all their agents.

        What such an owner writes belongs to no agent. A memory that is named by its id is changed where it
        is. Dreams, tuning and tidying are of what belongs to no agent.
        """
        return Engine(replace(self._services, scope=Scope(owner, agent)))

    @property
    def graph(self) -> KnowledgeGraph:
        """Observations, relations and reading of the knowledge graph."""
        from recollect.engine.graph.knowledge_graph import KnowledgeGraph

        return KnowledgeGraph(self._services)

    @property
    def sessions(self) -> Sessions:
        """The conversations of this scope."""
        from recollect.engine.notes.sessions import Sessions

        return Sessions(self._services)

    @property
    def browse(self) -> Browse:
        """Whole memories, lists of any kind, and a timeline, for a person to look at."""
        from recollect.engine.browse.browse import Browse

        return Browse(self._services)

    @property
    def dreams(self) -> Dreams:
        """Earlier dreams, how to undo one, and what future ones would do."""
        from recollect.engine.dreams.dreams import Dreams

        return Dreams(self._services.own, self._services)

    @property
    def answers(self) -> AnswerLog:
        """The log of answers: what was asked, shown and used, and the same question now."""
        from recollect.engine.tuning.answers import AnswerLog

        return AnswerLog(self._services)

    @property
    def tuning(self) -> Tuning:
        """A profile's numbers: how they fare on this store's own answers, and the ways to change them."""
        from recollect.engine.tuning.tuning import Tuning

        return Tuning(self._services.own)

    @property
    def upkeep(self) -> Upkeep:
        """Care for the store, and tidying of the graph."""
        from recollect.engine.upkeep.upkeep import Upkeep

        return Upkeep(self._services)

    @property
    def tokens(self) -> Tokens:
        """Named tokens for a server over HTTP, of the whole store."""
        from recollect.engine.tokens import Tokens

        return Tokens(self._services)

    # What is remembered

    def create_entities(
        self,
        entities: Iterable[EntityLike],
        *,
        keep_going: bool = False,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its status and type and gains the new observations.

        A type `unknown` gives way to the first real one; `took_type` and `kept_type` tell what became of it.

        With `keep_going`, rows that cannot be stored are left out and named; without it, one such row
        stops the batch and nothing is written. The same `key` again is answered, not repeated. `progress`
        is told of the embedding, which follows the write.
        """
        from recollect.engine.graph.knowledge_graph import create_entities

        own = self._services.own
        return create_entities(own, entities, keep_going=keep_going, key=key, progress=progress)

    def remember(
        self,
        text: str,
        *,
        importance: float = 0.5,
        category: str | None = None,
        happened_at: datetime | None = None,
        at: datetime | None = None,
        expires_at: datetime | None = None,
        tags: Iterable[str] = (),
        about: Iterable[str] = (),
        source: str | None = None,
        ref: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        key: str | None = None,
    ) -> Remembered:
        """Store a note. The same words again raise its duplicate count instead of making a twin.

        It links by itself to entities whose names it mentions; `about` names more of them, which must exist.
        `at` is another name of `happened_at`, as messages have it. From `expires_at` on, no search finds it,
        though it stays; said again without one, it lasts.

        `ref` is the name by which a program knows the note: stored again under it, the note gets this text,
        and all else that is said of it now. `metadata` is a JSON object to keep with it. A note that has
        either is never one with another that says the same, and dreams leave it as it is.
        """
        from recollect.engine.notes.remember import remember

        note = {
            "text": text,
            "importance": importance,
            "category": category,
            "happened_at": one_time(happened_at, at),
            "expires_at": expires_at,
            "tags": tags,
            "about": about,
            "source": source,
            "ref": ref,
            "metadata": metadata,
        }
        return remember(self._services.own, note, key)

    def remember_many(
        self, notes: Iterable[NoteLike], *, keep_going: bool = False, key: str | None = None
    ) -> RememberedBatch:
        """Store many notes at once: texts, or mappings with the arguments of `remember`."""
        from recollect.engine.notes.remember import remember_many

        return remember_many(self._services.own, notes, keep_going=keep_going, key=key)

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
        from recollect.engine.notes.sessions import add_messages

        return add_messages(
            self._services.own,
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
        at: datetime | None = None,
        tags: Iterable[str] | None = None,
        status: str | None = None,
        pinned: bool | None = None,
        importance_tag: str | None = None,
        expires_at: datetime | Literal["never"] | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Memory:
        """Change what is given, and leave the rest. A former text is kept as a revision.

        `at` is another name of `happened_at`; "unknown" empties it, and an empty category takes that off.
        What is pinned or has an `importance_tag` resists forgetting; an empty tag takes it off.
        A note expires at `expires_at`; "never" takes that back, also once it has expired.
        """
        from recollect.engine.notes.remember import update

        return update(
            self._services.of_memory(id),
            id,
            text=text,
            importance=importance,
            category=category,
            happened_at="unknown" if happened_at == "unknown" else one_time(happened_at, at),
            tags=tags,
            status=status,
            pinned=pinned,
            importance_tag=importance_tag,
            expires_at=expires_at,
            metadata=metadata,
        )

    def supersede(
        self, old: int, new: int | NoteLike, *, copies: bool = True, key: str | None = None
    ) -> SupersedeResult:
        """Retire a note or message, and its near-copies with it, in favour of another, or of a new note.

        `new` is an id, a text, or a mapping with the arguments of `remember`.

        What was retired is found by `as_of` or `include_superseded`; `restore` takes it back.
        """
        from recollect.engine.notes.supersede import supersede

        return supersede(self._services.of_memory(old), old, new, copies=copies, key=key)

    @asks_again
    def history(self, id: int) -> History:  # noqa: A002  # the domain's word
        """What happened to a memory: its former texts, corrections, and what became of it."""
        from recollect.engine.notes.history import history

        return history(self._services, id)

    @asks_again
    def context(
        self,
        asked: str | Sequence[TurnLike] | None = None,
        *,
        query: str | None = None,
        messages: Sequence[TurnLike] | None = None,
        budget_tokens: int = DEFAULT_BUDGET,
        session: str | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        as_of: datetime | None = None,
    ) -> Context:
        """What an agent should read before it answers: recent turns and memories, within a budget.

        `asked` is a query, or the last messages of the conversation; either may be given by its name.
        """
        from recollect.engine.context.context import context

        given = [each for each in (asked, query, messages) if each is not None]
        if len(given) != 1:
            raise InvalidInput("Give either a `query` or the last `messages` of the conversation.")
        return context(
            self._services,
            given[0],
            profile=self._services.profile(profile),
            budget_tokens=budget_tokens,
            session=session,
            as_of=aware(as_of, "as_of"),
        )

    # Memories of every kind

    @asks_again
    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        kinds: Collection[str] = tuple(Kind),
        explain: bool = False,
        record: bool = True,
        scope: Scope | None = None,
        session: str | None = None,
        as_of: datetime | None = None,
        tags: Iterable[str] = (),
        category: str | None = None,
        include_superseded: bool = False,
        budget_tokens: int | None = None,
        rerank: bool | None = None,
        min_confidence: float | None = None,
        abstain: bool = False,
        tuned: bool = True,
        noted_later: bool = False,
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
        that is passed as a value ranks as it is.
        """
        from recollect.engine.recall import query_of, recall

        services = self._services if scope is None else replace(self._services, scope=scope_of(scope))
        ranker = services.profile(profile)
        asked = query_of(
            services,
            query,
            ranker,
            limit=limit,
            kinds=kinds,
            explain=explain,
            record=record,
            session=session,
            as_of=as_of,
            tags=tags,
            category=category,
            include_superseded=include_superseded,
            budget_tokens=budget_tokens,
            rerank=rerank,
            min_confidence=min_confidence,
            abstain=abstain,
            tuned=tuned and isinstance(profile, str),
            noted_later=noted_later,
        )
        return recall(services, asked, ranker)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        kinds: Collection[str] = tuple(Kind),
        explain: bool = False,
        session: str | None = None,
        as_of: datetime | None = None,
        tags: Iterable[str] = (),
        include_superseded: bool = False,
        rerank: bool | None = None,
        tuned: bool = True,
    ) -> Answer:
        """As `recall`, without leaving a trace: for looking around."""
        return self.recall(
            query,
            limit=limit,
            profile=profile,
            kinds=kinds,
            explain=explain,
            record=False,
            session=session,
            as_of=as_of,
            tags=tags,
            include_superseded=include_superseded,
            rerank=rerank,
            tuned=tuned,
        )

    def record_shown(self, ids: Sequence[int], answer: Answer | None = None) -> None:
        """Note that somebody was shown these, best first, as `recall` does by itself.

        `answer` is what they are the first of, asked for with `record=False` and `noted_later`.
        """
        from recollect.engine.shadow import note_shown

        at = self._services.clock()
        if answer is None:
            self._services.usage.record(self.scope, ids, at)
        else:
            found = {hit.memory.id: hit.memory for hit in answer.hits}
            shown = [found[id_] for id_ in ids if id_ in found]
            note_shown(self._services, shown, at, answer.query, answer.profile, answer.trace)

    def feedback(
        self,
        memories: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = None,
        *,
        query: str | None = None,
    ) -> None:
        """Say how good memories were for the question that they were shown for: 1 just right, -1 wrong.

        `answer` is what `recall` gave, or its `event`; without it, the last answer that showed the memory, to
        this `query` if one is given. Said again, it is said anew. `recollect tune` learns from it.
        """
        from recollect.engine.tuning.tuning import feedback

        ids = (memories,) if isinstance(memories, int) else ids_of(memories)
        feedback(self._services, ids, grade, answer, query)

    @asks_again
    def why_not(
        self,
        query: str,
        memory: int | str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT_PROFILE,
        kinds: Collection[str] = tuple(Kind),
        session: str | None = None,
        as_of: datetime | None = None,
        tags: Iterable[str] = (),
        include_superseded: bool = False,
        rerank: bool | None = None,
        tuned: bool = True,
    ) -> WhyNot:
        """Where a memory, by id or by an entity's name, stands or fell out, and what would lift it."""
        from recollect.engine.graph.knowledge_graph import entity_named
        from recollect.engine.recall import query_of
        from recollect.engine.why_not import why_not

        ranker = self._services.profile(profile)
        asked = query_of(
            self._services,
            query,
            ranker,
            limit=limit,
            kinds=kinds,
            record=False,
            session=session,
            as_of=as_of,
            tags=tags,
            include_superseded=include_superseded,
            rerank=rerank,
            tuned=tuned and isinstance(profile, str),
        )
        id_ = memory if isinstance(memory, int) else entity_named(self._services, memory)
        return why_not(self._services, asked, ranker, id_)

    @asks_again
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
        """How well this memory is found by questions made of itself, by these profiles, or by all.

        Nothing is written, and nobody is asked. `sample` memories are asked for, 0 for all; the first `limit`
        hits count. `languages` are those that the model knows, where that is known. `at` is the moment to
        ask at; without one, the end of this day. The same store, seed and moment give the same answer.
        """
        from recollect.engine.self_test.self_test import SelfTestOptions, self_test

        names = listed(profiles, "Profiles")
        chosen = {name: self._services.profile(name) for name in names} or self.profiles
        known = None if languages is None else tuple(languages)
        options = SelfTestOptions(sample, limit, seed, known, aware(at, "at"))
        return self_test(self._services, chosen, options, progress)

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every profile by name: the built-in ones, and the user's own."""
        return self._services.all_profiles

    @asks_again
    def get(self, id: int, *, record: bool = False) -> Memory | None:  # noqa: A002  # the domain's word
        """One memory of this scope by its id, forgotten or not. With `record`, it counts as opened."""
        with self._services.read() as view:
            memory = memories_by_id(view, [id]).get(id)
        if memory is None or not self._services.sees(memory.scope):
            return None
        if record and memory.deleted_at is None:
            self._services.usage.record(memory.scope, [id], self._services.clock(), opened=True)
        return memory

    @asks_again
    def get_many(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Those memories of this scope that are there, by id, forgotten or not."""
        wanted = ids_of(ids)
        found: dict[int, Memory] = {}
        with self._services.read() as view:
            for start in range(0, len(wanted), _AT_ONCE):
                found.update(memories_by_id(view, wanted[start : start + _AT_ONCE]))
        return {id_: memory for id_, memory in found.items() if self._services.sees(memory.scope)}

    @asks_again
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
        """One page of what is remembered, the newest first; pass its `cursor` as `after` for the next.

        Notes, unless `kinds` names others; with `refs`, those that programs know by these names. It searches
        nothing and leaves no trace.
        """
        from recollect.engine.listing import list_memories

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

    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Forget memories, so that `restore` can bring them back; returns those that were there."""
        wanted = self._services.by_scope(ids_of(ids))
        outcomes = self._services.own.write([Forget(scope, ids=those) for scope, those in wanted.items()])
        return tuple(id_ for outcome in outcomes for id_ in outcome.ids)

    def restore(self, id: int) -> Memory:  # noqa: A002  # the domain's word
        """Bring back a forgotten memory, with the relations that went with it, or a superseded one."""
        from recollect.engine.catch_up import catch_up

        services, read = self._services.of_memory(id), dict[int, Memory]()
        services.write(
            [Restore(services.scope, id)],
            before_commit=lambda view, _: read.update(memories_by_id(view, [id])),
        )
        catch_up(services)
        return read[id]

    def purge(self, before: datetime) -> PurgeResult:
        """Destroy for good what was forgotten before a time, in every scope. There is no way back.

        The result is the number of memories; its `note` says what of them is still in the file, if so.
        """
        from recollect.engine.after_commit import attempt_follow_up
        from recollect.engine.results import PURGE_WAITS, PurgeResult

        count = self._services.write([Purge(before)])[0].count
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
        """Sleep on it: strengthen what was used, let the rest fade, tidy up. `dreams.undo` takes it back.

        Nothing is written with `dry_run`, nor where people would no longer find what they found, unless
        `gate` is off; with `drop_failing`, only the phase that would lose something is left out.
        """
        from recollect.engine.dreams.dreaming import DreamOptions, dream, phases_of

        options = DreamOptions(
            phases=phases_of(self._services.phases if phases is None else phases, without),
            knobs=knobs or self._services.knobs,
            dry_run=dry_run,
            gate=gate,
            drop_failing=drop_failing,
        )
        return dream(self._services.own, options, progress)

    # The store

    @asks_again
    def counts(self) -> Counts:
        """Of the whole store, all scopes together."""
        from recollect.ranking.factors.recency import microseconds
        from recollect.retrieval.contents import store_counts

        now = microseconds(self._services.clock())
        with self._services.read_everything() as view:
            return store_counts(view, self._services.store.size(), now)

    @property
    @asks_again
    def model(self) -> Model | None:
        """The model whose vectors the store holds."""
        from recollect.retrieval.passages import model_in_use

        with self._services.read() as view:
            return model_in_use(view)

    def reindex(self, model: str | None = None, progress: Progress | None = None) -> ReindexResult:
        """Embed what has no vector yet; with another model's name, embed everything and switch to it."""
        from recollect.engine.embedding import reindex

        return reindex(self._services.own, model, progress)
