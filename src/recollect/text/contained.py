"""Which of many texts hold the words of another, without comparing each with all."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import ceil
from typing import TYPE_CHECKING

from recollect.text.same import containment
from recollect.text.words import words

if TYPE_CHECKING:
    from collections.abc import Sequence


def contained_pairs(texts: Sequence[str], at_least: float) -> dict[tuple[int, int], float]:
    """Pairs of places, the lower first, whose `containment` is at least so much.

    Of a text's n different words, another that holds `at_least` of them lacks fewer than all of the rarest
    n - ceil(at_least n) + 1; so only texts that share one of those are compared.
    """
    said = [set(words(text)) for text in texts]
    common = Counter(word for each in said for word in each)
    having: dict[str, list[int]] = defaultdict(list)
    for place, each in enumerate(said):
        for word in sorted(each):
            having[word].append(place)
    found: dict[tuple[int, int], float] = {}
    for place, each in enumerate(said):
        rarest = sorted(each, key=lambda word: (common[word], word))[: _lacking(len(each), at_least)]
        for other in sorted({other for word in rarest for other in having[word]} - {place}):
            pair = (min(place, other), max(place, other))
            if pair not in found and (share := containment(texts[place], texts[other])) >= at_least:
                found[pair] = share
    return dict(sorted(found.items()))


def _lacking(count: int, share: float) -> int:
    """How many words one must look for to be sure to meet one that a text with this share of them has."""
    # A hair less, as a share of 0.7 in floats may lie above 7 of 10.
    return count - ceil(share * count - 1e-9) + 1
