"""Balance: a tempered ranking takes traces to the largest power at which nobody finds less than without."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sleepers import Row, asked, lived, snapshot

from recollect.dreams.gate import balance
from recollect.dreams.knobs import Knobs, Phase
from recollect.dreams.plan import plan
from recollect.dreams.snapshot import Draft
from recollect.ranking.factors.dream_traces import DepthWeight, Spread, Stability, Strength, Tempered

if TYPE_CHECKING:
    from recollect.ranking.factors.catalogue import Factor

KNOBS = Knobs()


def test_the_power_is_the_largest_that_costs_nothing() -> None:
    # Fused by k 30, what is wanted stands first: 1/31 against 1/32. With a strength of 0.5 it stays first
    # while 0.5^p / 31 >= 1 / 32, so p <= ln(31/32) / ln(1/2) = 0.0458. In steps of 1/128: 5/128 = 0.0391.
    world = snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=(asked((1,), (1, 2, 3)),))
    draft = balance(world, KNOBS, Draft.of(world))
    assert draft.temper == 5 / 128
    assert draft.life is world.life  # what dreams wrote stays as it is


@pytest.mark.parametrize(
    ("row", "most"),
    [
        # Another that is deeper overtakes where 1.2^p / 32 > 1 / 31: from p = ln(32/31) / ln 1.2 = 0.1741 on.
        (Row(2, depth=3), 0.1741),
        # One that came up in seven sessions, ln 8 / ln 2 = 3: from p = ln(32/31) / ln 3 = 0.0289 on.
        (Row(2, spread=7), 0.0289),
    ],
)
def test_what_overtakes_is_held_back(row: Row, most: float) -> None:
    world = snapshot([Row(1), row, Row(3)], trials=(asked((1,), (1, 2, 3)),))
    temper = balance(world, KNOBS, Draft.of(world)).temper
    assert temper <= most < temper + 1 / 128


@pytest.mark.parametrize(
    ("factor", "trace"),
    [
        (Strength(), {"strength": 0.25}),
        (DepthWeight(), {"depth": 3}),
        (Spread(), {"spread": 7}),
        (Stability(), {"stability": 0.01}),
    ],
)
def test_every_trace_is_taken_to_the_power_by_a_tempered_ranking_alone(
    factor: Factor, trace: dict[str, float]
) -> None:
    one = asked((1,), (1, 2))
    ones = np.ones(2)
    columns = {name: np.full(2, value) for name, value in trace.items()}
    plain = replace(one.candidates, facts=replace(one.candidates.facts, **columns))
    rooted = replace(plain, facts=replace(plain.facts, temper=0.5 * ones))
    neutral = replace(plain, facts=replace(plain.facts, temper=0 * ones))
    tempered = Tempered(factor)
    assert not np.allclose(tempered(plain, one.moment), 1.0)
    assert tempered(rooted, one.moment) ** 2 == pytest.approx(tempered(plain, one.moment))
    assert tempered(neutral, one.moment).tolist() == [1.0, 1.0]
    # As published: whatever the power is.
    for told in (plain, rooted, neutral):
        assert factor(told, one.moment).tolist() == tempered(plain, one.moment).tolist()


def test_what_costs_less_than_the_margin_stays() -> None:
    # Second instead of first: 1/2 instead of 1, over two questions a loss of 0.25.
    trials = (asked((1,), (1, 2, 3)), asked((2,), (2, 3, 1)))
    world = snapshot([Row(1, strength=0.97 * 31 / 32), Row(2), Row(3)], trials=trials)
    assert balance(world, Knobs(balance_margin=0.26), Draft.of(world)).temper == 1.0
    assert balance(world, Knobs(balance_margin=0.24), Draft.of(world)).temper < 1.0


def test_traces_that_help_are_taken_as_they_are_whatever_the_power_was() -> None:
    # What is wanted stands second without traces; the first has faded.
    world = snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=(asked((2,), (1, 2, 3)),), temper=0.25)
    assert balance(world, KNOBS, Draft.of(world)).temper == 1.0


def test_without_a_ranking_that_reads_them_the_power_stays() -> None:
    world = snapshot([Row(1, strength=0.01)], temper=0.25)
    assert balance(world, KNOBS, Draft.of(world)).temper == 0.25


def test_it_is_found_anew_from_the_traces_themselves_and_does_not_creep() -> None:
    trials = (asked((1,), (1, 2, 3)),)
    world = snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=trials)
    first = plan(world, KNOBS, [Phase.BALANCE])
    again = plan(lived(world, first.draft), KNOBS, [Phase.BALANCE])
    assert again.is_empty
    assert again.draft.temper == first.draft.temper == 5 / 128


def test_a_pin_keeps_what_it_is_ahead_by() -> None:
    # Pinned at 1 while the others have faded to 0.01: to any power above 0 it stands before its neighbours.
    rows = [Row(1, strength=0.01), Row(2, kept=True), Row(3, strength=0.01)]
    world = snapshot(rows, trials=(asked((2,), (2, 1, 3)), asked((1,), (1, 2, 3))))
    draft = balance(world, KNOBS, Draft.of(world))
    assert draft.temper < 1.0
    assert draft.life.strength.tolist() == [0.01, 1.0, 0.01]
