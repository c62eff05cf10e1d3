"""Limbic ranking against a slow reference, written from the published formulas with nothing but `math`."""

from __future__ import annotations

import math
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from worlds import DAYS, STATUSES, Pairs, Row, kept, moment, ranks, stepped

from recollect.ranking.profiles import LIMBIC

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WEIGHTS = {"cosine_heavy": 0.7, "hybrid_balanced": 0.5, "limbic_heavy": 0.3}
QUERIES = {
    "qué es alpha beta gamma": "cosine_heavy",
    "alpha beta gamma delta": "hybrid_balanced",
    "explícame alpha beta gamma delta": "limbic_heavy",
}
DEBOOSTS = {"active": 1.0, "paused": 0.85, "completed": 0.70, "archived": 0.50}
SETS = 500


class Reference:
    """One set of candidates, scored the slow way, one candidate at a time."""

    def __init__(self, rows: Sequence[Row], pairs: Pairs) -> None:
        self.rows = {row.id: row for row in rows}
        self.pairs = pairs
        self.most = max(row.accesses for row in rows)
        self.most_days = max(row.days for row in rows)
        near = ranks({row.id: row.cosine for row in rows})
        held = ranks({row.id: row.bm25 for row in rows})
        self.rrf = {
            id_: sum(1 / (60 + ranking[id_]) for ranking in (near, held) if id_ in ranking)
            for id_ in self.rows
        }

    def base(self, id_: int) -> float:
        cosine = self.rows[id_].cosine
        if cosine is not None:
            return max(0.0, cosine)
        low, high = min(self.rrf.values()), max(self.rrf.values())
        norm = 1.0 if high == low else (self.rrf[id_] - low) / (high - low)
        return 0.2 + 0.6 * norm

    def importance(self, id_: int) -> float:
        row = self.rows[id_]
        if self.most == 0:
            return 0.0
        access = math.log2(1 + row.accesses) / math.log2(1 + self.most)
        degree = min(row.degree, 15) / 15
        consolidation = math.log2(1 + row.days) / math.log2(1 + self.most_days) if self.most_days > 1 else 0.0
        return access * (1 + 0.15 * degree) * (1 + 0.2 * consolidation)

    def temporal(self, id_: int) -> float:
        row = self.rows[id_]
        return decay(row.seen if row.seen is not None else row.created)

    def cooc(self, id_: int) -> float:
        total = 0.0
        for (first, second), (count, last) in self.pairs.items():
            if id_ in {first, second}:
                total += math.log2(1 + count) * decay(last)
        return total

    def composite(self, id_: int) -> float:
        salience, association = 1 + 0.5 * self.importance(id_), 1 + 0.01 * self.cooc(id_)
        return self.base(id_) * salience * self.temporal(id_) * association

    def limbic(self, id_: int) -> float:
        row = self.rows[id_]
        return self.composite(id_) * DEBOOSTS[row.status.value] * (0.7 if row.metadata > 0.5 else 1.0)

    def final(self, weight: float) -> dict[int, float]:
        limbic = {id_: self.limbic(id_) for id_ in self.rows}
        low, high = min(limbic.values()), max(limbic.values())
        return {
            id_: weight * self.base(id_)
            + (1 - weight) * (1.0 if high == low else (score - low) / (high - low))
            for id_, score in limbic.items()
        }


def decay(ago: timedelta | None) -> float:
    hours = 0.0 if ago is None else max(0.0, ago.total_seconds() / 3_600)
    return max(0.1, math.exp(-0.0001 * hours))


def some_rows(chance: np.random.Generator) -> list[Row]:
    """Up to 40 rows, each found by one search or both; in a third of the sets no signal at all."""
    signals = chance.random() < 2 / 3
    rows = []
    for id_ in chance.choice(500, size=int(chance.integers(1, 41)), replace=False).tolist():
        found = int(chance.integers(3))
        rows.append(
            Row(
                id=id_ + 1,
                cosine=float(chance.uniform(-0.2, 1)) if found != 1 else None,
                bm25=float(chance.uniform(0, 20)) if found != 0 else None,
                created=some_age(chance),
                seen=some_age(chance) if signals and chance.random() < 0.7 else None,
                accesses=int(chance.geometric(0.05)) - 1 if signals else 0,
                days=int(chance.integers(0, 12)) if signals else int(chance.integers(0, 2)),
                degree=int(chance.integers(0, 25)),
                status=STATUSES[chance.integers(4)],
                metadata=float(chance.choice([0.0, 0.5, 0.6, 1.0])),
            )
        )
    return rows


def some_age(chance: np.random.Generator) -> timedelta | None:
    return None if chance.random() < 0.05 else timedelta(microseconds=int(chance.uniform(-3e12, 1.2e14)))


def some_pairs(chance: np.random.Generator, rows: Sequence[Row]) -> Pairs:
    ids = sorted(row.id for row in rows)
    if len(ids) < 2:
        return {}
    chosen = (
        sorted(chance.choice(ids, size=2, replace=False).tolist()) for _ in range(int(chance.integers(0, 30)))
    )
    return {(first, second): (int(chance.geometric(0.1)), some_age(chance)) for first, second in chosen}


def agrees(found: Mapping[int, float], expected: Mapping[int, float]) -> bool:
    return found.keys() == expected.keys() and all(
        math.isclose(found[id_], score, rel_tol=1e-11, abs_tol=1e-12) for id_, score in expected.items()
    )


def is_best_first(order: Sequence[int], expected: Mapping[int, float]) -> bool:
    """By the reference's scores, but for differences that are mere rounding."""
    listed = [expected[id_] for id_ in order]
    return all(one >= other - 1e-12 for one, other in pairwise(listed))


def test_the_profile_agrees_with_the_reference_on_hundreds_of_sets() -> None:
    chance = np.random.default_rng(20260301)
    for number in range(SETS):
        rows = some_rows(chance)
        pairs = some_pairs(chance, rows)
        query, strategy = list(QUERIES.items())[number % 3]
        ranked = stepped(LIMBIC.steps, rows, moment(rows, pairs, query=query, limit=len(rows)))
        reference = Reference(rows, pairs)
        final = reference.final(WEIGHTS[strategy])
        order = ranked.ids.tolist()
        assert agrees(dict(zip(order, ranked.score.tolist(), strict=True)), final), (number, rows, pairs)
        assert agrees(kept(ranked, "limbic_score"), {id_: reference.limbic(id_) for id_ in reference.rows})
        assert agrees(kept(ranked, "rrf_score"), reference.rrf)
        assert is_best_first(order, final)


def test_the_reference_itself_gives_the_published_example() -> None:
    rows = [
        Row(1, 0.65, accesses=10, degree=8, seen=30 * DAYS),
        *(Row(id_, 0.1) for id_ in (2, 3)),
        Row(4, accesses=20),
    ]
    reference = Reference(
        rows, {(1, 2): (5, timedelta()), (1, 3): (2, timedelta()), (1, 4): (1, timedelta())}
    )
    # 0.65 * 1.4253 * 0.9305 * 1.0517
    assert round(reference.composite(1), 3) == 0.907
