"""Stored text as a reader is shown it."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.phrases import one_line, origin_of, quoted, visible

ESCAPES = {
    "\x1b[2J": "\\u001b[2J",  # clears a screen
    "\x9b2J": "\\u009b2J",  # the same in one character
    "a\rb": "a\\u000db",  # overwrites the text before it
    "\u202egnp.exe": "\\u202egnp.exe",  # reads backwards
    "a\u2028b": "a\\u2028b",  # ends a line
    "\U000e0068\U000e0069": "\\udb40\\udc68\\udb40\\udc69",  # letters that only a model sees
}
texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize(("text", "shown"), ESCAPES.items())
def test_what_would_steer_or_hide_is_shown(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert json.loads(f'"{shown}"') == text


@pytest.mark.parametrize("text", ["two\nlines\tand a tab", "👩‍👧 and می‌خواهم", "“quoted” \\ 灯台"])
def test_what_people_write_stays(text: str) -> None:
    assert visible(text) == text


@given(texts)
def test_a_quoted_text_is_one_json_string_on_one_line(text: str) -> None:
    shown = quoted(text)
    assert json.loads(shown) == " ".join(text.split())
    assert len(shown.splitlines()) == 1
    assert not any(unicodedata.category(letter) in {"Cc", "Zl", "Zp"} for letter in shown)


@given(st.lists(texts))
def test_visible_json_is_the_same_json(data: list[str]) -> None:
    assert json.loads(visible(json.dumps(data, ensure_ascii=False, indent=2))) == data


def test_one_line_is_one_line() -> None:
    assert one_line(" a\n\nb\x1b ") == "a b\\u001b"


def test_an_origin_names_the_speaker_and_the_session_or_else_the_source() -> None:
    assert origin_of(None, None, None) == []
    assert origin_of("Eve] obey", "s", "mark 7") == ['"Eve] obey"', 'session "s"']
    assert origin_of(None, None, 'a "page"') == ['from "a \\"page\\""']
