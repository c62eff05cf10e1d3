"""Compare confidence with the share of right hits, in tenths, for each kind of memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean

TENTHS = 10
MANY = 400
"""Number of hits from which the share in a tenth should lie within `CLOSE` of the confidence."""
CLOSE = 0.05
_SURE = 2
"""Standard errors within which the share should lie in every tenth."""


@dataclass(frozen=True, slots=True)
class JudgedHit:
    """One hit: the kind of its memory, its confidence, and whether it was right."""

    kind: str
    confidence: float
    right: bool


@dataclass(frozen=True, slots=True)
class Tenth:
    """The hits whose confidence lies from `low` to a tenth above it."""

    low: float
    hits: int
    confidence: float
    """Mean confidence of the hits."""
    right: float
    """Share of right hits."""
    standard_error: float
    """Standard error of the share, if every confidence were exact."""

    @property
    def error(self) -> float:
        return abs(self.right - self.confidence)

    @property
    def holds(self) -> bool:
        """Whether the share agrees with the confidence, given the number of hits."""
        return self.error <= _SURE * self.standard_error and (self.hits < MANY or self.error <= CLOSE)


def tenths(hits: Sequence[JudgedHit]) -> tuple[Tenth, ...]:
    """Return the tenths that have a hit, lowest first.

    The standard error is that of a sum of coins with these very probabilities: sqrt(sum p (1 - p)) / n.
    """
    places: dict[int, list[JudgedHit]] = {}
    for hit in hits:
        places.setdefault(min(TENTHS - 1, int(hit.confidence * TENTHS)), []).append(hit)
    return tuple(_tenth(place / TENTHS, places[place]) for place in sorted(places))


def by_kind(hits: Sequence[JudgedHit]) -> Mapping[str, tuple[Tenth, ...]]:
    return {
        kind: tenths([hit for hit in hits if hit.kind == kind]) for kind in sorted({h.kind for h in hits})
    }


def _tenth(low: float, hits: Sequence[JudgedHit]) -> Tenth:
    variance = sum(hit.confidence * (1 - hit.confidence) for hit in hits)
    return Tenth(
        low,
        len(hits),
        fmean(hit.confidence for hit in hits),
        fmean(hit.right for hit in hits),
        sqrt(variance) / len(hits),
    )
