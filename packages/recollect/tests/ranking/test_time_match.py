"""How well a memory's times match the asked one: by hand, then laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.ranking.candidates import ALWAYS, DAY, NEVER
from recollect.search.facts import INSIDE, UNKNOWN, AskedTime, Span, StatementTimes, span_match, time_match

WEEK = (100 * DAY, 107 * DAY)
YEAR = 365 * DAY


def days(start: float, stop: float) -> Span:
    return int(start * DAY), int(stop * DAY)


def match(*statements: StatementTimes, **asked: object) -> float:
    return time_match(AskedTime(WEEK, **asked), statements)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (days(100, 107), 1.0),
        (days(103, 104), 1.0),
        (days(103, 103), 1.0),
        (days(100, 100), 1.0),
        # Half of it lies inside: 0.5 + 0.5 * 0.5.
        (days(93, 107), 0.75),
        # The asked week is a tenth of it.
        (days(80, 150), 0.55),
        # Outside, 0.4 exp(-distance / a week); a moment at the end is outside, at no distance.
        (days(107, 107), 0.4),
        (days(107, 110), 0.4),
        (days(86, 93), 0.4 * math.exp(-1)),
        (days(121, 121), 0.4 * math.exp(-2)),
        # Open spans have no share.
        ((NEVER, 103 * DAY), 0.5),
        ((90 * DAY, ALWAYS), 0.5),
        ((NEVER, 93 * DAY), 0.4 * math.exp(-1)),
    ],
)
def test_a_span_matches_by_the_share_of_it_that_lies_inside(named: Span, expected: float) -> None:
    assert span_match(WEEK, named) == pytest.approx(expected)


def test_an_open_end_falls_off_over_thirty_days_and_a_short_span_over_a_day() -> None:
    before = (NEVER, 100 * DAY)
    assert span_match(before, days(1, 2)) == 1
    assert span_match(before, (NEVER, 50 * DAY)) == 1
    assert span_match(before, days(130, 140)) == pytest.approx(0.4 * math.exp(-1))
    hour = (100 * DAY, 100 * DAY + DAY // 24)
    assert span_match(hour, (hour[1] + DAY, hour[1] + DAY)) == pytest.approx(0.4 * math.exp(-1))


def test_a_text_counts_by_the_time_that_it_speaks_of_else_by_when_it_was_told() -> None:
    assert match(StatementTimes(said_at=103 * DAY)) == 1
    assert match(StatementTimes(said_at=114 * DAY)) == pytest.approx(0.4 * math.exp(-1))
    assert match(StatementTimes(said_at=NEVER)) == UNKNOWN
    assert match() == UNKNOWN
    assert match(StatementTimes(said_at=400 * DAY, named=(days(103, 104),))) == 1
    assert match(StatementTimes(said_at=400 * DAY, happened=103 * DAY)) == 1
    assert match(StatementTimes(said_at=NEVER, named=(days(103, 104),))) == 1
    # The best of an entity's observations speaks for it.
    assert match(StatementTimes(said_at=900 * DAY), StatementTimes(said_at=103 * DAY)) == 1


def test_what_only_speaks_of_a_far_time_hardly_belongs_to_when_it_was_told() -> None:
    far = StatementTimes(said_at=103 * DAY, named=((103 * DAY - 10 * YEAR, 103 * DAY - 10 * YEAR),))
    # Stored inside the span, ten years from the time that it names.
    assert match(far) == pytest.approx(math.exp(-3650 / 180))
    # The question asks what was said, so the named time does not matter.
    assert match(far, said=True) == 1
    # Of two times, the nearer one says how far away it is.
    near = StatementTimes(said_at=103 * DAY, named=(*far.named, days(140, 141)))
    assert match(near) == pytest.approx(math.exp(-37 / 180))


def test_the_next_of_what_comes_round_again_counts_nine_tenths() -> None:
    plan = StatementTimes(said_at=60 * DAY, named=(days(465, 466),))
    assert match(plan, next=days(465, 472)) == 0.9
    assert match(plan) < 0.1
    # A text that says `Friday`, stored three days before that day.
    friday = StatementTimes(said_at=98 * DAY, named=(days(94, 95),), next=(days(101, 102),))
    assert match(friday) == 0.9
    # With its date, it is that day and no other.
    assert match(StatementTimes(said_at=98 * DAY, named=(days(101, 102),))) == 1


moments = st.integers(0, 10_000).map(lambda hours: hours * DAY // 24)
spans = st.tuples(moments, moments).map(lambda pair: (min(pair), max(pair) + 1))


@given(spans, spans, st.integers(0, 50 * DAY), st.integers(0, 50 * DAY))
def test_a_wider_span_never_matches_worse(asked: Span, named: Span, before: int, after: int) -> None:
    wider = (asked[0] - before, asked[1] + after)
    assert span_match(wider, named) >= span_match(asked, named) - 1e-12


@given(spans, spans)
def test_inside_is_never_below_outside(asked: Span, named: Span) -> None:
    found = span_match(asked, named)
    overlaps = max(asked[0], named[0]) < min(asked[1], named[1])
    assert 0 <= found <= 1
    assert (found >= INSIDE) is overlaps


@given(spans, moments, st.lists(spans, max_size=3), spans)
def test_to_name_the_asked_time_never_lowers_a_match(
    asked: Span, told: int, named: list[Span], more: Span
) -> None:
    query = AskedTime(asked)
    inside = (max(asked[0], min(more[0], asked[1] - 1)),) * 2
    without = time_match(query, [StatementTimes(told, named=tuple(named))])
    assert time_match(query, [StatementTimes(told, named=(*named, inside))]) >= without
