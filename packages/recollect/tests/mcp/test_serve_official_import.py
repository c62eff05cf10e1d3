"""`recollect serve --import` imports and embeds the official server's file, once."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest
from conftest import PATIENCE_SECONDS
from mcp_world import call_tool_ok

if TYPE_CHECKING:
    from pathlib import Path

    from command_line import CommandLine
    from mcp import Client
    from mcp_world import Served

pytest_plugins = ["command_line", "mcp_fixtures"]


@pytest.fixture
def official(tmp_path: Path) -> Path:
    path = tmp_path / "official.jsonl"
    entity = {"type": "entity", "entityType": "sprite", "observations": ["is small"]}
    path.write_text("".join(json.dumps({**entity, "name": f"Imp {number}"}) + "\n" for number in range(100)))
    return path


async def graph(client: Client) -> Any:
    return await call_tool_ok(client, "read_graph", limit=200)


def names(served: Served, *options: str, **set_: str) -> set[str]:
    """Start a server with these options and return the names of its entities."""
    return {entity["name"] for entity in served.visit(graph, *options, **set_)["entities"]}


def stderr_of(served: Served) -> str:
    return (served.folder / "stderr").read_text(encoding="utf-8")


def take_stderr(served: Served) -> str:
    """Return standard error, and clear it."""
    message = stderr_of(served)
    (served.folder / "stderr").unlink()
    return message


@pytest.mark.parametrize(
    ("options", "setting"),
    [(("--import",), ""), (("--import", "--tools", "all"), ""), ((), "MEMORY_FILE_PATH")],
)
def test_import_without_a_name_reads_the_file_of_the_official_server(
    served: Served, official: Path, options: tuple[str, ...], setting: str
) -> None:
    set_ = {"MEMORY_FILE_PATH": str(official), "RECOLLECT_IMPORT_FROM": setting}
    assert len(names(served, *options, **set_)) == 100
    assert f"Imported 100 entities from {official}" in stderr_of(served)


def test_a_named_file_takes_precedence_over_the_variable(served: Served, official: Path) -> None:
    other = official.with_name("other.jsonl")
    other.write_text('{"type":"entity","name":"Elf","entityType":"sprite","observations":[]}\n')
    assert names(served, "--import", str(other), MEMORY_FILE_PATH=str(official)) == {"Elf"}


def test_nothing_is_imported_without_a_request_and_an_empty_memory_gets_a_hint(
    served: Served, official: Path
) -> None:
    assert names(served, MEMORY_FILE_PATH=str(official)) == set()
    message = f"MEMORY_FILE_PATH names {official}; `recollect serve --import` imports it into this memory."
    assert take_stderr(served) == f"recollect: {message}\n"
    served.recollect("add", "Ada", "-t", "person")
    assert names(served, MEMORY_FILE_PATH=str(official)) == {"Ada"}
    assert stderr_of(served) == ""


def test_a_failed_import_is_reported_and_the_server_starts_anyway(served: Served) -> None:
    (served.folder / "folder").mkdir()
    for name, message in (
        ("", "MEMORY_FILE_PATH is not set; name the file to import: --import FILE."),
        (str(served.folder / "none"), f"There is no file {served.folder / 'none'} to import"),
        (str(served.folder / "folder"), f"{served.folder / 'folder'} could not be imported"),
    ):
        assert names(served, "--import", MEMORY_FILE_PATH=name) == set()
        assert message in stderr_of(served)


def test_a_memory_with_entities_refuses_imports_until_one_is_made_by_hand(
    served: Served, official: Path
) -> None:
    wrong = official.with_name("wrong.jsonl")
    assert names(served, "--import", str(wrong)) == set()
    assert f"There is no file {wrong} to import" in take_stderr(served)
    served.recollect("add", "Ada", "-t", "person")
    assert names(served, "--import", str(wrong)) == {"Ada"}
    assert take_stderr(served) == f"recollect: There is no file {wrong} to import.\n"
    for _ in range(2):
        assert names(served, "--import", str(official)) == {"Ada"}
        assert take_stderr(served) == (
            f"recollect: {official} was not imported, because this memory already has entities; "
            f"`recollect import {official}` adds it.\n"
        )
    served.recollect("import", str(official))
    assert len(names(served, "--import", str(official))) == 101
    assert take_stderr(served) == ""


def test_after_an_import_later_starts_say_nothing_even_when_the_file_is_gone(
    served: Served, official: Path
) -> None:
    assert len(names(served, "--import", str(official))) == 100
    assert "Imported 100 entities" in take_stderr(served)
    assert len(names(served, "--import", MEMORY_FILE_PATH=str(official))) == 100
    official.unlink()
    assert len(names(served, "--import", str(official))) == 100
    assert take_stderr(served) == ""


def test_entities_that_only_relations_name_are_created_and_reported(served: Served, official: Path) -> None:
    sees = '{{"type":"relation","from":"{}","to":"{}","relationType":"sees"}}\n'
    official.write_text(
        sees.format("A", "Ghost")
        + sees.format("Phantom", "A")
        + '{"type":"entity","name":"A","entityType":"letter","observations":[]}\n{broken\n'
    )
    found = served.visit(graph, "--import", str(official))
    assert [(one["name"], one["entityType"]) for one in found["entities"]] == [
        ("A", "letter"),
        ("Ghost", "unknown"),
        ("Phantom", "unknown"),
    ]
    assert [(one["from"], one["to"]) for one in found["relations"]] == [("A", "Ghost"), ("Phantom", "A")]
    message = stderr_of(served)
    assert f"Imported 1 entity and 2 relations from {official}." in message
    assert "Created with the type 'unknown', because relations name them: Ghost, Phantom." in message
    assert "Left out 1 line that could not be read; `recollect import " in message


def is_everything_embedded(recollect: CommandLine) -> bool:
    for _ in range(PATIENCE_SECONDS * 5):
        if not recollect.json("stats")["due"]:
            return True
        time.sleep(0.2)
    return False


@pytest.mark.anyio
async def test_imported_entities_are_embedded_in_the_background(served: Served, official: Path) -> None:
    async with served.stdio("--import", str(official)) as client:
        assert (await call_tool_ok(client, "read_graph"))["entities"]
        assert is_everything_embedded(served.recollect)
        found = await call_tool_ok(client, "recall", query="Imp 7", limit=1)
    assert found["hits"][0]["name"] == "Imp 7"
    assert served.recollect.json("stats")["vectors"] >= 100


def test_the_next_start_embeds_entities_without_vectors(served: Served, official: Path) -> None:
    # Without a model nothing is embedded, as if the first server had been killed right after the import.
    assert len(names(served, "--import", str(official), RECOLLECT_MODEL="none")) == 100
    assert served.recollect.json("stats")["due"] >= 100

    async def wait(client: Client) -> bool:
        assert (await graph(client))["entities"]
        return is_everything_embedded(served.recollect)

    assert served.visit(wait)


def test_the_next_start_finishes_an_interrupted_import(served: Served, official: Path) -> None:
    half = official.with_name("half.jsonl")
    half.write_text("".join(official.read_text().splitlines(keepends=True)[:40]))
    assert len(names(served, "--import", str(half))) == 40
    # The mark of a server that was killed during its import.
    mark = served.recollect.store.with_name(f"{served.recollect.store.name}-importing")
    mark.touch()
    assert len(names(served, "--import", str(official))) == 100
    assert not mark.exists()
