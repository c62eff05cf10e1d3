"""The official memory server and ours, asked the same through the same client.

docs/guides/official-server.md lists the differences. Each one has a test here that shows both answers,
except the difference in notifications.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from conftest import PATIENCE_SECONDS
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_world import texts_of
from official_calls import Calls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import mcp_types as types
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures", "official_server"]
pytestmark = pytest.mark.anyio


@dataclass(frozen=True)
class Both:
    """Two servers, and what each answers."""

    official: Client
    ours: Client

    async def results(self, tool: str, **given: Any) -> tuple[types.CallToolResult, types.CallToolResult]:
        return await self.official.call_tool(tool, given), await self.ours.call_tool(tool, given)

    async def data(self, tool: str, **given: Any) -> tuple[Any, Any]:
        theirs, ours = await self.results(tool, **given)
        assert not theirs.is_error
        assert not ours.is_error
        return theirs.structured_content, ours.structured_content

    async def alike(self, tool: str, **given: Any) -> None:
        theirs, ours = await self.results(tool, **given)
        assert shape(theirs) == shape(ours), (tool, given)


def shape(result: types.CallToolResult) -> tuple[bool, object, str]:
    """Return a result's error flag, data and first text. Our server may add a second text."""
    return bool(result.is_error), result.structured_content, texts_of(result)[0]


@asynccontextmanager
async def both(served: Served, program: tuple[str, ...], ours: str = "inside") -> AsyncIterator[Both]:
    command, *arguments = program
    parameters = StdioServerParameters(
        command=command, args=arguments, env={"MEMORY_FILE_PATH": str(served.folder / "memory.jsonl")}
    )
    with (served.folder / "official-stderr").open("w") as log:
        transport = stdio_client(parameters, errlog=log)
        async with (
            Client(transport, mode="legacy", read_timeout_seconds=PATIENCE_SECONDS) as official,
            served.over(ours, mode="legacy") as client,
        ):
            yield Both(official, client)


@pytest.fixture
async def pair(served: Served, official_program: tuple[str, ...]) -> AsyncIterator[Both]:
    async with both(served, official_program) as found:
        yield found


def entity(name: str, *observations: str, type_: str = "person") -> dict[str, Any]:
    return {"name": name, "entityType": type_, "observations": list(observations)}


def relation(source: str, type_: str, target: str) -> dict[str, str]:
    return {"from": source, "to": target, "relationType": type_}


def ordered(graph: dict[str, Any]) -> dict[str, Any]:
    return {**graph, "entities": sorted(graph["entities"], key=lambda one: one["name"])}


@pytest.mark.parametrize("seed", range(3))
async def test_random_calls_get_the_same_answers(
    served: Served, official_program: tuple[str, ...], seed: int
) -> None:
    async with both(served, official_program, ours="inside" if seed else "stdio") as pair:
        for tool, given in islice(Calls(seed), 100):
            if tool == "search_nodes":
                theirs, ours = await pair.data(tool, **given)
                assert ordered(theirs) == ordered(ours), given
            else:
                await pair.alike(tool, **given)
        await pair.alike("read_graph")
        theirs, ours = [
            await one.read_resource("memory://knowledge-graph") for one in (pair.official, pair.ours)
        ]
        assert theirs.model_dump(include={"contents"}) == ours.model_dump(include={"contents"})


async def test_our_tools_take_what_the_official_ones_take(pair: Both) -> None:
    theirs = {tool.name: tool for tool in (await pair.official.list_tools()).tools}
    ours = {tool.name: tool for tool in (await pair.ours.list_tools()).tools}
    assert set(theirs) <= set(ours)
    for name, official in theirs.items():
        mine = ours[name]
        assert set(official.input_schema.get("required", ())) == set(mine.input_schema.get("required", ()))
        assert set(official.input_schema["properties"]) <= set(mine.input_schema["properties"])
        assert official.output_schema is not None
        assert mine.output_schema is not None
        assert official.output_schema["required"] == mine.output_schema["required"]
        hints = official.annotations
        assert hints is not None
        assert mine.annotations is not None
        assert hints.model_dump(exclude={"title"}) == mine.annotations.model_dump(exclude={"title"})
    # Our titles are sentences of their own.
    assert (theirs["read_graph"].title, ours["read_graph"].title) == ("Read Graph", "Read the graph")


