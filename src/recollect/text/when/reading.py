"""Reading a text: folded letter by letter, cut into words, numbers, dates and marks with their places."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from recollect.text.tokens import fold

# What each stretch of a folded text is. The first that fits wins; each reads a bounded stretch, or one
# that it keeps, so that reading is linear. `price` and `odd` are numbers that are never dates.
_PIECES = re.compile(
    r"""
      (?P<word>[^\W\d_]++(?!\w))
    | (?P<gap>\n[^\S\n]*\n)
    | (?P<price>[$€£¥\#][ ]?[0-9][0-9.,]*+\w*+)
    | (?P<iso>[0-9]{4}-[0-9]{2}-[0-9]{2}
        (?:[t ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:z|[ ]?[+-][0-9]{2}:?[0-9]{2})?)?)(?![\w/:])
    | (?P<date>[0-9]{4}(?:/[0-9]{1,2}/|-[0-9]{1,2}-)[0-9]{1,2}
        |[0-9]{1,2}(?P<bar>[/.-])[0-9]{1,2}(?P=bar)[0-9]{4}
        |[0-9]{1,2}/[0-9]{1,2}/[0-9]{2})(?![\w/-]|[.,:][0-9])
    | (?P<yearmonth>[0-9]{4}-[0-9]{2})(?![\w/:]|-[0-9])
    | (?P<clock>[0-9]{1,2}(?::[0-9]{2})?[ ]?[ap](?:m\b|\.m\.)|[0-9]{1,2}:[0-9]{2}(?:h\b|(?![\w:]))
        |[0-9]{1,2}[ ]?h\b)
    | (?P<decade>['’]?(?:[12][0-9])?[0-9]0['’]?s\b)
    | (?P<ordinal>[0-9]{1,2}(?:st|nd|rd|th|o|ro|er)\b)
    | (?P<odd>[0-9]++(?:[.,:/][0-9]++)++\w*+%?|[0-9]++(?:\w++|%))
    | (?P<quarter>[qt][1-4]\b|[1-4][qt]\b)
    | (?P<number>[0-9]++)
    | (?P<other>\w++)
    | (?P<mark>['’]s\b|\.{2,3}|[^\w\s])
    """,
    re.VERBOSE,
)
_LIKE = {"–": "-", "—": "-", "−": "-", "’": "'", "’s": "'s", "...": "..", "‐": "-", "‑": "-"}


class Item(NamedTuple):
    """A piece of text, or what the grammar has made of several."""

    kind: str
    word: str
    value: Any
    start: int
    stop: int
    capital: bool = False


@dataclass(frozen=True, slots=True)
class Reading:
    items: tuple[Item, ...]
    places: tuple[int, ...] | None
    cased: bool
    """Whether capital letters tell names from other words in this text."""

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """Where a stretch of the folded text stands in the original."""
        if self.places is None:
            return start, stop
        return self.places[start], max(self.places[stop], self.places[stop - 1] + 1)


def read(text: str) -> Reading:
    folded, places = _folded(text)
    items = []
    for match in _PIECES.finditer(folded):
        kind, word = match.lastgroup or "", match.group()
        start, stop = match.span()
        capital = text[start if places is None else places[start]].isupper()
        if kind == "word":
            items.append(Item(kind, word, None, start, stop, capital))
        elif kind == "mark":
            items.append(Item("word", _LIKE.get(word, word), None, start, stop))
        else:
            # A date's bar is a group of its own, and the last to close inside it.
            items.append(_item("date" if kind == "bar" else kind, word, start, stop, capital=capital))
    return Reading(tuple(items), places, text != text.lower() and text != text.upper())


def _item(kind: str, word: str, start: int, stop: int, *, capital: bool) -> Item:
    value: Any = word
    if kind == "number":
        value = int(word) if len(word) <= 6 else 0
        kind = "YEAR" if len(word) == 4 else "DAYNUM" if len(word) <= 2 and 1 <= value <= 31 else "INT"
    elif kind in {"ordinal", "quarter"}:
        value = int(re.sub(r"\D", "", word))
    elif kind == "clock":
        value = _clock(word)
    elif kind == "decade":
        value = _decade(word)
    return Item(kind.upper(), word, value, start, stop, capital)


def _clock(word: str) -> tuple[int, int | None]:
    """Hour and, where it is written, minute; an hour that no clock shows is dropped with its day."""
    numbers = [int(number) for number in re.findall("[0-9]+", word)]
    hour = numbers[0]
    if "p" in word and hour < 12:
        hour += 12
    elif "a" in word and hour == 12:
        hour = 0
    return hour, numbers[1] if len(numbers) > 1 else None


def _decade(word: str) -> int:
    year = int(re.sub(r"\D", "", word))
    if year >= 100:
        return year
    return year + (1900 if year >= 30 else 2000)


def _folded(text: str) -> tuple[str, tuple[int, ...] | None]:
    """The text without case and accents and, where letters were dropped or grew, where each one stood."""
    if text.isascii():
        return text.lower(), None
    plain = {ord(letter): fold(letter) for letter in set(text)}
    if all(len(letter) == 1 for letter in plain.values()):
        return text.translate(plain), None
    places: list[int] = []
    for index, letter in enumerate(text):
        places += [index] * len(plain[ord(letter)])
    return text.translate(plain), (*places, len(text))
