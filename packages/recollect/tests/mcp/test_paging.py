"""Rows within a budget, and going on after them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import InvalidInput
from recollect.operations.operation import PageRequest
from recollect.operations.paging import (
    LEAST_PROSE,
    fair_share,
    fit_page,
    frame_tokens,
    list_page,
    name_list,
    position,
    row_id,
    row_tokens,
    shorten_row,
)

ROWS = st.lists(
    st.fixed_dictionaries(
        {"name": st.text(max_size=40), "observations": st.lists(st.text(max_size=300), max_size=20)}
    ),
    max_size=12,
)


def test_a_share_is_fair() -> None:
    # 10 of 60 are used by the small one; the other two share 50.
    assert fair_share([10, 100, 100], 60) == 25
    assert fair_share([10, 20, 30], 60) == 60
    assert fair_share([], 60) == 60


def test_a_row_that_fits_stays_as_it_is() -> None:
    row = {"text": "calm sea", "tags": ["sea"]}
    assert shorten_row(row, row_tokens(row)) is row


def test_long_texts_are_cut_before_a_list_loses_an_entry() -> None:
    row = {"text": "calm " * 500, "tags": ["sea", "log", "calm"]}
    cut = shorten_row(row, 200)
    assert cut["tags"] == row["tags"]
    assert cut["text"].endswith("…")
    # One letter more would not fit.
    longer = {**row, "text": f"{row['text'][: len(cut['text'])]}…"}
    assert row_tokens(cut) <= 200 < row_tokens({**longer, "text": f"{row['text'][: len(cut['text']) + 4]}…"})


def test_of_a_long_list_as_many_entries_stay_as_fit() -> None:
    days = [f"day {n}" for n in range(1_000)]
    cut = shorten_row({"observations": days}, 100)
    shown = len(cut["observations"])
    assert cut["observations"] == days[:shown]
    assert row_tokens(cut) <= 100 < row_tokens({"observations": days[: shown + 1]})


def test_only_prose_is_cut() -> None:
    row = {
        "id": 7,
        "name": "harbour " * 30,
        "kind": "entity",
        "at": "2026-11-16T05:31:00+00:00",
        "tags": ["boats", "tides"],
        "explanation": [{"step": "blend: meaning", "effect": "plus"}, {"step": "fading", "effect": "times"}],
        "text": "calm sea " * 100,
    }
    cut = shorten_row(row, 10)
    assert cut == {**row, "text": "…"}
    assert frame_tokens(row) == row_tokens(cut)


def test_a_row_that_a_tiny_budget_could_not_hold_comes_with_some_prose() -> None:
    row = {"name": "harbour " * 30, "text": "calm sea " * 100}
    page = fit_page([row, row], 20)
    (shown,) = page.rows
    assert shown["name"] == row["name"]
    assert row_tokens(shown) - frame_tokens(row) <= LEAST_PROSE
    assert len(shown["text"]) > 60
    assert (page.shortened, page.left_out) == (1, 1)


def test_what_does_not_fit_with_some_prose_is_left_for_the_next_page() -> None:
    row = {"name": "harbour", "text": "calm sea " * 100}
    # Five rows at least, each with forty tokens of prose; what is left over goes to them as well.
    budget = 5 * (frame_tokens(row) + LEAST_PROSE) + 30
    page = fit_page([row] * 9, budget)
    assert (len(page.rows), page.left_out) == (5, 4)
    assert budget - 15 <= sum(map(row_tokens, page.rows)) <= budget


@given(ROWS, st.integers(100, 2_000))
def test_rows_never_take_more_than_the_budget(rows: list[dict[str, Any]], budget: int) -> None:
    page = fit_page(rows, budget)
    # The first comes in any case, with all that is not prose and a little of what is.
    first = frame_tokens(rows[0]) + LEAST_PROSE if rows else 0
    assert sum(map(row_tokens, page.rows)) <= max(budget, first)
    assert [row["name"] for row in page.rows] == [row["name"] for row in rows[: len(page.rows)]]
    assert len(page.rows) + page.left_out == len(rows)
    assert bool(page.rows) == bool(rows)
    if sum(map(row_tokens, rows)) <= budget:
        assert page.rows == rows
        assert page.note() is None


def test_one_large_row_does_not_push_out_the_small_ones() -> None:
    rows = [{"text": "calm sea " * 2_000}, *({"text": f"day {n}"} for n in range(5))]
    page = fit_page(rows, 400)
    assert page.rows[1:] == rows[1:]
    assert page.shortened == 1
    assert page.note() == (
        "1 was cut to fit 400 tokens; ask for fewer with `limit`, allow more with `budget_tokens`."
    )


def test_what_stands_around_the_rows_is_part_of_the_budget_that_the_note_names() -> None:
    page = fit_page([{"text": "calm sea " * 2_000}], 400, frame=100)
    assert row_tokens(page.rows[0]) <= 300
    assert "cut to fit 400 tokens" in str(page.note())


@pytest.mark.parametrize("limit", [1, 3, 100])
@pytest.mark.parametrize("budget", [50, 200, 10_000])
def test_pages_of_a_list_hold_each_row_once_in_order(limit: int, budget: int) -> None:
    rows = [{"n": n, "text": f"day {n}"} for n in range(10)]
    seen: list[object] = []
    asked = PageRequest(size=limit, budget=budget)
    while True:
        shown, more = list_page(asked, rows)
        seen += shown
        if more.cursor is None:
            break
        asked = replace(asked, cursor=more.cursor)
    assert seen == rows


def test_an_id_is_written_in_digits_and_what_no_row_could_have_is_none() -> None:
    assert [row_id(written) for written in ("0", "17", "9" * 18)] == [0, 17, 10**18 - 1]
    assert position(PageRequest()) == 0
    for written in ("", " 1", "-1", "+1", "1.0", "1_0", "²", "٣", "9" * 19, "9" * 5000):
        assert row_id(written) is None
        with pytest.raises(InvalidInput, match="pass on the `cursor` of the last answer, or none"):
            position(PageRequest(cursor=written))


def test_many_names_are_counted() -> None:
    assert name_list(["Ada", "Bo"]) == "Ada, Bo"
    assert name_list(range(12), 3) == "0, 1, 2 and 9 more"
