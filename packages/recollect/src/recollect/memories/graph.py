"""The knowledge graph of a memory: entities, their observations and the relations between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, TypeVar

from recollect.domain import changes
from recollect.domain.changes import Outcome
from recollect.domain.errors import InvalidInput, NotFound
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import check_page, clean_name, clean_type
from recollect.domain.records import AsOf, Kind, Memory, Relation, Status, memory_at
from recollect.domain.results import (
    Answer,
    ContradictedObservation,
    Graph,
    GraphPaths,
    Hit,
    Neighbourhood,
    ObservedBatch,
    ObservedEntity,
    RelatedBatch,
    RelationResult,
)
from recollect.domain.tables import Equals
from recollect.memories.notes import apply_rows
from recollect.memories.observations import ObservationComparison, flag_similar_observations
from recollect.search.candidates import Search
from recollect.search.contradictions import contradicted_observations
from recollect.search.entities import entities_containing, entities_named, find_entity, names_alike
from recollect.search.rows import memories_by_id, relations_of
from recollect.search.texts import memory_page, model_row
from recollect.services import EngineGroup, Services, attempt_follow_up, retry_after_failover
from recollect.stores.port import Progress, Snapshot
from recollect.write.embedding import catch_up
from recollect.write.inputs import (
    EntityLike,
    ObservationLike,
    RelationLike,
    as_of_time,
    check_list,
    check_mapping,
    entity_of,
    observations_of,
    one_or_more,
    relation_of,
)

# `search_semantic`: results of the limbic profile over entities, in the format of MCP Memory v2.

# The score components of that format, with their values if the profile lacks the factor.
_NEUTRAL = {"importance": 0.0, "temporal_factor": 1.0, "cooc_boost": 0.0}


def to_memory_v2(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    """Return `{"results": [...]}` with the fields of MCP Memory v2, `score`, `mode` and `explanation`."""
    results = [_result(hit, answer, explain=explain) for hit in answer.hits]
    return {"results": results, **({"note": answer.note} if answer.note else {})}


def _result(hit: Hit, answer: Answer, *, explain: bool) -> dict[str, Any]:
    result: dict[str, Any] = {
        "name": hit.memory.name,
        "entityType": hit.memory.type,
        "observations": [observation.content for observation in hit.memory.in_force],
        "distance": 1 - hit.places["meaning"].score if "meaning" in hit.places else None,
        "limbic_score": hit.scores.get("limbic_score", hit.score),
        "scoring": {name: hit.scores.get(name, neutral) for name, neutral in _NEUTRAL.items()},
        "routing_strategy": answer.strategy,
        "score": hit.score,
        "mode": answer.mode,
    }
    if answer.mode == "hybrid" and "rrf_score" in hit.scores:
        result["rrf_score"] = hit.scores["rrf_score"]
    if explain:
        result["explanation"] = [{**asdict(each), "numbers": list(each.numbers)} for each in hit.reasons]
    return result


# Queries over several relations: the entities near another, and the paths between two.

MOST_HOPS = 6
MOST_ENTITIES = 2_000
"""Maximum number of entities that one query visits."""
MOST_PATHS = 100
_MOST_PARTIAL_PATHS = 20_000


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Entities and relations within a number of hops of an entity."""

    distances: Mapping[int, int]
    """Number of hops to each entity, by id. The first is the entity itself, with 0 hops."""
    relations: tuple[Relation, ...]
    is_cut: bool


def check_hops(depth: int) -> None:
    if not 1 <= depth <= MOST_HOPS:
        raise InvalidInput(f"The depth is 1 to {MOST_HOPS} relations, not {depth!r}.")


