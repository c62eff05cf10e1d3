"""Many clients on one store, and a client that dies: what was acknowledged is there."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok
from slow_model import slow_model

import recollect

if TYPE_CHECKING:
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
ROUNDS = 4


@pytest.mark.anyio
async def test_ten_clients_write_and_read_one_store_and_nothing_acknowledged_is_lost(served: Served) -> None:
    acknowledged: dict[int, str] = {}
    entities: set[str] = set()

    async def work(client: Client, who: int) -> None:
        for number in range(ROUNDS):
            text = f"Client {who} saw ship {number} pass the {'red' if number % 2 else 'white'} light"
            acknowledged[(await call_tool_ok(client, "remember", text=text))["id"]] = text
            name = f"Ship {who}-{number}"
            row = {"name": name, "entityType": "ship", "observations": [f"seen by {who}"]}
            made = await call_tool_ok(client, "create_entities", entities=[row])
            assert [each["name"] for each in made["entities"]] == [name]
            entities.add(name)
            sighting = {"from": name, "to": "Lighthouse", "relationType": "passed"}
            await call_tool_ok(client, "create_relations", relations=[sighting])
            found = await call_tool_ok(
                client, "recall", query=text, kinds=["note"], limit=50, budget_tokens=5000
            )
            assert text in [hit["text"] for hit in found["hits"]]
            opened = await call_tool_ok(client, "open_nodes", names=[name])
            assert opened == {"entities": [row], "relations": [sighting]}

    with served.http() as door:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(served.stdio()) for _ in range(3)]
            clients += [await stack.enter_async_context(door.client()) for _ in range(7)]
            async with anyio.create_task_group() as group:
                for who, client in enumerate(clients):
                    group.start_soon(work, client, who)
    with recollect.open(served.recollect.store, model="hashing") as memory:
        assert {id_: getattr(memory.get(id_), "text", None) for id_ in acknowledged} == acknowledged
        assert len(entities) >= 10 * ROUNDS
        assert {one.name for one in memory.graph.open_nodes(sorted(entities)).entities} == entities
        assert len(memory.graph.open_nodes(["Lighthouse"]).relations) == len(entities)
        assert not memory.upkeep.verify()


def doomed_client(served: Served, **set_: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            str(Path(__file__).parents[4] / "tests/support/killed_client.py"),
            *served.recollect.program,
            "serve",
        ],
        env=served.recollect.variables(**set_),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_client_killed_in_mid_call_takes_its_server_along_and_leaves_the_store_whole(
    served: Served,
) -> None:
    acknowledged: dict[int, str] = {}
    batches: list[int] = []
    client = doomed_client(served)
    assert client.stdout is not None
    for line in client.stdout:
        told = json.loads(line)
        if "text" in told:
            acknowledged[told["id"]] = told["text"]
        elif "batch" in told:
            batches.append(told["batch"])
        elif told["begun"] == 2:
            client.kill()
            break
    # Standard error ends when everyone who holds it has gone: the client, and the server that it started.
    _, errors = client.communicate(timeout=PATIENCE_SECONDS)
    assert "Traceback" not in errors
    with recollect.open(served.recollect.store, model="hashing") as memory:
        assert {id_: getattr(memory.get(id_), "text", None) for id_ in acknowledged} == acknowledged
        assert len(acknowledged) == 3
        for batch in batches:
            assert len(memory.graph.open_nodes([f"Buoy {batch}-{row}" for row in range(300)]).entities) == 300
        # The abandoned call was applied completely or not at all.
        last = memory.graph.open_nodes([f"Buoy 2-{row}" for row in range(300)]).entities
        assert len(last) in {0, 300}
        assert not memory.upkeep.verify()


def test_a_server_whose_client_was_killed_embeds_no_more_than_the_batch_at_hand(served: Served) -> None:
    with slow_model() as model:
        client = doomed_client(served, **model.settings())
        assert model.begun.wait(PATIENCE_SECONDS)
        client.kill()
        _, errors = client.communicate(timeout=PATIENCE_SECONDS)
        assert "Traceback" not in errors
        # A write embeds 512 of the 900 texts before it answers, in batches of 64. Without a client it stops.
        assert 64 <= model.read < 512
        with recollect.open(served.recollect.store, model="none") as memory:
            assert len(memory.graph.open_nodes([f"Buoy 0-{row}" for row in range(300)]).entities) == 300
            assert memory.counts().due >= 900 - model.read
            assert not memory.upkeep.verify()
