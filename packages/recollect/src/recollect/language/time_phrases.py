"""Find time phrases in English and Spanish, and the spans of time that they mean.

Confidence: 1.0 for a date with its year; 0.9 for a date relative to the reference (yesterday, two months
ago); 0.7 for a recurring date, read as the last that began (March, Tuesday); 0.6 for a date whose day and
month may be swapped; 0.5 for a vague phrase (recently, a few months ago).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from itertools import chain, product
from typing import Any, NamedTuple

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.language import moments, time_tokens
from recollect.language.moments import AMBIGUOUS, SURE, Moment, slashed_date, year
from recollect.language.questions import is_spanish
from recollect.language.time_tokens import COUNTED, Match, Token, TokenizedText, is_plausible, tokenize
from recollect.language.words import (
    ENGLISH,
    SPANISH,
    alternatives,
    lines,
    month_names,
    names_by_word,
    number_words,
    word_set,
)
from recollect.text.tokens import compile_later, fold

# The grammar: layers of rules over words and kinds of tokens; the longest match wins

_named = partial(names_by_word, "time")
_counted_words = partial(number_words, "time")


def _valued_words(section: str) -> dict[str, int]:
    return {word: int(value) for word, value in _named(section).items()}


def _at_most(numbers: dict[str, int], most: int) -> dict[str, int]:
    return {word: number for word, number in numbers.items() if number <= most}


_ONES, _TEENS, _TENS = (
    _counted_words("ones"),
    _counted_words("teens", first=10),
    _counted_words("tens", first=2, step=10),
)
_ORDINALS = _counted_words("ordinals")
_MONTHS = number_words("time", "months")
_SHORT_MONTHS = _counted_words("short months")
_CALENDAR = _named("calendar units")
_ROLLING = {word: unit for word, unit in _CALENDAR.items() if unit != "century"} | _named("rolling units")
_PARTS_OF_DAY = {word: tuple(map(int, hours.split("-"))) for word, hours in _named("parts of day").items()}

CLASSES: dict[str, dict[str, Any]] = {
    "ONES": _ONES,
    "TEENS": _TEENS,
    "TENS": _TENS,
    "CARDINAL": _TENS | _TEENS | _ONES,
    "THE": dict.fromkeys(word_set("time", "the")),
    "COUNT": dict.fromkeys(word_set("time", "one"), 1),
    "NTH": _ORDINALS,
    "MONTHDAY": _ORDINALS,
    "ANYDAY": _ORDINALS,
    "QUARTERTH": _at_most(_ORDINALS, 4),
    "HALFTH": _at_most(_ORDINALS, 2),
    "MONTH": _MONTHS,
    "ANYMONTH": _SHORT_MONTHS | _MONTHS,
    "SHORTMONTH": {word: number for word, number in _SHORT_MONTHS.items() if word not in _MONTHS},
    "WEEKDAY": number_words("words", "weekdays", first=0),
    "SHORTDAY": _counted_words("short weekdays", first=0),
    # The number of their first month.
    "SEASON": _counted_words("seasons", step=3),
    "THIRD": _valued_words("thirds"),
    "CALENDAR": _CALENDAR,
    "SPAN_UNIT": _named("span units"),
    "UNIDAD": {word: unit for word, unit in _CALENDAR.items() if word != unit} | _named("weekend nouns"),
    "ROLLING": _ROLLING,
    "UNIT": _ROLLING | _named("units"),
    "DAYWORD": _valued_words("day words"),
    "NIGHTWORD": _valued_words("night words"),
    "SIDE": _valued_words("sides"),
    "PART": _PARTS_OF_DAY,
    "NOON": {word: hours[0] for word, hours in _PARTS_OF_DAY.items() if hours[1] - hours[0] == 1},
}

KINDS = {
    "COUNT": "NUM DAYNUM INT YEAR",
    "ANY_NUMBER": "NUM DAYNUM INT YEAR",
    "NUMBER": "NUM DAYNUM INT",
    "HOUR": "CLOCK NUM DAYNUM INT",
    "NTH": "ORDINAL",
    "DAYTH": "DAYNUM ORDINAL",
    "MONTHDAY": "DAYNUM ORDINAL",
    "ANYDAY": "DAYNUM ORDINAL NUM",
    "DATE_NAMED": "DAY DATE_OF_YEAR",
    "DATED": "DAY DATE_OF_YEAR BARE_WEEKDAY",
    "YEARLY": "OF_YEAR DATE_OF_YEAR",
    "LONG_SPAN": "MONTH_SPAN YEAR_SPAN",
    "THIRDABLE": "OF_YEAR MONTH_SPAN YEAR_SPAN",
    "BOUND": "DAY DATE_OF_YEAR BARE_WEEKDAY OF_YEAR MONTH_SPAN YEAR_SPAN WEEK_SPAN SPAN YEAR",
    "YEAR_DATED": "OF_YEAR DATE_OF_YEAR MONTH_SPAN YEAR",
    "DATED_BOUND": "DAY DATE_OF_YEAR OF_YEAR MONTH_SPAN",
}
"""Kinds of tokens that a pattern may name together."""


# The rules, layer by layer


def _rules_of(*names: str) -> list[str]:
    return [rule for name in names for rule in lines("time", f"rules {name}")]


def _relative_rules(things: str, sides: str) -> list[str]:
    """Return rules for `last`, `this` and `next`: one for each pair of lines of `things` and `sides`."""
    rules = []
    for thing, line in product(lines("time", things), lines("time", sides)):
        (what, _, made), (side, _, rule) = thing.partition(": "), line.partition(": ")
        kind, _, make = made.rpartition(": ")
        rules.append(rule.format(what=what, kind=kind, make=make.format(side=side)))
    return rules


@cache
def _layers() -> tuple[_Layer, ...]:
    nouns, feasts = _relative_rules("sided nouns", "noun sides"), _relative_rules("feasts", "feast sides")
    layers = (
        _rules_of("numbers"),
        [*_rules_of("not times", "written", "relative"), *nouns, *feasts, *_rules_of("feasts")],
        [*_rules_of("parts of wholes"), *_relative_rules("parts of years", "year sides")],
        _rules_of("parts of months"),
        _rules_of("parts of days"),
        _rules_of("ranges"),
    )
    return tuple(_Layer([_rule(line) for line in layer]) for layer in layers)


# Reading

_compiled = cache(compile)
_RULE = re.compile(r"(\w+) +(.+?) *-> +(.+?)(?: +unless (\w+))?")


class Element(NamedTuple):
    """One place of a pattern."""

    symbols: Mapping[str, Any]
    """The words that it matches, each with its value, and the kinds of tokens."""
    names: tuple[str, ...]
    """Classes and kinds among its alternatives; the rule may use their values."""


Pattern = tuple[Element, ...]


class Rule(NamedTuple):
    """A line such as

        SPAN  past|last COUNT UNIT  ->  rolling(UNIT, COUNT)  unless of_something

    Its pattern is a row of elements: a literal word (`ago`), a class of words or a kind of token in
    capitals (`WEEKDAY`), alternatives (`on|in`), perhaps optional (`the?`). Digits distinguish two of a kind
    (`YEAR1`, `YEAR2`). The rule creates one token of its kind for the layers above. The token's value is that
    of the expression: Python, with the functions of `moments` and the values of the pattern's classes and
    kinds. The rule does not match if the value is None, or if the check after `unless` rejects the match.
    """

    kind: str
    """`BY_UNIT` if the value decides the kind."""
    patterns: Sequence[Pattern]
    """Variants with and without the optional elements; the first that matches counts."""
    expression: str
    unless: Callable[[Match], bool] | None


def reduce_tokens(tokens: Sequence[Token], *, cased: bool) -> Sequence[Token]:
    """Replace the tokens that match a rule by one token, layer after layer."""
    symbols: list[str] = []
    for layer in _layers():
        symbols = symbols or [*(token.word if token.kind == "word" else token.kind for token in tokens), ""]
        if layer.firsts.isdisjoint(symbols):
            continue
        made: list[Token] = []
        done = 0
        for first, symbol in enumerate(symbols):
            if first < done or symbol not in layer.firsts:
                continue
            best: Token | None = None
            past = first
            for rule in layer.rules(symbol, symbols[first + 1]):
                pattern = next((each for each in rule.patterns if _matches(each, symbols, first)), ())
                end = first + len(pattern)
                if end <= past or (rule.unless and rule.unless(Match(tokens, first, end, cased))):
                    continue
                token = _make_token(rule, pattern, tokens[first:end])
                if token is not None:
                    best, past = token, end
            if best is not None:
                made += tokens[done:first]
                made.append(best)
                done = past
        if made:
            tokens, symbols = [*made, *tokens[done:]], []
    return tokens


class _Layer:
    """The rules of a layer, indexed by the first two symbols of a match, because few rules share them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            for symbol in {symbol for pattern in rule.patterns for symbol in pattern[0].symbols}:
                self._rules.setdefault(symbol, []).append(rule)
        self._known = {symbol for rule in rules for element in rule.patterns[0] for symbol in element.symbols}
        self._pairs: dict[tuple[str, str], Sequence[Rule]] = {}
        self.firsts = self._rules.keys()

    def rules(self, first: str, second: str) -> Sequence[Rule]:
        """Return the rules that may match from these two symbols on, with only the patterns that may."""
        pair = first, second if second in self._known else ""
        if pair not in self._pairs:
            begun = [
                rule._replace(patterns=[each for each in rule.patterns if _matches(each[:2], pair, 0)])
                for rule in self._rules[first]
            ]
            self._pairs[pair] = [rule for rule in begun if rule.patterns]
        return self._pairs[pair]


