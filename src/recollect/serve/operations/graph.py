"""Operations on the knowledge graph: the nine of the official memory server, and what goes beyond them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from recollect.engine.graph.semantic import as_published
from recollect.engine.limits import DEFAULT_LIMIT, MOST_PER_PAGE
from recollect.errors import NotFound
from recollect.records import Status
from recollect.serve.operations.arguments import (
    Arguments,
    Many,
    at_most,
    budget_from,
    described,
    next_page,
    optional,
)
from recollect.serve.operations.graph_pages import GraphPosition, GraphRows, graph_page
from recollect.serve.operations.memories import WHEN, time_argument
from recollect.serve.operations.operation import (
    OperationCall,
    OperationReply,
    as_json,
    continuation_text,
    operation,
)
from recollect.serve.operations.paging import BUDGET, fit_page, name_list, page_rows, shorten_row
from recollect.serve.operations.rows import (
    EntityRow,
    PageRows,
    RelationRow,
    best_observations_first,
    brief_text,
    entity_row,
    rounded,
)
from recollect.serve.operations.search_pages import find
from recollect.text.limits import clean_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.engine import Engine

_MOST_SIMILAR = 5
_MOST_IDS = 50
_MOST_NODES = 50


class Done(TypedDict):
    """As the official server answers to what leaves nothing to show."""

    success: bool
    message: str


def _done(message: str, remark: str | None = None) -> OperationReply[Done]:
    return OperationReply({"success": True, "message": message}, message, remark or None)


# Writing


class CreateEntitiesArguments(Arguments):
    entities: Many[EntityRow]


class CreateEntitiesOutput(TypedDict):
    entities: list[EntityRow]
    note: NotRequired[str]


@operation("create_entities", "Create entities")
def _create_entities(
    call: OperationCall[CreateEntitiesArguments],
) -> OperationReply[CreateEntitiesOutput]:
    """Save people, projects, places, tools and other things worth knowing again, each with a type and what is
    known about it. A name that exists keeps its type, unless that is 'unknown', and gains the observations
    that are new.
    """
    batch = call.engine.create_entities(call.arguments.entities, progress=call.progress)
    written: list[EntityRow] = [
        {**entity_row(memory), "observations": [added.content for added in done.added]}
        for done in batch.entities
        if done.changed and (memory := call.engine.get(done.id)) is not None
    ]
    gained = [done.name for done in batch.entities if not done.created and done.added]
    typed = [f"{done.name} ({done.took_type})" for done in batch.entities if done.took_type]
    kept = [f"{done.name[:40]} keeps its type {done.kept_type}" for done in batch.entities if done.kept_type]
    remarks = [
        f"These existed and gained the new observations: {name_list(gained)}." if gained else None,
        f"These had the type 'unknown' and took the one given: {name_list(typed)}." if typed else None,
        f"{name_list(list(dict.fromkeys(kept)))}." if kept else None,
    ]
    rows, note, remark = _echo(written, " ".join(filter(None, remarks)))
    return OperationReply({"entities": rows, **note}, as_json(rows), remark)


class RelationsArguments(Arguments):
    relations: Many[RelationRow]


class CreateRelationsOutput(TypedDict):
    relations: list[RelationRow]
    note: NotRequired[str]


@operation("create_relations", "Create relations")
def _create_relations(call: OperationCall[RelationsArguments]) -> OperationReply[CreateRelationsOutput]:
    """Connect entities: who works where, what belongs to what. Use the active voice. An entity that does not
    exist is created with the type 'unknown', and the answer says so.
    """
    batch = call.engine.graph.create_relations(call.arguments.relations, create_missing=True)
    written: list[RelationRow] = [
        {"from": done.source, "to": done.target, "relationType": done.type}
        for done in batch.relations
        if done.created
    ]
    missing = sorted({name for done in batch.relations for name in done.also_created})
    remark = f"These entities did not exist and were created with the type 'unknown': {name_list(missing)}."
    rows, note, told = _echo(written, remark if missing else "")
    return OperationReply({"relations": rows, **note}, as_json(rows), told)


class CorrectionRow(TypedDict):
    """An observation that may correct an older one."""

    content: str
    kind: NotRequired[Annotated[str, described("Any word, such as fact, decision, state or metadata")]]
    supersedes: NotRequired[Annotated[str, described("The exact text that this one corrects")]]


class AdditionRow(TypedDict):
    entityName: Annotated[str, described("The entity to add to")]
    contents: Annotated[Many[str | CorrectionRow], described("What to add")]


class AddObservationsArguments(Arguments):
    observations: Many[AdditionRow]


class AddedRow(TypedDict):
    entityName: str
    addedObservations: list[str]


class AddObservationsOutput(TypedDict):
    results: list[AddedRow]
    note: NotRequired[str]


@operation("add_observations", "Add observations")
def _add_observations(
    call: OperationCall[AddObservationsArguments],
) -> OperationReply[AddObservationsOutput]:
    """Add facts to entities that exist, one short statement each. An observation may be text, or an object
    with `content`, a `kind` and `supersedes`: the exact text of an older observation that it corrects, which
    then stays as history.
    """
    items = call.arguments.observations
    additions: dict[str, list[Any]] = {}
    for item in items:
        additions.setdefault(item["entityName"], []).extend(item["contents"])
    batch = call.engine.graph.add_observations(additions, progress=call.progress)
    added = {
        name: [each.content for each in done.added]
        for name, done in zip(additions, batch.entities, strict=True)
    }
    # One result for each item, as the official server has it, though two may speak of one entity.
    results: list[AddedRow] = [
        {
            "entityName": item["entityName"],
            "addedObservations": _take(added[item["entityName"]], item["contents"]),
        }
        for item in items
    ]
    similar = [
        f"“{brief_text(pair.content)}” nearly repeats “{brief_text(pair.similar_content)}” of {done.name}"
        for done in batch.entities
        for pair in done.similar
    ]
    more = f"; and {len(similar) - _MOST_SIMILAR} more" if len(similar) > _MOST_SIMILAR else ""
    remark = f"{'; '.join(similar[:_MOST_SIMILAR])}{more}. Both are kept." if similar else ""
    rows, note, told = _echo(results, remark)
    return OperationReply({"results": rows, **note}, as_json(rows), told)


def _take(added: list[str], contents: Sequence[str | CorrectionRow]) -> list[str]:
    """Remove from the observations added those that an item brought, and give them."""
    texts = {one if isinstance(one, str) else one["content"] for one in contents}
    taken = [text for text in added if text in texts]
    added[:] = [text for text in added if text not in texts]
    return taken


class _Note(TypedDict):
    note: NotRequired[str]


def _echo(written: list[Any], remark: str) -> tuple[list[Any], _Note, str | None]:
    """What was written, as the official server repeats it; of very much, the beginning, with a note."""
    page = fit_page(written, BUDGET, shared=False)
    if not page.left_out and not page.shortened:
        return written, {}, remark or None
    saved = "It was saved whole" if len(written) == 1 else f"All {len(written)} were saved"
    note = f"{saved}; only what fits {BUDGET} tokens is repeated here."
    return page.rows, {"note": note}, f"{note} {remark}".strip()


# Taking away


class DeleteEntitiesArguments(Arguments):
    entityNames: Many[str]


@operation("delete_entities", "Delete entities", destructive=True, idempotent=True)
def _delete_entities(call: OperationCall[DeleteEntitiesArguments]) -> OperationReply[Done]:
    """Forget entities and their relations, by exact name. Use it for what should never have been saved; for
    what has changed, add an observation that supersedes. It can be undone.
    """
    names = list(dict.fromkeys(call.arguments.entityNames))
    existing = call.engine.graph.existing_names(names)
    absent = [name for name in map(clean_name, names) if name not in existing]
    deleted = call.engine.graph.delete_entities(names)
    remedy = _similar_names(call.engine, absent) or "`search_nodes` finds them"
    remarks = [_fewer(len(deleted), len(names), f"names are exact; {remedy}"), _way_back(call, deleted)]
    return _done("Entities deleted successfully", " ".join(filter(None, remarks)))


def _similar_names(engine: Engine, absent: Sequence[str]) -> str | None:
    """What differs from these in case or accents only: perhaps meant, but not deleted."""
    similar = {name: engine.graph.similar_names(name) for name in absent[:_MOST_IDS]}
    told = [
        f"there is no {name[:80]!r}, but {' and '.join(repr(other)[:80] for other in others)}"
        for name, others in similar.items()
        if others
    ]
    return "; ".join(told[:_MOST_SIMILAR]) or None


def _fewer(count: int, asked: int, remedy: str) -> str | None:
    """That something was not there, if so: the official answer says success in any case."""
    if count >= asked:
        return None
    return f"{'Nothing matched' if not count else f'Only {count} of {asked} were there'}; {remedy}."


def _way_back(call: OperationCall[Any], deleted: tuple[int, ...]) -> str | None:
    if not deleted:
        return None
    if "restore" in call.offered:
        return f"`restore` brings back: {name_list(deleted, _MOST_IDS)}."
    which = "them" if len(deleted) <= _MOST_IDS else f"the first {_MOST_IDS} of {len(deleted)}"
    return f"`recollect restore {' '.join(map(str, deleted[:_MOST_IDS]))}` brings {which} back."


class DeletionRow(TypedDict):
    entityName: str
    observations: Many[str]


class DeleteObservationsArguments(Arguments):
    deletions: Many[DeletionRow]


@operation("delete_observations", "Delete observations", destructive=True, idempotent=True)
def _delete_observations(call: OperationCall[DeleteObservationsArguments]) -> OperationReply[Done]:
    """Remove observations by their exact text."""
    removals: dict[str, list[str]] = {}
    for item in call.arguments.deletions:
        removals.setdefault(item["entityName"], []).extend(item["observations"])
    asked = sum(len(set(texts)) for texts in removals.values())
    count = call.engine.graph.delete_observations(removals)
    remedy = "texts are exact; `open_nodes` shows them word for word"
    return _done("Observations deleted successfully", _fewer(count, asked, remedy))


@operation("delete_relations", "Delete relations", destructive=True, idempotent=True)
def _delete_relations(call: OperationCall[RelationsArguments]) -> OperationReply[Done]:
    """Remove relations that were never true. For one that has ended, use `end_relation` where it is offered:
    that keeps it as history.
    """
    relations = call.arguments.relations
    # A deletion counts inverses, too.
    count = call.engine.graph.count_existing(relations)
    call.engine.graph.delete_relations(relations)
    remedy = "`open_nodes` of either end shows what there is"
    return _done("Relations deleted successfully", _fewer(count, len(relations), remedy))


class EndRelationArguments(Arguments):
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    type: str = Field(alias="relationType")
    at: str | None = optional(WHEN)


@operation("end_relation", "End a relation")
def _end_relation(call: OperationCall[EndRelationArguments]) -> OperationReply[Done]:
    """Say that a relation holds no more, as when someone leaves a job. It stays as history."""
    given = call.arguments
    at = None if given.at is None else time_argument(given.at, "at")
    try:
        call.engine.graph.end_relation(given.source, given.type, given.target, at=at)
    except NotFound as error:
        raise NotFound(_nothing_to_end(call.engine, given, str(error))) from error
    return _done(f"{given.source} {given.type} {given.target} has ended; it stays as history.")


def _nothing_to_end(engine: Engine, given: EndRelationArguments, why: str) -> str:
    """What is missing, and what the caller may have meant."""
    graph = engine.graph
    if not graph.similar_names(given.source):
        return f"There is no entity named {given.source[:80]!r}, so nothing ends; `search_nodes` finds names."
    if not graph.similar_names(given.target):
        why = f"There is no entity named {given.target[:80]!r}, so nothing ends."
    opened = graph.open_nodes([given.source], record=False)
    if not opened.entities:
        # The name could mean several.
        return why
    told = [f"{one.source_name[:40]} {one.type[:40]} {one.target_name[:40]}" for one in opened.relations]
    return f"{why} {given.source[:80]!r} has: {name_list(told) or 'no relations'}."


class SetStatusArguments(Arguments):
    entityName: str
    status: Annotated[Status, Field(strict=False)]


@operation("set_status", "Set a status", idempotent=True)
def _set_status(call: OperationCall[SetStatusArguments]) -> OperationReply[Done]:
    """Mark an entity as active, paused, completed or archived; what is not active ranks lower."""
    status = call.engine.graph.set_status(call.arguments.entityName, call.arguments.status)
    return _done(f"{call.arguments.entityName} is {status} now.")


# Reading


class GraphArguments(Arguments):
    limit: int | None = optional("At most so many entities", ge=1, le=MOST_PER_PAGE)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(100)


class SearchNodesArguments(GraphArguments):
    query: str = described("Words to look for")


class OpenNodesArguments(GraphArguments):
    names: Many[str]


@operation("read_graph", "Read the graph", read_only=True)
def _read_graph(call: OperationCall[GraphArguments]) -> OperationReply[GraphRows]:
    """Read the whole graph, page by page. Rarely what you need: ask `recall` or `search_nodes` first."""
    given, position = call.arguments, GraphPosition.of(call.arguments.cursor)
    graph = call.engine.graph.read_graph(limit=given.limit or MOST_PER_PAGE, after=position.before)
    keyed = [(memory.id, memory) for memory in graph.entities]
    return OperationReply(graph_page(keyed, graph.relations, _budget(given), position, graph.cursor))


@operation("search_nodes", "Search nodes", read_only=True)
def _search_nodes(call: OperationCall[SearchNodesArguments]) -> OperationReply[GraphRows]:
    """Find entities by words in their name, type or observations. For questions in natural language use
    `recall` or `search_semantic`.
    """
    given, position = call.arguments, GraphPosition.of(call.arguments.cursor)
    graph = call.engine.graph.search_nodes(
        given.query, limit=given.limit or _MOST_NODES, after=position.before
    )
    keyed = list(enumerate(graph.entities, start=position.before + 1))
    page = graph_page(keyed, graph.relations, _budget(given), position, graph.cursor)
    if graph.cursor is not None and "note" not in page:
        page["note"] = f"There are more than {graph.cursor}; go on with `cursor`, or ask more narrowly."
    return OperationReply(page)


@operation("open_nodes", "Open nodes", read_only=True)
def _open_nodes(call: OperationCall[OpenNodesArguments]) -> OperationReply[GraphRows]:
    """Read entities whose names you know, with all their observations and relations; of a very large one,
    page by page.
    """
    given, position = call.arguments, GraphPosition.of(call.arguments.cursor)
    graph = call.engine.graph.open_nodes(given.names, record=not position.key)
    # In the order of the graph, as the official server has it, whatever the order asked for.
    ordered = sorted(graph.entities, key=lambda memory: memory.id)
    rest = [(memory.id, memory) for memory in ordered if memory.id > position.before]
    keyed = rest[: given.limit or MOST_PER_PAGE]
    more = keyed[-1][0] if len(rest) > len(keyed) else None
    return OperationReply(graph_page(keyed, graph.relations, _budget(given), position, more))


def _budget(given: GraphArguments) -> int:
    return given.budget_tokens or BUDGET


class SearchSemanticArguments(Arguments):
    query: str = described("A question or a description")
    limit: int | None = at_most(50, DEFAULT_LIMIT)
    cursor: str | None = next_page()
    budget_tokens: int | None = budget_from(250)


class ScoringRow(TypedDict):
    importance: float
    temporal_factor: float
    cooc_boost: float


class SemanticRow(TypedDict):
    """A hit in the form that MCP Memory v2 published."""

    name: str
    entityType: str
    observations: list[str]
    distance: NotRequired[float | None]
    limbic_score: float
    scoring: NotRequired[ScoringRow]
    routing_strategy: NotRequired[str | None]
    score: float
    mode: NotRequired[str]
    rrf_score: NotRequired[float]


class SearchSemanticOutput(PageRows):
    results: list[SemanticRow]


@operation("search_semantic", "Search by meaning", read_only=True)
def _search_semantic(
    call: OperationCall[SearchSemanticArguments],
) -> OperationReply[SearchSemanticOutput]:
    """Find entities by what they mean, ranked by similarity, how often and how lately they were used, and
    what is usually seen together. Ask in natural language.
    """
    given, engine = call.arguments, call.engine
    found = find(
        call,
        lambda limit: engine.graph.find_entities(given.query, limit, record=False, noted_later=True),
    )
    rows: list[SemanticRow] = rounded(as_published(replace(found.answer, hits=tuple(found.hits)))["results"])

    def shorten(place: int, room: int) -> Any:
        row = rows[place]
        best = best_observations_first(row["observations"], given.query)
        return shorten_row({**row, "observations": best}, room)

    page = fit_page(rows, given.budget_tokens or BUDGET, shorten)
    # What did not fit was not seen; and who pages on has not asked anew.
    if given.cursor is None:
        engine.record_shown([hit.memory.id for hit in found.hits[: len(page.rows)]], found.answer)
    unshown = sum(
        len(row["observations"]) - len(shown["observations"])
        for row, shown in zip(rows, page.rows, strict=False)
    )
    cut = page.note(call.offered)
    notes = [f"{unshown} observations are not shown." if unshown else None, cut, found.answer.note]
    cursor = found.cursor(page)
    note = " ".join(filter(None, notes)) if cut or found.answer.note else None
    more = page_rows(cursor, note)
    text = as_json({"results": page.rows})
    return OperationReply({"results": page.rows, **more}, text, continuation_text(more) if cut else note)
