"""Recall and Why not in a browser: hits, how sure they are, and every point that a memory lacks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from browser import NARROW, shows, visiting

import recollect

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
    first.locator("details.more > summary").click()
    rows = first.locator(".waterfall tbody tr").all_inner_texts()
    score = first.locator(".sure .number").inner_text().removeprefix("score ")
    assert rows[-1].split()[-1] == score
    assert rows[-2].split()[-1] == score


def test_the_closest_that_were_not_shown_follow_the_hits(visitor: Page) -> None:
    visitor.goto("/recall?q=early+ferry&limit=1")
    lists = visitor.locator("main ol.list")
    assert lists.count() == 2
    assert lists.nth(0).locator(".hit").count() == 1
    assert lists.nth(1).locator(".place").first.text_content() == "2"
    assert not lists.nth(1).is_visible()


def test_an_agent_s_context_is_shown_with_its_tokens(visitor: Page, dashboard: Served) -> None:
    visitor.goto("/recall?q=early+ferry")
    visitor.get_by_text("gives an agent").click()
    told = dashboard.memory.context(query="early ferry")
    assert visitor.locator("#context-text").inner_text().split() == told.text.split()
    assert visitor.get_by_text(f"{told.tokens} tokens").is_visible()


def test_the_hits_are_those_that_an_agent_gets_and_take_one_search(
    dashboard: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    recall = recollect.Engine.recall

    def count_and_recall(memory: recollect.Engine, query: str, **options: Any) -> recollect.Answer:
        asked.append(query)
        return recall(memory, query, **options)

    monkeypatch.setattr(recollect.Engine, "recall", count_and_recall)
    for query in ("early ferry", "where is the spare key?", "choir"):
        page = httpx2.get(f"{dashboard.url}/recall", params={"q": query}).text
        hits = page.partition(", left out of an answer without")[0]
        told = dashboard.memory.search(query).hits
        assert re.findall(r'class="place"[^>]*>(\d+)<', hits) == [str(n + 1) for n in range(len(told))]
        assert re.findall(r'<p class="text"><a href="/memory/(\d+)', hits) == [
            str(hit.memory.id) for hit in told
        ]
    assert asked == ["early ferry"] * 2 + ["where is the spare key?"] * 2 + ["choir"] * 2
    day = httpx2.get(f"{dashboard.url}/recall", params={"q": "who sang on 8 June 2026?"}).text
    assert ": 8 June 2026</span>" in day


def test_the_past_is_asked_in_every_screen_until_one_goes_back(visitor: Page) -> None:
    visitor.goto("/recall?q=choir+rehearses&as_of=2026-05-25")
    assert "Wednesdays" not in visitor.locator("main").inner_text()
    assert "as_of=2026-05-25" in (visitor.locator(".side a").nth(2).get_attribute("href") or "")
    visitor.get_by_role("link", name="Back to now").click()
    visitor.wait_for_url(lambda url: "as_of" not in url)


def test_it_reads_without_scripts(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/recall")
        page.locator("#find").fill("early ferry")
        page.locator("#find").press("Enter")
        assert "pier four" in page.locator(".hit").first.inner_text()


def test_it_is_counted_after_the_page_is_there(visitor: Page) -> None:
    visitor.goto("/recall")
    counts = visitor.locator(".counts")
    counts.locator("b").first.wait_for()
    told = " ".join(counts.inner_text().split())
    # Two of the notes are of the choir, two of the boathouse; Marisol has two observations.
    assert told == "4 notes 4 entities 3 messages 5 observations 3 relations 0 forgotten"


def test_a_wrong_first_hit_is_judged_corrected_and_forgotten_by_keyboard_each_with_an_undo(
    chromium: Browser, own_dashboard: Served
) -> None:
    memory = own_dashboard.memory
    with visiting(chromium, own_dashboard) as page:
        page.goto("/recall?q=where+is+the+spare+key")
        first = page.locator(".hit").first
        id_ = int((first.locator(".text a").get_attribute("href") or "").partition("?")[0].rpartition("/")[2])

        page.keyboard.press("n")
        shows(page, f"Recorded: #{id_} did not help")
        (answer,) = memory.answers.page(contains="spare key")
        assert [(each[0], each[2]) for each in answer.feedback if each[1] == "said"] == [(id_, -1.0)]
        assert "q=where" in page.url
        page.keyboard.press("z")
        shows(page, f"Recorded: #{id_} is no longer judged")
        (answer,) = memory.answers.page(contains="spare key")
        assert [each[2] for each in answer.feedback if each[1] == "said"] == [0.0]

        page.keyboard.press("f")
        shows(page, f"Forgot #{id_}")
        assert page.locator(f".hit a[href='/memory/{id_}']").count() == 0
        page.keyboard.press("z")
        shows(page, f"Restored #{id_}")

        first.get_by_text("Correct it").dblclick()  # the second click presses no other button
        shows(page, f"Restored #{id_}")
        first.locator("details.correct").first.evaluate("each => { each.open = false }")
        first.get_by_text("Correct it").click()
        first.locator("textarea:focus").wait_for()
        page.keyboard.press("ControlOrMeta+a")
        page.keyboard.type("The spare key hangs in the pantry, far from any fire")
        page.get_by_role("button", name="Save correction").first.click()
        shows(page, f"now replaces #{id_}")
        assert "pantry" in page.locator(".hit").first.inner_text()
        page.keyboard.press("z")
        shows(page, f"#{id_} is current again")
        assert "boathouse door" in page.locator(".hit").first.inner_text()

        page.goto("/recall?q=where+is+the+spare+key&as_of=2026-05-25")
        assert page.get_by_role("button", name="Did not help").count() == 0


def test_a_hit_replaces_another_and_that_is_undone(chromium: Browser, own_dashboard: Served) -> None:
    memory = own_dashboard.memory
    older, newer = sorted(each.id for each in memory.list(tags=["choir"]).memories)
    with visiting(chromium, own_dashboard, script=False) as page:
        page.goto("/recall?q=when+does+the+harbour+choir+rehearse&limit=5")
        hit = page.locator(".hit", has=page.locator(f"a[href='/memory/{newer}']")).first
        hit.get_by_text("Replaces another").click()
        hit.get_by_role("button", name=f"#{older} ").click()
        shows(page, f"#{newer} now replaces #{older}.")
        assert [each.id for each in memory.list(tags=["choir"]).memories] == [newer]
        page.get_by_role("button", name="Undo").click()
        shows(page, f"#{older} is current again.")
        assert len(memory.list(tags=["choir"]).memories) == 2


def test_on_a_phone_the_open_tab_is_in_sight_and_no_key_is_named(
    chromium: Browser, dashboard: Served
) -> None:
    context = chromium.new_context(base_url=dashboard.url, viewport=NARROW, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto("/health")
    tab = page.locator(".side [aria-current]").bounding_box()
    assert tab is not None
    assert 0 <= tab["x"] <= NARROW["width"] - tab["width"]
    page.goto("/browse")
    assert page.get_by_role("button", name="Forget selected").locator("kbd").is_hidden()
    context.close()


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
