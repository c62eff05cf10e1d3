"""Confidence: the probability that a hit answers the query, and that the store has an answer at all.

Eight signals describe each hit. A higher value is better:

near    its cosine minus the usual best cosine of unanswerable questions, in the model's standard deviations
above   its cosine minus the background, the mean cosine of places 11 to 30, in the same unit
held    the weighted share of the query's content words that it contains
ahead   its BM25 minus the mean of the best five, divided by the weight of all content words
agreed  1 / its place by meaning + 1 / its place by words
share   the logarithm of its share of the ranking: a softmax over the standardised scores of the first 30,
        whose standard deviation is at least a tenth of the best score
fits    1; 0 if the question asks for a value, such as a number or a date, and the text has none
timed   how well its time matches the time that the query asks for, from 0 to 1

    a = constant + ln mean exp (sum of weight * signal)     over the first ten hits: is there an answer?
    h = constant of its kind + sum of weight * signal       if there is one, is it this hit?

    P(answer) = sigmoid(a)                         assuming that 5 of 8 questions have an answer
    P(hit) = sigmoid(a + ln 5.4) * sigmoid(h)      assuming that 9 of 10 have one, as in real use

Each probability has its own weights. An answer is never less likely than its best hit. No weight is negative,
so a better signal never lowers a probability. Only the first 30 of each list count, so a higher limit changes
nothing. `recollect_bench.fit_confidence` fits the weights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from math import exp, fsum, log, log1p
from pkgutil import get_data
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.lazy_dataclass import dataclass
from recollect.text.tokens import coarse_stem, query_terms, stems_of_word

if TYPE_CHECKING:
    from recollect.domain.records import Kind
    from recollect.language.questions import PromptSigns
    from recollect.ranking.candidates import Flags, Floats, Ints


SIGNALS = ("near", "above", "held", "ahead", "agreed", "share", "fits", "timed")
MOST_QUERY_TERMS = 64
"""Maximum number of words of a query that are read."""
DEPTH = 30
"""The number of hits of each list that count; a shorter list counts whole."""
DECIDING_HITS = 10
"""The number of first hits that decide whether there is an answer, whatever the limit."""
_BEST = 5
_BACKGROUND = slice(10, DEPTH)
_LEAST_BACKGROUND = 10
_MAX_DEVIATIONS = 4.0
"""In standard deviations; a cosine further away carries no more information."""
_LEAST_SHARE = -6.0
_LEAST_DEVIATION = 0.1
"""As a share of the best score."""
ANSWERABLE = 5 / 8
"""The share of answerable questions that P(answer) assumes; without evidence, P is near it."""
_USUAL_SHARE = 9 / 10
"""The share of answerable questions that P(hit) assumes."""
_USUAL_SHIFT = log(_USUAL_SHARE / (1 - _USUAL_SHARE)) - log(ANSWERABLE / (1 - ANSWERABLE))
_LEAST_SPREAD = 0.01
_UNRELATED_COSINE = 0.05
"""A text below it that shares no word with the query is unrelated: its probability is 0."""
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The terms of a query, by coarse stem."""

    weights: Mapping[str, float]
    """The weight of each stem; rarer stems weigh more."""
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
    return QueryTerms(weights, of_time & weights.keys())


@dataclass(frozen=True, slots=True)
class CosineScale:
    """The usual range of a model's cosines."""

    cosine: float
    """The mean best cosine of questions without an answer in the store."""
    spread: float
    """The standard deviation of that best cosine."""
    background: float
    """The mean cosine far down the list."""


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
    """The candidates of one question: scores of all, and signals of those whose text was read."""

    cosine: Floats
    """NaN if the search by meaning did not find the candidate; likewise for BM25."""
    bm25: Floats
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


@dataclass(frozen=True, slots=True)
class ConfidenceEstimate:
    hits: Floats
    """Parallel to the rows that were read."""
    answer: float


