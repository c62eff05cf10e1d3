"""Phrases made of phrases: a weekday of a week, a month of a year, a morning of a day, a range."""

from __future__ import annotations

from collections.abc import Callable

from recollect.text.when import doubt, moments, ranges, years
from recollect.text.when.grammar import Found, Rule
from recollect.text.when.moments import Moment


def _in_year(found: Found) -> Moment | None:
    return years.in_that_year(found["YEARLY"], found["YEAR_SPAN"] if "YEAR_SPAN" in found else found["YEAR"])


def _in_week(found: Found) -> Moment:
    return moments.weekday_in(found["BARE_WEEKDAY"], found["WEEK_SPAN"])


def _this_third(found: Found) -> Moment:
    return years.third(moments.calendar(found["CALENDAR"], 0), found["THIRD"])


def _nth_week(found: Found) -> Moment | None:
    nth = found["NTH"]
    return years.piece(found["THIRDABLE"], 7 * (nth - 1), 7) if nth <= 4 else None


def _part(found: Found) -> Moment:
    return moments.part(found["DATED"], *found["PART"])


def _clock(found: Found) -> Moment | None:
    """A las 3 de la tarde, at 15:00; a full hour names the hour, other minutes the minute."""
    hour, minute = found["CLOCK"] if "CLOCK" in found else (found["NUMBER"], None)
    if "PART" in found and hour < 12 and found["PART"][0] >= 12:
        hour += 12
    if hour > 23 or (minute or 0) > 59:
        return None
    return moments.at_clock(found["DATED"], hour, minute or None)


def _clocks(found: Found) -> Moment:
    return moments.clock_range(found["DATED"], found["CLOCK1"], found["CLOCK2"])


def _noon(found: Found) -> Moment:
    return moments.at_clock(found["DATED"], found["NOON"][0], None)


def _bound(value: Moment | int) -> Moment:
    return years.year_span(value) if isinstance(value, int) else value


def _from(make: Callable[[Moment], Moment]) -> Callable[[Found], Moment]:
    return lambda found: make(_bound(found["BOUND"]))


def _between(found: Found) -> Moment:
    first, last = (_bound(value) for value in found.values())
    return ranges.between(first, last)


def _third(found: Found) -> Moment:
    whole = found["MONTH_SPAN"] if "MONTH_SPAN" in found else found["YEAR_SPAN"]
    return years.third(whole, found["THIRD"])


def _week(found: Found) -> Moment:
    return moments.week_of(found["DAY"] if "DAY" in found else found["DATE_OF_YEAR"])


OF_A_WHOLE = [
    Rule("DAY", "BARE_WEEKDAY of|de|in|,|-? la? WEEK_SPAN", _in_week),
    Rule("DAY", "WEEK_SPAN 's|on|,|el|- el? BARE_WEEKDAY", _in_week),
    Rule("DAY", "WEEK_SPAN BARE_WEEKDAY", _in_week),
    Rule("DAY", "BARE_WEEKDAY ,? the|el? DAY", lambda found: found["DAY"]),
    Rule("DATE_OF_YEAR", "BARE_WEEKDAY ,? the|el? DATE_OF_YEAR", lambda found: found["DATE_OF_YEAR"]),
    Rule(
        "DAY",
        "DAYTH of|de|del el? MONTH_SPAN",
        lambda found: years.day_in(found["DAYTH"], found["MONTH_SPAN"]),
    ),
    Rule("DAY", "on the ORDINAL", lambda found: years.day_of_month(found["ORDINAL"]), doubt.nth),
    Rule(
        "DAY",
        "BARE_WEEKDAY ,? the|el|dia? DAYTH",
        lambda found: years.day_of_month(found["DAYTH"]),
        doubt.nth,
    ),
    Rule("DAY", "dia DAYNUM", lambda found: years.day_of_month(found["DAYNUM"]), doubt.nth),
    Rule("MONTH_SPAN", "YEARLY of|in|de|del|,? el? YEAR_SPAN", _in_year),
    Rule("MONTH_SPAN", "YEARLY of|de|del|,? YEAR", _in_year),
    Rule("MONTH_SPAN", "YEAR_SPAN 's|in|en|,|por|de? the|el|la? YEARLY", _in_year),
]

