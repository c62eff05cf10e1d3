"""Limits for one client of the HTTP server: connections, time, sessions, log lines."""

from __future__ import annotations

import json
import socket
import sys
from typing import TYPE_CHECKING, Any

import anyio
import anyio.abc
import pytest
from api_world import HELLO, TOKEN, running
from conftest import PATIENCE_SECONDS
from long_work import Toil
from mcp_world import offering
from test_serve_http_access import Listening, listening

import recollect
from recollect.domain.errors import InvalidInput
from recollect_server import connections, middleware
from recollect_server.access_policy import AccessPolicy
from recollect_server.app import app, serve_http
from recollect_server.authentication import (
    FORGET_SECONDS,
    FREE_GUESSES,
    LONGEST_DELAY_SECONDS,
    Authenticator,
    TokenGuesses,
    TokenRegistry,
)
from recollect_server.connections import LimitedConnection
from recollect_server.problems import EVERY_SECONDS, RefusalLog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from command_line import CommandLine

pytest_plugins = ["command_line", "mcp_fixtures"]
POLICY = AccessPolicy("127.0.0.1", 0, TOKEN)
HEADERS = (
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n"
    f"Content-Type: application/json\r\nAuthorization: Bearer {TOKEN}\r\n"
)


def connected(port: int, said: str = "") -> socket.socket:
    place = socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS)
    place.sendall(said.encode())
    return place


def rest(place: socket.socket) -> bytes:
    """Read until the server closes the connection, cleanly or not."""
    said = b""
    try:
        while piece := place.recv(1 << 16):
            said += piece
    except ConnectionError:
        pass
    return said


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit of files to lower")
def test_connections_that_say_nothing_lock_nobody_out(recollect: CommandLine) -> None:
    few_files = CommandLineWith(recollect, ("sh", "-c", 'ulimit -n 96; exec "$@"', "sh"))
    with listening(few_files, "--token", TOKEN) as here:  # type: ignore[arg-type]
        waiting = "Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n"
        kept = connected(here.port, HEADERS + waiting)
        assert kept.recv(12) == b"HTTP/1.1 100"
        silent = [connected(here.port, "POST /mcp HT") for _ in range(200)]
        assert here.knock().status == 200
        # An authenticated connection is not closed to make room for unauthenticated ones.
        kept.sendall(b"{}")
        assert b"HTTP/1.1 400" in rest(kept)
        for each in (kept, *silent):
            each.close()


class CommandLineWith:
    """A command line behind another command."""

    def __init__(self, inner: CommandLine, prefix: tuple[str, ...]) -> None:
        self.store, self.variables = inner.store, inner.variables
        self.program = (*prefix, *inner.program)


LIMITED: dict[str, Any] = {"http": LimitedConnection, "lifespan": "off", "log_level": "error"}


def protected(inner: Any, refusals: RefusalLog, guesses: TokenGuesses | None = None) -> Any:
    """An application behind the middlewares."""
    authenticator = Authenticator(POLICY, TokenRegistry(lambda: pytest.fail("no token is looked up")))
    for each in reversed(middleware.protect(POLICY, authenticator, refusals, guesses or TokenGuesses())):
        inner = each.cls(inner, *each.args, **each.kwargs)
    return inner


async def unused(scope: Any, receive: Any, send: Any) -> None:
    pytest.fail("nothing of this is passed on")


def test_headers_and_bodies_that_do_not_come_are_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.05)
    monkeypatch.setattr(middleware, "BODY_SECONDS", 0.05)
    told: list[str] = []
    with running(protected(unused, RefusalLog(told.append)), **LIMITED) as port:
        for begun in ("", "POST /mcp HT", HEADERS):
            with connected(port, begun) as place:
                assert rest(place) == b""
        with connected(port, f"{HEADERS}Content-Length: 5\r\n\r\n{{") as place:
            answer = rest(place)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b'"too_slow"' in answer
    assert len(told) == 1


