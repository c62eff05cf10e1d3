"""The page about the API: a call is tried there as the visitor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from browser import visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser

pytest_plugins = ["web_fixtures"]


def test_an_address_opens_its_endpoint_and_the_form_sends_what_is_written(
    chromium: Browser, dashboard: Served
) -> None:
    with visiting(chromium, dashboard, refusals=True) as page:
        page.goto("/docs#list_entities")
        listed = page.locator("details#list_entities")
        listed.get_by_label("contains").fill("choir")
        listed.get_by_role("button", name="Send").click()
        listed.locator(".status.good").wait_for()
        assert '"Harbour choir"' in listed.locator(".answer").inner_text()
        command = listed.locator(".command").text_content() or ""
        assert f"{dashboard.url}/v1/entities/list" in command

        page.locator("details#remember > summary").click()
        remember = page.locator("details#remember")
        remember.get_by_label("Body").fill('{"text": ""}')
        remember.get_by_role("button", name="Send").click()
        remember.locator(".status.bad").wait_for()
        assert "at least one visible character" in remember.locator(".answer").inner_text()
