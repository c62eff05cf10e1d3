"""The terms of a query: how much each weighs in the store at hand, and which are names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import fsum, log1p

from recollect.text.stems import coarse_stem, stems_of_word
from recollect.text.tokens import content_words, query_terms

MOST_TERMS = 64
"""Of a long text that is given as a query, the first words say enough."""
_WRITTEN = re.compile(r"[^\W\d_][\w'’-]*")
_POSSESSIVE = re.compile(r"['’]s?$")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query by their coarse stems."""

    weights: Mapping[str, float]
    """The rarer a stem is in the store, the more it weighs."""
    names: frozenset[str]
    """Stems of what the query writes as a name."""

    @property
    def total_weight(self) -> float:
        return fsum(self.weights.values())


def weigh_query_terms(query: str, document_counts: Mapping[str, int], texts: int) -> QueryTerms:
    """`document_counts` says how many of so many `texts` contain each of the `query_terms`.

    weight = ln(1 + texts / (document_count + 0.5)), that of the rarest word where several share a stem
    """
    weights: dict[str, float] = {}
    for word in query_terms(query, MOST_TERMS):
        weight = log1p(texts / (document_counts.get(word, 0) + 0.5))
        for stem in stems_of_word(word):
            weights[stem] = max(weight, weights.get(stem, 0.0))
    return QueryTerms(weights, named_stems(query) & weights.keys())


def named_stems(query: str) -> frozenset[str]:
    """Stems of the words that begin with a capital, except the first one, which always does."""
    written = _WRITTEN.findall(query)[1:]
    names = (_POSSESSIVE.sub("", word) for word in written if word[0].isupper())
    return frozenset(coarse_stem(word) for name in names for word in content_words(name))
