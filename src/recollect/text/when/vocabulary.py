"""The words that time phrases are made of, English and Spanish, folded, each with what it counts."""

from __future__ import annotations

from typing import Any


def _numbered(*rows: str, first: int = 1) -> dict[str, int]:
    """Words by number: each row counts up from `first`; synonyms are joined by a bar."""
    return {
        word: number
        for row in rows
        for number, words in enumerate(row.split(), start=first)
        for word in words.split("|")
    }


def _each(value: Any, words: str) -> dict[str, Any]:
    return dict.fromkeys(words.split(), value)


ONES = _numbered(
    "one two three four five six seven eight nine",
    "uno|un|una dos tres cuatro cinco seis siete ocho nueve",
)
TEENS = _numbered(
    "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "diez once doce trece catorce quince dieciseis diecisiete dieciocho diecinueve veinte veintiuno|veintiun|"
    "veintiuna veintidos veintitres veinticuatro veinticinco veintiseis veintisiete veintiocho veintinueve",
    first=10,
)
TENS = {
    word: 10 * number
    for word, number in _numbered(
        "twenty thirty forty|fourty fifty sixty seventy eighty ninety",
        "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        first=2,
    ).items()
}
ORDINALS = _numbered(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth",
    "primero|primer|primera segundo|segunda tercero|tercer|tercera cuarto|cuarta",
)
MONTHS = _numbered(
    "january february march april may june july august september october november december",
    "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
)
SHORT_MONTHS = _numbered(
    "jan feb mar apr may jun jul aug sep|sept oct nov dec",
    "ene feb mar abr may jun jul ago sep oct nov dic",
)
WEEKDAYS = _numbered(
    "monday tuesday wednesday thursday friday saturday sunday",
    "lunes martes miercoles jueves viernes sabado domingo",
    first=0,
)
SHORT_WEEKDAYS = _numbered("mon tue|tues wed|weds thu|thur|thurs fri sat sun", first=0)
SEASONS = {
    **_each(3, "spring primavera"),
    **_each(6, "summer summertime verano"),
    **_each(9, "autumn fall otono"),
    **_each(12, "winter wintertime invierno"),
}
# Units whose last and next are the calendar's own; those of the clock and the day are not among them.
CALENDAR = {
    **_each("week", "week semana"),
    **_each("month", "month mes"),
    **_each("quarter", "quarter trimestre"),
    **_each("year", "year ano"),
    **_each("decade", "decade decada"),
    **_each("century", "century siglo"),
}
ROLLING = {
    **{word: name for word, name in CALENDAR.items() if name != "century"},
    **_each("hour", "hour hora"),
    **_each("day", "day dia"),
    **_each("fortnight", "fortnight quincena"),
}
UNITS = {
    **ROLLING,
    **_each("second", "seconds segundos"),
    **_each("minute", "minute minutes min mins minuto minutos"),
    **_each("hour", "hours hrs hr horas"),
    **_each("day", "days dias"),
    **_each("week", "weeks wk wks semanas"),
    **_each("fortnight", "fortnights quincenas"),
    **_each("month", "months meses"),
    **_each("quarter", "quarters trimestres"),
    **_each("year", "years yr yrs anos"),
    **_each("decade", "decades decadas"),
    **_each("century", "centuries siglos"),
}
SIDES = {
    **_each(-1, "last previous pasado"),
    **_each(0, "this current este"),
    **_each(1, "next coming upcoming proximo"),
}
# Hours of the day; beyond 24 they are the next day's.
PARTS = {
    **_each((6, 12), "morning mornings manana"),
    **_each((12, 18), "afternoon tarde"),
    **_each((18, 24), "evening"),
    **_each((18, 30), "night noche"),
    **_each((0, 6), "madrugada"),
    **_each((12, 13), "noon midday mediodia"),
    **_each((0, 1), "midnight medianoche"),
}
NOONS = {word: hours for word, hours in PARTS.items() if hours[1] - hours[0] == 1}
# Which third of a month or a year.
THIRDS = {
    **_each(0, "early beginning start principios principio comienzos comienzo inicios inicio"),
    **_each(1, "mid middle mediados"),
    **_each(2, "late end finales final fines fin"),
}


def _only(*names: str) -> dict[str, str]:
    return {word: name for word, name in UNITS.items() if name in names}


ORDINAL_PARTS = {word: number for word, number in ORDINALS.items() if number <= 4}

CLASSES: dict[str, dict[str, Any]] = {
    "ONES": ONES,
    "TEENS": TEENS,
    "TENS": TENS,
    "COUNT": {"a": 1, "an": 1, "un": 1, "una": 1},
    "NTH": ORDINALS,
    "MONTH": MONTHS,
    "ANYMONTH": {**SHORT_MONTHS, **MONTHS},
    "SHORTMONTH": {word: number for word, number in SHORT_MONTHS.items() if word not in MONTHS},
    "WEEKDAY": WEEKDAYS,
    "SHORTDAY": SHORT_WEEKDAYS,
    "SEASON": SEASONS,
    "CALENDAR": CALENDAR,
    "ROLLING": ROLLING,
    "UNIT": UNITS,
    "DAYS": _only("day"),
    "WEEKS": _only("week", "fortnight"),
    "MONTHS": _only("month"),
    "YEARS": _only("year", "decade", "century"),
    "SIDE": SIDES,
    "PART": PARTS,
    "NOON": NOONS,
    "THIRD": THIRDS,
    "QUARTERTH": ORDINAL_PARTS,
    "HALFTH": {word: number for word, number in ORDINALS.items() if number <= 2},
}
# Kinds of pieces, and of what the rules make, that may stand in a pattern under one name.
KINDS = {
    "COUNT": "NUM DAYNUM INT YEAR",
    "NUMBER": "NUM DAYNUM INT",
    "NTH": "ORDINAL",
    "DAYTH": "DAYNUM ORDINAL",
    "DATED": "DAY DATE_OF_YEAR BARE_WEEKDAY",
    "YEARLY": "OF_YEAR DATE_OF_YEAR",
    "THIRDABLE": "OF_YEAR MONTH_SPAN YEAR_SPAN",
    "PLAIN_YEAR": "YEAR",
    "YEAR_SPAN": "YEAR_SPAN",
    "MOMENT": "DAY DATE_OF_YEAR BARE_WEEKDAY OF_YEAR MONTH_SPAN YEAR_SPAN WEEK_SPAN SPAN",
    "BOUND": "DAY DATE_OF_YEAR BARE_WEEKDAY OF_YEAR MONTH_SPAN YEAR_SPAN WEEK_SPAN SPAN YEAR",
    "YEAR_DATED": "OF_YEAR DATE_OF_YEAR MONTH_SPAN YEAR",
    "PLAIN_BOUND": "DAY DATE_OF_YEAR OF_YEAR MONTH_SPAN",
    "QUARTER": "QUARTER",
    "FEW": "FEW",
    "NOTHING": "NOTHING",
    "DECADE": "DECADE",
    "CLOCK": "CLOCK",
}
