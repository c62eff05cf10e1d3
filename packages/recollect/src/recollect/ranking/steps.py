"""Ranking steps. Each takes candidates and changes their scores, order or number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.numbers import distinct
from recollect.domain.records import Kind
from recollect.language.questions import QuestionTense, question_tense
from recollect.ranking.candidates import (
    ASSISTANT,
    SPEAKER,
    USER,
    Candidates,
    Floats,
    Ints,
    Profile,
    Source,
    Step,
    known_or_zero,
    register_as,
    rescale,
)
from recollect.ranking.factors import ComposedFactor, Factor, TemporalRelevance, factor_name

if TYPE_CHECKING:
    from recollect.domain.records import Query

STEPS: dict[str, type[Step]] = {}
"""Steps by the name that profiles use."""


@register_as(STEPS, "rrf", reads=())
class Rrf:
    """Add 1 / (k + rank) for each search that found the candidate.

    Reciprocal rank fusion: Cormack, Clarke & Büttcher, SIGIR 2009.
    """

    k: float = 60

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name in ("meaning", "words"):
            shares = _by_rank(candidates.source(name), 1.0, self.k)
            candidates = candidates.with_change(f"rrf: {name}", "plus", shares)
        return candidates


@register_as(STEPS, "weighted_rrf", reads=())
class WeightedRrf:
    """Add weight * (k + 1) / (k + rank) for each search that found the candidate (Cognis)."""

    vector_weight: float = 0.70
    bm25_weight: float = 0.30
    rrf_k: float = 10.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name, weight in (("meaning", self.vector_weight), ("words", self.bm25_weight)):
            shares = _by_rank(candidates.source(name), weight * (self.rrf_k + 1), self.rrf_k)
            candidates = candidates.with_change(f"weighted rrf: {name}", "plus", shares)
        return candidates


@register_as(STEPS, "linear", reads=())
class Linear:
    """Add weight * cosine (0 where negative or unknown) and weight * BM25 / the best BM25."""

    meaning: float = 0.5
    words: float = 0.3

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        values = self.meaning * positive_cosine(candidates)
        candidates = candidates.with_change("linear: meaning", "plus", values)
        return candidates.with_change("linear: words", "plus", self.words * words_share(candidates))


@register_as(STEPS, "blend", reads=())
class Blend:
    """Add weight * cosine, stretched to [0, 1] over the candidates, and weight * BM25 / the best BM25.

    Stretching corrects for models that place all texts close together: unrelated texts may have a cosine
    of 0.7.
    """

    meaning: float = 0.6
    words: float = 0.4

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        values = self.meaning * stretched_cosine(candidates)
        candidates = candidates.with_change("blend: meaning", "plus", values)
        return candidates.with_change("blend: words", "plus", self.words * words_share(candidates))


def positive_cosine(candidates: Candidates) -> Floats:
    """Return max(0, cosine), or 0 where the search by meaning did not find the candidate."""
    return np.maximum(0.0, known_or_zero(candidates.source("meaning").score))


def words_share(candidates: Candidates, source: str = "words") -> Floats:
    """Return BM25 divided by the best BM25 of the candidates, in [0, 1]."""
    scores = known_or_zero(candidates.source(source).score)
    best = candidates.highest(scores, at_least=0.0)
    return np.where(np.greater(best, 0), scores / np.where(np.greater(best, 0), best, 1.0), 0.0)


def stretched_cosine(candidates: Candidates) -> Floats:
    return _stretch(candidates, candidates.source("meaning").score)


def _stretch(candidates: Candidates, score: Floats) -> Floats:
    """Scale known scores from 0 (lowest) to 1 (highest); 0 where unknown, 1 where all are equal."""
    known = ~np.isnan(score)
    low = candidates.lowest(np.where(known, score, np.inf))
    high = candidates.highest(np.where(known, score, -np.inf))
    return np.where(known, rescale(score, low, high), 0.0)


def _by_rank(source: Source, weight: float, k: float) -> Floats:
    # Rank 0 means "not found"; it is never a divisor, for any k.
    return np.where(source.found, weight / (k + np.maximum(source.rank, 1)), 0.0)


# Steps that change each score: by a factor, base relevance, time, or a scale.


@register_as(STEPS, "times", reads=())
class Times:
    """Multiply the score by a factor, or divide a negative score by it, if `on` is true.

    So a factor below 1 lowers every score, and one above 1 raises every score. The part of a
    `ComposedFactor`, such as `importance`, is kept under its name.
    """

    factor: Factor
    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on:
            return candidates
        if isinstance(self.factor, ComposedFactor):
            part = self.factor.part(candidates, query)
            candidates, values = candidates.with_values(self.factor.part_name, part), self.factor.whole(part)
        else:
            values = self.factor(candidates, query)
        below = (candidates.score < 0) & (values > 0)
        values = np.where(below, 1 / np.where(below, values, 1.0), values)
        return candidates.with_change(factor_name(self.factor), "times", values)


@register_as(STEPS, "plus", reads=())
class Plus:
    """Add weight * factor to the score, if `on` is true."""

    factor: Factor
    weight: float = 1.0
    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on:
            return candidates
        values = self.weight * self.factor(candidates, query)
        return candidates.with_change(factor_name(self.factor), "plus", values)


@register_as(STEPS, "temporal_blend", reads=())
class TemporalBlend:
    """Mix share * temporal relevance + (1 - share) * score, if the query names a time (Cognis: 0.4)."""

    share: float = 0.4
    relevance: TemporalRelevance = field(default_factory=TemporalRelevance)

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not any(each.span for each in query.queries):
            return candidates
        share = candidates.by_query([self.share if each.span else 0.0 for each in query.queries])
        return candidates.with_change("temporal", "mix", self.relevance(candidates, query), share)


@register_as(STEPS, "base_relevance", reads=())
class BaseRelevance:
    """Set the score to the cosine; if only words found it, stretch the fused score to [low, low + reach].

    base = max(0, cosine)                       found by meaning
    base = 0.2 + 0.6 * (rrf - min) / (max - min)   found by words alone; 0.8 if all are equal
    """

    low: float = 0.2
    reach: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not len(candidates):
            return candidates
        fused = candidates.score
        share = rescale(fused, candidates.lowest(fused), candidates.highest(fused))
        by_words = self.low + self.reach * share
        base = np.where(candidates.source("meaning").found, positive_cosine(candidates), by_words)
        return candidates.with_change("base relevance", "set", base).with_values("base", base)


@register_as(STEPS, "keep", reads=())
class Keep:
    """Keep the score so far under a name, for a later step or for the answer."""

    name: str

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        return candidates.with_values(self.name, candidates.score)


@register_as(STEPS, "rescale", reads=())
class Rescale:
    """Stretch the scores to [0, 1] over the candidates; equal scores all become 1."""

    on: bool = True

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not self.on or not len(candidates):
            return candidates
        score = candidates.score
        low, high = candidates.lowest(score), candidates.highest(score)
        return candidates.with_change("rescaled", "rescale", np.zeros_like(score), low, high)


# Relations: entities that are related to an entity in the query.


@register_as(STEPS, "linked", reads=())
class LinkScore:
    """Add weight * the share of the query's words that name a candidate's relation to an entity in the query.

    For "Who worked with Ada?" these are entities that the graph connects to Ada.
    """

    weight: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        links = candidates.source("linked")
        if not links.found.any():
            return candidates
        return candidates.with_change("linked", "plus", self.weight * known_or_zero(links.score))


# Steps of time: prefer memories of the time that a query names, and dated texts if it asks when.

_MARGIN = 0.1


@register_as(STEPS, "time_score", reads=())
class TimeScore:
    """Add a score for how well a memory's times match the time in the query.

    weight * match
    related * match * stretched cosine, to prefer, of all memories of a year, those that the query is about
    tells, for texts with a time, if the question asks when and names no time
    stated / (1 + years / 5), if the query names a year and the text dates the start of something; `years`
    is the time from the last start that the text dates before that year
    """

    weight: float = 0.5
    related: float = 0.0
    tells: float = 0.15
    stated: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        for name, source, weight in (
            ("time", "time", self.weight),
            ("time and topic", "time", self.related),
            ("when", "when", self.tells),
            ("stated", "stated", self.stated),
        ):
            if source not in candidates.sources:
                continue
            score = candidates.source(source).score
            if np.isfinite(score).any():
                share = weight * stretched_cosine(candidates) if name == "time and topic" else weight
                candidates = candidates.with_change(name, "plus", share * known_or_zero(score))
        return candidates


@register_as(STEPS, "time_first", reads=())
class TimeFirst:
    """Rank memories of the queried time first, if the question asks for everything that happened then.

    The step adds the highest score minus the lowest, plus 0.1, to their scores. So they rank above all
    others, and the order within both groups stays.
    """

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        inside = candidates.source("then").score > 0
        if not inside.any():
            return candidates
        reach = np.subtract(candidates.highest(candidates.score), candidates.lowest(candidates.score))
        return candidates.with_change("then", "plus", np.where(inside, reach + _MARGIN, 0.0))


# Contradictions: rank the newer of two facts first.

# Minimum lead of a winner: larger than any rounding error.
_MIN_LEAD = 1e-9


@register_as(STEPS, "newest_wins", reads=())
class NewestWins:
    """Rank a candidate above the older one that it probably replaces.

    The winner gets the loser's score, if that is higher, plus a minimal lead. The loser gives up the share
    `fall` of its lead, or `fall_now` if the query asks for the present. If the query asks for the past, the
    current fact comes last, and the most recent of the others first. If the query names a time, the fact of
    that time wins: the last one that began before the time ended, otherwise the first one after it.

    The further the winner is behind, the likelier it must be that the newer one replaces the older one: the
    log-odds are at least `sure` + `behind` * the difference of the scores, and `sure` if the query names a
    time. From even odds on, any difference will do. A memory with a lower status never wins.
    """

    fall: float = 0.0
    fall_now: float = 0.5
    sure: float = -3.0
    behind: float = 8.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        decided = list(self._decide_pairs(candidates, query))
        if not decided:
            return candidates
        moved = _reorder(candidates.score, decided) - candidates.score
        return candidates.with_change("newest wins", "plus", moved) if moved.any() else candidates

    def _decide_pairs(self, candidates: Candidates, query: Query) -> Iterator[tuple[int, int, float]]:
        """Yield the row of each loser, of its winner, and the share of its lead that the loser gives up."""
        pairs = candidates.contradictions
        queries = query.queries
        tenses = [question_tense(each.text) for each in queries] if len(pairs.older) else []
        older, newer = candidates.rows_of(pairs.older), candidates.rows_of(pairs.newer)
        outdated = set(pairs.older.tolist())
        status = candidates.facts.status.tolist()
        rows = zip(
            older.tolist(),
            newer.tolist(),
            pairs.newer.tolist(),
            pairs.since.tolist(),
            np.log(pairs.chance / (1 - pairs.chance)).tolist(),
            strict=True,
        )
        score = candidates.score.tolist()
        for old, new, new_place, since, odds in rows:
            if old < 0 or new < 0:
                continue
            of = 0 if candidates.query is None else int(candidates.query[old])
            span = queries[of].span
            if span is not None:
                older_wins = since >= span[1]
            else:
                older_wins = tenses[of] is QuestionTense.PAST and new_place not in outdated
            fall = self.fall_now if tenses[of] is QuestionTense.NOW else self.fall
            loser, winner = (new, old) if older_wins else (old, new)
            # A lower number is a higher status.
            least = self.sure
            if span is None:
                behind = self.behind * max(0.0, score[loser] - score[winner])
                least = max(least, min(least + behind, 0.0))
            if odds >= least and status[winner] <= status[loser]:
                yield loser, winner, fall


def _reorder(score: Floats, decided: Sequence[tuple[int, int, float]]) -> Floats:
    """Return scores in which each winner is above all its losers."""
    ranked = score.copy()
    leading = [(loser, winner, fall) for loser, winner, fall in decided if score[loser] >= score[winner]]
    for loser, winner, fall in leading:
        ranked[loser] = min(ranked[loser], score[loser] - fall * (score[loser] - score[winner]))
    for loser, winner, _ in leading:
        ranked[winner] = max(ranked[winner], score[loser] + _MIN_LEAD)
    # A candidate may win one pair and lose another. With dates from different sources, pairs may even form a
    # cycle, so the number of rounds is limited.
    for _ in decided:
        behind = [
            (loser, winner) for loser, winner, _ in decided if ranked[winner] < ranked[loser] + _MIN_LEAD
        ]
        if not behind:
            break
        for loser, winner in behind:
            ranked[winner] = max(ranked[winner], ranked[loser] + _MIN_LEAD)
    return ranked


# Last steps: drop candidates that should not be shown, sort, and cut to the limit.


@register_as(STEPS, "threshold", reads=())
class Threshold:
    """Drop candidates that the word search did not find and whose cosine is below the threshold."""

    similarity_threshold: float = 0.3

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        cosine = positive_cosine(candidates)
        gone = ~candidates.source("words").found & (cosine < self.similarity_threshold)
        # `note` records the value that was tested, without changing the score.
        return candidates.with_change("threshold", "note", cosine).without(
            gone,
            "threshold",
            lambda: [f"cosine {value:.3f} is below {self.similarity_threshold}" for value in cosine[gone]],
        )


@register_as(STEPS, "drop_echo", reads=())
class DropEcho:
    """Drop messages of the current session that equal the query. Notes and entities stay."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        gone = candidates.facts.echo
        return candidates.without(gone, "echo", lambda: ["it is the query itself"] * int(gone.sum()))


