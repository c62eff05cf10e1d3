"""Confidence: how likely a hit is to be what was asked for, and whether there is an answer at all.

Eight signals of each hit, each the better the higher:

near    its cosine, from the best cosine of questions that have no answer, in the model's spreads
above   its cosine above the background, the cosines of the 11th to the 30th place, in the same spreads
held    the share of the query's content words that it contains, each by its weight
ahead   its BM25 minus the mean of the best five, by the weight of all content words
agreed  1 / its place by meaning + 1 / its place by words
share   the logarithm of its share of the ranking: a softmax over the standardised scores of the first 30;
        their deviation counts as a tenth of the best score at least
fits    1, unless the question asks for a number, a date or the like, and the text has none
timed   how well its time matches the time that the query asks for, from 0 to 1

    a = constant + ln mean exp (sum of weight * signal)     over the first ten hits: is there an answer?
    h = constant of its kind + sum of weight * signal       is it this hit, where there is one?

    P(answer) = sigmoid(a)                         if of eight questions, five had an answer
    P(hit) = sigmoid(a + ln 5.4) * sigmoid(h)      as users ask: of ten questions, nine have one

each with weights of its own; an answer is never less likely than its best hit. No weight is below 0, so that
no signal can speak against itself. The first 30 of each list count, however many there are, so that asking
for more hits moves nothing. `confidence_weights` says where the numbers come from.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import exp, fsum, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from recollect.lazy_dataclass import dataclass
from recollect.text.stems import coarse_stem, stems_of_word
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from recollect.ranking.candidates import Flags, Floats, Ints
    from recollect.records import Kind

SIGNALS = ("near", "above", "held", "ahead", "agreed", "share", "fits", "timed")
MOST_TERMS = 64
"""Of a long text that is given as a query, the first words say enough."""
DEPTH = 30
"""How many hits of each list count. A list that has fewer is judged by what it has."""
JUDGED = 10
"""The first of the ranking, which tell whether there is an answer, whatever the limit."""
_BEST = 5
_BACKGROUND = slice(10, DEPTH)
_LEAST_BACKGROUND = 10
_FARTHEST = 4.0
"""Spreads; beyond it a cosine says nothing more."""
_LEAST_SHARE = -6.0
_LEAST_DEVIATION = 0.1
"""Of the best score."""
ANSWERED = 5 / 8
"""The share of questions with an answer for which P(answer) is set: near it, where nothing tells."""
_USUALLY_ANSWERED = 9 / 10
"""And that for which P(hit) is."""
_USUAL = log(_USUALLY_ANSWERED / (1 - _USUALLY_ANSWERED)) - log(ANSWERED / (1 - ANSWERED))
_LEAST_SPREAD = 0.01
_UNRELATED = 0.05
"""A cosine below it is that of unrelated texts in every model; what shares no word either is no candidate."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query by their coarse stems."""

    weights: Mapping[str, float]
    """The rarer a stem is in the store, the more it weighs."""
    of_time: frozenset[str] = frozenset()
    """Stems of the words that speak of a time: what is of that time contains them, whatever it says."""

    @property
    def total_weight(self) -> float:
        return fsum(self.weights.values())

    @property
    def searched_weight(self) -> float:
        """Of the words that do not speak of a time, if there are any."""
        return fsum(weight for stem, weight in self.weights.items() if stem not in self.of_time) or (
            self.total_weight
        )

    def matched_share(self, matched: Collection[str], *, of_that_time: bool) -> float:
        """By weight, from 0 to 1."""
        contained = self.of_time.union(matched) if of_that_time else matched
        # A set has no order, and a sum of floats has: one that is exact needs none.
        return fsum(self.weights.get(stem, 0.0) for stem in contained) / max(self.total_weight, 1e-9)


def weigh_query_terms(
    query: str, document_counts: Mapping[str, int], texts: int, time_words: str = ""
) -> QueryTerms:
    """`document_counts` says how many of so many `texts` contain each of the `query_terms`.

    weight = ln(1 + texts / (document_count + 0.5)), that of the rarest word where several share a stem
    """
    weights: dict[str, float] = {}
    for word in query_terms(query, MOST_TERMS):
        weight = log1p(texts / (document_counts.get(word, 0) + 0.5))
        for stem in stems_of_word(word):
            weights[stem] = max(weight, weights.get(stem, 0.0))
    of_time = frozenset(coarse_stem(word) for word in _WORD.findall(time_words))
    return QueryTerms(weights, of_time & weights.keys())


@dataclass(frozen=True, slots=True)
class CosineScale:
    """Where the cosines of a model lie."""

    cosine: float
    """The best one, for a question that has no answer in the store: the mean."""
    spread: float
    """And its standard deviation."""
    background: float
    """The mean of what is far down the list."""


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """What each signal counts, in the order of `SIGNALS`."""

    hit: tuple[float, ...]
    kind: Mapping[str, float]
    """The constant for hits of each kind."""
    answer: tuple[float, ...]
    constant: float


@dataclass(frozen=True, slots=True)
class ConfidenceInput:
    """The candidates of one question: all their scores, and what those say that were read."""

    cosine: Floats
    """NaN where the search by meaning did not find it; so for BM25."""
    bm25: Floats
    order: Ints
    """The candidates' rows as they were ranked, best first, at least `DEPTH` of them if there are as many."""
    score: Floats
    """Of the ranking, beside `order`."""
    rows: Ints
    """Those that were read, first those that the answer is judged by."""
    first: int
    """How many these are."""
    kinds: Sequence[Kind]
    """Beside `rows`, as all that follows."""
    matched: Sequence[frozenset[str]]
    """The query's terms that each contains, its speaker's name counted in."""
    near: Floats
    """The cosine of each, also where the search by meaning did not go down to it; NaN: it has no vector."""
    fits: Flags
    """Whether each could be the sort of answer that is asked for."""
    timed: Floats
    """How well the time of each matches the time asked for; 0 where none is."""


