"""Searching arrays of vectors: exactly, through filters, and in two stages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hypothesis_profiles import tries
from recollect.records import Found
from recollect.stores.vectors import scan as vector_scan
from recollect.stores.vectors.codes import QueryCode, one_bit, query_code
from recollect.stores.vectors.scan import Allowed, Run, closest, nearest
from recollect.vectors import Rows, normalised

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIMS = 64
CENTRE = np.zeros(DIMS, np.float32)
ANY = Allowed(scopes=np.array([1], np.int32))


def run_of(
    vectors: Rows,
    memories: NDArray[np.int64],
    live: NDArray[np.bool_] | None = None,
    scopes: NDArray[np.int32] | None = None,
) -> Run:
    count = len(vectors)
    return Run(
        vectors=vectors,
        codes=np.ascontiguousarray(one_bit(vectors, CENTRE).T),
        memories=memories,
        passages=memories * 10,
        scopes=np.ones(count, np.int32) if scopes is None else scopes,
        kinds=np.zeros(count, np.uint8),
        live=live,
    )


def clustered(count: int, seed: int = 0) -> Rows:
    """Like texts: many about few things."""
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


def test_equal_cosines_come_by_memory_id() -> None:
    same = np.tile(clustered(1), (4, 1))
    found = nearest([run_of(same, np.array([9, 3, 7, 5]))], same[0], 3, ANY)
    assert [hit.id for hit in found] == [3, 5, 7]


def test_equal_cosines_come_by_memory_id_over_many_runs_too() -> None:
    same = np.tile(clustered(1), (100, 1))
    runs = [run_of(same, np.arange(first, first + 100)) for first in (300, 200, 100, 0)]
    assert [hit.id for hit in nearest(runs, same[0], 3, ANY)] == [0, 1, 2]


def test_the_best_passage_speaks_for_its_memory() -> None:
    vectors = np.eye(4, DIMS, dtype=np.float32)
    query = normalised(np.array([0.1, 0.9, 0.3, 0.2] + [0.0] * (DIMS - 4)))
    run = run_of(vectors, np.array([1, 1, 2, 2]))
    found = nearest(
        [Run(run.vectors, run.codes, run.memories, np.arange(4), run.scopes, run.kinds, None)], query, 9, ANY
    )
    assert [(hit.id, hit.passage) for hit in found] == [(1, 1), (2, 2)]


def test_a_memory_of_very_many_passages_leaves_room_for_others() -> None:
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


def test_only_named_memories_are_found() -> None:
    vectors, memories = clustered(1000), np.arange(1, 1001)
    query = clustered(1, seed=1)[0]
    only = np.array([700, 3, 701, 5000])
    rows = np.array([2, 699, 700])
    found = nearest([run_of(vectors, memories)], query, 30, Allowed(ANY.scopes, memories=only))
    assert found == reference(vectors[rows], memories[rows], query, 30)
    assert nearest([run_of(vectors, memories)], query, 30, Allowed(ANY.scopes, memories=only[:0])) == []


def test_no_rows_no_allowed_rows_and_no_room_find_nothing() -> None:
    query = clustered(1)[0]
    run = run_of(clustered(3), np.arange(3))
    assert nearest([], query, 5, ANY) == []
    assert nearest([run], query, 5, Allowed(np.array([2], np.int32))) == []
    assert nearest([run], query, 0, ANY) == []


def test_distances_count_differing_bits() -> None:
    codes = np.array([[0b0111, 0b0000], [0, 2**64 - 1], [1, 0], [1, 1]], np.uint64)
    code = QueryCode(np.array([0b0101, 0, 0, 1], np.uint64), ())
    # first column: 1 + 0 + 1 + 0     second: 2 + 64 + 0 + 0
    assert code.plain_distances(codes).tolist() == [2, 66]


def test_weighted_distances_count_a_bit_as_often_as_it_weighs() -> None:
    codes = np.array([[0b0001, 0b1111]], np.uint64)
    light, heavy = np.array([0b0011], np.uint64), np.array([0b0110], np.uint64)  # weights 0 2 3 1
    code = QueryCode(np.array([0], np.uint64), (light, heavy))
    assert code.weighted_distances(codes).tolist() == [1, 0 + 2 + 3 + 1]


def test_the_closest_include_all_that_tie_with_the_last() -> None:
    codes = np.array([[0b1, 0b11, 0b110, 0b111, 0b0]], np.uint64)
    run = run_of(clustered(5), np.arange(5))
    run = Run(run.vectors, codes, run.memories, run.passages, run.scopes, run.kinds, None)
    code = QueryCode(np.array([0], np.uint64), ())
    # distances from 0: 1, 2, 2, 3, 0; the third nearest ties with the fourth
    ((_, rows),) = closest([(run, None)], code.plain_distances, code.farthest, 3)
    assert rows is not None
    assert rows.tolist() == [0, 1, 2, 4]


@pytest.fixture
def two_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_scan, "TWO_STAGES_FROM", 1000)
    monkeypatch.setattr(vector_scan, "shortlist_size", lambda count, k: max(count // 40, 2 * k))


@pytest.mark.usefixtures("two_stages")
def test_two_stages_nearly_always_find_what_one_finds() -> None:
    vectors, memories = clustered(20_000), np.arange(20_000)
    run = run_of(vectors, memories)
    shares = []
    for query in normalised(vectors[:20] + 0.8 * clustered(20, seed=1)):
        exact = nearest([run], query, 30, ANY)
        found = nearest([run], query, 30, ANY, CENTRE)
        shares.append(len(set(exact) & set(found)) / 30)
    assert np.mean(shares) > 0.97
    assert np.mean(shares) < 1.0, "the first stage cut nothing: this test tests nothing"


@pytest.mark.usefixtures("two_stages")
@given(pieces=st.integers(1, 7), dead=st.integers(0, 3000), seed=st.integers(0, 99))
@settings(max_examples=tries(25))
def test_two_stages_answer_alike_whatever_the_pieces_the_order_and_the_dead(
    pieces: int, dead: int, seed: int
) -> None:
    vectors, memories, query = clustered(5000), np.arange(5000), clustered(1, seed=seed)[0]
    once = nearest([run_of(vectors, memories)], query, 30, ANY, CENTRE)
    chance = np.random.default_rng(seed)
    order = chance.permutation(5000 + dead)
    # The dead are copies of the query: were they let in, they would crowd everything else out.
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
    assert query_code(query, centre).bits.tolist() == [0b10100000]
    assert query_code(query, np.zeros(DIMS, np.float32)).bits.tolist() == [0b10100000]
