"""The lexer: folds a text and cuts it into words, numbers, dates and marks, with their places."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from recollect.lazy_dataclass import dataclass
from recollect.text.tokens import fold

# What each piece of a folded text is. The first alternative that fits wins; each reads a bounded part, or
# one that it keeps, so that reading is linear. `price` and `odd` are numbers that are never dates.
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
_SAME_MARKS = {"–": "-", "—": "-", "−": "-", "’": "'", "’s": "'s", "...": "..", "‐": "-", "‑": "-"}


class Token(NamedTuple):
    """A piece of text, or what the grammar has made of several."""

    kind: str
    word: str
    value: Any
    start: int
    stop: int
    capital: bool = False


@dataclass(frozen=True, slots=True)
class TokenizedText:
    tokens: tuple[Token, ...]
    places: tuple[int, ...] | None
    """Where each letter of the folded text stood; None where folding moved none."""
    cased: bool
    """Whether capital letters tell names from other words in this text."""

    def place(self, start: int, stop: int) -> tuple[int, int]:
        """Where a part of the folded text is in the original."""
        if self.places is None:
            return start, stop
        return self.places[start], max(self.places[stop], self.places[stop - 1] + 1)


def tokenize(text: str) -> TokenizedText:
    folded, places = _folded(text)
    tokens = []
    for match in _PIECES.finditer(folded):
        kind, word = match.lastgroup or "", match.group()
        start, stop = match.span()
        if kind == "mark":
            tokens.append(Token("word", _SAME_MARKS.get(word, word), None, start, stop))
            continue
        value = None
        if kind != "word":
            # A date's bar is a group of its own, and the last to close inside it.
            kind, value = _read("date" if kind == "bar" else kind, word)
        capital = text[start if places is None else places[start]].isupper()
        tokens.append(Token(kind, word, value, start, stop, capital))
    return TokenizedText(tuple(tokens), places, text != text.lower() and text != text.upper())


def _read(kind: str, word: str) -> tuple[str, Any]:
    match kind:
        case "number":
            value = int(word) if len(word) <= 6 else 0
            is_day = len(word) <= 2 and 1 <= value <= 31
            return ("YEAR" if len(word) == 4 else "DAYNUM" if is_day else "INT"), value
        case "ordinal" | "quarter":
            return kind.upper(), _digits(word)
        case "clock":
            return kind.upper(), _clock(word)
        case "decade":
            year = _digits(word)
            return kind.upper(), year if year >= 100 else full_year(year)
        case _:
            return kind.upper(), word


def full_year(decade: int) -> int:
    """1990 for 90, and 2020 for 20."""
    return decade + (1900 if decade >= 30 else 2000)


def _digits(word: str) -> int:
    return int(re.sub(r"\D", "", word))


def _clock(word: str) -> tuple[int, int | None]:
    """Hour and, where it is written, minute; an hour that no clock shows is dropped with its day."""
    numbers = [int(number) for number in re.findall("[0-9]+", word)]
    hour = numbers[0]
    if "p" in word and hour < 12:
        hour += 12
    elif "a" in word and hour == 12:
        hour = 0
    return hour, numbers[1] if len(numbers) > 1 else None


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
