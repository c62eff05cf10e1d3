"""Find a candidate's place among all candidates, and how many places each step cost it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.ranking.candidates import Candidates, DroppedCandidate, Reason, apply_change, reasons
from recollect.ranking.steps import uncut

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Profile


@dataclass(frozen=True, slots=True)
class Cost(Record):
    """The effect of one step on a candidate's place, all else being equal."""

    step: str
    value: float
    place_without: int
    """The candidate's place if the step had not changed its score."""
    places: int
    """The number of places that the step cost; negative if the candidate gained places."""


@dataclass(frozen=True, slots=True)
class Standing(Record):
    """The place of a candidate among all candidates, before the cut."""

    place: int | None
    """Counted from 1; None if a step dropped the candidate."""
    dropped: DroppedCandidate | None
    score: float
    needed: float | None
    """The score of the last hit on the list; None if the list is not full."""
    reasons: tuple[Reason, ...]
    costs: tuple[Cost, ...]


def find_standing(
    profile: Profile,
    candidates: Candidates,
    query: Query,
    id_: int,
    then: Callable[[Candidates], Candidates] | None = None,
) -> Standing:
    """Find the candidate's place after all steps except the cut, then `then` if given."""
    ranked = candidates
    for step in uncut(profile):
        ranked = step(ranked, query)
    if then is not None:
        ranked = then(ranked)
    dropped = next((one for one in ranked.dropped if one.id == id_), None)
    ids = ranked.ids.tolist()
    needed = float(ranked.score[query.limit - 1]) if 0 < query.limit <= len(ids) else None
    if dropped is not None:
        return Standing(None, dropped, dropped.score, needed, (), ())
    row = ids.index(id_)
    return Standing(
        place=row + 1,
        dropped=None,
        score=float(ranked.score[row]),
        needed=needed,
        reasons=reasons(ranked.at(slice(row, row + 1)))[0],
        costs=_costs(ranked, row),
    )


def _costs(ranked: Candidates, row: int) -> tuple[Cost, ...]:
    """Return the cost of each step that multiplied the score or added to it, the largest first."""
    costs = []
    others = np.arange(len(ranked)) != row
    for skipped, change in enumerate(ranked.score_changes):
        if change.effect not in ("times", "plus"):
            continue
        score = np.zeros(1)
        for index, other in enumerate(ranked.score_changes):
            if index != skipped:
                score = apply_change(score, other.at(np.array([row])))
        # Only this candidate's score changes.
        ahead = (ranked.score > score) | ((ranked.score == score) & (ranked.ids < ranked.ids[row]))
        place = 1 + int((ahead & others).sum())
        costs.append(Cost(change.step, float(change.values[row]), place, row + 1 - place))
    return tuple(sorted(costs, key=lambda cost: -cost.places))
