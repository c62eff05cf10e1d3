"""The functions of MCP Memory v2's scoring module under their own names, pure, on plain data.

The limbic profile ranks with the same formulas, column-wise; these are for whoever has candidates of their
own. What the published signatures lack comes as optional arguments: the time, days of access, when pairs
were last seen together, and the constants as one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.factors.limbic import (
    ALPHA_CONS,
    BETA_DEG,
    BETA_SAL,
    COOC_TEMPORAL_FLOOR,
    D_MAX,
    GAMMA,
    LAMBDA_HOURLY,
    TEMPORAL_FLOOR,
    Forgetting,
    Salience,
)
from recollect.ranking.steps.fuse import RRF_K, reciprocal_ranks
from recollect.ranking.steps.route import Strategy, strategy_for

EXPANSION_FACTOR = 3

__all__ = [
    "ALPHA_CONS", "BETA_DEG", "BETA_SAL", "COOC_TEMPORAL_FLOOR", "D_MAX", "EXPANSION_FACTOR", "GAMMA",
    "LAMBDA_HOURLY", "RRF_K", "TEMPORAL_FLOOR", "Constants", "compute_cooc_boost", "compute_importance",
    "compute_temporal_factor", "detect_query_type", "rank_candidates", "rank_hybrid_candidates",
    "reciprocal_rank_fusion",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Constants:
    """The tuneable constants; each default is the module's."""

    beta_sal: float = BETA_SAL
    beta_deg: float = BETA_DEG
    d_max: float = D_MAX
    alpha_cons: float = ALPHA_CONS
    lambda_hourly: float = LAMBDA_HOURLY
    temporal_floor: float = TEMPORAL_FLOOR
    cooc_temporal_floor: float = COOC_TEMPORAL_FLOOR
    gamma: float = GAMMA

    @property
    def salience(self) -> Salience:
        return Salience(self.beta_sal, self.beta_deg, self.d_max, self.alpha_cons)


DEFAULTS = Constants()
Count = int | Mapping[str, Any] | tuple[int, datetime | str]
"""How often a pair was seen together, alone or with `last_co`."""


def compute_importance(
    access_count: int,
    max_access: int,
    degree: int,
    access_days: int = 0,
    max_access_days: int = 0,
    constants: Constants = DEFAULTS,
) -> float:
    """importance(e), from 0 to (1 + beta_deg) * (1 + alpha_cons)."""
    columns = (np.array([number]) for number in (access_count, degree, access_days))
    count, links, days = columns
    return float(constants.salience.importance(count, max_access, links, days, max_access_days)[0])


def compute_temporal_factor(
    last_access: datetime | str | None,
    created_at: datetime | str | None,
    now: datetime,
    constants: Constants = DEFAULTS,
) -> float:
    """temporal_factor(e): the age is since the last access, else since creation; 1 where neither is known."""
    since = last_access if last_access is not None else created_at
    forgetting = Forgetting(constants.lambda_hourly, constants.temporal_floor)
    return float(forgetting.decay(np.array([_hours_since(since, now)]))[0])


def compute_cooc_boost(
    entity_id: int,
    co_occurrences: Mapping[tuple[int, int], Count],
    result_ids: Iterable[int],
    now: datetime | None = None,
    constants: Constants = DEFAULTS,
) -> float:
    """cooc_boost(e, R): pairs in either order, never with itself; without `now`, nothing has faded."""
    forgetting = Forgetting(constants.lambda_hourly, constants.cooc_temporal_floor)
    total = 0.0
    for other in sorted(set(result_ids) - {entity_id}):
        pair = co_occurrences.get((entity_id, other), co_occurrences.get((other, entity_id)))
        if pair is not None:
            count, last = _count_and_time(pair)
            hours = 0.0 if now is None else _hours_since(last, now)
            total += float(np.log2(1.0 + count) * forgetting.decay(np.array([hours]))[0])
    return total


