"""Dreams in a browser: tried, dreamt, looked at and undone; and what will fade."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from browser import NOW, Clock, fill, served, visiting

import recollect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Served]:
    """A memory with repeats to merge, and questions that were asked."""
    clock = Clock()
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        fill(memory, clock)
        memory.remember("The blue canoe needs a new seat before the regatta.")
        clock.now = NOW + timedelta(hours=1)
        memory.remember("The blue canoe needs a new seat before the regatta!")
        memory.recall("where is the spare key?")
        clock.now = NOW + timedelta(days=3)
        with served(memory, clock) as here:
            yield here


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
        stages: list[str] = []
        page.expose_function("heard", lambda words: stages.append(words))
        page.evaluate(
            "new MutationObserver(() => heard(document.querySelector('[data-works-status]').innerText))"
            ".observe(document.querySelector('[data-works-status]'), {childList: true})"
        )
        page.keyboard.press("r")
        page.get_by_role("heading", name="What a dream would change").wait_for()
        assert "Would be merged" in main_text(page)
        assert "The blue canoe needs a new seat before the regatta!" in main_text(page)
        assert "Every question still finds what it found before." in main_text(page)
        assert memory.dreams.history() == ()
        assert any("Asking past questions" in each for each in stages)

        page.keyboard.press("d")
        page.wait_for_url("**/dreams/1")
        assert [each.id for each in memory.dreams.history()] == [1]
        page.get_by_role("link", name="merged", exact=True).click()
        page.get_by_text("1 change", exact=True).wait_for()
        assert "superseded" in page.locator("main tbody").inner_text()

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
        assert "Would be merged" not in main_text(page)
        page.get_by_role("button", name="Dream for real").click()
        assert page.url.endswith("/dreams/1")
        assert "Dream 1 is done." in main_text(page)
        assert "merge" not in page.get_by_role("list", name="Phases").inner_text().split()
        page.get_by_role("button", name="Undo", exact=True).click()
        assert "Undid dream 1" in main_text(page)


def test_the_forecast_names_what_fades_first(visitor: Page, dashboard: Served) -> None:
    visitor.goto("/dreams")
    visitor.get_by_role("link", name="What will fade").click()
    visitor.get_by_role("link", name="365 days").click()
    visitor.wait_for_url("**days=365")
    found = dashboard.memory.dreams.forecast(365)
    fading = int(((found.fades_on >= 0) | (found.archived_on >= 0)).sum())
    assert fading > 0
    assert visitor.locator("main tbody tr").count() == fading
    assert f"{int((found.archived_on >= 0).sum())}" == visitor.locator(".tile b").first.inner_text()
