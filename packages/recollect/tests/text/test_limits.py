"""Limits of texts that can be stored."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from recollect.domain.errors import InvalidInput
from recollect.domain.limits import (
    NAME_LIMIT,
    TEXT_LIMIT,
    TYPE_LIMIT,
    clean_name,
    clean_share,
    clean_text,
    clean_type,
)

EMPTY = ["", " ", "\t\n", "\u00a0\u3000", "\u200b", "\u200d\ufeff", "\u2028"]


@pytest.mark.parametrize(
    ("clean", "limit"), [(clean_name, NAME_LIMIT), (clean_type, TYPE_LIMIT), (clean_text, TEXT_LIMIT)]
)
def test_what_is_empty_no_text_or_too_long_is_refused(clean: Callable[[object], str], limit: int) -> None:
    wrong: list[tuple[object, str]] = [(text, "visible") for text in EMPTY]
    wrong += [("a\0b", "NUL"), ("a\ud800b", "surrogate"), ("\udfff", "surrogate"), (5, "int")]
    wrong += [(None, "NoneType"), (b"bytes", "bytes"), (["list"], "list"), ("x" * (limit + 1), f"{limit:,}")]
    for text, why in wrong:
        with pytest.raises(InvalidInput, match=why):
            clean(text)
    assert len(clean("x" * limit)) == limit


def test_ten_megabytes_are_too_much_and_the_message_stays_short() -> None:
    with pytest.raises(InvalidInput, match="10,000,000") as caught:
        clean_text("é" * 10_000_000)
    assert len(str(caught.value)) < 500


def test_names_are_composed_and_trimmed_and_keep_case_and_accents() -> None:
    assert clean_name("  Cafe\u0301 Azul\n") == "Café Azul"
    assert clean_name("Ada") != clean_name("ada")
    assert clean_name("👩\u200d👧") == "👩\u200d👧"


def test_texts_stay_as_they_are() -> None:
    text = "  Cafe\u0301\r\n\tend  "
    assert clean_text(text) == text


def test_the_message_says_which_part_is_wrong() -> None:
    with pytest.raises(InvalidInput, match="source of the relation"):
        clean_name("", "source of the relation")


def test_shares_go_from_0_to_1() -> None:
    assert [clean_share(number, "importance") for number in (0, 1, 0.5)] == [0.0, 1.0, 0.5]
    for wrong in (-0.1, 1.1, float("nan"), float("inf"), True, "0.5", None):
        with pytest.raises(InvalidInput, match="importance"):
            clean_share(wrong, "importance")
