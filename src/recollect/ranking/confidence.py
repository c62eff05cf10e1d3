"""Confidence: how likely a hit is to be what was asked for, and whether there is an answer at all.

Six signals of each hit, each the better the higher, from the first 30 of each search, however many it gave,
so that asking for more hits moves none of them:

near    its cosine, from the best cosine of questions that have no answer here, in their spreads
above   its cosine above the background, the cosines of the 11th to the 30th place, in the same spreads
held    the share of the query's content words that it contains, each by its weight
ahead   its BM25 minus the mean of the next four, by the weight of all content words
agreed  1 / its place by meaning + 1 / its place by words
named   1 where it is said by whom the question names; else, the share of the names that it contains

    logit(hit) = constant + sum of weight * signal                          P(the hit is relevant)
    logit(answer) = offset + slope * (ln sum exp logit(hit) - moved)        P(there is an answer)

The weights were fitted once, none below 0, and are the same everywhere. What a store learns of itself is its
scale: where the cosines and the sum lie for questions whose answer was taken out of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, fsum, log1p
from typing import TYPE_CHECKING

import numpy as np

from recollect.text.stems import coarse_stem, stems_of_word
from recollect.text.tokens import content_words, query_terms

if TYPE_CHECKING:
    from recollect.ranking.candidates import Floats, Ints

MOST_TERMS = 64
"""Of a long text that is given as a query, the first words say enough."""
_WRITTEN = re.compile(r"[^\W\d_][\w'’-]*")
_POSSESSIVE = re.compile(r"['’]s?$")
DEPTH = 30
"""How many hits of each search count. A search that gives fewer is judged by what it gave."""
_NEXT = 4
_BACKGROUND = slice(10, DEPTH)
_LEAST_BACKGROUND = 10
# So many questions of a store's own weigh as much as what was known before; and never all, since they are
# made by rule, and people ask otherwise.
_PRIOR = 10
_MOST_TRUSTED = 0.5
# How the spread and the best cosine lie to the standard deviation of a list's cosines, in a model we know.
_ESTIMATED_SPREAD = 2.1
_ESTIMATED_NEAR = 0.35
_FARTHEST = 4.0
"""Spreads; beyond it a cosine says nothing more."""

_NOTHING = -10.0
"""The sum where nothing was found."""


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


@dataclass(frozen=True, slots=True)
class CosineScale:
    """Where the cosines of a model lie: as measured once, until a store has learnt its own."""

    cosine: float
    """The best one, for a question that has no answer in the store: the mean."""
    spread: float
    """And its standard deviation."""
    background: float
    """Of what is far down the list."""


@dataclass(frozen=True, slots=True)
class ConfidenceWeights:
    near: float
    above: float
    held: float
    ahead: float
    agreed: float
    named: float
    constant: float
    slope: float
    offset: float
    usual: float
    """The sum, in the mean, for questions that have no answer."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a store has learnt of itself."""

    questions: int
    """Of its own, each asked with its answer there and with it taken out."""
    scale: CosineScale | None
    """None where meaning is not searched."""
    absent: float
    """The mean of the sum without the answers."""
    present: float
    """And with them."""
    auroc: float
    """How often a question that has its answer gets more than one that has not."""


@dataclass(frozen=True, slots=True)
class ConfidenceInput:
    """The candidates of one question: all their scores, and what those say that were read."""

    cosine: Floats
    """NaN where the search by meaning did not find it; so for BM25."""
    bm25: Floats
    rows: Ints
    """Those that were read, first those that the answer is judged by."""
    first: int
    """How many these are."""
    matched: Sequence[frozenset[str]]
    """Beside `rows`: the query's terms that each contains, its speaker's name counted in."""
    speakers: Sequence[frozenset[str]]
    """The stems of who said each."""
    near: Floats
    """The cosine of each, also where the search by meaning did not go down to it; NaN: it has no vector."""


@dataclass(frozen=True, slots=True)
class ConfidenceEstimate:
    hits: Floats
    """Beside the rows that were read."""
    answer: float
    total: float
    """The sum that the answer's probability is made of."""


MEANING = ConfidenceWeights(
    near=0.25,
    above=0.25,
    held=2.05,
    ahead=1.2,
    agreed=1.5,
    named=0.75,
    constant=-5.85,
    slope=1.0,
    offset=0.65,
    usual=-1.45,
)
"""Where meaning was searched."""
WORDS = ConfidenceWeights(
    near=0.0,
    above=0.0,
    held=2.65,
    ahead=3.8,
    agreed=1.8,
    named=1.2,
    constant=-5.9,
    slope=0.9,
    offset=0.75,
    usual=-1.05,
)
"""Where words were searched alone."""
SCALES = {"arctic-s": CosineScale(cosine=0.70, spread=0.045, background=0.62)}


def estimate_confidence(
    inputs: ConfidenceInput, terms: QueryTerms, scale: CosineScale | None, calibration: Calibration | None
) -> ConfidenceEstimate:
    """`scale` is what is known of the model beforehand; None: nothing, and the candidates must tell."""
    weights = MEANING if np.isfinite(inputs.cosine).any() else WORDS
    if not inputs.first:
        return ConfidenceEstimate(np.zeros(len(inputs.rows)), 0.0, _NOTHING)
    scale = blended_scale(inputs, scale, calibration)
    # Summed row by row: a product of matrices may round a row otherwise where there are more of them.
    logits = (signal_rows(inputs, terms, scale) * _row(weights)).sum(axis=1) + weights.constant
    total = float(np.logaddexp.reduce(logits[: inputs.first]))
    # 1 / (1 + exp(-logit)), which would overflow far below 0.
    hits = np.exp(-np.logaddexp(0.0, -logits))
    answer = _sigmoid(weights.offset + weights.slope * (total - _moved(weights, calibration)))
    # There is an answer where one of the hits is one; what else is shown does not make one.
    answer = max(answer, float(hits[: inputs.first].max()))
    return ConfidenceEstimate(np.minimum(hits, answer), answer, total)