def find_surroundings(
    start: int, depth: int, relations_at: Callable[[Collection[int]], Sequence[Relation]]
) -> Surroundings:
    """Find all entities within `depth` relations, with one read per hop."""
    distances = {start: 0}
    known: dict[int, Relation] = {}
    frontier: list[int] = [start]
    is_cut = False
    for hop in range(1, depth + 1):
        reached: list[int] = []
        for relation in relations_at(frontier):
            new = [end for end in (relation.source, relation.target) if end not in distances]
            if len(distances) + len(new) > MOST_ENTITIES:
                is_cut = True
                continue
            known[relation.id] = relation
            distances.update(dict.fromkeys(new, hop))
            reached += new
        if not reached:
            break
        frontier = reached
    return Surroundings(distances, tuple(known[id_] for id_ in sorted(known)), is_cut)


def simple_paths(
    around: Surroundings, source: int, target: int, depth: int, limit: int
) -> tuple[list[tuple[Relation, ...]], bool]:
    """Return paths that visit no entity twice, and whether there are more.

    Shorter paths come first, then those with lower ids of relations.
    """
    touching: defaultdict[int, list[tuple[int, Relation]]] = defaultdict(list)
    for relation in around.relations:
        touching[relation.source].append((relation.target, relation))
        touching[relation.target].append((relation.source, relation))
    left = find_surroundings(
        target, depth, lambda ids: [each for id_ in ids for _, each in touching[id_]]
    ).distances
    paths: list[tuple[Relation, ...]] = []
    partial_paths: list[tuple[tuple[int, ...], tuple[Relation, ...]]] = [((source,), ())]
    for taken in range(depth):
        longer: list[tuple[tuple[int, ...], tuple[Relation, ...]]] = []
        for places, steps in partial_paths:
            for place, relation in touching[places[-1]]:
                # Skip entities that are too far from the target.
                if place in places or taken + 1 + left.get(place, depth) > depth:
                    continue
                if place == target:
                    paths.append((*steps, relation))
                else:
                    longer.append(((*places, place), (*steps, relation)))
        if len(paths) > limit or len(longer) > _MOST_PARTIAL_PATHS:
            return paths[:limit], True
        partial_paths = longer
    return paths, False


_Row = TypeVar("_Row")
_MOST_AGENTS = 5


