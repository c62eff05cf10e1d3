"""MCP over HTTP: tokens, refused requests and the end of the server."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from api_world import ACCEPTED, HELLO
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import httpx2
    from mcp_world import Door, Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def post(door: Door, body: Any = PING, **headers: str) -> httpx2.Response:
    async with door.browser(**ACCEPTED, **headers) as http:
        return await http.post(door.url, json=body)


async def test_requests_outside_the_protocol_are_refused_with_a_reason(door: Door) -> None:
    async with door.browser() as http:
        answers = [
            await http.get(door.url, headers={"Accept": "text/html"}),
            await http.post(
                door.url, content=b"this is no message", headers={"Content-Type": "application/json"}
            ),
            await http.post(door.url, content=b"{}", headers=ACCEPTED),
        ]
        assert [answer.status_code for answer in answers] == [406, 400, 400]
        assert all(answer.text for answer in answers)


async def test_half_of_a_surrogate_pair_is_refused(door: Door) -> None:
    call = {"name": "remember", "arguments": {"text": "half \ud83d"}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    async with door.browser(**ACCEPTED) as http:
        answer = await http.post(
            door.url, content=body.encode(), headers={"Content-Type": "application/json"}
        )
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == -32700


async def test_several_clients_see_what_the_others_save(door: Door) -> None:
    async def save(number: int) -> None:
        async with door.client(mode="legacy" if number % 2 else "auto") as client:
            await call_tool_ok(client, "remember", text=f"Ship {number} left the harbour")

    with anyio.fail_after(PATIENCE_SECONDS):
        async with anyio.create_task_group() as group:
            for number in range(6):
                group.start_soon(save, number)
    async with door.client() as client:
        hits = (await call_tool_ok(client, "recall", query="harbour", limit=20))["hits"]
    assert {hit["text"] for hit in hits} >= {f"Ship {number} left the harbour" for number in range(6)}


async def until(holds: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE_SECONDS):
        while not holds():
            await anyio.sleep(0.05)


def kept_token(served: Served) -> Path:
    return served.recollect.store.with_name(served.recollect.store.name + "-token")


async def test_the_generated_token_is_private_and_kept_across_starts(served: Served) -> None:
    tokens = []
    for _ in range(2):
        with served.http(token=None) as door:
            tokens.append(kept_token(served).read_text().strip())
            # The port is open a moment before the server says so.
            await until(lambda: f"Authorization: Bearer {tokens[-1]}" in door.log.read_text(encoding="utf-8"))
            # The scheme may be in any case.
            assert (await post(door, Authorization=f"bearer {tokens[-1]}")).status_code != 401
            assert (await post(door, Authorization=f"Bearer {tokens[-1]}")).status_code != 401
            assert (await post(door, Authorization="")).status_code == 401
    assert tokens[0] == tokens[1]
    assert len(tokens[0]) >= 32
    assert stat.S_IMODE(kept_token(served).stat().st_mode) == 0o600


async def test_without_a_token_the_server_listens_on_this_machine_only(served: Served) -> None:
    with served.http("--no-token", token=None) as door:
        assert (await post(door, Authorization="")).status_code != 401
    assert not kept_token(served).exists()
    everywhere = ("--host", "0.0.0.0")  # noqa: S104  # the server must refuse this
    message = served.recollect.refused("serve", "--http", "--no-token", *everywhere, "--port", "0", status=1)
    assert "Without a token, anyone who reaches 0.0.0.0 could read and change the memory" in message


async def test_a_port_in_use_is_reported_in_one_line(served: Served, door: Door) -> None:
    port = door.url.rsplit(":", 1)[1].removesuffix("/mcp")
    assert served.recollect.refused("serve", "--http", "--port", port, status=1) == (
        f"recollect: Cannot listen on port {port} of 127.0.0.1: Address already in use; "
        "choose another --port or --host.\n"
    )


async def test_the_server_ends_when_it_is_terminated(served: Served) -> None:
    with served.http() as door:
        async with door.client() as client:
            await call_tool_ok(client, "remember", text="Ship 1 left")
        door.process.terminate()
        assert door.process.wait(PATIENCE_SECONDS) in {0, -15}
        assert b"Traceback" not in door.log.read_bytes()


async def test_a_terminated_server_closes_open_streams_without_errors(served: Served) -> None:
    with served.http() as door:
        async with door.browser(**ACCEPTED) as http:
            hello = await http.post(door.url, json=HELLO)
            session = {"Mcp-Session-Id": hello.headers["mcp-session-id"]}
            async with http.stream("GET", door.url, headers=session) as stream:
                assert stream.status_code == 200
                door.process.terminate()
                # A stream that breaks off instead of ending raises.
                assert [chunk async for chunk in stream.aiter_bytes()] == []
        assert door.process.wait(PATIENCE_SECONDS) in {0, -15}
        assert "ERROR" not in door.log.read_text(encoding="utf-8")
