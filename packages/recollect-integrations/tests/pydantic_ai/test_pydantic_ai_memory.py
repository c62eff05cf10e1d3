"""The store of Pydantic AI's `Memory`: what the harness's own stores do, ours does; and an agent with it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pages import check_page
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai_harness.memory import (
    InMemoryStore,
    Memory,
    MemoryConflictError,
    MemoryMutation,
    MemoryOperation,
    MemoryOperationConflictError,
    MemoryStore,
    MetadataMemoryStore,
    SearchableMemoryStore,
    SqliteMemoryStore,
)

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.pydantic_ai import RecollectHarnessStore


@pytest.fixture(params=["recollect", "in memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    """Ours, and two of the harness's own, so that what is asked here is what they promise."""
    if request.param == "recollect":
        with recollect.open(":memory:", model="none") as memory:
            yield RecollectHarnessStore(memory)
    elif request.param == "in memory":
        yield InMemoryStore()
    else:
        yield SqliteMemoryStore(database=tmp_path / "files.db")


def test_it_is_all_that_a_store_can_be() -> None:
    with recollect.open(":memory:", model="none") as memory:
        store = RecollectHarnessStore(memory)
        assert isinstance(store, MemoryStore)
        assert isinstance(store, MetadataMemoryStore)
        assert isinstance(store, SearchableMemoryStore)


async def test_files_are_written_read_and_deleted_where_the_version_is_known(store: Any) -> None:
    assert await store.read("a/x.md", max_chars=9) is None
    made = await store.write("a/x.md", "one", expected_version=None)
    assert (made.replayed, made.existed) == (False, False)
    with pytest.raises(MemoryConflictError):
        await store.write("a/x.md", "two", expected_version=None)
    read = await store.read("a/x.md", max_chars=2)
    assert (read.content, read.version, read.truncated, read.operation_id) == ("on", made.version, True, None)
    again = await store.write("a/x.md", "one", expected_version=made.version)
    assert again.existed
    assert again.version != made.version
    with pytest.raises(MemoryConflictError):
        await store.delete("a/x.md", expected_version=made.version)
    gone = await store.delete("a/x.md", expected_version=again.version)
    assert (gone.version, gone.existed) == (None, True)
    assert await store.read("a/x.md", max_chars=9) is None
    anew = await store.write("a/x.md", "new", expected_version=None)
    assert anew.version not in {made.version, again.version}
    assert not (await store.delete("a/never.md", expected_version=None)).existed
    with pytest.raises(MemoryConflictError):
        await store.write("a/never.md", "x", expected_version=made.version)


@pytest.mark.parametrize("content", ["", " \n", "naïve \U0001f40e", "x" * 70_000])
async def test_any_content_comes_back(store: Any, content: str) -> None:
    made = await store.write("file", content, expected_version=None)
    assert (await store.read("file", max_chars=100_000)).content == content
    await store.write("file", "other", expected_version=made.version)
    assert (await store.read("file", max_chars=100_000)).content == "other"


async def test_an_operation_that_is_made_again_gives_its_first_answer(store: Any) -> None:
    first, second = MemoryOperation("1", "write a"), MemoryOperation("2", "delete a")
    assert await store.get_operation(first) is None
    made = await store.write("a", "one", expected_version=None, operation=first)
    assert (await store.read("a", max_chars=9)).operation_id == "1"
    repeated = MemoryMutation(version=made.version, replayed=True, existed=False)
    assert await store.get_operation(first) == repeated
    assert await store.write("a", "one", expected_version=None, operation=first) == repeated
    with pytest.raises(MemoryOperationConflictError):
        await store.get_operation(MemoryOperation("1", "something else"))
    await store.delete("a", expected_version=made.version, operation=second)
    replayed = await store.delete("a", expected_version=made.version, operation=second)
    assert replayed == MemoryMutation(version=None, replayed=True, existed=True)
    nothing = MemoryOperation("3", "delete b")
    await store.delete("b", expected_version=None, operation=nothing)
    await store.write("b", "now there is one", expected_version=None)
    assert await store.get_operation(nothing) == MemoryMutation(version=None, replayed=True, existed=False)
    assert (await store.read("b", max_chars=99)).content == "now there is one"


async def test_metadata_is_of_the_last_write(store: Any) -> None:
    made = await store.write_with_metadata("a", "1", expected_version=None, metadata={"by": "ana"})
    assert (await store.read("a", max_chars=9)).metadata == {"by": "ana"}
    made = await store.write("a", "2", expected_version=made.version)
    assert (await store.read("a", max_chars=9)).metadata is None
    for wrong, error in (
        ({"by": 1}, TypeError),
        ({"by": "x" * 5_000}, ValueError),
        ({"by": "\0"}, ValueError),
    ):
        with pytest.raises(error):
            await store.write_with_metadata("a", "3", expected_version=made.version, metadata=wrong)


async def test_paths_are_listed_in_order_and_those_that_escape_are_refused(store: Any) -> None:
    for path in ("b/two", "b/one", "bee", "b/deep/three", "a"):
        await store.write(path, "x", expected_version=None)
    assert await store.list_paths(limit=9) == ["a", "b/deep/three", "b/one", "b/two", "bee"]
    assert await store.list_paths("b/", limit=2) == ["b/deep/three", "b/one"]
    assert await store.list_paths("c/", limit=2) == []
    for path in ("../a", "a//b", "/a", "", "a/./b", "ä"):
        with pytest.raises(ValueError, match="path"):
            await store.read(path, max_chars=9)
    for call in (store.read("a", max_chars=0), store.list_paths(limit=0), store.list_paths("../", limit=1)):
        with pytest.raises(ValueError):  # noqa: PT011  # each says it otherwise
            await call


