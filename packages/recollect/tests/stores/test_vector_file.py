"""The file of the vector cache: processes share it, verify it, and can rebuild it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from vector_world import DIMS, STORE, World, some_vectors

from recollect.domain.numbers import pack_vector
from recollect.domain.records import Found
from recollect.stores.sql import CachedVectors
from recollect.stores.sqlite.snapshot import SqliteVectorQueries
from recollect.stores.vectors import block as vector_truth
from recollect.stores.vectors import file as vector_file
from recollect.stores.vectors.block import VectorSource
from recollect.stores.vectors.cache import WORTH_SHARING, VectorCache
from recollect.stores.vectors.scan import Allowed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

QUERY = some_vectors(1, seed=1000)[0]
ENOUGH = WORTH_SHARING + 500
DATA = 65_536
"""Where the header ends."""


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path / "store.db")
    world.add_some(ENOUGH, passages=2)
    return world


def private_rows(cache: VectorCache) -> int:
    return cache._states[0].private_rows


def inode(world: World) -> int:
    return world.cache_path.stat().st_ino


def test_few_vectors_make_no_file(tmp_path: Path) -> None:
    world = World(tmp_path / "store.db")
    world.add_some(20)
    world.search(world.cache(), QUERY)
    assert not world.cache_path.exists()


def test_a_second_cache_maps_what_the_first_wrote(world: World) -> None:
    expected = world.expected(QUERY)
    assert world.search(world.cache(), QUERY) == expected
    first = inode(world)
    cache = world.cache()
    assert world.search(cache, QUERY) == expected
    assert (private_rows(cache), inode(world)) == (0, first)


def test_small_growth_stays_private_and_large_growth_is_appended(world: World) -> None:
    cache = world.cache()
    world.search(cache, QUERY)
    first = inode(world)
    world.add_some(10)
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert private_rows(cache) == 10
    world.add_some(WORTH_SHARING)
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert (private_rows(cache), inode(world)) == (0, first)
    other = world.cache()
    assert world.search(other, QUERY) == world.expected(QUERY)
    assert private_rows(other) == 0


def test_a_file_grows_over_several_blocks(tmp_path: Path) -> None:
    world = World(tmp_path / "store.db")
    cache = world.cache()
    for count in (9000, 9000, 20_000):
        world.add_some(count)
        assert world.search(cache, QUERY, 20) == world.expected(QUERY, 20)
    assert world.check(cache) == []
    assert world.check(world.cache()) == []


def test_deaths_before_an_append_are_known_to_who_opens_the_file_after(world: World) -> None:
    cache = world.cache()
    best = world.search(cache, QUERY)[0].id
    world.set_live([best], live=False)
    world.add_some(WORTH_SHARING)
    world.search(cache, QUERY)
    opened = world.cache()
    assert world.search(opened, QUERY) == world.expected(QUERY)
    assert private_rows(opened) == 0


def flipped(content: bytes, *places: int) -> bytes:
    """Return copies of the file with one bit changed at each of these places."""
    damaged = bytearray(content)
    for place in places:
        damaged[place] ^= 0x10
    return bytes(damaged)


DAMAGE: dict[str, Callable[[bytes], bytes | None]] = {
    "nothing left": lambda _: None,
    "empty": lambda _: b"",
    "noise": lambda _: os.urandom(100_000),
    "truncated": lambda whole: whole[: DATA + 1000],
    "truncated header": lambda whole: whole[:50],
    "zeroed data": lambda whole: whole[:DATA] + bytes(len(whole) - DATA),
    "one bit": lambda whole: flipped(whole, DATA + 4321),
    "up to which vector the rows go": lambda whole: flipped(whole, 57, 4096 + 57),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_made_anew_with_the_same_answers(world: World, what: str) -> None:
    expected = world.search(world.cache(), QUERY)
    first = inode(world)
    damaged = DAMAGE[what](world.cache_path.read_bytes())
    if damaged is None:
        world.cache_path.unlink()
    else:
        world.cache_path.write_bytes(damaged)
    cache = world.cache()
    assert world.search(cache, QUERY) == expected == world.expected(QUERY)
    again = world.cache()
    world.search(again, QUERY)
    assert private_rows(again) == 0
    assert damaged is None or inode(world) != first


def test_a_large_file_is_verified_as_it_is_searched(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_file, "MAX_BLOCKS_VERIFIED_ON_OPENING", 0)
    world.search(world.cache(), QUERY)
    first = inode(world)
    cache = world.cache()
    world.cache_path.write_bytes(flipped(world.cache_path.read_bytes(), DATA + 4321))
    world.search(cache, QUERY)
    assert inode(world) == first, "it was verified as it was opened: this test tests nothing"
    # The next search verifies the mapped blocks, and rebuilds the file.
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert inode(world) != first
    assert world.check(cache) == []


def test_whose_a_row_is_is_verified_before_any_search(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.search(world.cache(), QUERY)
    source = VectorSource(STORE, 1, DIMS, None)
    file = vector_file.VectorFile(world.cache_path, source.shape, source.digest())
    monkeypatch.setattr(vector_file, "MAX_BLOCKS_VERIFIED_ON_OPENING", 0)
    mapped = file.map_rows()
    assert mapped is not None
    whole = world.cache_path.read_bytes()
    offsets = [offset for offset, _ in mapped.blocks[0].pieces(0, ENOUGH)]
    for offset in offsets:
        flipped = bytearray(whole)
        flipped[DATA + offset] ^= 1
        copy = world.cache_path.with_name("copy")
        copy.write_bytes(flipped)
        damaged = vector_file.VectorFile(copy, source.shape, source.digest())
        # Vectors are verified later; ids, memories, passages, scopes and kinds at once.
        assert (damaged.map_rows() is None) == (offset != offsets[0])
        assert damaged.map_rows(whole=True) is None


def test_every_column_is_covered_by_the_checksum(world: World) -> None:
    world.search(world.cache(), QUERY)
    source = VectorSource(STORE, 1, DIMS, None)
    file = vector_file.VectorFile(world.cache_path, source.shape, source.digest())
    whole = world.cache_path.read_bytes()
    mapped = file.map_rows()
    assert mapped is not None
    for offset, piece in mapped.blocks[0].pieces(0, ENOUGH):
        last = DATA + offset + piece.nbytes - 1
        flipped = whole[:last] + bytes([whole[last] ^ 0x80]) + whole[last + 1 :]
        world.cache_path.with_name("copy").write_bytes(flipped)
        copy = vector_file.VectorFile(world.cache_path.with_name("copy"), source.shape, source.digest())
        assert copy.map_rows() is None


def test_damage_that_a_running_process_has_not_met_is_found_by_the_check(world: World) -> None:
    cache = world.cache()
    world.search(cache, QUERY)
    damaged = flipped(world.cache_path.read_bytes(), DATA + 4321)
    # Replace the file: the map of the first one stays valid.
    world.cache_path.unlink()
    world.cache_path.write_bytes(damaged)
    assert len(world.check(cache)) == 1
    cache.clear()
    assert world.check(cache) == []


def test_a_file_of_another_store_model_or_format_is_not_believed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.search(world.cache(), QUERY)
    first = inode(world)
    reader = SqliteVectorQueries(world.reader())
    other = VectorCache(world.cache_path)

    def search(store: str, model: int) -> list[Found]:
        source = VectorSource(store, model, DIMS, None)
        return CachedVectors("tiny", [(other, reader, source)]).search(QUERY, 5, Allowed.of([1]))

    found = search("another store", 1)
    assert found == world.expected(QUERY)
    assert inode(world) != first
    second = inode(world)
    monkeypatch.setattr(vector_truth, "FORMAT", vector_truth.FORMAT + 1)
    assert search(STORE, 1) == found
    assert inode(world) != second
    third = inode(world)
    assert search(STORE, 2) == []
    assert inode(world) == third, "nothing to share, so nothing was written"


def test_an_older_copy_of_the_store_that_went_its_own_way_is_noticed(world: World, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    world.writer.execute("VACUUM INTO ?", (str(copy),))
    world.add_some(50)
    veteran = world.cache()
    world.search(veteran, QUERY)
    strayed = World.__new__(World)
    strayed.__dict__.update(world.__dict__, path=copy, seeds=iter(range(500, 600)))
    strayed.writer = type(world.writer)(str(copy))
    shared = world.cache_path.read_bytes()
    strayed.cache_path.write_bytes(shared)
    for count in (20, 30, 40):  # behind the copied cache, equal to it, and ahead
        strayed.add_some(count)
        assert strayed.search(strayed.cache(), QUERY, 50) == strayed.expected(QUERY, 50)
        assert strayed.search(veteran, QUERY, 50) == strayed.expected(QUERY, 50)


def test_without_a_place_that_can_be_written_answers_are_the_same(world: World) -> None:
    cache = VectorCache(None)
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert cache.reason is not None
    # Root may write anywhere, so use an impossible path: a folder under a file.
    cache = VectorCache(world.path / "vectors")
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert cache.reason is not None
    assert "vectors" in cache.reason
    world.add_some(WORTH_SHARING + 1)
    assert world.search(cache, QUERY) == world.expected(QUERY)


def test_a_full_disk_leaves_the_old_file_and_private_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = world.cache()
    world.search(cache, QUERY)
    before = world.cache_path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(vector_file, "_write_all", full)
    world.add_some(WORTH_SHARING)
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert cache.reason is not None
    assert "No space" in cache.reason
    assert world.cache_path.read_bytes() == before
    assert [path.name for path in world.path.parent.glob("*-new")] == []


class Killed(BaseException):
    """Simulates the end of the process at this write."""


@pytest.mark.parametrize("existing", [True, False])
def test_dying_at_any_write_leaves_the_old_file_or_the_new(
    world: World, existing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if existing:
        world.search(world.cache(), QUERY)
        world.add_some(WORTH_SHARING)
    kept = world.cache_path.read_bytes() if existing else None
    real = vector_file._write_all
    for dies_at in range(100):
        writes = iter(range(100))

        def write(file: object, data: memoryview, writes: object = writes, dies_at: int = dies_at) -> None:
            if next(writes) == dies_at:  # type: ignore[call-overload]
                real(file, data[: len(data) // 2])  # type: ignore[arg-type]
                raise Killed
            real(file, data)  # type: ignore[arg-type]

        monkeypatch.setattr(vector_file, "_write_all", write)
        try:
            world.search(world.cache(), QUERY)
        except Killed:
            monkeypatch.setattr(vector_file, "_write_all", real)
            source = VectorSource(STORE, 1, DIMS, None)
            file = vector_file.VectorFile(world.cache_path, source.shape, source.digest())
            mapped = file.map_rows()
            assert (mapped is not None) == existing
            assert world.search(VectorCache(world.cache_path), QUERY) == world.expected(QUERY)
            if kept is None:
                world.cache_path.unlink()
            else:
                world.cache_path.unlink()
                world.cache_path.write_bytes(kept)
        else:
            break
    assert 5 < dies_at < 99


def test_while_another_writes_nobody_waits(world: World) -> None:
    source = VectorSource(STORE, 1, DIMS, None)
    file = vector_file.VectorFile(world.cache_path, source.shape, source.digest())
    cache = world.cache()
    with file.lock() as mine:
        assert mine
        assert world.search(cache, QUERY) == world.expected(QUERY)
        assert private_rows(cache) == ENOUGH
    world.search(cache, QUERY)
    assert private_rows(cache) == 0, "once the lock is free, memory is given back"


PROCESS = """
import json, sys
from pathlib import Path
from vector_world import DIMS, some_vectors, SCOPES, STORE, MODEL
from recollect.stores.sql import CachedVectors
from recollect.stores.sqlite.snapshot import SqliteVectorQueries
from recollect.stores.vectors.cache import VectorCache
from recollect.stores.vectors.scan import Allowed
from recollect.stores.vectors.block import VectorSource
import apsw
path = Path(sys.argv[1])
cache = VectorCache(path.with_name(path.name + "-vectors"))
query = some_vectors(1, seed=1000)[0]
for _ in range(int(sys.argv[2])):
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(10_000)
    with connection:
        source = VectorSource(STORE, MODEL, DIMS, None)
        vectors = CachedVectors("tiny", [(cache, SqliteVectorQueries(connection), source)])
        found = vectors.search(query, 5, Allowed.of(SCOPES))
