"""Looking after the graph: reflections, duplicates, the report, and splitting what grew too large."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from recollect.serve import wire
from recollect.serve.shapes import anything, flag, listed, number, table, text, whole
from recollect.serve.tool import Reply, Tool

if TYPE_CHECKING:
    from recollect.engine.upkeep_results import SplitAnalysis
    from recollect.serve.tool import Call

_NAME = text("The entity's exact name")
_ANALYSIS = table(
    entity_name=text(),
    entity_type=text(),
    observation_count=whole(),
    threshold=whole("Observations from which this type counts as oversized"),
    needs_split=flag(),
    topics=listed(table(name=text(), observations=listed(text()))),
    split_score=number(),
)
_PARTS = listed(
    table(
        needs=("name", "observations"),
        name=text("The new entity's name"),
        entity_type=text("Its type; that of the original if not given"),
        observations=listed(text(), "The exact texts to move"),
    ),
    "The new entities, as proposed or changed",
)


def _add_reflection(call: Call) -> Reply:
    given = call.given
    note = call.engine.add_reflection(
        given["content"], about=given.get("about", ()), author=given.get("author"), mood=given.get("mood")
    )
    return Reply(wire.remembered(note), f"Reflection #{note.id} saved.")


def _search_reflections(call: Call) -> Reply:
    from recollect.engine.reflect import mood_of  # noqa: PLC0415  # a list of tools needs no engine

    given = call.given
    answer = call.engine.search_reflections(
        given["query"],
        author=given.get("author"),
        mood=given.get("mood"),
        about=given.get("about"),
        limit=given.get("limit"),
    )
    hits = [
        {**wire.hit(hit), "author": hit.memory.speaker, "mood": mood_of(hit.memory)} for hit in answer.hits
    ]
    return Reply({"results": hits}, wire.answer(answer))


def _find_duplicates(call: Call) -> Reply:
    given = call.given
    found = call.engine.find_duplicate_observations(
        given.get("entity_name"), threshold=given.get("threshold", 0.85), limit=given.get("limit", 50)
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
    return Reply({"duplicates": pairs, "left_out": found.left_out})


def _report(call: Call) -> Reply:
    report = call.engine.consolidation_report(stale_days=call.get("stale_days", 90))
    data = {
        "summary": {
            "entities": report.entities,
            "observations": report.observations,
            "notes": report.notes,
        },
        "split_candidates": [_analysis(one) for one in report.split_candidates[:_MOST]],
        "flagged_observations": [
            {"entity": one.entity, "observation": one.observation.content, "similar": one.similar.content}
            for one in report.flagged_observations[:_MOST]
        ],
        "stale_entities": [{"name": one.name, "type": one.type} for one in report.stale[:_MOST]],
        "large_entities": [
            {"name": one.name, "observations": one.observations, "limit": one.limit}
            for one in report.oversized[:_MOST]
        ],
    }
    return Reply(data, report.text)


def _candidates(call: Call) -> Reply:
    found = [_analysis(one) for one in call.engine.find_split_candidates()]
    return Reply({"candidates": found[:_MOST]})


def _analyze(call: Call) -> Reply:
    return Reply({"analysis": _analysis(call.engine.analyze_split(call.given["entity_name"]))})


def _propose(call: Call) -> Reply:
    proposal = call.engine.propose_split(call.given["entity_name"])
    parts = [
        {"name": part.name, "entity_type": part.type or "", "observations": list(part.observations)}
        for part in proposal.parts
    ]
    also = None if parts else "It does not fall apart into topics; leave it as it is."
    return Reply({"suggested_splits": parts, "analysis": _analysis(proposal.analysis)}, None, also)


def _execute(call: Call) -> Reply:
    done = call.engine.execute_split(call.given["entity_name"], call.given["approved_splits"])
    data = {
        "new_entities": [part.name for part in done.parts],
        "moved_observations": done.moved,
        "original_observations_remaining": done.remaining,
        "undo": asdict(done.undo),
    }
    return Reply(data, None, done.note)


def _undo(call: Call) -> Reply:
    done = call.engine.undo_split(call.given["undo"])
    return Reply({"entity_name": done.name, "restored": done.restored})


def _analysis(one: SplitAnalysis) -> dict[str, Any]:
    return {
        "entity_name": one.name,
        "entity_type": one.type,
        "observation_count": one.observations,
        "threshold": one.limit,
        "needs_split": one.needs_split,
        "topics": [
            {"name": topic.name, "observations": [seen.content for seen in topic.observations]}
            for topic in one.topics
        ],
        "split_score": round(one.score, 4),
    }


_MOST = 20

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
            similar=anything(),
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
            limit=whole(minimum=1, maximum=50),
        ),
        table(results=listed(anything())),
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
            limit=whole(minimum=1, maximum=200),
        ),
        table(
            duplicates=listed(
                table(entity=text(), older=text(), newer=text(), similarity=number(), match=text())
            ),
            left_out=whole(),
        ),
        _find_duplicates,
        reads=True,
        repeats=True,
    ),
    Tool(
        "consolidation_report",
        "Consolidation report",
        "What in the memory wants care: entities to split, near-repeats, what is stale or oversized.",
        table(needs=(), stale_days=number("Days without use; 90 if not given", minimum=0)),
        anything(),
        _report,
        reads=True,
        repeats=True,
    ),
    Tool(
        "find_split_candidates",
        "Find split candidates",
        "Entities that grew too large and fall into several topics.",
        table(needs=()),
        table(candidates=listed(_ANALYSIS)),
        _candidates,
        reads=True,
        repeats=True,
    ),
    Tool(
        "analyze_entity_split",
        "Analyze a split",
        "Whether an entity should be split, and into which topics.",
        table(entity_name=_NAME),
        table(analysis=_ANALYSIS),
        _analyze,
        reads=True,
        repeats=True,
    ),
    Tool(
        "propose_entity_split",
        "Propose a split",
        "New entities for the topics of an overgrown one, with the observations that would move.",
        table(entity_name=_NAME),
        table(suggested_splits=listed(anything()), analysis=_ANALYSIS),
        _propose,
        reads=True,
        repeats=True,
    ),
    Tool(
        "execute_entity_split",
        "Execute a split",
        "Split an entity as proposed, or as you changed the proposal: all at once or not at all. The "
        "answer's `undo` takes it back.",
        table(entity_name=_NAME, approved_splits=_PARTS),
        table(
            new_entities=listed(text()),
            moved_observations=whole(),
            original_observations_remaining=whole(),
            undo=anything(),
        ),
        _execute,
    ),
    Tool(
        "undo_entity_split",
        "Undo a split",
        "Put a split entity together again, with the `undo` that the split gave.",
        table(undo=anything()),
        table(entity_name=text(), restored=whole()),
        _undo,
    ),
)
