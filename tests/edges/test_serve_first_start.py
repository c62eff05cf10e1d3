"""The official server's file on the first start: brought in when asked for, and then found by meaning too."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from mcp_world import PATIENCE_SECONDS, done

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]
pytestmark = pytest.mark.anyio


@pytest.fixture
def official(tmp_path: Path) -> Path:
    path = tmp_path / "official.jsonl"
    entity = {"type": "entity", "entityType": "sprite", "observations": ["is small"]}
    path.write_text("".join(json.dumps({**entity, "name": f"Imp {number}"}) + "\n" for number in range(100)))
    return path


async def names(served: Served, *options: str, **set_: str) -> set[str]:
    """Whom a server knows that is started like this."""
    async with served.stdio(*options, set_=set_) as client:
        return {entity["name"] for entity in (await done(client, "read_graph", limit=200))["entities"]}


def said(served: Served) -> str:
    return (served.folder / "stderr").read_text(encoding="utf-8")


@pytest.mark.parametrize("options", [("--import",), ("--import", "--tools", "all")])
async def test_without_a_name_the_file_is_the_official_servers(
    served: Served, official: Path, options: tuple[str, ...]
) -> None:
    assert len(await names(served, *options, MEMORY_FILE_PATH=str(official))) == 100
    assert f"Brought in 100 entities from {official}" in said(served)


async def test_the_setting_may_name_the_variable(served: Served, official: Path) -> None:
    set_ = {"RECOLLECT_IMPORT_FROM": "MEMORY_FILE_PATH", "MEMORY_FILE_PATH": str(official)}
    assert len(await names(served, **set_)) == 100


async def test_a_file_that_is_named_goes_before_the_variable(served: Served, official: Path) -> None:
    other = official.with_name("other.jsonl")
    other.write_text('{"type":"entity","name":"Elf","entityType":"sprite","observations":[]}\n')
    assert await names(served, "--import", str(other), MEMORY_FILE_PATH=str(official)) == {"Elf"}


async def test_what_nobody_asked_for_stays_out_and_one_line_says_how_to_ask(
    served: Served, official: Path
) -> None:
    assert await names(served, MEMORY_FILE_PATH=str(official)) == set()
    told = f"MEMORY_FILE_PATH names {official}; `recollect serve --import` brings it into this memory."
    assert said(served) == f"recollect: {told}\n"


async def test_a_memory_that_has_entities_is_told_nothing(served: Served, official: Path) -> None:
    served.recollect("add", "Ada", "-t", "person")
    assert await names(served, MEMORY_FILE_PATH=str(official)) == {"Ada"}
    assert await names(served, "--import", MEMORY_FILE_PATH=str(official)) == {"Ada"}
    assert said(served) == ""


async def test_where_the_variable_names_nothing_the_server_says_so_and_serves(served: Served) -> None:
    assert await names(served, "--import", MEMORY_FILE_PATH="") == set()
    assert "MEMORY_FILE_PATH is not set; name the file to bring in: --import FILE." in said(served)
    assert await names(served, "--import", MEMORY_FILE_PATH=str(served.folder / "none")) == set()
    assert f"There is no file {served.folder / 'none'} to bring in" in said(served)


async def test_a_file_that_cannot_be_read_is_no_reason_not_to_serve(served: Served) -> None:
    (served.folder / "folder").mkdir()
    assert await names(served, "--import", MEMORY_FILE_PATH=str(served.folder / "folder")) == set()
    assert f"{served.folder / 'folder'} could not be brought in" in said(served)


def nothing_waits(recollect: CommandLine) -> bool:
    for _ in range(PATIENCE_SECONDS * 5):
        if not recollect.json("stats")["due"]:
            return True
        time.sleep(0.2)
    return False


async def test_what_was_brought_in_gets_its_vectors_without_being_told(
    served: Served, official: Path
) -> None:
    async with served.stdio("--import", str(official)) as client:
        assert (await done(client, "read_graph"))["entities"]
        assert nothing_waits(served.recollect)
        found = await done(client, "recall", query="Imp 7", limit=1)
    assert found["hits"][0]["name"] == "Imp 7"
    assert served.recollect.json("stats")["vectors"] >= 100


async def test_a_later_start_embeds_what_an_earlier_one_left(served: Served, official: Path) -> None:
    # Without a model nothing is embedded, as if the first had been killed right after the import.
    assert len(await names(served, "--import", str(official), RECOLLECT_MODEL="none")) == 100
    assert served.recollect.json("stats")["due"] >= 100
    async with served.stdio() as client:
        assert (await done(client, "read_graph"))["entities"]
        assert nothing_waits(served.recollect)


async def test_an_import_that_was_broken_off_is_finished_by_the_next_start(
    served: Served, official: Path
) -> None:
    half = official.with_name("half.jsonl")
    half.write_text("".join(official.read_text().splitlines(keepends=True)[:40]))
    assert len(await names(served, "--import", str(half))) == 40
    # What a server leaves that is killed in the middle of it.
    store = served.recollect.store
    begun = store.with_name(store.name + "-importing")
    begun.touch()
    assert len(await names(served, "--import", str(official))) == 100
    assert not begun.exists()
