"""Memory in a browser: what it says and said, and every change with its undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import shows, visiting

from recollect.admin import Internals

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def id_of(here: Served, words: str) -> int:
    return here.memory.search(words, limit=1, kinds=("note",)).hits[0].memory.id


def test_a_note_is_edited_by_keyboard_its_diff_shown_and_the_edit_undone(
    visitor: Page, dashboard: Served
) -> None:
    key = id_of(dashboard, "spare key")
    visitor.goto(f"/memory/{key}")
    visitor.keyboard.press("e")
    for _ in range(2):  # from the heading of the form to its text
        if visitor.evaluate("document.activeElement.id") != "text":
            visitor.keyboard.press("Tab")
    visitor.keyboard.press("Control+A")
    visitor.keyboard.type("The spare key hangs behind the mill door.")
    visitor.locator("#tags").fill("house, keys")
    visitor.locator("#expires_at").fill("2026-12-24T18:00")
    visitor.locator("#tags").press("Enter")
    shows(visitor, f"Saved #{key}: text, tags, expiry.")
    diff = visitor.locator(".history li").first
    assert diff.locator("del").all_inner_texts() == ["boathouse"]
    assert diff.locator("ins").all_inner_texts() == ["mill"]
    changed = dashboard.memory.get(key)
    assert changed is not None
    assert (changed.tags, str(changed.expires_at)[:16]) == (("house", "keys"), "2026-12-24 18:00")
    visitor.keyboard.press("z")
    visitor.locator(".says", has_text="boathouse").wait_for()
    back = dashboard.memory.get(key)
    assert back is not None
    assert (back.text, back.tags) == ("The spare key hangs behind the boathouse door.", ("house",))
    assert back.expires_at is None


def test_it_is_forgotten_restored_and_pinned_by_single_keys(visitor: Page, dashboard: Served) -> None:
    roof = id_of(dashboard, "roof leaks")
    visitor.goto(f"/memory/{roof}")
    visitor.keyboard.press("f")
    shows(visitor, "Searches do not find it.")
    assert dashboard.memory.search("roof leaks canoe", limit=1, kinds=("note",)).hits[0].memory.id != roof
    visitor.keyboard.press("r")
    shows(visitor, f"Restored #{roof}.")
    visitor.keyboard.press("p")
    shows(visitor, "It does not fade")
    assert visitor.locator(".chip", has_text="pinned").is_visible()
    visitor.get_by_role("button", name="Undo").click()
    shows(visitor, "no longer pinned")
    here = dashboard.memory.get(roof)
    assert here is not None
    assert here.deleted_at is None
    assert not here.pinned


def test_a_correction_takes_its_place_and_both_tell_of_it_until_it_is_undone(
    visitor: Page, dashboard: Served
) -> None:
    old = next(each.id for each in dashboard.memory.list(tags=["choir"]).memories if "Mondays" in each.text)
    visitor.goto(f"/memory/{old}")
    visitor.locator("summary", has_text="Correct it…").click()
    visitor.locator("#new-text").fill("The harbour choir rehearses on Fridays at eight.")
    visitor.get_by_role("button", name="Save correction").click()
    shows(visitor, f"now replaces #{old}")
    assert "rehearses on Mondays" in visitor.locator("section", has_text="Corrections").inner_text()
    visitor.keyboard.press("z")
    shows(visitor, f"#{old} is current again.")
    assert visitor.get_by_text("Replaced on").count() == 0
    assert [each.text for each in dashboard.memory.list(tags=["choir"]).memories] == [
        "The harbour choir rehearses on Wednesdays at seven.",
        "The harbour choir rehearses on Mondays at seven.",
    ]


def test_an_entity_shows_what_is_known_and_an_observation_is_corrected_and_put_back(
    visitor: Page, dashboard: Served
) -> None:
    marisol = Internals(dashboard.memory).entity_id("Marisol Vega")
    visitor.goto(f"/memory/{marisol}")
    assert "sings in" in visitor.locator("section", has_text="Relations").inner_text()
    row = visitor.locator(".observations li", has_text="walnuts")
    row.locator("summary").click()
    row.locator("input[name=content]").fill("Allergic to hazelnuts")
    row.get_by_role("button", name="Save").click()
    shows(visitor, "Corrected an observation")
    entity = dashboard.memory.get(marisol)
    assert entity is not None
    assert "Allergic to hazelnuts" in [each.content for each in entity.in_force]
    visitor.keyboard.press("z")
    shows(visitor, "The former observation is current again.")
    entity = dashboard.memory.get(marisol)
    assert entity is not None
    assert {each.content for each in entity.in_force} == {
        "Allergic to walnuts",
        "Sings alto in the harbour choir",
    }


def test_its_conversation_and_the_answers_that_showed_it_are_told(visitor: Page, dashboard: Served) -> None:
    answer = dashboard.memory.recall("early ferry", limit=3)
    turn = next(hit.memory for hit in answer.hits if "pier four" in hit.memory.text)
    place = [hit.memory.id for hit in answer.hits].index(turn.id) + 1
    visitor.goto(f"/memory/{turn.id}")
    around = visitor.locator(".talk li").all_inner_texts()
    assert [line.splitlines()[-1] for line in around] == [
        "Shall we take the early ferry to the regatta?",
        "The early ferry leaves at six, pier four.",
        "Then I bring the coffee.",
    ]
    shown = visitor.locator("section", has_text="Answers that showed it").locator("tbody tr").first
    assert shown.locator("td").nth(1).inner_text() == str(place)
    assert shown.locator("td").nth(2).inner_text() == "early ferry"


def test_in_the_past_it_says_what_it_said_and_nothing_can_be_changed(
    visitor: Page, dashboard: Served
) -> None:
    note = dashboard.memory.remember("The dinghy is green.").id
    then = dashboard.clock.now
    dashboard.clock.now = then.replace(hour=18)
    dashboard.memory.update(note, text="The dinghy is white.")
    dashboard.clock.now = then
    visitor.goto(f"/memory/{note}?as_of={then:%Y-%m-%dT%H}:30:00%2B00:00")
    assert visitor.locator(".says").inner_text() == "The dinghy is green."
    assert visitor.get_by_role("button", name="Forget").count() == 0
    assert visitor.locator(".history").count() == 0
    visitor.goto(f"/memory/{note}?as_of=2026-01-01")
    assert "It was not known then" in visitor.locator("main").inner_text()
    assert "dinghy" not in visitor.locator("main").inner_text()


def test_purging_asks_on_a_page_and_for_a_word(chromium: Browser, dashboard: Served) -> None:
    doomed = dashboard.memory.remember("The harbour safe opens with 4711.").id
    with visiting(chromium, dashboard, refusals=True) as page:
        page.goto(f"/memory/{doomed}")
        page.get_by_role("link", name="Purge…").click()
        page.locator("#word").fill("yes")
        page.locator("#word").press("Enter")
        page.get_by_text("Nothing was purged").wait_for()
        assert dashboard.memory.get(doomed) is not None
        page.locator("#word").fill("purge")
        page.get_by_role("button", name="Purge for good").click()
        page.get_by_text(f"Purged #{doomed} for good.").wait_for()
        assert dashboard.memory.get(doomed) is None
        assert page.locator("[data-undo]").count() == 0
