"""Resources with their notices of change, completion, and prompts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from conftest import PATIENCE_SECONDS
from mcp.shared.exceptions import MCPError
from mcp_world import call_tool_ok

import recollect
from recollect.domain.errors import NotFound
from recollect.mcp import resources as prompts
from recollect.operations.paging import FRAME
from recollect.text.tokens import count_tokens

if TYPE_CHECKING:
    from mcp import Client
    from mcp_world import Served

    from recollect.engine import Engine

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
GRAPH = "memory://knowledge-graph"
ADA = {"name": "Ada", "entityType": "person", "observations": ["sails"]}


async def read_json(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "application/json"
    return json.loads(content.text)


async def test_the_graph_is_a_resource_and_single_memories_have_templates(client: Client) -> None:
    (graph,) = (await client.list_resources()).resources
    assert str(graph.uri) == GRAPH
    templates = (await client.list_resource_templates()).resource_templates
    assert [each.uri_template for each in templates] == ["memory://entity/{name}", "memory://memory/{id}"]
    assert await read_json(client, GRAPH) == {"entities": [], "relations": []}


async def test_entities_and_memories_are_read_by_their_address(served: Served) -> None:
    odd = {"name": "Zoë / C++ #1?", "entityType": "thing", "observations": []}
    async with served.inside() as client:
        await call_tool_ok(client, "create_entities", entities=[ADA, odd])
        note = (await call_tool_ok(client, "remember", text="Ada sails", tags=["boats"]))["id"]
        assert await read_json(client, "memory://entity/Ada") == {"entities": [ADA], "relations": []}
        address = "memory://entity/Zo%C3%AB%20%2F%20C%2B%2B%20%231%3F"
        assert (await read_json(client, address))["entities"] == [odd]
        assert await read_json(client, "memory://memory/1") == ADA
        told = await read_json(client, f"memory://memory/{note}")
        assert (told["kind"], told["text"], told["tags"]) == ("note", "Ada sails", ["boats"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_address_or_a_prompt_that_is_not_there_is_an_error_that_tells_what_is(
    served: Served, mode: str
) -> None:
    async with served.inside(mode=mode) as client:
        for end in ("entity/Nobody", "memory/7", "memory/²", "memory/" + "9" * 5000, "elsewhere"):
            for uri in (f"memory://{end}", f"file:///{end}"):
                with pytest.raises(
                    MCPError, match="there are memory://knowledge-graph, memory://entity/NAME"
                ) as told:
                    await client.read_resource(uri)
                assert told.value.code == types.INVALID_PARAMS
        with pytest.raises(MCPError, match="There is no prompt 'sing'; there are: save, recall") as told:
            await client.get_prompt("sing")
        assert told.value.code == types.INVALID_PARAMS


@pytest.mark.parametrize("transport", ["inside", "http"])
async def test_a_modern_client_that_listens_hears_of_changes(served: Served, transport: str) -> None:
    async with served.over(transport) as client:
        assert client.protocol_version == "2026-07-28"
        async with client.listen(resource_subscriptions=[GRAPH]) as heard:
            await call_tool_ok(client, "read_graph")
            await call_tool_ok(client, "create_entities", entities=[ADA])
            with anyio.fail_after(PATIENCE_SECONDS):
                event = await anext(aiter(heard))
        assert event.uri == GRAPH  # type: ignore[union-attr]  # the only sort of event asked for
        assert (await read_json(client, GRAPH))["entities"] == [ADA]


async def test_one_client_hears_of_anothers_change(served: Served) -> None:
    with served.http() as door:
        async with door.client() as listener, door.client() as writer:
            async with listener.listen(resource_subscriptions=[GRAPH]) as heard:
                await call_tool_ok(writer, "create_entities", entities=[ADA])
                with anyio.fail_after(PATIENCE_SECONDS):
                    await anext(aiter(heard))
            assert (await read_json(listener, GRAPH))["entities"] == [ADA]


# The SDK's own client still does it, and says that newer servers will not.
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("transport", ["inside", "stdio"])
async def test_a_legacy_client_that_subscribes_hears_of_changes_until_it_ends_that(
    served: Served, transport: str
) -> None:
    heard: list[str] = []
    woken = anyio.Event()

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            heard.append(str(message.params.uri))
            woken.set()

    async with served.over(transport, mode="legacy", message_handler=hear) as client:
        await client.subscribe_resource(GRAPH)
        await call_tool_ok(client, "read_graph")
        await call_tool_ok(client, "create_entities", entities=[ADA])
        with anyio.fail_after(PATIENCE_SECONDS):
            await woken.wait()
        assert heard == [GRAPH]
        await client.unsubscribe_resource(GRAPH)
        await call_tool_ok(client, "delete_entities", entityNames=["Ada"])
        await call_tool_ok(client, "read_graph")
        assert heard == [GRAPH]


@pytest.mark.parametrize("uri", ["memory://entity/Ada", "memory://memory/1"])
async def test_a_single_memory_tells_of_its_own_changes_and_of_no_others(client: Client, uri: str) -> None:
    await call_tool_ok(client, "create_entities", entities=[ADA])
    async with client.listen(resource_subscriptions=[uri, GRAPH]) as heard:
        events = aiter(heard)
        other = {"name": "Bo", "entityType": "person", "observations": []}
        await call_tool_ok(client, "create_entities", entities=[other])
        with anyio.fail_after(PATIENCE_SECONDS):
            assert (await anext(events)).uri == GRAPH  # type: ignore[union-attr]  # all that was asked for
        observations = [{"entityName": "Ada", "contents": ["rows"]}]
        await call_tool_ok(client, "add_observations", observations=observations)
        with anyio.fail_after(PATIENCE_SECONDS):
            both = {(await anext(events)).uri for _ in range(2)}  # type: ignore[union-attr]
    assert both == {uri, GRAPH}


async def test_a_change_by_another_process_is_heard_of(served: Served) -> None:
    async with served.inside() as client:
        await call_tool_ok(client, "create_entities", entities=[ADA])
        async with client.listen(resource_subscriptions=["memory://entity/Ada"]) as heard:
            assert served.recollect.process("observe", "Ada", "rows").returncode == 0
            with anyio.fail_after(PATIENCE_SECONDS):
                await anext(aiter(heard))
        (ada,) = (await read_json(client, "memory://entity/Ada"))["entities"]
        assert ada["observations"] == ["sails", "rows"]


async def test_an_overgrown_entity_is_read_in_part_and_says_where_the_rest_is(served: Served) -> None:
    log = {
        "name": "Log",
        "entityType": "log",
        "observations": [f"day {n}: calm sea " * 9 for n in range(2_000)],
    }
    async with served.inside() as client:
        await call_tool_ok(client, "create_entities", entities=[log])
        page = await read_json(client, "memory://entity/Log")
        (entity,) = page["entities"]
        shown = entity["observations"]
        assert "`open_nodes`" in page["note"]
        while "cursor" in page:
            page = await call_tool_ok(client, "open_nodes", names=["Log"], cursor=page["cursor"])
            shown += page["entities"][0]["observations"]
        assert shown == log["observations"]
        (content,) = (await client.read_resource("memory://memory/1")).contents
        assert isinstance(content, types.TextResourceContents)
        assert count_tokens(content.text) <= 40_000 + FRAME


class Completing:
    """Completion, by the resource or the prompt."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def of(self, about: str, argument: str, begun: str) -> types.Completion:
        kind = types.ResourceTemplateReference if about.startswith("memory:") else types.PromptReference
        ref: Any = kind(uri=about) if about.startswith("memory:") else kind(name=about)  # type: ignore[call-arg]
        return (await self.client.complete(ref, {"name": argument, "value": begun})).completion

    async def values(self, about: str, argument: str, begun: str) -> list[str]:
        return (await self.of(about, argument, begun)).values


