"""Which of many texts hold the words of another."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from recollect.text.contained import contained_pairs
from recollect.text.same import containment


def test_pairs_are_named_by_their_places_with_the_share_of_the_shorter() -> None:
    texts = ["drinks green tea", "plays chess", "every morning she drinks black tea with milk"]
    # Two of three words, in a text of eight.
    assert contained_pairs(texts, 0.6) == {(0, 2): 2 / 3}
    assert contained_pairs(texts, 0.7) == {}
    assert contained_pairs([], 0.7) == {}


@given(
    st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=12).map(" ".join), max_size=8),
    st.sampled_from([0.1, 0.3, 0.5, 0.6, 0.7, 0.75, 0.9, 1.0]),
)
def test_it_finds_what_comparing_each_with_all_finds(texts: list[str], at_least: float) -> None:
    every = {
        (one, other): share
        for other in range(len(texts))
        for one in range(other)
        if (share := containment(texts[one], texts[other])) >= at_least
    }
    assert contained_pairs(texts, at_least) == dict(sorted(every.items()))