def reciprocal_rank_fusion(
    semantic_results: Sequence[Mapping[str, Any]], fts_results: Sequence[Mapping[str, Any]], k: float = RRF_K
) -> list[dict[str, Any]]:
    """`[{entity_id, rrf_score, distance | None}]`, best first, ties by id."""
    distances = {result["entity_id"]: result.get("distance") for result in semantic_results}
    rankings = ([result["entity_id"] for result in results] for results in (semantic_results, fts_results))
    return [
        {"entity_id": id_, "rrf_score": score, "distance": distances.get(id_)}
        for id_, score in reciprocal_ranks(rankings, k)
    ]


def rank_candidates(
    candidates: Sequence[Mapping[str, Any]],
    access_data: Mapping[int, Mapping[str, Any]],
    degrees: Mapping[int, int],
    co_occurrences: Mapping[tuple[int, int], Count],
    limit: int,
    *,
    now: datetime,
    constants: Constants = DEFAULTS,
) -> list[dict[str, Any]]:
    """Candidates `{entity_id, distance, created_at?}` with `limbic_score` and `scoring`, best first."""
    base = {one["entity_id"]: max(0.0, 1 - one["distance"]) for one in candidates}
    return _ranked(candidates, base, access_data, degrees, co_occurrences, limit, now, constants)


def rank_hybrid_candidates(
    candidates: Sequence[Mapping[str, Any]],
    access_data: Mapping[int, Mapping[str, Any]],
    degrees: Mapping[int, int],
    co_occurrences: Mapping[tuple[int, int], Count],
    limit: int,
    *,
    now: datetime,
    constants: Constants = DEFAULTS,
) -> list[dict[str, Any]]:
    """As `rank_candidates`, for fused candidates whose distance may be None: words alone found those."""
    fused = [one["rrf_score"] for one in candidates]
    low, high = min(fused, default=0.0), max(fused, default=0.0)
    base = {}
    for one in candidates:
        if one.get("distance") is not None:
            base[one["entity_id"]] = max(0.0, 1 - one["distance"])
        else:
            share = 1.0 if low == high else (one["rrf_score"] - low) / (high - low)
            base[one["entity_id"]] = 0.2 + 0.6 * share
    return _ranked(candidates, base, access_data, degrees, co_occurrences, limit, now, constants)


def detect_query_type(query: str, limit: int | None = None) -> Strategy:
    """Which strategy the question asks for; `limit` only if the caller chose it."""
    return strategy_for(query, limit)


def _ranked(
    candidates: Sequence[Mapping[str, Any]],
    base: Mapping[int, float],
    access_data: Mapping[int, Mapping[str, Any]],
    degrees: Mapping[int, int],
    co_occurrences: Mapping[tuple[int, int], Count],
    limit: int,
    now: datetime,
    constants: Constants,
) -> list[dict[str, Any]]:
    used = [access_data.get(id_, {}) for id_ in base]
    max_access = max((access.get("access_count", 0) for access in used), default=0)
    max_days = max((access.get("access_days", 0) for access in used), default=0)
    ranked = []
    for one in candidates:
        id_ = one["entity_id"]
        access = access_data.get(id_, {})
        importance = compute_importance(
            access.get("access_count", 0),
            max_access,
            degrees.get(id_, 0),
            access.get("access_days", 0),
            max_days,
            constants,
        )
        temporal = compute_temporal_factor(access.get("last_access"), one.get("created_at"), now, constants)
        boost = compute_cooc_boost(id_, co_occurrences, base, now, constants)
        score = base[id_] * (1 + constants.beta_sal * importance) * temporal * (1 + constants.gamma * boost)
        scoring = {"importance": importance, "temporal_factor": temporal, "cooc_boost": boost}
        ranked.append({**one, "limbic_score": score, "scoring": scoring})
    return sorted(ranked, key=lambda one: (-one["limbic_score"], one["entity_id"]))[: max(0, limit)]


def _count_and_time(pair: Count) -> tuple[int, datetime | str | None]:
    if isinstance(pair, Mapping):
        return pair["co_count"], pair.get("last_co")
    return pair if isinstance(pair, tuple) else (pair, None)


def _hours_since(when: datetime | str | None, now: datetime) -> float:
    """0 for a time that is unknown or lies ahead; a time without a zone is UTC."""
    if when is None:
        return 0.0
    at = datetime.fromisoformat(when) if isinstance(when, str) else when
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    return max(0.0, (now - at) / timedelta(hours=1))
