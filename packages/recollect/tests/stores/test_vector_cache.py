"""The vector cache gives the vectors of the snapshot, whatever happened before."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from vector_world import DIMS, STORE, World, some_vectors

from recollect.domain.numbers import pack_vector
from recollect.domain.records import Kind
from recollect.stores.sql import CachedVectors
from recollect.stores.sqlite.snapshot import SqliteVectorQueries
from recollect.stores.vectors import block as vector_block
from recollect.stores.vectors import cache as vector_cache
from recollect.stores.vectors import file as vector_file
from recollect.stores.vectors import scan as vector_search
from recollect.stores.vectors.block import VectorSource
from recollect.stores.vectors.cache import VectorCache
from recollect.stores.vectors.scan import Allowed

if TYPE_CHECKING:
    from pathlib import Path

QUERY = some_vectors(1, seed=1000)[0]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "store.db")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of a few rows, so that small stores reach every edge case."""
    for module in (vector_block, vector_cache, vector_file):
        monkeypatch.setattr(module, "ROWS", 5)
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", 3)


def test_filters_stand_inside_the_search(world: World) -> None:
    for scope in (1, 2, 3):
        for kind in Kind:
            world.add_some(40, scope=scope, kind=kind, passages=2)
    cache = world.cache()
    only = np.array([1, 5, 50, 100, 170])
    for scopes in ([1], [2, 3], [1, 2, 3], [7]):
        for kinds in ({Kind.NOTE}, {Kind.ENTITY, Kind.MESSAGE}, set(Kind), set()):
            for among in (None, only):
                for k in (1, 10, 1000):
                    found = world.search(cache, QUERY, k, scopes, kinds, among)
                    assert found == world.expected(QUERY, k, scopes, kinds, among)


@pytest.mark.usefixtures("small")
def test_a_cache_of_many_dead_is_made_anew(world: World) -> None:
    memories = world.add_some(20)
    cache = world.cache()
    world.search(cache, QUERY)
    before = world.cache_path.stat().st_ino
    world.set_live(memories[:4], live=False)
    world.search(cache, QUERY)
    assert world.cache_path.stat().st_ino == before
    world.set_live(memories[4:8], live=False)
    assert world.search(cache, QUERY, 50) == world.expected(QUERY, 50)
    assert world.cache_path.stat().st_ino != before


def test_each_death_is_seen_from_its_own_moment_on(world: World) -> None:
    memories = world.add_some(20)
    cache = world.cache()
    moments = []
    for memory in memories[:4]:
        moments.append(world.reader())
        world.search(cache, QUERY, at=moments[-1])
        world.set_live([memory], live=False)
    assert [len(world.search(cache, QUERY, 50, at=at)) for at in moments] == [20, 19, 18, 17]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("arrivals", [0, 5])
def test_an_older_snapshot_is_served_by_a_cache_that_only_knows_later_ones(
    world: World, arrivals: int
) -> None:
    memories = world.add_some(20)
    world.set_live(memories[9:10], live=False)
    older = world.reader()
    before = world.expected(QUERY, 50, at=older)
    world.set_live(memories[:2], live=False)
    world.add_some(arrivals)
    world.search(world.cache(), QUERY)  # leaves a file of the later moment
    late = world.cache_path.read_bytes()
    cache = world.cache()
    assert world.search(cache, QUERY, 50, at=older) == before
    assert world.cache_path.read_bytes() == late
    assert world.search(cache, QUERY, 50) == world.expected(QUERY, 50)


def test_what_a_write_transaction_sees_stays_with_it(world: World) -> None:
    world.add_some(5)
    cache = world.cache()
    world.search(cache, QUERY)
    world.writer.execute("BEGIN IMMEDIATE")
    world.add(QUERY[None])
    assert len(world.search(cache, QUERY, 50, at=world.writer)) == 6
    world.writer.execute("ROLLBACK")
    world.add_some(1)  # takes the id that was rolled back
    assert world.search(cache, QUERY, 50) == world.expected(QUERY, 50)


def test_a_dropped_model_leaves_nothing_behind(world: World) -> None:
    world.add_some(5)
    cache = world.cache()
    world.search(cache, QUERY)
    world.writer.execute("DELETE FROM vector")
    assert world.search(cache, QUERY) == []


def test_vectors_of_another_model_are_not_compared(world: World) -> None:
    world.add_some(5)
    world.writer.execute("INSERT INTO model VALUES (2, 'another', ?, NULL, 0)", (DIMS,))
    world.writer.execute(
        "INSERT INTO vector(model_id, passage_id, embedding) SELECT 2, id, ? FROM passage",
        (pack_vector(QUERY),),
    )
    cache = world.cache()
    assert world.search(cache, QUERY) == world.expected(QUERY)
    source = VectorSource(STORE, 2, DIMS, None)
    vectors = CachedVectors("another", [(cache, SqliteVectorQueries(world.reader()), source)])
    other = vectors.search(QUERY, 5, Allowed.of([1]))
    assert [hit.score for hit in other] == [float(np.vecdot(QUERY, QUERY))] * 5


def test_the_whole_is_checked_against_the_store(world: World) -> None:
    world.add_some(50)
    cache = world.cache()
    assert world.check(cache) == []
    # Without the log, so that no search can notice it:
    world.writer.execute("UPDATE vector SET embedding = ? WHERE id = 20", (pack_vector(QUERY),))
    assert world.check(cache) == ["1 vectors in the cache differ from those in the store."]
    world.writer.execute("UPDATE passage SET live = 0 WHERE id = 30")
    assert len(world.check(cache)) == 2
    cache.clear()
    assert world.check(cache) == []


