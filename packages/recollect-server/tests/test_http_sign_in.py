"""Authentication over HTTP: named tokens, browser sessions, one-time links, forged requests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from api_world import TOKEN
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import recollect
from recollect.admin import Tokens
from recollect.domain.records import Scope
from recollect_server import app as http_app
from recollect_server.access_policy import AccessPolicy, local_path, refusal
from recollect_server.app import app
from recollect_server.authentication import (
    LINK_SECONDS,
    MOST_SESSIONS_EACH,
    SESSION_IDLE_SECONDS,
    Authenticator,
    BrowserSessions,
    TokenGuesses,
    TokenRegistry,
    proof_of,
)
from recollect_server.runner import Right, caller_of
from recollect_server.web.routes import HANDLERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx2

    from recollect.engine import Engine

COOKIE = "recollect_session_80"
ORIGIN = {"origin": "http://localhost"}


class House:
    """A server in this process, with a clock that the test sets, and one route beside those of the pages."""

    def __init__(
        self, memory: Engine, monkeypatch: Any, token: str | None = TOKEN, handler: Any = None
    ) -> None:
        async def who(request: Any) -> JSONResponse:
            caller = caller_of(request)
            if request.method == "DELETE":
                caller.require(Right.ADMIN)
            scope = None if caller.scope is None else [caller.scope.owner, caller.scope.agent]
            return JSONResponse(
                {"name": caller.name, "right": caller.right.word, "scope": scope, "csrf": request.state.csrf}
            )

        methods = ["GET", "POST", "DELETE"]
        routes = [Route(path, handler or who, methods=methods) for path in ("/v1/who", "/settle")]
        self.memory = memory
        self.now = 0.0
        self.sessions = BrowserSessions(lambda: self.now)
        policy = AccessPolicy("127.0.0.1", 0, token)
        registry = TokenRegistry(lambda: memory, lambda: self.now)
        monkeypatch.setattr(http_app, "api_routes", lambda _: routes)
        authenticator = Authenticator(policy, registry, self.sessions)
        self._app = app(lambda: memory, ["recall"], policy, authenticator=authenticator)

    def browser(self, **headers: str) -> TestClient:
        return TestClient(self._app, base_url="http://localhost", headers=headers, follow_redirects=False)

    def signed_in(self, token: str = TOKEN) -> TestClient:
        browser = self.browser()
        answer = browser.post("/sign-in", data={"token": token}, headers=ORIGIN)
        assert answer.status_code == 303, answer.text
        return browser


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engine]:
    with recollect.open(tmp_path / "memory.db", model="none") as memory:
        yield memory


@pytest.fixture
def house(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> House:
    return House(memory, monkeypatch)


def who(browser: TestClient, token: str) -> httpx2.Response:
    return browser.get("/v1/who", headers={"authorization": f"Bearer {token}"})


def test_each_token_has_its_name_scope_and_right_and_is_noticed_without_a_restart(house: House) -> None:
    browser = house.browser()
    assert who(browser, TOKEN).json()["right"] == "admin"
    assert who(browser, "recollect_wrong").status_code == 401
    token = Tokens(house.memory).create("cook", right="read", sees=Scope("ana", None))
    house.now += 1
    cook = {"name": "cook", "right": "read", "scope": ["ana", None], "csrf": None}
    assert who(browser, token).json() == cook
    refused = browser.delete("/v1/who", headers={"authorization": f"Bearer {token}"})
    assert refused.status_code == 403
    assert "The token 'cook' may only read" in refused.json()["message"]
    house.memory._services.worker.settle_usage()
    assert Tokens(house.memory).list()[0].used_at is not None
    Tokens(house.memory).revoke("cook")
    house.now += 1
    assert who(browser, token).status_code == 401


def test_without_a_token_only_what_is_for_everybody_is_answered(house: House) -> None:
    browser = house.browser()
    for path in ("/v1/who", "/metrics", "/openapi.json", "/mem0/memories", "/mcp"):
        assert browser.get(path).status_code == 401, path
    assert browser.get("/.well-known/oauth-protected-resource").status_code == 404
    for path in ("/sign-in", "/static/app.css"):
        assert browser.get(path).status_code == 200, path
    for path in ("/healthz", "/readyz"):
        assert browser.get(path).status_code not in {401, 303}, path
    for path, where in (
        ("/", "/sign-in"),
        ("/memory/1?as_of=2026", "/sign-in?next=/memory/1%3Fas_of%3D2026"),
    ):
        answer = browser.get(path)
        assert (answer.status_code, answer.headers["location"]) == (303, where)
    # A script of ours cannot follow a redirect to another page.
    script = browser.get("/settle", headers={"hx-request": "true"})
    assert (script.status_code, script.headers["hx-redirect"]) == (401, "/sign-in?next=/settle")
    assert browser.get("/settle", headers={"authorization": "Bearer wrong"}).status_code == 401


def test_signing_in_sets_a_cookie_that_scripts_and_other_sites_cannot_use(house: House) -> None:
    browser = house.browser()
    assert "Sign in" in browser.get("/sign-in?next=/settle").text
    answer = browser.post("/sign-in", data={"token": f" {TOKEN} ", "next": "/settle?a=1"}, headers=ORIGIN)
    assert (answer.status_code, answer.headers["location"]) == (303, "/settle?a=1")
    cookie = answer.headers["set-cookie"]
    assert re.fullmatch(rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Path=/; SameSite=strict", cookie)
    assert browser.get("/settle").json()["name"] == "server"
    # Behind a proxy with TLS, or with our own.
    for made in (
        house.browser(**{"x-forwarded-proto": "https"}).post("/sign-in", data={"token": TOKEN}),
        TestClient(house._app, base_url="https://localhost", follow_redirects=False).post(
            "/sign-in", data={"token": TOKEN}
        ),
    ):
        assert made.headers["set-cookie"].startswith("__Host-recollect_session_")
        assert made.headers["set-cookie"].endswith("; Secure")


def test_a_wrong_token_signs_nobody_in_and_is_slowed_down_like_any_other(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong: list[str] = []
    monkeypatch.setattr(TokenGuesses, "add", lambda _, address: wrong.append(address))
    browser = house.browser()
    answer = browser.post("/sign-in", data={"token": "<b>wrong", "next": "/settle"}, headers=ORIGIN)
    assert answer.status_code == 401
    assert "not valid here" in answer.text
    assert "<b>" not in answer.text
    assert "set-cookie" not in answer.headers
    assert wrong == ["testclient"]
    assert browser.post("/sign-in", headers=ORIGIN).status_code == 400
    foreign = browser.post("/sign-in", data={"token": TOKEN}, headers={"origin": "http://localhost:1"})
    assert foreign.json()["error"] == "cross_site"


def test_signing_in_leads_to_no_other_site(house: House) -> None:
    foreign = ("//evil.example", "https://evil.example", "/\\evil.example", "/x//evil", "evil")
    for next_ in (*foreign, "/mcp", "/\n/evil", "/é"):
        assert local_path(next_) == "/", next_
        answer = house.browser().post("/sign-in", data={"token": TOKEN, "next": next_}, headers=ORIGIN)
        assert answer.headers["location"] == "/", next_


def test_a_page_is_known_to_the_policy_by_its_route_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert local_path("/made-up/1") == "/"
    monkeypatch.setitem(HANDLERS, ("GET", "/made-up/{id}"), HANDLERS["GET", "/"])
    assert local_path("/made-up/1") == "/made-up/1"
    policy = AccessPolicy("127.0.0.1", 8377, TOKEN)
    assert refusal(policy, "GET", "/made-up/1", {b"host": b"127.0.0.1:8377"}) is None
    elsewhere = refusal(policy, "GET", "//made-up/1", {b"host": b"127.0.0.1:8377"})
    assert elsewhere is not None
    assert elsewhere.status == 404


def test_a_session_writes_only_with_its_own_csrf_token_from_a_page_of_this_server(house: House) -> None:
    browser = house.signed_in()
    csrf = browser.get("/settle").json()["csrf"]
    other = house.signed_in().get("/settle").json()["csrf"]
    same = {"sec-fetch-site": "same-origin"}

    def posted(given: dict[str, str], **data: str) -> str:
        answer = browser.post("/settle", data=data, headers=given)
        return str(answer.json().get("error", answer.status_code))

    assert posted(ORIGIN, csrf=csrf) == "200"
    assert posted(same, csrf=csrf) == "200"
    assert posted({**ORIGIN, "x-csrf-token": csrf}) == "200"
    form = browser.post("/settle", data={"csrf": csrf}, files={"f": ("x", b"1")}, headers=ORIGIN)
    assert form.status_code == 200
    assert posted(ORIGIN) == posted(ORIGIN, csrf=other) == posted(ORIGIN, csrf="") == "csrf"
    assert posted({}, csrf=csrf) == "cross_site"
    for site in ("same-site", "cross-site", "none"):
        assert posted({**ORIGIN, "sec-fetch-site": site}, csrf=csrf) == "cross_site"
    for origin in ("http://localhost:8080", "http://127.0.0.1"):
        assert posted({"origin": origin}, csrf=csrf) == "cross_site"
    assert posted({"origin": "null"}, csrf=csrf) == "unknown_origin"
    assert browser.delete("/v1/who", headers=ORIGIN).json()["error"] == "csrf"
    # MCP takes no cookies.
    assert house.signed_in().post("/mcp", json={}, headers=ORIGIN).status_code == 401
    # A program that shows a token is no browser, and needs none of it.
    assert house.browser().post("/v1/who", headers={"authorization": f"Bearer {TOKEN}"}).status_code == 200


def test_a_session_ends_by_signing_out_by_idling_and_with_its_token(house: House) -> None:
    browser = house.signed_in()
    csrf = browser.get("/settle").json()["csrf"]
    stolen = {COOKIE: browser.cookies[COOKIE]}
    out = browser.post("/sign-out", data={"csrf": csrf}, headers=ORIGIN)
    assert (out.status_code, out.headers["location"]) == (303, "/sign-in")
    assert "Max-Age=0" in out.headers["set-cookie"]
    again = house.browser()
    again.cookies.update(stolen)
    assert again.get("/settle").status_code == 303

    idle = house.signed_in()
    for _ in range(3):
        house.now += SESSION_IDLE_SECONDS - 1
        assert idle.get("/settle").status_code == 200
    house.now += SESSION_IDLE_SECONDS
    assert idle.get("/settle").status_code == 303

    named = house.signed_in(Tokens(house.memory).create("laptop", right="read"))
    assert named.get("/settle").json()["right"] == "read"
    Tokens(house.memory).revoke("laptop")
    house.now += 1
    assert named.get("/settle").status_code == 303
    Tokens(house.memory).create("laptop")
    house.now += 1
    assert named.get("/settle").status_code == 303


def test_a_session_is_never_one_that_the_browser_brought_along(house: House) -> None:
    browser = house.browser()
    browser.cookies.set(COOKIE, "planted", domain="localhost.local", path="/")
    browser.post("/sign-in", data={"token": TOKEN}, headers={**ORIGIN, "cookie": f"{COOKIE}=planted"})
    assert house.browser(cookie=f"{COOKIE}=planted").get("/settle").status_code == 303
    # Signing in again ends the session before.
    first = house.signed_in()
    key = first.cookies[COOKIE]
    first.post("/sign-in", data={"token": TOKEN}, headers=ORIGIN)
    assert first.cookies[COOKIE] != key
    assert house.browser(cookie=f"{COOKIE}={key}").get("/settle").status_code == 303


def test_whoever_opens_many_sessions_ends_only_their_own(house: House) -> None:
    other = house.signed_in()
    token = Tokens(house.memory).create("many")
    first = house.signed_in(token)
    for _ in range(MOST_SESSIONS_EACH):
        last = house.signed_in(token)
    assert [each.get("/settle").status_code for each in (first, last, other)] == [303, 200, 200]


def test_a_link_signs_in_once_and_soon(house: House) -> None:
    link = f"/sign-in?once={house.sessions.link('own')}"
    assert house.browser().head(link).status_code == 200
    browser = house.browser()
    answer = browser.get(link)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert browser.get("/settle").status_code == 200
    for used in (link, "/sign-in?once=", "/sign-in?once=guess"):
        again = house.browser().get(used)
        assert again.status_code == 400
        assert "set-cookie" not in again.headers
        assert "used before" in again.text
    late = f"/sign-in?once={house.sessions.link('own')}"
    house.now += LINK_SECONDS
    assert house.browser().get(late).status_code == 400


def test_a_program_gets_a_link_by_proving_that_it_knows_the_token(house: House) -> None:
    def authenticate(token: str, port: int = 80, challenge: str | None = None) -> httpx2.Response:
        given = challenge or house.browser().post("/sign-in/once").json()["challenge"]
        shown = {"x-recollect-challenge": given, "x-recollect-proof": proof_of(token, given, port)}
        return house.browser().post("/sign-in/once", headers=shown)

    answer = authenticate(TOKEN)
    assert answer.json()["store"] == house.memory.upkeep.store_state().id
    assert house.browser().get(answer.json()["link"]).status_code == 303
    for wrong in (authenticate("other"), authenticate(TOKEN, 81), authenticate(TOKEN, challenge="made-up")):
        assert (wrong.status_code, set(wrong.json())) == (401, {"challenge"})
    once = house.browser().post("/sign-in/once").json()["challenge"]
    assert [authenticate(TOKEN, challenge=once).status_code for _ in range(2)] == [200, 401]
    # Neither does a session, nor a page of another site.
    assert house.signed_in().post("/sign-in/once", headers=ORIGIN).status_code in {401, 403}


def test_where_no_token_is_asked_for_pages_of_other_sites_still_change_nothing(
    memory: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = House(memory, monkeypatch, None).browser()
    anyone = {"name": "anyone here", "right": "admin", "scope": None, "csrf": None}
    assert browser.get("/settle").json() == anyone
    assert browser.get("/sign-in").headers["location"] == "/"
    assert browser.post("/settle").status_code == 200
    assert browser.post("/settle", headers=ORIGIN).status_code == 200
    for foreign in ({"origin": "http://localhost:3000"}, {"sec-fetch-site": "cross-site"}):
        assert browser.post("/settle", headers=foreign).status_code == 403


def test_a_stream_ends_once_its_token_is_revoked(memory: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    token = Tokens(memory).create("listener")

    async def events(request: Any) -> StreamingResponse:
        async def each() -> Any:
            yield b"one\n"
            Tokens(memory).revoke("listener")
            served.now += 1
            yield b"two\n"

        return StreamingResponse(each())

    served = House(memory, monkeypatch, handler=events)
    assert who(served.browser(), token).text == "one\n"
