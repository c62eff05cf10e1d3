"""The browser, and a dashboard to visit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from browser import dashboard_of, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from browser import Served
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Ended with each file: while it runs, no test in the same process can have an event loop of its own."""
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("The dashboard is driven in Chromium; install the package chromium.")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One for all tests of a file; a test that changes it puts it right again, or looks at its own."""
    with dashboard_of(tmp_path_factory.mktemp("dashboard")) as here:
        yield here


@pytest.fixture
def own_dashboard(tmp_path: Path) -> Iterator[Served]:
    """For a test that changes it."""
    with dashboard_of(tmp_path) as here:
        yield here


@pytest.fixture
def visitor(chromium: Browser, dashboard: Served) -> Iterator[Page]:
    with visiting(chromium, dashboard) as page:
        yield page