PARTS_OF_MONTHS = [
    Rule(
        "OF_YEAR",
        "THIRD of|de|del|in|-? the|el? OF_YEAR",
        lambda found: years.third(found["OF_YEAR"], found["THIRD"]),
    ),
    Rule("SPAN", "THIRD of|de|del|in|-? the|el? MONTH_SPAN|YEAR_SPAN", _third),
    Rule(
        "SPAN",
        "THIRD of|de|del|in|-? YEAR",
        lambda found: years.third(years.year_span(found["YEAR"]), found["THIRD"]),
    ),
    Rule("SPAN", "THIRD of|de|del the|el? CALENDAR", _this_third),
    Rule("WEEK_SPAN", "week|semana of|de|del the|el? DAY|DATE_OF_YEAR", _week),
    Rule("SPAN", "NTH week|semana of|in|de|del THIRDABLE", _nth_week),
    Rule(
        "SPAN",
        "last|ultima week|semana of|in|de|del THIRDABLE",
        lambda found: years.piece(found["THIRDABLE"], -7, 7),
    ),
    Rule(
        "DAY",
        "last|ultimo day|dia of|in|de|del THIRDABLE",
        lambda found: years.piece(found["THIRDABLE"], -1, 1),
    ),
    Rule(
        "DAY",
        "first|primer day|dia of|in|de|del THIRDABLE",
        lambda found: years.piece(found["THIRDABLE"], 0, 1),
    ),
    Rule("OF_YEAR", "month|mes of|de OF_YEAR", lambda found: found["OF_YEAR"]),
    Rule("MONTH_SPAN", "month|mes of|de MONTH_SPAN", lambda found: found["MONTH_SPAN"]),
]

_WHOSE = "CLOCK ,|on|of|de|del? the|el? DATED"
PARTS_OF_DAYS = [
    Rule("SPAN", "DATED ,? PART", _part),
    Rule("SPAN", "DATED ,? in|at|por|de|en|a the|la|el? PART", _part),
    Rule("SPAN", "PART of|de|del the|el|ayer? DATED", _part),
    Rule("SPAN", "DATED ,? at|around|about|by|sobre|- CLOCK", _clock),
    Rule("SPAN", "DATED ,? CLOCK", _clock),
    Rule("SPAN", "DATED ,? at|a noon|midnight|midday|mediodia|medianoche", _noon),
    Rule("SPAN", f"at|around? {_WHOSE}", _clock),
    Rule("SPAN", "NOON on|of|,? DATED", _noon),
    Rule("SPAN", "from|between? CLOCK1 to|-|and|until CLOCK2 ,|on? DATED", _clocks),
    Rule("SPAN", "DATED ,? from|between? CLOCK1 to|-|and|until CLOCK2", _clocks),
    Rule("SPAN", "DATED ,? a|sobre las|la CLOCK|NUMBER", _clock),
    Rule("SPAN", "DATED ,? a|sobre las|la CLOCK|NUMBER de|por la PART", _clock),
    Rule("SPAN", "a las|la CLOCK|NUMBER de|del|,? el? DATED", _clock),
    Rule("SPAN", "a las|la CLOCK|NUMBER de la PART de|del|,? el? DATED", _clock),
]

_THE = "the|el|la|los|las"
RANGES = [
    Rule("SPAN", f"since|desde {_THE}|around|about|mid? BOUND", _from(ranges.since), doubt.bound),
    Rule("SPAN", f"ever since {_THE}? BOUND", _from(ranges.since), doubt.bound),
    Rule(
        "SPAN",
        f"from|starting {_THE}|in|on? BOUND on|onward|onwards|forward",
        _from(ranges.since),
        doubt.bound,
    ),
    Rule("SPAN", f"a partir de|del {_THE}? BOUND", _from(ranges.since), doubt.bound),
    Rule("SPAN", f"desde {_THE}? BOUND en adelante", _from(ranges.since), doubt.bound),
    Rule("SPAN", f"until|till|til|by|hasta {_THE}? BOUND", _from(ranges.until), doubt.bound),
    Rule("SPAN", f"up until|till {_THE}? BOUND", _from(ranges.until), doubt.bound),
    Rule("SPAN", "up to YEAR_DATED", lambda found: ranges.until(_bound(found["YEAR_DATED"])), doubt.bound),
    Rule("SPAN", f"before|pre {_THE}|-? BOUND", _from(ranges.before), doubt.bound),
    Rule("SPAN", f"prior to {_THE}? BOUND", _from(ranges.before), doubt.bound),
    Rule("SPAN", f"antes de|del {_THE}? BOUND", _from(ranges.before), doubt.bound),
    Rule("SPAN", f"after|post|tras {_THE}|-? BOUND", _from(ranges.after), doubt.bound),
    Rule("SPAN", f"despues de|del {_THE}? BOUND", _from(ranges.after), doubt.bound),
    Rule("SPAN", f"between|entre {_THE}? BOUND1 and|y|e {_THE}? BOUND2", _between, doubt.bound),
    Rule(
        "SPAN", f"from {_THE}? BOUND1 to|until|till|til|through|thru|- {_THE}? BOUND2", _between, doubt.bound
    ),
    Rule("SPAN", f"from {_THE}? BOUND1 up to|until {_THE}? BOUND2", _between, doubt.bound),
    Rule("SPAN", f"desde|de|del {_THE}? BOUND1 a|al|hasta {_THE}? BOUND2", _between, doubt.bound),
    Rule("SPAN", "PLAIN_BOUND1 -|..|to|through|a|hasta PLAIN_BOUND2", _between, doubt.bound),
    Rule("SPAN", "YEAR1 -|.. YEAR2", _between, doubt.years),
]
