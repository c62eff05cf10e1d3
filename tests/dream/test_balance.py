"""Balance: traces are tempered by the largest power that makes nobody find less than without them."""

from __future__ import annotations

import numpy as np
import pytest
from sleepers import Row, asked, snapshot

from recollect.dream.balance import balance, tempered
from recollect.dream.draft import Draft
from recollect.dream.knobs import Knobs, Phase
from recollect.dream.plan import plan

KNOBS = Knobs()


def test_the_power_is_the_largest_that_costs_nothing() -> None:
    # Fused by k 30, what is wanted stands first: 1/31 against 1/32. With a strength of 0.5 it stays first
    # while 0.5^p / 31 >= 1 / 32, so p <= ln(31/32) / ln(1/2) = 0.0458. In steps of 1/128: 5/128 = 0.0391.
    world = snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=(asked((1,), (1, 2, 3)),))
    draft = balance(world, KNOBS, Draft.of(world))
    assert draft.power == 5 / 128
    assert draft.life.strength.tolist() == pytest.approx([0.5 ** (5 / 128), 1.0, 1.0])


def test_what_costs_less_than_the_margin_stays() -> None:
    # Second instead of first: 1/2 instead of 1, over two questions a loss of 0.25.
    trials = (asked((1,), (1, 2, 3)), asked((2,), (2, 3, 1)))
    world = snapshot([Row(1, strength=0.97 * 31 / 32), Row(2), Row(3)], trials=trials)
    assert balance(world, Knobs(balance_margin=0.26), Draft.of(world)).power == 1.0
    assert balance(world, Knobs(balance_margin=0.24), Draft.of(world)).power < 1.0


def test_traces_that_help_stay_as_they_are() -> None:
    # What is wanted stands second without traces; the first has faded.
    world = snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=(asked((2,), (1, 2, 3)),))
    draft = Draft.of(world)
    assert balance(world, KNOBS, draft) is draft


def test_without_a_ranking_that_reads_them_traces_say_what_they_say() -> None:
    world = snapshot([Row(1, strength=0.01)])
    draft = Draft.of(world)
    assert balance(world, KNOBS, draft) is draft


def test_every_trace_is_tempered_and_pins_keep_theirs() -> None:
    rows = [
        Row(1, strength=0.25, stability=16.0, spread=9, depth=3),
        Row(2, strength=0.25, kept=True),
        Row(3, depth=1),
    ]
    world = snapshot(rows)
    half = tempered(world, world.life, 0.5)
    assert half.strength.tolist() == [0.5, 0.25, 1.0]
    assert half.stability.tolist() == [4.0, 1.0, 1.0]
    assert half.spread.tolist() == [3, 1, 1]
    assert half.depth.tolist() == [2, 2, 2]
    most = tempered(world, world.life, 0.75)
    assert most.depth.tolist() == [3, 2, 1]
    assert most.spread.tolist() == [5, 1, 1]  # 9^0.75 = 5.196
    nothing = tempered(world, world.life, 0.0)
    assert nothing.strength.tolist() == [1.0, 0.25, 1.0]
    assert np.array_equal(tempered(world, world.life, 1.0).stability, world.life.stability)


def test_a_second_dream_at_the_same_moment_finds_them_in_balance() -> None:
    trials = (asked((1,), (1, 2, 3)),)
    first = plan(snapshot([Row(1, strength=0.5), Row(2), Row(3)], trials=trials), KNOBS, [Phase.BALANCE])
    strengths = first.draft.life.strength.tolist()
    rows = [Row(id_, strength=strength) for id_, strength in zip((1, 2, 3), strengths, strict=True)]
    again = plan(snapshot(rows, trials=trials), KNOBS, [Phase.BALANCE])
    assert again.is_empty
