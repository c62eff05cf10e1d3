"""Searching arrays of vectors: exactly, through filters, and in two stages."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis_profiles import tries

from recollect.domain.numbers import Rows, normalised
from recollect.domain.records import Found
from recollect.stores.vectors import scan as vector_search
from recollect.stores.vectors.block import QueryCode, encode, query_code
from recollect.stores.vectors.scan import Allowed, Run, cosines, nearest, row_scores, vector_passages

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.stores.vectors.block import Block

DIMS = 64
CENTRE = np.zeros(DIMS, np.float32)
ANY = Allowed.of([1])


def run_of(
    vectors: Rows,
    memories: NDArray[np.int64],
    live: NDArray[np.bool_] | None = None,
    scopes: NDArray[np.int32] | None = None,
    passages: NDArray[np.int64] | None = None,
) -> Run:
    count = len(vectors)
    codes, fine_codes, factors = encode(vectors, CENTRE)
    columns = SimpleNamespace(
        vectors=vectors,
        codes=np.ascontiguousarray(codes),
        fine_codes=fine_codes,
        factors=factors,
        memories=memories,
        passages=memories * 10 if passages is None else passages,
        scopes=np.ones(count, np.int32) if scopes is None else scopes,
        kinds=np.zeros(count, np.uint8),
    )
    return Run(cast("Block", columns), count, live)


def clustered(count: int, seed: int = 0) -> Rows:
    """Return clustered vectors, like those of texts."""
    chance = np.random.default_rng(seed)
    topics = chance.normal(size=(50, DIMS))
    return normalised(topics[chance.integers(0, 50, count)] + 0.7 * chance.normal(size=(count, DIMS)))


def reference(vectors: Rows, memories: NDArray[np.int64], query: Rows, k: int) -> list[Found]:
    scores = np.vecdot(vectors, query).tolist()
    rows = [
        Found(memory, score, memory * 10) for memory, score in zip(memories.tolist(), scores, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row.score, row.id))[:k]


def test_a_score_is_the_same_bits_wherever_its_row_stands() -> None:
    vectors, query = clustered(999), clustered(1, seed=1)[0]
    shifted = np.concatenate([vectors[:1], vectors])[1:]
    scattered = np.arange(0, 999, 7)
    scores = np.vecdot(vectors, query)
    assert np.array_equal(np.vecdot(shifted, query), scores)
    assert np.array_equal(np.vecdot(vectors[scattered], query), scores[scattered])
    assert [float(np.vecdot(vector, query)) for vector in vectors] == scores.tolist()


def test_equal_cosines_come_by_memory_id_over_many_runs_too() -> None:
    same = np.tile(clustered(1), (4, 1))
    found = nearest([run_of(same, np.array([9, 3, 7, 5]))], same[0], 3, ANY)
    assert [hit.id for hit in found] == [3, 5, 7]
    same = np.tile(clustered(1), (100, 1))
    runs = [run_of(same, np.arange(first, first + 100)) for first in (300, 200, 100, 0)]
    assert [hit.id for hit in nearest(runs, same[0], 3, ANY)] == [0, 1, 2]


def test_the_best_passage_speaks_for_its_memory_and_leaves_room_for_others() -> None:
    vectors = np.eye(4, DIMS, dtype=np.float32)
    query = normalised(np.array([0.1, 0.9, 0.3, 0.2] + [0.0] * (DIMS - 4)))
    found = nearest([run_of(vectors, np.array([1, 1, 2, 2]), passages=np.arange(4))], query, 9, ANY)
    assert [(hit.id, hit.passage) for hit in found] == [(1, 1), (2, 2)]
    query = np.eye(1, DIMS, dtype=np.float32)[0]
    close = normalised(np.tile(query, (500, 1)) + 0.01 * clustered(500))
    memories = np.concatenate([np.ones(500, np.int64), np.arange(2, 12)])
    found = nearest([run_of(np.concatenate([close, clustered(10)]), memories)], query, 5, ANY)
    assert found[0].id == 1
    assert len({hit.id for hit in found}) == 5


@given(
    share=st.sampled_from([0.0, 0.001, 0.05, 0.14, 0.16, 0.5, 0.99, 1.0]), k=st.sampled_from([1, 30, 5000])
)
@settings(max_examples=tries(25))
def test_a_filter_gives_what_the_allowed_rows_alone_would_give(share: float, k: int) -> None:
    vectors, memories = clustered(2000), np.arange(1, 2001)
    allowed = np.random.default_rng(3).random(2000) < share
    run = run_of(vectors, memories, scopes=np.where(allowed, 1, 2).astype(np.int32))
    query = clustered(1, seed=1)[0]
    assert nearest([run], query, k, ANY) == reference(vectors[allowed], memories[allowed], query, k)


def test_only_named_memories_are_found_and_without_room_none() -> None:
    vectors, memories = clustered(1000), np.arange(1, 1001)
    query = clustered(1, seed=1)[0]
    only = np.array([700, 3, 701, 5000])
    rows = np.array([2, 699, 700])
    found = nearest([run_of(vectors, memories)], query, 30, Allowed.of([1], memories=only))
    assert found == reference(vectors[rows], memories[rows], query, 30)
    assert nearest([run_of(vectors, memories)], query, 30, Allowed.of([1], memories=only[:0])) == []
    less = Allowed.of([1], memories=only, without=[3, 9])
    found = nearest([run_of(vectors, memories)], query, 30, less)
    assert found == reference(vectors[rows[1:]], memories[rows[1:]], query, 30)
    query = clustered(1)[0]
    run = run_of(clustered(3), np.arange(3))
    assert nearest([], query, 5, ANY) == []
    assert nearest([run], query, 5, Allowed.of([2])) == []
    assert nearest([run], query, 0, ANY) == []


@given(share=st.sampled_from([0.0, 0.001, 0.5, 0.95, 1.0]), dead=st.booleans(), shuffled=st.booleans())
@settings(max_examples=tries(25))
def test_excluded_memories_are_as_good_as_gone(share: float, dead: bool, shuffled: bool) -> None:
    chance = np.random.default_rng(4)
    vectors, memories, query = clustered(2000), np.repeat(np.arange(1, 1001), 2), clustered(1, seed=1)[0]
    if shuffled:
        memories = chance.permutation(memories)
    live = chance.random(2000) < 0.8 if dead else np.ones(2000, np.bool_)
    gone = np.flatnonzero(chance.random(1001) < share)
    left = live & ~np.isin(memories, gone)
    run = run_of(vectors, memories, live=live, passages=np.arange(2000))
    alone = run_of(vectors[left], memories[left], passages=np.arange(2000)[left]) if left.any() else None
    found = nearest([run], query, 30, Allowed.of([1], without=gone))
    assert found == ([] if alone is None else nearest([alone], query, 30, ANY))


def test_cosines_are_those_of_the_best_passage_of_each_memory() -> None:
    vectors, query = clustered(6), clustered(1, seed=1)[0]
    memories, live = np.array([4, 2, 4, 9, 2, 7]), np.array([True] * 5 + [False])
    runs = [
        run_of(vectors[:3], memories[:3], live[:3], passages=np.arange(3)),
        run_of(vectors[3:], memories[3:], live[3:], passages=np.arange(3, 6)),
    ]
    scores = np.vecdot(vectors, query)
    expected = {4: int(scores[[0, 2]].argmax() * 2), 2: int((1, 4)[scores[[1, 4]].argmax()])}
    found = cosines(runs, query, [7, 4, 100, 2])
    assert found == [Found(id_, float(scores[expected[id_]]), expected[id_]) for id_ in (2, 4)]
    assert vector_passages(runs, [7, 4, 100, 2]) == [(0, 4), (1, 2), (2, 4), (4, 2)]
    assert [*cosines(runs, query, []), *vector_passages(runs, []), *cosines(runs, query, [7])] == []


def query_bits(bits: list[int], counted: list[int], planes: tuple[list[int], ...] = ()) -> QueryCode:
    one = np.float32(1)
    words = [np.array(each, np.uint64) for each in (bits, counted, *planes)]
    return QueryCode(words[0], words[1], 0, tuple(words[2:]), 0, one, one, one)


def test_distances_count_bits_that_count_and_fine_products_high_bits_twice() -> None:
    codes = np.array([[0b0111, 0b0000], [0, 2**64 - 1], [1, 0], [1, 1]], np.uint64)
    code = query_bits([0b0101, 0, 0, 1], [0b1110, 2**64 - 1, 1, 1])
    # first column: 0b0010 counts, so 1 + 0 + 1 + 0     second: 0b0101 & 0b1110 is one bit; 1 + 64 + 0 + 0
    assert code.distances(codes).tolist() == [2, 65]
    # Four numbers of the query, all above zero, that weigh 0, 2, 3 and 1.
    code = query_bits([2**64 - 1], [0], ([0b0011], [0b0110]))
    codes = np.array([[0b0000, 0b0000], [0b0001, 0b0010], [0b1111, 0b1111]], np.uint64)
    # 0     1 * 2 + 3 * 1     (0 + 2 + 3 + 1) * 3
    assert code.fine_products(codes).tolist() == [0, 5, 18]
    below_zero = query_bits([0], [0], ([0b0011], [0b0110]))
    assert below_zero.fine_products(codes).tolist() == [18, 13, 0]


@pytest.mark.parametrize("centred", [True, False])
def test_estimates_follow_scores_and_finer_ones_closer(centred: bool) -> None:
    chance = np.random.default_rng(5)
    centre = normalised(chance.normal(size=384)) * np.float32(0.8 * centred)
    rows = normalised(centre + 0.03 * chance.normal(size=(500, 384)))
    query = normalised(rows[0] + 0.03 * chance.normal(size=384).astype(np.float32))
    codes, fine_codes, factors = encode(rows, centre)
    code, scores = query_code(query, centre), np.vecdot(rows, query)
    coarse = np.sqrt(np.mean((code.coarse_estimates(codes, factors) - scores) ** 2))
    fine = np.sqrt(np.mean((code.fine_estimates(fine_codes, factors) - scores) ** 2))
    assert 0 < fine < 0.6 * coarse
    assert coarse < 0.06


def test_a_row_has_the_same_codes_in_any_company_and_zeros_an_estimate_of_zero() -> None:
    rows, centre = clustered(100), clustered(1, seed=2)[0]
    codes, fine_codes, factors = encode(rows, centre)
    for at in (slice(3, 4), slice(10, 77)):
        some = encode(np.ascontiguousarray(rows[at]), centre)
        assert np.array_equal(some[0], codes[:, at])
        assert np.array_equal(some[1], fine_codes[at])
        assert np.array_equal(some[2], factors[:, at])
    rows, query = np.zeros((2, DIMS), np.float32), clustered(1)[0]
    codes, fine_codes, factors = encode(rows, CENTRE)
    code = query_code(query, CENTRE)
    assert code.coarse_estimates(codes, factors).tolist() == [0, 0]
    assert code.fine_estimates(fine_codes, factors).tolist() == [0, 0]
    assert query_code(rows[0], CENTRE).coarse_estimates(codes, factors).tolist() == [0, 0]


@pytest.fixture
def two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_search, "TWO_STAGES_FROM", 1000)
    monkeypatch.setattr(vector_search, "_ROWS_PER_HIT", 30)


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip enough rows to make a different choice visible."""
    monkeypatch.setattr(vector_search, "MOST_DEVIATIONS", 0)


