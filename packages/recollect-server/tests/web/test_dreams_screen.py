"""Dreams in a browser: dry run, run, inspection and undo; and the list of fading memories."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from browser import NOW, Clock, served, violations, visiting

from recollect.bootstrap import engine
from recollect.dreams.knobs import Knobs
from recollect.settings import load

if TYPE_CHECKING:
    from pathlib import Path

    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


@pytest.fixture
def sleeper(own_dashboard: Served) -> Served:
    """A memory with repeats to merge, and questions that were asked."""
    memory, clock = own_dashboard.memory, own_dashboard.clock
    memory.remember("The blue canoe needs a new seat before the regatta.")
    clock.now = NOW + timedelta(hours=1)
    memory.remember("The blue canoe needs new seat before the regatta.")
    memory.recall("where is the spare key?")
    clock.now = NOW + timedelta(days=3)
    return own_dashboard


def main_text(page: Page) -> str:
    return page.locator("main").inner_text()


def test_a_dry_run_changes_nothing_then_a_dream_does_and_is_undone_by_keyboard(
    chromium: Browser, sleeper: Served
) -> None:
    memory = sleeper.memory
    with visiting(chromium, sleeper) as page:
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto("/dreams")
        assert "No dreams yet" in main_text(page)
        assert "Automatic dreams are off" in main_text(page)
        page.evaluate(
            "const status = document.querySelector('[data-progress-words]'); window.stages = [];"
            "new MutationObserver(all => all.forEach(each => each.addedNodes.forEach("
            "node => window.stages.push(node.textContent)))).observe(status, {childList: true})"
        )
        page.keyboard.press("r")
        page.get_by_role("heading", name="What a dream would change").wait_for()
        assert "would be merged" in main_text(page)
        assert "The blue canoe needs new seat before the regatta." in main_text(page)
        assert "Every question still finds what it found before." in main_text(page)
        assert memory.dreams.history() == ()
        assert violations(page) == []
        assert "Testing the changes with past questions…" in page.evaluate("window.stages")

        page.keyboard.press("d")
        page.wait_for_url("**/dreams/1")
        assert [each.id for each in memory.dreams.history()] == [1]
        # The reader sees which memory is gone, and the one that stays.
        assert [each.split("\n")[0] for each in page.locator(".side-text").all_inner_texts()] == [
            "Gone",
            "Stays",
        ]
        assert "The blue canoe needs new seat" in page.locator(".side-text").first.inner_text()
        page.get_by_text("Every change, one by one").click()
        page.get_by_role("link", name="Merged", exact=True).click()
        page.get_by_text("1 change", exact=True).wait_for()
        assert "replaced" in page.locator("main tbody").last.inner_text()
        assert violations(page) == []

        page.keyboard.press("u")
        page.get_by_text("Undid dream 1").wait_for()
        assert memory.dreams.history()[0].undone_at is not None
        assert page.get_by_text("undone 2026-06-13").is_visible()


def test_without_scripts_a_dream_waits_and_leaves_out_what_is_ticked(
    chromium: Browser, sleeper: Served
) -> None:
    with visiting(chromium, sleeper, script=False) as page:
        page.goto("/dreams")
        page.get_by_text("Leave out phases").click()
        page.get_by_label("merge").check()
        page.get_by_role("button", name="Dry run").click()
        assert "would be merged" not in main_text(page)
        page.get_by_role("button", name="Run this dream").click()
        assert page.url.endswith("/dreams/1")
        assert "Dream 1 is done." in main_text(page)
        page.get_by_text("Phases that ran").click()
        phases = page.get_by_label("Phases").locator("dt").all_inner_texts()
        assert "prune" in phases
        assert "merge" not in phases
        page.get_by_role("button", name="Undo", exact=True).click()
        assert "Undid dream 1" in main_text(page)


def test_a_closed_gate_names_the_questions_that_would_be_lost_and_offers_to_go_without_the_phase(
    chromium: Browser, tmp_path: Path
) -> None:
    clock = Clock()
    settings, _ = load({"store": tmp_path / "memory.db", "model": "hashing"})
    # Prune every memory that was unused for long, even if no other memory repeats it.
    keen = Knobs(prune_echo=0, prune_signal=1, prune_strength=1.1)
    with engine(replace(settings, dream_knobs=keen), clock) as memory:
        memory.remember_many([f"The kettle number {number} is red" for number in range(6)])
        memory.recall("kettle")
        clock.now = NOW + timedelta(days=400)
        with served(memory, clock) as here, visiting(chromium, here) as page:
            page.goto("/dreams")
            page.get_by_role("button", name="Dream").click()
            page.get_by_role("heading", name="Nothing was written").wait_for()
            assert page.get_by_text("failed in the phase prune").is_visible()
            lost = page.get_by_role("group", name="Questions that find less")
            assert "kettle" in lost.locator("tbody tr").first.inner_text()
            assert violations(page) == []
            assert memory.dreams.history() == ()
            page.keyboard.press("w")
            page.wait_for_url("**/dreams/1")
            assert memory.dreams.history()[0].report["pruned"] == []


def test_automatic_dreams_are_announced_only_where_they_are_on(chromium: Browser, tmp_path: Path) -> None:
    settings, _ = load({"store": tmp_path / "memory.db", "model": "hashing", "dream": True})
    with (
        engine(settings, Clock(), dreams=True) as memory,
        served(memory, Clock()) as here,
        visiting(chromium, here) as page,
    ):
        page.goto("/dreams")
        assert "dreams in the background after an answer, at most every 6 hours" in main_text(page)
