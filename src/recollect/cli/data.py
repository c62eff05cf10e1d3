"""Replies as plain data, for `--json`: the keys here are a promise to scripts."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, assert_never

from recollect.cli.dream_lines import dates_of
from recollect.cli.outlook import outlook_data
from recollect.cli.replies import (
    Checkup,
    Compared,
    Done,
    Dreamed,
    Foretold,
    Found,
    Listed,
    Missed,
    Opened,
    Profiled,
    Rows,
    Sheets,
    Talk,
    Timeline,
)
from recollect.rank.plain import to_plain
from recollect.records import Kind

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.cli.replies import Links, OpenedText, Reply
    from recollect.engine.results import Answer, Graph, History, Hit, Observed, Related
    from recollect.engine.whynot import WhyNot
    from recollect.rank.explain import Reason
    from recollect.rank.whynot import Standing
    from recollect.records import Memory, Observation, Relation
    from recollect.text.time_phrases import TimePhrase


def data_of(reply: Reply) -> Any:  # noqa: PLR0911  # one line for each reply
    match reply:
        case Done() | Rows() | Sheets() | Dreamed():
            return reply.data
        case Found(answer):
            return answer_data(answer)
        case Missed(why):
            return why_not_data(why)
        case Profiled() | Compared():
            return profile_data(reply)
        case Listed(graph):
            return graph_data(graph)
        case Opened(graph, _, texts, _, links):
            entities = [
                {**memory_data(each), "links": links_data(links.get(each.id, ()))} for each in graph.entities
            ]
            return {**graph_data(graph), "entities": entities, "texts": [text_data(text) for text in texts]}
        case Talk(session, turns):
            return {"session": session, "turns": [memory_data(turn) for turn in turns]}
        case Timeline(history):
            return history_data(history)
        case Foretold(outlook, at, zone):
            return outlook_data(outlook, dates_of(outlook, at, zone))
        case Checkup(checks):
            return {"problems": reply.problems, "checks": [asdict(check) for check in checks]}
        case _:
            assert_never(reply)


def profile_data(reply: Profiled | Compared) -> dict[str, Any]:
    if isinstance(reply, Profiled):
        plain = to_plain(reply.profile)
        return plain if reply.numbers is None else {**plain, "tuned": asdict(reply.numbers)}
    return {
        "first": reply.first.name,
        "second": reply.second.name,
        "differences": [asdict(each) for each in reply.differences],
    }


def answer_data(answer: Answer) -> dict[str, Any]:
    return {
        "query": answer.query,
        "profile": answer.profile,
        "strategy": answer.strategy,
        "mode": answer.mode,
        "note": answer.note,
        "time": None if answer.time is None else time_data(answer.time),
        "left_out": answer.left_out,
        "confidence": answer.confidence,
        "doubtful": answer.doubtful,
        "abstained": answer.abstained,
        "withheld": answer.withheld,
        "hits": [hit_data(rank, hit) for rank, hit in enumerate(answer.hits, start=1)],
    }


def hit_data(rank: int, hit: Hit) -> dict[str, Any]:
    return {
        "rank": rank,
        "score": hit.score,
        "confidence": hit.confidence,
        "found_by": {
            source: {"rank": place.rank, "score": place.score} for source, place in hit.places.items()
        },
        "scores": dict(hit.scores),
        "reasons": [reason_data(reason) for reason in hit.reasons],
        "passage": hit.passage,
        "piece": hit.piece,
        "memory": memory_data(hit.memory),
    }


def time_data(phrase: TimePhrase) -> dict[str, Any]:
    return {
        "words": phrase.words,
        "start": iso(phrase.start),
        "stop": iso(phrase.stop),
        "confidence": phrase.confidence,
    }


def text_data(text: OpenedText) -> dict[str, Any]:
    return {
        **memory_data(text.memory),
        "mentions": [{"id": each.id, "name": each.name} for each in text.mentions],
        "around": [memory_data(turn) for turn in text.around],
        "links": links_data(text.links),
    }


def links_data(links: Links) -> list[dict[str, Any]]:
    return [{"id": other.id, "text": other.name or other.text, "answers": weight} for other, weight in links]


def history_data(history: History) -> dict[str, Any]:
    return {
        "memory": memory_data(history.memory),
        "events": [
            {"at": iso(event.at), "what": event.what, "detail": event.detail} for event in history.events
        ],
    }


def reason_data(reason: Reason) -> dict[str, Any]:
    """Every digit, so that whoever recombines the reasons gets the score exactly."""
    return {
        "step": reason.step,
        "effect": reason.effect,
        "value": reason.value,
        "numbers": list(reason.numbers),
        "score": reason.score,
    }


def why_not_data(why: WhyNot) -> dict[str, Any]:
    return {
        "query": why.query,
        "profile": why.profile,
        "verdict": why.verdict,
        "advice": list(why.advice),
        "searches": [
            {
                "search": branch.name,
                "rank": branch.rank,
                "score": branch.score,
                "taken": branch.taken,
                "reached": branch.reached,
            }
            for branch in why.branches
        ],
        "standing": None if why.standing is None else standing_data(why.standing),
        "memory": memory_data(why.memory),
    }


def standing_data(standing: Standing) -> dict[str, Any]:
    dropped = standing.dropped
    return {
        "place": standing.place,
        "dropped": None if dropped is None else {"step": dropped.step, "reason": dropped.reason},
        "score": standing.score,
        "needed": standing.needed,
        "reasons": [reason_data(reason) for reason in standing.reasons],
        "costs": [asdict(cost) for cost in standing.costs],
    }


def graph_data(graph: Graph) -> dict[str, Any]:
    return {
        "entities": [memory_data(entity) for entity in graph.entities],
        "relations": [relation_data(relation) for relation in graph.relations],
        "cursor": graph.cursor,
    }


def memory_data(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "kind": str(memory.kind),
        **(_entity_fields(memory) if memory.kind is Kind.ENTITY else _text_fields(memory)),
        "status": str(memory.status),
        "importance": memory.importance,
        "importance_tag": memory.importance_tag,
        "pinned": memory.pinned,
        "consolidation": str(memory.consolidation),
        "strength": memory.strength,
        "stability": memory.stability,
        "depth": memory.depth,
        "spread": memory.spread,
        "duplicates": memory.duplicates,
        "owner": memory.scope.owner,
        "agent": memory.scope.agent,
        "created_at": iso(memory.created_at),
        "updated_at": iso(memory.updated_at),
        "happened_at": iso(memory.happened_at),
        "superseded_by": memory.superseded_by,
        "superseded_at": iso(memory.superseded_at),
        "deleted_at": iso(memory.deleted_at),
    }


def observation_data(observation: Observation) -> dict[str, Any]:
    return {
        "id": observation.id,
        "content": observation.content,
        "kind": observation.kind,
        "created_at": iso(observation.created_at),
        "happened_at": iso(observation.happened_at),
        "superseded_by": observation.superseded_by,
        "superseded_at": iso(observation.superseded_at),
        "similar_to": observation.similar_to,
        "similarity": observation.similarity,
        "corrected_by": observation.corrected_by,
        "deleted_at": iso(observation.deleted_at),
    }


def relation_data(relation: Relation) -> dict[str, Any]:
    return {
        "id": relation.id,
        "source": relation.source_name,
        "type": relation.type,
        "target": relation.target_name,
        "context": relation.context,
        "since": iso(relation.since),
        "until": iso(relation.until),
        "created_at": iso(relation.created_at),
    }


def observed_data(observed: Observed) -> dict[str, Any]:
    return {
        "id": observed.id,
        "name": observed.name,
        "created": observed.created,
        "added": [{"id": new.id, "content": new.content} for new in observed.added],
        "similar": [asdict(pair) for pair in observed.similar],
        "took_type": observed.took_type,
        "kept_type": observed.kept_type,
    }


def related_data(related: Related) -> dict[str, Any]:
    return {
        "source": related.source,
        "type": related.type,
        "target": related.target,
        "created": related.created,
        "inverse": related.inverse,
        "also_created": list(related.also_created),
    }


def iso(when: datetime | None) -> str | None:
    return None if when is None else when.isoformat()


def _entity_fields(memory: Memory) -> dict[str, Any]:
    return {
        "name": memory.name,
        "type": memory.type,
        "observations": [observation_data(each) for each in memory.observations],
    }


def _text_fields(memory: Memory) -> dict[str, Any]:
    return {
        "text": memory.text,
        "category": memory.category,
        "source": memory.source,
        "session": memory.session,
        "position": memory.position,
        "role": memory.role,
        "speaker": memory.speaker,
        "undated": memory.undated,
        "tags": list(memory.tags),
        "drawn_from": memory.drawn_from,
        "similar_to": memory.similar_to,
        "similarity": memory.similarity,
        "former": [
            {"text": each.text, "since": iso(each.since), "until": iso(each.until)} for each in memory.former
        ],
    }
