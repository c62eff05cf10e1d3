"""Every screen, light on a wide screen and dark on a phone: usable by everyone, and within its width."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from browser import violations, visiting

if TYPE_CHECKING:
    from browser import Served
    from playwright.sync_api import Browser

pytest_plugins = ["web_fixtures"]

PATHS = (
    "/recall",
    "/recall?q=early+ferry",
    "/recall?q=choir&as_of=2026-05-25",
    "/recall?q=x&limit=none",
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
    "/dreams/forecast",
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


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("scheme", "narrow"), [("light", False), ("dark", True)])
def test_everyone_can_use_it(
    chromium: Browser, dashboard: Served, path: str, scheme: str, narrow: bool
) -> None:
    with visiting(chromium, dashboard, scheme=scheme, narrow=narrow, refusals="none" in path) as page:
        page.goto(path)
        page.locator("main details").evaluate_all("all => all.forEach(each => { each.open = true; })")
        assert violations(page) == []
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide
