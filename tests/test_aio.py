"""`recollect.aio`: the engine's calls, awaited."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recollect
import recollect.aio
from recollect.aio.async_engine import GROUPS, IN_ONE_THREAD, AsyncCalls
from recollect.aio.call_threads import CallThreads
from recollect.engine.engine import Engine
from recollect.interruption import end_if_interrupted
from recollect.transfer import export_file

if TYPE_CHECKING:
    from conftest import FixedClock


def test_one_remembers_and_recalls_without_a_second_copy_of_the_code(
    tmp_path: Path, clock: FixedClock
) -> None:
    async def life() -> tuple[Any, ...]:
        async with recollect.aio.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
            await memory.remember("Ana takes the tram")
            await memory.create_entities([{"name": "Ana", "type": "person"}])
            answer = await memory.recall("tram")
            lines = await memory.run(export_file, tmp_path / "all.jsonl", learning=False)
            other = await memory.scoped("bo").recall("tram")
            model = await memory.model()
            return answer, await memory.graph.read_graph(), lines.lines, other.hits, model, memory.scope

    answer, graph, lines, others, model, scope = asyncio.run(life())
    assert [each.name for each in graph.entities] == ["Ana"]
    assert (lines, others, scope) == (3, (), recollect.Scope())
    with recollect.open(tmp_path / "memory.db", model="hashing", clock=clock) as memory:
        same = memory.recall("tram")
        assert [(hit.memory.id, hit.score) for hit in answer.hits] == [
            (hit.memory.id, hit.score) for hit in same.hits
        ]
        assert memory.model == model


def test_everything_that_the_engine_offers_can_be_awaited() -> None:
    def names(of: object) -> set[str]:
        return {name for name in dir(of) if not name.startswith("_")}

    with recollect.open(":memory:", model="none") as engine:
        left: list[tuple[object, object]] = [(engine, recollect.aio.AsyncEngine(engine))]
        while left:
            plain, awaited = left.pop()
            of_its_own = {"run"} if plain is engine else set()
            assert names(awaited) == names(plain) - IN_ONE_THREAD | of_its_own
            for name in names(plain) & GROUPS:
                if isinstance(getattr(type(plain), name), property):
                    group = getattr(awaited, name)
                    assert isinstance(group, AsyncCalls)
                    left.append((getattr(plain, name), group))


def test_the_loop_goes_on_while_a_call_is_under_way() -> None:
    reached, let_go = threading.Event(), threading.Event()

    def slow(_: Engine) -> str:
        reached.set()
        assert let_go.wait(60)
        return "done"

    async def life() -> str:
        async with recollect.aio.open(":memory:", model="none") as memory:
            call = asyncio.create_task(memory.run(slow))
            while not reached.is_set():
                await asyncio.sleep(0)
            assert (await memory.recall("tea")).hits == ()  # another call, meanwhile
            let_go.set()
            return await call

    assert asyncio.run(life()) == "done"


def test_what_only_reads_ends_when_it_is_cancelled() -> None:
    begun, ended = threading.Event(), threading.Event()

    def read_for_ever() -> None:
        begun.set()
        try:
            while True:
                end_if_interrupted()
        finally:
            ended.set()

    async def life() -> None:
        threads = CallThreads()
        call = asyncio.create_task(threads.run(read_for_ever, abandons=True))
        while not begun.is_set():
            await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(life())
    assert ended.wait(60)


def test_a_write_that_was_begun_is_done_before_its_cancelling_is_told() -> None:
    begun, let_go, written = threading.Event(), threading.Event(), threading.Event()

    def write() -> None:
        begun.set()
        assert let_go.wait(60)
        end_if_interrupted()
        written.set()

    async def life() -> None:
        threads = CallThreads()
        call = asyncio.create_task(threads.run(write, abandons=False))
        while not begun.is_set():
            await asyncio.sleep(0)
        for _ in range(2):
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
        let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert written.is_set()

    asyncio.run(life())


def test_a_recall_reads_and_a_remember_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    abandoned = {}

    async def noted(_: CallThreads, work: Any, *, abandons: bool) -> Any:
        abandoned[work.func.__name__] = abandons
        return work()

    monkeypatch.setattr(CallThreads, "run", noted)

    async def life(memory: recollect.aio.AsyncEngine) -> None:
        note = await memory.remember("tea")
        await memory.recall("tea")
        await memory.search("tea")
        await memory.graph.read_graph()
        await memory.forget([note.id])

    with recollect.open(":memory:", model="none") as engine:
        asyncio.run(life(recollect.aio.AsyncEngine(engine)))
    assert abandoned == {
        "remember": False, "recall": True, "search": True, "read_graph": True, "forget": False
    }  # fmt: skip


def test_an_error_is_the_engines_own(tmp_path: Path) -> None:
    async def life() -> None:
        async with recollect.aio.open(":memory:", model="none") as memory:
            with pytest.raises(recollect.InvalidInput):
                await memory.remember("")
        (tmp_path / "notes.txt").write_text("precious")
        with pytest.raises(recollect.NotAStore):
            await recollect.aio.open(tmp_path / "notes.txt")

    asyncio.run(life())
