"""Looking after the graph: reflections, duplicates, the report, and splitting what grew too large."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.engine.limits import DEFAULT_LIMIT
from recollect.serve import wire
from recollect.serve.memory_tools import HIT, LARGEST_ID, RECALL_BUDGET, hits_of
from recollect.serve.paging import (
    BUDGET,
    BUDGET_TOKENS,
    CURSOR,
    LEAST_PROSE,
    MORE,
    after,
    at_most,
    budget_from,
    cost,
    cut_short,
    layers,
    listing,
    more,
    onward,
    shortened,
)
from recollect.serve.shapes import extended, flag, listed, maybe, number, table, text, whole
from recollect.serve.tool import Reply, Tool
from recollect.text.token_counts import count_tokens

if TYPE_CHECKING:
    from recollect.engine.upkeep.results import SplitAnalysis
    from recollect.serve.tool import Call

_NAME = text("The entity's exact name")
_TOPIC = table(
    name=text(),
    count=whole("How many observations it has"),
    observations=listed(text()),
)
_ANALYSIS = table(
    needs=(
        "entity_name",
        "entity_type",
        "observation_count",
        "threshold",
        "needs_split",
        "split_score",
    ),
    entity_name=text(),
    entity_type=text(),
    observation_count=whole(),
    threshold=whole("Observations from which this type counts as oversized"),
    needs_split=flag(),
    topics=listed(_TOPIC),
    split_score=number(),
)
_PART = table(
    needs=("name", "observations"),
    name=text("The new entity's name"),
    entity_type=text("Its type; that of the original if not given"),
    observations=listed(text(), "The exact texts to move"),
)
_ID = whole(minimum=1, maximum=LARGEST_ID)
_UNDO = table(original=_ID, parts=listed(_ID), observations=listed(_ID))
_PAGES = {"cursor": CURSOR, "budget_tokens": BUDGET_TOKENS}
_MOST = 20
_MOST_PAIRS = 50
_MOST_TEXTS = 200
_TEXTS = whole(f"At most so many observations; {_MOST_TEXTS} if not given", minimum=1, maximum=1_000)
_SECTIONS = (
    "split_candidates",
    "flagged_observations",
    "flagged_notes",
    "stale_entities",
    "large_entities",
)
_ALL_PAIRS = 10_000


def _add_reflection(call: Call) -> Reply:
    given = call.given
    note = call.engine.upkeep.add_reflection(
        given["content"], about=given.get("about", ()), author=given.get("author"), mood=given.get("mood")
    )
    return Reply(wire.remembered(note), f"Reflection #{note.id} saved.")


def _search_reflections(call: Call) -> Reply:
    from recollect.engine.notes.reflections import mood_of  # noqa: PLC0415  # a list of tools needs no engine

    given = {name: call.get(name) for name in ("author", "mood", "about")}
    data, notes = hits_of(
        call,
        lambda limit: call.engine.upkeep.search_reflections(
            call.given["query"], limit=limit, record=call.get("cursor") is None, **given
        ),
        lambda hit: {**wire.hit(hit), "author": hit.memory.speaker, "mood": mood_of(hit.memory)},
        RECALL_BUDGET,
    )
    hits = data.pop("hits")
    return Reply({"results": hits, **data}, wire.lines(hits, *notes))


def _find_duplicates(call: Call) -> Reply:
    given = call.given
    found = call.engine.upkeep.find_duplicate_observations(
        given.get("entity_name"),
        threshold=given.get("threshold", 0.85),
        limit=_ALL_PAIRS,
        progress=call.progress,
    )
    pairs = [
        {
            "entity": pair.entity,
            "older": pair.older.content,
            "newer": pair.newer.content,
            "similarity": round(pair.similarity, 3),
            "match": pair.match,
        }
        for pair in found.pairs
    ]
    data = listing(call, "duplicates", pairs, _MOST_PAIRS)
    left = len(pairs) + found.left_out - after(call) - len(data["duplicates"])
    return _listed("duplicates", {**data, "left_out": max(0, left)})


def _report(call: Call) -> Reply:
    report = call.engine.upkeep.consolidation_report(
        stale_days=call.get("stale_days", 90), progress=call.progress
    )
    sections: dict[str, list[dict[str, Any]]] = {
        "split_candidates": [_analysis(one) for one in report.split_candidates],
        "flagged_observations": [
            {"entity": one.entity, "observation": one.observation.content, "similar": one.similar.content}
            for one in report.flagged_observations
        ],
        "flagged_notes": [
            {"id": one.id, "text": one.text, "similar_to": one.similar_to, "similar": one.similar_text}
            for one in report.flagged_notes
        ],
        "stale_entities": [{"name": one.name, "type": one.type} for one in report.stale],
        "large_entities": [
            {"name": one.name, "observations": one.observations, "limit": one.limit}
            for one in report.oversized
        ],
    }
    start, budget = after(call), call.get("budget_tokens", BUDGET)
    frame = {
        "summary": {"entities": report.entities, "observations": report.observations, "notes": report.notes},
        "found": {name: len(section) for name, section in sections.items()},
    }
    rows, deep = layers(sections, start, call.get("limit", _MOST), budget - cost(frame))
    longest = max(map(len, sections.values()))
    cut = sum(
        row is not whole_
        for name, shown in rows.items()
        for row, whole_ in zip(shown, sections[name][start:], strict=False)
    )
    told = [cut_short(cut, budget)] if cut else []
    told += ["Some sections go on; pass the `cursor`."] if start + deep < longest else []
    note = " ".join(told) or None
    data = {**frame, **rows, **onward(start + deep, longest, note)}
    text_ = (
        report.text if start == 0 and count_tokens(report.text) <= budget else wire.shown({**frame, **rows})
    )
    return Reply(data, text_, more(data))


def _candidates(call: Call) -> Reply:
    found = [_analysis(one) for one in call.engine.upkeep.find_split_candidates(call.progress)]
    return _listed("candidates", listing(call, "candidates", found, _MOST, shared=True))


def _analyze(call: Call) -> Reply:
    analysis = call.engine.upkeep.analyze_split(call.given["entity_name"])
    topics = [{"name": one.name, "count": len(one.observations)} for one in analysis.topics]
    texts = [[seen.content for seen in one.observations] for one in analysis.topics]
    shown, further = _stretch(call, topics, texts)
    data = {"analysis": {**_outline(analysis), "topics": shown}, **further}
    return Reply(data, wire.shown({"analysis": data["analysis"]}), more(data))


def _propose(call: Call) -> Reply:
    proposal = call.engine.upkeep.propose_split(call.given["entity_name"])
    heads = [{"name": part.name, "entity_type": part.type or ""} for part in proposal.parts]
    shown, further = _stretch(call, heads, [list(part.observations) for part in proposal.parts])
    data: dict[str, Any] = {"suggested_splits": shown, "analysis": _outline(proposal.analysis), **further}
    also = more(data) if heads else "It does not fall apart into topics; leave it as it is."
    return Reply(data, wire.shown({name: data[name] for name in ("suggested_splits", "analysis")}), also)


def _stretch(
    call: Call, heads: list[dict[str, Any]], texts: list[list[str]]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The groups with those of their texts that fall on this page; page after page joins to the whole."""
    budget = left = call.get("budget_tokens", BUDGET)
    every = [(place, text_) for place, group in enumerate(texts) for text_ in group]
    start = after(call)
    groups: dict[int, dict[str, Any]] = {}
    done, cut = start, 0
    for place, text_ in every[start : start + call.get("limit", _MOST_TEXTS)]:
        head = groups.get(place) or {**heads[place], "observations": []}
        price = 0 if place in groups else cost(head)
        # The first comes at least in part, or a page could never pass it.
        said = text_ if groups else shortened(text_, max(LEAST_PROSE, left - price))
        price += cost(said)
        if groups and price > left:
            break
        groups.setdefault(place, head)["observations"].append(said)
        left -= price
        done += 1
        cut += said is not text_
    told = [cut_short(cut, budget)] if cut else []
    if done < len(every):
        told.append(
            f"{len(every) - done} of {len(every)} observations come after these; go on with `cursor`."
        )
    return list(groups.values()), onward(done, len(every), " ".join(told) or None)


