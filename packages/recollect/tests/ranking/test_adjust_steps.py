"""The steps that multiply and add, where scores lie below 0."""

from __future__ import annotations

import numpy as np
import pytest
from worlds import Row, gathered, moment

from recollect.domain.records import Status
from recollect.ranking.factors import StatusWeight
from recollect.ranking.steps import Times


def test_what_was_set_aside_falls_below_0_too() -> None:
    rows = [Row(1), Row(2, status=Status.ARCHIVED), Row(3, status=Status.ARCHIVED)]
    start = gathered(rows).with_change("before", "set", np.array([-0.2, -0.2, 0.2]))
    ranked = Times(StatusWeight())(start, moment(rows))
    # -0.2 * 1, -0.2 / 0.5 and 0.2 * 0.5
    assert ranked.score.tolist() == pytest.approx([-0.2, -0.4, 0.1])
