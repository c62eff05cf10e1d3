"""The search in two stages, by a prefix first: what it finds and misses, and what does not matter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries
from vector_world import DIMS, MODEL, SCOPES, STORE, World, some_vectors

from recollect.domain.changes import NewText, PutText, PutVectors
from recollect.domain.errors import InvalidInput
from recollect.domain.numbers import Rows, normalised, pack_vector
from recollect.domain.records import Filter, Kind, Model, Scope
from recollect.models.packaged import stored_model
from recollect.models.registry import read_descriptor
from recollect.search.candidates import Search
from recollect.search.texts import model_in_use, pending_passages
from recollect.stores.vectors import block as vector_block
from recollect.stores.vectors import cache as vector_cache
from recollect.stores.vectors import file as vector_file
from recollect.stores.vectors.block import VectorSource
from recollect.stores.vectors.cache import Prefixes, prefix_width
from recollect.write.repository import Repository

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from recollect.domain.records import Found
    from recollect.stores.vectors.cache import VectorCache

MODELS = Path(__file__).parents[4] / "models"
QUERY = some_vectors(1, seed=1000)[0]
# The prefix of eight numbers has two: here the last two instead of the first.
LAST_TWO = np.eye(8, dtype="<f2")[6:].tobytes()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "store.db")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use blocks of a few rows, so that small stores reach every edge case."""
    for module in (vector_block, vector_cache, vector_file):
        monkeypatch.setattr(module, "ROWS", 5)
    monkeypatch.setattr(vector_cache, "WORTH_SHARING", 3)


def search(
    world: World, cache: VectorCache, query: Rows, k: int, shortlist: int | None, *narrowed: Any, **named: Any
) -> list[Found]:
    return world.search(cache, query, k, *narrowed, shortlist=shortlist, **named)


def rotate(world: World, rotation: bytes) -> None:
    world.writer.execute("INSERT INTO rotation VALUES (?, ?)", (MODEL, rotation))


def vector(*numbers: float) -> Rows:
    """Return a vector whose last number makes its length one."""
    rest = np.sqrt(1 - np.square(numbers).sum())
    return np.array([*numbers, *[0.0] * (DIMS - 1 - len(numbers)), rest], np.float32)


def prefixes(dims: int = DIMS, rotation: bytes | None = None) -> Prefixes:
    return Prefixes(VectorSource(STORE, MODEL, dims, None), rotation)


def test_only_the_shortlist_is_compared_in_full(world: World) -> None:
    # The first two of eight numbers are the prefix; its direction is what the first stage compares.
    query = vector(0.6, 0.0)
    near, also_near, far = vector(0.1, 0.0), vector(0.2, 0.02), vector(0.5, 0.4)
    first, second, third = world.add(np.stack([near, also_near, far]))
    cache = world.cache()
    # by prefix: 1, .2/√.0404 = .995, .5/√.41 = .781
    # by all: .06 + .8√.99 = .856, .12 + .8√.9596 = .904, .3 + .8√.59 = .914
    assert [hit.id for hit in search(world, cache, query, 3, None)] == [third, second, first]
    assert [hit.id for hit in search(world, cache, query, 3, 2)] == [second, first]
    assert [hit.id for hit in search(world, cache, query, 1, 2)] == [second]
    assert [hit.id for hit in search(world, cache, query, 3, 1)] == [first]


def test_the_scores_are_those_of_the_whole_width(world: World) -> None:
    world.add_some(300)
    exact = {hit.id: hit for hit in search(world, world.cache(), QUERY, 300, None)}
    found = search(world, world.cache(), QUERY, 30, 40)
    assert found == [exact[hit.id] for hit in found]
    assert [hit.score for hit in found] == sorted([hit.score for hit in found], reverse=True)


@pytest.mark.parametrize("shortlist", [40, 41, 1000])
def test_a_shortlist_that_holds_all_gives_the_exact_answer(world: World, shortlist: int) -> None:
    world.add_some(40, passages=2)
    assert search(world, world.cache(), QUERY, 30, shortlist) == world.expected(QUERY, 30)


