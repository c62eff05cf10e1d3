"""A second reading of the first places: the sum by hand, and what holds for any list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import Row, gathered, moment

from recollect.ranking.candidates import reasons, recompute_score
from recollect.ranking.routing import RerankBlend
from recollect.ranking.steps import Order

if TYPE_CHECKING:
    from recollect.ranking.candidates import Candidates


def ranked(*scores: float) -> Candidates:
    """Ids from 1 with these scores, best first."""
    rows = [Row(id=number) for number in range(1, len(scores) + 1)]
    return Order()(gathered(rows).with_change("given", "set", np.array(scores)), moment())


def reread(step: RerankBlend, list_: Candidates, readings: list[float], limit: int = 10) -> dict[int, float]:
    again = step(list_, np.array(readings), moment(limit=limit), "reader")
    return dict(zip(again.ids.tolist(), again.score.tolist(), strict=True))


@pytest.mark.parametrize(
    ("share", "scores", "readings", "expected"),
    [
        # scores 10, 8, 6 become 1, 0.5, 0; readings -4, 4, 0 become 0, 1, 0.5; at a share of 0.25
        # 1: 0.25 * 0   + 0.75 * 1   = 0.75
        # 2: 0.25 * 1   + 0.75 * 0.5 = 0.625
        # 3: 0.25 * 0.5 + 0.75 * 0   = 0.125
        (0.25, (10, 8, 6), [-4, 4, 0], {1: 0.75, 2: 0.625, 3: 0.125}),
        # as above at 0.75: 1: 0.25; 2: 0.75 + 0.125 = 0.875; 3: 0.375
        (0.75, (10, 8, 6), [-4, 4, 0], {2: 0.875, 3: 0.375, 1: 0.25}),
        # equal readings leave the order alone, and all become 1: 0.5 + 0.5 * (1, 0.5, 0)
        (0.5, (10, 8, 6), [3, 3, 3], {1: 1.0, 2: 0.75, 3: 0.5}),
        # ties go to the lower id: 1: 0.5 * 0 + 0.5 * 1; 2: 0.5 * 1 + 0.5 * 0
        (0.5, (2, 1), [0, 1], {1: 0.5, 2: 0.5}),
        (0.3, (), [], {}),
    ],
)
def test_scores_and_readings_are_stretched_and_shared(
    share: float, scores: tuple[float, ...], readings: list[float], expected: dict[int, float]
) -> None:
    found = reread(RerankBlend(share=share), ranked(*scores), readings)
    assert list(found) == list(expected)
    assert found == pytest.approx(expected)


def test_of_a_long_list_only_the_first_are_read_and_the_rest_stays_below() -> None:
    step = RerankBlend(first=2, most=3, share=0.5)
    assert [step.list_length(limit) for limit in (1, 2, 9)] == [2, 2, 9]
    assert [step.read_count(limit) for limit in (1, 2, 9)] == [2, 2, 3]
    # Four are listed, three read: scores 10, 8, 4, 2 become 1, 0.75, 0.25, 0; readings 0, 2, 1 become 0, 1,
    # 0.5, and none is 0. 1: 0.5; 2: 0.875; 3: 0.375; 4: 0
    assert reread(step, ranked(10, 8, 4, 2), [0, 2, 1], limit=4) == pytest.approx(
        {2: 0.875, 1: 0.5, 3: 0.375, 4: 0.0}
    )


def test_what_is_beyond_a_list_of_equals_stays_beyond_it() -> None:
    # Scores 5, 5 and 1, of which two are listed: 1, 1 and (1 - 4) / 1 = -3. Readings 1 and 0.
    # 2: 0.5 + 0.5 = 1; 3: 0.5; 1: 0.5 * -3 = -1.5
    assert reread(RerankBlend(first=2, share=0.5), ranked(1, 5, 5), [1, 0], limit=1) == pytest.approx(
        {2: 1.0, 3: 0.5, 1: -1.5}
    )


numbers = st.floats(-50, 50) | st.sampled_from([0.0, 1.0])


@given(
    scores=st.lists(numbers, min_size=1, max_size=12),
    said=st.lists(numbers, min_size=12, max_size=12),
    limit=st.integers(1, 12),
    first=st.integers(1, 12),
    most=st.integers(1, 12),
    share=st.floats(0.01, 0.99),
)
def test_who_was_not_read_stays_below_in_the_former_order(
    scores: list[float], said: list[float], limit: int, first: int, most: int, share: float
) -> None:
    step, before = RerankBlend(first, most, share), ranked(*scores)
    count = min(step.read_count(limit), len(before))
    after = step(before, np.array(said[:count]), moment(limit=limit), "reader")
    unread = before.ids[count:].tolist()
    if len(set(np.round(scores, 6))) == len(scores):  # equal to the last bit, two may change places
        assert after.ids[count:].tolist() == unread
    assert sorted(after.ids.tolist()) == sorted(before.ids.tolist())
    assert (np.diff(after.score) <= 0).all()
    assert [recompute_score(each) for each in reasons(after)] == after.score.tolist()