@register_as(STEPS, "drop_repeats", reads=())
class DropRepeats:
    """Keep the best of candidates with the same text; among equal scores, the lowest id.

    Case, accents, spaces and punctuation at the ends do not count; with `ignore_marks`, punctuation between
    words does not count either. A message and the notes extracted from it repeat each other: if the message
    ranks above all its notes, they are dropped; otherwise the message is.
    """

    ignore_marks: bool = False

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        gone = np.zeros(len(candidates), bool)
        if len(distinct(candidates.facts.content)) < len(candidates):
            rows = best_first(candidates)
            _, first_places = np.unique(candidates.facts.content[rows], return_index=True)
            gone[:] = True
            gone[rows[first_places]] = False

        def why() -> list[str]:
            content, ids = candidates.facts.content, candidates.ids
            keepers = dict(zip(content[~gone].tolist(), ids[~gone].tolist(), strict=True))
            return [f"it repeats memory {keepers[key]}" for key in content[gone].tolist()]

        return _without_extracted(candidates.without(gone, "repeats", why))


def extracted_rows(candidates: Candidates) -> Ints:
    """Return the rows of notes whose message is a candidate too."""
    drawn = np.flatnonzero(candidates.facts.origin != candidates.ids)
    return drawn[np.isin(candidates.facts.origin[drawn], candidates.ids)] if len(drawn) else drawn