def _matches(pattern: Pattern, symbols: Sequence[str], first: int) -> bool:
    """Whether the symbols from `first` on match. The last symbol is empty, so that it matches nothing."""
    at = first
    for element in pattern:
        if symbols[at] not in element.symbols:
            return False
        at += 1
    return True


def _rule(line: str) -> Rule:
    match = _RULE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a rule: {line!r}")
    kind, pattern, written, check = match.groups()
    choices = [
        ((_element(each.removesuffix("?")),), ()) if each.endswith("?") else ((_element(each),),)
        for each in pattern.split()
    ]
    patterns = [tuple(chain.from_iterable(chosen)) for chosen in product(*choices)]
    return Rule(kind, patterns, written, getattr(time_tokens, check) if check else None)


@cache
def _element(written: str) -> Element:
    symbols: dict[str, Any] = {}
    alternatives = written.split("|")
    for name in alternatives:
        bare = name.rstrip("0123456789") if name[:1].isupper() else name
        symbols |= {**CLASSES.get(bare, {}), **dict.fromkeys(KINDS.get(bare, "").split())} or {bare: None}
    return Element(symbols, tuple(name for name in alternatives if name[:1].isupper()))


def _make_token(rule: Rule, pattern: Pattern, matched: Sequence[Token]) -> Token | None:
    """Return the token that replaces the tokens matched by a rule's pattern."""
    found: dict[str, Any] = {}
    for element, token in zip(pattern, matched, strict=True):
        value = element.symbols[token.word] if token.kind == "word" else token.value
        found |= dict.fromkeys(element.names, value)
    value = eval(_compiled(rule.expression, "<rule>", "eval"), vars(moments), found)  # noqa: S307  # our own rules
    if value is None:
        return None
    kind = value.kind if rule.kind == "BY_UNIT" else rule.kind
    word = matched[0].word if len(matched) == 1 else ""
    return Token(kind, word, value, matched[0].start, matched[-1].stop, matched[0].capital)


