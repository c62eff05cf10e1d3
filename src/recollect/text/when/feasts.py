"""Feasts that a year brings round, English and Spanish: on a date, or counted from Easter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from recollect.text.when import doubt, spans, years
from recollect.text.when.grammar import Found, Rule
from recollect.text.when.moments import InYear, Moment


def _thanksgiving(year: int) -> date:
    return spans.nth_weekday(year, 11, 3, 4)


_CHRISTMAS = years.date_of(12, 24, 26)
_CHRISTMAS_DAY = years.date_of(12, 25)
_CHRISTMAS_EVE = years.date_of(12, 24)
_NEW_YEARS_EVE = years.date_of(12, 31)
_NEW_YEAR = years.date_of(1, 1)
_KINGS = years.date_of(1, 6)
_VALENTINE = years.date_of(2, 14)
_HALLOWEEN = years.date_of(10, 31)
_EASTER = years.around(spans.easter)
_HOLY_WEEK = years.around(spans.easter, -7, 8)

_NAMES: dict[str, InYear] = {
    "christmas|xmas": _CHRISTMAS,
    "christmas|xmas time|holidays": _CHRISTMAS,
    "christmas|xmas day": _CHRISTMAS_DAY,
    "christmas|xmas eve": _CHRISTMAS_EVE,
    "boxing day": years.date_of(12, 26),
    "new year 's? eve": _NEW_YEARS_EVE,
    "new years ' eve": _NEW_YEARS_EVE,
    "new years eve": _NEW_YEARS_EVE,
    "new year 's? day": _NEW_YEAR,
    "new years day": _NEW_YEAR,
    "valentine 's? day": _VALENTINE,
    "valentines day": _VALENTINE,
    "halloween": _HALLOWEEN,
    "thanksgiving": years.around(_thanksgiving),
    "thanksgiving day": years.around(_thanksgiving),
    "black friday": years.around(_thanksgiving, 1),
    "easter": _EASTER,
    "easter sunday|day": _EASTER,
    "easter monday": years.around(spans.easter, 1),
    "good friday": years.around(spans.easter, -2),
    "ash wednesday": years.around(spans.easter, -46),
    "palm sunday": years.around(spans.easter, -7),
    "holy week": _HOLY_WEEK,
    "navidad|navidades": _CHRISTMAS,
    "dia de navidad": _CHRISTMAS_DAY,
    "nochebuena": _CHRISTMAS_EVE,
    "nochevieja": _NEW_YEARS_EVE,
    "fin de ano": _NEW_YEARS_EVE,
    "ano nuevo": _NEW_YEAR,
    "dia de ano nuevo": _NEW_YEAR,
    "dia de los? reyes": _KINGS,
    "reyes magos": _KINGS,
    "san valentin": _VALENTINE,
    "pascua": _EASTER,
    "domingo de pascua|resurreccion": _EASTER,
    "semana santa": _HOLY_WEEK,
    "viernes santo": years.around(spans.easter, -2),
    "jueves santo": years.around(spans.easter, -3),
    "domingo de ramos": years.around(spans.easter, -7),
}


def _named(in_year: InYear, side: int | None) -> Callable[[Found], Moment]:
    return lambda _: years.yearly(in_year, side)


def _sided(in_year: InYear) -> Callable[[Found], Moment]:
    return lambda found: years.yearly(in_year, found["SIDE"])


RULES: list[Rule] = [
    rule
    for pattern, in_year in _NAMES.items()
    for rule in (
        Rule("OF_YEAR", pattern, _named(in_year, None), doubt.feast),
        Rule("SPAN", f"SIDE {pattern}", _sided(in_year), doubt.feast),
        Rule("SPAN", f"{pattern} pasado|pasada|pasadas", _named(in_year, -1)),
        Rule("SPAN", f"pasado|pasada|pasadas|ultima|ultimas {pattern}", _named(in_year, -1)),
        Rule("SPAN", f"este|esta|estas {pattern}", _named(in_year, 0)),
        Rule("SPAN", f"proximo|proxima|proximas {pattern}", _named(in_year, 1)),
        Rule("SPAN", f"{pattern} que viene", _named(in_year, 1)),
    )
] + [Rule("OF_YEAR", "reyes", _named(_KINGS, None), doubt.kings)]
