"""Homeostasis: rankings take traces as far as people find no less than without them.

The published cycle multiplies a score by what it writes, without a bound: a note that nobody used for two
months keeps a twentieth of its strength, while neighbours in a ranking lie three per cent apart. So rankings
take the traces of a store to a power: the largest that costs nothing. What is written stays as published.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.gate import answers

if TYPE_CHECKING:
    from recollect.dreams.draft import Draft
    from recollect.dreams.knobs import Knobs
    from recollect.dreams.snapshot import DreamState

_HALVINGS = 7


def balance(snapshot: DreamState, knobs: Knobs, draft: Draft) -> Draft:
    """Found anew each time; and left as it is where nobody uses a ranking that reads traces."""
    if not snapshot.trials:
        return draft
    wanted = _score(snapshot, draft, 0.0) - knobs.balance_margin
    if _score(snapshot, draft, 1.0) >= wanted:
        return replace(draft, temper=1.0)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _score(snapshot, draft, middle) >= wanted else (low, middle)
    return replace(draft, temper=low)


def _score(snapshot: DreamState, draft: Draft, temper: float) -> float:
    """How high the trials find what they ask for: the mean of 1 / rank, 0 where they do not."""
    trial = replace(draft, temper=temper)
    gone = draft.gone
    ranks = []
    for one in snapshot.trials:
        shown = answers(one, trial, snapshot)
        # Whoever was merged lives on in another.
        sought = [gone.get(id_, id_) for id_ in one.wanted]
        ranks += [1 / (1 + shown.index(id_)) if id_ in shown else 0.0 for id_ in sought]
    return float(np.mean(ranks))