class KnowledgeGraph(EngineGroup):
    """`memory.graph`: entities, their observations, and the relations between them."""

    # Writing

    def add_observations(
        self,
        additions: Mapping[str, Sequence[ObservationLike]],
        *,
        keep_going: bool = False,
        key: str | None = None,
        progress: Progress | None = None,
    ) -> ObservedBatch:
        """Add observations to existing entities. Near-copies of older ones are flagged, never dropped.

        Args:
            additions: For each name a text, or a list of texts, `NewObservation` values or mappings.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.
            progress: Called during the embedding, which follows the write.

        Raises:
            NotFound: There is no entity of that name.

        Examples:
            >>> batch = memory.graph.add_observations({"Marisol Vega": "Drinks oolong"})
            >>> [added.content for added in batch[0].added]
            ['Drinks oolong']
        """
        own = self._services.for_writing
        with self._naming_agents():
            return _observe(
                own,
                check_mapping(additions).items(),
                lambda pair: changes.AddObservations(
                    own.scope, clean_name(pair[0]), observations_of(pair[1])
                ),
                keep_going=keep_going,
                key=key,
                progress=progress,
            )

    def create_relations(
        self,
        relations: Iterable[RelationLike],
        *,
        create_missing: bool = False,
        keep_going: bool = False,
        key: str | None = None,
    ) -> RelatedBatch:
        """Connect entities.

        Args:
            relations: `(source, type, target)` tuples, `NewRelation` values or mappings.
            create_missing: Create entities that do not exist, of type `unknown`.
            keep_going: Leave out rows that cannot be stored, and list them in `rejected`.
            key: A retry with the same key returns the first result and writes nothing.

        Raises:
            NotFound: An entity does not exist, and `create_missing` is off.

        Examples:
            >>> batch = memory.graph.create_relations([("Ana", "works on", "Tidebook")], create_missing=True)
            >>> batch[0].created
            True
        """
        own = self._services.for_writing
        with self._naming_agents():
            done, rejected = apply_rows(
                own,
                check_list(relations, "Relations"),
                lambda relation: changes.Relate(own.scope, relation_of(relation), create_missing),
                keep_going=keep_going,
                key=key,
            )
        has_new = any(outcome.also_created for _, outcome in done)
        note = catch_up(own).problem if has_new else None
        related = tuple(
            RelationResult(
                source=outcome.names[0],
                target=outcome.names[1],
                type=change.relation.type,
                created=outcome.created,
                inverse=len(outcome.relations) > 1,
                also_created=outcome.also_created,
            )
            for change, outcome in done
            if isinstance(change, changes.Relate)
        )
        return RelatedBatch(related, rejected, note)

    def end_relation(self, source: str, type: str, target: str, *, at: datetime | None = None) -> None:  # noqa: A002  # the public name
        """End a relation. It is kept as history.

        Args:
            source: The name of the entity where it starts.
            type: The type of the relation.
            target: The name of the entity where it ends.
            at: When it ended (default: now).

        Raises:
            NotFound: There is no such current relation.

        Examples:
            >>> memory.graph.end_relation("Marisol Vega", "leads", "Tidebook")
        """
        kind = clean_type(type, "type of the relation")
        own = self._services.for_writing
        with self._naming_agents():
            own.write([changes.EndRelation(own.scope, clean_name(source), clean_name(target), kind, at)])

    def delete_entities(self, names: Iterable[str]) -> tuple[int, ...]:
        """Forget entities by exact name, with their relations. Unknown names are ignored.

        Returns:
            The ids of the forgotten entities, for `restore`.

        Examples:
            >>> memory.graph.delete_entities(["Tidebook", "Nothing"])
            (4,)
        """
        own, wanted = self._services.for_writing, tuple(map(clean_name, one_or_more(names, "Names")))
        return own.write([changes.Forget(own.scope, names=wanted)])[0].ids

    def delete_observations(self, removals: Mapping[str, Sequence[str]]) -> int:
        """Remove observations by exact text.

        Args:
            removals: For each name a text, or a list of texts.

        Returns:
            The number of observations that existed.

        Examples:
            >>> memory.graph.delete_observations({"Marisol Vega": "Leads the harbour team"})
            1
        """
        own = self._services.for_writing
        gone = [
            changes.RemoveObservations(own.scope, clean_name(name), tuple(one_or_more(texts, "Observations")))
            for name, texts in check_mapping(removals).items()
        ]
        return sum(outcome.count for outcome in own.write(gone))

    def delete_relations(self, relations: Iterable[RelationLike]) -> int:
        """Remove relations that were never true; `end_relation` ends those that were.

        Returns:
            The number of relations that existed, inverses included.

        Examples:
            >>> memory.graph.delete_relations([("Marisol Vega", "leads", "Tidebook")])
            1
        """
        own = self._services.for_writing
        wanted = [relation_of(relation) for relation in check_list(relations, "Relations")]
        gone = [changes.Unrelate(own.scope, each.source, each.target, each.type) for each in wanted]
        return sum(outcome.count for outcome in own.write(gone))

    def set_status(self, name: str, status: str) -> Status:
        """Mark an entity as active, paused, completed or archived.

        Raises:
            InvalidInput: There is no such status.
            NotFound: There is no entity of that name.

        Examples:
            >>> memory.graph.set_status("Tidebook", "paused")
            <Status.PAUSED: 'paused'>
        """
        wanted = Status.of(status)
        id_ = entity_named(self._services, name)
        own = self._services.of_memory(id_)
        own.write([changes.Amend(own.scope, id_, status=wanted)])
        return wanted

    def restore_observation(self, id: int) -> None:  # noqa: A002  # the public name
        """Restore an observation that was superseded, or removed separately from its entity.

        Raises:
            NotFound: There is no such observation.

        Examples:
            >>> memory.graph.delete_observations({"Marisol Vega": "Leads the harbour team"})
            1
            >>> memory.graph.restore_observation(1)
        """
        self._services.for_writing.write([changes.RestoreObservation(self._services.for_writing.scope, id)])
        catch_up(self._services.for_writing)

    @contextmanager
    def _naming_agents(self) -> Iterator[None]:
        """Add the owner's agents to a NotFound error if the caller reads all agents."""
        try:
            yield
        except NotFound as error:
            if self._services.scope.agent is None:
                with self._services.read() as view:
                    own = (Equals("owner", self._services.scope.owner),)
                    agents = sorted(agent for (agent,) in view.rows("scope", ("agent",), own) if agent)
                if agents:
                    named = ", ".join(map(repr, agents[:_MOST_AGENTS]))
                    error.args = (f"{error} To change an agent's memories, name the agent: {named}.",)
            raise

    # Reading

    @retry_after_failover
    def read_graph(self, *, limit: int = 100, after: int = 0) -> Graph:
        """Return one page of the graph, oldest entities first.

        Args:
            limit: Number of entities.
            after: The `cursor` of the previous page.

        Examples:
            >>> [entity.name for entity in memory.graph.read_graph()]
            ['Marisol Vega', 'Tidebook']
        """
        check_page(limit, "entities")
        with self._services.read() as view:
            entities = memory_page(view, self._services.where(Kind.ENTITY), after, limit + 1)
            page = entities[:limit]
            relations = relations_of(view, [entity.id for entity in page])
        cursor = page[-1].id if len(entities) > limit else None
        return Graph(tuple(page), _not_ended(relations, self._services.clock()), cursor)

    @retry_after_failover
    def search_nodes(self, query: str, *, limit: int = 50, after: int = 0) -> Graph:
        """Find entities whose name, type or observations contain the words, or the text literally.

        Entities with the words come first, best first. Then follow those that contain the text inside a word.

        Args:
            query: Words, or a part of a word.
            limit: Number of entities.
            after: The `cursor` of the previous page.

        Examples:
            >>> [entity.name for entity in memory.graph.search_nodes("harbour")]
            ['Marisol Vega']
        """
        check_page(limit, "entities")
        stop, where = after + limit, self._services.where(Kind.ENTITY)
        with self._services.read() as view:
            # As in the official server, an empty query matches every entity.
            by_words = [found.id for found in Search(view, where).by_words(query, stop + 1)] if query else []
            found = list(dict.fromkeys((*by_words, *entities_containing(view, query, stop + 1, where))))
            graph = _graph(view, found[after:stop], self._services.clock())
        return replace(graph, cursor=stop if len(found) > stop else None)

    @retry_after_failover
    def open_nodes(self, names: Sequence[str], *, record: bool = True, history: bool = False) -> Graph:
        """Return entities by name, in the given order, with the relations that start or end at them.

        Unknown names are ignored.

        Args:
            names: One name, or several.
            record: Count the entities as opened.
            history: Also return relations that ended.

        Examples:
            >>> graph = memory.graph.open_nodes("Marisol Vega")
            >>> [(each.source_name, each.type, each.target_name) for each in graph.relations]
            [('Marisol Vega', 'leads', 'Tidebook')]
        """
        wanted = [clean_name(name) for name in one_or_more(names, "Names")]
        now = self._services.clock()
        with self._services.read() as view:
            found = [entities_named(view, scope, wanted) for scope in self._services.scope_ids(view)]
            opened = list(dict.fromkeys(ids[name] for name in wanted for ids in found if name in ids))
            graph = _graph(view, opened, now)
            if history:
                graph = replace(graph, relations=tuple(relations_of(view, opened)))
        if record:
            whose = {entity.id: entity.scope for entity in graph.entities}
            for scope in dict.fromkeys(whose.values()):
                ids = [id_ for id_ in opened if whose.get(id_) == scope]
                self._services.usage.record(scope, ids, now, opened=True)
        return graph

    @retry_after_failover
    def neighbours_of(self, name: str, *, depth: int = 1, as_of: AsOf | None = None) -> Neighbourhood:
        """Return the entities around one, nearest first, over relations in either direction.

        Args:
            name: The entity.
            depth: Maximum number of relations between it and a neighbour.
            as_of: Use the graph at that time. A date without a time means its end in the user's zone.

        Raises:
            NotFound: There is no entity of that name.

        Examples:
            >>> [(entity.name, steps) for entity, steps in memory.graph.neighbours_of("Tidebook").entities]
            [('Marisol Vega', 1)]
        """
        check_hops(depth)
        start, then = entity_named(self._services, name), as_of_time(as_of, self._services.zone)
        with self._services.read() as view:
            around = find_surroundings(start, depth, self._relations_at(view, then))
            others = [id_ for id_ in around.distances if id_ != start]
            memories = {id_: memory_at(memory, then) for id_, memory in memories_by_id(view, others).items()}
        ordered = sorted(others, key=lambda id_: (around.distances[id_], id_))
        near = tuple((memories[id_], around.distances[id_]) for id_ in ordered if id_ in memories)
        return Neighbourhood(near, around.relations, around.is_cut)

    @retry_after_failover
    def paths(self, source: str, target: str, *, depth: int = 4, limit: int = 10) -> GraphPaths:
        """Return the paths from one entity to another, shortest first.

        Args:
            source: The entity to start at.
            target: The entity to reach.
            depth: Maximum number of relations in a path.
            limit: Number of paths.

        Raises:
            NotFound: There is no entity of that name.

        Examples:
            >>> path, = memory.graph.paths("Tidebook", "Marisol Vega").paths
            >>> [relation.type for relation in path]
            ['leads']
        """
        check_hops(depth)
        if not 1 <= limit <= MOST_PATHS:
            raise InvalidInput(f"Ask for 1 to {MOST_PATHS} paths, not {limit}.")
        start, end = entity_named(self._services, source), entity_named(self._services, target)
        if start == end:
            raise InvalidInput(f"Both ends are {source!r}; name two entities.")
        with self._services.read() as view:
            around = find_surroundings(start, depth, self._relations_at(view))
        found, are_more = simple_paths(around, start, end, depth, limit)
        return GraphPaths(tuple(found), is_cut=are_more or around.is_cut)

    def _relations_at(
        self, view: Snapshot, as_of: datetime | None = None
    ) -> Callable[[Collection[int]], Sequence[Relation]]:
        def relations_at(ids: Collection[int]) -> Sequence[Relation]:
            if as_of is None:
                return _not_ended(relations_of(view, ids), self._services.clock())
            return _current_at(relations_of(view, ids, deleted=True), as_of)

        # Leave out automatic inverses, which only repeat their relation.
        return lambda ids: [relation for relation in relations_at(ids) if relation.inverse_of is None]


