"""Confidence: the probability that a hit helps with a query, and that the store has anything that helps.

A query may be a question, a prompt or an errand. Its own words say whether it asks for something personal:
`text` is a logistic model of seven signs in the query and, for models that it was fitted for, of the query's
vector. Eight signals describe each hit. A higher value is better:

near    its cosine, in standard deviations above the mean of all cosines found
tokens  its token match, in the same unit; without token vectors, the same as `near`
held    the weighted share of the query's content words that it contains
ahead   its BM25 minus the mean of the best five, divided by the weight of all content words
named   the share of the names in the query that it contains
share   the logarithm of its share of the ranking: a softmax over the standardised scores of the first 30,
        whose standard deviation is at least a tenth of the best score
fits    1; 0 if the question asks for a value, such as a number or a date, and the text has none
timed   how well its time matches the time that the query asks for, from 0 to 1

    a = constant + ln sigmoid(text) + (ln mean exp (4 * sum of weight * signal)) / 4   over the first ten hits
    h = constant of its kind + sum of weight * signal

    With n < 5 texts found by meaning, a has 1.2 * (1 - n / 5) more. ln sigmoid(text) is at most 0: words that
    ask for nothing personal lower a, and no words raise it.

    P(answer) = sigmoid(a)                         assuming that the store helps with 11 of 20 queries
    P(hit) = sigmoid(a + 1.19) * sigmoid(h)        assuming that it helps with 4 of 5, as in real use

An answer is never less likely than its best hit. No weight of a signal is negative, so a better signal never
lowers a probability. Only the first 30 of each list count, so a higher limit changes nothing. The signals
compare a hit with the rest of its store, so they mean the same for every model.
`recollect_bench.fit_confidence` fits all weights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from math import exp, fsum, log, log1p, sqrt
from pkgutil import get_data
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.language.questions import prompt_signs, written_names
from recollect.text.tokens import coarse_stem, content_words, query_terms, stems_of_word, words

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from recollect.domain.records import Kind
    from recollect.ranking.candidates import Flags, Floats, Ints


SIGNALS = ("near", "tokens", "held", "ahead", "named", "share", "fits", "timed")
SIGNS = ("personal", "errand", "general", "quotes", "code", "keywords", "timed")
"""Signs in the words of a query: it says I, my or our; it asks to write to someone or to plan something; it
asks for a translation, a definition or a joke; it includes a text to work on; it has code; it is at most
three keywords; it names a time.
"""
SHARPNESS = 4.0
"""How much the best of the first hits count more than their mean. A mean alone would be lower in small
stores, where fewer hits are about the subject of the query."""
_MOST_KEYWORDS = 3
MOST_QUERY_TERMS = 64
"""Maximum number of words of a query that are read."""
DEPTH = 30
"""The number of hits of each list that count; a shorter list counts whole."""
DECIDING_HITS = 10
"""The number of first hits that decide whether there is an answer, whatever the limit."""
_BEST = 5
_LEAST_DEVIATIONS, _MOST_DEVIATIONS = -1.0, 6.0
_PRIOR_TEXTS = 10
"""In a store of this number of texts, the usual range of the model and that of the store count the same."""
_RANGE_DEPTH = 100
"""The number of best scores that show what is usual in a store. Every search by meaning returns as many."""
_LEAST_TEXTS = 5
"""Without a known range of the model, fewer texts do not show which scores are high."""
_UNCERTAIN_TEXTS = 2
"""Without a known range of the model, deviations among this number of texts count half."""
_UNTOLD = 1.0
"""The deviation of a score then: to call a stored fact absent is worse than to show an unrelated one."""
_SMALL_STORE = 5
"""Number of texts. With fewer, the logit of an answer gets up to `_SMALL_BONUS` more."""
_SMALL_BONUS = 1.2
_LEAST_SHARE = -6.0
_LEAST_DEVIATION = 0.1
"""As a share of the best score."""
ANSWERABLE = 11 / 20
"""The share of queries with an answer that P(answer) assumes."""
USUAL_SHARE = 4 / 5
"""The share of queries with an answer that P(hit) assumes."""
_USUAL_SHIFT = log(USUAL_SHARE / (1 - USUAL_SHARE)) - log(ANSWERABLE / (1 - ANSWERABLE))
_LEAST_SPREAD = 0.01
_UNRELATED_COSINE = 0.05
"""A text below it that shares no word with the query is unrelated: its probability is 0."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query, by coarse stem."""

    weights: Mapping[str, float]
    """The weight of each stem; rarer stems weigh more."""
    names: frozenset[str] = frozenset()
    """Stems of words that are written as names."""
    of_time: frozenset[str] = frozenset()
    """Stems of words that name a time; a memory of that time counts as containing them."""

    @property
    def total_weight(self) -> float:
        return fsum(self.weights.values())

    @property
    def searched_weight(self) -> float:
        """The weight of the words that name no time, or of all words if every word names a time."""
        return fsum(weight for stem, weight in self.weights.items() if stem not in self.of_time) or (
            self.total_weight
        )

    def named_share(self, matched: Collection[str]) -> float:
        """Return the share of the query's names among the matched terms, from 0 to 1."""
        return len(self.names.intersection(matched)) / len(self.names) if self.names else 0.0

    def matched_share(self, matched: Collection[str], *, of_that_time: bool) -> float:
        """Return the weighted share of matched terms, from 0 to 1."""
        contained = self.of_time.union(matched) if of_that_time else matched
        # `fsum` is exact, so the unordered set cannot change the result.
        return fsum(self.weights.get(stem, 0.0) for stem in contained) / max(self.total_weight, 1e-9)


