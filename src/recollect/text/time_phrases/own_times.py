"""A text's own times: every time that a text of any length names, found at a small cost.

A question is read whole (`time_of`). Of hundreds of candidates, each perhaps pages long, only the windows
around words that may name a time are read, and only the first few of those.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from recollect.text.lazy_pattern import compile_later
from recollect.text.time_phrases import TimePhrase, time_phrases
from recollect.text.time_phrases.doubts import COUNTED, is_plausible
from recollect.text.time_phrases.moments import AMBIGUOUS, SURE, year
from recollect.text.time_phrases.vocabulary import CLASSES
from recollect.text.tokens import fold

MOST_LETTERS = 4_000
MOST_WINDOWS = 6
# In letters, on each side of a cue: what may stand between two cues of a phrase, and what casts doubt on it.
_REACH = 28
_PIECES = compile_later(r"[^\W_]+")
# Every phrase that is sure enough contains one of these, a year or an ordinal.
_OTHER_CUES = """
ago hace atras dentro weekend finde manana morning afternoon evening night tarde noche mediodia madrugada days
weeks months years hours minutes decades hour dias semanas meses anos horas minutos decadas hora dia christmas
xmas boxing valentine valentines halloween thanksgiving easter navidad navidades nochebuena nochevieja reyes
valentin pascua santa santo ramos resurreccion
"""
_CUES = frozenset(_OTHER_CUES.split()).union(
    *(CLASSES[name] for name in ("ANYMONTH", "WEEKDAY", "SHORTDAY", "SEASON", "CALENDAR")),
    *(CLASSES[name] for name in ("DAYWORD", "NIGHTWORD")),
)
_DIGITS = compile_later(r"[12][0-9]{3}|[0-9]{1,2}(?:st|nd|rd|th)|(?:[12][0-9])?[0-9]0s|q[1-4]|[1-4]q")
_YEAR = compile_later(r"(?<![\w$€£¥#/:.,-])[12][0-9]{3}(?![\w/:%]|[.,-][0-9])")
_WORD_AFTER = compile_later(r" ?([^\W\d_]+|%)")
# Told from no moment, a year may lie as far ahead as people plan.
_NO_MOMENT = datetime(2100, 1, 1, tzinfo=UTC)
_YEARS_AHEAD = 5
_SURE_ENOUGH = AMBIGUOUS


def own_times(text: str, reference: datetime | None) -> tuple[TimePhrase, ...]:
    """The times that a text names, in its order, told from the reference, which is when it was said.

    Without a reference, only those that stand by themselves: `in 2016`, not `yesterday`. A year counts
    wherever it stands (`the 2006 season`), unless it counts things.
    """
    text = text[:MOST_LETTERS]
    found: list[TimePhrase] = []
    for start, stop in _windows(text):
        window = text[start:stop]
        sure = SURE if reference is None else _SURE_ENOUGH
        phrases = [
            phrase for phrase in time_phrases(window, reference or _NO_MOMENT) if phrase.confidence >= sure
        ]
        phrases += _bare_years(window, phrases, reference or _NO_MOMENT)
        found += (_moved(phrase, start) for phrase in phrases)
    return tuple(sorted(found, key=lambda phrase: phrase.place))


def _cues(text: str) -> set[str]:
    """The words of a text in small letters that may name a time. Most texts have none, which is told fast."""
    pieces = set(_PIECES.findall(text))
    found = pieces & _CUES
    found.update(word for word in pieces if not word.isalpha() and _DIGITS.fullmatch(word))
    if not text.isascii():
        found.update(word for word in pieces if not word.isascii() and fold(word) in _CUES)
    return found


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches around the first cues, at whole words; those that touch are one."""
    lowered = text.lower()
    cues = _cues(lowered)
    if not cues or len(lowered) != len(text):  # There is a letter whose small form is two: rare, and unread.
        return
    start = stop = -1
    count = 0
    for piece in _PIECES.finditer(lowered):
        if piece.group() not in cues:
            continue
        if start >= 0 and piece.start() - _REACH > stop:
            yield start, stop
            count += 1
            if count == MOST_WINDOWS:
                return
            start = -1
        if start < 0:
            start = _word_start(text, piece.start() - _REACH)
        stop = _word_stop(text, piece.end() + _REACH)
    if start >= 0:
        yield start, stop


def _word_start(text: str, place: int) -> int:
    return 0 if place <= 0 else 1 + text.rfind(" ", 0, place)


def _word_stop(text: str, place: int) -> int:
    found = text.find(" ", place)
    return len(text) if found < 0 else found


def _bare_years(text: str, phrases: Sequence[TimePhrase], reference: datetime) -> list[TimePhrase]:
    """Years that no word introduces: in brackets, before a noun."""
    found = []
    for match in _YEAR.finditer(text):
        number = int(match.group())
        place = match.span()
        after = _WORD_AFTER.match(text, place[1])
        if (
            is_plausible(number)
            and number <= reference.year + _YEARS_AHEAD
            and (after is None or fold(after.group(1)) not in COUNTED)
            and all(place[1] <= each.place[0] or each.place[1] <= place[0] for each in phrases)
        ):
            start, stop = year(number).at(reference)
            found.append(TimePhrase(start, stop, _SURE_ENOUGH, match.group(), place))
    return found


def _moved(phrase: TimePhrase, by: int) -> TimePhrase:
    return replace(phrase, place=(phrase.place[0] + by, phrase.place[1] + by))