def create_entities(
    services: Services,
    entities: Iterable[EntityLike],
    *,
    keep_going: bool,
    key: str | None,
    progress: Progress | None = None,
) -> ObservedBatch:
    return _observe(
        services,
        check_list(entities, "Entities"),
        lambda entity: changes.PutEntity(services.scope, entity_of(entity)),
        keep_going=keep_going,
        key=key,
        progress=progress,
    )


def similar_names(services: Services, view: Snapshot, name: str) -> list[str]:
    """Return the names of entities in any scope that differ from this one only in case or accents."""
    found = (names_alike(view, scope, name) for scope in services.scope_ids(view))
    return list(dict.fromkeys(each for names in found for each in names))


@retry_after_failover
def entity_named(services: Services, name: str) -> int:
    """Return the id of an entity, or raise NotFound."""
    name = clean_name(name)
    with services.read() as view:
        ids = (find_entity(view, scope, name) for scope in services.scope_ids(view))
        found = next((id_ for id_ in ids if id_ is not None), None)
        alike = () if found is not None else similar_names(services, view, name)
    if found is None:
        could = f"it could be {' or '.join(map(repr, alike))}: use the exact name" if alike else None
        raise NotFound(f"There is no entity named {name!r}; {could or '`search_nodes` finds names'}.")
    return found


