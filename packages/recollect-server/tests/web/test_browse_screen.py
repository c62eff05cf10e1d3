"""Browse in a browser: lists, filters, pages, and several memories at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import shows, visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def texts(page: Page) -> list[str]:
    page.wait_for_load_state()
    return page.locator("main :is(.item, .memories) .text").all_inner_texts()


def test_rows_are_selected_by_keyboard_forgotten_together_and_brought_back(
    visitor: Page, dashboard: Served
) -> None:
    visitor.goto("/browse?kind=note&tag=house")
    both = texts(visitor)
    assert len(both) == 2
    visitor.keyboard.press("j")
    visitor.keyboard.press("x")
    visitor.keyboard.press("j")
    visitor.keyboard.press("x")
    visitor.keyboard.press("f")
    shows(visitor, "Forgot 2 memories.")
    assert texts(visitor) == []
    visitor.keyboard.press("z")
    shows(visitor, "Restored 2 memories.")
    assert texts(visitor) == both
    visitor.get_by_role("button", name="Undo").click()  # and that is taken back as well
    shows(visitor, "Undone.")
    visitor.locator("#state").select_option("forgotten")
    visitor.get_by_role("button", name="Restore selected").wait_for()
    assert texts(visitor) == both
    visitor.get_by_label("All on this page").check()
    visitor.get_by_role("button", name="Restore selected").click()
    shows(visitor, "Restored 2 memories.")
    found = dashboard.memory.list(tags=["house"]).memories
    assert sorted(each.text for each in found) == sorted(both)


def test_a_superseded_one_is_listed_restored_and_superseded_again_by_undo(
    visitor: Page, dashboard: Served
) -> None:
    memory = dashboard.memory
    old = memory.remember("The buoy is painted orange.").id
    by = memory.supersede(old, "The buoy is painted yellow.").by.id
    visitor.goto("/browse?state=superseded")
    assert texts(visitor) == ["The buoy is painted orange."]
    visitor.locator(f"input[value='{old}']").check()
    visitor.keyboard.press("r")
    shows(visitor, f"Restored #{old}.")
    visitor.keyboard.press("z")
    shows(visitor, "Undone.")
    left = memory.get(old)
    assert left is not None
    assert left.superseded_by == by


def test_tags_sessions_and_entities_lead_to_what_they_hold(visitor: Page) -> None:
    visitor.goto("/browse")
    visitor.get_by_role("link", name="Tags").click()
    visitor.locator(".names").get_by_role("link", name="choir").click()
    visitor.locator("tr", has_text="Mondays").wait_for()
    assert [text.partition(" on ")[0] for text in texts(visitor)] == 2 * ["The harbour choir rehearses"]
    visitor.get_by_role("link", name="Sessions").click()
    visitor.locator("main .item").get_by_role("link", name="harbour", exact=True).click()
    visitor.locator("tr", has_text="coffee").wait_for()
    assert [text.split()[0] for text in texts(visitor)] == ["Shall", "The", "Then"]
    visitor.get_by_role("link", name="Entities").click()
    visitor.locator("tr", has_text="Marisol Vega").wait_for()
    names = [text.partition(":")[0] for text in texts(visitor)]
    assert names == sorted(names)
    assert {"Harbour choir", "Marisol Vega", "Old mill"} <= set(names)
    assert visitor.locator("tr", has_text="Marisol Vega").locator("td.number").first.inner_text() == "2"


def test_the_past_lists_what_was_known_then(visitor: Page) -> None:
    visitor.goto("/browse?kind=note&as_of=2026-05-25")
    assert not any("Wednesdays" in text for text in texts(visitor))
    assert any("Mondays" in text for text in texts(visitor))
    assert visitor.locator("input[name=id]").count() == 0


def test_pages_hold_fifty_and_work_without_scripts(chromium: Browser, dashboard: Served) -> None:
    dashboard.memory.remember_many([{"text": f"Buoy {n} was checked.", "tags": ["log"]} for n in range(60)])
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/browse?tag=log&order=oldest")
        first = texts(page)
        page.get_by_role("link", name="Next page").click()
        assert [len(first), len(texts(page))] == [50, 10]
        assert texts(page)[-1] == "Buoy 59 was checked."
        page.locator("input[name=id]").first.check()
        page.get_by_role("button", name="Forget selected").click()
        assert texts(page)[0] == "Buoy 51 was checked."
        page.get_by_role("button", name="Undo").click()
        assert texts(page)[0] == "Buoy 50 was checked."