def test_an_answer_s_body_does_not_wait_for_its_headers_to_be_acknowledged() -> None:
    delays = []

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        sent = scope["state"][connections.CONNECTION].transport.get_extra_info("socket")
        delays.append(sent.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    with (
        running(answer, **LIMITED) as port,
        connected(port, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") as place,
    ):
        assert rest(place).startswith(b"HTTP/1.1 204")
    assert delays == [False]


def test_what_is_broken_off_leaves_no_traceback_and_no_session(recollect: CommandLine) -> None:
    with listening(recollect, "--token", TOKEN) as here:
        for _ in range(5):
            for end in ("Content-Length: 1000\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\nzz\r\n"):
                connected(here.port, HEADERS + end).close()
            assert here.knock("GET", "/elsewhere").status == 404
            with connected(here.port, "no request\r\n\r\n") as place:
                assert rest(place).startswith(b"HTTP/1.1 400")
        opened = _opened_by(here, {**HELLO, "params": {"protocolVersion": 5}})
        assert opened == (400, None)
        assert _opened_by(here, HELLO)[0] == 200
        told = here.wait_for_output(": bad_initialize")
    assert "Traceback" not in told
    assert told.count(": not_found") == 1
    assert told.count(": bad_request") == 1


def _opened_by(here: Listening, hello: dict[str, Any]) -> tuple[int, str | None]:
    answer = here.knock(body=json.dumps(hello).encode())
    return answer.status, answer.headers.get("mcp-session-id")


def test_each_kind_of_refusal_is_told_once_a_minute_with_how_often_it_came() -> None:
    told: list[str] = []
    now = [0.0]
    log = RefusalLog(told.append, lambda: now[0])
    for _ in range(3):
        log.add("unauthorized")
        log.add("not_found")
    assert told == ["Refused a request: unauthorized.", "Refused a request: not_found."]
    now[0] = EVERY_SECONDS
    log.add("unauthorized")
    assert told[2:] == ["Refused a request: unauthorized. (2 more since the last message)"]


def test_wrong_tokens_wait_longer_each_time_until_a_minute_has_passed() -> None:
    now = [0.0]
    guesses = TokenGuesses(lambda: now[0])
    waits = []
    for _ in range(FREE_GUESSES + 8):
        waits.append(guesses.delay_seconds("192.0.2.1"))
        guesses.add("192.0.2.1")
    # 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5
    assert waits[:FREE_GUESSES] == [0.0] * FREE_GUESSES
    assert waits[FREE_GUESSES:] == pytest.approx([0.1 * 2**n for n in range(6)] + [LONGEST_DELAY_SECONDS] * 2)
    assert guesses.delay_seconds("192.0.2.2") == 0
    now[0] += FORGET_SECONDS + 1
    assert guesses.delay_seconds("192.0.2.1") == 0


@pytest.mark.anyio
async def test_who_guesses_the_token_waits_and_cannot_tell_a_right_one_by_its_speed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    passed: list[str] = []

    async def inner(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["client"][0])

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(middleware, "sleep", sleep)
    guard = protected(inner, RefusalLog(lambda _: None), TokenGuesses(lambda: 0.0))
    for _ in range(FREE_GUESSES):
        await authenticate(guard, "wrong", "192.0.2.1")
    assert slept == []
    for token in ("wrong", TOKEN):
        await authenticate(guard, token, "192.0.2.1")
    assert slept == pytest.approx([0.1, 0.2])
    # Other addresses do not wait, nor do requests without a token.
    await authenticate(guard, TOKEN, "192.0.2.2")
    for _ in range(FREE_GUESSES + 1):
        await authenticate(guard, "", "192.0.2.3")
    assert len(slept) == 2
    assert passed == ["192.0.2.1", "192.0.2.2"]


async def authenticate(guard: Any, token: str, address: str) -> None:
    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {token}".encode() if token else b"")]
    scope = {"type": "http", "method": "GET", "path": "/mcp", "headers": headers, "client": (address, 1)}
    await guard(scope, _empty_body, _unheard)


async def _empty_body() -> Any:
    return {"type": "http.request", "body": b""}


async def _unheard(message: Any) -> None:
    """A send function that drops every message."""


def test_a_short_token_is_good_enough_for_this_machine_alone(recollect: CommandLine) -> None:
    others = ("serve", "--http", "--host", "192.0.2.7", "--token", "fifteen-letters")
    told = recollect.refused(*others, status=1)
    assert "at least 16 characters" in told
    with pytest.raises(InvalidInput, match="at least 16 characters"):
        serve_http(None, (), AccessPolicy("192.0.2.7", 0, "x" * 15), print)  # type: ignore[arg-type]
    assert not AccessPolicy("127.0.0.1", 0, "x").has_weak_token
    assert not AccessPolicy("192.0.2.7", 0, "x" * 16).has_weak_token


@pytest.mark.anyio
async def test_work_of_a_session_ends_when_its_client_goes(tmp_path: Path) -> None:
    toil = Toil(steps_left=10**12)
    with (
        recollect.open(tmp_path / "memory.db", model="hashing") as memory,
        offering("toil", toil.operation(reads=True)),
    ):
        asgi = app(lambda: memory, ["toil"], POLICY)
        async with anyio.create_task_group() as group:
            leave = await _lifespan(asgi, group)
            session = (await _posted(asgi, HELLO))[b"mcp-session-id"]
            call = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "toil"}}
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await _posted(asgi, ready, session)

            async def go() -> None:
                await toil.until(toil.begun)
                toil.given_up.set()

            await _posted(asgi, call, session, go)
            await toil.until(toil.ended)
            leave()


async def _lifespan(asgi: Any, group: anyio.abc.TaskGroup) -> Callable[[], None]:
    up, down = anyio.Event(), anyio.Event()
    messages = ["lifespan.startup"]

    async def receive() -> Any:
        if messages:
            return {"type": messages.pop()}
        await down.wait()
        return {"type": "lifespan.shutdown"}

    async def send(message: Any) -> None:
        up.set()

    group.start_soon(asgi, {"type": "lifespan", "asgi": {"version": "3.0"}, "state": {}}, receive, send)
    await up.wait()
    return down.set


async def _posted(
    asgi: Any, message: Any, session: bytes | None = None, stay: Callable[[], Awaitable[None]] | None = None
) -> dict[bytes, bytes]:
    """Headers of the answer; the client goes once `stay` is over, or stays for the answer."""
    body = json.dumps(message).encode()
    headers = [
        (b"host", b"localhost"),
        (b"authorization", f"Bearer {TOKEN}".encode()),
        (b"accept", b"application/json, text/event-stream"),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *([] if session is None else [(b"mcp-session-id", session)]),
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
    }
    pieces = [{"type": "http.request", "body": body, "more_body": False}]
    started: dict[bytes, bytes] = {}

    async def receive() -> Any:
        if pieces:
            return pieces.pop()
        if stay is None:
            await anyio.sleep_forever()
        else:
            await stay()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        started.update(message.get("headers", ()))

    with anyio.fail_after(PATIENCE_SECONDS):
        await asgi(scope, receive, send)
    return started
