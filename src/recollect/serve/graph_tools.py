"""The nine tools of the official memory server, and `search_semantic`: their names, arguments and results."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from recollect.engine.limits import MOST_PER_PAGE
from recollect.serve import wire
from recollect.serve.paging import BUDGET, after, fitted
from recollect.serve.shapes import flag, listed, maybe, number, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.serve.tool import Call

_ENTITY = table(
    name=text("The entity's name"),
    entityType=text("What sort of thing it is, such as person, project or place"),
    observations=listed(text(), "What is known about it, one fact each"),
)
_RELATION = table(
    {
        "from": text("The entity where the relation starts"),
        "to": text("The entity where it ends"),
        "relationType": text("What it says, in active voice, such as works_at"),
    }
)
_DONE = table(success=flag(), message=text())
_GRAPH = table(
    needs=("entities", "relations"),
    entities=listed(_ENTITY),
    relations=listed(_RELATION),
    cursor=text("Pass it on as `cursor` for the next page; absent on the last"),
    note=text("What was left out, and how to get it"),
)
_LIMIT = whole("At most so many entities", minimum=1, maximum=MOST_PER_PAGE)
_BUDGET = whole("At most about so many tokens", minimum=50)
_CURSOR = text("The `cursor` of the last answer, for the next page")


def _create_entities(call: Call) -> Reply:
    batch = call.engine.create_entities(call.given["entities"])
    made = [
        {**wire.entity(memory), "observations": [added.content for added in done.added]}
        for done in batch.entities
        if (done.created or done.added) and (memory := call.engine.get(done.id)) is not None
    ]
    gained = [done.name for done in batch.entities if not done.created and done.added]
    also = f"These existed and gained the new observations: {', '.join(gained)}." if gained else None
    return Reply({"entities": made}, wire.shown(made), also)


def _create_relations(call: Call) -> Reply:
    batch = call.engine.create_relations(call.given["relations"], create_missing=True)
    made = [
        {"from": done.source, "to": done.target, "relationType": done.type}
        for done in batch.relations
        if done.created
    ]
    missing = sorted({name for done in batch.relations for name in done.also_created})
    also = (
        f"These entities did not exist and were created with the type 'unknown': {', '.join(missing)}."
        if missing
        else None
    )
    return Reply({"relations": made}, wire.shown(made), also)


def _add_observations(call: Call) -> Reply:
    additions: dict[str, list[Any]] = {}
    for item in call.given["observations"]:
        additions.setdefault(item["entityName"], []).extend(item["contents"])
    batch = call.engine.add_observations(additions)
    left = {
        name: [added.content for added in done.added]
        for name, done in zip(additions, batch.entities, strict=True)
    }
    # One result for each item, as the official server has it, though two may speak of one entity.
    results = [
        {
            "entityName": item["entityName"],
            "addedObservations": _taken(left[item["entityName"]], item["contents"]),
        }
        for item in call.given["observations"]
    ]
    alike = [
        f"“{pair.content}” nearly repeats “{pair.similar_content}” of {done.name}"
        for done in batch.entities
        for pair in done.similar
    ]
    also = "; ".join(alike) + ". Both are kept." if alike else None
    return Reply({"results": results}, wire.shown(results), also)


def _taken(left: list[str], wanted: list[Any]) -> list[str]:
    """Those of the observations left that an item brought; they are left no more."""
    texts = {one if isinstance(one, str) else one["content"] for one in wanted}
    taken = [text for text in left if text in texts]
    left[:] = [text for text in left if text not in texts]
    return taken


def _delete_entities(call: Call) -> Reply:
    gone = call.engine.delete_entities(call.given["entityNames"])
    return _done("Entities deleted successfully", _undo(gone))


def _delete_observations(call: Call) -> Reply:
    removals: dict[str, list[str]] = {}
    for item in call.given["deletions"]:
        removals.setdefault(item["entityName"], []).extend(item["observations"])
    call.engine.delete_observations(removals)
    return _done("Observations deleted successfully")


def _delete_relations(call: Call) -> Reply:
    call.engine.delete_relations(call.given["relations"])
    return _done("Relations deleted successfully")


def _done(message: str, also: str | None = None) -> Reply:
    return Reply({"success": True, "message": message}, message, also)


def _undo(gone: tuple[int, ...]) -> str | None:
    return f"`recollect restore {' '.join(map(str, gone))}` brings them back." if gone else None


def _read_graph(call: Call) -> Reply:
    graph = call.engine.read_graph(limit=call.get("limit", MOST_PER_PAGE), after=after(call))
    return _shown(fitted(graph, call.get("budget_tokens", BUDGET)))


def _search_nodes(call: Call) -> Reply:
    limit = call.get("limit", 50)
    graph = call.engine.search_nodes(call.given["query"], limit=min(limit + 1, MOST_PER_PAGE))
    first = replace(graph, entities=graph.entities[:limit])
    data = fitted(first, call.get("budget_tokens", BUDGET), pages=False)
    if len(graph.entities) > limit:
        data.setdefault("note", f"There are more than {limit}; raise `limit`, or ask more narrowly.")
    return _shown(data)


def _open_nodes(call: Call) -> Reply:
    found = call.engine.open_nodes(call.given["names"])
    # In the order of the graph, as the official server has it, whatever the order asked for.
    graph = replace(found, entities=tuple(sorted(found.entities, key=lambda memory: memory.id)))
    return _shown(fitted(graph, call.get("budget_tokens", BUDGET), pages=False))


def _shown(data: dict[str, Any]) -> Reply:
    shown = {name: data[name] for name in ("entities", "relations")}
    return Reply(data, wire.shown(shown), _more(data))


def _more(data: dict[str, Any]) -> str | None:
    if "cursor" not in data:
        return data.get("note")
    return f"{data.get('note', 'There is more.')} The next page: cursor {data['cursor']!r}."


def _search_semantic(call: Call) -> Reply:
    found = wire.rounded(call.engine.search_semantic(call.given["query"], call.get("limit")))
    return Reply(found, wire.shown(found))


GRAPH_TOOLS = (
    Tool(
        "create_entities",
        "Create entities",
        "Save people, projects, places, tools and other things worth knowing again, each with a type and "
        "what is known about it. A name that exists keeps its type and gains the observations that are "
        "new.",
        table(entities=listed(_ENTITY)),
        table(entities=listed(_ENTITY)),
        _create_entities,
    ),
    Tool(
        "create_relations",
        "Create relations",
        "Connect entities: who works where, what belongs to what. Use the active voice. An entity that "
        "does not exist is created with the type 'unknown', and the answer says so.",
        table(relations=listed(_RELATION)),
        table(relations=listed(_RELATION)),
        _create_relations,
    ),
    Tool(
        "add_observations",
        "Add observations",
        "Add facts to entities that exist, one short statement each. An observation may be text, or an "
        "object with `content`, a `kind` (fact, decision, state, metadata …) and `supersedes`: the exact "
        "text of an older observation that it corrects, which then stays as history.",
        table(
            observations=listed(
                table(
                    entityName=text("The entity to add to"),
                    contents=listed(
                        {
                            "anyOf": [
                                text(),
                                table(
                                    needs=("content",),
                                    content=text(),
                                    kind=text(),
                                    supersedes=text("The exact text that this one corrects"),
                                ),
                            ]
                        },
                        "What to add",
                    ),
                )
            )
        ),
        table(results=listed(table(entityName=text(), addedObservations=listed(text())))),
        _add_observations,
    ),
    Tool(
        "delete_entities",
        "Delete entities",
        "Forget entities and their relations, by exact name. Use it for what should never have been "
        "saved; for what has changed, add an observation that supersedes. It can be undone.",
        table(entityNames=listed(text())),
        _DONE,
        _delete_entities,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "delete_observations",
        "Delete observations",
        "Remove observations by their exact text.",
        table(deletions=listed(table(entityName=text(), observations=listed(text())))),
        _DONE,
        _delete_observations,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "delete_relations",
        "Delete relations",
        "Remove relations that were never true. One that has ended is history: `end_relation` keeps it.",
        table(relations=listed(_RELATION)),
        _DONE,
        _delete_relations,
        destroys=True,
        repeats=True,
    ),
    Tool(
        "read_graph",
        "Read the graph",
        "Read the whole graph, page by page. Rarely what you need: ask `recall` or `search_nodes` first.",
        table(needs=(), limit=_LIMIT, cursor=_CURSOR, budget_tokens=_BUDGET),
        _GRAPH,
        _read_graph,
        reads=True,
        repeats=True,
    ),
    Tool(
        "search_nodes",
        "Search nodes",
        "Find entities by words in their name, type or observations. For questions in natural language use "
        "`recall` or `search_semantic`.",
        table(needs=("query",), query=text("Words to look for"), limit=_LIMIT, budget_tokens=_BUDGET),
        _GRAPH,
        _search_nodes,
        reads=True,
        repeats=True,
    ),
    Tool(
        "open_nodes",
        "Open nodes",
        "Read entities whose names you know, with all their observations and relations.",
        table(needs=("names",), names=listed(text()), budget_tokens=_BUDGET),
        _GRAPH,
        _open_nodes,
        reads=True,
        repeats=True,
    ),
    Tool(
        "search_semantic",
        "Search by meaning",
        "Find entities by what they mean, ranked by similarity, how often and how lately they were used, "
        "and what is usually seen together. Ask in natural language.",
        table(
            needs=("query",),
            query=text("A question or a description"),
            limit=whole("At most so many; 10 if not given", minimum=1, maximum=50),
        ),
        table(
            needs=("results",),
            results=listed(
                table(
                    needs=("name", "entityType", "observations", "limbic_score", "score"),
                    name=text(),
                    entityType=text(),
                    observations=listed(text()),
                    distance=maybe(number()),
                    limbic_score=number(),
                    scoring=table(importance=number(), temporal_factor=number(), cooc_boost=number()),
                    routing_strategy=maybe(text()),
                    score=number(),
                    mode=text(),
                    rrf_score=number(),
                )
            ),
            note=text(),
        ),
        _search_semantic,
        reads=True,
        repeats=True,
    ),
)
