"""Operations on the knowledge graph: the nine of the official memory server, and a few more."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeVar

from pydantic import Field
from typing_extensions import TypedDict

from recollect.admin import Internals
from recollect.domain.errors import NotFound
from recollect.domain.json_values import inlined, omitted, to_json
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_PER_PAGE, clean_name
from recollect.memories.graph import MOST_HOPS, MOST_PATHS
from recollect.operations.memories import RelationKey, StatusWord
from recollect.operations.operation import (
    BUDGET,
    Endpoint,
    LaterTime,
    LookBack,
    Many,
    OperationCall,
    OperationReply,
    Pages,
    Time,
    as_json,
    described,
    operation,
)
from recollect.operations.paging import (
    LEAST_PROSE,
    PageEnd,
    cursor_numbers,
    fit_page,
    join_sentences,
    list_page,
    name_list,
    row_tokens,
    shorten_row,
)
from recollect.operations.rows import (
    EntityRow,
    ObservationRow,
    RelationRow,
    brief_text,
    entity_row,
    observation_row,
    relation_row,
    with_rejected,
)
from recollect.services import attempt_follow_up, unfinished_note
from recollect.text.phrases import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recollect.domain.records import Memory, Observation, Relation
    from recollect.domain.results import ObservedEntity, RejectedRow
    from recollect.engine import Engine


# Pages of a graph: whole entities with their relations. An entity too large for a page spans several.


@dataclass(frozen=True, slots=True)
class GraphPage:
    """A page of a graph, in the official server's form."""

    entities: list[EntityRow]
    relations: list[RelationRow]
    more: PageEnd = inlined()


@dataclass(frozen=True, slots=True)
class GraphPosition:
    """Where a page ended: after an entity, or inside one, after an observation and perhaps a relation."""

    key: int = 0
    """The entity's id, or its place (from 1) if the entities are not sorted by id."""
    observation: int | None = None
    """Absent if the whole entity was shown."""
    relation: int | None = None
    """Absent if some of its observations were not shown yet."""

    @classmethod
    def of(cls, cursor: str | None) -> GraphPosition:
        return cls() if cursor is None else cls(*cursor_numbers(cursor, 1, 2, 3))

    @property
    def before(self) -> int:
        """The last key that was shown completely."""
        return self.key if self.observation is None else self.key - 1

    def __str__(self) -> str:
        numbers = (self.key, self.observation, self.relation)
        return ".".join(str(number) for number in numbers if number is not None)


@dataclass(frozen=True, slots=True)
class _Node:
    """The part of an entity that later pages show."""

    key: int
    memory: Memory
    observations: Sequence[Observation]
    relations: Sequence[Relation]

    def row(self, observations: list[str | ObservationRow]) -> EntityRow:
        return replace(entity_row(self.memory, ()), observations=observations)


def graph_page(
    entities: Sequence[tuple[int, Memory]],
    relations: Sequence[Relation],
    budget: int,
    position: GraphPosition = GraphPosition(),
    more_after: int | None = None,
    shown_of: Callable[[Memory], Sequence[Observation]] = lambda memory: memory.in_force,
) -> GraphPage:
    """Return a page with the entities that fit the budget and all their relations, and a cursor.

    A relation is on the page of each of its ends, so the pages together are the whole graph. An entity too
    large for one page spans several. `entities` are pairs of key and entity. `more_after` is the last of
    these keys if more entities follow. `shown_of` chooses among an entity's observations.
    """
    touching: defaultdict[int, list[Relation]] = defaultdict(list)
    for one in relations:
        for end in {one.source, one.target}:
            touching[end].append(one)
    shown: list[EntityRow] = []
    taken: set[int] = set()
    left = budget
    cursor = None if more_after is None else GraphPosition(more_after)
    note = None
    for index, (key, memory) in enumerate(entities):
        node = _rest_of_entity(key, memory, shown_of(memory), touching[memory.id], position)
        new = [one for one in node.relations if one.id not in taken]
        price = (
            row_tokens(node.row([]))
            + sum(row_tokens(observation_row(seen)) for seen in node.observations)
            + sum(row_tokens(relation_row(one)) for one in new)
        )
        if price <= left:
            shown.append(node.row(list(map(observation_row, node.observations))))
            taken.update(one.id for one in new)
            left -= price
            continue
        if shown:
            cursor = GraphPosition(entities[index - 1][0])
            missing = len(entities) - index
            note = f"{missing} more did not fit {budget} tokens; go on with `cursor`, or ask more narrowly."
        else:
            row, kept, stopped = _fit_entity(node, budget)
            shown.append(row)
            taken.update(kept)
            if stopped is not None:
                cursor = stopped
            elif index + 1 < len(entities):
                cursor = GraphPosition(key)
            note = _omission_note(node, row, kept, budget)
        break
    shown_relations = [relation_row(one) for one in relations if one.id in taken]
    return GraphPage(shown, shown_relations, PageEnd(None if cursor is None else str(cursor), note))