async def test_an_existing_name_gains_its_new_observations(pair: Both) -> None:
    await pair.alike("create_entities", entities=[entity("Ada", "sails")])
    theirs, ours = await pair.results(
        "create_entities", entities=[entity("Ada", "sails", "likes tea", type_="x")]
    )
    assert theirs.structured_content == {"entities": []}
    assert ours.structured_content == {"entities": [entity("Ada", "likes tea")]}
    assert texts_of(ours)[1] == (
        'These existed and gained the new observations: "Ada". "Ada" keeps its type "person".'
    )
    graphs = await pair.data("open_nodes", names=["Ada"])
    assert [graph["entities"] for graph in graphs] == [
        [entity("Ada", "sails")],
        [entity("Ada", "sails", "likes tea")],
    ]


async def test_a_relation_to_a_missing_entity_creates_it(pair: Both) -> None:
    await pair.alike("create_entities", entities=[entity("Ada")])
    theirs, ours = await pair.results("create_relations", relations=[relation("Ada", "knows", "Bo")])
    assert shape(theirs) == shape(ours)
    assert texts_of(ours)[1] == (
        "These entities did not exist and were created with the type 'unknown': \"Bo\"."
    )
    graphs = await pair.data("read_graph")
    assert [graph["entities"] for graph in graphs] == [
        [entity("Ada")],
        [entity("Ada"), entity("Bo", type_="unknown")],
    ]


async def test_an_entity_that_a_relation_created_takes_its_type_when_it_is_given(pair: Both) -> None:
    await pair.alike("create_relations", relations=[relation("Zed", "works_at", "Acme")])
    given = [entity("Acme", "makes anvils", type_="company"), entity("Zed")]
    theirs, ours = await pair.results("create_entities", entities=given)
    assert shape(theirs) == shape(ours)
    assert texts_of(ours)[1] == (
        'These existed and gained the new observations: "Acme". '
        "These had the type 'unknown' and took the one given: "
        '"Acme" ("company"), "Zed" ("person").'
    )
    graphs = await pair.data("read_graph")
    assert ordered(graphs[0]) == ordered(graphs[1])
    theirs, ours = await pair.results("create_entities", entities=[entity("Acme", type_="ship")])
    assert shape(theirs) == shape(ours)
    assert texts_of(ours)[1] == '"Acme" keeps its type "company".'


async def test_a_few_relations_bring_their_inverse(pair: Both) -> None:
    await pair.alike("create_entities", entities=[entity("Harbour"), entity("Pier")])
    await pair.alike("create_relations", relations=[relation("Harbour", "contains", "Pier")])
    theirs, ours = await pair.data("read_graph")
    assert theirs["relations"] == [relation("Harbour", "contains", "Pier")]
    assert ours["relations"] == [*theirs["relations"], relation("Pier", "part_of", "Harbour")]
    await pair.alike("delete_relations", relations=[relation("Harbour", "contains", "Pier")])
    await pair.alike("read_graph")


async def test_what_has_no_visible_character_is_refused(pair: Both) -> None:
    for nothing in (entity(" "), entity("Ada", ""), entity("Ada", type_="")):
        theirs, ours = await pair.results("create_entities", entities=[nothing])
        assert not theirs.is_error
        assert ours.is_error
        assert "give it at least one visible character" in texts_of(ours)[0]


async def test_errors_say_what_to_do(pair: Both) -> None:
    given = {"observations": [{"entityName": "Nobody", "contents": ["sails"]}]}
    theirs, ours = await pair.results("add_observations", **given)
    assert shape(theirs) == (True, None, "Entity with name Nobody not found")
    assert shape(ours) == (True, None, "There is no entity named 'Nobody'; create it first.")
    theirs, ours = await pair.results("search_nodes")
    assert theirs.is_error
    assert "Input validation error" in texts_of(theirs)[0]
    told = "search_nodes: `query` is missing; it takes query. Nothing was done."
    assert shape(ours) == (True, None, told)
    theirs, ours = await pair.results("read_graph", depth=2)
    assert not theirs.is_error
    assert ours.is_error
    assert "there is no argument 'depth'" in texts_of(ours)[0]


