"""Homeostasis: traces are pulled back until people find what they would find without them.

The published cycle multiplies a score by what it writes, without a bound: a note that nobody used for two
months keeps a twentieth of its strength, while neighbours in a ranking lie three per cent apart. So the
traces of a whole store are tempered together, by the largest power that costs no more than a margin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.dream.gate import answers

if TYPE_CHECKING:
    from recollect.dream.draft import Draft
    from recollect.dream.knobs import Knobs
    from recollect.dream.snapshot import Life, Snapshot

_HALVINGS = 7
_NEUTRAL_DEPTH = 2


def balance(snapshot: Snapshot, knobs: Knobs, draft: Draft) -> Draft:
    """Only where a ranking that people use reads the traces; otherwise they say what they say."""
    if not snapshot.trials:
        return draft
    wanted = _score(snapshot, draft, 0.0) - knobs.balance_margin
    if _score(snapshot, draft, 1.0) >= wanted:
        return draft
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _score(snapshot, draft, middle) >= wanted else (low, middle)
    return replace(draft, life=tempered(snapshot, draft.life, low), power=low)


def tempered(snapshot: Snapshot, life: Life, power: float) -> Life:
    """All traces to a power: at 1 they are as they were, at 0 they say nothing."""
    return replace(
        life,
        strength=np.where(snapshot.kept, life.strength, life.strength**power),
        stability=life.stability**power,
        spread=np.maximum(np.rint(life.spread.astype(float) ** power), 1).astype(np.int64),
        depth=life.depth if power > 0.5 else np.full_like(life.depth, _NEUTRAL_DEPTH),
    )


def _score(snapshot: Snapshot, draft: Draft, power: float) -> float:
    """How high the trials find what they ask for: the mean of 1 / rank, 0 where they do not."""
    trial = replace(draft, life=tempered(snapshot, draft.life, power))
    ranks = []
    for one in snapshot.trials:
        shown = answers(one, trial, snapshot)
        ranks += [1 / (1 + shown.index(id_)) if id_ in shown else 0.0 for id_ in one.wanted]
    return float(np.mean(ranks))