def _rest_of_entity(
    key: int,
    memory: Memory,
    observations: Sequence[Observation],
    relations: Sequence[Relation],
    position: GraphPosition,
) -> _Node:
    """Return the part of an entity that earlier pages did not show."""
    inside = position.observation
    # If the order has changed since the last page, another entity may be in this place.
    known = inside == 0 or any(seen.id == inside for seen in memory.observations)
    if inside is None or key != position.key or not known:
        return _Node(key, memory, observations, relations)
    if position.relation is None:
        return _Node(key, memory, [seen for seen in observations if seen.id > inside], relations)
    return _Node(key, memory, (), [one for one in relations if one.id > (position.relation or 0)])


def _fit_entity(node: _Node, budget: int) -> tuple[EntityRow, list[int], GraphPosition | None]:
    """Return the entity with the observations that fit, the ids of relations that fit, and the position."""
    left = budget - row_tokens(node.row([]))
    texts: list[str | ObservationRow] = []
    kept: list[int] = []
    last = 0
    for seen in node.observations:
        # Show at least a part of the first, so that every page makes progress.
        text = observation_row(seen)
        if not texts:
            text = shorten_row(to_json(text), max(left, LEAST_PROSE))
        left -= row_tokens(text)
        if texts and left < 0:
            return node.row(texts), kept, GraphPosition(node.key, last)
        texts.append(text)
        last = seen.id
    for one in node.relations:
        left -= row_tokens(relation_row(one))
        if left < 0 and (kept or texts):
            return node.row(texts), kept, GraphPosition(node.key, last, kept[-1] if kept else 0)
        kept.append(one.id)
    return node.row(texts), kept, None


def _omission_note(node: _Node, row: EntityRow, kept: Sequence[int], budget: int) -> str | None:
    observations = len(node.observations) - len(row.observations)
    relations = len(node.relations) - len(kept)
    name = f"{node.memory.name[:40]!r}"
    counted = [f"{observations} observations"] if observations else []
    counted += [f"{relations} relations"] if relations else []
    # Only the first observation can be cut.
    is_cut = to_json(list(map(observation_row, node.observations[:1]))) != to_json(row.observations[:1])
    cut = f"A text of {name} was cut to fit {budget} tokens; allow more with `budget_tokens`."
    more = f"{' and '.join(counted)} of {name} did not fit {budget} tokens; go on with `cursor`."
    return join_sentences(cut if is_cut else None, more if counted else None)


_Row = TypeVar("_Row")
_MOST_SIMILAR = 5
_MOST_IDS = 50
_NAME_LETTERS = 80


def _quoted_name(name: str) -> str:
    """Return a name for use in a sentence: shortened, in quotes."""
    return quoted(brief_text(name, _NAME_LETTERS))


def _written_reply(form: Callable[..., Any], rows: list[Any], *remarks: str | None) -> OperationReply[Any]:
    """Reply with the written rows, as the official server does. If they exceed the budget, a note says so."""
    page = fit_page(rows, BUDGET, shared=False)
    note = None
    if page.left_out or page.shortened:
        saved = "It was saved whole" if len(rows) == 1 else f"All {len(rows)} were saved"
        note = f"{saved}; only what fits {BUDGET} tokens is repeated here."
    return OperationReply(form(page.rows, note), as_json(page.rows), join_sentences(note, *remarks))


@dataclass(frozen=True, slots=True)
class Done:
    """The official server's answer to a write that returns no rows."""

    success: bool
    message: str


def _success(message: str, remark: str | None = None) -> OperationReply[Done]:
    return OperationReply(Done(True, message), message, remark)


# Writing


class KindRow(TypedDict):
    """An observation with its kind."""

    content: str
    kind: NotRequired[str]


class NewEntityRow(TypedDict):
    name: str
    entityType: str
    observations: Annotated[Many[str | KindRow], described("One fact each")]
    status: NotRequired[StatusWord]


@dataclass(frozen=True, slots=True)
class CreatedEntities:
    entities: list[EntityRow]
    note: str | None = omitted()


