"""Search by words: which of a query's words are looked for, BM25, and how much of them a text contains."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.conditions import OneOf
from recollect.records import Found
from recollect.retrieval.term_index import Analyser, Phrase, TermIndex
from recollect.text.tokens import has_unspaced, pair_queries, query_terms

if TYPE_CHECKING:
    from recollect.conditions import Where
    from recollect.ports import Snapshot
    from recollect.ranking.candidates import Floats, Ints

# How many (word, text) meetings one query may start from: some milliseconds' worth. Beyond it the most common
# words only count in texts that a rarer one has found.
_BUDGET = 10_000
MOST_TERMS = 256
"""Words of a query that are searched for: the rarest."""
# As SQLite's bm25() has them.
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
# Of the best, so many times what is wanted are looked at in one go: a filter drops some.
_SPARE = 2


class AffordableTerms(NamedTuple):
    """A query's content words, as a scope's index can afford them."""

    chosen: list[str]
    """The rarest first."""
    too_common: list[str]
    affordable: bool
    """Whether the chosen ones fit the budget; otherwise even the rarest is too common."""


class Scores(NamedTuple):
    """Documents by ascending id, and what each is worth."""

    ids: Ints
    score: Floats


def affordable_terms(index: TermIndex, text: str, budget: int = _BUDGET) -> AffordableTerms:
    """The rarest content words whose texts fit the budget, and the others."""
    known = index.affordable.get((text, budget))
    if known is None:
        known = index.affordable[text, budget] = _affordable_terms(index, text, budget)
    return known


def _affordable_terms(index: TermIndex, text: str, budget: int) -> AffordableTerms:
    distinct = query_terms(text)
    counts = index.counts(distinct)
    # Words that occur before those that do not, which only their stem could find.
    kept = sorted(distinct, key=lambda word: (counts[word] == 0, counts[word], word))[:MOST_TERMS]
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
    return tuple(Phrase(pieces, prefix=len(pieces[0]) == 1) for pieces in pair_queries(text)[:MOST_TERMS])


def search_words(index: TermIndex, text: str, k: int, analyser: Analyser, where: Where) -> Sequence[Found]:
    """Best BM25 first, ties by id; `where` are conditions on the rows of memories.

    k1 is 1.2, b is 0.75, and a term weighs ln((N - n + 0.5) / (n + 0.5)), at least 1e-6: as in SQLite's FTS5,
    and in its order of operations, so that not a bit differs.
    """
    terms = affordable_terms(index, text)
    pairs = bm25(index, pair_phrases(text), (), "pairs")

    def found(required: Sequence[str], optional: Sequence[str] = ()) -> Scores:
        return _added(bm25(index, _phrases(required), _phrases(optional), analyser), pairs)

    if terms.too_common and where:
        scores = found(terms.chosen)
        if len(_best(index.snapshot, scores, k, where)) < min(k, len(scores.ids)):
            # What the filter allows may hold only the words that are common elsewhere.
            return _best(index.snapshot, found((*terms.chosen, *terms.too_common)), k, where)
    # Common words find nothing by themselves, but they count in what the others found.
    return _best(index.snapshot, found(terms.chosen, terms.too_common if terms.affordable else ()), k, where)


def bm25(
    index: TermIndex, required: Sequence[Phrase], optional: Sequence[Phrase], analyser: Analyser
) -> Scores:
    """The documents that contain one of the required phrases; the optional ones only count in these."""
    documents, length = index.size(analyser)
    if not required or not documents:
        return Scores(np.zeros(0, np.int64), np.zeros(0))
    phrases = (*required, *optional)
    index.read(phrases, analyser)
    each = [index.postings(phrase, analyser) for phrase in phrases]
    ids = _union([postings.ids for postings in each[: len(required)]])
    score = np.zeros(len(ids))
    usual = length / documents
    for place, (found, counts, lengths, _) in enumerate(each):
        if not len(found):
            continue
        weight = idf(documents, len(found))
        often = counts.astype(np.float64)
        worth = weight * ((often * (K1 + 1.0)) / (often + K1 * (1 - B + B * lengths / usual)))
        at = np.searchsorted(ids, found)
        if place >= len(required):
            there = ids[np.minimum(at, len(ids) - 1)] == found if len(ids) else np.zeros(len(found), bool)
            at, worth = at[there], worth[there]
        score[at] += worth
    return Scores(ids, score)


def idf(documents: int, containing: int) -> float:
    ratio = (documents - containing + 0.5) / (containing + 0.5)
    return max(log(ratio), LEAST_IDF) if ratio > 1 else LEAST_IDF


def matched_shares(index: TermIndex, text: str, ids: Ints) -> Floats:
    """Of each of these ascending ids, the weighted share of the query's content words that its text contains.

    A word weighs ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N texts contain it. Words that are too
    common to be searched for count on neither side.
    """
    texts, _ = index.size("stemmed")
    # A run of a script without spaces is no word; its pairs stand for it.
    spaced = _phrases([word for word in affordable_terms(index, text).chosen if not has_unspaced(word)])
    pairs = pair_phrases(text)
    index.read(spaced, "stemmed")
    each = chain(
        (index.postings(phrase, "stemmed") for phrase in spaced),
        (index.postings(phrase, "pairs") for phrase in pairs),
    )
    shares = np.zeros(len(ids))
    whole = 0.0
    for postings in each:
        count = len(postings.ids)
        weight = log(1 + (texts - count + 0.5) / (count + 0.5))
        whole += weight
        if count:
            at = np.minimum(np.searchsorted(postings.ids, ids), count - 1)
            shares[postings.ids[at] == ids] += weight
    return shares / whole if whole else shares


def counts_or_stem_counts(index: TermIndex, terms: Sequence[str]) -> dict[str, int]:
    """How many texts contain each word as it is; where none does, how many contain its stem."""
    counts = dict(index.counts(terms))
    unknown = [word for word in terms if not counts[word]]
    index.read(_phrases(unknown), "stemmed")
    return counts | {word: index.document_count(Phrase((word,)), "stemmed") for word in unknown}


def _phrases(terms: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(Phrase((word,)) for word in terms)


def _union(each: Sequence[Ints]) -> Ints:
    there = [ids for ids in each if len(ids)]
    if len(there) < 2:
        return there[0] if there else np.zeros(0, np.int64)
    # Stable: it merges what is in order already.
    ids: Ints = np.sort(np.concatenate(there), kind="stable")
    distinct: Ints = ids[np.diff(ids, prepend=-1) != 0]
    return distinct


def _added(one: Scores, other: Scores) -> Scores:
    """What a text is worth by both."""
    if not len(other.ids):
        return one
    ids = _union([one.ids, other.ids])
    score = np.zeros(len(ids))
    for part in (one, other):
        score[np.searchsorted(ids, part.ids)] += part.score
    return Scores(ids, score)


def _best(snapshot: Snapshot, scores: Scores, k: int, where: Where) -> list[Found]:
    """The best of those that meet the conditions, ties by id."""
    found: list[Found] = []
    if k <= 0:
        return found
    start, size = 0, _SPARE * k if where else k
    order = _first(scores, size)
    while start < len(order) and len(found) < k:
        some = order[start:]
        ids = scores.ids[some].tolist()
        if where:
            allowed = {id_ for (id_,) in snapshot.rows("memory", ("id",), (OneOf("id", ids), *where))}
        found += [
            Found(id_, score)
            for id_, score in zip(ids, scores.score[some].tolist(), strict=True)
            if not where or id_ in allowed
        ]
        # The fewer are let through, the more there is to look at.
        start, size = len(order), 4 * size
        order = _first(scores, start + size)
    return found[:k]


def _first(scores: Scores, k: int) -> Ints:
    """The rows of the best k, best first, ties by id."""
    rows = np.arange(len(scores.ids))
    if len(rows) > k:
        least = np.partition(scores.score, len(rows) - k)[len(rows) - k]
        rows = np.flatnonzero(scores.score >= least)
    order: Ints = rows[np.argsort(-scores.score[rows], kind="stable")][:k]
    return order
