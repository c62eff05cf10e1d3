"""`recollect.aio`: the engine's calls, awaited."""

from __future__ import annotations

import asyncio
import copy
import inspect
import logging
import sys
import threading
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import recollect
import recollect.aio
from recollect.aio.async_engine import GROUPS, AsyncCalls
from recollect.aio.call_threads import CallThreads
from recollect.domain.errors import end_if_interrupted
from recollect.engine import Engine
from recollect.transfer import export_file

if TYPE_CHECKING:
    from collections.abc import Collection
    from types import FrameType

    from conftest import FixedClock


class BlockedWork:
    """Work in a thread that blocks until `let_go` is set."""

    def __init__(self) -> None:
        self.begun, self.let_go = threading.Event(), threading.Event()

    def __call__(self, *_: object) -> None:
        self.begun.set()
        assert self.let_go.wait(60)

    async def until_begun(self) -> None:
        while not self.begun.is_set():
            await asyncio.sleep(0)


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
    def offered(of: object) -> set[str]:
        """Return public names, except `services`, which makes the groups."""
        return {name for name in dir(of) if not name.startswith("_")} - {"services"}

    with recollect.open(":memory:", model="none") as engine:
        left: list[tuple[object, object, Collection[str]]] = [
            (engine, recollect.aio.AsyncEngine(engine), GROUPS)
        ]
        while left:
            plain, awaited, groups = left.pop()
            of_its_own = {"run"} if plain is engine else set()
            assert offered(awaited) == offered(plain) | of_its_own
            # A property that is no group would be a coroutine where its group is not loaded.
            properties = {name for name in offered(plain) if isinstance(getattr(type(plain), name), property)}
            assert properties - {"model", "profiles", "scope", "zone"} == set(groups)
            for name in groups:
                group = getattr(awaited, name)
                assert isinstance(group, AsyncCalls)
                left.append((getattr(plain, name), group, GROUPS[name] if plain is engine else ()))