def weigh_query_terms(
    query: str, document_counts: Mapping[str, int], text_count: int, time_words: str = ""
) -> QueryTerms:
    """Weigh the query's terms. `document_counts` says how many of the texts contain each term.

    weight = ln(1 + text_count / (document_count + 0.5)); of words that share a stem, the rarest counts
    """
    weights: dict[str, float] = {}
    for word in query_terms(query, MOST_QUERY_TERMS):
        weight = log1p(text_count / (document_counts.get(word, 0) + 0.5))
        for stem in stems_of_word(word):
            weights[stem] = max(weight, weights.get(stem, 0.0))
    of_time = frozenset(coarse_stem(word) for word in _WORD.findall(time_words))
    names = frozenset(stem for name in written_names(query) for stem in stems_of_word(name))
    return QueryTerms(weights, (names & weights.keys()) - of_time, of_time & weights.keys())


@dataclass(frozen=True, slots=True)
class ScoreRange:
    """The mean and the standard deviation of the scores that a model gives to the texts of a store."""

    mean: float
    spread: float


@dataclass(frozen=True, slots=True)
class ModelRanges:
    """The usual ranges of one model. They count in small stores, which have few scores of their own."""

    cosine: ScoreRange
    tokens: ScoreRange | None = None


@dataclass(frozen=True, slots=True)
class TextWeights:
    """The weights of what the query says itself."""

    constant: float
    signs: tuple[float, ...]
    """In the order of `SIGNS`."""
    vector: tuple[float, ...] = ()
    """The weight of each number of the query's vector; empty for models that were not fitted."""


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    """The weight of each signal, in the order of `SIGNALS`."""

    hit: tuple[float, ...]
    kind: Mapping[str, float]
    """The constant for hits of each kind."""
    answer: tuple[float, ...]
    constant: float


@dataclass(frozen=True, slots=True)
class ConfidenceInput:
    """The candidates of one query: scores of all, and signals of those whose text was read."""

    cosine: Floats
    """NaN if the search by meaning did not find the candidate; likewise for BM25 and the token match."""
    bm25: Floats
    tokens: Floats
    order: Ints
    """The candidates' rows, best first: `DEPTH` or more, or all if there are fewer."""
    score: Floats
    """The ranking's scores, parallel to `order`."""
    rows: Ints
    """The rows whose text was read; those that decide about the answer come first."""
    first: int
    """The number of rows that decide about the answer."""
    kinds: Sequence[Kind]
    """Parallel to `rows`, as are all following fields."""
    matched: Sequence[frozenset[str]]
    """The query's terms that each text or its speaker's name contains."""
    near: Floats
    """The cosine of each text, even if the search by meaning did not return it; NaN without a vector."""
    fits: Flags
    """Whether each text has the kind of value that the question asks for."""
    timed: Floats
    """How well the time of each text matches the query's time; 0 if the query has none."""
    text: float = 0.0
    """The logit that the query asks for something personal; see `text_logit`."""


@dataclass(frozen=True, slots=True)
class ConfidenceEstimate:
    hits: Floats
    """Parallel to the rows that were read."""
    answer: float