def test_a_small_scope_needs_no_first_stage(world: World) -> None:
    world.add_some(300)
    world.add_some(10, scope=2)
    cache = world.cache()
    assert search(world, cache, QUERY, 30, 10, scopes=[2]) == world.expected(QUERY, 30, [2])
    assert cache._prefixes is not None
    assert not cache._prefixes._by_block


def test_memories_are_counted_not_passages(world: World) -> None:
    # Fifty passages in the query's direction would fill a shortlist of rows.
    crowd = normalised(np.tile(vector(0.6, 0.0), (50, 1)) + 0.001 * some_vectors(50))
    (many,) = world.add(crowd, passages=50)
    second, third = world.add(np.stack([vector(0.5, 0.1), vector(0.0, 0.9)]))
    found = search(world, world.cache(), vector(0.6, 0.0), 5, 2)
    assert [hit.id for hit in found] == [many, second]
    assert third not in [hit.id for hit in found]


def test_a_memory_on_the_shortlist_speaks_by_its_best_passage(world: World) -> None:
    query = vector(0.6, 0.0)
    # The prefix of its second passage points away, though by all it is the nearer.
    (memory,) = world.add(np.stack([vector(0.1, 0.0), vector(0.5, 0.4)]), passages=2)
    world.add(np.stack([vector(0.2, 0.05), vector(0.3, 0.25)]))
    found = search(world, world.cache(), query, 5, 1)
    assert found == [hit for hit in world.expected(query, 5) if hit.id == memory]


def test_what_ties_with_the_last_is_on_the_shortlist_too(world: World) -> None:
    # Powers of two, so that equal directions are equal bits.
    rows = np.stack([vector(0.5, 0.0), vector(0.125, 0.0), vector(0.25, 0.0), vector(0.25, 0.5)])
    memories = world.add(rows)
    found = search(world, world.cache(), vector(0.5, 0.0), 5, 1)
    assert [hit.id for hit in found] == [memories[0], memories[2], memories[1]]


def test_filters_stand_before_the_shortlist(world: World) -> None:
    for scope in SCOPES:
        for kind in Kind:
            world.add_some(40, scope=scope, kind=kind, passages=2)
    cache = world.cache()
    only = np.arange(1, 181, 4)
    for scopes in ([1], [2, 3], [7]):
        for kinds in ({Kind.NOTE}, set(Kind), set[Kind]()):
            for among in (None, only):
                found = search(world, cache, QUERY, 10, 5, scopes, kinds, among)
                allowed = world.expected(QUERY, 1000, scopes, kinds, among)
                assert len(found) == min(5, len(allowed))
                assert set(found) <= set(allowed)


def test_other_owners_change_nothing(world: World) -> None:
    world.add_some(60)
    before = search(world, world.cache(), QUERY, 10, 12, scopes=[1])
    world.add(np.tile(QUERY, (500, 1)), scope=2)
    assert search(world, world.cache(), QUERY, 10, 12, scopes=[1]) == before


def test_no_room_finds_nothing(world: World) -> None:
    world.add_some(9)
    assert search(world, world.cache(), QUERY, 0, 5) == []
    assert search(world, world.cache(), QUERY, 5, 0) == []


def test_the_rotation_says_which_prefix_is_taken(world: World) -> None:
    query = vector(0.0, 0.0)  # all of it in the last number
    turned, plain = world.add(np.stack([vector(0.9, 0.1), vector(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.6)]))
    rotate(world, LAST_TWO)
    # by the last two numbers: 1 and .8     by the first two, both are equal
    assert [hit.id for hit in search(world, world.cache(), query, 5, 1)] == [turned]
    assert [hit.id for hit in search(world, world.cache(), query, 5, None)] == [plain, turned]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("rotation", [None, LAST_TWO], ids=["as it is", "turned"])
