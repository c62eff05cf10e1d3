"""Which texts differ in nothing that matters, so that one of them is enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.near_duplicates import contains_statement, same_statement

_, *PARTS = re.split(
    r"^\[(.+)\]\n", (Path(__file__).parent / "same_statements.txt").read_text("utf-8"), flags=re.MULTILINE
)
PAIRS = [
    (kind, *line.rstrip().split(" | "))
    for kind, block in zip(PARTS[::2], PARTS[1::2], strict=True)
    for line in block.splitlines()
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("kind", "one", "other"), PAIRS)
def test_each_pair_of_the_table_is_judged_as_a_reader_would(kind: str, one: str, other: str) -> None:
    if kind.startswith("contains"):
        assert contains_statement(one, other) == (kind == "contains")
    else:
        assert same_statement(one, other) == same_statement(other, one) == (kind == "same")


def test_what_says_nothing_repeats_and_contains_nothing() -> None:
    for one, other in (("", ""), ("!", "?"), ("the", "a")):
        assert not same_statement(one, other)
    assert not contains_statement("anything", "")


@given(st.text(alphabet="ab 1.,'the", max_size=12), st.text(alphabet="ab 1.,'the", max_size=12))
def test_it_does_not_matter_which_comes_first(one: str, other: str) -> None:
    assert same_statement(one, other) == same_statement(other, one)
