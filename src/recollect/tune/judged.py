"""Feedback in columns: what was used or judged, where it stood, and what it counts for."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from recollect.statistics import dcg_bounds, discounts
from recollect.tune.bias import weights

if TYPE_CHECKING:
    from collections.abc import Iterable

    from recollect.factors.candidates import Flags, Floats, Ints
    from recollect.tune.events import Event


@dataclass(frozen=True, slots=True)
class Judged:
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
        return self.grade * weights(self.place, self.said, eta)


@dataclass(frozen=True, slots=True)
class Scale:
    """What the DCG of each event lies between, for one correction of the position bias."""

    gains: Floats
    worst: Floats
    span: Floats
    """Ideal less worst: how much an event counts for."""


def judged(events: Iterable[Event]) -> Judged:
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
    return Judged(
        tuple(kept),
        np.array(owner, np.int64),
        np.array(memory, np.int64),
        np.array(grade, np.float64),
        np.array(place, np.int64),
        np.array(said, np.bool_),
    )


def scale_of(data: Judged, eta: float, k: int) -> Scale:
    gains = data.gains(eta)
    ends = np.searchsorted(data.owner, np.arange(len(data) + 1))
    limits = [dcg_bounds(gains[start:end].tolist(), k) for start, end in pairwise(ends.tolist())]
    worst, ideal = np.array(limits, np.float64).reshape(-1, 2).T
    return Scale(gains, worst, ideal - worst)


def above_worst(data: Judged, scale: Scale, places: Ints, k: int) -> Floats:
    """By event, DCG@K less the worst, with the rows at these places; over `span` it is the event's NDCG@K."""
    parts = scale.gains * discounts(places, k)
    return np.bincount(data.owner, parts, minlength=len(data)) - scale.worst


def mean_ndcg(data: Judged, scale: Scale, places: Ints, k: int) -> float:
    """NDCG@K over all events, each counting for as much as its feedback does; 0 without any."""
    total = float(scale.span.sum())
    return float(above_worst(data, scale, places, k).sum()) / total if total > 0 else 0.0
