"""The knowledge graph of a memory: entities, their observations and the relations between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.changes import RestoreObservation
from recollect.engine import graph, meaning
from recollect.engine.parts import Parts
from recollect.engine.recall import Question, recall
from recollect.engine.semantic import as_published
from recollect.engine.wanted import relation_of
from recollect.factors.recency import microseconds
from recollect.records import Filter, Kind
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from recollect.engine.results import Answer, Graph, ObservedBatch, RelatedBatch
    from recollect.engine.wanted import ObservationLike, RelationLike
    from recollect.ports import Progress
    from recollect.records import Memory, Status


@dataclass(frozen=True, slots=True)
class KnowledgeGraph:
    """`memory.graph`: what one can do with entities, beside creating them."""

    parts: Parts

    def add_observations(
        self,
        additions: Mapping[str, Sequence[ObservationLike]],
        *,
        keep_going: bool = False,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> ObservedBatch:
        """Add observations to entities that exist, by name. Near-repeats are flagged, never dropped."""
        return graph.add_observations(
            self.parts, additions, keep_going=keep_going, key=key, progress=progress
        )

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
            self.parts, relations, create_missing=create_missing, keep_going=keep_going, key=key
        )

    def end_relation(self, source: str, type: str, target: str, *, at: datetime | None = None) -> None:  # noqa: A002  # the domain's word
        """Say that a relation held until `at` (now, if not given). It stays, as history."""
        graph.end_relation(self.parts, source, type, target, at)

    def delete_entities(self, names: Iterable[str]) -> tuple[int, ...]:
        """Forget entities by exact name, and their relations; returns the ids, which `restore` takes."""
        return graph.delete_entities(self.parts, names)

    def delete_observations(self, removals: Mapping[str, Sequence[str]]) -> int:
        """Remove observations by exact text; returns how many there were."""
        return graph.delete_observations(self.parts, removals)

    def delete_relations(self, relations: Iterable[RelationLike]) -> int:
        """Remove relations; returns how many there were, inverses included."""
        return graph.delete_relations(self.parts, relations)

    def set_status(self, name: str, status: str) -> Status:
        """Mark an entity as active, paused, completed or archived."""
        return graph.set_status(self.parts, name, status)

    def read_graph(self, *, limit: int = 100, after: int = 0) -> Graph:
        """One page of the graph; pass the answer's `cursor` as `after` for the next."""
        return graph.read_graph(self.parts, limit, after)

    def search_nodes(self, query: str, *, limit: int = 50, after: int = 0) -> Graph:
        """Entities whose name, type or observations hold the words, or the text as it stands.

        Pass the answer's `cursor` as `after` for the next page.
        """
        return graph.search_nodes(self.parts, query, limit, after)

    def open_nodes(self, names: Sequence[str], *, record: bool = True, history: bool = False) -> Graph:
        """Entities by name, with the relations in force that touch them; with `history`, ended ones too."""
        return graph.open_nodes(self.parts, names, record=record, history=history)

    def search_semantic(
        self,
        query: str,
        limit: int | None = None,
        *,
        explain: bool = False,
        record: bool = True,
        tuned: bool = True,
    ) -> dict[str, Any]:
        """As `find_entities`, in the form that MCP Memory v2 answers in."""
        answer = self.find_entities(query, limit, explain=explain, record=record, tuned=tuned)
        return as_published(answer, explain=explain)

    def find_entities(
        self,
        query: str,
        limit: int | None = None,
        *,
        explain: bool = False,
        record: bool = True,
        tuned: bool = True,
        noted_later: bool = False,
    ) -> Answer:
        """The best entities for a query, by the limbic profile. `noted_later` is as in `recall`."""
        question = Question(
            query,
            self.parts.profile("limbic"),
            limit=limit,
            kinds=frozenset({Kind.ENTITY}),
            explain=explain,
            record=record,
            judge=False,
            tuned=tuned,
            noted_later=noted_later,
        )
        return recall(self.parts, question)

    def texts_about(self, name: str, *, limit: int = 50) -> Sequence[Memory]:
        """Notes and messages in force that speak of an entity, the newest first."""
        entity = graph.entity_named(self.parts, name)
        with self.parts.store.read() as view:
            ids = view.mentioning(entity, limit)
            memories = view.memories(ids)
        return [memories[id_] for id_ in ids]

    def restore_observation(self, id: int) -> None:  # noqa: A002  # the domain's word
        """Bring back an observation that was removed by itself, or superseded."""
        self.parts.store.apply([RestoreObservation(self.parts.scope, id)], at=self.parts.clock())
        meaning.catch_up(self.parts)

    # Names, and what stands behind them

    def entity_id(self, name: str) -> int:
        """The id of an entity that must exist; its name may differ in case and accents."""
        return graph.entity_named(self.parts, name)

    def existing_names(self, names: Iterable[str]) -> set[str]:
        """Those of the names that an entity has, letter by letter."""
        wanted = {clean_name(name) for name in names}
        with self.parts.store.read() as view:
            ids = view.named(sorted(wanted), self.parts.scope)
            known = {memory.name for memory in view.memories(list(ids.values())).values()}
        return wanted & known

    def similar_names(self, name: str) -> Sequence[str]:
        """Names of entities that differ from this one at most in case and accents."""
        with self.parts.store.read() as view:
            return view.alike(clean_name(name), self.parts.scope)

    def complete_name(self, begun: str, limit: int) -> tuple[list[str], int]:
        """Names that contain this text, those that begin with it first, and how many there are."""
        scope = self.parts.scope
        with self.parts.store.read() as view:
            names, total = view.names(begun, limit, Filter(scope.owner, scope.agent))
        return list(names), total

    def count_existing(self, relations: Iterable[RelationLike]) -> int:
        """How many of these relations there are."""
        wanted = [relation_of(relation) for relation in relations]
        names = sorted({name for each in wanted for name in (each.source, each.target)})
        with self.parts.store.read() as view:
            ids = view.named(names, self.parts.scope)
            known = {(each.source, each.target, each.type) for each in view.relations(list(ids.values()))}
        return sum((ids.get(each.source), ids.get(each.target), each.type) in known for each in wanted)

    def ever_had_entities(self) -> bool:
        """Whether there is an entity, or was one that is now forgotten."""
        scope = self.parts.scope
        where = Filter(scope.owner, scope.agent, frozenset({Kind.ENTITY}), deleted=True)
        with self.parts.store.read() as view:
            return bool(view.page(where, 0, 1))

    def fingerprint(self) -> int:
        """A number that differs once the graph reads otherwise."""
        with self.parts.store.read() as view:
            return view.graph_mark(self.parts.scope, microseconds(self.parts.clock()))