def query_signs(query: str, *, timed: bool) -> tuple[float, ...]:
    """Return the signs in a query, 1 or 0, in the order of `SIGNS`."""
    signs = prompt_signs(query)
    said = words(query)
    keywords = 0 < len(said) <= _MOST_KEYWORDS and len(content_words(query)) == len(said)
    found = (
        signs.is_personal,
        signs.is_errand,
        signs.is_general,
        signs.quotes,
        signs.has_code,
        keywords,
        timed,
    )
    return tuple(map(float, found))


def text_logit(signs: Sequence[float], vector: ArrayLike | None, weights: TextWeights) -> float:
    """Return the logit that a query asks for something personal, by its own words."""
    parts = [weights.constant, *(w * sign for w, sign in zip(weights.signs, signs, strict=True))]
    if weights.vector and vector is not None:
        # `fsum` is exact, so the result has the same bits on every machine.
        parts += (np.asarray(vector, np.float64) * np.array(weights.vector)).tolist()
    return fsum(parts)


def estimate_confidence(
    inputs: ConfidenceInput, terms: QueryTerms, weights: ConfidenceWeights, ranges: ModelRanges | None
) -> ConfidenceEstimate:
    """Estimate both probabilities. Without `ranges`, only the scores of the candidates say which are high."""
    if not inputs.first:
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    signals = signal_rows(inputs, terms, ranges)
    related = np.array([bool(matched) for matched in inputs.matched]) | ~(inputs.near < _UNRELATED_COSINE)
    if not related[: inputs.first].any():
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    # Sum row by row: a matrix product may round a row differently when there are more rows.
    evidence = (signals * np.array(weights.answer)).sum(axis=1)[: inputs.first][related[: inputs.first]]
    # The mean rather than the sum, so that a store with one memory is not at a disadvantage.
    by_hits = mean_of_best(evidence, inputs.first)
    answer = weights.constant + log_sigmoid(inputs.text) + by_hits + _small_store_bonus(inputs)
    constants = np.array([weights.kind[kind] for kind in inputs.kinds])
    logits = (signals * np.array(weights.hit)).sum(axis=1) + constants
    # 1 / (1 + exp(-logit)), which would overflow far below 0.
    hits = np.where(related, _sigmoid(answer + _USUAL_SHIFT) * np.exp(-np.logaddexp(0.0, -logits)), 0.0)
    return ConfidenceEstimate(hits, max(_sigmoid(answer), float(hits.max())))


def signal_rows(inputs: ConfidenceInput, terms: QueryTerms, ranges: ModelRanges | None) -> Floats:
    """Return a row for each candidate that was read, with the columns of `SIGNALS`."""
    rows = inputs.rows
    bm25 = np.where(_is_first(inputs.bm25), inputs.bm25, 0.0)
    best = np.sort(bm25)[::-1][:_BEST]
    ahead = (bm25[rows] - (best.mean() if len(best) else 0.0)) / max(terms.searched_weight, 1e-9)
    held = [
        terms.matched_share(matched, of_that_time=timed > 0)
        for matched, timed in zip(inputs.matched, inputs.timed.tolist(), strict=True)
    ]
    near = _deviations(inputs.near, inputs.cosine, None if ranges is None else ranges.cosine)
    tokens = _deviations(inputs.tokens[rows], inputs.tokens, None if ranges is None else ranges.tokens)
    columns = (
        near,
        # Many models give no token vectors; cosines then count for both.
        tokens if np.isfinite(inputs.tokens).any() else near,
        np.array(held),
        np.clip(ahead, -2.0, 2.0),
        np.array([terms.named_share(matched) for matched in inputs.matched]),
        _shares(inputs),
        inputs.fits.astype(np.float64),
        inputs.timed,
    )
    return np.column_stack(columns)


def _small_store_bonus(inputs: ConfidenceInput) -> float:
    """Return the bonus for a store of few texts, among which the best one is less far above the mean."""
    count = int(np.isfinite(inputs.cosine).sum())
    return _SMALL_BONUS * (1 - count / _SMALL_STORE) if 0 < count < _SMALL_STORE else 0.0


def mean_of_best(evidence: Floats, count: int) -> float:
    """Return a mean of the hits' evidence in which the best weigh most; `count` includes unrelated hits."""
    return (float(np.logaddexp.reduce(SHARPNESS * evidence)) - log(count)) / SHARPNESS


