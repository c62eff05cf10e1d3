"""Every screen is usable by everyone, describes each ranking step, and loads unchanged libraries."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from browser import NARROW, WIDE, violations, visiting

from recollect.plugin import step_text
from recollect.ranking.profiles import PROFILES
from recollect_server.web.templating import STATIC

if TYPE_CHECKING:
    from collections.abc import Iterator

    from browser import Served
    from playwright.sync_api import Browser, Page

    from recollect.engine import Engine

pytest_plugins = ["web_fixtures"]

OPEN = "all => all.forEach(each => { each.open = true; })"
# The API page has hundreds of sections from one template; axe-core checks the first 30.
CLOSE_MOST = "all => all.slice(30).forEach(each => { each.open = false; })"
REFUSED = "/recall?q=x&limit=none"
PATHS = (
    "/recall",
    "/recall?q=early+ferry",
    "/recall/context?q=early+ferry",
    "/recall?q=choir&as_of=2026-05-25",
    REFUSED,
    "/add",
    "/add?kind=relation",
    "/why-not",
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
    "/review",
    "/review?kind=split",
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


@pytest.mark.parametrize("profile", PROFILES)
def test_every_step_of_our_profiles_is_told(engine: Engine, profile: str) -> None:
    engine.create_entities([{"name": "Harbour choir", "observations": ["Sings on Mondays since 2020"]}])
    engine.remember("The harbour choir sang last week.", importance=0.9)
    engine.add_messages("pier", [{"content": "When did the choir sing?"}, {"content": "Last week, I think."}])
    answer = engine.search(
        "when did the harbour choir sing last week?", profile=profile, explain=True, limit=9
    )
    steps = {reason.step for hit in answer.hits for reason in hit.reasons}
    assert steps
    assert {step for step in steps if not step_text(step)} == set()


def test_a_step_of_a_user_s_own_goes_without() -> None:
    assert step_text("my own factor") == ""


VENDOR = STATIC / "vendor"
ROW = re.compile(r"\| `([^`]+)` \| (\S+) \| (\S+) \| \S+ \| `([0-9a-f]{64})` \|")


def test_every_library_is_listed_with_its_hash_and_licence() -> None:
    rows = ROW.findall((VENDOR / "README.md").read_text(encoding="utf-8"))
    files = {path.name for path in VENDOR.iterdir()} - {"README.md", "LICENCES.txt"}
    assert {name for name, *_ in rows} == files
    licences = (VENDOR / "LICENCES.txt").read_text(encoding="utf-8")
    for name, package, version, digest in rows:
        assert sha256((VENDOR / name).read_bytes()).hexdigest() == digest, name
        assert f"== {package} {version} ==" in licences
