"""Words of sentences, and the figures among them: amounts, times, dates, codes.

A missing word in a list misses a claim; a wrong word creates a false one, which is worse.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import takewhile

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.words import (
    ARTICLES,
    FILLERS,
    STOPWORDS,
    LazyTable,
    languages,
    month_names,
    names_by_word,
    number_words,
    sections,
    word_set,
    words_by_name,
)
from recollect.text.tokens import compile_later, fold, light_stem

WORDS = LazyTable(partial(word_set, "claims"))
"""The words of each section of `claims.txt`."""
COPULAS = WORDS["is_now"] | WORDS["was"]
RELATION_OF = names_by_word("claims", "relations")
PLACE_PREPOSITIONS = {
    verb: frozenset("" if word == "-" else word for word in found.split())
    for verb, found in words_by_name("claims", "place_prepositions").items()
}
AUXILIARIES = WORDS["is_now"] | WORDS["auxiliaries"]
DETERMINERS = WORDS["definite"] | WORDS["indefinite"] | WORDS["others_own"] | WORDS["demonstratives"]
BREAKS = WORDS["clause_words"] | WORDS["breaks"]
VALUE_ENDS = BREAKS | WORDS["value_ends"]
LIGHT_WORDS = ARTICLES | FILLERS | WORDS["light_words"]
LIGHT_VERBS = LIGHT_WORDS | WORDS["light_verbs"]
PERSONAL = WORDS["pronouns"] | WORDS["first_person"] | WORDS["others_own"]
_STATING_RELATIONS = frozenset({"meet", "start", "end", "open", "close"})
STATING = (
    WORDS["is_now"]
    | WORDS["habitual"]
    | {form for form, name in RELATION_OF.items() if name in _STATING_RELATIONS}
)
"""A clause with one of these words states a lasting or repeated fact."""
ADDITIVE = WORDS["several"] | WORDS["additive"]
STATUS_OF = names_by_word("claims", "statuses")
ADJECTIVE_ENDINGS = tuple(WORDS["adjective_endings"])
_PAST_ENDINGS = tuple(WORDS["past_endings"])
_WEEKDAY_OF = number_words("claims", "weekdays", first=0)
_MONTH_OF = {
    word: month
    for language in languages()
    if "months" in sections("words", language)
    for month, name in enumerate(month_names(language), start=1)
    for word in (name, name[:3])
    if word != "mar"  # Spanish for sea
} | {"sept": 9}
_HOURS = names_by_word("claims", "hours")

LONGEST = 600
"""Maximum number of characters of a text to read."""
_PIECE = compile_later(
    r"\d+(?:[-.,:]\d+)*(?!\w)|[^\W_]+(?:[-.@_/+:][^\W_]+)*|[.!?;:,\n\"“”„«»¿…]|[$€£¥%]|['’]s\b"
    r"|\([^()\n]{0,200}\)|```.*?(?:```|\Z)",  # an aside; code
    re.DOTALL,
)
_ENDS = frozenset(".!?;\n…")
_MARKS = _ENDS | frozenset(',:"“”„«»¿')
_POSSESSIVE = frozenset({"'s", "’s"})
_CURRENCY = frozenset("$€£¥")
_YEAR = compile_later(r"1[5-9]\d\d|20\d\d")
_CLOCK = compile_later(r"\d{1,2}:\d\d")
_AMOUNT = compile_later(r"(\d+(?:[.,]\d+)?)([a-zA-Zµ]{1,3})")
_LEAST_CODE = 5
_MOST_DAYS = 31
_SHORTEST_DEED = 4


@dataclass(frozen=True, slots=True)
class Word:
    """A word, number or mark of a sentence, with its properties."""

    text: str
    folded: str
    stem: str
    is_mark: bool
    is_number: bool
    is_capital: bool
    is_possessive: bool
    says_something: bool
    """Whether it is a content word, not a mark, stopword or emphasis."""
    is_verb: bool
    """Whether it may begin a claim."""
    begins_figure: bool
    is_unsure: bool
    """Whether it marks a wish, a plan, a condition or a guess."""
    is_unit: bool
    """Whether it may name the thing that a number counts."""
    is_past: bool
    """Whether it looks like a past-tense verb: `sold`, `compró`, but also `worried`."""


@lru_cache(maxsize=65_536)  # most words occur in many texts
def word_of(text: str) -> Word:
    folded, lower = fold(text), text.lower()
    is_mark, is_possessive = text in _MARKS, text in _POSSESSIVE
    says_something = not (is_mark or is_possessive or folded in STOPWORDS or folded in FILLERS)
    return Word(
        text,
        folded,
        light_stem(folded),
        is_mark=is_mark,
        is_number=text[0].isdecimal() and not any(map(str.isalpha, text)),
        is_capital=text[0].isupper(),
        is_possessive=is_possessive,
        says_something=says_something,
        is_verb=folded in COPULAS or folded in RELATION_OF,
        begins_figure=text in _CURRENCY
        or folded in _WEEKDAY_OF
        or folded in _MONTH_OF
        or any(map(str.isdecimal, text)),
        # `May` is the month, `may` the verb.
        is_unsure=folded in WORDS["unsure"] and text != "May",
        is_unit=says_something and text.islower(),
        is_past=folded in WORDS["was"]
        or folded in WORDS["past_deeds"]
        or (len(lower) > _SHORTEST_DEED and "-" not in lower and lower.endswith(_PAST_ENDINGS)),
    )


@dataclass(frozen=True, slots=True)
class Value:
    kind: str
    what: str
    length: int


@dataclass(frozen=True, slots=True)
class Sentence:
    words: tuple[Word, ...]
    asks: bool
    place: tuple[int, int]


def sentences_in(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, without code and parentheses."""
    words: list[Word] = []
    start = stop = 0
    for match in _PIECE.finditer(text, 0, LONGEST):
        piece = match[0]
        if piece in _ENDS:
            if piece == "." and words and not _is_full_stop(words[-1], text[match.end() : match.end() + 2]):
                continue
            if words:
                yield Sentence(tuple(words), piece == "?", (start, stop))
            words = []
        elif piece[0] not in "(`":
            start = start if words else match.start()
            stop = match.end()
            words.append(word_of(piece))
    if words:
        yield Sentence(tuple(words), asks=False, place=(start, stop))