def _without_extracted(candidates: Candidates) -> Candidates:
    """Drop messages ranked below a note extracted from them, and notes ranked below their message."""
    drawn = extracted_rows(candidates)
    if not len(drawn):
        return candidates
    ids, origin = candidates.ids, candidates.facts.origin
    place = np.empty(len(candidates), np.int64)
    place[best_first(candidates)] = np.arange(len(candidates))
    row_of = {id_: row for row, id_ in enumerate(ids.tolist())}
    notes_of: dict[int, list[int]] = {}
    for row in drawn.tolist():
        notes_of.setdefault(row_of[int(origin[row])], []).append(row)
    repeated_by: dict[int, int] = {}
    for message, notes in notes_of.items():
        best = min(notes, key=lambda row: place[row])
        repeated_by |= dict.fromkeys(notes, message) if place[message] < place[best] else {message: best}
    gone = np.zeros(len(candidates), bool)
    gone[list(repeated_by)] = True
    return candidates.without(
        gone, "repeats", lambda: [f"memory {ids[repeated_by[row]]} says it" for row in sorted(repeated_by)]
    )


@register_as(STEPS, "order", reads=())
class Order:
    """Sort by score, best first; ties by id, so that equal inputs give equal orders."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        return candidates.at(best_first(candidates))


@register_as(STEPS, "cut", reads=())
class Cut:
    """Keep the first `limit` candidates."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        limit, count = query.limit, len(candidates)
        if count <= limit:
            return candidates
        return candidates.split(
            slice(limit),
            slice(limit, None),
            "cut",
            lambda: [f"it is at place {place + 1}" for place in range(limit, count)],
        )