@operation(
    "Create entities", http=Endpoint("POST /entities", takes_key=True), tools="default", keeps_going=True
)
def _create_entities(call: OperationCall, entities: Many[NewEntityRow]) -> OperationReply[CreatedEntities]:
    """Save people, projects, places and other things worth knowing again. One that exists keeps its type and
    status, and gains the new observations.
    """
    batch = call.engine.create_entities(
        entities, keep_going=call.keep_going, key=call.key, progress=call.progress
    )
    changed = [done for done in batch.entities if done.changed]
    stored, _ = attempt_follow_up(lambda: call.engine.get_many(done.id for done in changed))
    stored = stored or {}
    types = {entity["name"]: entity["entityType"] for entity in entities}
    written = [_written_entity(done, stored.get(done.id), types.get(done.name, "")) for done in changed]
    gained = [_quoted_name(done.name) for done in batch.entities if not done.created and done.added]
    typed = [
        f"{_quoted_name(done.name)} ({_quoted_name(done.took_type)})"
        for done in batch.entities
        if done.took_type
    ]
    kept = [
        f"{_quoted_name(done.name)} keeps its type {_quoted_name(done.kept_type)}"
        for done in batch.entities
        if done.kept_type
    ]
    reply = _written_reply(
        CreatedEntities,
        written,
        f"These existed and gained the new observations: {name_list(gained)}." if gained else None,
        f"These had the type 'unknown' and took the one given: {name_list(typed)}." if typed else None,
        f"{name_list(list(dict.fromkeys(kept)))}." if kept else None,
        unfinished_note(batch.note),
        batch.model_note,
    )
    return with_rejected(call, reply, batch.rejected)


class NewRelationRow(RelationKey):
    context: NotRequired[str]
    since: NotRequired[LaterTime]
    until: NotRequired[LaterTime]


def _written_entity(done: ObservedEntity, memory: Memory | None, type_: str) -> EntityRow:
    """Return the entity with its new observations. If it cannot be read back, return it as it was given."""
    if memory is None:
        return EntityRow(done.name, type_, [one.content for one in done.added])
    added = {one.id for one in done.added}
    return entity_row(memory, [seen for seen in memory.observations if seen.id in added])


@dataclass(frozen=True, slots=True)
class CreatedRelations:
    relations: list[RelationRow]
    note: str | None = omitted()


@operation(
    "Create relations", http=Endpoint("POST /relations", takes_key=True), tools="default", keeps_going=True
)
def _create_relations(
    call: OperationCall, relations: Many[NewRelationRow]
) -> OperationReply[CreatedRelations]:
    """Connect entities: who works where, what belongs to what; in active voice, such as works_at. An entity
    that does not exist is created with the type 'unknown'.
    """
    batch = call.engine.graph.create_relations(
        relations, create_missing=True, keep_going=call.keep_going, key=call.key
    )
    stored = _without(relations, batch.rejected)
    written = [
        RelationRow(
            *(done.source, done.target, done.type, given.get("context", "")),
            since=given.get("since"),
            until=given.get("until"),
        )
        for done, given in zip(batch.relations, stored, strict=True)
        if done.created
    ]
    missing = sorted({_quoted_name(name) for done in batch.relations for name in done.also_created})
    remark = f"These entities did not exist and were created with the type 'unknown': {name_list(missing)}."
    reply = _written_reply(
        CreatedRelations, written, remark if missing else None, unfinished_note(batch.note)
    )
    return with_rejected(call, reply, batch.rejected)


def _without(rows: Iterable[_Row], rejected: Iterable[RejectedRow]) -> list[_Row]:
    left_out = {each.index for each in rejected}
    return [row for index, row in enumerate(rows) if index not in left_out]


class CorrectionRow(KindRow):
    """An observation that may correct an older one."""

    supersedes: NotRequired[Annotated[str, described("The exact text that it corrects")]]


class AdditionRow(TypedDict):
    entityName: str
    contents: Many[str | CorrectionRow]


@dataclass(frozen=True, slots=True)
class AddedRow:
    entityName: str
    addedObservations: list[str]


@dataclass(frozen=True, slots=True)
class AddedObservations:
    results: list[AddedRow]
    note: str | None = omitted()


