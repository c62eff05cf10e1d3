"""The months and years that a text states: since when something holds that it tells of.

"Hired on 8 April 2013." begins in April 2013, "Mayor from 1976 to 1990." in 1976, and "until 1968" begins at
no time that the text states. A month is written as its number since the year 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.text.lazy_pattern import compile_later
from recollect.text.tokens import fold
from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS

_MONTHS = {
    name[:length]: place
    for names in (ENGLISH_MONTHS, SPANISH_MONTHS)
    for place, name in enumerate(names)
    for length in (3, len(name))
}
_YEAR = r"(?:1\d{3}|20\d\d)"
_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = compile_later(
    rf"(?:\b(?P<month>{_NAMES})\b\.?\s+(?:de\s+|\d{{1,2}}\s*,?\s*)?)?"
    rf"\b(?P<year>{_YEAR})(?!\d)"
)
# What leads to an end rather than to a beginning: a range, or a word such as `until`.
_RANGE = compile_later(
    r"\s*,?\s*(?:to|until|till|through|and|a|hasta|al|y|bis|-|–|—)\s*(?:the\s+|el\s+)?(?:\d{1,2}\s+)?"
)
_UNTIL = compile_later(
    r"\b(?:until|till|before|by|hasta|antes\s+de|bis|vor)\s+(?:the\s+|el\s+)?(?:\d{1,2}\s+)?(?:de\s+)?$"
)
_LOOK_BACK = 24
# What leads to the time since which a whole sentence holds. `A car from 2015` and `a firm founded in 1990`
# date something else: `from` counts with an end or an `on`, and `in` not behind a participle.
_SINCE = compile_later(
    r"(?:\b(?:since|as\s+of|desde|a\s+partir\s+de|seit|ab)"
    r"|\b(?P<range>from|von)"
    r"|(?P<participle>\b(?:\w+(?:ed|ado|ada|ido|ida)|built|made|born|bought)\s+)?\b(?:in|en|im))"
    r"\s+(?:the\s+|el\s+)?(?:\d{1,2}\.?\s+)?(?:de\s+)?$"
)
_ON = compile_later(r"\s+(?:on|onwards|an)\b")


def names_year(text: str) -> bool:
    return _DATE.search(fold(text)) is not None


def stated_beginnings(text: str) -> list[int]:
    """The months in which something begins that a text tells of, in the order of the text."""
    return [_month(match) for match in _beginnings(fold(text))]


def months_since(text: str, month: int) -> int | None:
    """How long before a month the last thing began that a text dates until then; None where nothing did."""
    return min((month - begins for begins in stated_beginnings(text) if begins <= month), default=None)


def holds_since(sentence: str) -> int | None:
    """The month since which a sentence says that it holds; None where it says none, or names several."""
    folded = fold(sentence)
    stated = list(_beginnings(folded))
    if len(stated) != 1:
        return None
    (match,) = stated
    leads = _SINCE.search(folded[: match.start()])
    if leads is None or leads["participle"]:
        return None
    if leads["range"] and not (_RANGE.match(folded, match.end()) or _ON.match(folded, match.end())):
        return None
    return _month(match)


def _beginnings(folded: str) -> Iterator[re.Match[str]]:
    end_of_last = None
    for match in _DATE.finditer(folded):
        ends_range = end_of_last is not None and _RANGE.fullmatch(folded, end_of_last, match.start())
        end_of_last = None if ends_range else match.end()
        if not ends_range and not _UNTIL.search(folded, max(0, match.start() - _LOOK_BACK), match.start()):
            yield match


def _month(match: re.Match[str]) -> int:
    return 12 * int(match["year"]) + _MONTHS.get(match["month"] or "", 0)
