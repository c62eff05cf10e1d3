"""Answers in a browser: the log, the same question now, and one click for each hit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import violations, visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def test_an_answer_is_replayed_and_judged_by_keyboard_and_that_is_taken_back(
    visitor: Page, dashboard: Served
) -> None:
    memory = dashboard.memory
    event = memory.recall("when does the early ferry leave?").event
    memory.remember("Since June, the early ferry leaves at five.")
    visitor.goto("/answers")
    visitor.keyboard.press("j")
    visitor.keyboard.press("Enter")
    visitor.get_by_role("heading", name="when does the early ferry leave?").wait_for()
    (answer,) = [each for each in memory.answers.page() if each.handle == event]
    assert visitor.locator(".places tbody tr").count() == len({*answer.ranked, *answer.baseline})

    visitor.keyboard.press("r")
    visitor.wait_for_url("**?replay=1")
    new = visitor.locator(".places tr").filter(has_text="leaves at five")
    assert "new" in new.inner_text()
    assert "not shown" in new.inner_text()
    now = memory.answers.replay(answer.id)
    told = visitor.locator(".places td[data-label=now]").all_inner_texts()[::2]
    assert {text.split()[0] for text in told} == {str(each.now or "–") for each in now.places}
    assert violations(visitor) == []

    visitor.keyboard.press("j")
    visitor.keyboard.press("y")
    visitor.get_by_text(f"Noted: #{answer.shown[0]} was right.").wait_for()
    assert visitor.locator("button.judge[aria-pressed=true]").inner_text().startswith("Right")
    assert (answer.shown[0], "said", 1.0) in memory.answers.get(answer.id)[0].feedback
    visitor.keyboard.press("z")
    visitor.get_by_text("is no longer judged").wait_for()
    assert visitor.locator("button.judge[aria-pressed=true]").count() == 0


def test_the_log_is_read_and_judged_without_scripts(chromium: Browser, dashboard: Served) -> None:
    dashboard.memory.recall("where is the spare key?")
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/answers")
        page.locator("#contains").fill("spare key")
        page.get_by_role("button", name="Show").click()
        page.wait_for_url("**contains=spare*")
        assert page.locator("li.item").count() == 1
        page.get_by_role("link", name="where is the spare key?").click()
        page.get_by_role("button", name="Wrong").first.click()
        page.locator(".notice.good").wait_for()
        assert "was wrong" in page.locator(".notice.good").inner_text()
        page.goto("/answers?judged=yes")
        assert page.locator(".chip.bad").inner_text() == "1 wrong"