def estimate_confidence(
    inputs: ConfidenceInput, terms: QueryTerms, weights: ConfidenceWeights, scale: CosineScale | None
) -> ConfidenceEstimate:
    """Estimate both probabilities. Without a `scale`, the candidates' own cosines set the range."""
    if not inputs.first:
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    signals = signal_rows(inputs, terms, scale)
    related = np.array([bool(matched) for matched in inputs.matched]) | ~(inputs.near < _UNRELATED_COSINE)
    if not related[: inputs.first].any():
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0)
    # Sum row by row: a matrix product may round a row differently when there are more rows.
    evidence = (signals * np.array(weights.answer)).sum(axis=1)[: inputs.first][related[: inputs.first]]
    # The mean rather than the sum, so that a store with one memory is not at a disadvantage.
    answer = weights.constant + float(np.logaddexp.reduce(evidence)) - log(inputs.first)
    constants = np.array([weights.kind[kind] for kind in inputs.kinds])
    logits = (signals * np.array(weights.hit)).sum(axis=1) + constants
    # 1 / (1 + exp(-logit)), which would overflow far below 0.
    hits = np.where(related, _sigmoid(answer + _USUAL_SHIFT) * np.exp(-np.logaddexp(0.0, -logits)), 0.0)
    return ConfidenceEstimate(hits, max(_sigmoid(answer), float(hits.max())))


def signal_rows(inputs: ConfidenceInput, terms: QueryTerms, scale: CosineScale | None) -> Floats:
    """Return a row for each candidate that was read, with the columns of `SIGNALS`."""
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
    agreed = np.zeros(len(bm25))
    for places in (by_meaning, by_words):
        agreed += np.where(places > 0, 1 / np.maximum(places, 1), 0.0)
    columns = (
        near,
        above,
        np.array(held),
        np.clip(ahead, -2.0, 2.0),
        agreed[rows],
        _shares(inputs),
        inputs.fits.astype(np.float64),
        inputs.timed,
    )
    return np.column_stack(columns)


def _by_meaning(inputs: ConfidenceInput, scale: CosineScale | None) -> tuple[Floats, Floats]:
    zeros = np.zeros(len(inputs.rows))
    found = np.sort(inputs.cosine[np.isfinite(inputs.cosine)])[::-1][:DEPTH]
    background = found[_BACKGROUND]
    far = float(background.mean()) if len(background) >= _LEAST_BACKGROUND else None
    if not len(found):
        return zeros, zeros
    if scale is None:
        # For an unknown model, only a long list shows which cosines are high.
        if far is None:
            return zeros, zeros
        spread = max(float(found.std()), _LEAST_SPREAD)
        cosine = np.where(np.isfinite(inputs.near), inputs.near, far)
        return zeros, np.clip((cosine - far) / spread, 0.0, 2 * _MAX_DEVIATIONS)
    far = scale.background if far is None else far
    cosine = np.where(np.isfinite(inputs.near), inputs.near, min(far, scale.cosine))
    near = np.clip((cosine - scale.cosine) / scale.spread, -_MAX_DEVIATIONS, _MAX_DEVIATIONS)
    return near, np.clip((cosine - far) / scale.spread, 0.0, 2 * _MAX_DEVIATIONS)


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


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > 0 else exp(logit) / (1 + exp(logit))


def _places(score: Floats) -> Ints:
    """Return places from 1; 0 for candidates that were not found or are too far down."""
    found = np.flatnonzero(np.isfinite(score))
    first = found[np.argsort(-score[found], kind="stable")][:DEPTH]
    places = np.zeros(len(score), np.int64)
    places[first] = np.arange(1, len(first) + 1)
    return places


# The weights of confidence, fitted once by `recollect_bench.fit_confidence` for all stores.

FILE = "confidence.json"