def _is_full_stop(before: Word, after: str) -> bool:
    """Whether a full stop ends a sentence; not in `A. A. Milne` or `Acme Inc. is`."""
    if after.lstrip()[:1].islower() or (after[:1] and not after[0].isspace()):
        return False
    initial = len(before.text) == 1 and before.is_capital
    return not (initial or "." in before.text or before.folded in WORDS["abbreviations"])


def stems_in(text: str) -> frozenset[str]:
    """Return the stems of the words of a name."""
    return frozenset(light_stem(word) for word in re.findall(r"[^\W_]+", fold(text)) if word not in ARTICLES)


def names_in(sentence: Sequence[Word]) -> frozenset[str]:
    """Return the stems of the words that are written as names."""
    return frozenset(
        word.stem for word in sentence if word.is_capital and word.says_something and not word.begins_figure
    )


def value_at(words: Sequence[Word], place: int) -> Value | None:
    """Return the figure that begins at a place of a sentence, if any."""
    word = words[place]
    if not word.begins_figure:
        return None
    after = words[place + 1] if place + 1 < len(words) else None
    if word.folded in _WEEKDAY_OF:
        return _weekday_at(words, place)
    if word.is_number:
        return _number_at(words, place)
    if word.text in _CURRENCY:
        return _amount("money", after, words, place + 2) if after is not None and after.is_number else None
    if word.folded in _MONTH_OF:
        return _date(word, after, 2) if word.is_capital and after is not None else None
    return _joined_figure(word)


def _weekday_at(words: Sequence[Word], place: int) -> Value:
    """Return the weekday, or the date that follows it."""
    date_at = place + 1
    if date_at < len(words) and words[date_at].text == ",":
        date_at += 1
    date = value_at(words, date_at) if date_at < len(words) else None
    if date is not None and date.kind == "date":
        return Value("date", date.what, date_at - place + date.length)
    return Value("weekday", str(_WEEKDAY_OF[words[place].folded]), 1)


def _joined_figure(word: Word) -> Value | None:
    """Read a number with its unit, such as `30mg` and `7pm`, or a code such as `kite1921`."""
    match = _AMOUNT.fullmatch(word.text)
    if match is None:
        return Value("code", word.folded, 1) if len(word.text) >= _LEAST_CODE else None
    unit = match[2].lower()
    if unit in _HOURS:
        return Value("time", f"{match[1]} {_HOURS[unit]}", 1)
    return None if unit in WORDS["ordinal_endings"] else Value(f"amount {unit}", plain_number(match[1]), 1)


def _number_at(words: Sequence[Word], place: int) -> Value:
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else None
    if _CLOCK.fullmatch(word.text):
        return Value("time", word.text.lstrip("0"), 1)
    # `type 2 diabetes`, `the 2014 fair`
    is_label = (place > 0 and words[place - 1].folded in WORDS["labelled"]) or _YEAR.fullmatch(word.text)
    if not is_label and after is not None and not after.is_mark and (value := _quantity(words, place)):
        return value
    # A bare number may have several groups, like a telephone number.
    groups = [each.text for each in takewhile(lambda each: each.is_number, words[place:])]
    return Value("number", " ".join(map(plain_number, groups)), len(groups))


def _quantity(words: Sequence[Word], place: int) -> Value | None:
    """Read a number with the word after it."""
    word, after = words[place : place + 2]
    if after.folded in _HOURS:
        return Value("time", f"{word.text} {_HOURS[after.folded]}", 2)
    if after.folded in WORDS["per_cent"]:
        return Value("percent", plain_number(word.text), 2)
    if after.folded in WORDS["money"]:
        return _amount("money", word, words, place + 2)
    linked = after.folded in WORDS["described_by"] and place + 2 < len(words)
    if date := _date(words[place + 2] if linked else after, word, 3 if linked else 2):
        return date
    return _amount(f"amount {after.stem}", word, words, place + 2) if after.is_unit else None


def _date(month: Word, day: Word, length: int) -> Value | None:
    if month.folded not in _MONTH_OF or not day.text.isdecimal() or int(day.text) > _MOST_DAYS:
        return None
    return Value("date", f"{_MONTH_OF[month.folded]}-{int(day.text)}", length)


def _amount(kind: str, number: Word, words: Sequence[Word], place: int) -> Value:
    """Return an amount or a rate: the kind of `1.79 € a litre` is not the kind of `1.79 €`."""
    is_rate = place + 1 < len(words) and words[place].folded in WORDS["per"] and words[place + 1].is_unit
    kind = f"{kind} per {words[place + 1].stem}" if is_rate else kind
    return Value(kind, plain_number(number.text), 4 if is_rate else 2)


def plain_number(text: str) -> str:
    """Normalise a number: 1,200 and 1.200 become 1200, and 2,5 equals 2.50."""
    plain = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
