"""Tokens over MCP: each is limited to its own scope, right and sessions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from api_world import ACCEPTED, HELLO
from foreign_calls import SECRET, fill_bobs, foreign_calls
from mcp_world import Served, call_tool_ok, refused, texts_of

import recollect as library
from recollect.admin import Tokens
from recollect.domain.records import Scope
from recollect.mcp.resources import ENTITY, GRAPH, MEMORY
from recollect.operations.catalogue import SETS, definitions
from recollect.transfer.moved_rows import exporting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from foreign_calls import Bobs
    from mcp_world import Door

    from recollect.engine import Engine

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio


class House:
    """A server of every tool for the whole file, with tokens of Ana's and Bob's."""

    def __init__(self, memory: Engine, door: Door, bobs: Bobs) -> None:
        self.memory, self.bobs = memory, bobs
        tokens = Tokens(memory)
        self.ana = replace(door, token=tokens.create("ana", sees=Scope("ana", None)))
        self.anas_cook = replace(door, token=tokens.create("cook", sees=Scope("ana", "cook")))
        self.reader = replace(door, token=tokens.create("reader", right="read", sees=Scope("bob", None)))
        self.bob = replace(door, token=tokens.create("bob", sees=Scope("bob", None)))
        self.admin = replace(door, token=tokens.create("admin", right="admin"))
        self.server = door


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    from command_line import CommandLine

    folder = tmp_path_factory.mktemp("house")
    (folder / "config.toml").touch()
    environment: dict[str, str | None] = {
        "RECOLLECT_STORE": str(folder / "memory.db"),
        "RECOLLECT_CONFIG": str(folder / "config.toml"),
        "RECOLLECT_MODEL": "hashing",
    }
    with library.open(folder / "memory.db", model="hashing") as memory:
        bobs = fill_bobs(memory)
        line = CommandLine(folder / "memory.db", environment)
        with Served(line, folder).http("--tools", "all") as door:
            yield House(memory, door, bobs)


def bobs_rows(memory: Engine) -> list[tuple[Any, ...]]:
    """All that is remembered of Bob's, and what became of it."""
    with exporting(memory.scoped("bob", None)) as export:
        rows = [repr(each) for each in export.memories()]
    return sorted([(each,) for each in rows])


async def test_nobody_gets_at_anothers_memory_whatever_they_name(house: House, tmp_path: Path) -> None:
    calls = foreign_calls(house.bobs)
    assert {name for name, _ in calls} == set(SETS["all"])
    before = bobs_rows(house.memory)
    assert len(before) > 5
    for door in (house.ana, house.anas_cook):
        async with door.client() as client:
            for name, given in calls:
                answer = await client.call_tool(name, given)
                told = "\n".join((*texts_of(answer), json.dumps(answer.structured_content))).lower()
                assert SECRET not in told, (name, given, told)
            for uri in (GRAPH, f"{ENTITY}Pantry", f"{MEMORY}{house.bobs.note}"):
                try:
                    read = str(await client.read_resource(uri))
                except Exception as error:  # noqa: BLE001  # whichever the client has for it
                    read = str(error)
                assert SECRET not in read.lower(), uri
            prompt = await client.get_prompt("recall", {"topic": "key"})
            assert SECRET not in str(prompt).lower()
    assert bobs_rows(house.memory) == before
    # The calls do find it where it is theirs.
    async with house.bob.client() as client:
        assert SECRET in str(await call_tool_ok(client, "recall", query="key"))
        assert SECRET in str(await client.get_prompt("recall", {"topic": "key"}))
        assert SECRET in str(await call_tool_ok(client, "open_nodes", names=["Pantry"]))


async def test_a_page_of_a_search_is_not_shown_to_another_scope(house: House) -> None:
    asked = {"query": "holds rice tea flour", "limit": 1}
    async with house.bob.client() as bob, house.ana.client() as ana:
        first = await call_tool_ok(bob, "recall", **asked)
        await call_tool_ok(bob, "recall", **asked, cursor=first["cursor"])
        answer = await ana.call_tool("recall", {**asked, "cursor": first["cursor"]})
        assert SECRET not in str(answer).lower()


async def test_a_token_that_may_only_read_is_offered_and_allowed_no_more(house: House) -> None:
    reading = {name for name, each in definitions().items() if each["read_only"]}
    async with house.reader.client() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == reading
        assert [each.name for each in (await client.list_prompts()).prompts] == ["recall"]
        assert SECRET in str(await call_tool_ok(client, "recall", query="key"))
        told = await refused(client, "remember", text="x")
        assert "The token 'reader' may only read; this needs the right to write." in told
        for name in set(SETS["all"]) - reading:
            assert "may only read" in await refused(client, name), name
    async with house.bob.client() as client:
        assert "migrate" not in {tool.name for tool in (await client.list_tools()).tools}
        assert "needs the right to admin" in await refused(client, "migrate", source_path="/etc/hostname")
    async with house.admin.client() as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == set(SETS["all"])


async def test_completions_are_of_the_callers_scope(house: House) -> None:
    house.memory.scoped("bob").create_entities([{"name": "Quince jam"}])
    found = {}
    for name, door in (("ana", house.ana), ("bob", house.bob)):
        body = {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "completion/complete",
            "params": {
                "ref": {"type": "ref/prompt", "name": "recall"},
                "argument": {"name": "topic", "value": "Quin"},
            },
        }
        async with door.browser(**ACCEPTED) as http:
            session = {"Mcp-Session-Id": (await http.post(door.url, json=HELLO)).headers["mcp-session-id"]}
            await http.post(
                door.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=session
            )
            found[name] = (await http.post(door.url, json=body, headers=session)).text
    assert '"Quince jam"' in found["bob"]
    assert "Quince" not in found["ana"]


async def test_a_session_is_for_who_opened_it(house: House) -> None:
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    async with house.bob.browser(**ACCEPTED) as http:
        opened = await http.post(house.bob.url, json=HELLO)
        session = {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
        assert (await http.post(house.bob.url, json=ping, headers=session)).status_code == 200
    for door in (house.ana, house.reader, house.admin, house.server):
        async with door.browser(**ACCEPTED) as http:
            for answer in (
                await http.post(door.url, json=ping, headers=session),
                await http.get(door.url, headers=session),
                await http.delete(door.url, headers=session),
            ):
                assert answer.status_code == 404
    async with house.bob.browser(**ACCEPTED) as http:
        assert (await http.post(house.bob.url, json=ping, headers=session)).status_code == 200


async def test_a_revoked_token_ends_its_sessions(house: House) -> None:
    gone = replace(house.server, token=Tokens(house.memory).create("gone"))
    async with gone.browser(**ACCEPTED) as http:

        async def status() -> int:
            return (await http.post(gone.url, json=HELLO)).status_code

        with anyio.fail_after(60):
            while await status() != 200:  # the server looks once a second
                await anyio.sleep(0.1)
            Tokens(house.memory).revoke("gone")
            while await status() != 401:
                await anyio.sleep(0.1)