async def test_a_search_finds_words_apart_and_puts_the_best_first(pair: Both) -> None:
    rows = [entity("Ada", "knows a man who sells tea, coffee, cocoa and many other things"), entity("Tea")]
    await pair.alike("create_entities", entities=rows)
    theirs, ours = await pair.data("search_nodes", query="tea")
    assert [one["name"] for one in theirs["entities"]] == ["Ada", "Tea"]
    assert [one["name"] for one in ours["entities"]] == ["Tea", "Ada"]
    theirs, ours = await pair.data("search_nodes", query="cocoa coffee")
    assert theirs["entities"] == []
    assert [one["name"] for one in ours["entities"]] == ["Ada"]


async def test_a_large_answer_comes_in_pages(pair: Both) -> None:
    rows = [entity(f"Buoy {number:03}", "floats " * 200) for number in range(60)]
    theirs, ours = await pair.data("create_entities", entities=rows)
    assert theirs["entities"] == rows
    shown = ours["entities"]
    assert 0 < len(shown) < len(rows)
    assert shown == rows[: len(shown)]
    assert ours["note"] == "All 60 were saved; only what fits 10000 tokens is repeated here."
    theirs, ours = await pair.data("read_graph")
    assert theirs["entities"] == rows
    seen = ours["entities"]
    assert len(seen) < len(rows)
    while "cursor" in ours:
        ours = (await pair.ours.call_tool("read_graph", {"cursor": ours["cursor"]})).structured_content
        seen += ours["entities"]
    assert seen == rows


async def test_an_overgrown_entity_comes_in_stretches(pair: Both) -> None:
    log = entity("Log", *(f"day {number}: calm sea, no ship in sight" for number in range(1_500)))
    await pair.data("create_entities", entities=[log])
    theirs, ours = await pair.data("open_nodes", names=["Log"])
    assert theirs["entities"] == [log]
    seen = ours["entities"][0]["observations"]
    assert len(seen) < 1_500
    while "cursor" in ours:
        given = {"names": ["Log"], "cursor": ours["cursor"]}
        ours = (await pair.ours.call_tool("open_nodes", given)).structured_content
        seen += ours["entities"][0]["observations"]
    assert seen == log["observations"]


async def test_a_name_in_another_case_finds_the_entity_and_deletes_nothing(pair: Both) -> None:
    await pair.alike("create_entities", entities=[entity("Zoë")])
    theirs, ours = await pair.data("open_nodes", names=["ZOE"])
    assert (theirs["entities"], ours["entities"]) == ([], [entity("Zoë")])
    theirs, ours = await pair.results("delete_entities", entityNames=["ZOE"])
    assert shape(theirs) == shape(ours)
    assert texts_of(ours)[1] == "Nothing matched; names are exact; there is no 'ZOE', but 'Zoë'."
    await pair.alike("read_graph")
    theirs, ours = await pair.data("create_relations", relations=[relation("zoë", "knows", "ZOË")])
    assert theirs == {"relations": [relation("zoë", "knows", "ZOË")]}
    assert ours == {"relations": [relation("Zoë", "knows", "Zoë")]}


async def test_a_deletion_says_what_was_not_there_and_how_to_undo_it(pair: Both) -> None:
    theirs, ours = await pair.results("delete_entities", entityNames=["Nobody"])
    assert texts_of(theirs) == ["Entities deleted successfully"]
    assert texts_of(ours) == [
        *texts_of(theirs),
        "Nothing matched; names are exact; `search_nodes` finds them.",
    ]
    await pair.alike("create_entities", entities=[entity("Ada"), entity("Bo")])
    knows = relation("Ada", "knows", "Bo")
    await pair.alike("create_relations", relations=[knows])
    theirs, ours = await pair.results("delete_relations", relations=[knows, relation("Bo", "knows", "Ada")])
    assert shape(theirs) == shape(ours)
    assert texts_of(ours)[1].startswith("Only 1 of 2 existed; ")
    theirs, ours = await pair.results("delete_entities", entityNames=["Ada"])
    assert texts_of(ours) == [*texts_of(theirs), "`recollect restore 1` brings them back."]


async def test_names_are_kept_composed_and_repeats_inside_one_call_once(pair: Both) -> None:
    given = [entity("  Zoe\u0308 ", "sails", "sails"), entity("  Zoe\u0308 ", "rows")]
    await pair.data("create_entities", entities=given)
    theirs, ours = await pair.data("read_graph")
    assert theirs["entities"] == given
    assert ours["entities"] == [entity("Zo\u00eb", "sails", "rows")]
