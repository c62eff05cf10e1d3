"""A forecast: how memories fade if nobody uses them any more.

Nights without a recall only downscale, so the day on which each threshold is crossed can be worked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.scores import after_days, is_archival, is_faded, retrievable
from recollect.lazy_dataclass import dataclass
from recollect.ranking.candidates import DAY

if TYPE_CHECKING:
    from recollect.dreams.snapshot import DreamState
    from recollect.ranking.candidates import Flags, Floats, Ints

NEVER_FADES = -1


@dataclass(frozen=True, slots=True)
class Forecast:
    """By place in the snapshot, within the days looked ahead."""

    ids: Ints
    kind: Ints
    """Place in `tuple(Kind)`."""
    kept: Flags
    """Pinned, or marked as important: it does not fade."""
    days: int
    fades_on: Ints
    """The first day on which a nightly dream would prune it, if something else says the same; -1: none."""
    archived_on: Ints
    strength: Floats
    """At the end."""
    retrievable: Floats
    """How much of it is left at the end, by its stability."""
    mean_strength: tuple[float, ...]
    """Day by day, today first."""


def forecast(snapshot: DreamState, knobs: Knobs, days: int) -> Forecast:
    """What nightly dreams from now on would do, for so many nights."""
    strength = snapshot.life.strength
    fades_on = np.full(len(snapshot.ids), NEVER_FADES, np.int64)
    archived_on = fades_on.copy()
    mean = [_mean(strength)]
    for day in range(1, days + 1):
        at = snapshot.at + day * DAY
        nights = _since_last(snapshot) if day == 1 else 1.0
        strength = after_days(snapshot, strength, nights, knobs)
        mean.append(_mean(strength))
        fades_on[(fades_on < 0) & is_faded(snapshot, strength, knobs, at)] = day
        archived_on[(archived_on < 0) & is_archival(snapshot, strength, knobs, at)] = day
    left = retrievable((snapshot.at + days * DAY - snapshot.touched_at) / DAY, snapshot.life.stability)
    return Forecast(
        snapshot.ids, snapshot.kind, snapshot.kept, days, fades_on, archived_on, strength, left, tuple(mean)
    )


def _since_last(snapshot: DreamState) -> Floats | float:
    """The days that the first night takes: all since the last downscaling, and none if there was none."""
    last = snapshot.dreamt_at.get(Phase.DOWNSCALE)
    if last is None:
        return 0.0
    # What an import dates into the future has lived through none.
    days: Floats = np.maximum(snapshot.at + DAY - np.maximum(snapshot.created_at, last), 0) / DAY
    return days


def _mean(strength: Floats) -> float:
    return float(strength.mean()) if len(strength) else 0.0