def _execute(call: Call) -> Reply:
    done = call.engine.upkeep.execute_split(
        call.given["entity_name"], call.given["approved_splits"], call.progress
    )
    data = {
        "new_entities": [part.name for part in done.parts],
        "moved_observations": done.moved,
        "original_observations_remaining": done.remaining,
        "undo": {
            "original": done.undo.original,
            "parts": list(done.undo.parts),
            "observations": list(done.undo.observations),
        },
    }
    return Reply(data, None, done.note)


def _undo(call: Call) -> Reply:
    done = call.engine.upkeep.undo_split(call.given["undo"])
    return Reply({"entity_name": done.name, "restored": done.restored})


def _listed(name: str, data: dict[str, Any]) -> Reply:
    return Reply(data, wire.shown({name: data[name]}), more(data))


def _outline(one: SplitAnalysis) -> dict[str, Any]:
    return {
        "entity_name": one.name,
        "entity_type": one.type,
        "observation_count": one.observations,
        "threshold": one.limit,
        "needs_split": one.needs_split,
        "split_score": round(one.score, 4),
    }


def _analysis(one: SplitAnalysis) -> dict[str, Any]:
    topics = [
        {
            "name": topic.name,
            "count": len(topic.observations),
            "observations": [seen.content for seen in topic.observations],
        }
        for topic in one.topics
    ]
    return {**_outline(one), "topics": topics}


