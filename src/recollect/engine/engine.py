"""The façade that every edge calls: one method for each thing that one can do with a memory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from recollect.changes import Forget, Purge, Restore, RestoreObservation
from recollect.engine import graph, meaning
from recollect.engine.recall import Question, recall
from recollect.engine.semantic import search_semantic
from recollect.engine.whynot import why_not
from recollect.errors import InvalidInput
from recollect.rank.profiles import DEFAULT, PROFILES, profile_named
from recollect.records import Kind, Scope

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from recollect.engine.parts import Parts
    from recollect.engine.results import Answer, Graph, ObservedBatch, Reindexed, RelatedBatch
    from recollect.engine.wanted import EntityLike, ObservationLike, RelationLike
    from recollect.engine.whynot import WhyNot
    from recollect.ports import Progress, Store
    from recollect.rank.pipeline import Profile
    from recollect.records import Counts, Memory, Model, Problem, Status


class Engine:
    """A memory. Safe to share between threads; several processes may open the same store."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write what is left to be noted, and release the file."""
        self._parts.signals.close()
        self._parts.store.close()

    @property
    def store(self) -> Store:
        return self._parts.store

    @property
    def scope(self) -> Scope:
        return self._parts.scope

    @property
    def parts(self) -> Parts:
        return self._parts

    def scoped(self, owner: str = "", agent: str = "") -> Engine:
        """The same store, seen as another owner or agent."""
        return Engine(replace(self._parts, scope=Scope(owner, agent)))

    # The knowledge graph

    def create_entities(
        self, entities: Iterable[EntityLike], *, keep_going: bool = False, key: str | None = None
    ) -> ObservedBatch:
        """Create entities. A name that exists keeps its type and status and gains the new observations.

        With `keep_going`, rows that cannot be stored are left out and named; without it, one such row
        stops the batch and nothing is written. The same `key` again is answered, not repeated.
        """
        return graph.create_entities(self._parts, entities, keep_going=keep_going, key=key)

    def add_observations(
        self,
        additions: Mapping[str, Sequence[ObservationLike]],
        *,
        keep_going: bool = False,
        key: str | None = None,
    ) -> ObservedBatch:
        """Add observations to entities that exist, by name. Near-repeats are flagged, never dropped."""
        return graph.add_observations(self._parts, additions, keep_going=keep_going, key=key)

    def create_relations(
        self,
        relations: Iterable[RelationLike],
        *,
        create_missing: bool = False,
        keep_going: bool = False,
        key: str | None = None,
    ) -> RelatedBatch:
        """Connect entities. With `create_missing`, one that is absent is made, of type `unknown`."""
        return graph.create_relations(
            self._parts, relations, create_missing=create_missing, keep_going=keep_going, key=key
        )

    def end_relation(self, source: str, type: str, target: str, *, at: datetime | None = None) -> None:  # noqa: A002  # the domain's word
        """Say that a relation held until `at` (now, if not given). It stays, as history."""
        graph.end_relation(self._parts, source, type, target, at)

    def delete_entities(self, names: Iterable[str]) -> tuple[int, ...]:
        """Forget entities by exact name, and their relations; returns the ids, which `restore` takes."""
        return graph.delete_entities(self._parts, names)

    def delete_observations(self, removals: Mapping[str, Sequence[str]]) -> int:
        """Remove observations by exact text; returns how many there were."""
        return graph.delete_observations(self._parts, removals)

    def delete_relations(self, relations: Iterable[RelationLike]) -> int:
        """Remove relations; returns how many there were, inverses included."""
        return graph.delete_relations(self._parts, relations)

    def set_status(self, name: str, status: str) -> Status:
        """Mark an entity as active, paused, completed or archived."""
        return graph.set_status(self._parts, name, status)

    def read_graph(self, *, limit: int = 100, after: int = 0) -> Graph:
        """One page of the graph; pass the answer's `cursor` as `after` for the next."""
        return graph.read_graph(self._parts, limit, after)

    def search_nodes(self, query: str, *, limit: int = 50) -> Graph:
        """Entities whose name, type or observations hold the words, or the text as it stands."""
        return graph.search_nodes(self._parts, query, limit)

    def open_nodes(self, names: Sequence[str], *, record: bool = True, history: bool = False) -> Graph:
        """Entities by name, with the relations in force that touch them; with `history`, ended ones too."""
        return graph.open_nodes(self._parts, names, record=record, history=history)

    # Memories of every kind

    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT,
        kinds: Collection[str] = tuple(Kind),
        explain: bool = False,
        record: bool = True,
    ) -> Answer:
        """The best memories for a query, best first, ranked by a profile.

        With `explain`, every hit carries what each step found and did. What is shown is noted, as a
        signal for later rankings; with `record=False` the call leaves no trace.
        """
        question = Question(query, self._profile(profile), limit, _kinds(kinds), explain, record)
        return recall(self._parts, question)

    def search(
        self,
        query: str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT,
        kinds: Collection[str] = tuple(Kind),
        explain: bool = False,
    ) -> Answer:
        """As `recall`, without leaving a trace: for looking around."""
        return self.recall(query, limit=limit, profile=profile, kinds=kinds, explain=explain, record=False)

    def search_semantic(
        self, query: str, limit: int | None = None, *, explain: bool = False, record: bool = True
    ) -> dict[str, Any]:
        """Entities by the limbic profile, in the form that MCP Memory v2 answers in."""
        return search_semantic(
            self._parts, self._profile("limbic"), query, limit, explain=explain, record=record
        )

    def why_not(
        self,
        query: str,
        memory: int | str,
        *,
        limit: int | None = None,
        profile: str | Profile = DEFAULT,
        kinds: Collection[str] = tuple(Kind),
    ) -> WhyNot:
        """Where a memory, by id or by an entity's name, stands or fell out, and what would lift it."""
        question = Question(query, self._profile(profile), limit, _kinds(kinds), record=False)
        id_ = memory if isinstance(memory, int) else graph.entity_named(self._parts, memory)
        return why_not(self._parts, question, id_)

    @property
    def profiles(self) -> Mapping[str, Profile]:
        """Every profile by name: the built-in ones, and the user's own."""
        return {**PROFILES, **self._parts.profiles}

    def _profile(self, profile: str | Profile) -> Profile:
        return profile_named(profile, self.profiles) if isinstance(profile, str) else profile

    def get(self, id: int) -> Memory | None:  # noqa: A002  # the domain's word
        """One memory of this scope by its id, forgotten or not."""
        with self.store.read() as view:
            memory = view.memories([id]).get(id)
        return memory if memory is not None and memory.scope == self.scope else None

    def forget(self, ids: Iterable[int]) -> tuple[int, ...]:
        """Forget memories, so that `restore` can bring them back; returns those that were there."""
        receipt = self.store.apply([Forget(self.scope, ids=tuple(ids))], at=self._parts.clock())
        return receipt.outcomes[0].ids

    def restore(self, id: int) -> Memory:  # noqa: A002  # the domain's word
        """Bring back a forgotten memory, with the relations that went with it."""
        self.store.apply([Restore(self.scope, id)], at=self._parts.clock())
        meaning.catch_up(self._parts)
        with self.store.read() as view:
            return view.memories([id])[id]

    def restore_observation(self, id: int) -> None:  # noqa: A002  # the domain's word
        """Bring back an observation that was removed by itself."""
        self.store.apply([RestoreObservation(self.scope, id)], at=self._parts.clock())
        meaning.catch_up(self._parts)

    def purge(self, before: datetime) -> int:
        """Destroy for good what was forgotten before a time, in every scope. There is no way back."""
        return self.store.apply([Purge(before)], at=self._parts.clock()).outcomes[0].count

    # The store

    def counts(self) -> Counts:
        with self.store.read() as view:
            return view.counts()

    def model(self) -> Model | None:
        """The model whose vectors the store holds."""
        with self.store.read() as view:
            return view.model()

    def reindex(self, model: str | None = None, progress: Progress | None = None) -> Reindexed:
        """Embed what has no vector yet; with another model's name, embed everything and switch to it."""
        return meaning.reindex(self._parts, model, progress)

    def backup(self, path: str, progress: Progress | None = None) -> None:
        """Copy the store to a new file, while others may go on writing."""
        self.store.backup(path, progress)

    def verify(self) -> Sequence[Problem]:
        """Everything that is wrong with the store; empty if nothing is."""
        return self.store.verify()

    def repair(self) -> Sequence[Problem]:
        """Rebuild what is derived from the rows; returns what remains wrong."""
        return self.store.repair()


def _kinds(words: Collection[str]) -> frozenset[Kind]:
    try:
        return frozenset(Kind(word) for word in words)
    except ValueError:
        wrong = ", ".join(repr(str(word)) for word in words if word not in set(Kind))
        raise InvalidInput(f"No kind named {wrong}; there are: {', '.join(Kind)}.") from None
