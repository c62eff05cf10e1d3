"""The words of sentences that state something, and the figures among them: amounts, times, dates, codes.

The word lists are English and Spanish, and the plainest of other languages. What a list lacks is no
contradiction: a missing word costs a find, a wrong one an error.
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
    by_word,
    languages,
    month_names,
    numbered,
    sections,
    word_set,
    words_by_name,
)
from recollect.text.tokens import compile_later, fold, light_stem

_words = partial(word_set, "claims")

# Verbs

IS_NOW = _words("is_now")
WAS = _words("was")
COPULAS = IS_NOW | WAS
RELATION_OF = by_word("claims", "relations")
PLACE_PREPOSITIONS = {
    verb: frozenset("" if word == "-" else word for word in found.split())
    for verb, found in words_by_name("claims", "place_prepositions").items()
}
FIRST_PERSON_VERBS = _words("first_person_verbs")
AUXILIARIES = IS_NOW | _words("auxiliaries")
PAST_DEEDS = _words("past_deeds")
PAST_ENDINGS = tuple(_words("past_endings"))
LASTING_DEEDS = _words("lasting_deeds")

# Small words

PREPOSITIONS = _words("prepositions")
DESCRIBED_BY = _words("described_by")
PLACING = _words("placing")
PER = _words("per")
INDEFINITE = _words("indefinite")
DEFINITE = _words("definite")
OTHERS_OWN = _words("others_own")
DETERMINERS = DEFINITE | INDEFINITE | OTHERS_OWN | _words("demonstratives")
CLAUSE_WORDS = _words("clause_words")
BREAKS = CLAUSE_WORDS | _words("breaks")
RELATIVE_WORDS = _words("relative_words")
VALUE_ENDS = BREAKS | _words("value_ends")
LIGHT_WORDS = ARTICLES | FILLERS | _words("light_words")
LIGHT_VERBS = LIGHT_WORDS | _words("light_verbs")

# Subjects

FIRST_PERSON = _words("first_person")
USER = _words("user")
PRONOUNS = _words("pronouns")
PERSONAL = PRONOUNS | FIRST_PERSON | OTHERS_OWN

# Words that keep a clause from stating a fact

UNSURE = _words("unsure")
ONCE = _words("once")
LAST = _words("last")
SPANS = _words("spans")
DENIED = _words("denied")
CHANGES = _words("changes")
HABITUAL = _words("habitual")
_STATING_RELATIONS = frozenset({"meet", "start", "end", "open", "close"})
STATING = IS_NOW | HABITUAL | {form for form, name in RELATION_OF.items() if name in _STATING_RELATIONS}
"""A clause with one of these says what is, or is again and again."""

# Attributes and values

SEVERAL = _words("several")
ADDITIVE = SEVERAL | _words("additive")
ATTRIBUTES = _words("attributes")
CODE_NOUNS = _words("code_nouns")
STATUS_OF = by_word("claims", "statuses")
ADJECTIVE_ENDINGS = tuple(_words("adjective_endings"))

# Figures

WEEKDAY_OF = numbered("claims", "weekdays", first=0)
MONTH_OF = {
    word: month
    for language in languages()
    if "months" in sections("words", language)
    for month, name in enumerate(month_names(language), start=1)
    for word in (name, name[:3])
    if word != "mar"  # the sea
} | {"sept": 9}
MONEY = _words("money")
PER_CENT = _words("per_cent")
LABELLED = _words("labelled")
ORDINALS = _words("ordinals")
HOURS = by_word("claims", "hours")
ORDINAL_ENDINGS = _words("ordinal_endings")
ABBREVIATIONS = _words("abbreviations")

# Words, sentences and figures

LONGEST = 600
"""In letters: what comes later in a text is not read."""
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
    """A word, number or mark of a sentence, and what can be said of it alone."""

    text: str
    folded: str
    stem: str
    is_mark: bool
    is_number: bool
    is_capital: bool
    is_possessive: bool
    says_something: bool
    """It is neither a mark nor a small word, nor one that only stresses what is said."""
    is_verb: bool
    """It may begin a claim."""
    begins_figure: bool
    is_unsure: bool
    """It marks a wish, a plan, a condition or a guess."""
    is_unit: bool
    """It may say what a number counts."""
    is_past: bool
    """It is a verb in the past: `sold`, `compró`. It may be an adjective after all: `worried`."""


@lru_cache(maxsize=65_536)  # most words of a text are words of many texts
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
        or folded in WEEKDAY_OF
        or folded in MONTH_OF
        or any(map(str.isdecimal, text)),
        # May is a month.
        is_unsure=folded in UNSURE and text != "May",
        is_unit=says_something and text.islower(),
        is_past=folded in WAS
        or folded in PAST_DEEDS
        or (len(lower) > _SHORTEST_DEED and "-" not in lower and lower.endswith(PAST_ENDINGS)),
    )


@dataclass(frozen=True, slots=True)
class Value:
    """One figure: its kind, such as `weekday` or `amount mg`, and what it is, the same however written."""

    kind: str
    what: str
    length: int
    """In words."""


@dataclass(frozen=True, slots=True)
class Sentence:
    words: tuple[Word, ...]
    asks: bool
    place: tuple[int, int]
    """In the text."""


def sentences_in(text: str) -> Iterator[Sentence]:
    """The sentences of a text, without code and text in brackets."""
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
    """Not after an initial or an abbreviation: `A. A. Milne`, `Acme Inc. is`."""
    if after.lstrip()[:1].islower() or (after[:1] and not after[0].isspace()):
        return False
    initial = len(before.text) == 1 and before.is_capital
    return not (initial or "." in before.text or before.folded in ABBREVIATIONS)


def stems_in(text: str) -> frozenset[str]:
    """The stems of the words of a name."""
    return frozenset(light_stem(word) for word in re.findall(r"[^\W_]+", fold(text)) if word not in ARTICLES)


def names_in(sentence: Sequence[Word]) -> frozenset[str]:
    """The stems of the words that are written as names."""
    return frozenset(
        word.stem for word in sentence if word.is_capital and word.says_something and not word.begins_figure
    )


def value_at(words: Sequence[Word], place: int) -> Value | None:
    """The figure that begins at a place of a sentence, if one does."""
    word = words[place]
    if not word.begins_figure:
        return None
    after = words[place + 1] if place + 1 < len(words) else None
    if word.folded in WEEKDAY_OF:
        return _weekday_at(words, place)
    if word.is_number:
        return _number_at(words, place)
    if word.text in _CURRENCY:
        return _rated("money", after, words, place + 2) if after is not None and after.is_number else None
    if word.folded in MONTH_OF:
        return _date(word, after, 2) if word.is_capital and after is not None else None
    return _joined_figure(word)


def _weekday_at(words: Sequence[Word], place: int) -> Value:
    """A weekday; with a date behind it, the date."""
    date_at = place + 1
    if date_at < len(words) and words[date_at].text == ",":
        date_at += 1
    date = value_at(words, date_at) if date_at < len(words) else None
    if date is not None and date.kind == "date":
        return Value("date", date.what, date_at - place + date.length)
    return Value("weekday", str(WEEKDAY_OF[words[place].folded]), 1)


def _joined_figure(word: Word) -> Value | None:
    """A number with its unit, such as `30mg` and `7pm`, or a code such as `kite1921`."""
    match = _AMOUNT.fullmatch(word.text)
    unit = "" if match is None else match[2].lower()
    if match is None:
        return Value("code", word.folded, 1) if len(word.text) >= _LEAST_CODE else None
    if unit in HOURS:
        return Value("time", f"{match[1]} {HOURS[unit]}", 1)
    return None if unit in ORDINAL_ENDINGS else Value(f"amount {unit}", plain_number(match[1]), 1)


def _number_at(words: Sequence[Word], place: int) -> Value:
    word = words[place]
    after = words[place + 1] if place + 1 < len(words) else None
    if _CLOCK.fullmatch(word.text):
        return Value("time", word.text.lstrip("0"), 1)
    # `type 2 diabetes`, `the 2014 fair`
    is_label = (place > 0 and words[place - 1].folded in LABELLED) or _YEAR.fullmatch(word.text)
    value = None if is_label or after is None or after.is_mark else _measured(word, after, words, place)
    return value or _digits_at(words, place)


def _digits_at(words: Sequence[Word], place: int) -> Value:
    """A bare number, also one in several groups, such as that of a telephone."""
    groups = [each.text for each in takewhile(lambda each: each.is_number, words[place:])]
    return Value("number", " ".join(map(plain_number, groups)), len(groups))


def _measured(word: Word, after: Word, words: Sequence[Word], place: int) -> Value | None:
    """Read a number with the word behind it."""
    if after.folded in HOURS:
        return Value("time", f"{word.text} {HOURS[after.folded]}", 2)
    if after.folded in PER_CENT:
        return Value("percent", plain_number(word.text), 2)
    if after.folded in MONEY:
        return _rated("money", word, words, place + 2)
    linked = after.folded in DESCRIBED_BY and place + 2 < len(words)
    if date := _date(words[place + 2] if linked else after, word, 3 if linked else 2):
        return date
    return _rated(f"amount {after.stem}", word, words, place + 2) if after.is_unit else None


def _date(month: Word, day: Word, length: int) -> Value | None:
    if month.folded not in MONTH_OF or not day.text.isdecimal() or int(day.text) > _MOST_DAYS:
        return None
    return Value("date", f"{MONTH_OF[month.folded]}-{int(day.text)}", length)


def _rated(kind: str, number: Word, words: Sequence[Word], place: int) -> Value:
    """`1.79 € a litre` is of another kind than `1.79 €`; its unit would begin at the place."""
    is_rate = place + 1 < len(words) and words[place].folded in PER and words[place + 1].is_unit
    kind = f"{kind} per {words[place + 1].stem}" if is_rate else kind
    return Value(kind, plain_number(number.text), 4 if is_rate else 2)


def plain_number(text: str) -> str:
    """1,200, 1.200 and 1200 are one number; so are 2,5 and 2.50."""
    plain = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain
