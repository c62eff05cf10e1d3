"""Review in a browser: decided by keyboard and by clicking, each with its undo."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from browser import NOW, PATIENCE_MS, Clock, fill, served, shows, visiting

import recollect
from recollect.admin import Internals

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]

TOPICS = (
    "The login of user {} takes a password and a code",
    "The database keeps the orders table of month {} with a backup",
    "The team in Lisbon meets for lunch on day {}",
)


@pytest.fixture
def undecided(tmp_path: Path) -> Iterator[Served]:
    """Two contradictions, near-copies, an overgrown entity and a stale one."""
    clock = Clock(NOW - timedelta(days=200))
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        memory.create_entities([{"name": "Signal tower", "observations": ["Closed since the storm"]}])
        fill(memory, clock)
        memory.create_entities([{"name": "Ines", "observations": ["lives in Porto"]}])
        memory.remember("The boathouse roof leaks above the blue canoes.")
        clock.now = NOW + timedelta(days=1)
        memory.graph.add_observations({"Ines": ["lives in Lisbon"]})
        clock.now = NOW + timedelta(days=2)
        with served(memory, clock) as here:
            yield here


def in_force(here: Served, text: str) -> bool:
    return any(text in note.text for note in here.memory.list(limit=100).memories)


def counts(page: Page) -> list[str]:
    """Of every kind, as the tabs say; those of other kinds come after the page."""
    from playwright.sync_api import expect

    expect(page.locator(".tabs .chip .unseen")).to_have_count(0, timeout=PATIENCE_MS)
    return page.locator(".tabs .chip").all_inner_texts()


def test_contradictions_are_decided_and_taken_back_by_keyboard(chromium: Browser, undecided: Served) -> None:
    mondays, wednesdays = "rehearses on Mondays", "rehearses on Wednesdays"
    with visiting(chromium, undecided) as page:
        page.goto("/dreams")
        page.keyboard.press("g")
        page.keyboard.press("s")
        page.wait_for_url("**/review")
        assert counts(page) == ["2", "2", "0", "0", "1"]
        # Both texts, with their dates, and the words that differ.
        assert page.locator(".side-text mark").all_inner_texts() == ["Porto", "Lisbon"]
        assert page.locator(".side-text time").all_inner_texts() == ["2026-06-10 12:00", "2026-06-11 12:00"]
        page.keyboard.press("l")
        page.get_by_text("2 of 2", exact=True).wait_for()
        assert page.locator(".side-text mark").all_inner_texts() == ["Mondays", "Wednesdays"]

        page.keyboard.press("n")
        shows(page, "Kept the newer one")
        assert (in_force(undecided, mondays), in_force(undecided, wednesdays)) == (False, True)
        page.keyboard.press("z")
        shows(page, "Undone")
        assert (in_force(undecided, mondays), in_force(undecided, wednesdays)) == (True, True)
        # The undone decision has the focus again.
        assert "Mondays" in page.locator(".side-text").first.inner_text()

        page.keyboard.press("o")
        shows(page, "Kept the older one")
        assert (in_force(undecided, mondays), in_force(undecided, wednesdays)) == (True, False)
        page.keyboard.press("b")
        shows(page, "Nothing to review here.")
        assert counts(page)[0] == "0"
        page.get_by_role("link", name="Kept as they are").click()
        page.get_by_role("button", name="Ask again").click()
        shows(page, "Undone")
        assert "Ines" in page.locator(".side-text").first.inner_text()


def test_keeping_the_newer_replaces_the_older_and_forgetting_it_does_not(
    chromium: Browser, undecided: Served
) -> None:
    with visiting(chromium, undecided) as page:
        for label, older_is in (("Keep the newer", "Replaced."), ("Forget the older", "Forgotten.")):
            # The old address.
            page.goto("/settle?kind=similar_notes")
            id_ = int(page.locator(".side-text a").first.inner_text().removeprefix("Open memory "))
            choice = page.locator(".choices li").filter(has_text=label)
            assert [each.split("\n")[-1].split()[0] for each in choice.locator("p").all_inner_texts()] == [
                older_is,
                "Stays.",
            ]
            choice.get_by_role("button").click()
            page.get_by_role("button", name="Undo").wait_for()
            older = undecided.memory.get(id_)
            assert older is not None
            assert (older.superseded_by is not None, older.deleted_at is not None) == (
                older_is == "Replaced.",
                older_is == "Forgotten.",
            )
            page.get_by_role("button", name="Undo").click()
            shows(page, "Undone")


def test_near_copies_and_stale_entities_are_decided_by_clicking(chromium: Browser, undecided: Served) -> None:
    with visiting(chromium, undecided) as page:
        page.goto("/review?kind=similar_notes")
        assert page.locator(".side-text mark").all_inner_texts() == ["canoe", "canoes"]
        page.get_by_role("button", name="Keep the older").click()
        shows(page, "Kept the older one")
        assert not in_force(undecided, "blue canoes.")

        page.get_by_role("link", name="Unused").click()
        shows(page, "Closed since the storm")
        page.get_by_role("button", name="Archive it").click()
        shows(page, "Archived: recall still finds it")
        (tower,) = undecided.memory.graph.open_nodes(["Signal tower"], record=False).entities
        assert tower.status == "archived"
        page.get_by_role("button", name="Undo").click()
        shows(page, "Undone")
        (tower,) = undecided.memory.graph.open_nodes(["Signal tower"], record=False).entities
        assert tower.status == "active"


def test_an_overgrown_entity_is_split_as_shown_without_scripts(chromium: Browser, undecided: Served) -> None:
    facts = [topic.format(number) for number in range(9) for topic in TOPICS]
    undecided.memory.create_entities([{"name": "Apollo", "entityType": "project", "observations": facts}])
    with visiting(chromium, undecided, script=False) as page:
        page.goto("/review?kind=split")
        parts = page.locator(".side-text h3").all_inner_texts()
        assert len(parts) > 1
        page.get_by_role("button", name="Split it").click()
        assert "Split into one entity for each topic." in page.locator("main").inner_text()
        assert Internals(undecided.memory).existing_names(parts) == set(parts)
        page.get_by_role("button", name="Undo").click()
        assert Internals(undecided.memory).existing_names(parts) == set()
        page.locator(".side-text h3").first.wait_for()
        assert page.locator(".side-text h3").all_inner_texts() == parts