@dataclass(frozen=True, slots=True)
class ConfidenceEstimate:
    hits: Floats
    """Beside the rows that were read."""
    answer: float


def estimate_confidence(
    inputs: ConfidenceInput, terms: QueryTerms, weights: ConfidenceWeights, scale: CosineScale | None
) -> ConfidenceEstimate:
    """`scale` is what is known of the model; None: nothing, and the candidates must tell."""
    if not inputs.first:
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    signals = signal_rows(inputs, terms, scale)
    related = np.array([bool(matched) for matched in inputs.matched]) | ~(inputs.near < _UNRELATED)
    if not related[: inputs.first].any():
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    # Summed row by row: a product of matrices may round a row otherwise where there are more of them.
    evidence = (signals * np.array(weights.answer)).sum(axis=1)[: inputs.first][related[: inputs.first]]
    # The mean rather than the sum: a store of one memory is not less likely to hold the answer for that.
    answer = weights.constant + float(np.logaddexp.reduce(evidence)) - log(inputs.first)
    constants = np.array([weights.kind[kind] for kind in inputs.kinds])
    logits = (signals * np.array(weights.hit)).sum(axis=1) + constants
    # 1 / (1 + exp(-logit)), which would overflow far below 0.
    hits = np.where(related, _sigmoid(answer + _USUAL) * np.exp(-np.logaddexp(0.0, -logits)), 0.0)
    return ConfidenceEstimate(hits, max(_sigmoid(answer), float(hits.max())))


def signal_rows(inputs: ConfidenceInput, terms: QueryTerms, scale: CosineScale | None) -> Floats:
    """A row for each candidate that was read; columns as in `SIGNALS`."""
    rows = inputs.rows
    by_meaning, by_words = _places(inputs.cosine), _places(inputs.bm25)
    near, above = _by_meaning(inputs, scale)
    bm25 = np.where(by_words > 0, inputs.bm25, 0.0)
    best = np.sort(bm25)[::-1][:_BEST]
    ahead = (bm25[rows] - (best.mean() if len(best) else 0.0)) / max(terms.searched_weight, 1e-9)
    held = [
        terms.matched_share(matched, of_that_time=timed > 0)
        for matched, timed in zip(inputs.matched, inputs.timed.tolist(), strict=True)
    ]
    columns = (
        near,
        above,
        np.array(held),
        np.clip(ahead, -2.0, 2.0),
        (_reciprocal(by_meaning) + _reciprocal(by_words))[rows],
        _shares(inputs),
        inputs.fits.astype(np.float64),
        inputs.timed,
    )
    return np.column_stack(columns)


def _by_meaning(inputs: ConfidenceInput, scale: CosineScale | None) -> tuple[Floats, Floats]:
    found = np.sort(inputs.cosine[np.isfinite(inputs.cosine)])[::-1][:DEPTH]
    if not len(found):
        return np.zeros(len(inputs.rows)), np.zeros(len(inputs.rows))
    far = _background(found)
    if scale is None:
        # Of an unknown model, only the list itself tells what is near, and a short one does not.
        if far is None:
            return np.zeros(len(inputs.rows)), np.zeros(len(inputs.rows))
        spread = max(float(found.std()), _LEAST_SPREAD)
        cosine = np.where(np.isfinite(inputs.near), inputs.near, far)
        return np.zeros(len(cosine)), np.clip((cosine - far) / spread, 0.0, 2 * _FARTHEST)
    far = scale.background if far is None else far
    cosine = np.where(np.isfinite(inputs.near), inputs.near, min(far, scale.cosine))
    near = np.clip((cosine - scale.cosine) / scale.spread, -_FARTHEST, _FARTHEST)
    return near, np.clip((cosine - far) / scale.spread, 0.0, 2 * _FARTHEST)


def _background(found: Floats) -> float | None:
    """The mean cosine far down the list; None where the list is too short to tell."""
    far = found[_BACKGROUND]
    return float(far.mean()) if len(far) >= _LEAST_BACKGROUND else None


def _shares(inputs: ConfidenceInput) -> Floats:
    """ln softmax(z), where z = (score - mean) / standard deviation over the first 30 of the ranking.

    The deviation counts as a tenth of the best score at least: among many that are level, none stands out.
    """
    first = inputs.score[:DEPTH]
    spread = max(float(first.std()), _LEAST_DEVIATION * float(np.abs(first).max(initial=0.0))) or 1.0
    total = float(np.logaddexp.reduce((first - first.mean()) / spread)) if len(first) else 0.0
    shares = np.full(len(inputs.cosine), _LEAST_SHARE)
    shares[inputs.order] = (inputs.score - first.mean()) / spread - total if len(first) else 0.0
    clipped: Floats = np.clip(shares[inputs.rows], _LEAST_SHARE, 0.0)
    return clipped


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > 0 else exp(logit) / (1 + exp(logit))


def _places(score: Floats) -> Ints:
    """From 1; 0 where it was not found, or too far down."""
    found = np.flatnonzero(np.isfinite(score))
    first = found[np.argsort(-score[found], kind="stable")][:DEPTH]
    places = np.zeros(len(score), np.int64)
    places[first] = np.arange(1, len(first) + 1)
    return places


def _reciprocal(places: Ints) -> Floats:
    return np.where(places > 0, 1 / np.maximum(places, 1), 0.0)
