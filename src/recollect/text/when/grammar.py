"""A grammar as data: rules over kinds of words, applied in layers, the longest match first.

A pattern is a row of elements: a word as it stands (`ago`), a class of words or a kind of piece in
capitals (`WEEKDAY`), alternatives (`on|in`), perhaps optional (`the?`). Two of a kind are told apart by a
digit (`YEAR1 YEAR2`). What a rule makes stands as one piece for the layers above.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from recollect.text.when.reading import Item

Found = Mapping[str, Any]
Words = Mapping[str, Mapping[str, Any]]
_OTHER = "x"
_FIRST_CODE = 0xE000  # Codes are letters of the private use area: one for each word, one for each kind.


class Around(NamedTuple):
    """A match in its surroundings, for those who doubt it."""

    items: Sequence[Item]
    first: int
    past: int
    cased: bool

    def before(self, steps: int = 1) -> Item | None:
        index = self.first - steps
        return self.items[index] if index >= 0 else None

    def after(self, steps: int = 1) -> Item | None:
        index = self.past + steps - 1
        return self.items[index] if index < len(self.items) else None

    def word_before(self, steps: int = 1) -> str:
        item = self.before(steps)
        return item.word if item else ""

    def word_after(self, steps: int = 1) -> str:
        item = self.after(steps)
        return item.word if item else ""


@dataclass(frozen=True, slots=True)
class Rule:
    kind: str
    pattern: str
    make: Callable[[Found], Any]
    unless: Callable[[Around], bool] | None = None


@dataclass(frozen=True, slots=True)
class _Ready:
    rule: Rule
    pattern: str
    names: tuple[tuple[str, ...], ...]
    firsts: frozenset[str]
    seconds: frozenset[str]
    """What may follow the first piece; with `alone`, anything may."""
    alone: bool


@dataclass(frozen=True, slots=True)
class _Layer:
    starts: re.Pattern[str]
    by_first: Mapping[str, tuple[_Ready, ...]]


class Grammar:
    """Layers of rules, ready to be applied to what was read."""

    __slots__ = ("_classes", "_codes", "_kinds", "_layers")

    def __init__(self, layers: Sequence[Sequence[Rule]], words: Words, kinds: Mapping[str, str]) -> None:
        self._classes = words
        self._kinds = {name: tuple(members.split()) for name, members in kinds.items()}
        names = dict.fromkeys(
            [word for table in words.values() for word in table]
            + [kind for members in self._kinds.values() for kind in members]
            + [
                name
                for layer in layers
                for rule in layer
                for element in _elements(rule)
                for name in element[0]
            ]
            + [rule.kind for layer in layers for rule in layer]
        )
        self._codes = {name: chr(_FIRST_CODE + index) for index, name in enumerate(names)}
        self._layers = tuple(self._layer(layer) for layer in layers)

    def apply(self, items: Sequence[Item], *, cased: bool) -> Sequence[Item]:
        code_of = self._codes.get
        codes = "".join([code_of(item.word if item.kind == "word" else item.kind, _OTHER) for item in items])
        for layer in self._layers:
            items, codes = self._reduced(layer, items, codes, cased=cased)
        return items

    def _reduced(
        self, layer: _Layer, items: Sequence[Item], codes: str, *, cased: bool
    ) -> tuple[Sequence[Item], str]:
        made: list[Item] = []
        made_codes: list[str] = []
        done = 0
        for start in layer.starts.finditer(codes):
            first = start.start()
            if first < done:
                continue
            best = self._best(layer, codes, items, first, cased=cased)
            if best is not None:
                made += items[done:first]
                made.append(best[0])
                made_codes += (codes[done:first], self._codes[best[0].kind])
                done = best[1]
        if not done:
            return items, codes
        return [*made, *items[done:]], "".join((*made_codes, codes[done:]))

    def _best(
        self, layer: _Layer, codes: str, items: Sequence[Item], first: int, *, cased: bool
    ) -> tuple[Item, int] | None:
        best, past = None, first
        second = codes[first + 1 : first + 2]
        for ready in layer.by_first[codes[first]]:
            if not ready.alone and second not in ready.seconds:
                continue
            match = _compiled(ready.pattern).match(codes, first)
            if match is None or match.end() <= past:
                continue
            rule = ready.rule
            if rule.unless is not None and rule.unless(Around(items, first, match.end(), cased)):
                continue
            value = rule.make(self._found(ready, match, items))
            if value is None:
                continue
            past = match.end()
            head, tail = items[first], items[past - 1]
            word = head.word if past == first + 1 else ""
            best = Item(rule.kind, word, value, head.start, tail.stop, head.capital)
        return None if best is None else (best, past)

    def _found(self, ready: _Ready, match: re.Match[str], items: Sequence[Item]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for group, names in enumerate(ready.names, start=1):
            at = match.start(group)
            if at < 0:
                continue
            item = items[at]
            for name in names:
                bare = name.rstrip("0123456789")
                if item.kind == "word":
                    table = self._classes.get(bare, {})
                    found |= {name: table[item.word]} if item.word in table else {}
                elif item.kind == bare or item.kind in self._kinds.get(bare, ()):
                    found[name] = item.value
        return found

    def _layer(self, rules: Sequence[Rule]) -> _Layer:
        ready = [self._ready(rule) for rule in rules]
        firsts = sorted(frozenset[str]().union(*(each.firsts for each in ready)))
        by_first = {first: tuple(each for each in ready if first in each.firsts) for first in firsts}
        return _Layer(re.compile(f"[{''.join(firsts)}]"), by_first)

    def _ready(self, rule: Rule) -> _Ready:
        pattern, names = "", []
        elements: list[tuple[frozenset[str], bool]] = []
        for alternatives, optional in _elements(rule):
            codes = frozenset(code for name in alternatives for code in self._codes_of(name))
            pattern += f"([{''.join(sorted(codes))}]){'?' if optional else ''}"
            names.append(tuple(name for name in alternatives if name.isupper() or name[:-1].isupper()))
            elements.append((codes, optional))
        firsts, seconds, alone = _beginnings(elements)
        return _Ready(rule, pattern, tuple(names), firsts, seconds, alone)

    def _codes_of(self, name: str) -> Iterator[str]:
        bare = name.rstrip("0123456789") if name[:1].isupper() else name
        if bare in self._classes or bare in self._kinds:
            for word in (*self._classes.get(bare, ()), *self._kinds.get(bare, ())):
                yield self._codes[word]
        else:
            yield self._codes[bare if bare in self._codes else name]


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled when first needed: most rules wait for their words for ever."""
    return re.compile(pattern)


def _beginnings(
    elements: Sequence[tuple[frozenset[str], bool]],
) -> tuple[frozenset[str], frozenset[str], bool]:
    """The codes that may come first and second, and whether one piece may be all."""
    reached = [_reached(elements, start) for start in range(len(elements) + 1)]
    starts = [start for start in range(len(elements)) if all(optional for _, optional in elements[:start])]
    seconds = frozenset[str]().union(*(reached[start + 1][0] for start in starts))
    return reached[0][0], seconds, any(reached[start + 1][1] for start in starts)


def _reached(elements: Sequence[tuple[frozenset[str], bool]], start: int) -> tuple[frozenset[str], bool]:
    """The codes that may come next from there, and whether the rule may end there."""
    codes: frozenset[str] = frozenset()
    for each, optional in elements[start:]:
        codes |= each
        if not optional:
            return codes, False
    return codes, True


def _elements(rule: Rule) -> list[tuple[tuple[str, ...], bool]]:
    """The alternatives of each element, and whether it may be absent."""
    return [
        (tuple(element.removesuffix("?").split("|")), element.endswith("?") and element != "?")
        for element in rule.pattern.split()
    ]
