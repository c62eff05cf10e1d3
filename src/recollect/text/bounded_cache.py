"""A cache that is bounded in letters as well as in entries, so that no long text stays in memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


def keep_short(most: int, longest: int) -> Callable[[Callable[_Given, _Made]], Callable[_Given, _Made]]:
    """Keep what a function made of the last `most` arguments, unless these are longer than `longest` letters.

    A server is given texts of any length for as long as it runs.
    """

    def around(function: Callable[_Given, _Made]) -> Callable[_Given, _Made]:
        kept = lru_cache(maxsize=most)(function)

        @wraps(kept)
        def short_or_anew(*given: _Given.args, **named: _Given.kwargs) -> _Made:
            letters = sum(len(each) for each in (*given, *named.values()) if isinstance(each, str))
            if letters > longest:
                return function(*given, **named)
            return kept(*given, **named)  # type: ignore[arg-type]  # texts, and what else can be hashed

        short_or_anew.cache_info = kept.cache_info  # type: ignore[attr-defined]  # as of any cache
        return short_or_anew

    return around
