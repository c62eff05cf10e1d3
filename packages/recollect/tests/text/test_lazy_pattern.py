"""Patterns that are compiled at their first use."""

from __future__ import annotations

import re

import pytest

from recollect.text.tokens import compile_later


def test_it_matches_as_a_compiled_one() -> None:
    pattern = compile_later(r"(t)ea", re.IGNORECASE)
    assert pattern.sub(r"\1wo", "Tea and tea") == "Two and two"
    assert [found.group() for found in pattern.finditer("Tea and tea")] == ["Tea", "tea"]
    assert (pattern.pattern, pattern.groups) == ("(t)ea", 1)


def test_it_is_compiled_once_and_not_before_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    whole = re.compile

    def noted(pattern: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(pattern)
        return whole(pattern, flags)

    monkeypatch.setattr(re, "compile", noted)
    pattern = compile_later("tea")
    assert compiled == []
    for _ in range(3):
        assert pattern.search("green tea")
    assert compiled == ["tea"]


def test_a_wrong_pattern_shows_at_its_first_use() -> None:
    with pytest.raises(re.error, match="unterminated"):
        compile_later("(tea").search("")
