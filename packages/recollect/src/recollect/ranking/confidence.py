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
"""A long query is judged by its first words."""
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
"""As a share of the best score."""
ANSWERED = 5 / 8
"""The share of questions with an answer for which P(answer) is set; without evidence, P is near it."""
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
    """Stems of words that name a time; a memory of that time counts as containing them."""

    @property
    def total_weight(self) -> float:
        return fsum(self.weights.values())

    @property
    def searched_weight(self) -> float:
        """The weight of the words that name no time, if there are any."""
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
    """`document_counts` says how many of the `texts` contain each of the `query_terms`.

    weight = ln(1 + texts / (document_count + 0.5)), that of the rarest word where several share a stem
    """
    weights: dict[str, float] = {}
    for word in query_terms(query, MOST_QUERY_TERMS):
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
    """The weight of each signal, in the order of `SIGNALS`."""

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
    """Scores of the ranking, beside `order`."""
    rows: Ints
    """The rows that were read, first those that decide about the answer."""
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
    nothing = np.zeros(len(inputs.rows))
    found = np.sort(inputs.cosine[np.isfinite(inputs.cosine)])[::-1][:DEPTH]
    background = found[_BACKGROUND]
    far = float(background.mean()) if len(background) >= _LEAST_BACKGROUND else None
    if not len(found):
        return nothing, nothing
    if scale is None:
        # For an unknown model, only a long list shows which cosines are near.
        if far is None:
            return nothing, nothing
        spread = max(float(found.std()), _LEAST_SPREAD)
        cosine = np.where(np.isfinite(inputs.near), inputs.near, far)
        return nothing, np.clip((cosine - far) / spread, 0.0, 2 * _FARTHEST)
    far = scale.background if far is None else far
    cosine = np.where(np.isfinite(inputs.near), inputs.near, min(far, scale.cosine))
    near = np.clip((cosine - scale.cosine) / scale.spread, -_FARTHEST, _FARTHEST)
    return near, np.clip((cosine - far) / scale.spread, 0.0, 2 * _FARTHEST)


def _shares(inputs: ConfidenceInput) -> Floats:
    """ln softmax(z), where z = (score - mean) / standard deviation over the first 30 of the ranking.

    The deviation counts as a tenth of the best score at least: among equal scores, no hit has a large share.
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


# The numbers of confidence: fitted once by `recollect_bench.fit_confidence`, the same for everyone.

FILE = "confidence.json"


@dataclass(frozen=True, slots=True)
class FittedConfidence:
    """Weights for what is known: the model's scale, only its cosines, or only words."""

    known: ConfidenceWeights
    unknown: ConfidenceWeights
    words: ConfidenceWeights
    scales: Mapping[str, CosineScale]
    """By the name of the model, in whichever revision."""

    def for_model(self, model: str | None) -> tuple[ConfidenceWeights, CosineScale | None]:
        """Without a model, meaning was not searched."""
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


# Bearing: how likely it is that a prompt calls for something remembered.

BEARING_FILE = "bearing.json"
READ = 20
"""Memories whose words count."""
SILENT_BELOW = 0.5
_MOST_NAMES = 2
_TOPIC_WORDS = 3
_SUREST = 0.999


@dataclass(frozen=True, slots=True)
class BearingSignals:
    """Signals of a prompt, from its wording and from the answer that a recall gives to it.

    A prompt is no question: one that asks for a menu needs the memory of an allergy, and one that asks for a
    synonym needs none, however near some memory may be.

    answer     the logit of the answer's confidence
    known      ln(1 + how many of its content words the first 20 memories contain)
    topic      1 where it has three content words at most, and one of these memories contains them all
    names      how many of the names in it these contain, at most two
    strangers  1 where it has names, and these contain none of them
    personal   1 where it says I, my, our                    timed    1 where it names a time
    quotes     1 where it brings along a text                code     1 where it shows signs of code
    errand     1 where it wants something written to someone, planned, bought, booked
    general    1 where it wants a translation, a definition, a joke, or only says good morning

        P(it calls for something) = sigmoid(constant + sum of weight * signal)

    Where the wording is in an unknown language, only the store counts. The weights were fitted by
    `recollect_bench.fit_bearing` and are in `bearing.json`, with the facts of the run.
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


def bearing_signals(
    signs: PromptSigns,
    stems: frozenset[str],
    confidence: float,
    matched: Sequence[frozenset[str]],
    *,
    timed: bool,
) -> BearingSignals:
    """`matched` has, of each of the first memories, the prompt's `stems` that it contains."""
    contained = frozenset[str]().union(*matched[:READ])
    names = {stem for name in signs.names for stem in stems_of_word(name)}
    known_names = names & contained
    likely = min(max(confidence, 1 - _SUREST), _SUREST)
    return BearingSignals(
        answer=log(likely / (1 - likely)),
        known=log1p(len(contained)),
        topic=float(0 < len(stems) <= _TOPIC_WORDS and any(each == stems for each in matched[:READ])),
        names=float(min(len(known_names), _MOST_NAMES)),
        strangers=float(bool(names) and not known_names),
        personal=float(signs.is_personal),
        timed=float(timed),
        quotes=float(signs.quotes),
        code=float(signs.has_code),
        errand=float(signs.is_errand),
        general=float(signs.is_general),
    )


def bearing(signals: BearingSignals, weights: Mapping[str, float] | None = None) -> float:
    known = fitted_bearing() if weights is None else weights
    logit = known["constant"] + sum(known[name] * value for name, value in asdict(signals).items())
    return 1 / (1 + exp(-logit))


@cache
def fitted_bearing() -> Mapping[str, float]:
    weights: Mapping[str, float] = json.loads(get_data(__package__, BEARING_FILE) or b"")["weights"]
    return weights