def blended_scale(
    inputs: ConfidenceInput, known: CosineScale | None, calibration: Calibration | None
) -> CosineScale:
    """What was measured of the model, moved to where the store's own cosines lie; else what there is of both.

    Texts about one thing lie closer together than texts about many, so that each store has its own line. Its
    own questions are too much alike for the spread, which stays as it was measured on people's.
    """
    own = None if calibration is None else calibration.scale
    if known is None or own is None or calibration is None:
        return known or own or _estimated_scale(inputs.cosine)
    share = _trusted(calibration)
    return CosineScale(
        cosine=known.cosine + share * (own.cosine - known.cosine),
        spread=known.spread,
        background=known.background + share * (own.background - known.background),
    )


def signal_rows(inputs: ConfidenceInput, terms: QueryTerms, scale: CosineScale) -> Floats:
    """A row for each candidate that was read; columns as in `ConfidenceWeights`."""
    rows = inputs.rows
    by_meaning, by_words = _places(inputs.cosine), _places(inputs.bm25)
    far = background(inputs.cosine)
    far = scale.background if far is None else far
    cosine = np.where(np.isfinite(inputs.near), inputs.near, min(far, scale.cosine))
    bm25 = np.where(by_words > 0, inputs.bm25, 0.0)
    most = max(terms.total_weight, 1e-9)
    reciprocal = _reciprocal(by_meaning) + _reciprocal(by_words)
    return np.column_stack(
        [
            np.clip((cosine - scale.cosine) / scale.spread, -_FARTHEST, _FARTHEST),
            np.clip((cosine - far) / scale.spread, 0.0, 2 * _FARTHEST),
            # A set has no order, and a sum of floats has: one that is exact needs none.
            [fsum(terms.weights.get(each, 0.0) for each in matched) / most for matched in inputs.matched],
            (bm25 - _mean_of_next(bm25))[rows] / most,
            reciprocal[rows],
            _named(inputs, terms),
        ]
    )


def background(cosine: Floats) -> float | None:
    """The mean cosine far down the list; None where the list is too short to tell."""
    far = np.sort(cosine[np.isfinite(cosine)])[::-1][_BACKGROUND]
    return float(far.mean()) if len(far) >= _LEAST_BACKGROUND else None


def _row(weights: ConfidenceWeights) -> Floats:
    return np.array(
        [weights.near, weights.above, weights.held, weights.ahead, weights.agreed, weights.named], np.float64
    )


def _moved(weights: ConfidenceWeights, calibration: Calibration | None) -> float:
    """How far the sum lies from where it usually does, for questions without an answer."""
    if calibration is None:
        return 0.0
    return _trusted(calibration) * (calibration.absent - weights.usual)


def _trusted(calibration: Calibration) -> float:
    """How much a store's own questions count beside what was measured before: most, where there are many."""
    return _MOST_TRUSTED * calibration.questions / (calibration.questions + _PRIOR)


def _sigmoid(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > 0 else exp(logit) / (1 + exp(logit))


def _estimated_scale(cosine: Floats) -> CosineScale:
    """For a model that nobody has measured: its best for this question counts as neither near nor far."""
    found = np.sort(cosine[np.isfinite(cosine)])[::-1][:DEPTH]
    if not len(found):
        return CosineScale(0.0, 1.0, 0.0)
    spread = max(_ESTIMATED_SPREAD * float(found.std()), 0.01)
    return CosineScale(float(found[0]) - _ESTIMATED_NEAR * spread, spread, float(found[-1]))


def _places(score: Floats) -> Ints:
    """From 1; 0 where it was not found, or too far down."""
    found = np.flatnonzero(np.isfinite(score))
    first = found[np.argsort(-score[found], kind="stable")][:DEPTH]
    places = np.zeros(len(score), np.int64)
    places[first] = np.arange(1, len(first) + 1)
    return places


def _reciprocal(places: Ints) -> Floats:
    return np.where(places > 0, 1 / np.maximum(places, 1), 0.0)


def _mean_of_next(score: Floats) -> Floats:
    """For each, the mean of the best four others; 0 where there are none."""
    best = np.sort(score[score > 0])[::-1][: _NEXT + 1]
    if not len(best):
        return np.zeros_like(score)
    others = best[:_NEXT].mean()
    if len(best) == 1:
        return np.where(score >= best[-1], 0.0, others)
    without_own: Floats = (best.sum() - score) / (len(best) - 1)
    return np.where(score >= best[-1], without_own, others)


def _named(inputs: ConfidenceInput, terms: QueryTerms) -> Floats:
    """1 for what a named speaker said, where one speaks here; else the share of the names in the text."""
    if not terms.names:
        return np.ones(len(inputs.rows))
    called = terms.names & frozenset[str]().union(*inputs.speakers[: inputs.first])
    if called:
        # What nobody said counts as theirs where it names them.
        whose = [speaker or matched for speaker, matched in zip(inputs.speakers, inputs.matched, strict=True)]
        return np.array([float(bool(called & each)) for each in whose])
    return np.array([len(terms.names & matched) / len(terms.names) for matched in inputs.matched])