# The phrases of a text.


@dataclass(frozen=True, slots=True)
class TimePhrase:
    """A span of time that a text names, in the time zone of the reference."""

    start: datetime | None
    """Inclusive start; None if open: before June."""
    stop: datetime | None
    """Exclusive end; None if open: after tomorrow."""
    confidence: float
    words: str
    place: tuple[int, int]
    next: tuple[datetime | None, datetime | None] | None = None
    """The next occurrence of a recurring date that was read as the last one; plans mean the next."""


def time_phrases(text: str, reference: datetime) -> tuple[TimePhrase, ...]:
    """Return the time phrases of a text, in order, without overlap; days are of the reference's time zone."""
    if reference.utcoffset() is None:
        raise InvalidInput("A time phrase needs a reference with a time zone; pass an aware datetime.")
    read = tokenize(text)
    found = reduce_tokens(_with_dates(read.tokens), cased=read.cased)
    phrases = (_phrase(text, read, token, reference) for token in found)
    return tuple(phrase for phrase in phrases if phrase is not None)


def time_of(text: str, reference: datetime) -> TimePhrase | None:
    """Return the time that a question asks about: the first phrase with the highest confidence."""
    return max(time_phrases(text, reference), key=lambda phrase: phrase.confidence, default=None)


def _phrase(text: str, read: TokenizedText, token: Token, reference: datetime) -> TimePhrase | None:
    moment = token.value
    if not isinstance(moment, Moment):
        return None
    try:
        start, stop = moment.at(reference)
        ordered = start is None or stop is None or start.astimezone(UTC) < stop.astimezone(UTC)
    except (ValueError, OverflowError):  # invalid dates: 30 February, the year 12000
        return None
    if not ordered or (start is None and stop is None):
        return None
    first, past = read.place(token.start, token.stop)
    again = _next(moment, start or stop)
    return TimePhrase(start, stop, moment.confidence, text[first:past], (first, past), again)