@retry_after_failover
def existing_relation(services: Services, relation: tuple[str, str, str]) -> tuple[str, str, str]:
    """Return the stored (source, type, target) of a relation, which may have ended, or raise NotFound."""
    wanted = relation_of(relation)
    ends = entity_named(services, wanted.source), entity_named(services, wanted.target)
    with services.read() as view:
        for known in relations_of(view, ends):
            if (known.source, known.target, known.type) == (*ends, wanted.type):
                return known.source_name, known.type, known.target_name
    raise NotFound(
        f"There is no relation {wanted.source!r} {wanted.type} {wanted.target!r}; `open_nodes` of either end "
        "shows what there is."
    )


def _graph(view: Snapshot, ids: Sequence[int], now: datetime) -> Graph:
    memories = memories_by_id(view, ids)
    return Graph(tuple(memories[id_] for id_ in ids), _not_ended(relations_of(view, ids), now))


def _not_ended(relations: Iterable[Relation], now: datetime) -> tuple[Relation, ...]:
    """Return the relations that have not ended."""
    return tuple(relation for relation in relations if relation.until is None or relation.until > now)


def _current_at(relations: Iterable[Relation], at: datetime) -> tuple[Relation, ...]:
    """Return the relations that were stored and current at that time."""
    return tuple(
        relation
        for relation in _not_ended(relations, at)
        if relation.created_at <= at
        and (relation.since is None or relation.since <= at)
        and (relation.deleted_at is None or relation.deleted_at > at)
    )


