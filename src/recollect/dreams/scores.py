"""The arithmetic of a dream. Sources: the ADR of Reverie's dream cycle, and FSRS v4 for stability."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from recollect.dreams.knobs import Knobs, Phase
from recollect.ranking.candidates import DAY, HOUR

if TYPE_CHECKING:
    from recollect.dreams.snapshot import DreamState
    from recollect.ranking.candidates import Flags, Floats

_WEEK = 7 * DAY
_MOST_STABLE = 36_500.0  # a hundred years of days, as FSRS has it

# FSRS v4 as published: the weights of a successful recall, at the difficulty that a first good answer gets.
_W8, _W9, _W10 = 1.49, 0.14, 0.94
_DIFFICULTY = 4.93
_SLOWNESS = 9.0


def replay_delta(peers: int, age_us: int, max_delta: float) -> float:
    """max * (1 / (1 + age in hours)) * ln(1 + peers), within [0, max]"""
    recency = 1.0 / (1.0 + max(age_us, 0) / HOUR)
    return float(np.clip(max_delta * recency * np.log1p(peers), 0.0, max_delta))


def staleness(snapshot: DreamState, knobs: Knobs, at: int) -> Floats:
    """Days since it was touched x what a day adds for its kind."""
    days = np.maximum(at - snapshot.touched_at, 0) / DAY
    decay: Floats = np.array(knobs.decay.column())[snapshot.kind]
    return days * decay


def signal(snapshot: DreamState, knobs: Knobs, at: int) -> Floats:
    """Accesses per week x revisions, at least 1, x what its kind weighs.

    What is younger than a week has had that many accesses in one week: two in an hour are not 336.
    """
    weeks = np.maximum((at - snapshot.created_at) / _WEEK, 1.0)
    weight: Floats = np.array(knobs.weight.column())[snapshot.kind]
    return snapshot.accesses / weeks * np.maximum(snapshot.revisions, 1) * weight


def retrievable(days: Floats | float, stability: Floats | float) -> Floats:
    """R = 1 / (1 + t / (9 S)): how much of a memory is left after t days."""
    left: Floats = 1.0 / (1.0 + np.maximum(days, 0.0) / (_SLOWNESS * stability))
    return left


def recalled_once(stability: float, days: float) -> float:
    """Stability after a recall that came `days` after the one before.

    S' = S * (1 + e^w8 * (11 - D) * S^-w9 * (e^(w10 * (1 - R)) - 1))

    The more was forgotten by then, the more it helps: a second recall on the same day adds nothing.
    """
    lost = 1.0 - retrievable(days, stability)
    gain = np.exp(_W8) * (11.0 - _DIFFICULTY) * stability**-_W9 * np.expm1(_W10 * lost)
    return float(min(stability * (1.0 + gain), max(_MOST_STABLE, stability)))


def recalled_on(stability: float, since: int, days: Iterable[int]) -> float:
    """Stability after recalls on these days; `since` is the day of the recall before, or of the creation."""
    for day in days:
        stability = recalled_once(stability, day - since)
        since = day
    return stability


def downscaled(snapshot: DreamState, strength: Floats, knobs: Knobs) -> Floats:
    """SHY: what the days since strengths were last downscaled leave of each.

    Only days that a memory has lived through count, so that it does not matter how often one dreams; and the
    first dream takes nothing, since nobody knows how the nights before it were. What lies below the floor
    already is left there.
    """
    last = snapshot.dreamt_at.get(Phase.DOWNSCALE)
    if last is None:
        return strength
    since = np.maximum(snapshot.created_at, last)
    return after_days(snapshot, strength, np.maximum(snapshot.at - since, 0) / DAY, knobs)


def after_days(snapshot: DreamState, strength: Floats, days: Floats | float, knobs: Knobs) -> Floats:
    scaled: Floats = np.maximum(strength * knobs.daily**days, np.minimum(strength, knobs.floor))
    return np.where(snapshot.kept, strength, scaled)


def is_faded(snapshot: DreamState, strength: Floats, knobs: Knobs, at: int) -> Flags:
    """What the published conditions would prune."""
    return (
        (staleness(snapshot, knobs, at) > knobs.prune_staleness)
        & (signal(snapshot, knobs, at) < knobs.prune_signal)
        & (strength < knobs.prune_strength)
        & (snapshot.revisions <= knobs.prune_revisions)
        & ~snapshot.kept
    )


def is_archival(snapshot: DreamState, strength: Floats, knobs: Knobs, at: int) -> Flags:
    stale = staleness(snapshot, knobs, at) > knobs.archive_staleness
    return stale & (strength < knobs.archive_strength) & ~snapshot.kept