@operation(
    "Add observations",
    http=Endpoint("POST /observations", tag="Entities", takes_key=True),
    tools="default",
    keeps_going=True,
)
def _add_observations(
    call: OperationCall, observations: Many[AdditionRow]
) -> OperationReply[AddedObservations]:
    """Add facts to entities that exist, one short statement each: text, or an object with a `kind` (any word,
    such as fact, decision or metadata) and what it `supersedes`, which stays as history.
    """
    additions: dict[str, list[Any]] = {}
    for item in observations:
        additions.setdefault(item["entityName"], []).extend(item["contents"])
    batch = call.engine.graph.add_observations(
        additions, keep_going=call.keep_going, key=call.key, progress=call.progress
    )
    names = list(additions)
    rejected = {names[each.index]: each for each in batch.rejected}
    added = {
        name: [each.content for each in done.added]
        for name, done in zip(_without(names, batch.rejected), batch.entities, strict=True)
    }
    # One result for each item, as the official server does, although two items may name the same entity.
    results = [
        AddedRow(item["entityName"], _take(added[item["entityName"]], item["contents"]))
        for item in observations
        if item["entityName"] in added
    ]
    reply = _written_reply(
        AddedObservations, results, _remark(batch.entities), unfinished_note(batch.note), batch.model_note
    )
    rows = [
        replace(rejected[item["entityName"]], index=index)
        for index, item in enumerate(observations)
        if item["entityName"] in rejected
    ]
    return with_rejected(call, reply, rows)


def _remark(entities: Sequence[ObservedEntity]) -> str | None:
    """Return a note on what the new observations contradict or nearly repeat."""
    contradicted = [
        f"{quoted(brief_text(pair.content))} seems to contradict "
        f"{quoted(brief_text(pair.contradicted_content))} of {_quoted_name(done.name)}"
        for done in entities
        for pair in done.contradicts
    ]
    contradicting = {pair.observation for done in entities for pair in done.contradicts}
    similar = [
        f"{quoted(brief_text(pair.content))} nearly repeats {quoted(brief_text(pair.similar_content))} of "
        f"{_quoted_name(done.name)}"
        for done in entities
        for pair in done.similar
        if pair.observation not in contradicting
    ]
    found = [*contradicted, *similar]
    if not found:
        return None
    more = f"; and {len(found) - _MOST_SIMILAR} more" if len(found) > _MOST_SIMILAR else ""
    settle = " To retire the older text, add the newer one again with `supersedes`." if contradicted else ""
    return f"{'; '.join(found[:_MOST_SIMILAR])}{more}. Both are kept.{settle}"


def _take(added: list[str], contents: Sequence[str | CorrectionRow]) -> list[str]:
    """Remove an item's texts from `added` and return them."""
    texts = {one if isinstance(one, str) else one["content"] for one in contents}
    taken = [text for text in added if text in texts]
    added[:] = [text for text in added if text not in texts]
    return taken


# Deleting


@operation(
    "Delete entities",
    http=(
        "POST /entities/delete",
        Endpoint("DELETE /entities/{name=entityNames}", name="delete_entity", resource="entity"),
    ),
    tools="default",
    destructive=True,
    idempotent=True,
)
def _delete_entities(call: OperationCall, entityNames: Many[str]) -> OperationReply[Done]:
    """Forget entities and their relations, by exact name, if they should never have been saved. It can be
    undone.
    """
    names, within = list(dict.fromkeys(entityNames)), Internals(call.engine)
    existing = within.existing_names(names)
    absent = [name for name in map(clean_name, names) if name not in existing]
    deleted = call.engine.graph.delete_entities(names)
    alike, _ = attempt_follow_up(lambda: _similar_names(within, absent))
    fewer = _missing_note(
        len(deleted), len(names), f"names are exact; {alike or '`search_nodes` finds them'}"
    )
    return _success("Entities deleted successfully", join_sentences(fewer, _restore_hint(call, deleted)))


def _similar_names(within: Internals, absent: Sequence[str]) -> str | None:
    """Return existing names that differ only in case or accents. They are suggested, not deleted."""
    similar = {name: within.similar_names(name) for name in absent[:_MOST_IDS]}
    hints = [
        f"there is no {name[:80]!r}, but {' and '.join(repr(other[:80]) for other in others)}"
        for name, others in similar.items()
        if others
    ]
    return "; ".join(hints[:_MOST_SIMILAR]) or None


def _missing_note(count: int, asked: int, remedy: str) -> str | None:
    """Return a note if fewer existed than were named. The official answer reports success in any case."""
    if count >= asked:
        return None
    return f"{'Nothing matched' if not count else f'Only {count} of {asked} existed'}; {remedy}."


