"""Why a candidate stands where it does: each step, what it found, and the score after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import Mark, applied

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.factors.candidates import Candidates, Effect


@dataclass(frozen=True, slots=True)
class Reason:
    """What one step found for one candidate, and the score after it."""

    step: str
    effect: Effect
    value: float
    numbers: tuple[float, ...]
    score: float


def reasons(candidates: Candidates, row: int) -> tuple[Reason, ...]:
    """The whole sum for one candidate, in the order the steps ran."""
    score = np.zeros(1)
    listed = []
    for mark in candidates.marks:
        score = applied(score, mark.taken(np.array([row])))
        listed.append(Reason(mark.step, mark.effect, float(mark.values[row]), mark.numbers, float(score[0])))
    return tuple(listed)


def recombined(listed: Iterable[Reason]) -> float:
    """The score again, from nothing but the reasons: equal to the last bit."""
    score = np.zeros(1)
    for reason in listed:
        score = applied(score, Mark(reason.step, reason.effect, np.array([reason.value]), reason.numbers))
    return float(score[0])
