"""Questions that a store asks itself to learn how sure it may be: vaguer than a quotation, as people ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.engine.lots import lot
from recollect.rank.query_terms import MOST_TERMS
from recollect.records import Filter, Kind
from recollect.text.cloze import sampled_phrase
from recollect.text.self_questions import one_saying, spoken_spanish
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.ports import View
    from recollect.records import Memory, Scope

_SEED = "confidence"
# Of a text that says less, no question is left once a few words are taken from it.
_LEAST_TELLING = 4
_FEW = 2
_SHORTEST = 3
_ENGLISH = ("What did {who} say about {what}?", "What about {what}?", "{0} and {1}")
_SPANISH = ("¿Qué dijo {who} sobre {what}?", "¿Qué hay de {what}?", "{0} y {1}")


@dataclass(frozen=True, slots=True)
class OwnQuestion:
    query: str
    memory: Memory
    """The one that it is made of."""


def own_questions(view: View, scope: Scope, most: int) -> Sequence[OwnQuestion]:
    """At most so many, always the same for the same store."""
    made = (_question(view, scope, memory) for memory in _sample(view, scope, most))
    return [each for each in made if each is not None]


def _sample(view: View, scope: Scope, most: int) -> list[Memory]:
    """Of few memories all, else by lot: what follows a place among the ids, wherever that falls."""
    where = Filter(scope.owner, scope.agent)
    few = view.page(where, 0, most + 1)
    if len(few) <= most:
        return list(few)
    last = _last_id(view, where, few[-1].id)
    found: dict[int, Memory] = {}
    for turn in range(2 * most):
        if len(found) == most:
            break
        for memory in view.page(where, lot(_SEED, turn) % last, 1):
            found[memory.id] = memory
    return [found[id_] for id_ in sorted(found)]


def _last_id(view: View, where: Filter, low: int) -> int:
    """By doubling, then by halves: no page need be read for what lies between."""
    high = 2 * low
    while view.page(where, high, 1):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if view.page(where, middle, 1) else (low, middle)
    return high


def _question(view: View, scope: Scope, memory: Memory) -> OwnQuestion | None:
    chance = lot(_SEED, memory.id)
    said = one_saying(memory, chance)
    known = [word for word in query_terms(said, MOST_TERMS) if len(word) >= _SHORTEST]
    if len(known) < _LEAST_TELLING:
        return None
    said_by, about, joined = _SPANISH if spoken_spanish(said) else _ENGLISH
    if chance % 2:
        what = sampled_phrase(said, chance // 2)
    else:
        _, holders = view.holders(known, scope)
        what = joined.format(*_few(known, holders, memory.id))
    if memory.kind is Kind.ENTITY:
        query = about.format(what=joined.format(memory.name, what))
    else:
        query = said_by.format(who=memory.speaker, what=what) if memory.speaker else about.format(what=what)
    return OwnQuestion(query, memory)


def _few(known: Sequence[str], holders: Mapping[str, int], seed: int) -> list[str]:
    """Two of the rarer words, in their order: people ask by what a text is about, though not by all of it."""
    rare = sorted(known, key=lambda word: (holders.get(word, 0), word))
    rarer = rare[: max(_LEAST_TELLING, 2 * len(rare) // 3)]
    few = sorted(rarer, key=lambda word: lot(_SEED, f"{seed}:{word}"))[:_FEW]
    return sorted(few, key=known.index)
