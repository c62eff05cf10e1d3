"""Arithmetic on vectors and their ids."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.numbers import distinct

IDS = st.lists(st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1))


@given(IDS)
def test_distinct_ids_are_those_of_numpy(ids: list[int]) -> None:
    given_ids = np.array(ids, np.int64)
    assert distinct(given_ids).tolist() == np.unique(given_ids).tolist()
    assert given_ids.tolist() == ids
