"""Every tool through the SDK's own client, over both transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conftest import FixedClock
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_world import GOOD, done, good_results, offering, refused, said

import recollect
from recollect.mcp.server import MemoryServer
from recollect.operations.catalogue import SETS, definitions
from recollect.operations.operation import OperationCall, OperationReply, operation

if TYPE_CHECKING:
    from mcp_world import Arguments, Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
TOOLS = definitions()
# How often and how lately a memory was used is part of what this one answers with.
TIMED = {"search_semantic"}


def test_the_good_calls_leave_no_tool_out() -> None:
    assert {tool for tool, _ in GOOD} == set(TOOLS)


@pytest.mark.parametrize(
    ("transport", "mode"),
    [("inside", "auto"), ("inside", "legacy"), ("stdio", "auto"), ("http", "legacy")],
)
async def test_every_tool_answers_in_the_form_that_it_promises(
    served: Served, transport: str, mode: str
) -> None:
    async with served.over(transport, "all", mode=mode) as client:
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
        assert hints.read_only_hint is ours["read_only"]
        assert hints.destructive_hint is ours["destructive"]
        assert hints.idempotent_hint is ours["idempotent"]
        assert hints.open_world_hint is False
        assert not (ours["read_only"] and ours["destructive"])


async def test_asking_twice_gives_the_same_bytes(served: Served) -> None:
    async with served.inside("all") as client:
        readers = [(tool, given) async for tool, given, _ in good_results(client) if TOOLS[tool]["read_only"]]
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
            if TOOLS[tool]["idempotent"]:
                before = await _state(client)
                await done(client, tool, **given)
                assert await _state(client) == before, tool


async def _state(client: Client) -> tuple[Any, Any]:
    """All but the size of the file: what was asked is noted there."""
    stats = await done(client, "stats")
    return await done(client, "read_graph"), stats | {"store": stats["store"] | {"bytes": None}}


async def test_an_unknown_tool_is_an_error_that_names_those_on_offer(served: Served) -> None:
    async with served.inside() as client:
        assert await refused(client, "recal", query="tea") == (
            f"There is no tool 'recal'; there are: {', '.join(SETS['default'])}."
        )


@pytest.mark.parametrize("transport", ["inside", "stdio"])
async def test_wrong_arguments_are_an_error_that_says_what_and_where(served: Served, transport: str) -> None:
    async with served.over(transport) as client:
        assert await refused(client, "recall") == (
            "recall: `query` is missing; it takes query. Nothing was done."
        )
        assert await refused(client, "recall", query="tea", limit=0) == (
            "recall: `limit`: 0: input should be greater than or equal to 1. Nothing was done."
        )
        assert await refused(client, "recall", qery="tea", query="tea") == (
            "recall: there is no argument 'qery'; there are: "
            f"{', '.join(TOOLS['recall']['arguments']['properties'])}. Nothing was done."
        )
        entities = [{"name": "Tea", "entityType": "drink", "observations": "hot"}]
        assert await refused(client, "create_entities", entities=entities) == (
            "create_entities: `entities.0.observations`: 'hot' is a string; pass an array, not a string "
            "that holds one. Nothing was done."
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
            "remember: `happened_at`: 'teatime': no time in ISO 8601; "
            "write 2026-03-01 or 2026-03-01T09:00:00Z. Nothing was done."
        )
        assert await refused(client, "history", id=7) == (
            "There is no memory 7. Ids stand after # in what `recall` answers."
        )
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
        note = "There are more than 4; go on with `cursor`, or ask more narrowly."
        assert found.structured_content["note"] == note
        assert said(found)[1] == f"{note} The next page: cursor '4'."
        names = [row["name"] for row in rows]
        small = await done(client, "open_nodes", names=names, budget_tokens=100)
        left = 9 - len(small["entities"])
        assert small["note"] == (
            f"{left} more did not fit 100 tokens; go on with `cursor`, or ask more narrowly."
        )
        assert "note" not in await done(client, "search_nodes", query="buoy", limit=9)


async def test_the_next_step_after_an_id_that_is_not_there_is_named(served: Served) -> None:
    async with served.inside("all") as client:
        await done(client, "remember", text="Marisol drinks oolong")
        for tool, given in (
            ("history", {"id": 9}),
            ("why_not", {"query": "oolong", "id": 9}),
            ("remember", {"text": "Marisol drinks rooibos", "supersedes": 9}),
        ):
            assert "`recall`" in await refused(client, tool, **given), tool
        assert "`include_superseded`" in await refused(client, "restore", id=9)
        gone = await client.call_tool("forget", {"ids": [9]})
        assert said(gone) == [
            "Forgotten: nothing.",
            "Not there: #9. Ids stand after # in what `recall` answers.",
        ]


async def test_a_relation_that_is_not_there_is_answered_with_those_that_are(served: Served) -> None:
    async with served.inside("all") as client:
        leads = {"from": "Marisol", "to": "Tidebook", "relationType": "leads"}
        await done(client, "create_relations", relations=[leads])
        assert await refused(client, "end_relation", **{**leads, "relationType": "owns"}) == (
            "No relation 'Marisol' owns 'Tidebook' is in force; there is nothing to end. "
            '\'Marisol\' has: "Marisol" "leads" "Tidebook".'
        )
        assert await refused(client, "end_relation", **{**leads, "from": "Nobody"}) == (
            "There is no entity named 'Nobody', so nothing ends; `search_nodes` finds names."
        )
        assert await refused(client, "end_relation", **{**leads, "to": "Nobody"}) == (
            "There is no entity named 'Nobody', so nothing ends. "
            '\'Marisol\' has: "Marisol" "leads" "Tidebook".'
        )


async def test_a_name_that_could_mean_two_entities_is_answered_with_both(served: Served) -> None:
    async with served.inside("all") as client:
        rows: list[Arguments] = [
            {"name": name, "entityType": "person", "observations": []} for name in ("Ada", "ada", "Bo")
        ]
        await done(client, "create_entities", entities=rows)
        both = "There is no entity named 'ADA'; it could be 'Ada' or 'ada': use the exact name."
        assert await refused(client, "set_status", entityName="ADA", status="paused") == both
        assert await refused(client, "analyze_entity_split", entity_name="ADA") == both
        ends = {"from": "ADA", "to": "Bo", "relationType": "knows"}
        assert await refused(client, "end_relation", **ends) == both
        assert await refused(client, "set_status", entityName="Nobody", status="paused") == (
            "There is no entity named 'Nobody'; `search_nodes` finds names."
        )


async def test_a_deletion_takes_exact_names_and_tells_of_those_in_another_case(served: Served) -> None:
    async with served.inside() as client:
        rows: list[Arguments] = [
            {"name": name, "entityType": "person", "observations": []} for name in ("Ada", "Zoë", "zoe")
        ]
        await done(client, "create_entities", entities=rows)
        result = await client.call_tool("delete_entities", {"entityNames": ["ADA"]})
        assert said(result)[1] == "Nothing matched; names are exact; there is no 'ADA', but 'Ada'."
        result = await client.call_tool("delete_entities", {"entityNames": ["zoe", "ZOE"]})
        assert said(result)[1].startswith(
            "Only 1 of 2 were there; names are exact; there is no 'ZOE', but 'Zoë'. `recollect restore"
        )
        left = await done(client, "read_graph")
        assert [one["name"] for one in left["entities"]] == ["Ada", "Zoë"]


async def test_relations_that_were_not_there_are_counted(served: Served) -> None:
    async with served.inside() as client:
        inside = {"from": "Harbour", "to": "Pier", "relationType": "contains"}
        await done(client, "create_relations", relations=[inside])
        gone = await client.call_tool(
            "delete_relations", {"relations": [inside, {**inside, "relationType": "owns"}]}
        )
        assert said(gone) == [
            "Relations deleted successfully",
            "Only 1 of 2 were there; `open_nodes` of either end shows what there is.",
        ]
        await done(client, "create_relations", relations=[inside])
        assert len(said(await client.call_tool("delete_relations", {"relations": [inside]}))) == 1


@pytest.mark.parametrize("tools", SETS)
async def test_an_answer_recommends_no_tool_that_is_not_offered(served: Served, tools: str) -> None:
    facts = [f"day {n}: calm sea, no ship in sight" for n in range(300)]
    with recollect.open(served.recollect.store, model="hashing") as memory:
        memory.create_entities([{"name": "Log", "type": "log", "observations": facts}])
    async with served.inside(tools) as client:
        result = await client.call_tool("recall", {"query": "calm sea"})
        told = " ".join(said(result))
        assert "cut to fit" in told
        named = {name for name in TOOLS if f"`{name}`" in told}
        assert named <= set(SETS[tools])
        assert ("open_nodes" in named) is ("open_nodes" in SETS[tools])


async def test_a_dream_that_never_was_is_answered_with_those_that_can_be_undone(served: Served) -> None:
    async with served.inside("all") as client:
        assert await refused(client, "undo_dream", id=9) == "There is no dream 9; there is none to undo."
        async for tool, _, result in good_results(client):
            if tool == "dream":
                assert result.structured_content is not None
                there = f"those that can be undone: {result.structured_content['id']}"
                assert await refused(client, "undo_dream", id=9) == f"There is no dream 9; {there}."


async def test_a_search_goes_on_to_the_last_of_thousands(served: Served) -> None:
    names = {f"Node {n}" for n in range(1_300)}
    with recollect.open(served.recollect.store, model="none") as memory:
        memory.create_entities({"name": name, "type": "node"} for name in sorted(names))
    async with served.inside() as client:
        for query in ("node", "ode", ""):
            given: Arguments = {"query": query, "limit": 200, "budget_tokens": 20_000}
            seen: list[str] = []
            while True:
                page = await done(client, "search_nodes", **given)
                seen += [one["name"] for one in page["entities"]]
                if "cursor" not in page:
                    break
                assert page["note"]
                given["cursor"] = page["cursor"]
            assert len(seen) == 1_300, query
            assert set(seen) == names


@pytest.mark.parametrize("profile", ["recollect", "limbic", "mnemosyne", "reverie"])
async def test_a_minute_later_an_explanation_reads_the_same(served: Served, profile: str) -> None:
    clock = FixedClock()
    with recollect.open(served.recollect.store, model="hashing", clock=clock) as memory:
        for day in range(3):
            memory.remember(f"Marisol drank oolong on day {day}")
            clock.tick(40_000)
        async with Client(MemoryServer(lambda: memory, tuple(TOOLS)).server()) as client:
            given = {"query": "who drank oolong?", "profile": profile}
            once = await client.call_tool("explain", given)
            clock.tick(60)
            again = await client.call_tool("explain", given)
    assert once.structured_content is not None
    assert len(once.structured_content["hits"]) == 3
    assert once.model_dump_json() == again.model_dump_json()


@pytest.mark.parametrize(
    ("tool", "given", "also"),
    [
        ("delete_entities", {"entityNames": ["Nobody"]}, "`search_nodes` finds them"),
        (
            "delete_observations",
            {"deletions": [{"entityName": "Ada", "observations": ["rows"]}]},
            "`open_nodes` shows them",
        ),
        (
            "delete_relations",
            {"relations": [{"from": "Ada", "to": "Bo", "relationType": "knows"}]},
            "`open_nodes` of either end",
        ),
    ],
)
async def test_a_deletion_that_matched_nothing_says_so(
    served: Served, tool: str, given: Arguments, also: str
) -> None:
    async with served.inside() as client:
        rows = [{"name": "Ada", "entityType": "person", "observations": ["sails"]}]
        await done(client, "create_entities", entities=rows)
        result = await client.call_tool(tool, given)
        assert not result.is_error
        first, second = said(result)
        assert first.endswith("deleted successfully")
        assert second.startswith("Nothing matched; ")
        assert also in second


@pytest.mark.parametrize(
    ("tools", "undo"), [("default", "`recollect restore 1`"), ("all", "`restore` brings")]
)
async def test_a_deletion_names_the_way_back_that_the_caller_has(
    served: Served, tools: str, undo: str
) -> None:
    async with served.inside(tools) as client:
        rows = [{"name": "Ada", "entityType": "person", "observations": []}]
        await done(client, "create_entities", entities=rows)
        result = await client.call_tool("delete_entities", {"entityNames": ["Ada", "Bo"]})
        told = said(result)[1]
        assert told.startswith("Only 1 of 2 were there")
        assert undo in told


async def test_an_answer_that_repeats_what_was_written_stays_within_bounds(served: Served) -> None:
    async with served.inside("all") as client:
        rows = [
            {"name": f"Buoy {n:04}", "entityType": "buoy", "observations": ["red " * 20]}
            for n in range(1_000)
        ]
        result = await client.call_tool("create_entities", {"entities": rows})
        assert result.structured_content is not None
        shown = result.structured_content["entities"]
        assert 0 < len(shown) < 1_000
        assert shown == rows[: len(shown)]
        assert result.structured_content["note"].startswith("All 1000 were saved")
        assert (await done(client, "stats"))["entities"] == 1_000
        one = {"name": "Log", "entityType": "log", "observations": ["calm sea, no ship in sight " * 3_000]}
        told = await done(client, "create_entities", entities=[one])
        assert told["note"] == "It was saved whole; only what fits 10000 tokens is repeated here."


async def test_statistics_tell_what_one_would_ask(served: Served) -> None:
    async with served.inside("all") as client:
        await done(client, "remember", text="Marisol moves to Porto in May")
        await done(client, "remember", text="Marisol moves to Lisbon in May", supersedes=1)
        await done(client, "add_messages", session="tea", messages=[{"content": "Hello"}], extract=False)
        leads = {"from": "Marisol", "to": "Tidebook", "relationType": "leads"}
        await done(client, "create_relations", relations=[leads])
        observations = [{"entityName": "Marisol", "contents": ["sails"]}]
        await done(client, "add_observations", observations=observations)
        await done(client, "delete_entities", entityNames=["Tidebook"])
        found = await done(client, "stats")
        store = found.pop("store")
        assert found == {
            "entities": 1,
            "notes": 1,
            "messages": 1,
            "superseded": 1,
            "sessions": 1,
            "model": "hashing@1",
        }
        # What was written last may not be in the file itself yet.
        assert store["bytes"] >= served.recollect.store.stat().st_size
        assert (store["observations"], store["relations"], store["forgotten"]) == (1, 0, 1)
        assert store["texts_waiting_for_one"] == 0
        assert store["schema"] > 0


async def test_an_observation_that_is_not_there_is_asked_for_word_for_word(served: Served) -> None:
    async with served.inside() as client:
        rows = [{"name": "Ada", "entityType": "person", "observations": ["sails"]}]
        await done(client, "create_entities", entities=rows)
        contents = [{"content": "rows", "supersedes": "swims"}]
        assert await refused(
            client, "add_observations", observations=[{"entityName": "Ada", "contents": contents}]
        ) == (
            "'Ada' has no observation 'swims' in force to supersede; name one that it has, word for word: "
            "`open_nodes` shows them."
        )


@pytest.mark.parametrize("reads", [True, False])
async def test_a_fault_of_ours_promises_nothing_that_nobody_knows(served: Served, reads: bool) -> None:
    @operation("Fail", read_only=reads)
    def fail(call: OperationCall) -> OperationReply[dict[str, int]]:
        """Fails."""
        call.engine.remember("Written before the fault")
        raise ZeroDivisionError

    with recollect.open(served.recollect.store, model="hashing") as memory, offering("fail", fail):
        async with Client(MemoryServer(lambda: memory, ["fail"]).server()) as client:
            told = await refused(client, "fail")
    assert told.startswith("fail failed unexpectedly; the server's log has the reason.")
    assert ("Look whether it was done" in told) is not reads
