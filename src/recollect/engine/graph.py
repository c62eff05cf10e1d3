"""The knowledge graph: entities, observations, relations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from recollect.changes import (
    AddObservations,
    Amend,
    EndRelation,
    Forget,
    PutEntity,
    Relate,
    RemoveObservations,
    Unrelate,
)
from recollect.engine.batches import apply_rows
from recollect.engine.limits import MOST_PER_PAGE
from recollect.engine.meaning import catch_up
from recollect.engine.results import Graph, Observed, ObservedBatch, Related, RelatedBatch
from recollect.engine.similar import flag_similar
from recollect.engine.wanted import by_name, entity_of, listed, name_of, observations_of, relation_of
from recollect.errors import InvalidInput, NotFound
from recollect.records import Filter, Kind, Status
from recollect.text.limits import clean_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from recollect.changes import Change
    from recollect.engine.parts import Parts
    from recollect.engine.wanted import EntityLike, ObservationLike, RelationLike
    from recollect.ports import Progress, View
    from recollect.records import Relation

_Row = TypeVar("_Row")


def create_entities(
    parts: Parts,
    entities: Iterable[EntityLike],
    *,
    keep_going: bool,
    key: str | None,
    progress: Progress | None = None,
) -> ObservedBatch:
    return _observe(
        parts,
        listed(entities, "Entities"),
        lambda entity: PutEntity(parts.scope, entity_of(entity)),
        keep_going=keep_going,
        key=key,
        progress=progress,
    )


def add_observations(
    parts: Parts,
    additions: Mapping[str, Sequence[ObservationLike]],
    *,
    keep_going: bool,
    key: str | None,
    progress: Progress | None = None,
) -> ObservedBatch:
    return _observe(
        parts,
        by_name(additions).items(),
        lambda pair: AddObservations(parts.scope, name_of(pair[0]), observations_of(pair[1])),
        keep_going=keep_going,
        key=key,
        progress=progress,
    )


def create_relations(
    parts: Parts,
    relations: Iterable[RelationLike],
    *,
    create_missing: bool,
    keep_going: bool,
    key: str | None,
) -> RelatedBatch:
    done, rejected = apply_rows(
        parts,
        listed(relations, "Relations"),
        lambda relation: Relate(parts.scope, relation_of(relation), create_missing),
        keep_going=keep_going,
        key=key,
    )
    if any(outcome.also_created for _, outcome in done):
        catch_up(parts)
    related = tuple(
        Related(
            source=outcome.names[0],
            target=outcome.names[1],
            type=change.relation.type,
            created=outcome.created,
            inverse=len(outcome.relations) > 1,
            also_created=outcome.also_created,
        )
        for change, outcome in done
        if isinstance(change, Relate)
    )
    return RelatedBatch(related, rejected)


def end_relation(parts: Parts, source: str, type_: str, target: str, at: datetime | None) -> None:
    kind = clean_type(type_, "type of the relation")
    change = EndRelation(parts.scope, name_of(source), name_of(target), kind, at)
    parts.store.apply([change], at=parts.clock())


def delete_entities(parts: Parts, names: Iterable[str]) -> tuple[int, ...]:
    """The ids of what was forgotten; names that are absent are passed over."""
    wanted = tuple(map(name_of, listed(names, "Names")))
    receipt = parts.store.apply([Forget(parts.scope, names=wanted)], at=parts.clock())
    return receipt.outcomes[0].ids


def delete_observations(parts: Parts, removals: Mapping[str, Sequence[str]]) -> int:
    changes = [
        RemoveObservations(parts.scope, name_of(name), tuple(listed(texts, "Observations")))
        for name, texts in by_name(removals).items()
    ]
    return sum(outcome.count for outcome in parts.store.apply(changes, at=parts.clock()).outcomes)


def delete_relations(parts: Parts, relations: Iterable[RelationLike]) -> int:
    wanted = [relation_of(relation) for relation in listed(relations, "Relations")]
    changes = [Unrelate(parts.scope, relation.source, relation.target, relation.type) for relation in wanted]
    outcomes = parts.store.apply(changes, at=parts.clock()).outcomes
    return sum(outcome.count for outcome in outcomes)


def set_status(parts: Parts, name: str, status: str) -> Status:
    wanted = Status.of(status)
    entity = entity_named(parts, name)
    parts.store.apply([Amend(parts.scope, entity, status=wanted)], at=parts.clock())
    return wanted


def read_graph(parts: Parts, limit: int, after: int) -> Graph:
    """One page of the graph, oldest entities first."""
    _check_limit(limit)
    with parts.store.read() as view:
        entities = view.page(_entities_of(parts), after, limit + 1)
        page = entities[:limit]
        relations = view.relations([entity.id for entity in page])
    cursor = page[-1].id if len(entities) > limit else None
    return Graph(tuple(page), _holding(relations, parts.clock()), cursor)


def search_nodes(parts: Parts, query: str, limit: int, after: int = 0) -> Graph:
    """Entities that hold the words, best first, then those in which the text stands inside a word.

    `after` is how many of them were seen; the cursor counts those and these.
    """
    _check_limit(limit)
    stop = after + limit
    with parts.store.read() as view:
        found = _holding_text(view, query, stop + 1, _entities_of(parts))
        graph = _graph(view, found[after:stop], parts.clock())
    return replace(graph, cursor=stop if len(found) > stop else None)


def _holding_text(view: View, query: str, most: int, where: Filter) -> list[int]:
    if not query:  # as the official server: every entity holds the empty text
        return list(view.containing("", most, where))
    by_words = [found.id for found in view.by_words(query, most, where)]
    return list(dict.fromkeys((*by_words, *view.containing(query, most, where))))


def open_nodes(parts: Parts, names: Sequence[str], *, record: bool, history: bool) -> Graph:
    """The named entities in the order asked for; names that are absent are passed over."""
    wanted = [name_of(name) for name in listed(names, "Names")]
    now = parts.clock()
    with parts.store.read() as view:
        found = view.named(wanted, parts.scope)
        opened = list(dict.fromkeys(found[name] for name in wanted if name in found))
        graph = _graph(view, opened, now)
        if history:
            graph = replace(graph, relations=tuple(view.relations(opened)))
    if record:
        parts.usage.record(parts.scope, opened, now, opened=True)
    return graph


def _graph(view: View, ids: Sequence[int], now: datetime) -> Graph:
    memories = view.memories(ids)
    return Graph(tuple(memories[id_] for id_ in ids), _holding(view.relations(ids), now))


def _holding(relations: Iterable[Relation], now: datetime) -> tuple[Relation, ...]:
    """Those whose end has not come."""
    return tuple(relation for relation in relations if relation.until is None or relation.until > now)


def _check_limit(limit: int) -> None:
    if not 1 <= limit <= MOST_PER_PAGE:
        raise InvalidInput(f"A page holds 1 to {MOST_PER_PAGE:,} entities, not {limit}; page with `after`.")


def _entities_of(parts: Parts) -> Filter:
    return Filter(parts.scope.owner, parts.scope.agent, kinds=frozenset({Kind.ENTITY}))


def entity_named(parts: Parts, name: str) -> int:
    """The id of an entity that must exist."""
    name = name_of(name)
    with parts.store.read() as view:
        found = view.named([name], parts.scope).get(name)
        alike = () if found is not None else view.alike(name, parts.scope)
    if found is None:
        could = f"it could be {' or '.join(map(repr, alike))}: use the exact name" if alike else None
        raise NotFound(f"There is no entity named {name!r}; {could or '`search_nodes` finds names'}.")
    return found


def _observe(
    parts: Parts,
    rows: Iterable[_Row],
    change_of: Callable[[_Row], Change],
    *,
    keep_going: bool,
    key: str | None,
    progress: Progress | None,
) -> ObservedBatch:
    """Write observations, then embed them and flag those that nearly repeat an older one."""
    done, rejected = apply_rows(parts, rows, change_of, keep_going=keep_going, key=key)
    written = [outcome.ids[0] for _, outcome in done if outcome.created or outcome.added or outcome.took_type]
    note = catch_up(parts, written, progress)
    added = {outcome.ids[0]: outcome.added for _, outcome in done if outcome.added}
    similar = flag_similar(parts, added)
    entities = tuple(
        Observed(
            id=outcome.ids[0],
            name=outcome.names[0],
            created=outcome.created,
            added=outcome.added,
            similar=similar.get(outcome.ids[0], ()),
            took_type=outcome.took_type,
            kept_type=outcome.kept_type,
        )
        for _, outcome in done
    )
    return ObservedBatch(entities, rejected, note)