def best_first(candidates: Candidates) -> Ints:
    """Return the rows, best first, query by query."""
    keys = (candidates.ids, -candidates.score)
    return np.lexsort(keys if candidates.query is None else (*keys, candidates.query))


def uncut(profile: Profile) -> list[Step]:
    return [step for step in profile.steps if not isinstance(step, Cut)]


_LONG = 2_000
"""In characters; longer texts count as this long."""
_ENTITY = tuple(Kind).index(Kind.ENTITY)


@register_as(STEPS, "meaning", reads=())
class MeaningScore:
    """Add `cosine` * the cosine, stretched to [0, 1] over the candidates."""

    cosine: float = 0.6

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        return candidates.with_change("meaning", "plus", self.cosine * stretched_cosine(candidates))


@register_as(STEPS, "words", reads=())
class WordScore:
    """Add `bm25` * BM25 / best BM25 + `share` * matched share of the query."""

    bm25: float = 0.4
    share: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        candidates = candidates.with_change("words", "plus", self.bm25 * words_share(candidates))
        matched = known_or_zero(candidates.source("held").score)
        return candidates.with_change("matched words", "plus", self.share * matched)


@register_as(STEPS, "tokens", reads=())
class TokenScore:
    """Add `match` * the token match, stretched to [0, 1], + `deviation` * its distance above the mean.

    The distance is in units of four standard deviations, from -1 to 2. With it, an outstanding match counts
    more than the first of many similar ones. If no candidate has token vectors, nothing is added.
    """

    match: float = 0.0
    deviation: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        score = candidates.source("tokens").score
        known = ~np.isnan(score)
        if not known.any():
            return candidates
        apart = _deviation(candidates, score, known)
        values = self.match * _stretch(candidates, score) + self.deviation * apart
        return candidates.with_change("tokens", "plus", values)


