"""Doubt: words that may not name a time after all, weighed by what stands beside them."""

from __future__ import annotations

from recollect.text.when import beside
from recollect.text.when.grammar import Around
from recollect.text.when.reading import Item


def month(around: Around) -> bool:
    """Whether a month without day and year may be something else."""
    item = around.items[around.first]
    before = around.word_before(2 if around.word_before(2) in {"mid", "early", "late"} else 1)
    if before in beside.EVERY or (item.word == "mayo" and _food(around)):
        return True
    if item.word not in beside.NAMES | beside.VERBS or before in beside.SURELY_TIME or _alone(around):
        return False
    if _beside_month(around) and (
        item.word not in beside.VERBS or around.word_after() not in beside.VERB_AFTER - {"to"}
    ):
        return False
    if (item.word in beside.VERBS and _verb(around, item)) or (
        item.word in beside.NAMES and _person(around, item)
    ):
        return True
    if before in beside.CLOSED_TIME:
        return False
    told = item.capital if around.cased else item.word in beside.NAMES - beside.VERBS - {"august"}
    return before not in beside.BARE_BEFORE or not told


def side_month(around: Around) -> bool:
    """`this may be` is no month."""
    words = [item.word for item in around.items[around.first : around.past]]
    return (
        words[0] == "this"
        and words[-1] in beside.VERBS
        and around.after() is not None
        and _verb(
            Around(around.items, around.past - 1, around.past, around.cased), around.items[around.past - 1]
        )
    )


def dated(around: Around) -> bool:
    """A month beside a number may still be a verb beside a count: `may 5 people come`."""
    pieces = around.items[around.first : around.past]
    if any(item.word == "ago" for item in pieces):  # August in Spanish, where a day and a year enclose it.
        return len(pieces) < 3 or pieces[0].word == "ago"
    named = next(
        (item for item in pieces if item.word in beside.VERBS or item.word in {"mar", "sat", "sun"}), None
    )
    if named is None or any(item.kind in {"YEAR", "ORDINAL"} or item.word in {"of", "de"} for item in pieces):
        return False
    if around.cased and named.capital:
        return False
    if around.word_before() in beside.SURELY_TIME | beside.MAYBE_TIME:
        return False
    after = around.after()
    return after is not None and after.word not in beside.PLAIN_AFTER


def weekday(around: Around) -> bool:
    """Whether a bare weekday is a habit, or part of a name."""
    item = around.items[around.first]
    before, after = around.word_before(), around.word_after()
    if before in beside.HABIT_BEFORE or before in beside.TITLE_BEFORE or after in beside.COMPOUND:
        return True
    if before == "on" and around.word_before(2) in {"only", "always"}:
        return True
    following = around.after()
    if after == "night" and following is not None and following.capital and around.cased:
        return True
    if item.word == "domingo" and around.cased and item.capital:
        earlier = around.before()
        return earlier is not None and earlier.capital and around.first > 1
    return False


def short_weekday(around: Around) -> bool:
    """Mon, Sat and Sun are other words too: on Mon, since Sat."""
    item = around.items[around.first]
    if around.word_before() not in beside.SHORT_BEFORE:
        return True
    return not item.capital if around.cased else item.word in {"sun", "sat", "wed", "mon"}


def side_short_weekday(around: Around) -> bool:
    """Last Sat, but neither `this sun` nor `last wed`."""
    item = around.items[around.past - 1]
    return not item.capital if around.cased else item.word in {"sun", "wed", "mon"}


def short_month(around: Around) -> bool:
    """In Dec, since Oct; `mar` is the sea and Jan a person."""
    item = around.items[around.first]
    if around.word_before() not in beside.SHORT_BEFORE | beside.SURELY_TIME or item.word in {
        "mar",
        "ago",
        "ene",
        "abr",
        "dic",
    }:
        return True
    return around.cased and not item.capital


def season(around: Around) -> bool:
    return around.word_after() in beside.SEASON_COMPOUND or around.word_before() in beside.EVERY


def bare_season(around: Around) -> bool:
    """A season is a time after a word that says so: in the summer, since winter."""
    if around.word_after() in {"of", "de", "del"}:
        return not _year_next(around)
    steps = 1
    while around.word_before(steps) in {"the", "el", "la", "-", "of", "del", "de"} and steps < 3:
        steps += 1
    if around.word_before(steps) not in beside.SEASON_BEFORE:
        return True
    if around.word_before() == "de" and around.word_before(2) not in beside.SEASON_BEFORE:
        return True
    return (season(around) and around.word_after() not in {"of", "de", "del"}) or (
        around.word_after() in {"of", "de", "del"} and not _year_next(around)
    )


def weekend(around: Around) -> bool:
    """The weekend, el fin de semana; `a weekend` and `weekend plans` are any."""
    return around.word_before() not in {"the", "el", "del", "al"} or around.word_after() in {"de", "of"}


