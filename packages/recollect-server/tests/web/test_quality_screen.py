"""Quality and Answers in a browser: the self-test, the confidence, the tuner's weights, and the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import violations, visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def test_the_self_test_tells_how_far_it_is_and_then_what_each_profile_finds(
    visitor: Page, dashboard: Served
) -> None:
    visitor.goto("/quality")
    with visitor.expect_response("**/quality/self-test") as answered:
        visitor.keyboard.press("t")
        visitor.wait_for_url("**found=**")
    assert answered.value.headers["content-type"].startswith("text/event-stream")
    done = dashboard.memory.self_test(sample=50)
    assert (
        f"{100 * done.profiles[0].overall.recall:.0f} % of questions" in visitor.locator("main").inner_text()
    )
    visitor.get_by_text("Compare profiles").click()
    rows = visitor.get_by_role("group", name="By profile").locator("tbody tr")
    assert rows.count() == len(dashboard.memory.profiles)
    for row, each in zip(rows.all_inner_texts(), done.profiles, strict=True):
        assert row.split()[:3] == [each.name, f"{100 * each.overall.recall:.0f}", "%"]
    missed = visitor.locator("main li.item")
    assert missed.count() == len(done.missed)
    assert violations(visitor) == []


def test_the_curve_of_the_confidence_has_a_dot_for_each_row(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, script=False, scheme="dark", narrow=True) as page:
        page.goto("/quality?tab=confidence")
        page.get_by_role("button", name="Measure now").click()
        page.locator(".reliability").wait_for()
        curve = dashboard.memory.tuning.confidence_curve(50)
        assert page.locator(".reliability circle").count() == len(curve.bins)
        last = page.get_by_role("group", name="The same in numbers").locator("tbody tr").last
        assert f"{100 * curve.bins[-1].found:.0f} %" in last.inner_text()


def test_weights_are_set_taken_back_and_rolled_back(visitor: Page, dashboard: Served) -> None:
    tuning = dashboard.memory.tuning
    visitor.goto("/quality?tab=tuning&profile=limbic")
    name = next(iter(tuning.numbers("limbic").published))
    visitor.get_by_text("Set a weight by hand").click()
    visitor.locator("#name").select_option(name)
    visitor.locator("#value").fill("0.25")
    visitor.get_by_label("All the way").check()
    visitor.locator("#value").press("Enter")
    visitor.get_by_text("The weight was changed").wait_for()
    assert tuning.numbers("limbic").tuned == {name: 0.25}
    assert visitor.get_by_role("group", name="Tuned").inner_text().split()[-1] == "0.25"
    assert violations(visitor) == []
    visitor.keyboard.press("z")
    visitor.get_by_text("The earlier weights are back").wait_for()
    assert tuning.numbers("limbic").tuned == {}
    visitor.get_by_role("button", name="Go back to").click()
    visitor.get_by_role("group", name="Tuned").wait_for()
    assert tuning.numbers("limbic").tuned == {name: 0.25}
    visitor.keyboard.press("t")
    visitor.wait_for_url("**found=**")
    assert visitor.get_by_text("logged answers; a search needs at least 50").is_visible()


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
        page.get_by_role("button", name="Filter").click()
        page.wait_for_url("**contains=spare*")
        assert page.locator("li.item").count() == 1
        page.get_by_role("link", name="where is the spare key?").click()
        page.get_by_role("button", name="Wrong").first.click()
        page.locator(".notice.good").wait_for()
        assert "was wrong" in page.locator(".notice.good").inner_text()
        page.goto("/answers?judged=yes")
        assert page.locator(".chip", has_text="wrong").inner_text() == "1 wrong"