@given(data=st.data())
@settings(max_examples=tries(15), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_history_decides_nothing(
    tmp_path_factory: pytest.TempPathFactory, rotation: bytes | None, data: st.DataObject
) -> None:
    """Check that a cache with a history answers like a new one."""
    world = World(tmp_path_factory.mktemp("history") / "store.db")
    if rotation is not None:
        rotate(world, rotation)
    cache = world.cache()
    memories: list[int] = []
    for step in data.draw(st.lists(st.sampled_from(["add", "forget", "return", "purge"]), max_size=12)):
        some = memories[:: data.draw(st.integers(2, 5))]
        match step:
            case "add":
                memories += world.add_some(data.draw(st.integers(1, 9)))
            case "forget" | "return":
                world.set_live(some, live=step == "return")
            case "purge":
                world.purge(some)
                memories = [memory for memory in memories if memory not in some]
        lived = search(world, cache, QUERY, 5, 4)
        assert lived == search(world, vector_cache.VectorCache(None), QUERY, 5, 4)


@pytest.mark.parametrize("dims", [8, 384])
def test_a_prefix_is_the_same_bits_in_any_company(dims: int) -> None:
    chance = np.random.default_rng(0)
    directions, _ = np.linalg.qr(chance.normal(size=(dims, dims)))
    made = prefixes(dims, directions[: prefix_width(dims)].astype("<f2").tobytes())
    vectors = some_vectors(500, dims=dims)
    together = made.prefixes(vectors)
    for first, last in ((0, 1), (1, 2), (3, 20), (7, 250), (499, 500)):
        assert np.array_equal(made.prefixes(vectors[first:last]), together[first:last])


def test_a_vector_without_a_prefix_is_like_no_other() -> None:
    assert prefixes().prefixes(vector(0.0, 0.0)[None]).tolist() == [[0.0, 0.0]]


def test_only_what_is_new_is_computed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    computed: list[int] = []
    whole = Prefixes.prefixes

    def count_and_compute(self: Prefixes, vectors: Rows) -> Rows:
        computed.append(len(vectors))
        return whole(self, vectors)

    monkeypatch.setattr(Prefixes, "prefixes", count_and_compute)
    memories = world.add_some(100)
    cache = world.cache()
    for _ in range(2):
        search(world, cache, QUERY, 5, 10)
    world.add_some(7)
    search(world, cache, QUERY, 5, 10)
    world.set_live(memories[:9], live=False)
    search(world, cache, QUERY, 5, 10)
    # Each search rotates its query; the first also a hundred rows, the third seven.
    assert computed == [1, 100, 1, 1, 7, 1]


def test_a_search_without_a_shortlist_holds_no_prefixes(world: World) -> None:
    world.add_some(50)
    cache = world.cache()
    search(world, cache, QUERY, 5, None)
    assert cache._prefixes is None


def test_what_nobody_asks_for_is_let_go(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_cache, "IDLE_SEARCHES", 3)
    world.add_some(50)
    cache = world.cache()
    expected = search(world, cache, QUERY, 5, 10)
    held = cache._prefixes
    assert held is not None
    for is_held in (True, True, True, False):
        search(world, cache, QUERY, 5, None)
        assert bool(held._by_block) == is_held
    assert search(world, cache, QUERY, 5, 10) == expected
    cache.close()
    assert cache._prefixes is None


@pytest.mark.usefixtures("small")
def test_the_prefixes_of_blocks_that_are_gone_go_too(world: World) -> None:
    memories = world.add_some(23)
    cache = world.cache()
    search(world, cache, QUERY, 5, 10)
    for start in range(0, 20, 2):
        world.purge(memories[start : start + 2])
        world.trim_log()  # so that the cache is rebuilt
        world.add_some(1)
        search(world, cache, QUERY, 5, 10)
    assert cache._prefixes is not None
    assert sum(count for _, count in cache._prefixes._by_block.values()) <= 5 * 23


def test_what_a_transaction_may_undo_is_not_remembered(world: World) -> None:
    world.add_some(50)
    cache = world.cache()
    world.writer.execute("BEGIN IMMEDIATE")
    rotate(world, LAST_TWO)
    inside = search(world, cache, QUERY, 5, 10, at=world.writer)
    world.writer.execute("ROLLBACK")
    assert search(world, cache, QUERY, 5, 10) == search(world, vector_cache.VectorCache(None), QUERY, 5, 10)
    rotate(world, LAST_TWO)
    assert inside == search(world, vector_cache.VectorCache(None), QUERY, 5, 10)


def test_of_the_nearest_of_clustered_texts_nearly_all_are_found(world: World) -> None:
    """Vectors whose first numbers weigh the most, as after a rotation or Matryoshka training."""
    dims, chance = 48, np.random.default_rng(0)
    weights = 0.93 ** np.arange(dims)
    topics = chance.normal(size=(60, dims))
    texts = normalised(
        (topics[chance.integers(0, 60, 4000)] + 0.8 * chance.normal(size=(4000, dims))) * weights
    )
    queries = normalised((topics[:20] + 0.8 * chance.normal(size=(20, dims))) * weights)
    many = World(world.path.with_name("many.db"), dims=dims)
    many.add(texts)
    cache = many.cache()
    shares = []
    for query in queries:
        exact = {hit.id for hit in search(many, cache, query, 30, None)}
        found = {hit.id for hit in search(many, cache, query, 30, 200)}
        shares.append(len(exact & found) / 30)
    assert np.mean(shares) > 0.95


# Through the store

TURNED = Model("turned@1", DIMS, rotation=LAST_TWO)


def remembered(store: Repository, model: Model, vectors: Rows, at: datetime) -> None:
    texts = [PutText(Scope(), NewText(Kind.NOTE, f"note {row}")) for row in range(len(vectors))]
    store.apply(texts, at=at)
    with store.read() as view:
        due = pending_passages(view, model, 0, 1000)
    rows = tuple((passage.id, pack_vector(row)) for passage, row in zip(due, vectors, strict=True))
    store.apply([PutVectors(model, rows)], at=at)


def test_a_view_searches_by_the_models_rotation(store: Repository, clock: Callable[[], datetime]) -> None:
    remembered(store, TURNED, np.stack([vector(0.9, 0.1), vector(0, 0, 0, 0, 0, 0, 0.6)]), clock())
    query = vector(0.0, 0.0)
    with store.read() as view:
        exact = Search(view, Filter()).by_meaning(query, 5)
        assert Search(view, Filter()).by_meaning(query, 5, 2) == exact
        assert Search(view, Filter()).by_meaning(query, 5, 1) == [exact[1]]
        assert model_in_use(view) == TURNED


def test_a_rotation_of_another_width_is_refused(store: Repository, clock: Callable[[], datetime]) -> None:
    odd = Model("odd@1", DIMS, rotation=LAST_TWO[:-2])
    with pytest.raises(InvalidInput, match="rotation of odd@1 has 30 bytes, and one of its width has 32"):
        remembered(store, odd, some_vectors(1), clock())


# The models that we ship


@pytest.mark.parametrize(
    "folder",
    [
        "arctic-memory/recollect_model_arctic_memory",
        "arctic-s/recollect_model_arctic_s",
        "e5-memory/recollect_model_e5_memory",
        "e5-small/recollect_model_e5_small",
    ],
)
def test_a_shipped_rotation_turns_and_does_not_bend(folder: str) -> None:
    model = stored_model(read_descriptor(MODELS / folder))
    dims = model.dims
    assert model.rotation is not None
    rows = np.frombuffer(model.rotation, "<f2").astype(np.float64).reshape(prefix_width(dims), dims)
    # Each number is a multiple of 2**-11, so a product of two rows is off by 2**-11 / √12 · √2, or .0002.
    assert rows @ rows.T == pytest.approx(np.eye(prefix_width(dims)), abs=0.0015)
    assert np.array_equal(rows * 2**11, np.rint(rows * 2**11))


def test_a_model_whose_first_numbers_weigh_the_most_ships_none() -> None:
    assert stored_model(read_descriptor(MODELS / "potion/recollect_model_potion")).rotation is None