def test_a_group_is_loaded_in_a_thread() -> None:
    def threads_of_imports(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code is fget.__code__:
            loading.append(threading.current_thread())

    fget = Engine.graph.fget  # type: ignore[attr-defined]  # a property
    loading: list[threading.Thread] = []

    async def life() -> None:
        async with recollect.aio.open(":memory:", model="none") as memory:
            assert (await memory.graph.read_graph()).entities == ()

    threading.setprofile(threads_of_imports)
    sys.setprofile(threads_of_imports)
    try:
        asyncio.run(life())
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert len(loading) == 1
    assert loading[0] is not threading.current_thread()


def test_the_loop_goes_on_while_a_call_is_under_way() -> None:
    slow = BlockedWork()

    async def life() -> None:
        async with recollect.aio.open(":memory:", model="none") as memory:
            call = asyncio.create_task(memory.run(slow))
            await slow.until_begun()
            assert (await memory.recall("tea")).hits == ()  # a second call at the same time
            slow.let_go.set()
            await call

    asyncio.run(life())


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
    held, written = BlockedWork(), threading.Event()

    def write() -> None:
        held()
        end_if_interrupted()
        written.set()

    async def life() -> None:
        threads = CallThreads()
        call = asyncio.create_task(threads.run(write, abandons=False))
        await held.until_begun()
        for _ in range(2):
            call.cancel()
            await asyncio.sleep(0)
            assert not call.done()
        held.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert written.is_set()

    asyncio.run(life())


def test_a_recall_reads_and_a_remember_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    abandoned = {}

    async def record_and_run(_: CallThreads, work: Any, *, abandons: bool) -> Any:
        if isinstance(work, partial):  # and not the loading of a group
            abandoned[work.func.__name__] = abandons
        return work()

    monkeypatch.setattr(CallThreads, "run", record_and_run)

    async def life(memory: recollect.aio.AsyncEngine) -> None:
        note = await memory.remember("tea")
        await memory.recall("tea")
        await memory.search("tea")
        await memory.graph.read_graph()
        await memory.upkeep.verify()
        await memory.forget([note.id])

    with recollect.open(":memory:", model="none") as engine:
        asyncio.run(life(recollect.aio.AsyncEngine(engine)))
    reads = {"recall": True, "search": True, "read_graph": True, "verify": True}
    assert abandoned == {"remember": False, "forget": False, **reads}


def test_an_error_is_the_engines_own(tmp_path: Path) -> None:
    async def life() -> None:
        async with recollect.aio.open(":memory:", model="none") as memory:
            with pytest.raises(recollect.InvalidInput):
                await memory.remember("")
        (tmp_path / "notes.txt").write_text("precious")
        with pytest.raises(recollect.NotAStore):
            await recollect.aio.open(tmp_path / "notes.txt")

    asyncio.run(life())


def test_what_is_not_there_is_named_and_a_call_says_what_it_takes() -> None:
    with recollect.open(":memory:", model="none") as engine:
        memory: Any = recollect.aio.AsyncEngine(engine)
        with pytest.raises(AttributeError, match="'Engine' object has no attribute 'recal'"):
            memory.recal  # noqa: B018
        with pytest.raises(AttributeError, match="'AnswerLog' object has no attribute 'services'"):
            asyncio.run(memory.answers.services())
        assert copy.copy(memory).scope == engine.scope
        assert inspect.signature(memory.recall) == inspect.signature(engine.recall)
        assert inspect.iscoroutinefunction(memory.recall)


def test_a_memory_may_be_closed_twice_and_says_that_it_is_closed() -> None:
    async def life() -> None:
        async with recollect.aio.open(":memory:", model="none") as memory:
            await memory.close()
        with pytest.raises(recollect.StoreUnavailable, match="closed; open it again"):
            await memory.recall("tea")

    asyncio.run(life())


def test_closing_waits_for_the_calls_under_way(tmp_path: Path) -> None:
    held = BlockedWork()

    def slow(engine: Engine) -> None:
        held()
        engine.remember("tea")

    async def life() -> None:
        memory = await recollect.aio.open(tmp_path / "memory.db", model="none")
        call = asyncio.create_task(memory.run(slow))
        await held.until_begun()
        closing = asyncio.create_task(memory.close())
        await asyncio.sleep(0)
        with pytest.raises(recollect.StoreUnavailable):
            await memory.recall("tea")
        held.let_go.set()
        await closing
        await call

    asyncio.run(life())
    with recollect.open(tmp_path / "memory.db", model="none") as memory:
        assert memory.counts().notes == 1


def test_a_memory_is_closed_though_its_closing_is_cancelled() -> None:
    slow = BlockedWork()

    async def life() -> list[str]:
        threads, done = CallThreads(), list[str]()
        call = asyncio.create_task(threads.run(slow, abandons=False))
        await slow.until_begun()
        closing = asyncio.create_task(threads.close(lambda: done.append("closed")))
        for _ in range(2):
            await asyncio.sleep(0)
            closing.cancel()
        slow.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await closing
        await call
        return done

    assert asyncio.run(life()) == ["closed"]


def test_an_opening_that_is_cancelled_closes_what_it_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    held = BlockedWork()
    closed_in: list[threading.Thread] = []

    class Opened:
        def close(self) -> None:
            closed_in.append(threading.current_thread())

    def opened() -> Opened:
        held()
        return Opened()

    monkeypatch.setattr("recollect.bootstrap.open", opened)

    async def enter() -> None:
        async with recollect.aio.open():
            pytest.fail("it was cancelled")

    async def life() -> None:
        opening = asyncio.create_task(enter())
        await held.until_begun()
        opening.cancel()
        await asyncio.sleep(0)
        held.let_go.set()
        with pytest.raises(asyncio.CancelledError):
            await opening

    asyncio.run(life())
    assert len(closed_in) == 1
    assert closed_in[0] is not threading.current_thread()  # which would hold up the loop


def test_a_read_that_outlives_its_loop_ends_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    read, ended = BlockedWork(), threading.Event()

    async def life() -> None:
        call = asyncio.create_task(threads.run(read, abandons=True))
        await read.until_begun()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    threads = CallThreads()
    with caplog.at_level(logging.DEBUG, "concurrent.futures"):
        asyncio.run(life())
        read.let_go.set()
        asyncio.run(threads.close(ended.set))
    assert ended.is_set()
    assert caplog.records == []


def test_a_call_sees_the_context_of_its_caller() -> None:
    request: ContextVar[str] = ContextVar("request")

    async def life() -> str:
        async with recollect.aio.open(":memory:", model="none") as memory:
            request.set("the third")
            return await memory.run(lambda _: request.get())

    assert asyncio.run(life()) == "the third"


def test_without_a_loop_of_asyncio_nothing_is_begun() -> None:
    with recollect.open(":memory:", model="none") as engine:
        memory = recollect.aio.AsyncEngine(engine)
        with pytest.raises(RuntimeError, match="no running event loop"):
            memory.remember("tea").send(None)  # as another library's loop does
        asyncio.run(memory.run(lambda _: None))
        assert engine.counts().notes == 0