async def test_completion_offers_names_that_begin_so_first_and_says_how_many(client: Client) -> None:
    async def create(names: list[str]) -> None:
        rows = [{"name": name, "entityType": "thing", "observations": ["about oolong"]} for name in names]
        await call_tool_ok(client, "create_entities", entities=rows)

    await create(["Oolong tea", "Green oolong", "Ferry"])
    completing, entity = Completing(client), "memory://entity/{name}"
    for about, argument in ((entity, "name"), ("recall", "topic")):
        assert await completing.values(about, argument, "ool") == ["Oolong tea", "Green oolong"]
        assert await completing.values(about, argument, "zz") == []
        assert await completing.values(about, argument, "") == ["Ferry", "Green oolong", "Oolong tea"]
    assert await completing.values("save", "focus", "ool") == []
    assert await completing.values(entity, "id", "1") == []
    buoys = [f"Buoy {n:03}" for n in range(120)]
    await create(buoys)
    for begun, total in (("", 123), ("buoy", 120), ("buoy 00", 10)):
        found = await completing.of(entity, "name", begun)
        shown = buoys[: min(total, 100)]
        assert (found.values, found.total, found.has_more) == (shown, total, total > 100)


async def test_completion_finds_a_beginning_among_thousands(served: Served) -> None:
    with recollect.open(served.recollect.store, model="none") as memory:
        memory.create_entities({"name": f"Node {n}", "type": "node"} for n in range(3_000))
        memory.create_entities(["Old node 29"])
    async with served.inside() as client:
        found = await Completing(client).of("memory://entity/{name}", "name", "NODE 29")
        # 29, 290 to 299, 2900 to 2999, and one that holds it.
        assert (found.total, found.has_more) == (112, True)
        begun = sorted(f"Node {n}" for n in (29, *range(290, 300), *range(2_900, 3_000)))
        assert found.values == begun[:100]
        last = await Completing(client).of("memory://entity/{name}", "name", "node 299")
        assert last.values == ["Node 299", *(f"Node {n}" for n in range(2_990, 3_000))]
        assert (last.total, last.has_more) == (11, False)


