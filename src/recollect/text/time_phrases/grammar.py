"""A grammar as data: tables of rules over words and kinds of tokens, in layers, the longest match first.

A rule is a line such as

    SPAN  past|last COUNT UNIT  ->  rolling(UNIT, COUNT)  unless of_something

Its pattern is a row of elements: a word as it stands (`ago`), a class of words or a kind of token in
capitals (`WEEKDAY`), alternatives (`on|in`), perhaps optional (`the?`). A digit tells two of a kind apart
(`YEAR1`, `YEAR2`). The rule makes one token of its kind, for the layers above, with the value of the
expression: Python, over the functions of `moments` and the values of the pattern's classes and kinds. A value
of None is no match, as is a match that the check after `unless` doubts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from recollect.lazy_dataclass import dataclass
from recollect.text.time_phrases import doubts, moments
from recollect.text.time_phrases.doubts import Match
from recollect.text.time_phrases.lexer import Token
from recollect.text.time_phrases.rules import LAYERS
from recollect.text.time_phrases.vocabulary import CLASSES, KINDS

_compiled = cache(compile)
_RULE = re.compile(r"(\w+) +(.+?) +-> +(.+?)(?: +unless (\w+))?")


@dataclass(frozen=True, slots=True)
class Element:
    """What stands at one place of a pattern."""

    symbols: Mapping[str, Any]
    """The words that it matches, each with its value, and the kinds of tokens."""
    optional: bool
    names: tuple[str, ...]
    """The classes and kinds among its alternatives, whose values the rule may use."""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    """`BY_UNIT`: the value says which."""
    elements: tuple[Element, ...]
    expression: str
    unless: Callable[[Match], bool] | None


def reduce_tokens(tokens: Sequence[Token], *, cased: bool) -> Sequence[Token]:
    """The tokens, with one in place of those that a rule matches, layer after layer."""
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
                places = _matched(rule.elements, 0, symbols, first)
                if places is None or (end := places[-1] or 0) <= past:
                    continue
                if rule.unless is not None and rule.unless(Match(tokens, first, end, cased)):
                    continue
                token = _made(rule, places, tokens, tokens[first:end])
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
    """The rules of a layer by the two symbols that a match begins with: few of them begin with any two."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules:
            for symbol in {each for place in _next_places(rule, 0) for each in rule.elements[place].symbols}:
                self._rules.setdefault(symbol, []).append(rule)
        self._known = frozenset(
            symbol for rule in rules for element in rule.elements for symbol in element.symbols
        )
        self._pairs: dict[tuple[str, str], Sequence[Rule]] = {}
        self.firsts = self._rules.keys()

    def rules(self, first: str, second: str) -> Sequence[Rule]:
        pair = first, second if second in self._known else ""
        if pair not in self._pairs:
            self._pairs[pair] = [rule for rule in self._rules[first] if _may_begin(rule, *pair)]
        return self._pairs[pair]


def _may_begin(rule: Rule, first: str, second: str) -> bool:
    """Whether a match may be the first symbol alone, or go on with the second."""
    for place in _next_places(rule, 0):
        if first in rule.elements[place].symbols:
            following = _next_places(rule, place + 1)
            if len(rule.elements) in following or any(
                second in rule.elements[each].symbols for each in following if each < len(rule.elements)
            ):
                return True
    return False


def _next_places(rule: Rule, place: int) -> list[int]:
    """The elements that may come at a place, as those before them may be left out; past the last: none."""
    places = [place]
    while place < len(rule.elements) and rule.elements[place].optional:
        place += 1
        places.append(place)
    return places


@cache
def _layers() -> tuple[_Layer, ...]:
    """Made when first needed."""
    return tuple(_Layer([_rule(line) for line in lines]) for lines in LAYERS)


def _rule(line: str) -> Rule:
    match = _RULE.fullmatch(line)
    if match is None:
        raise ValueError(f"not a rule: {line!r}")
    kind, pattern, written, check = match.groups()
    unless = getattr(doubts, check) if check else None
    return Rule(kind, tuple(map(_element, pattern.split())), written, unless)


@cache
def _element(written: str) -> Element:
    symbols: dict[str, Any] = {}
    alternatives = written.removesuffix("?").split("|")
    for name in alternatives:
        bare = name.rstrip("0123456789") if name[:1].isupper() else name
        symbols |= {**CLASSES.get(bare, {}), **dict.fromkeys(KINDS.get(bare, "").split())} or {bare: None}
    names = tuple(name for name in alternatives if name[:1].isupper())
    return Element(symbols, written.endswith("?"), names)


def _matched(
    elements: Sequence[Element], number: int, symbols: Sequence[str], at: int
) -> list[int | None] | None:
    """The place of each element, None for an absent one, and where the match ends; None if there is none."""
    if number == len(elements):
        return [at]
    element = elements[number]
    if symbols[at] in element.symbols:
        places = _matched(elements, number + 1, symbols, at + 1)
        if places is not None:
            return [at, *places]
    if not element.optional:
        return None
    places = _matched(elements, number + 1, symbols, at)
    return None if places is None else [None, *places]


def _made(
    rule: Rule, places: Sequence[int | None], tokens: Sequence[Token], matched: Sequence[Token]
) -> Token | None:
    """The token that a rule makes of those that it matched."""
    found: dict[str, Any] = {}
    for element, place in zip(rule.elements, places[:-1], strict=True):
        if place is not None:
            token = tokens[place]
            value = element.symbols[token.word] if token.kind == "word" else token.value
            found |= dict.fromkeys(element.names, value)
    value = eval(_compiled(rule.expression, "<rule>", "eval"), vars(moments), found)  # noqa: S307  # our own rules
    if value is None:
        return None
    kind = value.kind if rule.kind == "BY_UNIT" else rule.kind
    word = matched[0].word if len(matched) == 1 else ""
    return Token(kind, word, value, matched[0].start, matched[-1].stop, matched[0].capital)
