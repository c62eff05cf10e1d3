"""Chromium before a small memory's dashboard; what pages log, or ask of other machines, fails a test."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from api_world import running

import recollect
from recollect.operations.catalogue import SETS
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, ConsoleMessage, Page, Request, ViewportSize

    from recollect.engine import Engine

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)
PATIENCE_MS = 60_000
NARROW: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1360, "height": 900}


@dataclass
class Clock:
    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True)
class Served:
    """A memory, and where its dashboard is."""

    memory: Engine
    url: str
    clock: Clock


@contextmanager
def served(memory: Engine, clock: Clock) -> Iterator[Served]:
    with running(app(lambda: memory, SETS["all"], AccessPolicy("127.0.0.1", 0, None))) as port:
        yield Served(memory, f"http://127.0.0.1:{port}", clock)


def fill(memory: Engine, clock: Clock) -> None:
    """A small world: a choir, a harbour, a conversation, and a fact that changed."""
    clock.now = NOW - timedelta(days=40)
    memory.create_entities(
        [
            {
                "name": "Marisol Vega",
                "entityType": "person",
                "observations": ["Allergic to walnuts", "Sings alto in the harbour choir"],
            },
            {"name": "Harbour choir", "entityType": "group", "observations": ["Rehearses in the old mill"]},
            {"name": "Old mill", "entityType": "place", "observations": ["Heated since March"]},
        ]
    )
    memory.graph.create_relations(
        [
            {"from": "Marisol Vega", "to": "Harbour choir", "relationType": "sings in"},
            {"from": "Harbour choir", "to": "Old mill", "relationType": "rehearses at"},
        ]
    )
    memory.remember("The harbour choir rehearses on Mondays at seven.", tags=["choir"], category="plans")
    clock.now = NOW - timedelta(days=20)
    memory.add_messages(
        "harbour",
        [
            {"content": "Shall we take the early ferry to the regatta?", "speaker": "Ines"},
            {"content": "The early ferry leaves at six, pier four.", "speaker": "Marisol"},
            {"content": "Then I bring the coffee.", "speaker": "Ines"},
        ],
        extract=False,
    )
    memory.remember("The spare key hangs behind the boathouse door.", tags=["house"])
    memory.remember("The boathouse roof leaks above the blue canoe.", tags=["house"])
    clock.now = NOW - timedelta(days=2)
    memory.remember("The harbour choir rehearses on Wednesdays at seven.", tags=["choir"], category="plans")
    memory.create_entities([{"name": "Long quay", "entityType": "place", "observations": ["Lit at night"]}])
    moored = {"from": "Old mill", "to": "Long quay", "relationType": "moved to", "since": clock.now}
    memory.graph.create_relations([moored])
    clock.now = NOW


@contextmanager
def dashboard_of(folder: Path) -> Iterator[Served]:
    """A dashboard of that world, in a store of its own."""
    clock = Clock()
    with recollect.open(folder / "memory.db", model="hashing", clock=clock) as memory:
        fill(memory, clock)
        with served(memory, clock) as here:
            yield here


@dataclass
class Watch:
    """Console messages and requests of pages."""

    said: list[str]
    left: list[str]
    refusals: bool
    """Pages that refuse are looked for; a browser logs each."""

    def look(self, page: Page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.said.append(f"{page.url}: {error}"))
        page.on("request", self._request)

    def _console(self, message: ConsoleMessage) -> None:
        is_refusal = "the server responded with a status of 4" in message.text
        if message.type in {"error", "warning"} and not (self.refusals and is_refusal):
            self.said.append(f"{message.page.url if message.page else ''}: {message.text}")

    def _request(self, request: Request) -> None:
        if urlsplit(request.url).hostname not in {"127.0.0.1", None}:
            self.left.append(request.url)


@contextmanager
def visiting(
    chromium: Browser,
    here: Served,
    *,
    scheme: str = "light",
    narrow: bool = False,
    script: bool = True,
    refusals: bool = False,
) -> Iterator[Page]:
    """A page whose paths begin at the dashboard; errors that it logs fail the test at its end."""
    context = chromium.new_context(
        base_url=here.url,
        viewport=NARROW if narrow else WIDE,
        color_scheme="dark" if scheme == "dark" else "light",
        java_script_enabled=script,
    )
    context.set_default_timeout(PATIENCE_MS)
    page, watch = context.new_page(), Watch([], [], refusals)
    watch.look(page)
    try:
        yield page
        assert not watch.said, watch.said
        assert not watch.left, watch.left
    finally:
        context.close()


def shows(page: Page, words: str) -> None:
    """Wait for a page that says so, and for its scripts, which take keys."""
    page.get_by_text(words).first.wait_for()
    page.wait_for_load_state()


def violations(page: Page) -> list[str]:
    """Return axe-core's violations of WCAG 2.2 AA."""
    import axe_playwright_python  # type: ignore[import-untyped]  # it has none

    if not page.evaluate("'axe' in window"):
        folder = Path(axe_playwright_python.__file__).parent
        page.evaluate((folder / "axe.min.js").read_text(encoding="utf-8"))
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = page.evaluate("tags => axe.run(document, {runOnly: tags, resultTypes: ['violations']})", tags)
    return [
        f"{each['id']}: {each['help']}: {node['html'][:160]}"
        for each in found["violations"]
        for node in each["nodes"]
    ]
