"""Rights on the screens Answers, Quality and Health, tested in process, without a browser."""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING

import pytest
from starlette.testclient import TestClient

import recollect
from recollect.admin import Tokens
from recollect.domain.records import Scope
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app
from recollect_server.authentication import Authenticator, BrowserSessions, TokenRegistry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from recollect.engine import Engine

ORIGIN = {"origin": "http://localhost"}
# Requests that need the right to write, or to administer, each with its form.
WRITES = {
    "/answers/1/judge": {"memory": "1", "grade": "1"},
    "/add": {"kind": "note", "text": "New"},
    "/add/undo-relation": {"source": "a", "type": "b", "target": "c"},
}
FOR_ADMINS = {
    "/quality/search": {"profile": "limbic"},
    "/quality/apply": {"profile": "limbic"},
    "/quality/set": {"profile": "limbic", "name": "gamma", "value": "0.5", "exactly": "1"},
    "/quality/rollback": {"profile": "limbic", "version": "0"},
    "/health/backup": {},
    "/health/embed": {},
    "/health/import": {},
    "/health/import/run": {"file": "x"},
    "/tokens": {"name": "mine", "right": "admin"},
    "/tokens/revoke": {"name": "reader"},
}
SCREENS = ("/answers", "/answers/1", "/quality", "/quality?tab=confidence", "/quality?tab=tuning", "/health")


class ScreenServer:
    """A server, and browsers that are signed in to it by tokens."""

    def __init__(self, memory: Engine) -> None:
        self.memory = memory
        policy = AccessPolicy("127.0.0.1", 0, "open-sesame-please")
        # Each call of this clock is an hour later, so cached tokens expire.
        hours = count(step=3_600)
        registry = TokenRegistry(lambda: memory, lambda: float(next(hours)))
        sessions = BrowserSessions(lambda: 0.0)
        self._app = app(
            lambda: memory, ["recall"], policy, authenticator=Authenticator(policy, registry, sessions)
        )

    def browser(self, name: str, right: str, sees: Scope | None = None) -> TestClient:
        token = Tokens(self.memory).create(name, right=right, sees=sees)
        browser = TestClient(self._app, base_url="http://localhost", headers=ORIGIN, follow_redirects=False)
        assert browser.post("/sign-in", data={"token": token}).status_code == 303
        return browser


def csrf(browser: TestClient) -> str:
    page = browser.get("/quality").text
    return page.partition('name="csrf" value="')[2].partition('"')[0]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScreenServer]:
    with recollect.open(tmp_path / "memory.db", model="none") as memory:
        memory.remember("The early ferry leaves at six, pier four.")
        memory.recall("early ferry")
        yield ScreenServer(memory)


def test_a_read_token_shows_the_screens_without_forms_that_change_anything(server: ScreenServer) -> None:
    browser = server.browser("reader", "read")
    shown = {path: browser.get(path) for path in SCREENS}
    assert {answer.status_code for answer in shown.values()} == {200}
    forms = "".join(answer.text for answer in shown.values()).split("<form")[1:]
    posted = {form.partition('action="')[2].partition('"')[0] for form in forms if 'method="post"' in form}
    assert posted == {"/sign-out", "/quality/self-test", "/quality/confidence"}
    for path, fields in (WRITES | FOR_ADMINS).items():
        answer = browser.post(path, data={**fields, "csrf": csrf(browser)})
        assert (path, answer.status_code) == (path, 403)
    assert browser.get("/tokens").status_code == 403


def test_a_write_token_does_not_administer(server: ScreenServer) -> None:
    browser = server.browser("writer", "write")
    for path, fields in WRITES.items():
        assert browser.post(path, data={**fields, "csrf": csrf(browser)}).status_code == 303
    assert server.memory.answers.get(1)[0].feedback == ((1, "said", 1.0),)
    for path, fields in FOR_ADMINS.items():
        answer = browser.post(path, data={**fields, "csrf": csrf(browser)})
        assert (path, answer.status_code) == (path, 403)


def test_an_admin_of_one_owner_reaches_no_other_owner(server: ScreenServer) -> None:
    """Creating a wider token, importing a file of other owners and exporting their memories are refused."""
    browser = server.browser("ana", "admin", Scope("ana"))
    page = browser.get("/tokens")
    assert page.status_code == 403
    assert "needs access to every owner" in page.text
    token = csrf(browser)
    assert browser.post("/tokens", data={"name": "more", "right": "admin", "csrf": token}).status_code == 403
    everything = browser.post("/health/export", data={"everything": "1", "csrf": token})
    assert everything.status_code == 403
    own = browser.post("/health/export", data={"format": "full", "csrf": token})
    key = own.headers["location"].partition("file=")[2].partition("&")[0]
    lines = browser.get(f"/health/export/{key}").text.splitlines()
    assert [json.loads(line).get("kind") for line in lines if "ferry" in line] == []
    other = server.browser("all", "admin")
    assert other.get(f"/health/export/{key}").status_code == 404
    whole = other.post("/health/export", data={"everything": "1", "csrf": csrf(other)})
    key = whole.headers["location"].partition("file=")[2].partition("&")[0]
    file = other.get(f"/health/export/{key}").content
    sent = browser.post("/health/import", data={"csrf": token}, files={"file": ("all.jsonl", file)})
    key = sent.headers["location"].partition("file=")[2].partition("&")[0]
    refused = browser.post("/health/import/run", data={"file": key, "csrf": token})
    assert refused.status_code == 403


def test_progress_is_sent_as_events_and_an_error_as_a_problem(server: ScreenServer) -> None:
    browser = server.browser("reader", "read")
    asked = {"csrf": csrf(browser), "sample": "5", "profile": "limbic"}
    events = browser.post("/quality/self-test", data=asked, headers={"accept": "text/event-stream"})
    names = [line.removeprefix("event: ") for line in events.text.splitlines() if line.startswith("event: ")]
    assert set(names[:-1]) == {"progress"}
    assert names[-1] == "result"
    href = json.loads(events.text.splitlines()[-2].removeprefix("data: "))["href"]
    assert "limbic" in browser.get(href).text
    # Only tokens of the same scope can read the result.
    assert "no longer has this one" in server.browser("other", "read", Scope("ana")).get(href).text
    wrong = {**asked, "profile": "nobody"}
    problem = browser.post("/quality/self-test", data=wrong, headers={"accept": "text/event-stream"})
    assert problem.headers["content-type"] == "application/problem+json"
    assert "nobody" in problem.json()["detail"]
    page = browser.post("/quality/self-test", data={**asked, "sample": "0"})
    assert page.status_code == 400
    assert "write a number from 1 to 2000" in page.text