def test_codes_are_part_of_the_check(tmp_path: Path) -> None:
    world = World(tmp_path / "store.db", centre=pack_vector(np.zeros(DIMS, np.float32)))
    world.add_some(50)
    cache = world.cache()
    assert world.check(cache) == []
    cache._states[0].parts[0].block.codes[0, 7] ^= np.uint64(1)
    assert world.check(cache) == ["1 vectors in the cache differ from those in the store."]


def test_threads_search_side_by_side_while_one_writes(world: World) -> None:
    memories = world.add_some(300)
    cache = world.cache()
    wrong: list[object] = []

    def compare_searches() -> None:
        for _ in range(20):
            at = world.reader()
            if world.search(cache, QUERY, 20, at=at) != world.expected(QUERY, 20, at=at):
                wrong.append(at)

    threads = [threading.Thread(target=compare_searches) for _ in range(4)]
    for thread in threads:
        thread.start()
    for step in range(30):
        world.add_some(3)
        world.set_live([memories[step]], live=step % 3 == 0)
    for thread in threads:
        thread.join()
    assert wrong == []


def test_two_stages_answer_alike_after_any_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "TWO_STAGES_FROM", 100)
    monkeypatch.setattr(vector_search, "_ROWS_PER_HIT", 30)
    monkeypatch.setattr(vector_search, "MOST_DEVIATIONS", 0)
    world = World(tmp_path / "store.db", dims=64, centre=pack_vector(np.zeros(64, np.float32)))
    query = some_vectors(1, seed=7, dims=64)[0]
    memories = world.add_some(1500)
    veteran = world.cache()
    world.search(veteran, query)
    world.add_some(1500)
    world.search(veteran, query)
    world.set_live(memories[:200], live=False)
    world.search(veteran, query)
    world.set_live(memories[:50], live=True)
    found = world.search(veteran, query, 30)
    assert found == world.search(VectorCache(None), query, 30)
    assert found != world.expected(query, 30), "the first stage cut nothing: this test tests nothing"


Step = tuple[str, int, int]
STEPS = st.tuples(
    st.sampled_from(["add", "add", "forget", "restore", "purge", "trim", "reopen", "look back", "search"]),
    st.integers(0, 20),
    st.integers(1, 6),
)
FILLED: list[Step] = [("add", 0, 6)] * 3
"""Eighteen memories. A step names its first memory and how many; or what it says of a log or a snapshot."""


@pytest.mark.usefixtures("small")
@given(steps=st.lists(STEPS, max_size=30))
# Forgotten ones are gone, restored ones return, purged ones do not.
@example([*FILLED, ("forget", 4, 1), ("restore", 4, 1), ("purge", 4, 1)])
# A vector that was dead when the cache was made returns.
@example([*FILLED, ("forget", 0, 1), ("reopen", 1, 1), ("restore", 0, 1)])
# The log has only a part, or nothing, of what a cache missed.
@example([*FILLED, ("forget", 3, 3), ("forget", 9, 2), ("trim", 0, 1), ("trim", 1, 3)])
@example([*FILLED, ("forget", 3, 3), ("forget", 9, 2), ("trim", 1, 1), ("search", 0, 3)])
# A vector after the purge of the newest one is found.
@example([("add", 0, 6), ("purge", 5, 1), ("add", 0, 2)])
# An older snapshot has neither later vectors nor later deletions, and does not affect others.
@example(
    [*FILLED, ("add", 0, 5), ("look back", 2, 1), ("forget", 0, 3), ("purge", 3, 2), ("look back", 1, 2)]
)
@example([*FILLED, ("add", 0, 3), ("forget", 18, 1), ("add", 0, 2), ("look back", 1, 2), ("search", 0, 2)])
@settings(max_examples=tries(50), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_history_gives_the_snapshot_s_answer(
    tmp_path_factory: pytest.TempPathFactory, steps: list[Step]
) -> None:
    world = World(tmp_path_factory.mktemp("world") / "store.db")
    memories: list[int] = []
    # Two caches on one file, like two processes, and one without a file.
    caches = [world.cache(), world.cache(), VectorCache(world.path / "under a file, where nothing can be")]
    snapshots = [world.reader()]
    for what, number, count in steps:
        some = sorted({memories[(number + i) % len(memories)] for i in range(count)}) if memories else []
        if what == "add":
            memories += world.add_some(count, scope=1 + number % 3)
        elif what in {"forget", "restore"}:
            world.set_live(some, live=what == "restore")
        elif what == "purge":
            world.purge(some)
            memories = [memory for memory in memories if memory not in some]
        elif what == "trim":
            world.trim_log(keep=number % 4)
        elif what == "reopen":
            caches[number % 2] = world.cache()
        at = world.reader()
        snapshots = [*snapshots, at][-4:]
        if what == "look back":
            at = snapshots[number % len(snapshots)]
        for cache in {caches[count % 2], caches[2]}:
            assert world.search(cache, QUERY, 50, at=at) == world.expected(QUERY, 50, at=at)
            found = world.search(cache, QUERY, 2, [1, 2], at=at)
            assert found == world.expected(QUERY, 2, [1, 2], at=at)
    assert [world.check(cache) for cache in caches] == [[], [], []]


def test_a_file_that_somebody_cuts_off_does_not_end_the_process(world: World, small: None) -> None:
    world.add_some(40)
    cache = world.cache()
    before = world.search(cache, QUERY)
    path = cache._path
    assert path is not None
    assert path.exists()
    for length in (path.stat().st_size // 2, 4096, 0):
        # Reading beyond the end of a mapped file is a SIGBUS, which Python cannot catch.
        with path.open("r+b") as file:
            file.truncate(length)
        assert world.search(cache, QUERY) == before
        assert cache._mapped is not None
