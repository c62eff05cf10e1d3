"""What a question looks for in words: what each of them tells, and whom it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import fsum, log1p
from typing import TYPE_CHECKING

from recollect.text.stopwords import STOPWORDS
from recollect.text.words import fold, is_unspaced, pairs, words

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

# In the order in which they are tried; what is left has three letters at least.
_ENDINGS = ("ing", "ied", "ies", "ed", "es", "s", "e", "y", "o", "a")
_LEAST = 3
_STEM = 6
# Of a long text that is given as a query, its first words tell enough.
_MOST_WORDS = 64
_WRITTEN = re.compile(r"[^\W\d_][\w'’-]*")
_OF_SOMEBODY = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class Sought:
    """A question, as far as its words tell."""

    weights: Mapping[str, float]
    """By stem: the rarer in the store, the more."""
    names: frozenset[str]
    """Stems of what is written as a name, inside the question."""

    @property
    def most(self) -> float:
        return fsum(self.weights.values())


def telling(query: str) -> list[str]:
    """The first words of a question that say what is sought; all, where none does."""
    distinct = list(dict.fromkeys(words(query)))
    return ([word for word in distinct if word not in STOPWORDS] or distinct)[:_MOST_WORDS]


def sought(query: str, holders: Mapping[str, int], texts: int) -> Sought:
    """`holders` says how many of so many `texts` hold each telling word.

    weight = ln(1 + texts / (holders + 0.5)), the rarest of those that share a stem
    """
    weights: dict[str, float] = {}
    for word in telling(query):
        weight = log1p(texts / (holders.get(word, 0) + 0.5))
        for each in _stems(word):
            weights[each] = max(weight, weights.get(each, 0.0))
    return Sought(weights, names(query) & weights.keys())


def names(query: str) -> frozenset[str]:
    """Stems of the words that begin with a capital, the first one aside, which always does."""
    written = _WRITTEN.findall(query)[1:]
    bare = (_OF_SOMEBODY.sub("", word) for word in written if word[0].isupper())
    return frozenset(stem(word) for each in bare for word in words(each) if word not in STOPWORDS)


def held(text: str, wanted: Collection[str]) -> frozenset[str]:
    """Those of the wanted stems that a text holds."""
    # An ending is taken off behind the third letter at the earliest, so that few words need be looked at.
    begins = {each[:_LEAST] for each in wanted}
    here = {word for word in words(text) if word[:_LEAST] in begins or not word.isascii()}
    return frozenset(each for word in here for each in _stems(word) if each in wanted)


def stems(text: str) -> frozenset[str]:
    """What a text says, word by word; letters two by two where nothing parts words."""
    return frozenset(each for word in words(text) for each in _stems(word))


def stem(word: str) -> str:
    """Without its ending, and no longer than six letters: `hiking` and `hiked` are `hik`.

    Coarser than the index's stems, and for two languages; it only says whether a text holds a word.
    """
    folded = fold(word)
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= _LEAST:
            folded = folded.removesuffix(ending)
            break
    return folded[:_STEM]


def _stems(word: str) -> list[str]:
    if any(map(is_unspaced, word)):
        return [piece for piece in pairs(word) if len(piece) > 1] or [word]
    return [stem(word)]
