"""Two contradicting memories: which ranks first, in examples and laws; texts that state years."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import NOW, Row, gathered, moment

from recollect.ranking.candidates import Candidates, Contradictions, reasons, recompute_score
from recollect.ranking.factors import microseconds
from recollect.ranking.steps import NewestWins
from recollect.tuning.events import Event
from recollect.tuning.search import join_events

DAY = timedelta(days=1)


def scored(*scores: float) -> Candidates:
    rows = [Row(id_, cosine=0.5) for id_ in range(1, 1 + len(scores))]
    start = gathered(rows)
    return start.with_change("start", "set", np.array(scores))


def contradicting(candidates: Candidates, *pairs: tuple[int, int], chance: float = 0.999) -> Candidates:
    """Mark pairs of places as replaced, the older first. Place n is n days after the first day."""
    first = NOW - 100 * DAY
    return replace(
        candidates,
        contradictions=Contradictions(
            older=np.array([older for older, _ in pairs], np.int64),
            newer=np.array([newer for _, newer in pairs], np.int64),
            since=np.array([microseconds(first + newer * DAY) for _, newer in pairs], np.int64),
            chance=np.full(len(pairs), chance),
        ),
    )


def after(candidates: Candidates, text: str = "where does she live?", **asked: object) -> list[float]:
    query = replace(moment(), text=text, **asked)  # type: ignore[arg-type]  # fields of a query
    return [float(each) for each in NewestWins(fall=0.25, fall_now=1.0, behind=0.0)(candidates, query).score]


def test_the_newer_gets_the_score_of_the_older_which_falls_a_quarter_of_its_lead() -> None:
    # 0.8 - 0.25 * (0.8 - 0.4) = 0.7
    older, newer, other = after(contradicting(scored(0.8, 0.4, 0.6), (0, 1)))
    assert [older, newer, other] == pytest.approx([0.7, 0.8, 0.6])
    assert newer > 0.8


def test_a_question_for_now_exchanges_the_two_and_one_about_the_past_turns_them_round() -> None:
    for text in ("where does she live now?", "¿dónde vive ahora?"):
        assert after(contradicting(scored(0.8, 0.4), (0, 1)), text) == pytest.approx([0.4, 0.8])
    for text in ("where did she live before?", "¿dónde vivía antes?"):
        assert after(contradicting(scored(0.4, 0.8), (0, 1)), text) == pytest.approx([0.8, 0.7])


def test_of_three_the_newest_comes_first_and_for_the_past_the_one_before_it() -> None:
    pairs = (0, 1), (1, 2), (0, 2)
    oldest, middle, newest = after(contradicting(scored(0.9, 0.6, 0.3), *pairs))
    assert newest > middle > oldest
    oldest, previous, current = after(
        contradicting(scored(0.5, 0.5, 0.9), *pairs), "where did she live before?"
    )
    assert previous > oldest > current


def test_a_named_time_puts_first_what_held_then() -> None:
    first = NOW - 100 * DAY
    candidates = contradicting(scored(0.4, 0.8), (0, 1))
    before = (microseconds(first), microseconds(first + timedelta(hours=12)))
    later = (microseconds(first + 2 * DAY), microseconds(first + 3 * DAY))
    older, newer = after(candidates, span=before)
    assert older > newer
    older, newer = after(candidates, span=later)
    assert newer > older


def test_the_further_the_newer_is_behind_the_surer_the_model_must_be() -> None:
    step = NewestWins(sure=-2.0, behind=10.0)
    # Behind by 0.1: the odds must be at least exp(-2 + 10 * 0.1) = 1 / e, a chance of 0.269.
    # Behind by 0.4, exp(-2 + 10 * 0.4) is above 1, so even odds suffice: a chance of 0.5.
    # With `sure` = 2, the odds must be exp(2) at any distance: a chance of 0.881.
    surer = NewestWins(sure=2.0, behind=10.0)
    for each, behind, chance, moves in (
        (step, 0.1, 0.26, False), (step, 0.1, 0.28, True),
        (step, 0.4, 0.49, False), (step, 0.4, 0.51, True),
        (surer, 0.4, 0.87, False), (surer, 0.4, 0.89, True),
    ):  # fmt: skip
        query = replace(moment(), text="where?")
        older, newer = each(contradicting(scored(0.8, 0.8 - behind), (0, 1), chance=chance), query).score
        assert bool(newer > older) is moves
    # Behind by nothing: exp(-2), a chance of 0.119.
    for chance, moves in ((0.11, False), (0.13, True)):
        query = replace(moment(), text="where?")
        older, newer = step(contradicting(scored(0.5, 0.5), (0, 1), chance=chance), query).score
        assert bool(newer > older) is moves


def test_what_is_right_already_stays_and_equal_scores_are_told_apart() -> None:
    assert after(contradicting(scored(0.4, 0.8), (0, 1))) == [0.4, 0.8]
    older, newer = after(contradicting(scored(0.5, 0.5), (0, 1)))
    assert newer > older


@st.composite
def worlds(draw: st.DrawFn) -> Candidates:
    scores = draw(st.lists(st.floats(-5, 5), min_size=2, max_size=7))
    places = st.integers(0, len(scores) - 1)
    drawn = draw(st.lists(st.tuples(places, places), max_size=8))
    pairs = sorted({(min(pair), max(pair)) for pair in drawn if pair[0] != pair[1]})
    return contradicting(scored(*scores), *pairs)


@given(worlds(), st.sampled_from(["where?", "where now?"]))
def test_every_newer_one_stands_above_what_it_contradicts(world: Candidates, text: str) -> None:
    scores = after(world, text)
    pairs = world.contradictions
    assert all(
        scores[new] > scores[old] for old, new in zip(pairs.older.tolist(), pairs.newer.tolist(), strict=True)
    )


@given(worlds(), st.sampled_from(["where?", "where now?", "where before?"]))
def test_reasons_recombine_and_nobody_else_moves(world: Candidates, text: str) -> None:
    done = NewestWins()(world, replace(moment(), text=text))
    assert [recompute_score(each) for each in reasons(done)] == done.score.tolist()
    involved = {*world.contradictions.older.tolist(), *world.contradictions.newer.tolist()}
    assert all(done.score[row] == world.score[row] for row in range(len(world)) if row not in involved)


@given(st.lists(worlds(), min_size=1, max_size=3))
def test_many_queries_at_once_are_ranked_as_each_by_itself(many: list[Candidates]) -> None:
    texts = ["where?", "where now?", "where before?"]
    queries = [replace(moment(), text=text) for text in texts[: len(many)]]
    apart = [NewestWins()(*each).score.tolist() for each in zip(many, queries, strict=True)]
    events = [
        Event(number, 0, query.text, "recollect", "ours", (), (), (), each, query)
        for number, (each, query) in enumerate(zip(many, queries, strict=True))
    ]
    joined, asked = join_events(events)
    assert NewestWins()(joined, asked).score.tolist() == [score for scores in apart for score in scores]


def test_who_was_dropped_moves_nobody() -> None:
    candidates = contradicting(scored(0.8, 0.4, 0.2), (0, 1))
    left = candidates.without(np.array([True, False, False]), "test", lambda: ["gone"])
    assert after(left) == [0.4, 0.2]
