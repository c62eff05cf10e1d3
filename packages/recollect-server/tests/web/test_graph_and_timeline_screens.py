"""Graph and Timeline in a browser: around an entity, and back in time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from browser import NOW, visiting

from recollect_server.web.drawings import count_scale, time_ticks

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def test_a_drawing_grows_where_one_clicks_and_by_keyboard(visitor: Page) -> None:
    visitor.goto("/graph?name=Marisol+Vega")
    drawing = visitor.locator("#drawing")
    drawing.get_by_role("link", name="Harbour choir, group").wait_for()
    assert drawing.get_by_role("link", name="Old mill, place").count() == 0
    drawing.get_by_role("link", name="Harbour choir, group").focus()
    visitor.keyboard.press("Enter")
    drawing.get_by_role("link", name="Old mill, place").wait_for()
    assert drawing.locator("line").count() == 2
    visitor.get_by_role("link", name="Put it in the middle").click()
    visitor.get_by_role("heading", name="Harbour choir", level=1).wait_for()


@pytest.mark.parametrize("narrow", [False, True], ids=["desktop", "phone"])
def test_the_graph_opens_on_the_best_connected_entity_and_no_two_labels_overlap(
    chromium: Browser, own_dashboard: Served, narrow: bool
) -> None:
    graph = own_dashboard.memory.graph
    names = [f"Member with a rather long name {number}" for number in range(24)]
    own_dashboard.memory.create_entities([{"name": name, "entityType": "person"} for name in names])
    relations = [{"from": name, "to": "Long quay", "relationType": "has a boat at"} for name in names]
    relations += [{"from": one, "to": names[0], "relationType": "taught"} for one in names[1:9]]
    graph.create_relations(relations)
    with visiting(chromium, own_dashboard, narrow=narrow) as page:
        page.goto("/graph")
        assert page.get_by_role("heading", level=1).inner_text() == "Long quay"
        page.locator("#drawing [data-node]").nth(24).wait_for()
        labels = page.locator("#drawing text").evaluate_all(
            "all => all.map(each => { const {left, right, top, bottom} = each.getBoundingClientRect();"
            " return [each.textContent, left, right, top, bottom]; })"
        )
        assert len(labels) > len(names) + 1
        overlapping = [
            (one[0], other[0])
            for one, other in combinations(labels, 2)
            if min(one[2], other[2]) > max(one[1], other[1]) and min(one[4], other[4]) > max(one[3], other[3])
        ]
        assert overlapping == []


def test_a_slider_shows_the_graph_as_it_stood(visitor: Page) -> None:
    visitor.goto("/graph?name=Old+mill")
    relations = visitor.locator("#relations")
    assert "moved to Long quay since 2026-06-08" in " ".join(relations.inner_text().split())
    visitor.locator("#day").focus()
    visitor.keyboard.press("Home")
    visitor.get_by_text("This is the memory as it was").wait_for()
    assert "Long quay" not in relations.inner_text()
    assert "Harbour choir" in relations.inner_text()


def test_a_bar_lists_the_memories_stored_in_it(visitor: Page) -> None:
    visitor.goto("/timeline?unit=day")
    # Twenty days before the tenth of June: three messages and two notes.
    visitor.get_by_role("group", name="Stored, by day").get_by_role("link", name="2026-05-21: 5").press(
        "Enter"
    )
    listed = visitor.locator("main .item")
    listed.first.wait_for()
    assert listed.count() == 5
    assert "early ferry" in listed.first.inner_text()


def test_a_large_import_or_an_old_memory_flattens_no_bar(chromium: Browser, own_dashboard: Served) -> None:
    own_dashboard.memory.remember_many([f"Boat {number} is moored." for number in range(400)])
    with visiting(chromium, own_dashboard) as page:
        page.goto("/timeline?unit=day")
        assert page.locator(".frame").nth(1).locator(".y-axis text").all_text_contents() == ["1", "10", "100"]
        heights = {
            int((bar.get_attribute("aria-label") or "").rpartition(": ")[2]): bar.locator(
                "rect"
            ).last.evaluate("each => each.getBoundingClientRect().height")
            for bar in page.locator("g.stored a").all()
        }
        # log(1 + 5) / log(1 + 400) = 0.30: five memories are no dot beside four hundred.
        assert heights[5] / heights[400] == pytest.approx(0.30, abs=0.02)
        when = [NOW.replace(year=1911), *(NOW - timedelta(days=number) for number in range(40))]
        own_dashboard.memory.remember_many([{"text": f"Of {at}", "happened_at": at} for at in when])
        page.goto("/timeline")
        page.get_by_role("link", name="1 earlier").click()
        assert "Of 1911" in page.locator("main .item").inner_text()


def test_ticks_stand_at_whole_counts_and_whole_units_of_time() -> None:
    assert [tick.label for tick in count_scale([1, 3, 17]).ticks] == ["0", "5", "10", "15", "20"]
    begin = datetime(2025, 11, 20, tzinfo=UTC)
    for days, labels in (
        (0.5, ["00:00", "03:00", "06:00", "09:00"]),
        (5, ["20 Nov", "21 Nov", "22 Nov", "23 Nov", "24 Nov"]),
        (100, ["Dec 2025", "Jan 2026", "Feb 2026"]),
        (500, ["Jan 2026", "Apr 2026", "Jul 2026", "Oct 2026", "Jan 2027", "Apr 2027"]),
    ):
        found = time_ticks(begin, begin + timedelta(days=days), UTC)
        assert [tick.label for tick in found] == labels
        assert all(0 <= tick.at < 100 for tick in found)


def test_a_moment_is_taken_along_from_the_timeline(visitor: Page) -> None:
    visitor.goto("/timeline")
    visitor.locator("#day").focus()
    visitor.keyboard.press("Home")
    visitor.get_by_text("This is the memory as it was").wait_for()
    visitor.keyboard.press("/")
    visitor.keyboard.type("when does the choir rehearse?")
    visitor.keyboard.press("Enter")
    visitor.locator(".hit").first.wait_for()
    assert "Wednesdays" not in visitor.locator("main").inner_text()
    assert "Mondays" in visitor.locator("main").inner_text()


def test_relations_are_listed_without_scripts(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/graph?name=harbour+choir")
        assert "Marisol Vega sings in Harbour choir" in " ".join(
            page.locator("#relations").inner_text().split()
        )


def test_several_presses_on_the_slider_are_one_request(visitor: Page) -> None:
    visitor.goto("/timeline")
    asked: list[str] = []
    visitor.on("request", lambda request: asked.append(request.url) if "day=" in request.url else None)
    last = int(visitor.locator("#day").input_value())
    visitor.locator("#day").evaluate(
        """slider => [1, 2, 3].forEach(() => {
            slider.stepDown();
            slider.dispatchEvent(new Event("change", {bubbles: true}));
        })"""
    )
    visitor.get_by_text("This is the memory as it was").wait_for()
    assert int(visitor.locator("#day").input_value()) == last - 3
    assert len(asked) == 1


def test_memories_stored_later_are_left_out_of_a_past_timeline(visitor: Page) -> None:
    visitor.goto("/timeline?unit=day&as_of=2026-05-22T00:00:00%2B00:00")
    happened, stored = (
        [
            int((bar.get_attribute("aria-label") or "").rpartition(": ")[2])
            for bar in visitor.locator(f"g.{name} a").all()
        ]
        for name in ("happened", "stored")
    )
    assert sum(happened) == sum(stored) > 0
