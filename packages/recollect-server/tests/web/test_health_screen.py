"""Health in a browser: checks, latencies and backups; tokens; files in and out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from browser import violations, visiting

from recollect.admin import Tokens, token_digest

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]


def test_a_backup_is_made_by_a_key_and_answer_times_are_drawn_without_scripts(
    chromium: Browser, visitor: Page, dashboard: Served
) -> None:
    visitor.request.post("/v1/recall", data={"query": "early ferry"})
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/health")
        times = page.get_by_role("group", name="Recall, over the last day")
        assert "1 call, half at most" in (times.locator("title").first.text_content() or "")
        assert times.locator("rect").first.bounding_box() is not None
        # Four of the eleven memories are entities; the axis goes on to a round number.
        growth = page.locator(".frame").first
        assert growth.locator(".y-axis text").all_text_contents() == ["0", "5", "10", "15"]
        assert growth.locator(".peak").text_content() == "11"
    visitor.goto("/health")
    visitor.keyboard.press("b")
    visitor.get_by_text("just made").wait_for()
    (made,) = dashboard.memory.upkeep.store_state().backups
    assert made.name in visitor.get_by_role("group", name="Backups").inner_text()
    assert violations(visitor) == []


def test_a_token_is_shown_once_and_revoked_after_a_question(visitor: Page, dashboard: Served) -> None:
    visitor.goto("/tokens")
    visitor.locator("#name").fill("laptop")
    visitor.locator("#right").select_option("read")
    visitor.locator("#owner").fill("ana")
    visitor.locator("#name").press("Enter")
    token = visitor.locator("#new-token").inner_text()
    (kept,) = Tokens(dashboard.memory).list()
    assert (kept.name, kept.right, kept.digest) == ("laptop", "read", token_digest(token))
    assert kept.sees is not None
    assert kept.sees.owner == "ana"
    assert violations(visitor) == []
    visitor.goto("/tokens")
    assert token not in visitor.content()
    visitor.keyboard.press("j")
    visitor.keyboard.press("x")
    visitor.get_by_role("heading", name="Revoke laptop?").wait_for()
    assert len(Tokens(dashboard.memory).list()) == 1
    visitor.keyboard.press("y")
    visitor.get_by_text("Revoked laptop").wait_for()
    assert Tokens(dashboard.memory).list() == ()


def test_a_file_is_looked_at_before_it_is_imported(visitor: Page, dashboard: Served, tmp_path: Path) -> None:
    entity = {"type": "entity", "name": "Tallow works", "entityType": "place", "observations": ["Makes soap"]}
    file = tmp_path / "other.jsonl"
    file.write_text(f"{json.dumps(entity)}\nno line of JSON\n", encoding="utf-8")
    visitor.goto("/health/transfer")
    visitor.locator("#file").set_input_files(file)
    visitor.get_by_role("button", name="Preview").click()
    visitor.get_by_role("heading", name="other.jsonl holds").wait_for()
    assert "Line 2: The line is not JSON" in visitor.locator("main").inner_text()
    assert not dashboard.memory.graph.search_nodes("Tallow").entities
    assert violations(visitor) == []
    visitor.keyboard.press("y")
    visitor.get_by_role("heading", name="Imported").wait_for()
    assert [each.name for each in dashboard.memory.graph.search_nodes("Tallow").entities] == ["Tallow works"]


def test_everything_is_exported_without_scripts(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, script=False) as page:
        page.goto("/health/transfer")
        page.get_by_role("button", name="Export").click()
        with page.expect_download() as saved:
            page.get_by_role("link", name="Save full.jsonl").click()
        lines = Path(saved.value.path()).read_text(encoding="utf-8").splitlines()
    assert len(lines) > 5
    assert any("pier four" in line for line in lines)
