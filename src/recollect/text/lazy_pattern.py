"""Regular expressions that are compiled when they are first used: of all that we have, a call needs few."""

from __future__ import annotations

import re
from typing import Any, cast


def compile_later(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`; what is wrong with the pattern shows at its first use."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, *given: Any) -> None:
        self._given = given

    def __getattr__(self, name: str) -> Any:
        # An attribute of its own from now on, found as quickly as one of a compiled pattern.
        value = getattr(re.compile(*self._given), name)
        setattr(self, name, value)
        return value
