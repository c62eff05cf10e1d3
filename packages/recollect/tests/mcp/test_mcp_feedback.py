"""An agent's use of an answer and its feedback are logged with the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from mcp_world import call_tool_ok, refused

import recollect
from recollect.search.rows import scope_id
from recollect.tuning.answers import logged_answers

if TYPE_CHECKING:
    from mcp_world import Served

    from recollect.domain.records import LoggedAnswer

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio
ANA = {"entities": [{"name": "Ana", "entityType": "person", "observations": ["drinks oolong tea"]}]}


def logged(served: Served, profile: str = "recollect") -> list[LoggedAnswer]:
    with (
        recollect.open(served.recollect.store, model="hashing") as memory,
        memory._services.store.read() as view,
    ):
        return list(logged_answers(view, scope_id(view, memory.scope), profile))


async def test_recall_is_logged_as_it_was_shown_and_pages_are_not(served: Served) -> None:
    async with served.inside("all") as client:
        for number in range(5):
            await call_tool_ok(client, "remember", text=f"Tea number {number} is green")
        shown = await call_tool_ok(client, "recall", query="green tea", limit=2)
        await call_tool_ok(client, "recall", query="green tea", limit=2, cursor=shown["cursor"])
        await call_tool_ok(client, "recall", query="green tea", as_of="2030-01-01")
    (answer,) = logged(served)
    assert (answer.query, answer.shown) == ("green tea", tuple(hit["id"] for hit in shown["hits"]))
    assert len(answer.ranked) == len(answer.baseline) == 2


@pytest.mark.usefixtures("undoubted")
async def test_opening_what_recall_showed_is_feedback(served: Served) -> None:
    async with served.inside("all") as client:
        await call_tool_ok(client, "create_entities", **ANA)
        shown = await call_tool_ok(client, "recall", query="who drinks tea?")
        await call_tool_ok(client, "open_nodes", names=["Ana"])
        note = (await call_tool_ok(client, "remember", text="Coffee is black"))["id"]
        await call_tool_ok(client, "recall", query="black coffee", kinds=["note"])
        await client.read_resource(f"memory://memory/{note}")
    feedback = [answer.feedback for answer in logged(served)]
    assert feedback == [((shown["hits"][0]["id"], "opened", 1.0),), ((note, "opened", 1.0),)]


@pytest.mark.usefixtures("undoubted")
async def test_what_an_agent_asks_is_part_of_a_trial(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_AB", "split")
    monkeypatch.setenv("RECOLLECT_AB_SHARE", "0")
    async with served.inside("all") as client:
        await call_tool_ok(client, "create_entities", **ANA)
        await call_tool_ok(client, "recall", query="who drinks tea?")
        await call_tool_ok(client, "search_semantic", query="who drinks tea?")
    assert [each.arm for name in ("recollect", "limbic") for each in logged(served, name)] == ["baseline"] * 2


async def test_what_did_not_fit_the_page_was_not_shown(served: Served) -> None:
    teas = [
        {"name": f"Tea {number}", "entityType": "tea", "observations": [f"leaf {number} " * 60]}
        for number in range(6)
    ]
    async with served.inside("all") as client:
        await call_tool_ok(client, "create_entities", entities=teas)
        shown = await call_tool_ok(client, "search_semantic", query="tea leaf", budget_tokens=500)
        await call_tool_ok(
            client, "search_semantic", query="tea leaf", budget_tokens=500, cursor=shown["cursor"]
        )
        names = [one["name"] for one in shown["results"]]
        assert 0 < len(names) < 6
        opened = await call_tool_ok(client, "open_nodes", names=names)
    (answer,) = logged(served, "limbic")
    with recollect.open(served.recollect.store, model="hashing") as memory:
        found = [each and each.name for each in map(memory.get, answer.shown)]
    assert found == names
    assert len(opened["entities"]) == len(names)


async def test_an_agent_says_what_helped(served: Served) -> None:
    async with served.inside("all") as client:
        await call_tool_ok(client, "create_entities", **ANA)
        await call_tool_ok(client, "search_semantic", query="who drinks tea?")
        given = {"names": ["ana", "Ana"], "ids": [1, 1], "helpful": True}
        assert await call_tool_ok(client, "feedback", **given) == {"noted": [1]}
        assert [each.feedback for each in logged(served, "limbic")] == [((1, "said", 1.0),)]
        await call_tool_ok(client, "feedback", ids=[1], helpful=False, query="Who drinks TEA?")
        assert [each.feedback for each in logged(served, "limbic")] == [((1, "said", -1.0),)]
        for wrong in ({"ids": [1], "helpful": True, "query": "other"}, {"ids": [7], "helpful": True}):
            assert "shows ids after #" in await refused(client, "feedback", **wrong)
        assert "no entity named 'Bea'" in await refused(client, "feedback", names=["Bea"], helpful=True)
        assert "give `ids`" in await refused(client, "feedback", helpful=True)
        assert "give `ids`" in await refused(client, "feedback", ids=[], helpful=True)
        await refused(client, "feedback", ids=[1])
