"""The words that time phrases are made of, English and Spanish, folded, each with its value."""

from __future__ import annotations

from typing import Any

from recollect.text.word_lists import ENGLISH_MONTHS, SPANISH_MONTHS


def _numbered(*rows: str, first: int = 1, step: int = 1) -> dict[str, int]:
    """Words by number: each row counts up from `first`; synonyms are joined by a bar."""
    return {
        word: number * step
        for row in rows
        for number, words in enumerate(row.split(), start=first)
        for word in words.split("|")
    }


def _named(text: str) -> dict[str, str]:
    """Words by the name that they stand for: `name: word word; name: …`."""
    parts = (part.split(":") for part in text.split(";"))
    return {word: name.strip() for name, words in parts for word in words.split()}


def _valued(values: dict[Any, str]) -> dict[str, Any]:
    """Words by the value that they stand for."""
    return {word: value for value, words in values.items() for word in words.split()}


_CARDINALS = {
    "ONES": _numbered(
        "one two three four five six seven eight nine",
        "uno|un|una dos tres cuatro cinco seis siete ocho nueve",
    ),
    "TEENS": _numbered(
        "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
        "diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte "
        "veintiuno|veintiun|veintiuna veintidos veintitres veinticuatro veinticinco veintiseis veintisiete "
        "veintiocho veintinueve",
        first=10,
    ),
    "TENS": _numbered(
        "twenty thirty forty|fourty fifty sixty seventy eighty ninety",
        "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        first=2,
        step=10,
    ),
}
_ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    "primero|primer|primera segundo|segunda tercero|tercer|tercera cuarto|cuarta",
)
_MONTHS = _numbered(
    " ".join(ENGLISH_MONTHS), " ".join(SPANISH_MONTHS).replace("septiembre", "septiembre|setiembre")
)
_SHORT_MONTHS = _numbered(
    "jan feb mar apr may jun jul aug sep|sept oct nov dec",
    "ene feb mar abr may jun jul ago sep oct nov dic",
)
# Units whose last and next are the calendar's own; those of the clock and the day are not among them.
_CALENDAR = _named(
    "week: week semana; month: month mes; quarter: quarter trimestre; year: year ano; decade: decade decada; "
    "century: century siglo"
)
_ROLLING = {word: unit for word, unit in _CALENDAR.items() if unit != "century"} | _named(
    "hour: hour hora; day: day dia; fortnight: fortnight quincena"
)
# Hours of the day; beyond 24 they are the next day's.
_PARTS_OF_DAY = _valued(
    {
        (6, 12): "morning mornings manana",
        (12, 18): "afternoon tarde",
        (18, 24): "evening",
        (18, 30): "night noche",
        (0, 6): "madrugada",
        (12, 13): "noon midday mediodia",
        (0, 1): "midnight medianoche",
    }
)

CLASSES: dict[str, dict[str, Any]] = {
    **_CARDINALS,
    "CARDINAL": _CARDINALS["TENS"] | _CARDINALS["TEENS"] | _CARDINALS["ONES"],
    "THE": dict.fromkeys(("the", "el", "la", "los", "las")),
    "COUNT": dict.fromkeys(("a", "an", "un", "una"), 1),
    "NTH": _ORDINALS,
    "MONTHDAY": _ORDINALS,
    "ANYDAY": _ORDINALS,
    "QUARTERTH": {word: number for word, number in _ORDINALS.items() if number <= 4},
    "HALFTH": {word: number for word, number in _ORDINALS.items() if number <= 2},
    "MONTH": _MONTHS,
    "ANYMONTH": _SHORT_MONTHS | _MONTHS,
    "SHORTMONTH": {word: number for word, number in _SHORT_MONTHS.items() if word not in _MONTHS},
    "WEEKDAY": _numbered(
        "monday tuesday wednesday thursday friday saturday sunday",
        "lunes martes miercoles jueves viernes sabado domingo",
        first=0,
    ),
    "SHORTDAY": _numbered("mon tue|tues wed|weds thu|thur|thurs fri sat sun", first=0),
    # By their first months.
    "SEASON": _numbered(
        "spring summer|summertime autumn|fall winter|wintertime", "primavera verano otono invierno", step=3
    ),
    # Which third of a month or a year.
    "THIRD": _valued(
        {
            0: "early beginning start principios principio comienzos comienzo inicios inicio",
            1: "mid middle mediados",
            2: "late end finales final fines fin",
        }
    ),
    "CALENDAR": _CALENDAR,
    "SPAN_UNIT": _named("week: week; month: month; year: year"),
    "UNIDAD": {word: unit for word, unit in _CALENDAR.items() if word != unit} | _named("weekend: finde"),
    "ROLLING": _ROLLING,
    "UNIT": _ROLLING
    | _named(
        "second: seconds segundos; minute: minute minutes min mins minuto minutos; hour: hours hrs hr horas; "
        "day: days dias; week: weeks wk wks semanas; fortnight: fortnights quincenas; month: months meses; "
        "quarter: quarters trimestres; year: years yr yrs anos; decade: decades decadas; "
        "century: centuries siglos"
    ),
    "DAYWORD": _valued(
        {0: "today hoy", -1: "yesterday ayer", 1: "tomorrow", -2: "anteayer antier antesdeayer"}
    ),
    "NIGHTWORD": _valued({0: "tonight", -1: "anoche", -2: "anteanoche antenoche"}),
    "SIDE": _valued({-1: "last previous pasado", 0: "this current este", 1: "next coming upcoming proximo"}),
    "PART": _PARTS_OF_DAY,
    "NOON": {word: hours[0] for word, hours in _PARTS_OF_DAY.items() if hours[1] - hours[0] == 1},
}

KINDS = {
    "COUNT": "NUM DAYNUM INT YEAR",
    "ANY_NUMBER": "NUM DAYNUM INT YEAR",
    "NUMBER": "NUM DAYNUM INT",
    "HOUR": "CLOCK NUM DAYNUM INT",
    "NTH": "ORDINAL",
    "DAYTH": "DAYNUM ORDINAL",
    "MONTHDAY": "DAYNUM ORDINAL",
    "ANYDAY": "DAYNUM ORDINAL NUM",
    "DATE_NAMED": "DAY DATE_OF_YEAR",
    "DATED": "DAY DATE_OF_YEAR BARE_WEEKDAY",
    "YEARLY": "OF_YEAR DATE_OF_YEAR",
    "LONG_SPAN": "MONTH_SPAN YEAR_SPAN",
    "THIRDABLE": "OF_YEAR MONTH_SPAN YEAR_SPAN",
    "BOUND": "DAY DATE_OF_YEAR BARE_WEEKDAY OF_YEAR MONTH_SPAN YEAR_SPAN WEEK_SPAN SPAN YEAR",
    "YEAR_DATED": "OF_YEAR DATE_OF_YEAR MONTH_SPAN YEAR",
    "DATED_BOUND": "DAY DATE_OF_YEAR OF_YEAR MONTH_SPAN",
}
"""Kinds of tokens, and of what rules make, that a pattern may call by one name."""
