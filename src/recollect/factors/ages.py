"""How long ago, in the unit a formula asks for. What lies in the future is of age 0."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from recollect.factors.candidates import NEVER

if TYPE_CHECKING:
    from recollect.factors.candidates import Facts, Floats, Ints

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def microseconds(moment: datetime) -> int:
    """Whole microseconds since 1970, exactly."""
    return (moment - EPOCH) // _MICROSECOND


def age(times: Ints, now: int, unit: int, unknown: float) -> Floats:
    """Ages in units; `unknown` where there is no time.

    Without a time there is no effect of time: what rewards the new passes infinity, what takes from the old
    passes 0.
    """
    known = times != NEVER
    ages = (now - np.where(known, times, now)) / unit
    return np.where(known, np.maximum(ages, 0.0), unknown)


def last_seen(facts: Facts) -> Ints:
    """The last access, or the creation of what was never accessed."""
    return np.where(facts.last_access == NEVER, facts.created_at, facts.last_access)
