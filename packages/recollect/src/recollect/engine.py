"""The engine: the public methods of a memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, tzinfo
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

from recollect.domain.changes import Forget, Purge, PurgeMemories, Restore
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import DEFAULT_BUDGET, DEFAULT_PROFILE, SELF_TEST_HITS, SELF_TEST_SAMPLE
from recollect.domain.records import AsOf, Counts, Kind, Memory, Model, NoteFields, RecallOptions, Scope
from recollect.search.rows import memories_by_id
from recollect.services import Services, retry_after_failover
from recollect.stores.port import Progress
from recollect.write.inputs import EntityLike, NoteLike, TurnLike, as_of_time, aware, ids_of, one_or_more

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


_BATCH_SIZE = 500


class Engine:
    """A memory: one store, seen by one owner and agent.

    Open one with `recollect.open`. Threads may share it, and several processes may open the same store. Use
    it in a `with` block, or call `close` at the end.

    In the examples, `memory` holds two notes, two entities with a relation, and one message about a small
    team.

    Examples:
        >>> memory.recall("Who must not eat nuts?")[0].memory.text
        'Marisol Vega is allergic to nuts'
    """

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
        """Stop background work, write pending usage records, and release the store."""
        self._services.usage.close()
        self._services.store.close()

    @property
    def scope(self) -> Scope:
        """The scope that writes go to.

        Examples:
            >>> memory.scoped("ana", "planner").scope
            Scope(owner='ana', agent='planner')
        """
        return self._services.for_writing.scope

    @property
    def zone(self) -> tzinfo:
        """The time zone of the user's days: the setting `time_zone`, else the zone of this machine."""
        return self._services.zone

    def scoped(self, owner: str = "", agent: str | None = "") -> Engine:
        """Return the same store for another owner or agent.

        Args:
            owner: The owner whose memories are read and written.
            agent: The agent. With None, the memories of all agents are read, and writes belong to no agent.
                Dreams, tuning and tidying then cover what belongs to no agent.

        Examples:
            >>> ana = memory.scoped("ana")
            >>> ana.remember("Ana prefers tea").created
            True
            >>> len(memory.recall("tea", kinds="note", tags="drinks")), len(ana.recall("tea"))
            (0, 1)
        """
        return Engine(replace(self._services, scope=Scope(owner, agent)))

    @property
    def graph(self) -> KnowledgeGraph:
        """Entities, observations and relations."""
        from recollect.memories.graph import KnowledgeGraph

        return KnowledgeGraph(self._services)

    @property
    def sessions(self) -> Sessions:
        """Conversations and their messages."""
        from recollect.memories.sessions import Sessions

        return Sessions(self._services)

    @property
    def browse(self) -> Browse:
        """Whole memories, filtered lists, and a timeline."""
        from recollect.memories.browse import Browse

        return Browse(self._services)

    @property
    def dreams(self) -> Dreams:
        """The history of dreams, and their undo."""
        from recollect.dreams.dreaming import Dreams

        return Dreams(self._services.for_writing)

    @property
    def answers(self) -> AnswerLog:
        """The answer log: each question, its hits, and the feedback on them."""
        from recollect.tuning.answers import AnswerLog

        return AnswerLog(self._services)

    @property
    def tuning(self) -> Tuning:
        """Measurements of a profile on this store's own answers, and changes of its parameters."""
        from recollect.tuning.tuning import Tuning

        return Tuning(self._services.for_writing)

    @property
    def upkeep(self) -> Upkeep:
        """Backups and checks of the store, and tidying of the graph."""
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
        """Create entities. A name that exists keeps its status and type, and gains the new observations.

        The type `unknown` is replaced by the first real one; see `took_type` and `kept_type` of the result.

        Args:
            entities: Names, `NewEntity` values, or mappings with `name`, `type` and `observations`.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`. Without it, one
                such row stops the batch and nothing is written.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Reports the embedding, which follows the write.

        Raises:
            InvalidInput: A row cannot be stored.

        Examples:
            >>> ana = {"name": "Ana", "type": "person", "observations": ["Speaks Czech"]}
            >>> batch = memory.create_entities([ana])
            >>> [(entity.name, entity.created) for entity in batch]
            [('Ana', True)]
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
            NotFound: `about` names an entity that does not exist.

        Examples:
            >>> note = memory.remember("Marisol Vega prefers the night train", tags="travel")
            >>> note.created, note.mentions
            (True, ('Marisol Vega',))
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
        """Store many notes in one transaction.

        Args:
            notes: Texts, or mappings with the arguments of `remember`.
            keep_going: Leave out notes that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            InvalidInput: A note cannot be stored, and `keep_going` is off. Nothing was written.

        Examples:
            >>> lunch = {"text": "Lunch is at noon", "tags": ["office"]}
            >>> notes = memory.remember_many(["The door code is 4711", lunch])
            >>> len(notes)
            2
        """
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
        """Store messages of a conversation, in order.

        Args:
            session: The name of the conversation. Messages are appended to it.
            messages: `Turn` values, or mappings with `content` and perhaps `role`, `speaker` and `at`.
            extract: Also extract facts worth keeping as notes. Each note points to its message.
            keep_going: Leave out messages that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Reports the embedding, which follows the write.

        Raises:
            InvalidInput: A message cannot be stored, and `keep_going` is off. Nothing was written.

        Examples:
            >>> said = [{"role": "user", "speaker": "Ana", "content": "I moved to Lisbon in May."}]
            >>> memory.add_messages("tuesday", said, extract=False).created
            1
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
        id: int,  # noqa: A002  # the public name
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
            NotFound: The scope has no such memory.

        Examples:
            >>> memory.update(2, text="The release is on 19 March").revisions
            1
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
        """Replace a note or message, and its near-copies, by another one.

        Replaced memories are found with `as_of` or `include_superseded`; `restore` brings one back.

        Args:
            old: The memory to replace.
            new: The id of another memory, a text, or a mapping with the arguments of `remember`.
            copies: Also replace memories that say nearly the same as the old one.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: The scope has no such memory.
            Conflict: A memory cannot replace itself, or was replaced already.

        Examples:
            >>> done = memory.supersede(2, "The release is on 19 March")
            >>> done.by.text, [each.id for each in done.retired]
            ('The release is on 19 March', [2])
        """
        from recollect.memories.corrections import supersede

        return supersede(self._services.of_memory(old), old, new, copies=copies, key=key)

    @retry_after_failover
    def history(self, id: int) -> History:  # noqa: A002  # the public name
        """Return what happened to a memory, oldest first: former texts, corrections, and other events.

        Raises:
            NotFound: The scope has no such memory.

        Examples:
            >>> [event.what for event in memory.history(1)]
            ['noted']
        """
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
            InvalidInput: None or several of `asked`, `query` and `messages` were given.

        Examples:
            >>> print(memory.context("What may I cook for Marisol?", budget_tokens=200))  # doctest: +ELLIPSIS
            ## What is known
            - [2026-03-01 12:00, note] "Marisol Vega is allergic to nuts"...
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
        options: RecallOptions | dict[str, Any] | None = None,
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
            ModelUnavailable: The store's embedding model is not installed.

        Examples:
            >>> answer = memory.recall("nuts", kinds="note")
            >>> [hit.memory.text for hit in answer]
            ['Marisol Vega is allergic to nuts']
            >>> answer.to_dicts()[0]["tags"]
            ['health']
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
        """Return the same answer as `recall` without recording it.

        Examples:
            >>> memory.search("release")[0].memory.id
            2
        """
        return self.recall(query, explain=explain, record=False, **given)

    def _query_and_profile(
        self,
        query: str,
        profile: str | Profile = DEFAULT_PROFILE,
        options: RecallOptions | dict[str, Any] | None = None,
        **given: Any,
    ) -> tuple[Query, Profile]:
        """Return the query and its profile. A profile that is passed as a value is not tuned."""
        from recollect.search.recall import query_of

        ranker = self._services.profile(profile)
        rare = asdict(RecallOptions(**options) if isinstance(options, dict) else options or RecallOptions())
        rare["tuned"] = rare["tuned"] and isinstance(profile, str)
        if rare["defer_recording"]:
            given["record"] = False
        return query_of(self._services, query, ranker, **given, **rare), ranker

    def record_shown(self, ids: Sequence[int], answer: Answer | None = None) -> None:
        """Record that memories were shown, best first. `recall` does so by itself.

        Args:
            ids: The memories that were shown.
            answer: The answer that they come from, recalled with the option `defer_recording`.

        Examples:
            >>> options = recollect.RecallOptions(defer_recording=True)
            >>> answer = memory.recall("nuts", options=options)
            >>> memory.record_shown([answer[0].memory.id], answer)
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
        ids: int | Iterable[int],
        grade: float,
        answer: Answer | str | None = None,
        *,
        query: str | None = None,
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
            NotFound: No recorded answer showed the memory.

        Examples:
            >>> answer = memory.recall("nuts")
            >>> memory.feedback(1, 1.0, answer)
        """
        from recollect.tuning.tuning import feedback

        feedback(self._services, ids_of(ids), grade, answer, query)

    @retry_after_failover
    def why_not(self, query: str, memory: int | str, **given: Unpack[SearchArguments]) -> WhyNot:
        """Explain where a memory ranks for a query, or which step dropped it, and what would lift it.

        The other arguments are those of `recall`.

        Args:
            query: The query.
            memory: An id, or the name of an entity.

        Raises:
            NotFound: The scope has no such memory.

        Examples:
            >>> memory.why_not("lunch", 2).verdict
            'No search brought it up, so it was never a candidate.'
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
        """Ask questions made from the stored texts, and measure how many find them. Nothing is written.

        The same store, seed and moment give the same result.

        Args:
            profiles: The profiles to test (default: all).
            sample: Number of memories to test; 0 for all.
            limit: Number of hits that count.
            seed: Chooses the sample.
            languages: Languages that the model knows, if known.
            at: The time to ask at (default: the end of this day).
            progress: Reports the questions asked.

        Examples:
            >>> memory.self_test(profiles="recollect").sampled
            5
        """
        from recollect.self_test.self_test import SelfTestOptions, self_test

        names = one_or_more(profiles, "Profiles")
        chosen = {name: self._services.profile(name) for name in names} or self.profiles
        known = None if languages is None else tuple(languages)
        options = SelfTestOptions(sample, limit, seed, known, aware(at, "at"))
        return self_test(self._services, chosen, options, progress)

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every ranking profile by name: the built-in ones and the user's own.

        Examples:
            >>> "recollect" in memory.profiles
            True
        """
        return self._services.all_profiles

    @retry_after_failover
    def get(self, id: int, *, record: bool = False) -> Memory | None:  # noqa: A002  # the public name
        """Return one memory of this scope by its id, forgotten or not, or None.

        Args:
            id: The memory.
            record: Count it as opened.

        Examples:
            >>> memory.get(1).text
            'Marisol Vega is allergic to nuts'
            >>> memory.get(99) is None
            True
        """
        with self._services.read() as view:
            memory = memories_by_id(view, ids_of(id)).get(id)
        if memory is None or not self._services.can_read(memory.scope):
            return None
        if record and memory.deleted_at is None:
            self._services.usage.record(memory.scope, [id], self._services.clock(), opened=True)
        return memory

    @retry_after_failover
    def get_many(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Return the memories of this scope that exist, by id, forgotten or not.

        Examples:
            >>> sorted(memory.get_many([1, 2, 99]))
            [1, 2]
        """
        wanted = ids_of(ids)
        found: dict[int, Memory] = {}
        with self._services.read() as view:
            for start in range(0, len(wanted), _BATCH_SIZE):
                found.update(memories_by_id(view, wanted[start : start + _BATCH_SIZE]))
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
        """Return one page of memories, newest first, without a search. It is not recorded as usage.

        Args:
            kinds: `note`, `entity`, `message`, or several of them.
            category: Only memories of this category.
            tags: Only memories with all of these tags.
            session: Only memories of this conversation.
            refs: Only notes that programs stored under these names.
            include_superseded: Also list replaced memories.
            limit: Number of memories.
            after: The `cursor` of the previous page.

        Examples:
            >>> [memory.text for memory in memory.list(tags="health")]
            ['Marisol Vega is allergic to nuts']
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
        """Forget memories. `restore` brings one back.

        Args:
            ids: One id, or several.

        Returns:
            The ids of the forgotten memories.

        Examples:
            >>> memory.forget([1, 99])
            (1,)
        """
        wanted = self._services.by_scope(ids_of(ids))
        outcomes = self._services.for_writing.write(
            [Forget(scope, ids=those) for scope, those in wanted.items()]
        )
        return tuple(id_ for outcome in outcomes for id_ in outcome.ids)

    def restore(self, id: int) -> Memory:  # noqa: A002  # the public name
        """Bring back a forgotten memory, with the relations forgotten with it, or a superseded one.

        Raises:
            NotFound: The scope has no such memory.
            Conflict: Another memory has taken its place; the message names it.

        Examples:
            >>> memory.forget(1)
            (1,)
            >>> memory.restore(1).text
            'Marisol Vega is allergic to nuts'
        """
        from recollect.write.embedding import catch_up

        services, read = self._services.of_memory(id), dict[int, Memory]()
        services.write(
            [Restore(services.scope, id)],
            before_commit=lambda view, _: read.update(memories_by_id(view, [id])),
        )
        catch_up(services)
        return read[id]

    def purge(self, before: datetime | None = None, *, ids: int | Iterable[int] | None = None) -> PurgeResult:
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
            Conflict: A memory of `ids` is not forgotten.

        Examples:
            >>> memory.forget(1)
            (1,)
            >>> memory.purge(ids=1)
            1
        """
        from recollect.domain.results import PURGE_WAITS, PurgeResult
        from recollect.services import attempt_follow_up

        changes: list[Purge | PurgeMemories]
        before = aware(before, "before")
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
            Conflict: Another process dreams on this store.

        Examples:
            >>> memory.dream(dry_run=True).report.memories
            5
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
        """Count the whole store, all scopes together.

        Examples:
            >>> memory.counts().notes
            2
        """
        from recollect.ranking.factors import microseconds
        from recollect.search.texts import store_counts

        now = microseconds(self._services.clock())
        with self._services.read_everything() as view:
            return store_counts(view, self._services.store.size(), now)

    @property
    @retry_after_failover
    def model(self) -> Model | None:
        """The embedding model whose vectors the store holds, or None."""
        from recollect.search.texts import model_in_use

        with self._services.read() as view:
            return model_in_use(view)

    def reindex(self, model: str | None = None, progress: Progress | None = None) -> ReindexResult:
        """Embed texts that have no vector yet.

        A store that was made with a former default model switches to its successor.

        Args:
            model: The name of another model: embed all texts again and switch to it.
            progress: Reports the texts embedded.

        Raises:
            ModelUnavailable: The model is not installed.

        Examples:
            >>> memory.reindex("hashing").embedded > 0
            True
        """
        from recollect.write.embedding import reindex

        return reindex(self._services.for_writing, model, progress)
