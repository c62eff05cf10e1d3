"""Position bias: what stands at the top is used more because it stands there.

    chance that a memory at place p is looked at = p ** -eta
    weight of its use                            = min(10, p ** eta)

With the weight, a use at place 6 stands for all those that nobody made because nobody looked that far
(inverse propensity scoring; Joachims, Swaminathan & Schnabel, WSDM 2017). Eta is learned from the log by
intervention harvesting (Agarwal et al., WSDM 2019): where one question was asked more than once and showed a
memory at different places, only the place can have made the difference, not the memory. So

    uses at place p ~ Poisson(r * p ** -eta),   r any number for each question and memory

and given how often the memory was used in all, r cancels: what is left says at which of its places, and
depends on eta alone. Few data say little, so eta is drawn to a prior.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.tuning.events import Event, normalized_query

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints

PRIOR_ETA = 0.5
"""Between a model that takes in the whole list (0) and people before web results (about 1)."""
PRIOR_SPREAD = 0.5
"""Standard deviation of the prior: both ends are likely enough."""
MOST_ETA = 3.0
MOST_WEIGHT = 10.0
"""A weight beyond this would let one use decide."""


@dataclass(frozen=True, slots=True)
class Bias:
    """How fast attention falls with the place, and how sure that is."""

    eta: float = PRIOR_ETA
    spread: float = PRIOR_SPREAD
    """Standard deviation of eta: the prior's where nothing was learned."""
    pairs: int = 0
    """Memories that one question showed at different places and that were used: what eta is learned from."""

    @property
    def low(self) -> float:
        return max(0.0, self.eta - self.spread)

    @property
    def high(self) -> float:
        return self.eta + self.spread


def position_weights(places: Ints, said: Flags, eta: float) -> Floats:
    """What feedback at these places counts for, from 1 to 10.

    What was said counts with the root of it: whoever speaks of a memory has looked at it, but nobody speaks
    of what stood too low to be seen.
    """
    powers: Floats = places.astype(np.float64) ** np.where(said, eta / 2, eta)
    return np.minimum(MOST_WEIGHT, powers)


def bias_in(events: Iterable[Event], prior: Bias = Bias()) -> Bias:  # noqa: B008  # a value
    """Eta by maximum likelihood with the prior. What was said is left out: it is not mere use."""
    logs, uses, group = _harvest(events)
    pairs = int(group[-1]) + 1 if len(group) else 0
    eta, information = prior.eta, 0.0
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    totals = np.add.reduceat(uses, starts) if pairs else uses
    # The likelihood is concave in eta, so Newton's steps end at its one peak.
    for _ in range(50):
        slope = (prior.eta - eta) / prior.spread**2
        if pairs:
            chance = np.exp(-eta * logs)
            share = chance / np.add.reduceat(chance, starts)[group]
            mean = np.add.reduceat(share * logs, starts)
            variance = np.add.reduceat(share * (logs - mean[group]) ** 2, starts)
            slope += float((totals * mean).sum() - (uses * logs).sum())
            information = float((totals * variance).sum())
        step = slope / (information + prior.spread**-2)
        moved = min(MOST_ETA, max(0.0, eta + step))
        done = abs(moved - eta) < 1e-9
        eta = moved
        if done:
            break
    return Bias(eta, float((information + prior.spread**-2) ** -0.5), pairs)


def _harvest(events: Iterable[Event]) -> tuple[Floats, Floats, Ints]:
    """For every showing that says something about eta: the log of its place, its use, and whose it is."""
    showings: dict[tuple[str, int], dict[int, tuple[int, int]]] = {}
    for event in events:
        question = normalized_query(event.query)
        for place, id_ in enumerate(event.shown, start=1):
            if id_ in event.said:
                continue
            by_place = showings.setdefault((question, id_), {})
            shown, used = by_place.get(place, (0, 0))
            by_place[place] = (shown + 1, used + (event.feedback.get(id_, 0.0) > 0))
    logs, uses, group, count = [], [], [], 0
    for _, by_place in sorted(showings.items()):
        if len(by_place) < 2 or not any(used for _, used in by_place.values()):
            continue
        for place, (shown, used) in sorted(by_place.items()):
            # One row for each showing; the uses of a place may stand on any of its rows.
            logs += [float(np.log(place))] * shown
            uses += [float(used)] + [0.0] * (shown - 1)
            group += [count] * shown
        count += 1
    return np.array(logs, np.float64), np.array(uses, np.float64), np.array(group, np.int64)