def _next(moment: Moment, last: datetime | None) -> tuple[datetime | None, datetime | None] | None:
    if moment.period is None or last is None:
        return None
    try:
        span = moment.at(last + moment.period + timedelta(days=1))
    except (ValueError, OverflowError):  # beyond the last year of the calendar
        return None
    following = span[0] or span[1]
    return span if following is not None and following > last else None


def _with_dates(tokens: Sequence[Token]) -> Sequence[Token]:
    """Decide by the language of the text whether a date such as 5/3/2024 is in March or in May."""
    if all(token.kind != "DATE" for token in tokens):
        return tokens
    day_first = is_spanish(token.word for token in tokens)
    made = (
        (token, slashed_date(token.word, day_first=day_first) if token.kind == "DATE" else None)
        for token in tokens
    )
    return [token if day is None else token._replace(kind="DAY", value=day) for token, day in made]


# The times in a text of any length. A question is read whole (`time_of`), but there may be hundreds of long
# candidates, so only the first few windows around time words are read.

MOST_LETTERS = 4_000
MOST_WINDOWS = 6
# Characters to read on each side of a time word, for the rest of the phrase and its context.
_REACH = 28
_PIECES = compile_later(r"[^\W_]+")
_CUES = word_set("time", "cues").union(
    *(CLASSES[name] for name in ("ANYMONTH", "WEEKDAY", "SHORTDAY", "SEASON", "CALENDAR")),
    *(CLASSES[name] for name in ("DAYWORD", "NIGHTWORD")),
)
_DIGITS = compile_later(r"[12][0-9]{3}|[0-9]{1,2}(?:st|nd|rd|th)|(?:[12][0-9])?[0-9]0s|q[1-4]|[1-4]q")
_YEAR = compile_later(r"(?<![\w$€£¥#/:.,-])[12][0-9]{3}(?![\w/:%]|[.,-][0-9])")
_WORD_AFTER = compile_later(r" ?([^\W\d_]+|%)")
_NO_MOMENT = datetime(2100, 1, 1, tzinfo=UTC)
# A bare year is at most this far after the reference.
_YEARS_AHEAD = 5
_SURE_ENOUGH = AMBIGUOUS