def _deviations(scores: Floats, every: Floats, usual: ScoreRange | None) -> Floats:
    """Return how many standard deviations each score is above the mean; 0 for a missing one.

    The usual range of the model counts like `_PRIOR_TEXTS` scores at its mean and deviation. Without it,
    deviations shrink, because a list of few texts always has an outlier.
    """
    # In a fixed order, so that the order of the candidates cannot change the sums.
    known = np.sort(every[np.isfinite(every)])[::-1][:_RANGE_DEPTH]
    prior = 0 if usual is None else _PRIOR_TEXTS
    count = len(known) + prior
    if not len(known) or (usual is None and count < _LEAST_TEXTS):
        return np.where(np.isfinite(scores), _UNTOLD, 0.0)
    mean = (float(known.sum()) + (prior * usual.mean if usual else 0.0)) / count
    squares = float(((known - mean) ** 2).sum())
    if usual is not None:
        squares += prior * (usual.spread**2 + (usual.mean - mean) ** 2)
    above = (scores - mean) / max(sqrt(squares / count), _LEAST_SPREAD)
    if usual is None:
        above *= count / (count + _UNCERTAIN_TEXTS)
    return np.where(np.isfinite(scores), np.clip(above, _LEAST_DEVIATIONS, _MOST_DEVIATIONS), 0.0)


def _shares(inputs: ConfidenceInput) -> Floats:
    """Return ln softmax(z), where z = (score - mean) / standard deviation over the first 30 of the ranking.

    The deviation is at least a tenth of the best score: among equal scores, no hit gets a large share.
    """
    first = inputs.score[:DEPTH]
    spread = max(float(first.std()), _LEAST_DEVIATION * float(np.abs(first).max(initial=0.0))) or 1.0
    total = float(np.logaddexp.reduce((first - first.mean()) / spread)) if len(first) else 0.0
    shares = np.full(len(inputs.cosine), _LEAST_SHARE)
    shares[inputs.order] = (inputs.score - first.mean()) / spread - total if len(first) else 0.0
    clipped: Floats = np.clip(shares[inputs.rows], _LEAST_SHARE, 0.0)
    return clipped


def log_sigmoid(logit: float) -> float:
    """Return ln (1 / (1 + exp(-logit)))."""
    return min(logit, 0.0) - log1p(exp(-abs(logit)))


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > 0 else exp(logit) / (1 + exp(logit))


def _is_first(score: Floats) -> Flags:
    """Return whether each candidate is among the first `DEPTH` of a search."""
    found = np.flatnonzero(np.isfinite(score))
    first = np.zeros(len(score), bool)
    first[found[np.argsort(-score[found], kind="stable")][:DEPTH]] = True
    return first


# All weights, fitted once by `recollect_bench.fit_confidence` for all stores.

FILE = "confidence.json"


@dataclass(frozen=True, slots=True)
class FittedConfidence:
    """Weights with and without search by meaning, and facts of each model by its name."""

    meaning: ConfidenceWeights
    words: ConfidenceWeights
    ranges: Mapping[str, ModelRanges]
    texts: Mapping[str, TextWeights]
    """The key "" is for models that are not listed, and for words alone."""

    def for_model(self, model: str | None) -> tuple[ConfidenceWeights, ModelRanges | None]:
        """Return the weights and ranges for a model; None means that only words were searched."""
        if model is None:
            return self.words, None
        return self.meaning, self.ranges.get(model.partition("@")[0])

    def text_weights(self, model: str | None) -> TextWeights:
        """Return the weights of the query's own words and vector. A vector has one model and revision."""
        return self.texts.get(model or "", self.texts[""])


@cache
def fitted_confidence() -> FittedConfidence:
    plain = json.loads(get_data(__package__, FILE) or b"")
    weights = {
        name: ConfidenceWeights(
            tuple(hit[signal] for signal in SIGNALS),
            hit["constant"],
            tuple(answer[signal] for signal in SIGNALS),
            answer["constant"],
        )
        for name, each in plain["weights"].items()
        for hit, answer in ((each["hit"], each["answer"]),)
    }
    ranges = {
        model: ModelRanges(**{name: ScoreRange(**found) for name, found in each.items()})
        for model, each in plain["ranges"].items()
    }
    texts = {
        model: TextWeights(
            each["constant"],
            tuple(each["signs"][sign] for sign in SIGNS),
            tuple(map(float, each["vector"].split())),
        )
        for model, each in plain["texts"].items()
    }
    return FittedConfidence(**weights, ranges=ranges, texts=texts)
