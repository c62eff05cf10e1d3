"""Feedback in columns: what was used or judged, where it stood, what it counts for, and how sure a gain is.

A gain is sure by questions, not by answers: the answers to one question are not independent of one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.statistics import TAIL, bootstrap_interval, dcg_bounds, discounts, sign_flip_test
from recollect.tuning.bias import position_weights
from recollect.tuning.events import Event, normalized_query

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints

_DRAWS = 4_000


@dataclass(frozen=True, slots=True)
class JudgedEvents:
    """Events with feedback, oldest first, and a row for each memory that has some."""

    events: tuple[Event, ...]
    owner: Ints
    """Which event a row belongs to; ascending."""
    memory: Ints
    grade: Floats
    place: Ints
    """Where it was shown, from 1."""
    said: Flags

    def __len__(self) -> int:
        return len(self.events)

    def gains(self, eta: float) -> Floats:
        """What each row counts for, corrected for the place where it was shown."""
        return self.grade * position_weights(self.place, self.said, eta)


@dataclass(frozen=True, slots=True)
class Gain:
    """NDCG@10 of some numbers less that of the present ones."""

    mean: float
    low: float
    """95 % interval, by bootstrap over questions."""
    high: float
    p: float
    """Chance of a gain at least as great if there were none: one-sided, by flipping signs of questions."""

    @property
    def significant(self) -> bool:
        return self.low > 0 and self.p <= TAIL


@dataclass(frozen=True, slots=True)
class DcgScale:
    """What the DCG of each event lies between, for one correction of the position bias."""

    gains: Floats
    worst: Floats
    span: Floats
    """Ideal less worst: how much an event counts for."""


def judged_events(events: Iterable[Event]) -> JudgedEvents:
    """Feedback on what was shown, and what was said of a candidate that was not, as if it came next."""
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
    """By event, DCG@K less the worst, with the rows at these places; over `span` it is the event's NDCG@K."""
    parts = scale.gains * discounts(places, k)
    return np.bincount(data.owner, parts, minlength=len(data)) - scale.worst


def mean_ndcg(data: JudgedEvents, scale: DcgScale, places: Ints, k: int) -> float:
    """NDCG@K over all events, each counting for as much as its feedback does; 0 without any."""
    total = float(scale.span.sum())
    return float(above_worst(data, scale, places, k).sum()) / total if total > 0 else 0.0


def gain_between(data: JudgedEvents, before: Ints, after: Ints, k: int, eta: float) -> Gain:
    """Of one set of places over another."""
    scale = dcg_scale(data, eta, k)
    differences = above_worst(data, scale, after, k) - above_worst(data, scale, before, k)
    return gain_of(differences, scale.span, [normalized_query(event.query) for event in data.events])


def gain_of(differences: Floats, spans: Floats, questions: Sequence[str]) -> Gain:
    """From each event's difference in DCG, and what it counts for."""
    _, which = np.unique(np.array(questions, object).astype(str), return_inverse=True)
    rises = np.bincount(which, differences).astype(np.float64)
    counts = np.bincount(which, spans).astype(np.float64)
    if not rises.any():
        return Gain(0.0, 0.0, 0.0, 1.0)
    # Seeded, so that the same events give the same numbers.
    chance = np.random.default_rng(0)
    interval = bootstrap_interval(rises, chance, _DRAWS, counts)
    p = sign_flip_test(rises, chance, _DRAWS)
    return Gain(interval.mean, interval.low, interval.high, p)
