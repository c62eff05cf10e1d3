"""Contradictions: whether two texts claim different things of one subject that cannot both hold.

Without a language model, and in favour of doubt: what is not clearly a contradiction is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, product

from recollect.lazy_dataclass import dataclass
from recollect.text.contradictions.claims import SEVERAL, TIMES, Claim, Claims, Figure, claims_of
from recollect.text.contradictions.vocabulary import CODE_NOUNS, ORDINALS
from recollect.text.stems import light_stem

__all__ = ["Claims", "Contradiction", "claims_of", "contradicting_pairs", "contradiction"]

_CODE_STEMS = frozenset(map(light_stem, CODE_NOUNS))
_SHARED_WORDS = 2
_SHARED_TOPIC = 0.5
"""Of the content words of the shorter sentence, the share that two about one thing have in common."""
_SHARED_NAMES = 1 / 3
"""Of the names in the text that has fewer, the share that the other has, where both speak of one thing."""
_MOST_LIKE = 64
"""Texts that speak of one thing are compared, each with each, up to so many."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Where two texts contradict each other: the places of the two sentences."""

    first: tuple[int, int]
    second: tuple[int, int]
    is_of_time: bool
    """What they differ in is a time itself: a weekday, a date, an hour."""


def contradiction(one: Claims, other: Claims) -> Contradiction | None:
    """The first place where two texts contradict each other; None where they can both hold."""
    fewest = min(len(one.names), len(other.names))
    apart = len(one.names & other.names) < _SHARED_NAMES * fewest
    for mine, theirs in product(one.stated, other.stated):
        of_one_thing = mine.about == theirs.about and (mine.is_named or not apart)
        if of_one_thing and _excludes(mine, theirs) and _is_only(one, mine) and _is_only(other, theirs):
            return Contradiction(mine.place, theirs.place, mine.kind in TIMES)
    if apart:
        return None
    names = one.names & other.names
    for figure, another in product(one.figures, other.figures):
        differ = figure.kind == another.kind and figure.value != another.value
        if differ and _both_lasting(figure, another) and _of_one_thing(figure, another, names):
            return Contradiction(figure.place, another.place, figure.kind in TIMES)
    return None


def contradicting_pairs(texts: Sequence[Claims]) -> list[tuple[int, int, Contradiction]]:
    """Pairs of places, the lower first; only texts that speak of one thing are compared."""
    places: dict[str, list[int]] = defaultdict(list)
    for place, claims in enumerate(texts):
        for about in {claim.about for claim in claims.stated} | {
            f"{figure.kind} {stem}" for figure in claims.figures for stem in figure.topic
        }:
            places[about].append(place)
    pairs = {pair for group in places.values() for pair in combinations(group[:_MOST_LIKE], 2)}
    return [
        (first, second, found)
        for first, second in sorted(pairs)
        if (found := contradiction(texts[first], texts[second])) is not None
    ]


def _excludes(one: Claim, other: Claim) -> bool:
    if one.is_denied != other.is_denied:
        return one.kind == other.kind and one.value == other.value
    if one.is_denied or one.kind != other.kind or one.kind == SEVERAL:
        return False
    # `Acme` and `Acme Ltd` may be the same.
    return not (one.value <= other.value or other.value <= one.value)


def _is_only(claims: Claims, claim: Claim) -> bool:
    """A text that gives one attribute two values lists them."""
    return claim.kind == SEVERAL or all(
        each.value == claim.value
        for each in claims.stated
        if (each.about, each.kind) == (claim.about, claim.kind)
    )


def _both_lasting(one: Figure, other: Figure) -> bool:
    """Whether both say what is, or one of them that it has changed; else both may have happened."""
    changed = (one.is_change or other.is_change) and not (one.is_deed or other.is_deed)
    return changed or (one.is_lasting and other.is_lasting)


def _of_one_thing(one: Figure, other: Figure, names: frozenset[str]) -> bool:
    """Whether two figures of one kind are values of the same thing, by the words near them."""
    # Each speaks of somebody else, or one of the first and one of the second.
    mine, theirs = one.names | (one.topic & ORDINALS), other.names | (other.topic & ORDINALS)
    if mine - other.topic and theirs - one.topic:
        return False
    shared, near = one.topic & other.topic, set(one.near) & set(other.near)
    if one.near[:1] == other.near[:1] != ():
        if one.kind == "code":
            return one.near[0] in _CODE_STEMS
        within = one.topic <= other.topic or other.topic <= one.topic
        changed = (one.is_change or other.is_change) and (within or one.kind not in TIMES)
        return changed or len(shared) >= _SHARED_WORDS or bool(names - near) or " per " in one.kind
    # In a list of figures, each has a word of its own.
    if not (one.is_only and other.is_only) or one.kind == "code" or _is_stray(one, other):
        return False
    if len(near) >= _SHARED_WORDS or (near and " per " in one.kind):
        return True
    most = min(len(one.topic), len(other.topic))
    return bool(near) and len(shared) > max(_SHARED_WORDS, _SHARED_TOPIC * most)


def _is_stray(one: Figure, other: Figure) -> bool:
    """Whether amounts are of two things: `supper: 900 $ for the roof`, `tickets for the supper: 20 $`."""
    if one.kind in TIMES or one.is_change or other.is_change:
        return False
    return not {*one.near[:1]} <= other.topic and not {*other.near[:1]} <= one.topic
