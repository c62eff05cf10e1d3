"""Recall in a browser: what comes, how sure, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def test_a_question_is_asked_by_keyboard_and_its_waterfall_ends_at_the_score(visitor: Page) -> None:
    visitor.goto("/")
    visitor.keyboard.press("/")
    visitor.keyboard.type("where is the spare key?")
    visitor.keyboard.press("Enter")
    first = visitor.locator(".hit").first
    first.wait_for()
    assert "behind the boathouse door" in first.inner_text()
    visitor.keyboard.press("Tab")
    first.locator("summary").click()
    rows = first.locator(".waterfall tbody tr").all_inner_texts()
    score = first.locator(".sure .number").inner_text().removeprefix("score ")
    assert rows[-1].split()[-1] == score
    assert rows[-2].split()[-1] == score


def test_the_closest_that_were_not_shown_follow_the_hits(visitor: Page) -> None:
    visitor.goto("/recall?q=early+ferry&limit=1")
    lists = visitor.locator("main ol.list")
    assert lists.count() == 2
    assert lists.nth(0).locator(".hit").count() == 1
    assert lists.nth(1).locator(".place").first.inner_text() == "2"


def test_an_agent_s_context_is_shown_with_its_tokens(visitor: Page, dashboard: Served) -> None:
    visitor.goto("/recall?q=early+ferry")
    told = dashboard.memory.context(query="early ferry")
    assert visitor.locator("#context-text").inner_text().split() == told.text.split()
    assert visitor.get_by_text(f"{told.tokens} tokens").is_visible()


def test_the_past_is_asked_in_every_screen_until_one_goes_back(visitor: Page) -> None:
    visitor.goto("/recall?q=choir+rehearses&as_of=2026-05-25")
    assert "Wednesdays" not in visitor.locator("main").inner_text()
    assert "as_of=2026-05-25" in (visitor.locator(".side a").nth(2).get_attribute("href") or "")
    visitor.get_by_role("link", name="Back to now").click()
    visitor.wait_for_url(lambda url: "as_of" not in url)


def test_it_reads_without_scripts(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/recall")
        page.locator("#q").fill("early ferry")
        page.locator("#q").press("Enter")
        assert "pier four" in page.locator(".hit").first.inner_text()


def test_it_is_counted_after_the_page_is_there(visitor: Page) -> None:
    visitor.goto("/recall")
    tiles = visitor.locator(".tile")
    tiles.first.wait_for()
    told = " ".join(" ".join(tiles.all_inner_texts()).split())
    # Two of the notes are of the choir, two of the boathouse; Marisol has two observations.
    assert told == "4 notes 4 entities 3 messages 5 observations 3 relations 0 forgotten"
