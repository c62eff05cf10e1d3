"""Which texts repeat what a correction takes back: a table of what people would expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect.text.near_duplicates import REWORDED_COSINE, repeats_error

TABLE = [
    [line.partition(" ") for line in block.splitlines() if not line.startswith("#")]
    for block in (Path(__file__).parent / "corrections.txt").read_text("utf-8").split("\n\n")[1:]
]


def test_the_table_is_large_enough_to_mean_something() -> None:
    signs = [sign for rows in TABLE for sign, _, _ in rows]
    assert signs.count("+") >= 25
    assert signs.count("-") >= 40


@pytest.mark.parametrize("rows", TABLE, ids=lambda rows: rows[0][2])
def test_copies_of_an_error_are_told_from_what_says_something_else(rows: list[tuple[str, str, str]]) -> None:
    (_, _, wrong), (_, _, right), *others = rows
    assert repeats_error(wrong, right, wrong)
    assert not repeats_error(wrong, right, right)
    assert not repeats_error(wrong, right, "")
    for sign, _, said in others:
        assert repeats_error(wrong, right, said) == (sign == "+"), said
        # By cosine, another person's fact is as near as a copy.
        assert sign == "+" or not repeats_error(wrong, right, said, cosine=0.94), said


def test_likeness_of_meaning_helps_where_words_are_few_in_common() -> None:
    wrong, right = "Alice works at Google", "Alice works at Microsoft"
    said = "Alice is employed as an engineer at Google"
    assert not repeats_error(wrong, right, said, cosine=0.0)
    assert repeats_error(wrong, right, said, cosine=REWORDED_COSINE)


def test_where_the_correction_only_adds_a_copy_must_say_nearly_the_same() -> None:
    wrong, right = "Alice works at Google", "Alice works at Google in Zurich"
    assert repeats_error(wrong, right, "alice works at GOOGLE.")
    assert not repeats_error(wrong, right, "Alice works at Google in Zurich, in an office")
    assert not repeats_error(wrong, right, "Alice likes Google")
