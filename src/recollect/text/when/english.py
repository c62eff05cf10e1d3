"""How English speaks of time: yesterday, last week, three days ago, in March, by Friday."""

from __future__ import annotations

from recollect.text.when import doubt, moments, years
from recollect.text.when.counted import counted
from recollect.text.when.grammar import Found, Rule
from recollect.text.when.moments import VAGUE, Moment


def _nothing(_: Found) -> bool:
    return True


def _half_hour(sign: int) -> Moment:
    return moments.ago("minute", sign * 30)


def _weekend(found: Found) -> Moment:
    return moments.calendar("weekend", found["SIDE"])


def _month(found: Found) -> Moment:
    number = found["MONTH"] if "MONTH" in found else found["SHORTMONTH"]
    return years.yearly(years.month(number), found.get("SIDE"))


def _season(found: Found) -> Moment:
    return years.yearly(years.month(found["SEASON"], 3), found.get("SIDE"))


def _weekday(found: Found, side: int | None = None) -> Moment:
    number = found["WEEKDAY"] if "WEEKDAY" in found else found["SHORTDAY"]
    return moments.weekday(number, found.get("SIDE", side))


def _count_back(found: Found) -> Moment:
    return moments.rolling(found["UNIT"], found["COUNT"])


def _count_ahead(found: Found) -> Moment:
    return moments.rolling(found["UNIT"], -found["COUNT"])


NOT_TIMES = [
    Rule("NOTHING", "every|each other|NUM? WEEKDAY|SHORTDAY|MONTH|SEASON|UNIT|PART", _nothing),
    Rule("NOTHING", "on? a|one|some|any WEEKDAY PART?", _nothing),
    Rule(
        "NOTHING",
        "WEEKDAY|SHORTDAY through|thru|-|to friday|fri",
        _nothing,
        lambda around: around.word_before() == "from",
    ),
    Rule(
        "NOTHING", "read|reading|novel|book|called|room|flight|bus|model|version|highway|route YEAR", _nothing
    ),
]

ENGLISH = [
    # Days and their parts
    Rule("DAY", "today", lambda _: moments.day(0)),
    Rule("DAY", "yesterday", lambda _: moments.day(-1)),
    Rule("DAY", "tomorrow", lambda _: moments.day(1)),
    Rule("DAY", "the? day before yesterday", lambda _: moments.day(-2)),
    Rule("DAY", "the? day after tomorrow", lambda _: moments.day(2)),
    Rule("SPAN", "earlier today", lambda _: moments.so_far("day")),
    Rule("SPAN", "later today", lambda _: moments.from_now("day")),
    Rule("SPAN", "tonight", lambda _: moments.part(moments.day(0), 18, 30)),
    Rule("SPAN", "last night|evening", lambda _: moments.part(moments.day(-1), 18, 30)),
    Rule("SPAN", "this PART", lambda found: moments.part(moments.day(0), *found["PART"])),
    Rule("SPAN", "just now", lambda _: moments.rolling("hour", 1, VAGUE)),
    # Weeks, months, years
    Rule("WEEK_SPAN", "SIDE week", lambda found: moments.calendar("week", found["SIDE"]), doubt.of_something),
    Rule(
        "MONTH_SPAN", "SIDE month", lambda found: moments.calendar("month", found["SIDE"]), doubt.of_something
    ),
    Rule("YEAR_SPAN", "SIDE year", lambda found: moments.calendar("year", found["SIDE"]), doubt.of_something),
    Rule(
        "SPAN",
        "SIDE CALENDAR",
        lambda found: moments.calendar(found["CALENDAR"], found["SIDE"]),
        doubt.of_something,
    ),
    Rule("WEEK_SPAN", "week before last", lambda _: moments.calendar("week", -2)),
    Rule("MONTH_SPAN", "month before last", lambda _: moments.calendar("month", -2)),
    Rule("YEAR_SPAN", "year before last", lambda _: moments.calendar("year", -2)),
    Rule("SPAN", "night before last", lambda _: moments.part(moments.day(-2), 18, 30)),
    Rule("SPAN", "SIDE weekend", _weekend),
    Rule("SPAN", "this? past weekend", lambda _: moments.calendar("weekend", -1)),
    Rule("SPAN", "weekend", lambda _: moments.the_weekend(), doubt.weekend),
    Rule("SPAN", "earlier this|in the? CALENDAR", lambda found: moments.so_far(found["CALENDAR"])),
    Rule("SPAN", "later this|in the? CALENDAR", lambda found: moments.from_now(found["CALENDAR"])),
    # Up to this instant, and from it
    Rule("SPAN", "past|last|previous COUNT UNIT", _count_back, doubt.of_something),
    Rule(
        "SPAN", "this? past ROLLING", lambda found: moments.rolling(found["ROLLING"], 1), doubt.of_something
    ),
    Rule(
        "SPAN",
        "in|within|over|throughout|during the last ROLLING",
        lambda found: moments.rolling(found["ROLLING"], 1),
        doubt.of_something,
    ),
    Rule("SPAN", "last|past|previous FEW UNIT", lambda found: moments.rolling(found["UNIT"], 5, VAGUE)),
    Rule("SPAN", "next|coming|following COUNT UNIT", _count_ahead, doubt.of_something),
    Rule("SPAN", "next|coming FEW UNIT", lambda found: moments.rolling(found["UNIT"], -5, VAGUE)),
    # Counted from today
    *counted("COUNT UNIT ago|back", 1),
    *counted("COUNT UNIT from now", -1),
    *counted("in COUNT UNIT", -1, doubt.minute),
    Rule("SPAN", "FEW UNIT ago|back", lambda found: moments.few_ago(found["UNIT"])),
    Rule("SPAN", "half an hour ago", lambda _: _half_hour(1)),
    Rule("SPAN", "in half an hour", lambda _: _half_hour(-1)),
    Rule("SPAN", "in FEW UNIT", lambda found: moments.few_ago(found["UNIT"], -1)),
    Rule("SPAN", "recently|lately", lambda _: moments.rolling("day", 30, VAGUE)),
    Rule("SPAN", "the other day", lambda _: moments.days_back(10, 2)),
    # Weekdays
    Rule("BARE_WEEKDAY", "WEEKDAY", _weekday, doubt.weekday),
    Rule("BARE_WEEKDAY", "SHORTDAY", _weekday, doubt.short_weekday),
    Rule("DAY", "SIDE WEEKDAY", _weekday),
    Rule("DAY", "SIDE SHORTDAY", _weekday, doubt.side_short_weekday),
    Rule("DAY", "this? past WEEKDAY", lambda found: _weekday(found, -1)),
    Rule("DAY", "this coming|next WEEKDAY", lambda found: _weekday(found, 1)),
    # Months and seasons
    Rule("OF_YEAR", "MONTH", _month, doubt.month),
    Rule(
        "OF_YEAR",
        "SHORTMONTH",
        _month,
        doubt.short_month,
    ),
    Rule("MONTH_SPAN", "SIDE MONTH", _month, doubt.side_month),
    Rule("MONTH_SPAN", "this? past MONTH", lambda found: years.yearly(years.month(found["MONTH"]), -1)),
    Rule("OF_YEAR", "SEASON", _season, doubt.bare_season),
    Rule("SPAN", "SIDE SEASON", _season, doubt.season),
    Rule("SPAN", "this? past SEASON", lambda found: years.yearly(years.month(found["SEASON"], 3), -1)),
    Rule("SPAN", "SEASON of|de|del|,? YEAR", lambda found: years.in_that_year(_season(found), found["YEAR"])),
]
