"""Resources with their notices of change, completion, and prompts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp_world import PATIENCE_SECONDS, done

if TYPE_CHECKING:
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
GRAPH = "memory://knowledge-graph"
ADA = {"name": "Ada", "entityType": "person", "observations": ["sails"]}


async def read(client: Client, uri: str) -> Any:
    (content,) = (await client.read_resource(uri)).contents
    assert isinstance(content, types.TextResourceContents)
    assert content.mime_type == "application/json"
    return json.loads(content.text)


async def test_the_graph_is_a_resource_and_single_memories_have_templates(served: Served) -> None:
    async with served.inside() as client:
        (graph,) = (await client.list_resources()).resources
        assert str(graph.uri) == GRAPH
        templates = (await client.list_resource_templates()).resource_templates
        assert [each.uri_template for each in templates] == [
            "memory://entity/{name}",
            "memory://memory/{id}",
        ]
        assert await read(client, GRAPH) == {"entities": [], "relations": []}


async def test_entities_and_memories_are_read_by_their_address(served: Served) -> None:
    odd = {"name": "Zoë / C++ #1?", "entityType": "thing", "observations": []}
    async with served.inside() as client:
        await done(client, "create_entities", entities=[ADA, odd])
        note = (await done(client, "remember", text="Ada sails", tags=["boats"]))["id"]
        assert await read(client, "memory://entity/Ada") == {"entities": [ADA], "relations": []}
        address = "memory://entity/Zo%C3%AB%20%2F%20C%2B%2B%20%231%3F"
        assert (await read(client, address))["entities"] == [odd]
        assert await read(client, "memory://memory/1") == ADA
        told = await read(client, f"memory://memory/{note}")
        assert (told["kind"], told["text"], told["tags"]) == ("note", "Ada sails", ["boats"])


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize(
    "uri",
    [
        "memory://entity/Nobody",
        "memory://memory/7",
        "memory://memory/²",
        "memory://memory/" + "9" * 5000,
        "memory://elsewhere",
        "file:///etc/passwd",
    ],
    ids=lambda uri: uri[:24],
)
async def test_an_address_that_leads_nowhere_is_an_error_that_tells_where_to_go(
    served: Served, mode: str, uri: str
) -> None:
    async with served.inside(mode=mode) as client:
        with pytest.raises(
            MCPError, match="there are memory://knowledge-graph, memory://entity/NAME"
        ) as caught:
            await client.read_resource(uri)
        assert caught.value.code == types.INVALID_PARAMS


@pytest.mark.parametrize("transport", ["stdio", "http"])
async def test_a_modern_client_that_listens_hears_of_changes(served: Served, transport: str) -> None:
    async with served.over(transport) as client:
        assert client.protocol_version == "2026-07-28"
        async with client.listen(resource_subscriptions=[GRAPH]) as heard:
            await done(client, "read_graph")
            await done(client, "create_entities", entities=[ADA])
            with anyio.fail_after(PATIENCE_SECONDS):
                event = await anext(aiter(heard))
        assert event.uri == GRAPH  # type: ignore[union-attr]  # the only sort of event asked for
        assert (await read(client, GRAPH))["entities"] == [ADA]


# The SDK's own client still does it, and says that newer servers will not.
@pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")
@pytest.mark.parametrize("transport", ["stdio", "http"])
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
        await done(client, "read_graph")
        await done(client, "create_entities", entities=[ADA])
        with anyio.fail_after(PATIENCE_SECONDS):
            await woken.wait()
        assert heard == [GRAPH]
        await client.unsubscribe_resource(GRAPH)
        await done(client, "delete_entities", entityNames=["Ada"])
        await done(client, "read_graph")
        assert heard == [GRAPH]


async def test_one_client_hears_of_anothers_change(served: Served) -> None:
    with served.http() as door:
        async with door.client() as listener, door.client() as writer:
            async with listener.listen(resource_subscriptions=[GRAPH]) as heard:
                await done(writer, "create_entities", entities=[ADA])
                with anyio.fail_after(PATIENCE_SECONDS):
                    await anext(aiter(heard))
            assert (await read(listener, GRAPH))["entities"] == [ADA]


async def test_completion_offers_names_that_begin_so_first(served: Served) -> None:
    names = ["Oolong tea", "Green oolong", "Ferry"]
    async with served.inside() as client:
        rows = [{"name": name, "entityType": "thing", "observations": []} for name in names]
        await done(client, "create_entities", entities=rows)

        async def completed(argument: str, begun: str) -> list[str]:
            entity = types.ResourceTemplateReference(type="ref/resource", uri="memory://entity/{name}")
            answer = await client.complete(entity, {"name": argument, "value": begun})
            return answer.completion.values

        assert await completed("name", "ool") == ["Oolong tea", "Green oolong"]
        assert await completed("name", "zz") == []
        assert await completed("name", "") == []
        assert await completed("id", "1") == []


async def test_prompts_ask_to_save_and_bring_what_is_known(served: Served) -> None:
    async with served.inside() as client:
        prompts = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert set(prompts) == {"save", "recall"}
        await done(client, "remember", text="Marisol drinks oolong")

        async def text(name: str, **given: str) -> str:
            (message,) = (await client.get_prompt(name, given)).messages
            assert message.role == "user"
            assert isinstance(message.content, types.TextContent)
            return message.content.text

        assert "Marisol drinks oolong" in await text("recall", topic="oolong")
        assert "above all about boats" in await text("save", focus="boats")
        assert "above all" not in await text("save")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_unknown_prompt_is_an_error_that_names_those_there_are(served: Served, mode: str) -> None:
    async with served.inside(mode=mode) as client:
        with pytest.raises(MCPError, match="There is no prompt 'sing'; there are: save, recall") as caught:
            await client.get_prompt("sing")
        assert caught.value.code == types.INVALID_PARAMS
