"""Measures of ranked lists, computed by trec_eval.

`fraction`, `any` and `all` are three meanings of "recall at k" that differ by ten points on the same run, so
all three are given: the share of the relevant among the first k, whether one is there, whether all are. NDCG
has gains of 1 and discounts of log2(place + 1), over the best that ten places allow. MRR is 1 over the place
of the first relevant one, or 0 if none is among the first ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from recollect.domain.errors import RecollectError

CUTS = (1, 5, 10, 20)
SHALLOW, DEEP = 10, 20
"""Limits of the recalls. NDCG, MRR and cuts up to ten use the recall with limit ten."""
LIMITS = (SHALLOW, DEEP)
MEASURES = (*(f"{name}@{k}" for name in ("fraction", "any", "all") for k in CUTS), "ndcg@10", "mrr@10")
STALE = ("stale_first", "both_shown", "current_above")
"""Measures of questions with an outdated document: whether it ranks above all relevant ones; whether
both are in the answer; and if so, whether the relevant one ranks first."""
COMPARED = ("fraction@10", "ndcg@10", "any@1")
"""Measures that get intervals."""
Scores = dict[str, float]
"""Values by measure, without those that do not apply to the question."""
Found = Mapping[int, Sequence[str]]
"""Found ids by limit, best first, without duplicates."""


@dataclass(frozen=True, slots=True)
class JudgedLists:
    """The hits of one question and the expected documents."""

    found: Found
    relevant: frozenset[str]
    must_not: frozenset[str] = frozenset()
    """Documents that must not rank above the relevant ones."""


def library() -> Any:
    """Return pytrec_eval, which an extra installs."""
    try:
        return import_module("pytrec_eval")
    except ImportError as error:
        raise RecollectError(
            f"The benchmark's measures need pytrec_eval, which cannot be imported ({error}); "
            "run: pip install 'recollect-memory[bench]'"
        ) from error


def scores(rows: Sequence[JudgedLists]) -> list[Scores]:
    """Return every measure of each question, in order. Each question has a relevant document."""
    relevant = [row.relevant for row in rows]
    shallow = _evaluate([row.found[SHALLOW] for row in rows], relevant)
    deep = _evaluate([row.found[DEEP] for row in rows], relevant)
    return [
        _scores(of_ten, of_twenty) | _stale(row)
        for row, of_ten, of_twenty in zip(rows, shallow, deep, strict=True)
    ]


def _scores(of_ten: Mapping[str, float], of_twenty: Mapping[str, float]) -> Scores:
    # Where nothing was found, trec_eval says nothing, and each measure is 0.
    rows = {k: of_ten if k <= SHALLOW else of_twenty for k in CUTS}
    recall = {k: row.get(f"recall_{k}", 0.0) for k, row in rows.items()}
    return {
        **{f"fraction@{k}": share for k, share in recall.items()},
        **{f"any@{k}": row.get(f"success_{k}", 0.0) for k, row in rows.items()},
        **{f"all@{k}": float(share == 1) for k, share in recall.items()},
        "ndcg@10": of_ten.get("ndcg_cut_10", 0.0),
        "mrr@10": of_ten.get("recip_rank", 0.0),
    }


def _stale(row: JudgedLists) -> Scores:
    if not row.must_not:
        return {}
    found = row.found[SHALLOW]
    current = next((place for place, id_ in enumerate(found) if id_ in row.relevant), None)
    stale = next((place for place, id_ in enumerate(found) if id_ in row.must_not), None)
    is_first = stale is not None and (current is None or stale < current)
    if current is None or stale is None:
        return {"stale_first": float(is_first), "both_shown": 0.0}
    return {"stale_first": float(is_first), "both_shown": 1.0, "current_above": float(not is_first)}


def _evaluate(
    lists: Sequence[Sequence[str]], relevant: Sequence[frozenset[str]]
) -> list[Mapping[str, float]]:
    judgments = {str(place): dict.fromkeys(sorted(ids), 1) for place, ids in enumerate(relevant)}
    cuts = ",".join(map(str, CUTS))
    measures = {f"recall.{cuts}", f"success.{cuts}", "ndcg_cut.10", "recip_rank"}
    # It sorts by score and has rules of its own for ties, so places become scores that fall.
    rankings = {
        str(place): {id_: float(len(ids) - at) for at, id_ in enumerate(ids)}
        for place, ids in enumerate(lists)
    }
    rows = library().RelevanceEvaluator(judgments, measures).evaluate(rankings)
    return [rows.get(str(place), {}) for place in range(len(lists))]
