"""Phrases that count units from today, in either language: what they mean depends on the unit."""

from __future__ import annotations

from collections.abc import Callable

from recollect.text.when import moments
from recollect.text.when.grammar import Around, Found, Rule
from recollect.text.when.moments import Moment

_KINDS = (
    ("DAYS", "DAY"),
    ("WEEKS", "WEEK_SPAN"),
    ("MONTHS", "MONTH_SPAN"),
    ("YEARS", "YEAR_SPAN"),
    ("UNIT", "SPAN"),
)


def counted(pattern: str, back: int, unless: Callable[[Around], bool] | None = None) -> list[Rule]:
    """One rule for each kind of unit; `back` is 1 for the past and -1 for the future."""

    def make(name: str) -> Callable[[Found], Moment]:
        return lambda found: moments.ago(found[name], back * found["COUNT"])

    return [Rule(kind, pattern.replace("UNIT", name), make(name), unless) for name, kind in _KINDS]
