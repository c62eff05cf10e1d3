"""Why not in a browser: any memory, its place, every point that it lacks, and what would lift it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import shows

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Page

pytest_plugins = ["web_fixtures"]


def number(text: str) -> float:
    return float(text.replace("−", "-").replace("+", ""))


def test_a_memory_is_picked_by_words_and_its_missing_points_add_up(visitor: Page, dashboard: Served) -> None:
    visitor.goto("/why-not")
    visitor.keyboard.type("early ferry")
    visitor.keyboard.press("Tab")
    visitor.keyboard.type("blue canoe")
    visitor.keyboard.press("Enter")
    visitor.get_by_role("heading", name="Which one?").wait_for()
    visitor.wait_for_load_state()
    visitor.keyboard.press("j")
    visitor.keyboard.press("Enter")
    visitor.locator("#verdict").wait_for()
    visitor.wait_for_load_state()
    roof = dashboard.memory.search("blue canoe", limit=1, kinds=("note",)).hits[0].memory.id
    told = dashboard.memory.why_not("early ferry", roof)
    assert told.standing is not None
    tiles = visitor.locator(".verdict .tile b").all_inner_texts()
    assert tiles[0] == str(told.standing.place)
    points = [number(text) for text in visitor.locator(".gaps tbody tr td:last-child").all_inner_texts()]
    assert sum(points[:-1]) == pytest.approx(points[-1], abs=0.0002 * len(points))
    assert points[-1] == pytest.approx(number(tiles[2]) - number(tiles[3]), abs=0.0002)
    assert points[-1] < 0
    assert number(tiles[4]) == points[-1]
    for line in told.advice:
        assert line in visitor.locator(".verdict").inner_text()


def test_an_entity_is_named_and_one_that_came_is_compared_with_the_first(
    visitor: Page, dashboard: Served
) -> None:
    visitor.goto("/recall?q=who+is+allergic+to+walnuts")
    visitor.goto("/why-not?q=who+is+allergic+to+walnuts&memory=Marisol+Vega")
    place = visitor.locator(".verdict .tile b").first.inner_text()
    told = dashboard.memory.why_not("who is allergic to walnuts", "Marisol Vega").standing
    assert told is not None
    assert place == str(told.place)
    assert "It was returned" in visitor.locator("#verdict").inner_text()


def test_one_that_is_forgotten_is_restored_from_here(visitor: Page, dashboard: Served) -> None:
    gone = dashboard.memory.remember("The lantern hangs in the shed.").id
    dashboard.memory.forget([gone])
    visitor.goto(f"/why-not?q=where+is+the+lantern&id={gone}")
    assert "It was forgotten" in visitor.locator("#verdict").inner_text()
    visitor.keyboard.press("r")
    shows(visitor, f"Restored #{gone}.")
    assert "It was returned, at place 1" in visitor.locator("#verdict").inner_text()