@pytest.mark.usefixtures("two_stages")
@pytest.mark.parametrize("near", [True, False])
def test_two_stages_nearly_always_find_what_one_finds(near: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, memories = clustered(20_000), np.arange(20_000)
    run, compared = run_of(vectors, memories), 0

    def count_and_score(vectors: Rows, rows: NDArray[np.intp] | None, query: Rows) -> Rows:
        nonlocal compared
        if rows is None:  # one stage reads them all
            return row_scores(vectors, None, query)
        compared += len(rows)
        scores: Rows = np.vecdot(vectors[rows], query)
        return scores

    monkeypatch.setattr(vector_search, "row_scores", count_and_score)
    shares = []
    # Queries near the clusters, and far from all.
    queries = normalised(vectors[:20] + 0.8 * clustered(20, seed=1)) if near else clustered(20, seed=2)
    for query in queries:
        exact = nearest([run], query, 30, ANY)
        found = nearest([run], query, 30, ANY, CENTRE)
        shares.append(len(set(exact) & set(found)) / 30)
    assert np.mean(shares) > 0.98
    assert 0 < compared < 20 * len(vectors) / 4, "hardly fewer rows than all were compared"


@pytest.mark.usefixtures("two_stages")
def test_fewer_strays_allowed_find_less(monkeypatch: pytest.MonkeyPatch) -> None:
    run, query = run_of(clustered(20_000), np.arange(20_000)), clustered(1, seed=2)[0]
    exact = nearest([run], query, 30, ANY)
    shares = []
    for strays in (-9, 0, 4):
        monkeypatch.setattr(vector_search, "MOST_DEVIATIONS", strays)
        found = nearest([run], query, 30, ANY, CENTRE)
        assert len(found) == 30
        shares.append(len(set(found) & set(exact)) / 30)
    assert shares == sorted(shares)
    assert shares[0] < shares[-1] == 1


@pytest.mark.usefixtures("two_stages", "hasty")
@given(pieces=st.integers(1, 7), dead=st.integers(0, 3000), seed=st.integers(0, 99))
@settings(max_examples=tries(25))
def test_two_stages_answer_alike_whatever_the_pieces_the_order_and_the_dead(
    pieces: int, dead: int, seed: int
) -> None:
    vectors, memories, query = clustered(5000), np.arange(5000), clustered(1, seed=seed)[0]
    once = nearest([run_of(vectors, memories)], query, 30, ANY, CENTRE)
    assert once != nearest([run_of(vectors, memories)], query, 30, ANY), "nothing was left out"
    chance = np.random.default_rng(seed)
    order = chance.permutation(5000 + dead)
    # The dead rows equal the query: if they were allowed, they would be the best.
    all_vectors = np.concatenate([vectors, np.tile(query, (dead, 1))])[order]
    all_memories = np.concatenate([memories, np.full(dead, 9999)])[order]
    live = order < 5000
    runs = [
        run_of(all_vectors[rows], all_memories[rows], live=live[rows])
        for rows in np.array_split(np.arange(5000 + dead), pieces)
    ]
    assert nearest(runs, query, 30, ANY, CENTRE) == once


@pytest.mark.usefixtures("two_stages")
def test_two_stages_fall_back_when_few_memories_crowd_the_shortlist() -> None:
    query = np.eye(1, DIMS, dtype=np.float32)[0]
    crowd = normalised(np.tile(query, (2000, 1)) + 0.01 * clustered(2000))
    memories = np.concatenate([np.ones(2000, np.int64), np.arange(2, 102)])
    run = run_of(np.concatenate([crowd, clustered(100)]), memories)
    assert nearest([run], query, 30, ANY, CENTRE) == nearest([run], query, 30, ANY)


def test_a_query_is_freed_of_its_share_of_the_centre() -> None:
    centre, query = np.zeros(DIMS, np.float32), np.zeros(DIMS, np.float32)
    centre[:2] = [0.8, 0.2]
    query[:3] = [0.6, -0.8, 0.1]
    # the share is (0.48 - 0.16) / 0.68 = 0.47, which leaves 0.6 - 0.38, -0.8 - 0.09 and 0.1: bits 101
    # without the whole centre, the first would be 0.6 - 0.8, and its bit 0
    code = query_code(query, centre)
    assert code.bits.tolist() == [0b10100000]
    assert code.along == pytest.approx(0.32 / 0.68**0.5)
    assert query_code(query, np.zeros(DIMS, np.float32)).bits.tolist() == [0b10100000]
