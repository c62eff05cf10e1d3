"""Find time phrases in five languages, and the spans of time that they mean.

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
from operator import itemgetter
from typing import Any, NamedTuple

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.language import moments, time_tokens
from recollect.language.moments import AMBIGUOUS, SURE, Moment, slashed_date, year
from recollect.language.questions import is_spanish, language_words
from recollect.language.time_tokens import Match, Token, TokenizedText, is_plausible, tokenize
from recollect.language.words import (
    ENGLISH,
    SPANISH,
    LazyTable,
    alternatives,
    languages,
    lines,
    month_names,
    names_by_word,
    number_words,
    sections,
    word_set,
    words_by_name,
)
from recollect.text.tokens import compile_later, fold

# The grammar: layers of rules over words and kinds of tokens; the longest match wins

_compiled = cache(compile)
_BASE = (ENGLISH, SPANISH)
_OTHERS = tuple(each for each in languages() if each not in _BASE and "months" in sections("time", each))
"""Languages with a grammar of their own, since their words mean something else in English or Spanish."""


@cache
def _classes(among: tuple[str, ...]) -> dict[str, Any]:
    """Return the words of each class in some languages, with their values, as `[classes]` says."""
    named = partial(names_by_word, "time", among=among)
    classes: dict[str, Any] = {
        "named": named,
        "counted": partial(number_words, "time", among=among),
        "valued": lambda section: {word: int(value) for word, value in named(section).items()},
        "listed": lambda section, value=None: dict.fromkeys(word_set("time", section, among), value),
        "WEEKDAY": number_words("words", "weekdays", first=0, among=among),
    }
    for line in lines("time", "classes"):
        name, _, written = line.partition(": ")
        classes[name] = eval(_compiled(written, "<class>", "eval"), classes)  # noqa: S307  # our own file
    return {name: words for name, words in classes.items() if name.isupper()}


_KINDS = words_by_name("time", "kinds")
"""Kinds of tokens that a pattern may name together."""


# The rules, layer by layer


def _relative_rules(among: Sequence[str], things: str, sides: str) -> list[str]:
    """Return rules for `last`, `this` and `next`: one for each pair of lines of `things` and `sides`."""
    rules = []
    for thing, line in product(lines("time", things, among), lines("time", sides, among)):
        (what, _, made), (side, _, rule) = thing.partition(": "), line.partition(": ")
        kind, _, make = made.rpartition(": ")
        rules.append(rule.format(what=what, kind=kind, make=make.format(side=side)))
    return rules


class Grammar(NamedTuple):
    """Rules, and the words that their checks read."""

    layers: Sequence[_Layer]
    words: Mapping[str, frozenset[str]]


@cache
def _grammar(own: tuple[str, ...]) -> Grammar:
    """Return the grammar of some languages: their words, and their rules beside those of English."""
    among = own if ENGLISH in own else (ENGLISH, *own)

    def rules_of(*names: str) -> list[str]:
        return [rule for name in names for rule in lines("time", f"rules {name}", among)]

    relative = partial(_relative_rules, among)
    nouns, feasts = relative("sided nouns", "noun sides"), relative("feasts", "feast sides")
    layers = (
        rules_of("numbers"),
        [*rules_of("not times", "written", "relative"), *nouns, *feasts, *rules_of("feasts")],
        [*rules_of("parts of wholes"), *relative("parts of years", "year sides")],
        rules_of("parts of months"),
        rules_of("parts of days"),
        rules_of("ranges"),
    )
    words = LazyTable(partial(word_set, "time", among=among))
    return Grammar([_Layer([_rule(line, own) for line in layer]) for layer in layers], words)


# Reading

_RULE = re.compile(r"(\w+) +(.+?) *-> +(.+?)(?: +unless (\w+))?")


class Element(NamedTuple):
    """One place of a pattern."""

    symbols: Mapping[str, Any]
    """The words that it matches, each with its value, and the kinds of tokens."""
    names: tuple[str, ...]
    """Classes and kinds among its alternatives; the rule may use their values."""


Pattern = tuple[Element, ...]


class Rule(NamedTuple):
    """A line of the grammar, as `en/time.txt` explains."""

    kind: str
    """`BY_UNIT` if the value decides the kind."""
    patterns: Sequence[Pattern]
    """Variants with and without the optional elements; the first that matches counts."""
    expression: str
    unless: Callable[[Match], bool] | None


def reduce_tokens(tokens: Sequence[Token], grammar: Grammar, *, cased: bool) -> Sequence[Token]:
    """Replace the tokens that match a rule by one token, layer after layer."""
    symbols: list[str] = []
    words = grammar.words
    for layer in grammar.layers:
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
                if end <= past:
                    continue
                if rule.unless and rule.unless(Match(tokens, first, end, cased, words)):
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


def _rule(line: str, own: tuple[str, ...]) -> Rule:
    match = _RULE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a rule: {line!r}")
    kind, pattern, written, check = match.groups()
    choices = [
        ((_element(each.removesuffix("?"), own),), ()) if each.endswith("?") else ((_element(each, own),),)
        for each in pattern.split()
    ]
    patterns = [tuple(chain.from_iterable(chosen)) for chosen in product(*choices)]
    return Rule(kind, patterns, written, getattr(time_tokens, check) if check else None)


@cache
def _element(written: str, own: tuple[str, ...]) -> Element:
    symbols: dict[str, Any] = {}
    alternatives = written.split("|")
    for name in alternatives:
        bare = name.rstrip("0123456789") if name[:1].isupper() else name
        symbols |= {**_classes(own).get(bare, {}), **dict.fromkeys(_KINDS.get(bare, bare).split())}
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


def time_phrases(
    text: str, reference: datetime, own: tuple[str, ...] = (), *, of_events: bool = False
) -> tuple[TimePhrase, ...]:
    """Return the time phrases of a text, in order, without overlap; days are of the reference's time zone.

    `own` are the languages to read; by default, those of the text. The time in `before we moved last year` is
    that of an event, so it is left out unless `of_events` is true.
    """
    if reference.utcoffset() is None:
        raise InvalidInput("A time phrase needs a reference with a time zone; pass an aware datetime.")
    read = tokenize(text)
    own = own or _languages_of(set(map(itemgetter(1), read.tokens)))
    grammar, tokens = _grammar(own), _with_dates(read.tokens, own)
    ends = grammar.words["clause ends"]
    phrases = []
    most: timedelta | None = None
    for token in reduce_tokens(tokens, grammar, cased=read.cased):
        if token.kind == "EVENT":
            most = token.value
        elif most is not None and token.word in ends:
            most = None
        elif isinstance(token.value, Moment):
            phrase = _phrase(text, read, token, token.value, reference)
            length = phrase and phrase.start and phrase.stop and phrase.stop - phrase.start
            if phrase is not None and (of_events or most is None or (length and length <= most)):
                phrases.append(phrase)
    return tuple(phrases)


def time_of(text: str, reference: datetime) -> TimePhrase | None:
    """Return the time that a question asks about: the first phrase with the highest confidence."""
    return max(time_phrases(text, reference), key=lambda phrase: phrase.confidence, default=None)


def _phrase(
    text: str, read: TokenizedText, token: Token, moment: Moment, reference: datetime
) -> TimePhrase | None:
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


def _with_dates(tokens: Sequence[Token], own: tuple[str, ...]) -> Sequence[Token]:
    """Decide by the language of the text whether a date such as 5/3/2024 is in March or in May."""
    if "DATE" not in map(itemgetter(0), tokens):
        return tokens
    day_first = own != _BASE or is_spanish(token.word for token in tokens)
    made = (
        (token, slashed_date(token.word, day_first=day_first) if token.kind == "DATE" else None)
        for token in tokens
    )
    return [token if day is None else token._replace(kind="DAY", value=day) for token, day in made]


# The language of a text: a text with time words of German, French or Portuguese is read with their grammar if
# it has more of their words than of English or Spanish.


@cache
def _time_words(*among: str) -> frozenset[str]:
    """Return words that nearly every time phrase of these languages contains."""
    months = "ANYMONTH" if among == _BASE else "MONTH"  # `set`, `out` and `mar` are other words too
    named = (months, "WEEKDAY", "SHORTDAY", "SEASON", "CALENDAR", "DAYWORD", "NIGHTWORD")
    return word_set("time", "cues", among).union(*(_classes(among)[name] for name in named))


def _languages_of(said: set[str]) -> tuple[str, ...]:
    if said.isdisjoint(_CUES_OF_OTHERS):
        return _BASE
    scores = {
        each: len(said & _time_words(each)) + len(said & language_words(each))
        for each in (*_BASE, *_OTHERS)
        if each in _BASE or not said.isdisjoint(_time_words(each))
    }
    most = max(scores, key=scores.__getitem__)
    # One word may be a name: Noel, August.
    return _BASE if most in _BASE or scores[most] < 2 else (most,)


# The times in a text of any length. A question is read whole (`time_of`), but there may be hundreds of long
# candidates, so only the first few windows around time words are read.

MOST_LETTERS = 4_000
MOST_WINDOWS = 6
# Characters to read on each side of a time word, for the rest of the phrase and its context.
_REACH = 28
_PIECES = compile_later(r"[^\W_]+")
_CUES_OF_OTHERS = frozenset[str]().union(*map(_time_words, _OTHERS))
_COUNTED = word_set("time", "counted", _BASE)
_DIGIT = compile_later("[0-9]")
_DIGITS = compile_later(r"[12][0-9]{3}|[0-9]{1,2}(?:st|nd|rd|th)|(?:[12][0-9])?[0-9]0s|q[1-4]|[1-4]q")
_YEAR = compile_later(r"(?<![\w$€£¥#/:.,-])[12][0-9]{3}(?![\w/:%]|[.,-][0-9])")
_WORD_AFTER = compile_later(r" ?([^\W\d_]+|%)")
_NO_MOMENT = datetime(2100, 1, 1, tzinfo=UTC)
# A bare year is at most this far after the reference.
_YEARS_AHEAD = 5


def own_times(text: str, reference: datetime | None) -> tuple[TimePhrase, ...]:
    """Return the times that a text names, in order. The reference is the time of the text itself.

    Without a reference, only absolute times are returned: `in 2016`, not `yesterday`. A year is accepted in
    any position (`the 2006 season`), unless the number counts things.
    """
    text = text[:MOST_LETTERS]
    lowered, at, sure = text.lower(), reference or _NO_MOMENT, SURE if reference is None else AMBIGUOUS
    own, cues = _cues(lowered)
    found: list[TimePhrase] = []
    # The lower case of one rare letter is longer and would move the windows, so skip such a text.
    for start, stop in _windows(lowered, cues) if len(lowered) == len(text) else ():
        window = text[start:stop]
        named = time_phrases(window, at, own, of_events=True)
        phrases = [phrase for phrase in named if phrase.confidence >= sure]
        phrases += _bare_years(window, phrases, at)
        found += (
            replace(phrase, place=(phrase.place[0] + start, phrase.place[1] + start)) for phrase in phrases
        )
    return tuple(sorted(found, key=lambda phrase: phrase.place))


def _cues(text: str) -> tuple[tuple[str, ...], set[str]]:
    """Return the languages of a lower-case text, and its words that may name a time. Most texts have none."""
    pieces = set(_PIECES.findall(text))
    folded = {} if text.isascii() else {word: fold(word) for word in pieces if not word.isascii()}
    own = _languages_of(pieces.union(folded.values()) if folded else pieces)
    cues = _time_words(*own)
    found = pieces & cues
    if _DIGIT.search(text):
        found.update(word for word in pieces if not word.isalpha() and _DIGITS.fullmatch(word))
    found.update(word for word, plain in folded.items() if plain in cues)
    return own, found


def _windows(text: str, cues: set[str]) -> Iterator[tuple[int, int]]:
    """Yield windows of whole words around the first time words. Windows that touch are merged."""
    start = stop = -1
    count = 0
    for piece in _PIECES.finditer(text) if cues else ():
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
            and (after is None or fold(after.group(1)) not in _COUNTED)
            and all(place[1] <= each.place[0] or each.place[1] <= place[0] for each in phrases)
        ):
            start, stop = year(number).at(reference)
            found.append(TimePhrase(start, stop, AMBIGUOUS, match.group(), place))
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


_words = partial(alternatives, "time")
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
