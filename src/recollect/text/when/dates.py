"""Dates and numbers as they are written: 2024-03-05, 5/3/2024, 5 March, Q3, the 1990s, twenty-one."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta

from recollect.text.when import doubt, moments, years
from recollect.text.when.grammar import Found, Rule
from recollect.text.when.moments import AMBIGUOUS, PLAIN, SURE, Moment

_DAYS = "from|between|entre|del|desde? the|el? DAYTH1 -|to|through|until|al|a|and|y the|el? DAYTH2"


def _valid(year: int, month: int, day: int) -> bool:
    try:
        date(year, month, day)
    except ValueError:
        return False
    return year < 9999


def _whole_date(year: int, month: int, day: int, confidence: float = SURE) -> Moment | None:
    if not _valid(year, month, day):
        return None
    in_year = years.date_of(month, day)
    return moments.exact(lambda reference: in_year(reference, year), confidence)


def _iso(found: Found) -> Moment | None:
    text: str = found["ISO"]
    if len(text) == 10:
        return _whole_date(*(int(part) for part in text.split("-")))
    try:
        when = datetime.fromisoformat(re.sub(r" (?=[+-])", "", text).upper().replace(" ", "T"))
    except ValueError:
        return None
    grain = 1 if text[16:17] == ":" else 60 if when.minute else 3600
    return moments.stamp(when.replace(microsecond=0), timedelta(seconds=grain))


def slashed(text: str, *, day_first: bool) -> Moment | None:
    """5/3/2024: the day first where it can be nothing else, or where the language writes it so."""
    first, second, third = (int(number) for number in re.split("[/.-]", text))
    if first > 31:
        return _whole_date(first, second, third)
    year = third if third > 99 else 2000 + third
    sure = first > 12 or second > 12 or "." in text
    swap = first > 12 or "." in text or (day_first and second <= 12)
    month, day = (second, first) if swap else (first, second)
    return _whole_date(year, month, day, AMBIGUOUS if not sure else SURE if third > 99 else PLAIN)


def _year_month(found: Found) -> Moment | None:
    year, month = (int(number) for number in found["YEARMONTH"].split("-"))
    if not 1 <= month <= 12:
        return None
    return _month_of(month, year)


def _month_of(month: int, year: int) -> Moment | None:
    return years.in_that_year(years.yearly(years.month(month)), year)


def _days_of(found: Found) -> Moment | None:
    """One day of a month, or the days from one to another; in a year, or in each."""
    month, first = (
        found["ANYMONTH"],
        next(found[name] for name in ("DAYTH", "NTH", "NUM", "DAYTH1") if name in found),
    )
    last = found.get("DAYTH2", first)
    if first > last:
        return None
    whole = years.yearly(years.date_of(month, first, last), found.get("SIDE"))
    return years.in_that_year(whole, found["YEAR"]) if "YEAR" in found else whole


def _quarter(number: int, year: int | Moment | None) -> Moment | None:
    whole = years.yearly(years.month(3 * number - 2, 3))
    return whole if year is None else years.in_that_year(whole, year)


def _half(number: int, year: int | Moment) -> Moment | None:
    if number > 2:
        return None
    return years.in_that_year(years.yearly(years.month(6 * number - 5, 6)), year)


def _decade(found: Found) -> Moment | None:
    """Los años 90, los noventa, la década de 1990."""
    number = next(iter(found.values()))
    if number % 10 or not (20 <= number <= 90 or 1500 <= number <= 2190):
        return None
    return years.year_span(number if number > 99 else number + (1900 if number >= 30 else 2000), PLAIN, 10)


def _in_year_of(kind: str, pattern: str) -> list[Rule]:
    """Q3 and the third quarter, the first half: of 2024, or of last year."""
    make = {"QUARTER": _quarter, "QUARTERTH": _quarter, "HALFTH": _half}[kind]
    return [
        Rule("SPAN", f"{pattern} of|de|del|in|,? YEAR", lambda found: make(found[kind], found["YEAR"])),
        Rule(
            "SPAN",
            f"{pattern} of|de|del|in|,? el? YEAR_SPAN",
            lambda found: make(found[kind], found["YEAR_SPAN"]),
        ),
        Rule(
            "SPAN",
            f"{pattern} of|de|del the|este? year|ano",
            lambda found: make(found[kind], moments.calendar("year", 0)),
        ),
    ]


NUMBERS = [
    Rule("NUM", "ONES|TEENS|TENS", lambda found: next(iter(found.values()))),
    Rule("NUM", "TENS -|y? ONES", lambda found: found["TENS"] + found["ONES"]),
    Rule("NUM", "a? couple of?", lambda _: 2),
    Rule("NUM", "un par de", lambda _: 2),
    Rule("NUM", "half a dozen", lambda _: 6),
    Rule("NUM", "a|one|una dozen|docena de?", lambda _: 12),
    Rule("FEW", "a? few|several", lambda _: True),
    Rule("FEW", "unos|unas|varios|varias|algunos|algunas pocos|pocas|cuantos|cuantas?", lambda _: True),
    Rule("FEW", "pocos|pocas", lambda _: True),
]

WRITTEN = [
    Rule("DAY", "ISO", _iso),
    Rule("MONTH_SPAN", "YEARMONTH", _year_month),
    Rule("DATE_OF_YEAR", "ANYMONTH .? the? DAYTH|NTH", _days_of, doubt.dated),
    Rule("DAY", "ANYMONTH .? the? DAYTH|NTH ,? of|in? YEAR", _days_of, doubt.dated),
    Rule("DATE_OF_YEAR", "DAYTH|NTH|NUM of|de|- ANYMONTH", _days_of, doubt.dated),
    Rule("DATE_OF_YEAR", "DAYTH ANYMONTH", _days_of, doubt.dated),
    Rule("DAY", "DAYTH|NTH|NUM of|de|-? ANYMONTH .? ,|of|de|del|-? YEAR", _days_of, doubt.dated),
    Rule("DAY", "SIDE ANYMONTH .? the? DAYTH|NTH", _days_of),
    Rule("DAY", "SIDE DAYTH of|de? ANYMONTH", _days_of),
    Rule("OF_YEAR", "ANYMONTH .? DAYTH1 -|to|through DAYTH2", _days_of, doubt.dated),
    Rule("SPAN", "ANYMONTH .? DAYTH1 -|to|through DAYTH2 ,? YEAR", _days_of, doubt.dated),
    Rule("OF_YEAR", f"{_DAYS} of|de? ANYMONTH", _days_of, doubt.dated),
    Rule("SPAN", f"{_DAYS} of|de? ANYMONTH ,|of|de|del? YEAR", _days_of, doubt.dated),
    Rule(
        "MONTH_SPAN",
        "ANYMONTH .|,? of|de|del|in? YEAR",
        lambda found: _month_of(found["ANYMONTH"], found["YEAR"]),
        doubt.dated,
    ),
    Rule("MONTH_SPAN", "MONTH de|del ano YEAR", lambda found: _month_of(found["MONTH"], found["YEAR"])),
    Rule("SPAN", "YEAR -? QUARTER", lambda found: _quarter(found["QUARTER"], found["YEAR"])),
    Rule("OF_YEAR", "QUARTER", lambda found: _quarter(found["QUARTER"], None), doubt.quarter),
    Rule("YEAR_SPAN", "YEAR", lambda found: years.year_span(found["YEAR"]), doubt.year),
    Rule("YEAR_SPAN", "the|el|del? year|ano YEAR", lambda found: years.year_span(found["YEAR"])),
    Rule("SPAN", "the DECADE", lambda found: years.year_span(found["DECADE"], PLAIN, 10)),
    Rule(
        "SPAN",
        "THIRD -? DECADE",
        lambda found: years.third(years.year_span(found["DECADE"], PLAIN, 10), found["THIRD"]),
    ),
    Rule("SPAN", "in DECADE", lambda found: years.year_span(found["DECADE"], PLAIN, 10)),
    Rule("SPAN", "los? anos NUMBER", _decade),
    Rule("SPAN", "decada de|del los? NUMBER|YEAR", _decade),
    Rule("SPAN", "en los NUMBER", _decade),
]

QUARTERS = [
    *_in_year_of("QUARTER", "QUARTER"),
    *_in_year_of("QUARTERTH", "QUARTERTH quarter|trimestre"),
    *_in_year_of("HALFTH", "HALFTH half|mitad|semestre"),
]