def _restore_hint(call: OperationCall, deleted: tuple[int, ...]) -> str | None:
    if not deleted:
        return None
    if "restore" in call.offered:
        return f"`restore` brings back: {name_list(deleted, _MOST_IDS)}."
    which = "them" if len(deleted) <= _MOST_IDS else f"the first {_MOST_IDS} of {len(deleted)}"
    return f"`recollect restore {' '.join(map(str, deleted[:_MOST_IDS]))}` brings {which} back."


class DeletionRow(TypedDict):
    entityName: str
    observations: Many[str]


@operation(
    "Delete observations",
    http=Endpoint("POST /observations/delete", tag="Entities"),
    tools="default",
    destructive=True,
    idempotent=True,
)
def _delete_observations(call: OperationCall, deletions: Many[DeletionRow]) -> OperationReply[Done]:
    """Remove observations by their exact text."""
    removals: dict[str, list[str]] = {}
    for item in deletions:
        removals.setdefault(item["entityName"], []).extend(item["observations"])
    asked = sum(len(set(texts)) for texts in removals.values())
    count = call.engine.graph.delete_observations(removals)
    remedy = "texts are exact; `open_nodes` shows them word for word"
    return _success("Observations deleted successfully", _missing_note(count, asked, remedy))


@operation(
    "Delete relations", http="POST /relations/delete", tools="default", destructive=True, idempotent=True
)
def _delete_relations(call: OperationCall, relations: Many[RelationKey]) -> OperationReply[Done]:
    """Remove relations that were never true. If one has ended, use `end_relation` where it is offered."""
    # Count before deleting: the result of a deletion includes inverse relations.
    count = Internals(call.engine).count_existing(relations)
    call.engine.graph.delete_relations(relations)
    remedy = "`open_nodes` with either end shows its relations"
    return _success("Relations deleted successfully", _missing_note(count, len(relations), remedy))


@operation("End a relation", http="POST /relations/end", tools="all")
def _end_relation(
    call: OperationCall,
    source: str = Field(alias="from"),
    target: str = Field(alias="to"),
    type: str = Field(alias="relationType"),
    at: Time | None = None,
) -> OperationReply[Done]:
    """End a relation that no longer holds, as when someone leaves a job. It stays as history."""
    try:
        call.engine.graph.end_relation(source, type, target, at=at)
    except NotFound as error:
        raise NotFound(_nothing_to_end(call.engine, source, target, str(error))) from error
    return _success(
        f"{_quoted_name(source)} {_quoted_name(type)} {_quoted_name(target)} has ended; it stays as history."
    )


def _nothing_to_end(engine: Engine, source: str, target: str, why: str) -> str:
    """Say which end does not exist, or else which relations the source has."""
    within = Internals(engine)
    if not within.similar_names(source):
        return f"There is no entity named {source[:80]!r}, so nothing was ended; `search_nodes` finds names."
    if not within.similar_names(target):
        why = f"There is no entity named {target[:80]!r}, so nothing was ended."
    opened = engine.graph.open_nodes([source], record=False)
    if not opened.entities:
        # The name is ambiguous, so no entity was opened.
        return why
    existing = [
        " ".join(map(_quoted_name, (one.source_name, one.type, one.target_name))) for one in opened.relations
    ]
    return f"{why} {source[:80]!r} has: {name_list(existing) or 'no relations'}."


@operation(
    "Set a status",
    http=Endpoint("PUT /entities/{name=entityName}/status", resource="entity"),
    tools="all",
    idempotent=True,
)
def _set_status(call: OperationCall, entityName: str, status: StatusWord) -> OperationReply[Done]:
    """Mark an entity as active, paused, completed or archived. Entities that are not active rank lower."""
    return _success(f"{_quoted_name(entityName)} is {call.engine.graph.set_status(entityName, status)} now.")


# Reading


_PAGES = Pages(MOST_PER_PAGE, MOST_PER_PAGE, 100)


@operation("Read the graph", http="GET /graph", tools="default", pages=_PAGES, read_only=True)
def _read_graph(call: OperationCall) -> GraphPage:
    """Read the whole graph, page by page. Ask `recall` or `search_nodes` first."""
    position = GraphPosition.of(call.page.cursor)
    graph = call.engine.graph.read_graph(limit=call.page.size, after=position.before)
    keyed = [(memory.id, memory) for memory in graph.entities]
    return graph_page(keyed, graph.relations, call.page.budget, position, graph.cursor)