def own_times(text: str, reference: datetime | None) -> tuple[TimePhrase, ...]:
    """Return the times that a text names, in order. The reference is the time of the text itself.

    Without a reference, only absolute times are returned: `in 2016`, not `yesterday`. A year is accepted in
    any position (`the 2006 season`), unless the number counts things.
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
        found += (
            replace(phrase, place=(phrase.place[0] + start, phrase.place[1] + start)) for phrase in phrases
        )
    return tuple(sorted(found, key=lambda phrase: phrase.place))


def _cues(text: str) -> set[str]:
    """Return the words of a lower-case text that may name a time. Most texts have none."""
    pieces = set(_PIECES.findall(text))
    found = pieces & _CUES
    found.update(word for word in pieces if not word.isalpha() and _DIGITS.fullmatch(word))
    if not text.isascii():
        found.update(word for word in pieces if not word.isascii() and fold(word) in _CUES)
    return found


def _windows(text: str) -> Iterator[tuple[int, int]]:
    """Yield windows of whole words around the first time words. Windows that touch are merged."""
    lowered = text.lower()
    cues = _cues(lowered)
    # The lower case of one rare letter is longer and would move the windows, so skip such a text.
    if not cues or len(lowered) != len(text):
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
            start = 1 + text.rfind(" ", 0, max(0, piece.start() - _REACH))
        end = text.find(" ", piece.end() + _REACH)
        stop = len(text) if end < 0 else end
    if start >= 0:
        yield start, stop


def _bare_years(text: str, phrases: Sequence[TimePhrase], reference: datetime) -> list[TimePhrase]:
    """Return years without a word that marks them: in brackets, before a noun."""
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


# The months in which facts of a text begin: April 2013 for "Hired on 8 April 2013.", 1976 for "Mayor from
# 1976 to 1990.", and none for "until 1968". Months are counted from the year 0.

_MONTH_NUMBERS = {
    name[:length]: place
    for names in map(month_names, (ENGLISH, SPANISH))
    for place, name in enumerate(names)
    for length in (3, len(name))
}
_STATED_YEAR = r"(?:1\d{3}|20\d\d)"
_NAMES = "|".join(sorted(_MONTH_NUMBERS, key=len, reverse=True))
_DATE = compile_later(
    rf"(?:\b(?P<month>{_NAMES})\b\.?\s+(?:de\s+|\d{{1,2}}\s*,?\s*)?)?"
    rf"\b(?P<year>{_STATED_YEAR})(?!\d)"
)


def _words(section: str) -> str:
    return alternatives("time", section)


# Words before the end of a period, not before its beginning.
_RANGE = compile_later(rf"\s*,?\s*(?:{_words('range words')}|-|–|—)\s*(?:the\s+|el\s+)?(?:\d{{1,2}}\s+)?")
_UNTIL = compile_later(rf"\b(?:{_words('until words')})\s+(?:the\s+|el\s+)?(?:\d{{1,2}}\s+)?(?:de\s+)?$")
_LOOK_BACK = 24
# Words before the time since which a whole sentence is true.
_SINCE = compile_later(
    rf"(?:\b(?:{_words('since words')})|\b(?P<range>{_words('from words')})"
    rf"|(?P<participle>\b(?:{_words('participles')})\s+)?\b(?:{_words('in words')}))"
    r"\s+(?:the\s+|el\s+)?(?:\d{1,2}\.?\s+)?(?:de\s+)?$"
)
_ON = compile_later(rf"\s+(?:{_words('on words')})\b")


def names_year(text: str) -> bool:
    return _DATE.search(fold(text)) is not None


def stated_beginnings(text: str) -> list[int]:
    """Return the months in which a fact of the text begins, in the order of the text."""
    return [_month(match) for match in _beginnings(fold(text))]


def months_since(text: str, month: int) -> int | None:
    """Return the months between `month` and the last beginning before it in the text; None without one."""
    return min((month - begins for begins in stated_beginnings(text) if begins <= month), default=None)


def holds_since(sentence: str) -> int | None:
    """Return the month since which a sentence is true; None if it states none, or several."""
    folded = fold(sentence)
    stated = list(_beginnings(folded))
    if len(stated) != 1:
        return None
    (match,) = stated
    leads = _SINCE.search(folded[: match.start()])
    if leads is None or leads["participle"]:
        return None
    if leads["range"] and not (_RANGE.match(folded, match.end()) or _ON.match(folded, match.end())):
        return None
    return _month(match)


def _beginnings(folded: str) -> Iterator[re.Match[str]]:
    end_of_last = None
    for match in _DATE.finditer(folded):
        ends_range = end_of_last is not None and _RANGE.fullmatch(folded, end_of_last, match.start())
        end_of_last = None if ends_range else match.end()
        if not ends_range and not _UNTIL.search(folded, max(0, match.start() - _LOOK_BACK), match.start()):
            yield match


def _month(match: re.Match[str]) -> int:
    return 12 * int(match["year"]) + _MONTH_NUMBERS.get(match["month"] or "", 0)