_REPORT = table(
    needs=("summary", "found", *_SECTIONS),
    summary=table(entities=whole(), observations=whole(), notes=whole()),
    found=table({name: whole() for name in _SECTIONS}),
    split_candidates=listed(_ANALYSIS),
    flagged_observations=listed(table(entity=text(), observation=text(), similar=text())),
    flagged_notes=listed(table(id=whole(), text=text(), similar_to=whole(), similar=text())),
    stale_entities=listed(table(name=text(), type=text())),
    large_entities=listed(table(name=text(), observations=whole(), limit=whole())),
    **MORE,
)

UPKEEP_TOOLS = (
    Tool(
        "add_reflection",
        "Add a reflection",
        "Save a thought about how things went or what to do better: yours or the user's, apart from facts.",
        table(
            needs=("content",),
            content=text(),
            about=listed(text(), "Names of the entities it is about"),
            author=text("Whose thought it is"),
            mood=text("Such as frustration, satisfaction, curiosity, doubt, insight"),
        ),
        table(
            needs=("id", "created", "mentions"),
            id=whole(),
            created=flag(),
            mentions=listed(text()),
            similar=table(id=whole(), text=text(), similarity=number()),
        ),
        _add_reflection,
    ),
    Tool(
        "search_reflections",
        "Search reflections",
        "Find earlier reflections by meaning, before you repeat a mistake.",
        table(
            needs=("query",),
            query=text(),
            author=text(),
            mood=text(),
            about=text("An entity's name"),
            limit=at_most(50, DEFAULT_LIMIT),
            cursor=CURSOR,
            budget_tokens=budget_from(200),
        ),
        table(
            needs=("results", "left_out"),
            results=listed(extended(HIT, author=maybe(text()), mood=maybe(text()))),
            left_out=whole(),
            **MORE,
        ),
        _search_reflections,
        reads=True,
        repeats=True,
    ),
    Tool(
        "find_duplicate_observations",
        "Find duplicate observations",
        "Pairs of observations of an entity that nearly repeat one another, to be merged or removed.",
        table(
            needs=(),
            entity_name=text("Only this entity; all if not given"),
            threshold=number("Similarity from 0 to 1; 0.85 if not given", minimum=0, maximum=1),
            limit=at_most(200, _MOST_PAIRS),
            **_PAGES,
        ),
        table(
            needs=("duplicates", "left_out"),
            duplicates=listed(
                table(entity=text(), older=text(), newer=text(), similarity=number(), match=text())
            ),
            left_out=whole("Pairs after these"),
            **MORE,
        ),
        _find_duplicates,
        reads=True,
        repeats=True,
    ),
    Tool(
        "consolidation_report",
        "Consolidation report",
        "What in the memory wants care: entities to split, near-repeats, what is stale or oversized.",
        table(
            needs=(),
            stale_days=number("Days without use; 90 if not given", minimum=0),
            limit=whole(f"At most so many of each section; {_MOST} if not given", minimum=1, maximum=200),
            cursor=CURSOR,
            budget_tokens=budget_from(800),
        ),
        _REPORT,
        _report,
        reads=True,
        repeats=True,
    ),
    Tool(
        "find_split_candidates",
        "Find split candidates",
        "Entities that grew too large and fall into several topics.",
        table(needs=(), limit=at_most(200, _MOST), cursor=CURSOR, budget_tokens=budget_from(200)),
        table(needs=("candidates",), candidates=listed(_ANALYSIS), **MORE),
        _candidates,
        reads=True,
        repeats=True,
    ),
    Tool(
        "analyze_entity_split",
        "Analyze a split",
        "Whether an entity should be split, and into which topics.",
        table(needs=("entity_name",), entity_name=_NAME, limit=_TEXTS, **_PAGES),
        table(needs=("analysis",), analysis=_ANALYSIS, **MORE),
        _analyze,
        reads=True,
        repeats=True,
    ),
    Tool(
        "propose_entity_split",
        "Propose a split",
        "New entities for the topics of an overgrown one, with the observations that would move.",
        table(needs=("entity_name",), entity_name=_NAME, limit=_TEXTS, **_PAGES),
        table(
            needs=("suggested_splits", "analysis"), suggested_splits=listed(_PART), analysis=_ANALYSIS, **MORE
        ),
        _propose,
        reads=True,
        repeats=True,
    ),
    Tool(
        "execute_entity_split",
        "Execute a split",
        "Split an entity as proposed, or as you changed the proposal: all at once or not at all. The "
        "answer's `undo` takes it back.",
        table(entity_name=_NAME, approved_splits=listed(_PART, "The new entities, as proposed or changed")),
        table(
            new_entities=listed(text()),
            moved_observations=whole(),
            original_observations_remaining=whole(),
            undo=_UNDO,
        ),
        _execute,
    ),
    Tool(
        "undo_entity_split",
        "Undo a split",
        "Put a split entity together again, with the `undo` that the split gave.",
        table(undo=_UNDO),
        table(entity_name=text(), restored=whole()),
        _undo,
    ),
)
