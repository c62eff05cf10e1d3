"""Search by words: which of a query's words are looked for, and how much of them a text contains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.ports import Analyser, Phrase, Snapshot, TermQuery
from recollect.records import Found
from recollect.text.tokens import has_unspaced, pair_queries, query_terms

if TYPE_CHECKING:
    from recollect.conditions import Where
    from recollect.ranking.candidates import Ints

# How many (word, text) meetings one query may start from: some milliseconds' worth. Beyond it the most common
# words only count in texts that a rarer one has found.
_BUDGET = 10_000
_MOST_WORDS = 256


class AffordableTerms(NamedTuple):
    """A query's content words, as a scope's index can afford them."""

    chosen: list[str]
    """The rarest first."""
    too_common: list[str]
    affordable: bool
    """Whether the chosen ones fit the budget; otherwise even the rarest is too common."""


class TermIndex:
    """A scope's full-text indexes, each term's postings and counts read once."""

    def __init__(self, snapshot: Snapshot, scope: int) -> None:
        self.snapshot = snapshot
        self.scope = scope
        self._counts: dict[str, int] = {}
        self._postings: dict[tuple[Phrase, Analyser], Ints] = {}
        self._sizes: dict[Analyser, tuple[int, int]] = {}

    def size(self, analyser: Analyser) -> tuple[int, int]:
        """How many documents there are, and how many terms they have together."""
        if analyser not in self._sizes:
            self._sizes[analyser] = self.snapshot.index_size(self.scope, analyser)
        return self._sizes[analyser]

    def postings(self, phrase: Phrase, analyser: Analyser) -> Ints:
        known = self._postings.get((phrase, analyser))
        if known is None:
            known = np.array(self.snapshot.postings(phrase, self.scope, analyser), np.int64)
            self._postings[phrase, analyser] = known
        return known

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """How many texts contain each word as it is."""
        unknown = [word for word in terms if word not in self._counts]
        if unknown:
            found = self.snapshot.document_counts([Phrase((word,)) for word in unknown], self.scope, "plain")
            self._counts |= dict(zip(unknown, found, strict=True))
        return {word: self._counts[word] for word in terms}

    def terms(self, text: str, budget: int = _BUDGET) -> AffordableTerms:
        """The rarest content words whose texts fit the budget, and the others."""
        distinct = query_terms(text)
        counts = self.counts(distinct)
        # Words that occur before those that do not, which only their stem could find.
        kept = sorted(distinct, key=lambda word: (counts[word] == 0, counts[word], word))[:_MOST_WORDS]
        chosen: list[str] = []
        too_common: list[str] = []
        spent = 0
        for word in sorted(kept, key=lambda word: (counts[word], word)):
            spent += counts[word]
            if spent > budget and any(counts[other] for other in chosen):
                too_common.append(word)
            else:
                chosen.append(word)
        return AffordableTerms(chosen, too_common, sum(counts[word] for word in chosen) <= budget)


def pair_phrases(text: str) -> tuple[Phrase, ...]:
    """What a query looks for among pairs; a single letter or symbol is every pair that begins with it."""
    return tuple(Phrase(pieces, prefix=len(pieces[0]) == 1) for pieces in pair_queries(text)[:_MOST_WORDS])


def search_words(index: TermIndex, text: str, k: int, analyser: Analyser, where: Where) -> Sequence[Found]:
    """Best BM25 first, ties by id; `where` are conditions on the rows of memories."""
    terms = index.terms(text)
    pairs = TermQuery("pairs", pair_phrases(text))

    def found(required: Sequence[str], optional: Sequence[str] = (), among: Where = where) -> Sequence[Found]:
        asked = TermQuery(analyser, _phrases(required), _phrases(optional))
        queries = [each for each in (asked, pairs) if each.required]
        return index.snapshot.search(queries, index.scope, k, among) if queries else ()

    best = found(terms.chosen)
    if not terms.too_common:
        return best
    if where and len(best) < k and len(best) < len(found(terms.chosen, among=())):
        # What the filter allows may hold only the words that are common elsewhere.
        return found((*terms.chosen, *terms.too_common))
    # Common words find nothing by themselves, but they count in what the others found.
    return found(terms.chosen, terms.too_common) if terms.affordable else best


def matched_shares(index: TermIndex, text: str, ids: Sequence[int]) -> dict[int, float]:
    """For each text, the weighted share of the query's content words that it contains; 0 is left out.

    A word weighs ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N texts contain it. Words that are too
    common to be searched for count on neither side.
    """
    texts, _ = index.size("stemmed")
    # A run of a script without spaces is no word; its pairs stand for it.
    spaced = [word for word in index.terms(text).chosen if not has_unspaced(word)]
    phrases: list[tuple[Phrase, Analyser]] = [(Phrase((word,)), "stemmed") for word in spaced]
    phrases += [(phrase, "pairs") for phrase in pair_phrases(text)]
    asked = np.array(ids, np.int64)
    shares: dict[int, float] = {}
    whole = 0.0
    for phrase, analyser in phrases:
        postings = index.postings(phrase, analyser)
        weight = log(1 + (texts - len(postings) + 0.5) / (len(postings) + 0.5))
        whole += weight
        for id_ in np.intersect1d(asked, postings).tolist():
            shares[id_] = shares.get(id_, 0.0) + weight
    return {id_: share / whole for id_, share in shares.items()}


def counts_or_stem_counts(index: TermIndex, terms: Sequence[str]) -> dict[str, int]:
    """How many texts contain each word as it is; where none does, how many contain its stem."""
    counts = dict(index.counts(terms))
    unknown = [word for word in terms if not counts[word]]
    if unknown:
        stems = index.snapshot.document_counts([Phrase((word,)) for word in unknown], index.scope, "stemmed")
        counts |= dict(zip(unknown, stems, strict=True))
    return counts


def _phrases(terms: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(Phrase((word,)) for word in terms)