async def test_completion_of_an_id_offers_those_that_begin_so(client: Client) -> None:
    for number in range(1, 25):
        await call_tool_ok(client, "remember", text=f"Ship number {number} has passed the light")
    completing = Completing(client)
    memory = "memory://memory/{id}"
    assert await completing.values(memory, "id", "2") == ["2", "20", "21", "22", "23", "24"]
    assert await completing.values(memory, "id", "24") == ["24"]
    found = await completing.of(memory, "id", "")
    assert (found.values, found.total) == ([str(id_) for id_ in range(1, 25)], 24)
    for nothing in ("0", "99", "x", "²", "9" * 30):
        assert await completing.values(memory, "id", nothing) == []


@pytest.mark.usefixtures("undoubted")
async def test_prompts_ask_to_save_and_bring_what_is_known(client: Client) -> None:
    prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
    assert set(prompts) == {"save", "recall"}
    await call_tool_ok(client, "remember", text="Marisol drinks oolong")

    async def text(name: str, **given: str) -> str:
        (message,) = (await client.get_prompt(name, given)).messages
        assert message.role == "user"
        assert isinstance(message.content, types.TextContent)
        return message.content.text

    assert "Marisol drinks oolong" in await text("recall", topic="oolong")
    assert 'above all about "boats"' in await text("save", focus="boats")
    assert "above all" not in await text("save")


def test_a_prompt_that_asks_for_tools_that_are_missing_is_not_there(engine: Engine) -> None:
    few = ("recall", "context")
    assert [one.name for one in prompts.offered_prompts(few)] == ["recall"]
    with pytest.raises(NotFound, match="There is no prompt 'save'; there are: recall"):
        prompts.render_prompt(engine, "save", {}, few)
    assert prompts.render_prompt(engine, "recall", {"topic": "tea"}, few).messages