@register_as(STEPS, "drawn_notes", reads=())
class DrawnNotes:
    """Drop extracted notes whose message is a candidate: both are one answer."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        drawn = extracted_rows(candidates)
        gone = np.zeros(len(candidates), bool)
        gone[drawn] = True
        origin = candidates.facts.origin[drawn]
        return candidates.without(gone, "drawn", lambda: [f"memory {id_} says it" for id_ in origin.tolist()])


@register_as(STEPS, "conversation", reads=())
class ConversationScore:
    """Add a score for the text around a message, with weights by speaker: user, assistant or others.

    nearby        the neighbours' share of the query / the largest such share of any candidate
    conversation  the conversation's share of the query / the largest such share of any candidate
    reply         the stretched cosine of the question that it replies to
    before, after the stretched cosine of the messages before and after it, if they are candidates
    """

    nearby_speaker: float = 0.0
    conversation_user: float = 0.0
    conversation_assistant: float = 0.0
    conversation_speaker: float = 0.0
    reply_speaker: float = 0.0
    before_user: float = 0.0
    before_assistant: float = 0.0
    after_user: float = 0.0
    after_assistant: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        if not (candidates.facts.session != 0).any():
            return candidates
        earlier, later = _adjacent_rows(candidates)
        cosine = stretched_cosine(candidates)
        before, after, reply = np.zeros((3, len(candidates)))
        before[later] = cosine[earlier]
        after[earlier] = cosine[later]
        reply[later] = np.where(candidates.facts.asks[earlier], cosine[earlier], 0.0)
        for name, sign in (
            ("nearby", words_share(candidates, "nearby")),
            ("conversation", words_share(candidates, "conversation")),
            ("reply", reply),
            ("before", before),
            ("after", after),
        ):
            values = _by_role(self, f"{name}_", candidates.facts.role) * sign
            if values.any():
                candidates = candidates.with_change(f"conversation: {name}", "plus", values)
        return candidates


@register_as(STEPS, "origin", reads=())
class OriginScore:
    """Add a score by kind of memory, by speaker, and by form.

    speaker       for messages of people other than the user
    entity        for entities
    asks_speaker  for such messages that end with a question
    brief         1 - `Facts.informativeness`
    length        ln(1 + characters) / ln(1 + 2,000), up to 1; 0 for entities
    """

    speaker: float = 0.0
    entity: float = 0.0
    asks_speaker: float = 0.0
    brief: float = 0.0
    length: float = 0.0

    def __call__(self, candidates: Candidates, query: Query) -> Candidates:
        facts = candidates.facts
        length = np.log1p(np.minimum(facts.length, _LONG)) / np.log1p(_LONG)
        for name, values in (
            ("said by", _by_role(self, "", facts.role)),
            ("entity", self.entity * (facts.kind == _ENTITY)),
            ("asks", _by_role(self, "asks_", facts.role) * facts.asks),
            ("says little", self.brief * (1 - facts.informativeness)),
            ("length", self.length * length),
        ):
            if values.any():
                candidates = candidates.with_change(name, "plus", values.astype(np.float64))
        return candidates


def _by_role(step: Step, prefix: str, role: Ints) -> Floats:
    """Return the step's weight for the speaker of each candidate; 0 without a speaker or such a weight."""
    weights = np.zeros(4)
    for place, name in ((USER, "user"), (ASSISTANT, "assistant"), (SPEAKER, "speaker")):
        weights[place] = getattr(step, f"{prefix}{name}", 0.0)
    return weights[role]


def _deviation(candidates: Candidates, score: Floats, known: np.ndarray) -> Floats:
    """Return the distance above the mean known score, in units of four standard deviations, from -1 to 2."""
    values = np.where(known, score, 0.0)
    query = np.zeros(len(score), np.int64) if candidates.query is None else candidates.query
    count = np.maximum(np.bincount(query, known), 1)
    mean = np.bincount(query, values) / count
    variance = np.bincount(query, np.where(known, (values - mean[query]) ** 2, 0.0)) / count
    spread = np.sqrt(variance)[query]
    same = spread <= 0
    above = np.where(same, 0.0, (values - mean[query]) / np.where(same, 1.0, 4 * spread))
    return np.where(known, np.clip(above, -1.0, 2.0), 0.0)


def _adjacent_rows(candidates: Candidates) -> tuple[Ints, Ints]:
    """Return pairs of rows where the second message follows the first in its conversation."""
    facts = candidates.facts
    order = np.lexsort((facts.position, facts.session))
    earlier, later = order[:-1], order[1:]
    follows = (
        (facts.session[later] != 0)
        & (facts.session[earlier] == facts.session[later])
        & (facts.position[earlier] + 1 == facts.position[later])
    )
    return earlier[follows], later[follows]
