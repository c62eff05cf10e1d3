"""The browser, and a dashboard to visit."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from browser import Clock, Served, fill, served, visiting

import recollect

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    clock = Clock()
    path = tmp_path_factory.mktemp("dashboard") / "memory.db"
    with recollect.open(path, model="hashing", clock=clock) as memory:
        fill(memory, clock)
        with served(memory, clock) as here:
            yield here


@pytest.fixture
def visitor(chromium: Browser, dashboard: Served) -> Iterator[Page]:
    with visiting(chromium, dashboard) as page:
        yield page
