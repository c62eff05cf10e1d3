"""Every screen, dark on a phone and light on a wide screen: usable by everyone, and within its width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import NARROW, WIDE, violations, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Served
    from playwright.sync_api import Browser, Page

pytest_plugins = ["web_fixtures"]

OPEN = "all => all.forEach(each => { each.open = true; })"
# The page of the API has hundreds, all from one template: axe-core looks into so many.
CLOSE_MOST = "all => all.slice(30).forEach(each => { each.open = false; })"
REFUSED = "/recall?q=x&limit=none"
PATHS = (
    "/recall",
    "/recall?q=early+ferry",
    "/recall/context?q=early+ferry",
    "/recall?q=choir&as_of=2026-05-25",
    REFUSED,
    "/why-not?q=early+ferry&id=9",
    "/memory/1",
    "/memory/6",
    "/memory/4/purge",
    "/browse?state=all",
    "/browse?kind=tags",
    "/graph",
    "/graph?name=Harbour+choir",
    "/timeline?time=stored&since=2026-05-20&until=2026-05-25",
    "/dreams",
    "/settle",
    "/settle?kind=split",
    "/answers",
    "/answers/1",
    "/quality",
    "/quality?tab=tuning",
    "/health",
    "/health/transfer",
    "/tokens",
    "/docs",
)


@pytest.fixture(scope="module", autouse=True)
def an_answer(dashboard: Served) -> None:
    """For the screens that show what was asked."""
    dashboard.memory.recall("early ferry")


@pytest.fixture(scope="module")
def phone(chromium: Browser, dashboard: Served) -> Iterator[Page]:
    """One for all screens: a new one for each takes as long as a look at it."""
    with visiting(chromium, dashboard) as page:
        yield page


@pytest.mark.parametrize("path", [path for path in PATHS if path != REFUSED])
def test_everyone_can_use_it(phone: Page, path: str) -> None:
    _is_usable(phone, path)


def test_everyone_can_use_a_refusal(chromium: Browser, dashboard: Served) -> None:
    with visiting(chromium, dashboard, refusals=True) as page:
        _is_usable(page, REFUSED)


def _is_usable(page: Page, path: str) -> None:
    """As it is loaded on a phone in the dark, then in the light on a wide screen."""
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(NARROW)
    page.goto(path)
    page.locator("main details").evaluate_all(OPEN)
    assert not _is_too_wide(page)
    page.locator("main details").evaluate_all(CLOSE_MOST)
    assert violations(page) == []
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(WIDE)
    assert (_is_too_wide(page), violations(page)) == (False, [])


def _is_too_wide(page: Page) -> bool:
    wide: bool = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    return wide
