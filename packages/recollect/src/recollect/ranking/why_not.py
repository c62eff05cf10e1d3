"""Why a candidate is not among the first: its place, and what each step cost it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, DroppedCandidate, Reason, apply_change, reasons
from recollect.ranking.steps import uncut

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Profile


@dataclass(frozen=True, slots=True)
class Cost:
    """The effect of one step on a candidate's place, all else being equal."""

    step: str
    value: float
    place_without: int
    """Its place if the step had left its score alone."""
    places: int
    """How many places the step cost; negative where it won some."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The place of a candidate among all candidates, before the cut."""

    place: int | None
    """From 1; None where a step dropped it."""
    dropped: DroppedCandidate | None
    score: float
    needed: float | None
    """The score of the last one that made the list; None where the list is not full."""
    reasons: tuple[Reason, ...]
    costs: tuple[Cost, ...]


def standing(
    profile: Profile,
    candidates: Candidates,
    query: Query,
    id_: int,
    then: Callable[[Candidates], Candidates] | None = None,
) -> Standing:
    """Run every step but the cut, and `then` what follows them; look where the candidate comes out."""
    ranked = candidates
    for step in uncut(profile):
        ranked = step(ranked, query)
    if then is not None:
        ranked = then(ranked)
    dropped = next((one for one in ranked.dropped if one.id == id_), None)
    listed = ranked.ids.tolist()
    needed = float(ranked.score[query.limit - 1]) if 0 < query.limit <= len(listed) else None
    if dropped is not None:
        return Standing(None, dropped, dropped.score, needed, (), ())
    row = listed.index(id_)
    return Standing(
        place=row + 1,
        dropped=None,
        score=float(ranked.score[row]),
        needed=needed,
        reasons=reasons(ranked.at(slice(row, row + 1)))[0],
        costs=_costs(ranked, row),
    )


def _costs(ranked: Candidates, row: int) -> tuple[Cost, ...]:
    """One for each step that multiplied or added, the dearest first."""
    costs = []
    others = np.arange(len(ranked)) != row
    for skipped, change in enumerate(ranked.score_changes):
        if change.effect not in ("times", "plus"):
            continue
        score = np.zeros(1)
        for index, other in enumerate(ranked.score_changes):
            if index != skipped:
                score = apply_change(score, other.at(np.array([row])))
        # The others keep their scores.
        ahead = (ranked.score > score) | ((ranked.score == score) & (ranked.ids < ranked.ids[row]))
        place = 1 + int((ahead & others).sum())
        costs.append(Cost(change.step, float(change.values[row]), place, row + 1 - place))
    return tuple(sorted(costs, key=lambda cost: -cost.places))