def _observe(
    services: Services,
    rows: Iterable[_Row],
    change_of: Callable[[_Row], changes.Change],
    *,
    keep_going: bool,
    key: str | None,
    progress: Progress | None,
) -> ObservedBatch:
    """Write observations, then embed them and flag those that nearly repeat an older one."""
    memories: dict[int, Memory] = {}

    def changed_ids(outcomes: Iterable[Outcome]) -> list[int]:
        """Return the entities that are new or changed."""
        return [each.ids[0] for each in outcomes if each.created or each.added or each.took_type]

    def read_back(view: Snapshot, outcomes: Sequence[Outcome]) -> None:
        memories.clear()
        memories.update(memories_by_id(view, sorted(set(changed_ids(outcomes)))))

    done, rejected = apply_rows(
        services, rows, change_of, keep_going=keep_going, key=key, before_commit=read_back
    )
    added = {outcome.ids[0]: outcome.added for _, outcome in done if outcome.added}
    comparison = ObservationComparison(memories, added)
    ids = changed_ids(outcome for _, outcome in done)
    embedded = catch_up(services, ids, progress, memories, comparison.contents)
    similar, failure = attempt_follow_up(lambda: flag_similar_observations(services, comparison))

    def contradicted_by_entity() -> dict[int, tuple[ContradictedObservation, ...]]:
        new = {id_: {one.id for one in ones} for id_, ones in added.items() if id_ in memories}
        if not new:
            return {}
        with services.read() as view:
            model = model_row(view)
            return {
                id_: contradicted_observations(view, memories[id_], ids, model) for id_, ids in new.items()
            }

    contradicted, also_failed = attempt_follow_up(contradicted_by_entity)
    entities = tuple(
        ObservedEntity(
            id=outcome.ids[0],
            name=outcome.names[0],
            created=outcome.created,
            added=outcome.added,
            similar=(similar or {}).get(outcome.ids[0], ()),
            took_type=outcome.took_type,
            kept_type=outcome.kept_type,
            contradicts=(contradicted or {}).get(outcome.ids[0], ()),
        )
        for _, outcome in done
    )
    problem = embedded.problem or failure or also_failed
    return ObservedBatch(entities, rejected, problem, embedded.model_note)