@operation(
    "Search nodes", http="GET /entities", tools="default", pages=replace(_PAGES, size=50), read_only=True
)
def _search_nodes(call: OperationCall, query: str) -> GraphPage:
    """Find entities by words in their name, type or observations. For questions use `recall`."""
    position = GraphPosition.of(call.page.cursor)
    graph = call.engine.graph.search_nodes(query, limit=call.page.size, after=position.before)
    keyed = list(enumerate(graph.entities, start=position.before + 1))
    page = graph_page(keyed, graph.relations, call.page.budget, position, graph.cursor)
    if graph.cursor is not None and page.more.note is None:
        note = f"There are more than {graph.cursor}; go on with `cursor`, or ask more narrowly."
        page = replace(page, more=replace(page.more, note=note))
    return page


@operation(
    "Open nodes",
    http=(
        "POST /entities/open",
        Endpoint("GET /entities/{name=names}", name="open_entity", resource="entity"),
    ),
    tools="default",
    pages=_PAGES,
    read_only=True,
)
def _open_nodes(
    call: OperationCall, names: Many[str], kinds: Many[str] | None = None, include_superseded: bool = False
) -> GraphPage:
    """Read entities by name, with their observations (of these kinds) and relations."""

    def shown_of(entity: Memory) -> list[Observation]:
        return [
            seen
            for seen in entity.observations
            if (seen.in_force or (include_superseded and seen.deleted_at is None))
            and (kinds is None or seen.kind in kinds)
        ]

    position = GraphPosition.of(call.page.cursor)
    graph = call.engine.graph.open_nodes(names, record=not position.key, history=include_superseded)
    # Like the official server, use the order of the graph, not that of `names`.
    ordered = sorted(graph.entities, key=lambda memory: memory.id)
    rest = [(memory.id, memory) for memory in ordered if memory.id > position.before]
    keyed = rest[: call.page.size]
    more = keyed[-1][0] if len(rest) > len(keyed) else None
    return graph_page(keyed, graph.relations, call.page.budget, position, more, shown_of)


# Searches over several relations


_DEPTH = Annotated[int, Field(ge=1, le=MOST_HOPS)]
_IS_CUT = "Only a part of the graph was searched; ask with a smaller `depth`."


@dataclass(frozen=True, slots=True)
class Neighbour:
    name: str
    entityType: str
    distance: Annotated[int, "Number of relations between the two"]


@dataclass(frozen=True, slots=True)
class NeighbourPage:
    neighbours: list[Neighbour]
    more: PageEnd = inlined()


@operation(
    "Neighbours",
    http="GET /entities/{name}/neighbours",
    tools="all",
    pages=Pages(MOST_PER_PAGE, 100, 100),
    read_only=True,
)
def _neighbours(
    call: OperationCall, name: str, depth: _DEPTH = 1, as_of: LookBack | None = None
) -> NeighbourPage:
    """List the entities within `depth` relations of one, the nearest first. Read them with `open_nodes`."""
    found = call.engine.graph.neighbours_of(name, depth=depth, as_of=as_of)
    rows = [Neighbour(entity.name, entity.type, distance) for entity, distance in found.entities]
    neighbours, more = list_page(call.page, rows)
    note = join_sentences(more.note, _IS_CUT if found.is_cut else None)
    return NeighbourPage(neighbours, replace(more, note=note))


@dataclass(frozen=True, slots=True)
class Path:
    length: int
    relations: list[RelationRow]


@dataclass(frozen=True, slots=True)
class PathPage:
    paths: list[Path]
    more: PageEnd = inlined()


@operation(
    "Find paths",
    http="GET /graph/paths",
    tools="all",
    pages=Pages(MOST_PATHS, 10, 200, limit=10),
    read_only=True,
)
def _find_paths(
    call: OperationCall,
    source: str = Field(alias="from"),
    target: str = Field(alias="to"),
    depth: _DEPTH = Field(default=4, description="Longest path, in relations; 4 if not given"),
) -> PathPage:
    """Find how two entities are connected: chains of relations between them, the shortest first."""
    found = call.engine.graph.paths(source, target, depth=depth, limit=MOST_PATHS)
    rows = [Path(len(path), list(map(relation_row, path))) for path in found.paths]
    paths, more = list_page(call.page, rows)
    nothing = f"No way from {source[:80]!r} to {target[:80]!r} within {depth} relations."
    note = join_sentences(more.note, _IS_CUT if found.is_cut else None, None if rows else nothing)
    return PathPage(paths, replace(more, note=note))
