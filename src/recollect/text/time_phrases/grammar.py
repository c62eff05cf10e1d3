"""A grammar as data: tables of rules over words and kinds of tokens, in layers, the longest match first.

A rule is a line such as

    SPAN  past|last COUNT UNIT  ->  rolling(UNIT, COUNT)  unless of_something

Its pattern is a row of elements: a word as it stands (`ago`), a class of words or a kind of token in
capitals (`WEEKDAY`), alternatives (`on|in`), perhaps optional (`the?`). A digit tells two of a kind apart
(`YEAR1`, `YEAR2`). The rule makes one token of its kind, for the layers above, with the value of the
expression: Python, over the values of the pattern's classes and kinds (`CLOCK | NUMBER` is the one that is
there). A function of `calendar` gives a span at a reference time; its call is the moment, as sure as the
moment that it is part of. A value of None is no match, as is a match that the check after `unless` doubts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.text.time_phrases import calendar, doubts, moments
from recollect.text.time_phrases.calendar import PLAIN, Moment
from recollect.text.time_phrases.doubts import Match
from recollect.text.time_phrases.lexer import Token

_RULE = re.compile(r"(\w+) +(.+?) +-> +(.+?)(?: +unless (\w+))?")


@dataclass(frozen=True, slots=True)
class Element:
    """What stands at one place of a pattern."""

    symbols: frozenset[str]
    """The words and kinds that it matches."""
    optional: bool
    names: tuple[str, ...]
    """The classes and kinds among its alternatives, whose values the rule may use."""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    """`BY_UNIT`: the value says which."""
    elements: tuple[Element, ...]
    expression: ast.expr
    unless: Callable[[Match], bool] | None


def _evaluated(expression: ast.expr, found: Mapping[str, Any]) -> Any:
    match expression:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return found[name]
        case ast.UnaryOp(ast.USub(), operand):
            return -_evaluated(operand, found)
        case ast.BinOp(left, ast.Add(), right):
            return _evaluated(left, found) + _evaluated(right, found)
        case ast.BinOp(_, ast.BitOr(), _):
            names = [each.id for each in ast.walk(expression) if isinstance(each, ast.Name)]
            return next(found[name] for name in names if name in found)
        case ast.Call(ast.Name(name), arguments):
            return _called(name, [_evaluated(argument, found) for argument in arguments])
    raise ValueError(f"not an expression of a rule: {ast.unparse(expression)}")


def _called(name: str, arguments: Sequence[Any]) -> Any:
    if hasattr(moments, name):
        return getattr(moments, name)(*arguments)
    span = getattr(calendar, name)
    whole = next((each for each in arguments if isinstance(each, Moment)), None)
    return Moment(lambda reference: span(reference, *arguments), whole.confidence if whole else PLAIN)


class Grammar:
    """Layers of rules, ready to be applied to tokens."""

    def __init__(
        self,
        layers: Sequence[Sequence[str]],
        classes: Mapping[str, Mapping[str, Any]],
        kinds: Mapping[str, str],
    ) -> None:
        self._classes = classes
        self._kinds = {name: frozenset(members.split()) for name, members in kinds.items()}
        self._elements: dict[str, Element] = {}
        self._layers = tuple(self._by_first(map(self._rule, lines)) for lines in layers)

    def apply(self, tokens: Sequence[Token], *, cased: bool) -> Sequence[Token]:
        symbols = _symbols(tokens)
        for layer in self._layers:
            reduced = self._reduced(layer, tokens, symbols, cased=cased)
            if reduced is not tokens:
                tokens, symbols = reduced, _symbols(reduced)
        return tokens

    def _reduced(
        self,
        layer: Mapping[str, Sequence[Rule]],
        tokens: Sequence[Token],
        symbols: Sequence[str],
        *,
        cased: bool,
    ) -> Sequence[Token]:
        made: list[Token] = []
        done = 0
        for first, symbol in enumerate(symbols):
            if first < done or symbol not in layer:
                continue
            best: Token | None = None
            past = first
            for rule in layer[symbol]:
                places = _matched(rule.elements, 0, symbols, first)
                if places is None or (end := places[-1] or 0) <= past:
                    continue
                if rule.unless is not None and rule.unless(Match(tokens, first, end, cased)):
                    continue
                value = _evaluated(rule.expression, self._found(rule, places, tokens))
                if value is not None:
                    best, past = _token(rule, value, tokens[first:end]), end
            if best is not None:
                made += tokens[done:first]
                made.append(best)
                done = past
        return [*made, *tokens[done:]] if done else tokens

    def _found(self, rule: Rule, places: Sequence[int | None], tokens: Sequence[Token]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for element, place in zip(rule.elements, places[:-1], strict=True):
            if place is None:
                continue
            token = tokens[place]
            for name in element.names:
                bare = name.rstrip("0123456789")
                if token.kind != "word":
                    if token.kind == bare or token.kind in self._kinds.get(bare, ()):
                        found[name] = token.value
                elif token.word in self._classes.get(bare, ()):
                    found[name] = self._classes[bare][token.word]
        return found

    def _rule(self, line: str) -> Rule:
        match = _RULE.fullmatch(line)
        if match is None:
            raise ValueError(f"not a rule: {line!r}")
        kind, pattern, written, check = match.groups()
        elements = tuple(map(self._element, pattern.split()))
        expression = ast.parse(written, mode="eval").body
        return Rule(kind, elements, expression, getattr(doubts, check) if check else None)

    def _element(self, written: str) -> Element:
        if written not in self._elements:
            alternatives = written.removesuffix("?").split("|")
            symbols: set[str] = set()
            for name in alternatives:
                bare = name.rstrip("0123456789") if name[:1].isupper() else name
                symbols |= {*self._classes.get(bare, ()), *self._kinds.get(bare, ())} or {bare}
            names = tuple(name for name in alternatives if name[:1].isupper())
            self._elements[written] = Element(frozenset(symbols), written.endswith("?"), names)
        return self._elements[written]

    @staticmethod
    def _by_first(rules: Iterator[Rule]) -> dict[str, list[Rule]]:
        """Rules by the symbols that they may begin with."""
        layer: dict[str, list[Rule]] = {}
        for rule in rules:
            firsts: set[str] = set()
            for element in rule.elements:
                firsts |= element.symbols
                if not element.optional:
                    break
            for symbol in firsts:
                layer.setdefault(symbol, []).append(rule)
        return layer


def _symbols(tokens: Sequence[Token]) -> list[str]:
    """What patterns see of tokens; empty for the end."""
    return [*(token.word if token.kind == "word" else token.kind for token in tokens), ""]


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


def _token(rule: Rule, value: Any, tokens: Sequence[Token]) -> Token:
    head, tail = tokens[0], tokens[-1]
    kind = value.kind if rule.kind == "BY_UNIT" else rule.kind
    word = head.word if len(tokens) == 1 else ""
    return Token(kind, word, value, head.start, tail.stop, head.capital)