async def test_a_search_stays_directly_below_its_prefix_and_within_its_bounds(store: Any) -> None:
    bounds = {"limit": 5, "max_files": 9, "max_chars": 500, "max_file_chars": 500}
    for path in ("ana/x", "ana/y", "ana/deep/z", "bo/x"):
        await store.write(path, f"The kettle of {path}", expected_version=None)
    await store.write("ana/other", "Nothing to see", expected_version=None)
    found = await store.search("ana/", "kettle", **bounds)
    assert {match.path: match.snippet for match in found.matches} == {
        "ana/x": "The kettle of ana/x",
        "ana/y": "The kettle of ana/y",
    }
    assert not found.truncated
    first = await store.search("ana/", "kettle", **{**bounds, "limit": 1})
    assert (len(first.matches), first.truncated) == (1, True)
    short = await store.search("ana/", "kettle", **{**bounds, "max_chars": 8})
    assert sum(len(match.snippet) + 1 for match in short.matches) <= 8
    assert short.truncated
    assert (await store.search("ana/", " ", **bounds)).matches == []


async def test_of_several_who_write_at_once_one_does(store: Any) -> None:
    async def write(content: str, version: str | None) -> str | None:
        try:
            return str((await store.write("a", content, expected_version=version)).version)
        except MemoryConflictError:
            return None

    created = await asyncio.gather(*(write(f"created by {n}", None) for n in range(6)))
    (version,) = [each for each in created if each]
    written = await asyncio.gather(*(write(f"written by {n}", version) for n in range(6)))
    assert len([each for each in written if each]) == 1
    assert (await store.read("a", max_chars=99)).content.startswith("written by")


async def test_edits_elsewhere_and_purges_are_seen() -> None:
    with recollect.open(":memory:", model="none") as memory:
        store = RecollectHarnessStore(memory)
        made = await store.write("a", "one\0", expected_version=None)
        (note,) = memory.list().memories
        assert (note.text, (await store.read("a", max_chars=99)).content) == ("one\ufffd", "one\0")  # type: ignore[union-attr]
        memory.update(note.id, text="corrected", tags=[*note.tags, "seen"])
        with pytest.raises(MemoryConflictError):
            await store.write("a", "two", expected_version=made.version)
        read = await store.read("a", max_chars=99)
        assert read is not None
        assert read.content == "corrected"
        await store.write("a", "two", expected_version=read.version)
        assert "seen" in memory.list().memories[0].tags
        for _ in range(2):
            memory.forget([note.id for note in memory.list().memories])
            memory.purge(note.updated_at + timedelta(days=1))
            assert await store.list_paths(limit=9) == []
            await store.write("a", "again", expected_version=None)
            assert await store.list_paths(limit=9) == ["a"]


def scripted(tool: str, **arguments: str) -> FunctionModel:
    """Calls one tool, and answers with what the tool gave."""

    def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, ToolReturnPart):
            return ModelResponse([TextPart(last.model_response_str())])
        return ModelResponse([ToolCallPart(tool, arguments)])

    return FunctionModel(respond)


async def test_an_agent_remembers_in_one_run_and_recalls_in_the_next(tmp_path: Path) -> None:
    with recollect.open(tmp_path / "memory.db") as memory:
        for file, content in (
            ("diet.md", "Ana is allergic to peanuts."),
            ("home.md", "The kettle is broken."),
        ):
            model = scripted("write_memory", file=file, content=content)
            agent = Agent(model, capabilities=[Memory(store=RecollectHarnessStore(memory))])
            await agent.run("Hello")
    with recollect.open(tmp_path / "memory.db") as memory:
        model = scripted("search_memory", query="which food must she avoid?")
        agent = Agent(model, capabilities=[Memory(store=RecollectHarnessStore(memory))])
        assert "peanuts" in (await agent.run("What can I have?")).output
        assert memory.recall("what must Ana not eat?").hits[0].memory.text.startswith("Ana is allergic")


async def test_the_tools_of_the_capability_work_and_the_notebook_is_in_the_next_prompt() -> None:
    with recollect.open(":memory:", model="none") as memory:
        store = RecollectHarnessStore(memory)
        model = TestModel(call_tools=["write_memory", "search_memory"])
        done = await Agent(model, capabilities=[Memory(store=store)]).run("Hello")
        assert '"status":"created"' in done.output
        (notebook,) = await store.list_paths(limit=9)
        written = await store.read(notebook, max_chars=99)
        assert written is not None
        await store.write(notebook, "- Ana sails on Sundays", expected_version=written.version)
        prompts: list[str] = []

        def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            prompts.append(str(messages))
            return ModelResponse([TextPart("Ahoy")])

        await Agent(FunctionModel(respond), capabilities=[Memory(store=store)]).run("Hello")
        assert "Ana sails on Sundays" in prompts[0]


def test_a_path_is_refused_with_what_to_pass() -> None:
    with pytest.raises(InvalidInput, match=r"recollect\.open"):
        RecollectHarnessStore("memory.db")  # type: ignore[arg-type]


def test_the_page_is_true(tmp_path: Path) -> None:
    check_page("pydantic_ai", "pydantic-ai-harness", "pydantic-ai-slim", folder=tmp_path)
