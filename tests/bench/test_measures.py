"""The measures against numbers worked by hand, and against their own definitions on any lists."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.domain.errors import RecollectError
from recollect_bench.measures import MEASURES, JudgedLists, library, scores

if TYPE_CHECKING:
    from collections.abc import Sequence

# It has no wheel for some machines.
pytest.importorskip("pytrec_eval", exc_type=ImportError)


def _scored(ranked: Sequence[str], relevant: set[str], deep: Sequence[str] | None = None) -> dict[str, float]:
    lists = {10: ranked, 20: ranked if deep is None else deep}
    (row,) = scores([JudgedLists(lists, frozenset(relevant))])
    return row


def test_a_list_worked_by_hand() -> None:
    # Relevant are b and d; the list puts b second, and d fourth.
    row = _scored("abcde", {"b", "d"})
    # At 1 none is relevant, at 5 both are.
    assert [row[f"{name}@1"] for name in ("fraction", "any", "all")] == [0, 0, 0]
    assert [row[f"{name}@5"] for name in ("fraction", "any", "all")] == [1, 1, 1]
    # (1/log2(3) + 1/log2(5)) / (1/log2(2) + 1/log2(3)) = (0.63093 + 0.43068) / 1.63093 = 0.65092
    assert row["ndcg@10"] == pytest.approx(0.65092, abs=1e-5)
    # The first relevant one is second.
    assert row["mrr@10"] == 0.5


def test_any_fraction_and_all_are_three_things() -> None:
    # One of four relevant is among the first five, and three are among the first ten.
    ranked = ["a", "1", "2", "3", "4", "b", "c", "5", "6", "7"]
    row = _scored(ranked, {"a", "b", "c", "d"})
    assert [row[f"{name}@5"] for name in ("fraction", "any", "all")] == [0.25, 1, 0]
    assert [row[f"{name}@10"] for name in ("fraction", "any", "all")] == [0.75, 1, 0]


def test_more_relevant_than_places_can_still_be_perfect() -> None:
    # Eleven relevant, ten places, all good: as good as ten places allow, though not all were found.
    relevant = {f"r{number}" for number in range(11)}
    row = _scored([f"r{number}" for number in range(10)], relevant)
    assert row["ndcg@10"] == pytest.approx(1)
    assert row["fraction@10"] == pytest.approx(10 / 11)
    assert row["all@10"] == 0


def test_only_what_stands_at_twenty_is_read_from_the_longer_list() -> None:
    # A caller of ten sees nothing relevant; one of twenty sees it first.
    row = _scored("xyz", {"a"}, deep="axyz")
    assert (row["fraction@20"], row["any@20"], row["all@20"]) == (1, 1, 1)
    assert {row[name] for name in MEASURES if not name.endswith("@20")} == {0.0}


def test_a_question_without_hits_counts_as_nothing_found() -> None:
    rows = scores([JudgedLists({10: ids, 20: ids}, frozenset("a")) for ids in ("", "a")])
    assert [row["fraction@10"] for row in rows] == [0, 1]


def test_what_is_no_longer_true_is_told_by_its_place() -> None:
    for ranked, expected in (
        # New is what is true, old what no longer is.
        (("new", "x", "old"), {"stale_first": 0, "both_shown": 1, "current_above": 1}),
        (("x", "old", "new"), {"stale_first": 1, "both_shown": 1, "current_above": 0}),
        (("old", "x"), {"stale_first": 1, "both_shown": 0}),
        (("new",), {"stale_first": 0, "both_shown": 0}),
        (("x",), {"stale_first": 0, "both_shown": 0}),
    ):
        lists = JudgedLists({10: ranked, 20: ranked}, frozenset({"new"}), frozenset({"old"}))
        (row,) = scores([lists])
        assert {name: value for name, value in row.items() if name not in MEASURES} == expected


@given(
    st.lists(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), unique=True, max_size=20),
    st.sets(st.sampled_from("abcdefghijklmnopqrstuvwxyz"), min_size=1, max_size=12),
)
def test_recall_agrees_with_its_definition(ranked: list[str], relevant: set[str]) -> None:
    row = _scored(ranked[:10], relevant, ranked)
    for k in (1, 5, 10, 20):
        found = len(set(ranked[:k]) & relevant)
        assert row[f"fraction@{k}"] == pytest.approx(found / len(relevant))
        assert row[f"any@{k}"] == (found > 0)
        assert row[f"all@{k}"] == (found == len(relevant))


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pytrec_eval", None)  # as if it were not installed
    with pytest.raises(RecollectError, match=r"pip install 'recollect-memory\[bench\]'"):
        library()
