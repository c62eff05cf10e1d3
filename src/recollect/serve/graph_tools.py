"""The nine tools of the official memory server, and `search_semantic`: their names, arguments and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.engine.limits import DEFAULT_LIMIT, MOST_PER_PAGE
from recollect.serve import wire
from recollect.serve.graph_pages import Place, fitted, place_of
from recollect.serve.memory_tools import asked
from recollect.serve.paging import (
    BUDGET,
    BUDGET_TOKENS,
    CURSOR,
    MORE,
    at_most,
    budget_from,
    first_of,
    fit,
    found,
    more,
    shortened,
)
from recollect.serve.shapes import flag, listed, maybe, number, table, text, whole
from recollect.serve.tool import Reply, Tool
from recollect.text.limits import clean_name, clean_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.results import Answer
    from recollect.serve.tool import Call

_MOST_ALIKE = 5
_MOST_IDS = 50

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
_GRAPH = table(needs=("entities", "relations"), entities=listed(_ENTITY), relations=listed(_RELATION), **MORE)
_LIMIT = whole("At most so many entities", minimum=1, maximum=MOST_PER_PAGE)
_PAGES = {"limit": _LIMIT, "cursor": CURSOR, "budget_tokens": BUDGET_TOKENS}
_MOST_FOUND = 50


def _create_entities(call: Call) -> Reply:
    batch = call.engine.create_entities(call.given["entities"], progress=call.progress)
    made = [
        {**wire.entity(memory), "observations": [added.content for added in done.added]}
        for done in batch.entities
        if done.changed and (memory := call.engine.get(done.id)) is not None
    ]
    gained = [done.name for done in batch.entities if not done.created and done.added]
    typed = [f"{done.name} ({done.took_type})" for done in batch.entities if done.took_type]
    kept = [f"{done.name[:40]} keeps its type {done.kept_type}" for done in batch.entities if done.kept_type]
    told = [
        f"These existed and gained the new observations: {first_of(gained)}." if gained else None,
        f"These had the type 'unknown' and took the one given: {first_of(typed)}." if typed else None,
        f"{first_of(list(dict.fromkeys(kept)))}." if kept else None,
    ]
    return _echo("entities", made, " ".join(filter(None, told)) or None)


def _create_relations(call: Call) -> Reply:
    batch = call.engine.graph.create_relations(call.given["relations"], create_missing=True)
    made = [
        {"from": done.source, "to": done.target, "relationType": done.type}
        for done in batch.relations
        if done.created
    ]
    missing = sorted({name for done in batch.relations for name in done.also_created})
    also = (
        f"These entities did not exist and were created with the type 'unknown': {first_of(missing)}."
        if missing
        else None
    )
    return _echo("relations", made, also)


def _add_observations(call: Call) -> Reply:
    additions: dict[str, list[Any]] = {}
    for item in call.given["observations"]:
        additions.setdefault(item["entityName"], []).extend(item["contents"])
    batch = call.engine.graph.add_observations(additions, progress=call.progress)
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
        f"“{wire.brief(pair.content)}” nearly repeats “{wire.brief(pair.similar_content)}” of {done.name}"
        for done in batch.entities
        for pair in done.similar
    ]
    more = f"; and {len(alike) - _MOST_ALIKE} more" if len(alike) > _MOST_ALIKE else ""
    also = "; ".join(alike[:_MOST_ALIKE]) + f"{more}. Both are kept." if alike else None
    return _echo("results", results, also)


def _echo(name: str, made: list[dict[str, Any]], also: str | None) -> Reply:
    """What was written, as the official server repeats it; of very much, the beginning."""
    page = fit(made, BUDGET, shared=False)
    if not page.left and not page.cut:
        return Reply({name: made}, wire.shown(made), also)
    # The whole of it is stored: only the answer is short.
    saved = "It was saved whole" if len(made) == 1 else f"All {len(made)} were saved"
    note = f"{saved}; only what fits {BUDGET} tokens is repeated here."
    return Reply({name: page.rows, "note": note}, wire.shown(page.rows), f"{note} {also or ''}".strip())


def _taken(left: list[str], wanted: list[Any]) -> list[str]:
    """Those of the observations left that an item brought; they are left no more."""
    texts = {one if isinstance(one, str) else one["content"] for one in wanted}
    taken = [text for text in left if text in texts]
    left[:] = [text for text in left if text not in texts]
    return taken


def _delete_entities(call: Call) -> Reply:
    wanted = list(dict.fromkeys(call.given["entityNames"]))
    absent = _absent(call, wanted)
    gone = call.engine.graph.delete_entities(wanted)
    remedy = _instead(call, absent) or "`search_nodes` finds them"
    told = [_fewer(len(gone), len(wanted), f"names are exact; {remedy}"), _undo(call, gone)]
    return _done("Entities deleted successfully", " ".join(filter(None, told)))


def _absent(call: Call, names: Sequence[str]) -> list[str]:
    """Those of the names that no entity has, letter by letter."""
    wanted = list(map(clean_name, names))
    with call.engine.store.read() as view:
        ids = view.named(wanted, call.engine.scope)
        known = {memory.name for memory in view.memories(list(ids.values())).values()}
    return [name for name in wanted if name not in known]


def _instead(call: Call, absent: Sequence[str]) -> str | None:
    """What differs from these in case or accents only: perhaps meant, but not deleted."""
    with call.engine.store.read() as view:
        alike = {name: view.alike(name, call.engine.scope) for name in absent[:_MOST_IDS]}
    told = [
        f"there is no {name[:80]!r}, but {' and '.join(repr(other)[:80] for other in others)}"
        for name, others in alike.items()
        if others
    ]
    return "; ".join(told[:_MOST_ALIKE]) or None


def _delete_observations(call: Call) -> Reply:
    removals: dict[str, list[str]] = {}
    for item in call.given["deletions"]:
        removals.setdefault(item["entityName"], []).extend(item["observations"])
    wanted = sum(len(set(texts)) for texts in removals.values())
    count = call.engine.graph.delete_observations(removals)
    return _done(
        "Observations deleted successfully",
        _fewer(count, wanted, "texts are exact; `open_nodes` shows them word for word"),
    )


def _delete_relations(call: Call) -> Reply:
    wanted = call.given["relations"]
    there = _there(call, wanted)
    call.engine.graph.delete_relations(wanted)
    return _done(
        "Relations deleted successfully",
        _fewer(there, len(wanted), "`open_nodes` of either end shows what there is"),
    )


def _there(call: Call, wanted: Sequence[dict[str, str]]) -> int:
    """How many of the relations there are; the number that a deletion takes counts inverses, too."""
    plain = [
        (clean_name(one["from"]), clean_name(one["to"]), clean_type(one["relationType"])) for one in wanted
    ]
    with call.engine.store.read() as view:
        ids = view.named(list({name for one in plain for name in one[:2]}), call.engine.scope)
        known = {(one.source, one.target, one.type) for one in view.relations(list(ids.values()))}
    return sum((ids.get(source), ids.get(target), type_) in known for source, target, type_ in plain)


def _fewer(count: int, wanted: int, remedy: str) -> str | None:
    """That something was not there, if so: the official answer says success in any case."""
    if count >= wanted:
        return None
    return f"{'Nothing matched' if not count else f'Only {count} of {wanted} were there'}; {remedy}."


def _done(message: str, also: str | None = None) -> Reply:
    return Reply({"success": True, "message": message}, message, also or None)


def _undo(call: Call, gone: tuple[int, ...]) -> str | None:
    if not gone:
        return None
    if "restore" in call.offered:
        return f"`restore` brings back: {first_of(gone, _MOST_IDS)}."
    which = "them" if len(gone) <= _MOST_IDS else f"the first {_MOST_IDS} of {len(gone)}"
    return f"`recollect restore {' '.join(map(str, gone[:_MOST_IDS]))}` brings {which} back."


def _read_graph(call: Call) -> Reply:
    place = _place(call)
    graph = call.engine.graph.read_graph(limit=call.get("limit", MOST_PER_PAGE), after=place.before)
    keyed = [(memory.id, memory) for memory in graph.entities]
    return _shown(fitted(keyed, graph.relations, _budget(call), place, graph.cursor))


def _search_nodes(call: Call) -> Reply:
    place, limit = _place(call), call.get("limit", _MOST_FOUND)
    graph = call.engine.graph.search_nodes(call.given["query"], limit=limit, after=place.before)
    keyed = list(enumerate(graph.entities, start=place.before + 1))
    data = fitted(keyed, graph.relations, _budget(call), place, graph.cursor)
    if graph.cursor is not None:
        told = f"There are more than {graph.cursor}; go on with `cursor`, or ask more narrowly."
        data.setdefault("note", told)
    return _shown(data)


def _open_nodes(call: Call) -> Reply:
    place = _place(call)
    graph = call.engine.graph.open_nodes(call.given["names"], record=not place.key)
    # In the order of the graph, as the official server has it, whatever the order asked for.
    ordered = sorted(graph.entities, key=lambda memory: memory.id)
    rest = [(memory.id, memory) for memory in ordered if memory.id > place.before]
    keyed = rest[: call.get("limit", MOST_PER_PAGE)]
    onward = keyed[-1][0] if len(rest) > len(keyed) else None
    return _shown(fitted(keyed, graph.relations, _budget(call), place, onward))


def _place(call: Call) -> Place:
    return place_of(str(call.get("cursor", "0")))


def _budget(call: Call) -> int:
    return int(call.get("budget_tokens", BUDGET))


def _shown(data: dict[str, Any]) -> Reply:
    shown = {name: data[name] for name in ("entities", "relations")}
    return Reply(data, wire.shown(shown), more(data))


def _search_semantic(call: Call) -> Reply:
    from recollect.engine.graph.semantic import as_published  # noqa: PLC0415  # the list of tools needs none

    query = asked(call)
    answers: list[Answer] = []

    def ask(limit: int | None) -> list[dict[str, Any]]:
        answers.append(call.engine.graph.find_entities(query, limit, record=False, noted_later=True))
        return list(wire.rounded(as_published(answers[-1])["results"]))

    reach, rest = found(call, ask, lambda one: str(one["name"]))
    wanted = rest[: call.get("limit", DEFAULT_LIMIT)]

    def shorten(place: int, room: int) -> dict[str, Any]:
        row = wanted[place]
        return dict(shortened({**row, "observations": wire.telling(row["observations"], query)}, room))

    page = fit(wanted, _budget(call), shorten)
    # What did not fit was not seen; and who pages on has not asked anew.
    if call.get("cursor") is None:
        call.engine.record_shown([hit.memory.id for hit in answers[-1].hits[: len(page.rows)]], answers[-1])
    data: dict[str, Any] = {"results": page.rows}
    if page.left or len(wanted) == call.get("limit", DEFAULT_LIMIT):
        data["cursor"] = reach.onward(len(page.rows))
    note = page.note(call)
    missing = sum(
        len(one["observations"]) - len(row["observations"])
        for one, row in zip(wanted, page.rows, strict=False)
    )
    unsaid = f"{missing} observations are not shown." if missing else None
    if note or answers[-1].note:
        data["note"] = " ".join(filter(None, (unsaid, note, answers[-1].note)))
    return Reply(data, wire.shown({"results": page.rows}), more(data) if note else data.get("note"))


GRAPH_TOOLS = (
    Tool(
        "create_entities",
        "Create entities",
        "Save people, projects, places, tools and other things worth knowing again, each with a type and "
        "what is known about it. A name that exists keeps its type, unless that is 'unknown', and gains "
        "the observations that are new.",
        table(entities=listed(_ENTITY)),
        table(needs=("entities",), entities=listed(_ENTITY), note=text()),
        _create_entities,
    ),
    Tool(
        "create_relations",
        "Create relations",
        "Connect entities: who works where, what belongs to what. Use the active voice. An entity that "
        "does not exist is created with the type 'unknown', and the answer says so.",
        table(relations=listed(_RELATION)),
        table(needs=("relations",), relations=listed(_RELATION), note=text()),
        _create_relations,
    ),
    Tool(
        "add_observations",
        "Add observations",
        "Add facts to entities that exist, one short statement each. An observation may be text, or an "
        "object with `content`, a `kind` and `supersedes`: the exact text of an older observation that it "
        "corrects, which then stays as history.",
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
                                    kind=text("Any word, such as fact, decision, state or metadata"),
                                    supersedes=text("The exact text that this one corrects"),
                                ),
                            ]
                        },
                        "What to add",
                    ),
                )
            )
        ),
        table(
            needs=("results",),
            results=listed(table(entityName=text(), addedObservations=listed(text()))),
            note=text(),
        ),
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
        "Remove relations that were never true. For one that has ended, use `end_relation` where it is "
        "offered: that keeps it as history.",
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
        table(needs=(), **_PAGES),
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
        table(needs=("query",), query=text("Words to look for"), **_PAGES),
        _GRAPH,
        _search_nodes,
        reads=True,
        repeats=True,
    ),
    Tool(
        "open_nodes",
        "Open nodes",
        "Read entities whose names you know, with all their observations and relations; of a very large "
        "one, page by page.",
        table(needs=("names",), names=listed(text()), **_PAGES),
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
            limit=at_most(50, DEFAULT_LIMIT),
            cursor=CURSOR,
            budget_tokens=budget_from(250),
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
            **MORE,
        ),
        _search_semantic,
        reads=True,
        repeats=True,
    ),
)