def kings(around: Around) -> bool:
    return around.word_before() not in {"en", "por", "desde", "hasta", "tras"}


def feast(around: Around) -> bool:
    return around.word_after() in beside.FEAST_COMPOUND or around.word_before() in beside.EVERY


def year(around: Around) -> bool:
    """Four digits are a year after a word that says so, or alone."""
    if _alone(around):
        return not _plausible(around)
    after = around.after()
    if after is not None and after.word == "-" and after.start == around.items[around.past - 1].stop:
        return True  # 2024-W10
    if around.word_before() not in beside.YEAR_BEFORE or not _plausible(around):
        return True
    return after is not None and (after.word in beside.COUNTED and after.word not in {"and", "or", "y"})


def quarter(around: Around) -> bool:
    """Q3 may stand alone; T3, the Spanish one, needs its year."""
    return "q" not in around.items[around.first].word


def years(around: Around) -> bool:
    """A pair of years, such as 2020-2022, next to other digits is a number of some other kind."""
    first, last = around.items[around.first], around.items[around.past - 1]
    return (
        not (1500 <= first.value < last.value <= 2199)
        or around.word_before() in {"-", "+"}
        or (around.word_after() == "-")
    )


def morning(around: Around) -> bool:
    """`mañana` after an article is the morning."""
    return around.word_before() in beside.MORNING_BEFORE and around.word_before(2) != "hasta"


def of_something(around: Around) -> bool:
    """`last week of June` is not last week."""
    return around.word_after() == "of" and around.word_after(2) not in {"work", "school", "classes"}


def minute(around: Around) -> bool:
    """`last minute`, `in a minute` and `five times in a week` tell no time."""
    words = [item.word for item in around.items[around.first : around.past]]
    return around.word_before() in beside.TIMES_BEFORE or (
        words[1] in {"a", "un", "one"}
        and words[-1] in {"minute", "minuto", "second", "hour", "hora", "day", "dia"}
    )


def nth(around: Around) -> bool:
    """`on the 5th` is a day, `on the 5th floor` is not."""
    after = around.after()
    return after is not None and after.word not in beside.PLAIN_AFTER


def _year_next(around: Around) -> bool:
    after = around.after(2)
    return after is not None and (
        after.kind in {"YEAR", "YEAR_SPAN"} or after.word in {"last", "this", "next", "ano"}
    )


def _food(around: Around) -> bool:
    before = around.word_before()
    return before in beside.FOOD_BEFORE - {"and", "y", "of"} or around.word_after() in {
        "ketchup",
        "mostaza",
        "mustard",
    }


def _alone(around: Around) -> bool:
    """The whole text, but for its marks."""
    if len(around.items) > 4:
        return False
    others = (*around.items[: around.first], *around.items[around.past :])
    return all(item.word in {"?", "!", ".", "", "¿", "¡"} for item in others)


def _plausible(around: Around) -> bool:
    return 1500 <= int(around.items[around.past - 1].value) <= 2199


def _beside_month(around: Around) -> bool:
    return (around.word_before() in {"and", "to", "-", "or", "y", "a"} and _is_month(around.before(2))) or (
        around.word_after() in {"and", "to", "-", "or", "y", "a"} and _is_month(around.after(2))
    )


def _is_month(item: Item | None) -> bool:
    return item is not None and (item.kind == "YEAR" or item.word in beside.MONTH_NAMES)


def _verb(around: Around, item: Item) -> bool:
    """May I, it may rain, march on, the march."""
    after = around.word_after()
    if after in beside.VERB_AFTER and around.word_before() not in beside.CLOSED_TIME:
        return True
    if around.cased and item.capital and around.first > 0 and around.word_before() not in {".", "?", "!"}:
        return False
    return around.word_before() not in beside.CLOSED_TIME | beside.SURELY_TIME and not _alone(around)


def _person(around: Around, item: Item) -> bool:
    before, following = around.word_before(), around.after()
    if _beside_month(around):
        return False
    if before in beside.PERSON_BEFORE or around.word_after() in beside.PERSON_AFTER:
        return True
    if item.word in beside.SPANISH_NAMES and around.cased and item.capital:
        return before not in {"desde", "hasta", "entre"}  # Spanish writes its months small.
    if before in beside.CLOSED_TIME:
        return False
    surname = following is not None and following.capital and following.kind == "word"
    return around.cased and item.capital and surname


def bound(around: Around) -> bool:
    """After 2019, but not after 2000 steps."""
    years_there = [item.value for item in around.items[around.first : around.past] if item.kind == "YEAR"]
    if not all(1500 <= year <= 2199 for year in years_there):
        return True
    return bool(years_there) and around.word_after() in beside.COUNTED - {"and", "or", "y"}