hits = [(hit.id, hit.score, hit.passage) for hit in found]
print(json.dumps([hits, cache._states[0].private_rows, cache.reason]))
"""


def start(world: World, searches: int) -> subprocess.Popen[str]:
    paths = [os.path.dirname(__file__), *sys.path]  # noqa: PTH120  # a plain entry of the search path
    return subprocess.Popen(
        [sys.executable, "-c", PROCESS, str(world.path), str(searches)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
    )


def test_several_processes_answer_alike_and_share_one_file(world: World) -> None:
    processes = [start(world, 5) for _ in range(3)]
    for process in processes:
        out, _ = process.communicate()
        found, _, reason = json.loads(out)
        assert [Found(*hit) for hit in found] == world.expected(QUERY)
        assert reason is None
    process = start(world, 1)
    found, private, _ = json.loads(process.communicate()[0])
    assert [Found(*hit) for hit in found] == world.expected(QUERY)
    assert private == 0


def test_a_process_follows_what_another_appends(world: World) -> None:
    cache = world.cache()
    world.search(cache, QUERY)
    world.add_some(WORTH_SHARING)
    start(world, 1).communicate()  # appends to the file
    grown = world.cache_path.read_bytes()
    assert world.search(cache, QUERY) == world.expected(QUERY)
    assert private_rows(cache) == 0
    assert world.cache_path.read_bytes() == grown


def test_odd_dims_are_covered_by_the_checksum_too(tmp_path: Path) -> None:
    world = World(tmp_path / "store.db", dims=7, centre=pack_vector(some_vectors(1, dims=7)[0]))
    world.add_some(ENOUGH)
    query = some_vectors(1, seed=5, dims=7)[0]
    world.search(world.cache(), query)
    cache = world.cache()
    assert world.search(cache, query) == world.expected(query)
    assert private_rows(cache) == 0
