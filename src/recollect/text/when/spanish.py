"""How Spanish speaks of time: ayer, la semana pasada, hace tres días, en marzo, el viernes que viene."""

from __future__ import annotations

from collections.abc import Callable

from recollect.text.when import doubt, moments, years
from recollect.text.when.counted import counted
from recollect.text.when.grammar import Around, Found, Rule
from recollect.text.when.moments import VAGUE, Moment

# How the last, this and the next are said, before or after the noun.
_SIDES = {
    -1: ("{} pasado|pasada|anterior", "pasado|pasada {}"),
    0: ("este|esta {}",),
    1: (
        "{} que viene|entra",
        "proximo|proxima {}",
        "{} proximo|proxima|entrante|siguiente",
        "este proximo {}",
    ),
}
Sided = Callable[[Found, int], Moment]


def _sided(kind: str, noun: str, make: Sided, unless: Callable[[Around], bool] | None = None) -> list[Rule]:
    def for_side(side: int) -> Callable[[Found], Moment]:
        return lambda found: make(found, side)

    return [
        Rule(kind, pattern.format(noun), for_side(side), unless)
        for side, patterns in _SIDES.items()
        for pattern in patterns
    ]


def _unit(name: str) -> Sided:
    return lambda _, side: moments.calendar(name, side)


def _month(found: Found, side: int) -> Moment:
    return years.yearly(years.month(found["MONTH"]), side)


def _season(found: Found, side: int) -> Moment:
    return years.yearly(years.month(found["SEASON"], 3), side)


def _nothing(_: Found) -> bool:
    return True


NOT_TIMES = [
    Rule("NOTHING", "los|cada|todos|un|algun|ningun los? WEEKDAY", _nothing),
    Rule("NOTHING", "cada COUNT? UNIT|MONTH|SEASON", _nothing),
    Rule("NOTHING", "de lunes a viernes|sabado|domingo|jueves", _nothing),
    Rule("NOTHING", "rollito|rollitos|rollo|rollos de primavera", _nothing),
    Rule("NOTHING", "leer|lei|leyendo|novela|libro|sala|habitacion|vuelo|modelo|version YEAR", _nothing),
]

SPANISH = [
    # Days and their parts
    Rule("DAY", "hoy", lambda _: moments.day(0)),
    Rule("DAY", "ayer", lambda _: moments.day(-1)),
    Rule("DAY", "manana", lambda _: moments.day(1), doubt.morning),
    Rule("DAY", "anteayer|antier|antesdeayer", lambda _: moments.day(-2)),
    Rule("DAY", "antes de ayer", lambda _: moments.day(-2)),
    Rule("DAY", "pasado manana", lambda _: moments.day(2)),
    Rule("SPAN", "anoche", lambda _: moments.part(moments.day(-1), 18, 30)),
    Rule("SPAN", "anteanoche|antenoche", lambda _: moments.part(moments.day(-2), 18, 30)),
    Rule("SPAN", "esta|este PART", lambda found: moments.part(moments.day(0), *found["PART"])),
    # Weeks, months, years
    *_sided("WEEK_SPAN", "semana", _unit("week")),
    *_sided("MONTH_SPAN", "mes", _unit("month")),
    *_sided("YEAR_SPAN", "ano", _unit("year")),
    *_sided("SPAN", "trimestre", _unit("quarter")),
    *_sided("SPAN", "decada", _unit("decade")),
    *_sided("SPAN", "siglo", _unit("century")),
    *_sided("SPAN", "fin de semana", _unit("weekend")),
    *_sided("SPAN", "finde", _unit("weekend")),
    Rule("WEEK_SPAN", "semana antepasada", lambda _: moments.calendar("week", -2)),
    Rule("MONTH_SPAN", "mes antepasado", lambda _: moments.calendar("month", -2)),
    Rule("YEAR_SPAN", "ano antepasado", lambda _: moments.calendar("year", -2)),
    Rule("SPAN", "ultimo fin de semana", lambda _: moments.calendar("weekend", -1)),
    Rule("SPAN", "fin de semana", lambda _: moments.the_weekend(), doubt.weekend),
    Rule("SPAN", "finde", lambda _: moments.the_weekend(), doubt.weekend),
    # Up to this instant, and from it
    Rule(
        "SPAN",
        "ultimos|ultimas|pasados|pasadas COUNT UNIT",
        lambda found: moments.rolling(found["UNIT"], found["COUNT"]),
    ),
    Rule("SPAN", "COUNT ultimos|ultimas UNIT", lambda found: moments.rolling(found["UNIT"], found["COUNT"])),
    Rule(
        "SPAN",
        "ultimo|ultima ROLLING",
        lambda found: moments.rolling(found["ROLLING"], 1),
        doubt.of_something,
    ),
    Rule(
        "SPAN",
        "ultimos|ultimas FEW? UNIT",
        lambda found: moments.rolling(found["UNIT"], 5, VAGUE),
        doubt.of_something,
    ),
    Rule(
        "SPAN", "proximos|proximas COUNT UNIT", lambda found: moments.rolling(found["UNIT"], -found["COUNT"])
    ),
    Rule(
        "SPAN", "COUNT proximos|proximas UNIT", lambda found: moments.rolling(found["UNIT"], -found["COUNT"])
    ),
    Rule("SPAN", "proximos|proximas FEW? UNIT", lambda found: moments.rolling(found["UNIT"], -5, VAGUE)),
    # Counted from today
    *counted("hace unos|unas|casi|como? COUNT UNIT", 1),
    *counted("COUNT UNIT atras", 1),
    *counted("dentro de COUNT UNIT", -1),
    *counted("en COUNT UNIT", -1, doubt.minute),
    Rule("SPAN", "hace FEW UNIT", lambda found: moments.few_ago(found["UNIT"])),
    Rule("SPAN", "FEW UNIT atras", lambda found: moments.few_ago(found["UNIT"])),
    Rule("SPAN", "dentro de FEW UNIT", lambda found: moments.few_ago(found["UNIT"], -1)),
    Rule("SPAN", "en FEW UNIT", lambda found: moments.few_ago(found["UNIT"], -1)),
    Rule("SPAN", "hace media hora", lambda _: moments.ago("minute", 30)),
    Rule("SPAN", "dentro de media hora", lambda _: moments.ago("minute", -30)),
    Rule("SPAN", "recientemente|ultimamente", lambda _: moments.rolling("day", 30, VAGUE)),
    Rule("SPAN", "hace poco tiempo?", lambda _: moments.rolling("day", 30, VAGUE)),
    Rule("SPAN", "el otro dia", lambda _: moments.days_back(10, 2)),
    # Weekdays, months, seasons
    *_sided("DAY", "WEEKDAY", lambda found, side: moments.weekday(found["WEEKDAY"], side)),
    Rule("DAY", "ultimo WEEKDAY", lambda found: moments.weekday(found["WEEKDAY"], -1)),
    *_sided("MONTH_SPAN", "MONTH", _month),
    Rule("MONTH_SPAN", "pasado mes de MONTH", lambda found: _month(found, -1)),
    Rule("MONTH_SPAN", "proximo mes de MONTH", lambda found: _month(found, 1)),
    *_sided("SPAN", "SEASON", _season),
    Rule("SPAN", "ultimo|ultima SEASON", lambda found: _season(found, -1)),
]
