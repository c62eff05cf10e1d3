"""Every tool through the SDK's own client, over both transports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from conftest import FixedClock
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_world import GOOD, call_tool_ok, good_results, offering, refused, texts_of

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
LEADS = {"from": "Marisol", "to": "Tidebook", "relationType": "leads"}
NO_GRAPH: Arguments = {"entities": [], "relations": []}


def entities(*names: str, facts: tuple[str, ...] = (), type_: str = "person") -> list[Arguments]:
    return [{"name": name, "entityType": type_, "observations": list(facts)} for name in names]


def test_the_good_calls_leave_no_tool_out() -> None:
    assert {tool for tool, _ in GOOD} == set(TOOLS)


@pytest.mark.parametrize(
    ("transport", "mode"), [("inside", "auto"), ("inside", "legacy"), ("stdio", "auto"), ("http", "legacy")]
)
async def test_every_tool_answers_in_the_form_that_it_promises(
    served: Served, transport: str, mode: str
) -> None:
    async with served.over(transport, "all", mode=mode) as client:
        forms = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
        async for tool, _, result in good_results(client):
            assert not result.is_error, (tool, texts_of(result))
            Draft202012Validator(forms[tool]).validate(result.structured_content)
            assert all(texts_of(result)), tool


async def test_every_tool_describes_itself_with_valid_schemas_and_all_hints(client: Client) -> None:
    tools = (await client.list_tools()).tools
    assert [tool.name for tool in tools] == list(TOOLS)
    for tool in tools:
        assert tool.title
        assert tool.description
        for schema in (tool.input_schema, tool.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema is not None
            assert schema["type"] == "object"
        hints, ours = tool.annotations, TOOLS[tool.name]
        assert hints is not None
        told = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
        assert told == (ours["read_only"], ours["destructive"], ours["idempotent"], False)
        assert not (ours["read_only"] and ours["destructive"])


async def test_asking_twice_gives_the_same_bytes(client: Client) -> None:
    readers = [(tool, given) async for tool, given, _ in good_results(client) if TOOLS[tool]["read_only"]]
    for tool, given in readers:
        if tool not in TIMED:
            once, again = [(await client.call_tool(tool, given)).model_dump_json() for _ in range(2)]
            assert once == again, tool
    first, second = [(await client.list_tools(cache_mode="bypass")).model_dump_json() for _ in range(2)]
    assert first == second


async def test_a_call_that_may_be_repeated_changes_nothing_more(client: Client) -> None:
    async def state() -> tuple[Any, Any]:
        """All but the size of the file: what was asked is noted there."""
        stats = await call_tool_ok(client, "stats")
        return await call_tool_ok(client, "read_graph"), stats | {"store": stats["store"] | {"bytes": None}}

    async for tool, given, result in good_results(client):
        assert not result.is_error, texts_of(result)
        if TOOLS[tool]["idempotent"]:
            before = await state()
            await call_tool_ok(client, tool, **given)
            assert await state() == before, tool


@pytest.mark.parametrize("transport", ["inside", "stdio"])
async def test_wrong_arguments_are_an_error_that_says_what_and_where(served: Served, transport: str) -> None:
    known = ", ".join(TOOLS["recall"]["arguments"]["properties"])
    wrong: list[tuple[str, Arguments, str]] = [
        ("recall", {}, "`query` is missing; it takes query"),
        ("recall", {"query": "tea", "limit": 0}, "`limit`: 0: input should be greater than or equal to 1"),
        ("recall", {"qery": "tea", "query": "tea"}, f"there is no argument 'qery'; there are: {known}"),
        (
            "create_entities",
            {"entities": [{"name": "Tea", "entityType": "drink", "observations": "hot"}]},
            "`entities.0.observations`: 'hot' is a string; pass an array, not a string that holds one",
        ),
        (
            "remember",
            {"text": "Tea", "happened_at": "teatime"},
            "`happened_at`: 'teatime': no time in ISO 8601; write 2026-03-01 or 2026-03-01T09:00:00Z",
        ),
    ]
    async with served.over(transport) as client:
        for tool, given, told in wrong:
            assert await refused(client, tool, **given) == f"{tool}: {told}. Nothing was done."
        assert await call_tool_ok(client, "read_graph") == NO_GRAPH


async def test_a_mistake_of_the_memorys_is_an_error_that_says_what_to_do(client: Client) -> None:
    observations = [{"entityName": "Nobody", "contents": ["Sails"]}]
    no_id = "There is no memory 7. `recall` shows ids after #."
    for tool, given, told in (
        ("add_observations", {"observations": observations}, "no entity named 'Nobody'; create it first."),
        ("remember", {"text": " "}, "The text is empty; give it at least one visible character."),
        ("history", {"id": 7}, no_id),
        ("why_not", {"query": "oolong", "id": 7}, no_id),
        ("remember", {"text": "Marisol drinks rooibos", "supersedes": 7}, no_id),
        ("restore", {"id": 7}, "`recall` with `include_superseded` shows what was superseded."),
        ("context", {}, "Give a `query`, or the last `messages` of the conversation."),
        ("read_graph", {"cursor": "²"}, "no page '²'; pass on the `cursor` of the last answer, or none."),
        ("create_entities", {"entities": entities("Tea", " ")}, "Nothing was written."),
        ("undo_dream", {"id": 9}, "There is no dream 9; none can be undone."),
    ):
        assert (await refused(client, tool, **given)).endswith(told), tool
    assert await call_tool_ok(client, "read_graph") == NO_GRAPH
    gone = await client.call_tool("forget", {"ids": [9]})
    assert texts_of(gone) == [
        "Forgotten: nothing.",
        "Not found: #9. `recall` shows ids after #.",
    ]
    await call_tool_ok(client, "create_entities", entities=entities("Ada", facts=("sails",)))
    contents = [{"content": "rows", "supersedes": "swims"}]
    assert await refused(
        client, "add_observations", observations=[{"entityName": "Ada", "contents": contents}]
    ) == (
        "'Ada' has no observation 'swims' in force to supersede; name one that it has, word for word: "
        "`open_nodes` shows them."
    )


async def test_a_whole_number_may_be_written_with_a_point(client: Client) -> None:
    await call_tool_ok(client, "remember", text="Marisol drinks oolong")
    assert len((await call_tool_ok(client, "recall", query="oolong", limit=1.0))["hits"]) == 1
    assert (await call_tool_ok(client, "history", id=1.0))["id"] == 1


@pytest.mark.parametrize("chosen", [*SETS, "recall, stats"])
async def test_a_server_offers_the_tools_of_its_set_and_no_other(served: Served, chosen: str) -> None:
    names = list(SETS.get(chosen, ("recall", "stats")))
    async with served.inside(chosen) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == names
        for other in {*TOOLS, "recal"} - set(names):
            told = f"There is no tool '{other}'; there are: {', '.join(names)}."
            assert await refused(client, other) == told


async def test_the_graph_comes_in_pages_that_join_to_the_whole(client: Client) -> None:
    names = [f"Buoy {number:02}" for number in range(25)]
    await call_tool_ok(client, "create_entities", entities=entities(*names, facts=("floats " * 20,)))
    for given in ({"limit": 7}, {"budget_tokens": 300}):
        page = await call_tool_ok(client, "read_graph", **given)
        seen = [entity["name"] for entity in page["entities"]]
        while "cursor" in page:
            page = await call_tool_ok(client, "read_graph", cursor=page["cursor"], **given)
            seen += [entity["name"] for entity in page["entities"]]
        assert seen == names


async def test_what_a_search_leaves_out_is_told(client: Client) -> None:
    names = [f"Buoy {n:02}" for n in range(9)]
    await call_tool_ok(client, "create_entities", entities=entities(*names, facts=("red " * 30,)))
    found = await client.call_tool("search_nodes", {"query": "buoy", "limit": 4})
    assert found.structured_content is not None
    assert len(found.structured_content["entities"]) == 4
    note = "There are more than 4; go on with `cursor`, or ask more narrowly."
    assert found.structured_content["note"] == note
    assert texts_of(found)[1] == f"{note} The next page: cursor '4'."
    small = await call_tool_ok(client, "open_nodes", names=names, budget_tokens=100)
    left = 9 - len(small["entities"])
    assert small["note"] == f"{left} more did not fit 100 tokens; go on with `cursor`, or ask more narrowly."
    assert "note" not in await call_tool_ok(client, "search_nodes", query="buoy", limit=9)


async def test_a_relation_that_is_not_there_is_answered_with_those_that_are(client: Client) -> None:
    await call_tool_ok(client, "create_relations", relations=[LEADS])
    there = '\'Marisol\' has: "Marisol" "leads" "Tidebook".'
    for change, told in (
        (
            {"relationType": "owns"},
            f"No relation 'Marisol' owns 'Tidebook' is in force; there is nothing to end. {there}",
        ),
        (
            {"from": "Nobody"},
            "There is no entity named 'Nobody', so nothing was ended; `search_nodes` finds names.",
        ),
        ({"to": "Nobody"}, f"There is no entity named 'Nobody', so nothing was ended. {there}"),
    ):
        assert await refused(client, "end_relation", **{**LEADS, **change}) == told


async def test_a_name_that_could_mean_two_entities_is_answered_with_both(client: Client) -> None:
    await call_tool_ok(client, "create_entities", entities=entities("Ada", "ada", "Bo"))
    both = "There is no entity named 'ADA'; it could be 'Ada' or 'ada': use the exact name."
    assert await refused(client, "set_status", entityName="ADA", status="paused") == both
    assert await refused(client, "analyze_entity_split", entity_name="ADA") == both
    ends = {"from": "ADA", "to": "Bo", "relationType": "knows"}
    assert await refused(client, "end_relation", **ends) == both
    assert await refused(client, "set_status", entityName="Nobody", status="paused") == (
        "There is no entity named 'Nobody'; `search_nodes` finds names."
    )


async def test_a_deletion_takes_exact_names_and_tells_what_was_not_there(client: Client) -> None:
    await call_tool_ok(client, "create_entities", entities=entities("Ada", "Zoë", "zoe", facts=("sails",)))
    contains = {"from": "Ada", "to": "Zoë", "relationType": "contains"}
    await call_tool_ok(client, "create_relations", relations=[contains])
    knows = {"from": "Ada", "to": "Bo", "relationType": "knows"}
    fact = {"entityName": "Ada", "observations": ["rows"]}
    nothing = "Nothing matched; names are exact;"
    ends = "`open_nodes` with either end shows its relations."
    for tool, given, told in (
        ("delete_entities", {"entityNames": ["ADA"]}, f"{nothing} there is no 'ADA', but 'Ada'."),
        ("delete_entities", {"entityNames": ["Nobody"]}, f"{nothing} `search_nodes` finds them."),
        (
            "delete_entities",
            {"entityNames": ["zoe", "ZOE"]},
            ("Only 1 of 2 existed; names are exact; there is no 'ZOE', but 'Zoë'. `restore` brings back: 3."),
        ),
        (
            "delete_observations",
            {"deletions": [fact]},
            "Nothing matched; texts are exact; `open_nodes` shows them word for word.",
        ),
        ("delete_relations", {"relations": [knows]}, f"Nothing matched; {ends}"),
        ("delete_relations", {"relations": [contains, knows]}, f"Only 1 of 2 existed; {ends}"),
    ):
        result = await client.call_tool(tool, given)
        assert not result.is_error
        noun = tool.removeprefix("delete_").capitalize()
        assert texts_of(result) == [f"{noun} deleted successfully", told], given
    left = await call_tool_ok(client, "read_graph")
    assert [one["name"] for one in left["entities"]] == ["Ada", "Zoë"]
    # Its inverse is deleted with it, and not counted.
    await call_tool_ok(client, "create_relations", relations=[contains])
    assert len(texts_of(await client.call_tool("delete_relations", {"relations": [contains]}))) == 1


@pytest.mark.parametrize(
    ("tools", "undo"), [("default", "`recollect restore 1`"), ("all", "`restore` brings")]
)
async def test_a_deletion_names_the_way_back_that_the_caller_has(
    served: Served, tools: str, undo: str
) -> None:
    async with served.inside(tools) as client:
        await call_tool_ok(client, "create_entities", entities=entities("Ada"))
        told = texts_of(await client.call_tool("delete_entities", {"entityNames": ["Ada", "Bo"]}))[1]
        assert told.startswith("Only 1 of 2 existed")
        assert undo in told


@pytest.mark.parametrize("tools", SETS)
async def test_an_answer_recommends_no_tool_that_is_not_offered(served: Served, tools: str) -> None:
    facts = [f"day {n}: calm sea, no ship in sight" for n in range(300)]
    with recollect.open(served.recollect.store, model="hashing") as memory:
        memory.create_entities([{"name": "Log", "type": "log", "observations": facts}])
    async with served.inside(tools) as client:
        told = " ".join(texts_of(await client.call_tool("recall", {"query": "calm sea"})))
        assert "cut to fit" in told
        named = {name for name in TOOLS if f"`{name}`" in told}
        assert named <= set(SETS[tools])
        assert ("open_nodes" in named) is ("open_nodes" in SETS[tools])


async def test_a_dream_that_never_was_is_answered_with_those_that_can_be_undone(client: Client) -> None:
    async for tool, _, result in good_results(client):
        if tool == "dream":
            assert result.structured_content is not None
            there = f"dreams to undo: {result.structured_content['id']}"
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
                page = await call_tool_ok(client, "search_nodes", **given)
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


async def test_an_answer_that_repeats_what_was_written_stays_within_bounds(client: Client) -> None:
    names = [f"Buoy {n:04}" for n in range(1_000)]
    rows = entities(*names, facts=("red " * 20,))
    told = await call_tool_ok(client, "create_entities", entities=rows)
    assert 0 < len(told["entities"]) < 1_000
    assert told["entities"] == rows[: len(told["entities"])]
    assert told["note"].startswith("All 1000 were saved")
    assert (await call_tool_ok(client, "stats"))["entities"] == 1_000
    one = entities("Log", facts=("calm sea, no ship in sight " * 3_000,))
    told = await call_tool_ok(client, "create_entities", entities=one)
    assert told["note"] == "It was saved whole; only what fits 10000 tokens is repeated here."


async def test_statistics_tell_what_one_would_ask(served: Served) -> None:
    async with served.inside("all") as client:
        await call_tool_ok(client, "remember", text="Marisol moves to Porto in May")
        await call_tool_ok(client, "remember", text="Marisol moves to Lisbon in May", supersedes=1)
        await call_tool_ok(
            client, "add_messages", session="tea", messages=[{"content": "Hello"}], extract=False
        )
        await call_tool_ok(client, "create_relations", relations=[LEADS])
        observations = [{"entityName": "Marisol", "contents": ["sails"]}]
        await call_tool_ok(client, "add_observations", observations=observations)
        await call_tool_ok(client, "delete_entities", entityNames=["Tidebook"])
        found = await call_tool_ok(client, "stats")
        store = found.pop("store")
        counted = dict.fromkeys(("entities", "notes", "messages", "superseded", "sessions"), 1)
        assert found == {**counted, "model": "hashing@1"}
        # The last writes may still be in the log beside the file.
        assert store["bytes"] >= served.recollect.store.stat().st_size
        assert (store["observations"], store["relations"], store["forgotten"]) == (1, 0, 1)
        assert store["texts_waiting_for_one"] == 0
        assert store["schema"] > 0


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
    assert ("Check whether it was done" in told) is not reads
