"""MaxSim on matrices that can be checked by hand. No score depends on other passages."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.numbers import Rows, normalised, pack_signs
from recollect.search.candidates import max_similarities, passages_to_compare

TWO_TOKENS = normalised(np.array([[0.6, 0.8, 0, 0], [0, 0, 1, 0]]))
# ++-- and --++
TURNED = pack_signs(np.array([[1, 1, -1, -1], [-1, -1, 1, 1]], np.float32))
# +-++
ONE = pack_signs(np.array([[1, -1, 1, 1]], np.float32))


def test_every_token_of_the_query_finds_its_best_token_in_the_passage() -> None:
    # The first query token: ++-- gives .6 + .8 = 1.4, --++ gives -1.4; the second: -1 and 1.
    # So (1.4 + 1) / 2 = 1.2, over sqrt(4): 0.6.
    # Of +-++: the first .6 - .8 = -.2, the second 1; (-.2 + 1) / 2 = .4, over 2: 0.2.
    assert max_similarities(TWO_TOKENS, [TURNED, ONE], 4) == pytest.approx([0.6, 0.2], abs=1e-6)


def test_a_width_that_fills_no_byte_counts_no_bit_beyond_it() -> None:
    # (1 + 1 + 1) / sqrt(3) = 1.732; 1 / sqrt(3) times as much is 1.
    row = normalised(np.ones((1, 3)))
    assert max_similarities(row, [pack_signs(row)], 3) == pytest.approx([1], abs=1e-6)


def test_no_passages_and_no_tokens_are_no_scores() -> None:
    assert max_similarities(TWO_TOKENS, [], 4).tolist() == []


def world(seed: int, dims: int = 384) -> tuple[Rows, list[bytes]]:
    random = np.random.default_rng(seed)
    counts = random.integers(1, 60, 40)
    passages = [pack_signs(random.standard_normal((n, dims), np.float32)) for n in counts]
    return normalised(random.standard_normal((int(random.integers(1, 20)), dims))), passages


@given(seed=st.integers(0, 1_000), data=st.data())
def test_a_score_is_the_same_to_the_last_bit_whatever_stands_beside_it(
    seed: int, data: st.DataObject
) -> None:
    tokens, passages = world(seed)
    alone = [max_similarities(tokens, [each], 384)[0] for each in passages]
    order = data.draw(st.permutations(range(len(passages))))
    chosen = order[: data.draw(st.integers(1, len(passages)))]
    assert max_similarities(tokens, [passages[n] for n in chosen], 384).tolist() == [alone[n] for n in chosen]


@pytest.mark.parametrize("dims", [1, 7, 384, 1024, 4096])
def test_sums_are_exact_also_where_all_numbers_have_one_sign(dims: int) -> None:
    row = normalised(np.ones((1, dims)))
    scores = max_similarities(row, [pack_signs(row), pack_signs(-row)], dims)
    # Each number is 1 / sqrt(dims), rounded; all of them times their signs are sqrt(dims), over sqrt(dims).
    assert scores == pytest.approx([1, -1], abs=1e-4)
    assert scores[0] == -scores[1]


def test_a_long_passage_scores_as_its_best_window_of_32_tokens() -> None:
    # Both query tokens are found in ++-- and --++; -+-- gives .8 - .6 = .2 and -1.
    filler, far = pack_signs(np.array([[-1, 1, -1, -1]], np.float32)), 30
    both = [TURNED[:1] + filler * far + TURNED[1:], TURNED[:1] + filler * (far + 1) + TURNED[1:]]
    # 32 tokens are one window: (1.4 + 1) / 2 / 2. Of 33, each window lacks one of the two: at best
    # (1.4 - 1) / 2 / 2 from the first, and (.2 + 1) / 2 / 2 from the last.
    assert max_similarities(TWO_TOKENS, both, 4) == pytest.approx([0.6, 0.3], abs=1e-6)


def test_windows_overlap_by_half() -> None:
    filler = pack_signs(np.array([[-1, 1, -1, -1]], np.float32))
    # Tokens 15 and 16 are in one window, though they are in different halves.
    passage = filler * 15 + TURNED + filler * 60
    assert max_similarities(TWO_TOKENS, [passage], 4) == pytest.approx([0.6], abs=1e-6)


def test_a_long_query_is_compared_with_whole_passages() -> None:
    filler = pack_signs(np.array([[-1, 1, -1, -1]], np.float32))
    passage = TURNED[:1] + filler * 31 + TURNED[1:]
    # Twelve times both query tokens: 24 tokens look for one window, as above. With one more,
    # (13 * 1.4 + 12) / 25 / 2 is found all over the passage.
    long = np.concatenate([TWO_TOKENS] * 13)[:25]
    assert max_similarities(long[:24], [passage], 4) == pytest.approx([0.3], abs=1e-6)
    assert max_similarities(long, [passage], 4) == pytest.approx([0.604], abs=1e-6)


def test_of_many_passages_the_nearest_is_compared_else_the_first_four() -> None:
    many = [(passage, 1) for passage in range(10, 15)]
    few = [(20, 2), (21, 2)]
    assert passages_to_compare([*many, *few], {}) == {10: 1, 11: 1, 12: 1, 13: 1, 20: 2, 21: 2}
    assert passages_to_compare([*many, *few], {1: 14, 2: 21}) == {14: 1, 20: 2, 21: 2}
