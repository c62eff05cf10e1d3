"""Time phrases: which stretches of time a text speaks of, seen from a reference time.

How sure a phrase is: 1.0 a date with its year; 0.9 a date that the reference settles (yesterday, two
months ago); 0.7 one that comes round again, read as the last that began (March, Tuesday); 0.6 a date
whose day and month may be the other way round; 0.5 a vague one (recently, a few months ago).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from recollect.errors import InvalidInput
from recollect.text.when import dates, english, feasts, joined, spanish
from recollect.text.when.grammar import Grammar
from recollect.text.when.moments import Moment
from recollect.text.when.reading import Item, Reading, read
from recollect.text.when.tongue import is_spanish
from recollect.text.when.vocabulary import CLASSES, KINDS

_GRAMMAR = Grammar(
    (
        dates.NUMBERS,
        (
            *english.NOT_TIMES,
            *spanish.NOT_TIMES,
            *dates.WRITTEN,
            *english.ENGLISH,
            *spanish.SPANISH,
            *feasts.RULES,
        ),
        (*joined.OF_A_WHOLE, *dates.QUARTERS),
        joined.PARTS_OF_MONTHS,
        joined.PARTS_OF_DAYS,
        joined.RANGES,
    ),
    CLASSES,
    KINDS,
)


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A stretch of time that a text speaks of, in the time zone of the reference."""

    start: datetime | None
    """Included; None is open: before June."""
    stop: datetime | None
    """Not included; None is open: after tomorrow."""
    confidence: float
    words: str
    """As they stand in the text."""
    place: tuple[int, int]


def time_phrases(text: str, reference: datetime) -> tuple[TimePhrase, ...]:
    """In the order of the text, without overlap; days begin and end in the reference's time zone."""
    if reference.utcoffset() is None:
        raise InvalidInput("A time phrase needs a reference with a time zone; pass an aware datetime.")
    reading = read(text)
    found = _GRAMMAR.apply(_with_dates(reading.items), cased=reading.cased)
    phrases = (
        _phrase(text, reading, item, item.value, reference)
        for item in found
        if isinstance(item.value, Moment)
    )
    return tuple(phrase for phrase in phrases if phrase is not None)


def time_of(text: str, reference: datetime) -> TimePhrase | None:
    """The one stretch that a question asks about: the surest, and of equals the first."""
    return max(time_phrases(text, reference), key=lambda phrase: phrase.confidence, default=None)


def _phrase(
    text: str, reading: Reading, item: Item, moment: Moment, reference: datetime
) -> TimePhrase | None:
    try:
        start, stop = moment.at(reference)
        ordered = start is None or stop is None or start.astimezone(UTC) < stop.astimezone(UTC)
    except (ValueError, OverflowError):  # No calendar has it: 30 February, the year 12000.
        return None
    if not ordered or (start is None and stop is None):
        return None
    first, past = reading.place(item.start, item.stop)
    return TimePhrase(start, stop, moment.confidence, text[first:past], (first, past))


def _with_dates(items: Sequence[Item]) -> Sequence[Item]:
    """5/3/2024 is a day of March or of May, by the language around it."""
    if all(item.kind != "DATE" for item in items):
        return items
    day_first = is_spanish(items)
    made = (
        (item, dates.slashed(item.word, day_first=day_first) if item.kind == "DATE" else None)
        for item in items
    )
    return [item if day is None else item._replace(kind="DAY", value=day) for item, day in made]
