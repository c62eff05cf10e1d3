"""Time phrases of English and Spanish, and the spans of time that they mean.

How sure a phrase is: 1.0 a date with its year; 0.9 a date that the reference settles (yesterday, two months
ago); 0.7 one that comes round again, read as the last that began (March, Tuesday); 0.6 a date whose day and
month may be the other way round; 0.5 a vague one (recently, a few months ago).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.text.languages import is_spanish
from recollect.text.time_phrases.grammar import reduce_tokens
from recollect.text.time_phrases.lexer import Token, TokenizedText, tokenize
from recollect.text.time_phrases.moments import Moment, slashed_date


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A span of time that a text speaks of, in the time zone of the reference."""

    start: datetime | None
    """Included; None is open: before June."""
    stop: datetime | None
    """Not included; None is open: after tomorrow."""
    confidence: float
    words: str
    """As they stand in the text."""
    place: tuple[int, int]
    next: tuple[datetime | None, datetime | None] | None = None
    """Of one that comes round again and was read as the last that began: the one after, which plans mean."""


def time_phrases(text: str, reference: datetime) -> tuple[TimePhrase, ...]:
    """In the order of the text, without overlap; days begin and end in the reference's time zone."""
    if reference.utcoffset() is None:
        raise InvalidInput("A time phrase needs a reference with a time zone; pass an aware datetime.")
    read = tokenize(text)
    found = reduce_tokens(_with_dates(read.tokens), cased=read.cased)
    phrases = (
        _phrase(text, read, token, token.value, reference)
        for token in found
        if isinstance(token.value, Moment)
    )
    return tuple(phrase for phrase in phrases if phrase is not None)


def time_of(text: str, reference: datetime) -> TimePhrase | None:
    """The one span that a question asks about: the surest, and of equals the first."""
    return max(time_phrases(text, reference), key=lambda phrase: phrase.confidence, default=None)


def _phrase(
    text: str, read: TokenizedText, token: Token, moment: Moment, reference: datetime
) -> TimePhrase | None:
    try:
        start, stop = moment.at(reference)
        ordered = start is None or stop is None or start.astimezone(UTC) < stop.astimezone(UTC)
    except (ValueError, OverflowError):  # no calendar has it: 30 February, the year 12000
        return None
    if not ordered or (start is None and stop is None):
        return None
    first, past = read.place(token.start, token.stop)
    again = _next(moment, start, stop)
    return TimePhrase(start, stop, moment.confidence, text[first:past], (first, past), again)


def _next(
    moment: Moment, start: datetime | None, stop: datetime | None
) -> tuple[datetime | None, datetime | None] | None:
    last = start or stop
    if moment.period is None or last is None:
        return None
    try:
        span = moment.at(last + moment.period + timedelta(days=1))
    except (ValueError, OverflowError):  # the calendar ends before
        return None
    following = span[0] or span[1]
    return span if following is not None and following > last else None


def _with_dates(tokens: Sequence[Token]) -> Sequence[Token]:
    """5/3/2024 is a day of March or of May, by the language around it."""
    if all(token.kind != "DATE" for token in tokens):
        return tokens
    day_first = is_spanish(token.word for token in tokens)
    made = (
        (token, slashed_date(token.word, day_first=day_first) if token.kind == "DATE" else None)
        for token in tokens
    )
    return [token if day is None else token._replace(kind="DAY", value=day) for token, day in made]
