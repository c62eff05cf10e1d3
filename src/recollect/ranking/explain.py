"""Why a candidate stands where it does: each step, what it found, and the score after it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, Effect, ScoreChange, apply_change
from recollect.text.phrases import decimals


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
    return all_reasons([change.at(slice(row, row + 1)) for change in candidates.score_changes], 1)[0]


def all_reasons(changes: Iterable[ScoreChange], count: int) -> list[tuple[Reason, ...]]:
    """The whole sum for each of so many candidates."""
    score = np.zeros(count)
    of_each: list[list[Reason]] = [[] for _ in range(count)]
    for change in changes:
        score = apply_change(score, change)
        for listed, value, after in zip(of_each, change.values.tolist(), score.tolist(), strict=True):
            listed.append(Reason(change.step, change.effect, value, tuple(map(float, change.numbers)), after))
    return [tuple(listed) for listed in of_each]


def recombined(listed: Iterable[Reason]) -> float:
    """The score again, from nothing but the reasons: equal to the last bit."""
    score = np.zeros(1)
    for reason in listed:
        value = np.array([reason.value])
        score = apply_change(score, ScoreChange(reason.step, reason.effect, value, reason.numbers))
    return float(score[0])


def effect_text(reason: Reason) -> str:
    """What a step did, as arithmetic: `+0.12`, `×0.9`."""
    match reason.effect:
        case "plus":
            return f"{'−' if reason.value < 0 else '+'}{decimals(abs(reason.value))}"
        case "times":
            return f"×{decimals(reason.value)}"
        case "set":
            return f"→{decimals(reason.value)}"
        case "rescale":
            low, high = reason.numbers
            return f"from {decimals(low)}…{decimals(high)}"
        case "mix":
            (weight,) = reason.numbers
            return f"{100 * (1 - weight):.0f}/{100 * weight:.0f} with {decimals(reason.value)}"
        case "note":
            return decimals(reason.value)
