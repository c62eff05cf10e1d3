"""Every tool through the SDK's own client, over both transports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator
from mcp_world import GOOD, done, good_results, refused, said

from recollect.serve.catalogue import SETS, TOOLS

if TYPE_CHECKING:
    from mcp_world import Arguments, Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
BOTH = pytest.mark.parametrize("transport", ["stdio", "http"])
# How often and how lately a memory was used is part of what this one answers with.
TIMED = {"search_semantic"}


def test_the_good_calls_leave_no_tool_out() -> None:
    assert {tool for tool, _ in GOOD} == set(TOOLS)


@BOTH
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_every_tool_answers_in_the_form_that_it_promises(
    served: Served, transport: str, mode: str
) -> None:
    async with served.over(transport, "--tools", "all", mode=mode) as client:
        forms = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        async for tool, _, result in good_results(client):
            assert not result.is_error, (tool, said(result))
            Draft202012Validator(forms[tool]).validate(result.structured_content)
            assert all(said(result)), tool


async def test_every_tool_describes_itself_with_valid_schemas_and_all_hints(served: Served) -> None:
    async with served.inside("all") as client:
        tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(TOOLS)
    for tool in tools:
        assert tool.title
        assert tool.description
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema is not None
            assert schema["type"] == "object"
        hints = tool.annotations
        assert hints is not None
        ours = TOOLS[tool.name]
        assert hints.read_only_hint is ours.reads
        assert hints.destructive_hint is ours.destroys
        assert hints.idempotent_hint is ours.repeats
        assert hints.open_world_hint is False
        assert not (ours.reads and ours.destroys)


async def test_asking_twice_gives_the_same_bytes(served: Served) -> None:
    async with served.inside("all") as client:
        readers = [(tool, given) async for tool, given, _ in good_results(client) if TOOLS[tool].reads]
        for tool, given in readers:
            if tool not in TIMED:
                once, again = [(await client.call_tool(tool, given)).model_dump_json() for _ in range(2)]
                assert once == again, tool
        first, second = [(await client.list_tools(cache_mode="bypass")).model_dump_json() for _ in range(2)]
        assert first == second


async def test_a_call_that_may_be_repeated_changes_nothing_more(served: Served) -> None:
    async with served.inside("all") as client:
        async for tool, given, result in good_results(client):
            assert not result.is_error, said(result)
            if TOOLS[tool].repeats:
                before = await done(client, "read_graph"), await done(client, "stats")
                await done(client, tool, **given)
                assert (await done(client, "read_graph"), await done(client, "stats")) == before, tool


async def test_an_unknown_tool_is_an_error_that_names_those_on_offer(served: Served) -> None:
    async with served.inside() as client:
        assert await refused(client, "recal", query="tea") == (
            f"There is no tool 'recal'; there are: {', '.join(SETS['default'])}."
        )


@BOTH
async def test_wrong_arguments_are_an_error_that_says_what_and_where(served: Served, transport: str) -> None:
    async with served.over(transport) as client:
        assert await refused(client, "recall") == (
            "recall: 'query' is a required property. Nothing was done."
        )
        assert await refused(client, "recall", query="tea", limit=0) == (
            "recall: `limit`: 0 is less than the minimum of 1. Nothing was done."
        )
        assert await refused(client, "recall", qery="tea", query="tea") == (
            "recall: Additional properties are not allowed ('qery' was unexpected). Nothing was done."
        )
        entities = [{"name": "Tea", "entityType": "drink", "observations": "hot"}]
        assert await refused(client, "create_entities", entities=entities) == (
            "create_entities: `entities.0.observations`: 'hot' is not of type 'array'. Nothing was done."
        )
        assert await done(client, "read_graph") == {"entities": [], "relations": []}


async def test_a_mistake_of_the_memorys_is_an_error_that_says_what_to_do(served: Served) -> None:
    async with served.inside("all") as client:
        observations = [{"entityName": "Nobody", "contents": ["Sails"]}]
        assert await refused(client, "add_observations", observations=observations) == (
            "There is no entity named 'Nobody'; create it first."
        )
        assert await refused(client, "remember", text=" ") == (
            "The text is empty; give it at least one visible character."
        )
        assert await refused(client, "remember", text="Tea", happened_at="teatime") == (
            "`happened_at` is 'teatime', which is no time in ISO 8601; "
            "write 2026-03-01 or 2026-03-01T09:00:00Z."
        )
        assert await refused(client, "history", id=7) == "There is no memory 7."
        assert await refused(client, "context") == (
            "Give a `query`, or the last `messages` of the conversation."
        )
        assert await refused(client, "read_graph", cursor="²") == (
            "There is no page '²'; pass on the `cursor` of the last answer, or none."
        )


async def test_a_batch_with_one_bad_row_writes_nothing(served: Served) -> None:
    async with served.inside() as client:
        rows: list[Arguments] = [
            {"name": name, "entityType": "drink", "observations": []} for name in ("Tea", " ")
        ]
        assert (await refused(client, "create_entities", entities=rows)).endswith("Nothing was written.")
        assert await done(client, "read_graph") == {"entities": [], "relations": []}


async def test_a_whole_number_may_be_written_with_a_point(served: Served) -> None:
    async with served.inside("all") as client:
        await done(client, "remember", text="Marisol drinks oolong")
        assert len((await done(client, "recall", query="oolong", limit=1.0))["hits"]) == 1
        assert (await done(client, "history", id=1.0))["id"] == 1


@pytest.mark.parametrize("chosen", [*SETS, "recall, stats"])
async def test_a_server_offers_the_tools_of_its_set_and_no_other(served: Served, chosen: str) -> None:
    names = list(SETS.get(chosen, ("recall", "stats")))
    async with served.inside(chosen) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names
        for other in set(TOOLS) - set(names):
            assert (await refused(client, other)).startswith(f"There is no tool '{other}'")


async def test_the_graph_comes_in_pages_that_join_to_the_whole(served: Served) -> None:
    names = [f"Buoy {number:02}" for number in range(25)]
    async with served.inside() as client:
        rows = [{"name": name, "entityType": "buoy", "observations": ["floats " * 20]} for name in names]
        await done(client, "create_entities", entities=rows)
        for given in ({"limit": 7}, {"budget_tokens": 300}):
            page = await done(client, "read_graph", **given)
            seen = [entity["name"] for entity in page["entities"]]
            while "cursor" in page:
                page = await done(client, "read_graph", cursor=page["cursor"], **given)
                seen += [entity["name"] for entity in page["entities"]]
            assert seen == names


async def test_what_a_search_leaves_out_is_told(served: Served) -> None:
    async with served.inside() as client:
        rows = [
            {"name": f"Buoy {n:02}", "entityType": "buoy", "observations": ["red " * 30]} for n in range(9)
        ]
        await done(client, "create_entities", entities=rows)
        found = await client.call_tool("search_nodes", {"query": "buoy", "limit": 4})
        assert found.structured_content is not None
        assert len(found.structured_content["entities"]) == 4
        note = "There are more than 4; raise `limit`, or ask more narrowly."
        assert found.structured_content["note"] == said(found)[1] == note
        names = [row["name"] for row in rows]
        small = await done(client, "open_nodes", names=names, budget_tokens=100)
        left = 9 - len(small["entities"])
        assert small["note"] == (
            f"{left} more did not fit 100 tokens; allow more with `budget_tokens`, or ask more narrowly."
        )
        assert "cursor" not in small
        assert "note" not in await done(client, "search_nodes", query="buoy", limit=9)
