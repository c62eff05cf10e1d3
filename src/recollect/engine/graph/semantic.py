"""`search_semantic`: the limbic profile over entities, in the form that MCP Memory v2 answers in."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from recollect.engine.results import Answer, Hit

# The published components; what a component is where its factor is switched off.
_NEUTRAL = {"importance": 0.0, "temporal_factor": 1.0, "cooc_boost": 0.0}


def as_published(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    """`{"results": [...]}` with the published fields, and beside them `score`, `mode` and the explanation."""
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
