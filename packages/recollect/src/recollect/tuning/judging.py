"""Position bias: hits at the top are used more because of their place.

    chance that a reader looks at place p = p ** -eta
    weight of a use at place p            = min(10, p ** eta)

The weight makes up for readers who did not look that far (inverse propensity scoring; Joachims, Swaminathan &
Schnabel, WSDM 2017). Eta is learnt from the log by intervention harvesting (Agarwal et al., WSDM 2019): if a
question was asked twice and showed a memory at different places, only the place explains different use. So

    uses at place p ~ Poisson(r * p ** -eta),   r any number for each question and memory

For a known total of uses, r cancels: how they spread over the places depends on eta alone. With little data,
a prior keeps eta stable.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import TAIL, bootstrap_interval, dcg_bounds, discounts, sign_flip_test
from recollect.tuning.events import Event, normalized_query

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints


PRIOR_ETA = 0.5
"""Mean of the prior: models read the whole list (0), and people mostly the first web results (about 1)."""
PRIOR_SPREAD = 0.5
"""Standard deviation of the prior, wide enough for both extremes."""
MOST_ETA = 3.0
MOST_WEIGHT = 10.0
"""Upper bound of a weight, so that no single use decides."""


@dataclass(frozen=True, slots=True)
class Bias:
    """The position bias: how fast attention falls with the place, and how uncertain that is."""

    eta: float = PRIOR_ETA
    spread: float = PRIOR_SPREAD
    """Standard deviation of eta; without data, that of the prior."""
    pairs: int = 0
    """The data for eta: how many used memories one question showed at different places."""

    @property
    def low(self) -> float:
        return max(0.0, self.eta - self.spread)

    @property
    def high(self) -> float:
        return self.eta + self.spread


def position_weights(places: Ints, said: Flags, eta: float) -> Floats:
    """Return the weight of feedback at these places, from 1 to 10.

    Explicit feedback gets the square root of the weight. Its author has seen the memory, but few people rate
    memories at low places.
    """
    powers: Floats = places.astype(np.float64) ** np.where(said, eta / 2, eta)
    return np.minimum(MOST_WEIGHT, powers)


def bias_in(events: Iterable[Event], prior: Bias = Bias()) -> Bias:  # noqa: B008  # a value
    """Estimate eta by maximum likelihood with the prior. Only implicit feedback counts."""
    logs, uses, group = _harvest(events)
    pairs = int(group[-1]) + 1 if len(group) else 0
    eta, information = prior.eta, 0.0
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    totals = np.add.reduceat(uses, starts) if pairs else uses
    # The likelihood is concave in eta, so Newton's method converges to its maximum.
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
    """Return columns with a row for each showing that informs eta: logarithm of the place, uses, group."""
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
            # Each showing is a row. The first row of a place has all its uses.
            logs += [float(np.log(place))] * shown
            uses += [float(used)] + [0.0] * (shown - 1)
            group += [count] * shown
        count += 1
    return np.array(logs, np.float64), np.array(uses, np.float64), np.array(group, np.int64)


# Feedback as columns, NDCG, and the significance of a gain.

_DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class JudgedEvents:
    """Events with feedback, oldest first, and columns with a row for each memory with feedback."""

    events: tuple[Event, ...]
    owner: Ints
    """Index of each row's event, ascending."""
    memory: Ints
    grade: Floats
    place: Ints
    """The place where the memory was shown, from 1."""
    said: Flags

    def __len__(self) -> int:
        return len(self.events)

    def gains(self, eta: float) -> Floats:
        return self.grade * position_weights(self.place, self.said, eta)


@dataclass(frozen=True, slots=True)
class Gain:
    """NDCG@10 with other parameters minus NDCG@10 with the present ones."""

    mean: float
    low: float
    """Lower end of the 95 % interval, by bootstrap over questions."""
    high: float
    p: float
    """One-sided p-value of a sign-flip test over questions."""

    @property
    def significant(self) -> bool:
        return self.low > 0 and self.p <= TAIL


@dataclass(frozen=True, slots=True)
class DcgScale:
    """The range of each event's DCG for one eta."""

    gains: Floats
    worst: Floats
    span: Floats
    """Ideal DCG minus worst DCG, which is the weight of the event."""


def judged_events(events: Iterable[Event]) -> JudgedEvents:
    """Collect feedback on shown memories. Ratings of other candidates count as if those were shown next."""
    kept: list[Event] = []
    rows: list[tuple[int, int, float, int, bool]] = []
    for event in sorted(events, key=lambda event: (event.at, event.id)):
        known = set(event.candidates.ids.tolist()) if event.feedback else set()
        places = {id_: place for place, id_ in enumerate(event.shown, start=1)}
        found = [
            (len(kept), id_, grade, places.get(id_, len(event.shown) + 1), id_ in event.said)
            for id_, grade in sorted(event.feedback.items())
            if grade and id_ in known and (id_ in places or id_ in event.said)
        ]
        if found:
            kept.append(event)
            rows += found
    owner, memory, grade, place, said = zip(*rows, strict=True) if rows else ((), (), (), (), ())
    return JudgedEvents(
        tuple(kept),
        np.array(owner, np.int64),
        np.array(memory, np.int64),
        np.array(grade, np.float64),
        np.array(place, np.int64),
        np.array(said, np.bool_),
    )


def dcg_scale(data: JudgedEvents, eta: float, k: int) -> DcgScale:
    gains = data.gains(eta)
    ends = np.searchsorted(data.owner, np.arange(len(data) + 1))
    limits = [dcg_bounds(gains[start:end].tolist(), k) for start, end in pairwise(ends.tolist())]
    worst, ideal = np.array(limits, np.float64).reshape(-1, 2).T
    return DcgScale(gains, worst, ideal - worst)


def above_worst(data: JudgedEvents, scale: DcgScale, places: Ints, k: int) -> Floats:
    """Return each event's DCG@K minus its worst DCG@K. Divided by `span`, that is its NDCG@K."""
    parts = scale.gains * discounts(places, k)
    return np.bincount(data.owner, parts, minlength=len(data)) - scale.worst


def mean_ndcg(data: JudgedEvents, scale: DcgScale, places: Ints, k: int) -> float:
    """Return NDCG@K over all events, weighted by their feedback; 0 without any."""
    total = float(scale.span.sum())
    return float(above_worst(data, scale, places, k).sum()) / total if total > 0 else 0.0


def gain_between(data: JudgedEvents, before: Ints, after: Ints, k: int, eta: float) -> Gain:
    scale = dcg_scale(data, eta, k)
    differences = above_worst(data, scale, after, k) - above_worst(data, scale, before, k)
    return gain_of(differences, scale.span, [normalized_query(event.query) for event in data.events])


def gain_of(differences: Floats, spans: Floats, questions: Sequence[str]) -> Gain:
    """Compute the gain from each event's difference in DCG, weight and question."""
    _, which = np.unique(np.array(questions, object).astype(str), return_inverse=True)
    rises = np.bincount(which, differences).astype(np.float64)
    counts = np.bincount(which, spans).astype(np.float64)
    if not rises.any():
        return Gain(0.0, 0.0, 0.0, 1.0)
    # Seeded, so that the same events give the same result.
    chance = np.random.default_rng(0)
    interval = bootstrap_interval(rises, chance, _DRAWS, counts)
    p = sign_flip_test(rises, chance, _DRAWS)
    return Gain(interval.mean, interval.low, interval.high, p)
