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
    return all_reasons([mark.taken(slice(row, row + 1)) for mark in candidates.marks], 1)[0]


def all_reasons(marks: Iterable[Mark], count: int) -> list[tuple[Reason, ...]]:
    """The whole sum for each of so many candidates."""
    score = np.zeros(count)
    listed: list[list[Reason]] = [[] for _ in range(count)]
    for mark in marks:
        score = applied(score, mark)
        for told, value, after in zip(listed, mark.values.tolist(), score.tolist(), strict=True):
            told.append(Reason(mark.step, mark.effect, value, mark.numbers, after))
    return [tuple(told) for told in listed]


def recombined(listed: Iterable[Reason]) -> float:
    """The score again, from nothing but the reasons: equal to the last bit."""
    score = np.zeros(1)
    for reason in listed:
        score = applied(score, Mark(reason.step, reason.effect, np.array([reason.value]), reason.numbers))
    return float(score[0])