@dataclass(frozen=True, slots=True)
class FittedConfidence:
    """Weights for three cases: a model with a known scale, an unknown model, and words alone."""

    known: ConfidenceWeights
    unknown: ConfidenceWeights
    words: ConfidenceWeights
    scales: Mapping[str, CosineScale]
    """Scales by model name, for all its revisions."""

    def for_model(self, model: str | None) -> tuple[ConfidenceWeights, CosineScale | None]:
        """Return the weights and scale for a model; None means that only words were searched."""
        if model is None:
            return self.words, None
        scale = self.scales.get(model.partition("@")[0])
        return (self.unknown if scale is None else self.known), scale


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
    scales = {name: CosineScale(**scale) for name, scale in plain["scales"].items()}
    return FittedConfidence(**weights, scales=scales)


# The relevance gate of `context`: the probability that a prompt needs a memory.

GATE_FILE = "relevance_gate.json"
GATE_DEPTH = 20
"""Number of first memories whose words are compared with the prompt."""
SILENT_BELOW = 0.5
_MOST_NAMES = 2
_TOPIC_WORDS = 3
_SUREST = 0.999


@dataclass(frozen=True, slots=True)
class GateSignals:
    """Signals of a prompt, from its wording and from the memories that a recall for it returns.

    Similarity is not enough: a prompt for a menu needs the memory of an allergy. A prompt for a synonym needs
    no memory, even a similar one.

    answer     the logit of the answer's confidence
    known      ln(1 + how many of its content words the first 20 memories contain)
    topic      1 if it has one to three content words, and one of these memories contains them all
    names      how many of its names these memories contain, up to two
    strangers  1 if it has names, and these memories contain none of them
    personal   1 if it says I, my, our                    timed    1 if it names a time
    quotes     1 if it includes a text to work on         code     1 if it shows signs of code
    errand     1 if it asks to write to someone, or to plan, buy or book something
    general    1 if it asks for a translation, a definition or a joke, or only greets

        P(it needs a memory) = sigmoid(constant + sum of weight * signal)

    In an unknown language, only signals from the store count. `recollect_bench.fit_relevance_gate` fitted the
    weights in `relevance_gate.json`.
    """

    answer: float
    known: float
    topic: float
    names: float
    strangers: float
    personal: float
    timed: float
    quotes: float
    code: float
    errand: float
    general: float


def prompt_stems(prompt: str) -> frozenset[str]:
    return frozenset(stem for word in query_terms(prompt) for stem in stems_of_word(word))


def gate_signals(
    signs: PromptSigns,
    stems: frozenset[str],
    confidence: float,
    matched: Sequence[frozenset[str]],
    *,
    timed: bool,
) -> GateSignals:
    """Compute the signals. `matched` has the prompt's `stems` that each of the first memories contains."""
    contained = frozenset[str]().union(*matched[:GATE_DEPTH])
    names = {stem for name in signs.names for stem in stems_of_word(name)}
    known_names = names & contained
    likely = min(max(confidence, 1 - _SUREST), _SUREST)
    return GateSignals(
        answer=log(likely / (1 - likely)),
        known=log1p(len(contained)),
        topic=float(0 < len(stems) <= _TOPIC_WORDS and any(each == stems for each in matched[:GATE_DEPTH])),
        names=float(min(len(known_names), _MOST_NAMES)),
        strangers=float(bool(names) and not known_names),
        personal=float(signs.is_personal),
        timed=float(timed),
        quotes=float(signs.quotes),
        code=float(signs.has_code),
        errand=float(signs.is_errand),
        general=float(signs.is_general),
    )


def memory_needed(signals: GateSignals, weights: Mapping[str, float] | None = None) -> float:
    """Return the probability that the prompt needs a memory."""
    known = gate_weights() if weights is None else weights
    logit = known["constant"] + sum(known[name] * value for name, value in asdict(signals).items())
    return 1 / (1 + exp(-logit))


@cache
def gate_weights() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(get_data(__package__, GATE_FILE) or b"")["weights"]
    return weights
