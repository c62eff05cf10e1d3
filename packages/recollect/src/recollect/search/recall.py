"""Recall: search, rank, and return an answer. Every recall runs through this module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import datetime
from typing import Any

import numpy as np

from recollect.domain.errors import InvalidInput, ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import DEFAULT_LIMIT, MOST_HITS, QUERY_LIMIT, UNLIKELY, name_as_kept
from recollect.domain.records import AsOf, Filter, Kind, Memory, Model, Passage, Query, memory_at
from recollect.domain.results import Answer, Hit, Mode, Place
from recollect.domain.tables import OneOf
from recollect.language.questions import OPEN_WORDS, answer_shape, has_shape
from recollect.language.time_phrases import TimePhrase, time_of
from recollect.ranking.candidates import (
    Candidates,
    FactGroup,
    Floats,
    Ints,
    Profile,
    known_or_zero,
    reasons,
    run,
)
from recollect.ranking.confidence import (
    DECIDING_HITS,
    MOST_QUERY_TERMS,
    ConfidenceInput,
    QueryTerms,
    estimate_confidence,
    fitted_confidence,
    query_signs,
    text_logit,
    weigh_query_terms,
)
from recollect.ranking.factors import microseconds
from recollect.ranking.profiles import groups_read
from recollect.ranking.routing import RerankBlend, Route, strategy_for
from recollect.ranking.steps import Cut, uncut
from recollect.search.candidates import Gathered, Search, gather
from recollect.search.contradictions import conflicts_by_memory
from recollect.search.facts import span_between
from recollect.search.recording import Rankers, Trace, baseline_of, rankers_for, record_shown
from recollect.search.rows import PASSAGE_COLUMNS, memories_and_rows, memories_by_id, moment, passages_from
from recollect.search.texts import has_pending, passages_by_id
from recollect.search.words import MOST_TERMS
from recollect.services import Services
from recollect.stores.port import Embedder, Reranker, RowsQuery, Snapshot, Vector
from recollect.text.passages import passage_spans
from recollect.text.tokens import content_words, count_tokens, matched_terms, pair_queries, query_terms, words
from recollect.write.embedding import (
    embed_query,
    embedder_for,
    embedder_of,
    replace_missing_model,
    switch_model_if_needed,
)
from recollect.write.inputs import as_of_time, tags_of

# Texts of memories, and budgets


def fit_budget(hits: tuple[Hit, ...], budget: int | None) -> tuple[Hit, ...]:
    """Return the best hits whose texts fit the budget together. A hit that does not fit is skipped."""
    if budget is None:
        return hits
    kept = []
    left = budget
    for hit in hits:
        cost = count_tokens(memory_text(hit.memory, hit.piece))
        if cost <= left:
            kept.append(hit)
            left -= cost
    return tuple(kept)


def memory_text(memory: Memory, piece: str | None = None) -> str:
    """Return the text of a memory; for a long one, the passage that was found."""
    if memory.kind is not Kind.ENTITY:
        return memory.text if piece is None else piece
    return "\n".join((f"{memory.name} ({memory.type})", *(seen.content for seen in memory.in_force)))


def text_preview(text: str, max_chars: int = 80) -> str:
    """Return the beginning of a text on one line of at most `max_chars` characters."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def piece_of(memory: Memory, query: str) -> str | None:
    """Return the passage of a long text that contains most words of the query."""
    pieces = passage_spans(memory.text)
    if len(pieces) == 1:
        return None
    sought = set(content_words(query))
    start, stop = max(pieces, key=lambda span: len(sought.intersection(words(memory.text[slice(*span)]))))
    return memory.text[start:stop]


# Confidence of an answer, and dropping weak hits

_TIME_ONLY_CONFIDENCE = 0.95
"""The confidence of a memory of the query's time, if the query asks for nothing else."""
# Without an explicit limit, hits below this confidence, or below this share of the best one, are weak.
_LEAST_CONFIDENCE = 0.02
_LEAST_SHARE_OF_BEST = 1 / 10


def _whole_ranking(ranked: Candidates) -> tuple[Ints, Floats]:
    """Return the ids and scores of the whole ranking before it was cut, best first."""
    cut = [removal for removal in ranked.removals if removal.step == "cut"]
    ids = np.concatenate([ranked.ids, *(removal.ids for removal in cut)])
    return ids, np.concatenate([ranked.score, *(removal.scores for removal in cut)])


def memories_to_read(ranked: Candidates) -> list[int]:
    """Return the memories to load for the confidence: those shown, and the first of the ranking."""
    return sorted({*ranked.ids.tolist(), *_whole_ranking(ranked)[0][:DECIDING_HITS].tolist()})


def answer_confidence(
    search: Search, gathered: Gathered, ranked: Candidates, memories: Mapping[int, Memory]
) -> tuple[dict[int, float], float]:
    """Return the confidence of each of these memories, and of the answer.

    `memories` are those of `memories_to_read`.
    """
    query = gathered.query
    model = None if query.vector is None or search.model is None else search.model[1].name
    fitted = fitted_confidence()
    signs = query_signs(query.text, timed=query.time is not None)
    text = text_logit(signs, query.vector, fitted.text_weights(model))
    inputs, terms = confidence_input(search, gathered, ranked, memories)
    done = estimate_confidence(replace(inputs, text=text), terms, *fitted.for_model(model))
    hits, answer = done.hits, done.answer
    if query.only_time:
        then = gathered.candidates.source("then").score > 0
        hits = np.where(then[inputs.rows], _TIME_ONLY_CONFIDENCE, hits)
        answer = max(answer, _TIME_ONLY_CONFIDENCE) if then[inputs.rows[: inputs.first]].any() else answer
    ids = gathered.candidates.ids[inputs.rows].tolist()
    return dict(zip(ids, hits.tolist(), strict=True)), answer


def confidence_input(
    search: Search, gathered: Gathered, ranked: Candidates, memories: Mapping[int, Memory]
) -> tuple[ConfidenceInput, QueryTerms]:
    candidates, query = gathered.candidates, gathered.query
    ranked_ids, ranked_scores = _whole_ranking(ranked)
    order = np.searchsorted(candidates.ids, ranked_ids)
    first = order[:DECIDING_HITS].tolist()
    shown = np.searchsorted(candidates.ids, sorted(memories)).tolist()
    rows = np.array(list(dict.fromkeys([*first, *shown])), np.int64)
    read = [memories[id_] for id_ in candidates.ids[rows].tolist()]
    texts = [f"{memory.speaker or ''} {memory_text(memory)}" for memory in read]
    count, counts = search.document_counts(query_terms(query.search_text, MOST_QUERY_TERMS))
    time_words = "" if query.time is None else query.text[slice(*query.time.place)]
    terms = weigh_query_terms(query.search_text, counts, count, time_words)
    shape = answer_shape(query.text)
    cosine = candidates.source("meaning").score
    inputs = ConfidenceInput(
        cosine=cosine,
        bm25=candidates.source("words").score,
        tokens=candidates.source("tokens").score,
        order=order,
        score=ranked_scores,
        rows=rows,
        first=len(first),
        kinds=[memory.kind for memory in read],
        matched=[matched_terms(text, terms.weights.keys()) for text in texts],
        near=_cosines(search, cosine, rows, candidates.ids, query.vector),
        fits=np.array([shape is None or has_shape(text, shape) for text in texts], bool),
        timed=known_or_zero(candidates.source("time").score)[rows],
    )
    return inputs, terms


def hits_worth_reading(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits up to the last one that is not weak, and at least one.

    Weak hits in between stay: the order is the ranking's, and the next page continues after the last hit.
    """
    best = max((hit.confidence or 0.0 for hit in hits), default=0.0)
    least = max(_LEAST_CONFIDENCE, _LEAST_SHARE_OF_BEST * best)
    worth = [place for place, hit in enumerate(hits, start=1) if (hit.confidence or 0.0) >= least]
    return tuple(hits[: max(worth, default=1)])


def _cosines(search: Search, cosine: Floats, rows: Ints, ids: Ints, vector: Vector | None) -> Floats:
    """Return the cosines of these rows, even of those that the search by meaning did not return."""
    near = cosine[rows]
    if vector is None:
        return near
    far = np.flatnonzero(~np.isfinite(near))
    if len(far):
        place_of = dict(zip(ids[rows[far]].tolist(), far.tolist(), strict=True))
        for hit in search.snapshot.cosines(vector, sorted(place_of)):
            near[place_of[hit.id]] = hit.score
    return near


# Re-ranking

# In characters, a little less than a model reads. Of a longer memory, it reads only the passage found.
_LONGEST_TO_RERANK = 2_000


def reranker_for(services: Services, query: Query) -> tuple[Reranker | None, str | None]:
    """Return the re-ranker to use, or a note that says why it cannot be used.

    Raise `ModelUnavailable` instead of a note if the caller asked for re-ranking.
    """
    if query.rerank is False or (query.rerank is None and not services.reranks):
        return None, None
    try:
        return services.reranker(), None
    except ModelUnavailable as error:
        return None, rerank_note(query, error)


def rerank_note(query: Query, error: ModelUnavailable) -> str:
    if query.rerank:
        raise error
    return f"Not re-ranked: {error}"


@dataclass(frozen=True, slots=True)
class Rescorer:
    """A re-ranker for one query. It reads each memory once, however often the list is ranked."""

    reranker: Reranker
    snapshot: Snapshot
    query: Query
    step: RerankBlend = field(default_factory=RerankBlend)
    _known: dict[int, float] = field(default_factory=dict)

    def __call__(self, ranked: Candidates, gathered: Gathered) -> Candidates:
        """Re-rank the first places of a list, and return the whole list."""
        first = ranked.ids[: self.step.read_count(gathered.query.limit)].tolist()
        unknown = [id_ for id_ in first if id_ not in self._known]
        scores = self.reranker.scores(self.query.text, self._texts(unknown, gathered))
        self._known.update(zip(unknown, scores.tolist(), strict=True))
        readings = np.array([self._known[id_] for id_ in first])
        return self.step(ranked, readings, gathered.query, self.reranker.name)

    def _texts(self, ids: Sequence[int], gathered: Gathered) -> list[str]:
        memories = memories_by_id(self.snapshot, ids)
        as_asked = [memory_at(memories[id_], self.query.where.as_of) for id_ in ids]
        nearest = gathered.nearest_passages
        wanted = [nearest[memory.id] for memory in as_asked if memory.id in nearest and _is_long(memory)]
        passages = {passage.memory: passage for passage in passages_by_id(self.snapshot, wanted, memories)}
        return [text_to_rerank(memory, self.query.text, passages.get(memory.id)) for memory in as_asked]


def text_to_rerank(memory: Memory, query: str, passage: Passage | None = None) -> str:
    """Return the text for the model: the speaker, and the text or, if it is long, the passage found."""
    if memory.kind is Kind.ENTITY:
        return passage.text if passage is not None and _is_long(memory) else memory_text(memory)
    piece = None
    if _is_long(memory):
        piece = passage.piece if passage is not None else piece_of(memory, query)
    text = memory_text(memory, piece)
    return f"{memory.speaker}: {text}" if memory.speaker else text


def _is_long(memory: Memory) -> bool:
    return len(memory_text(memory)) > _LONGEST_TO_RERANK


# Time phrases with a lower confidence are ignored.
_LEAST_TIME_CONFIDENCE = 0.6
# In characters. A longer query is a pasted text, which a model would need seconds to read. Only its beginning
# is embedded and searched for times.
_LONGEST_QUESTION = 2_000
# Facts from the usage of earlier answers.
_USAGE_FACTS: frozenset[FactGroup] = frozenset({"usage", "cooccurrence"})
WAITING = "Some texts still wait for a vector, so only words find them."
"""A note of an answer. The command line adds the command to run; a server embeds texts by itself."""


def query_of(
    services: Services,
    text: str,
    profile: Profile,
    *,
    now: datetime | None = None,
    limit: int | None = None,
    kinds: Collection[str] = tuple(Kind),
    session: str | None = None,
    across: bool = False,
    as_of: AsOf | None = None,
    tags: Iterable[str] = (),
    category: str | None = None,
    speaker: str | None = None,
    about: int | None = None,
    include_superseded: bool = False,
    **how: Any,
) -> Query:
    """Make a query from the caller's arguments, without its vector. `how` sets further fields.

    `session` defaults to the one that the memory was opened with. With `across`, messages of every session
    are found. Times are relative to `as_of`, else to `now`.
    """
    if not isinstance(text, str):
        raise InvalidInput(f"The query is text, not {type(text).__name__}.")
    if len(text) > QUERY_LIMIT:
        raise InvalidInput(
            f"The query has {len(text):,} characters, and at most {QUERY_LIMIT:,} are allowed; shorten it."
        )
    then = None if as_of is None else as_of_time(as_of, services.zone)
    asked_at = microseconds(then or now or services.clock())
    session = session or services.session
    current = None if not session else name_as_kept(session) or None
    query = Query(
        text,
        now=asked_at,
        limit=DEFAULT_LIMIT if limit is None else limit,
        limit_given=limit is not None,
        where=Filter(
            services.scope.owner,
            services.scope.agent,
            kinds=kinds_of(kinds),
            current=None if across else current,
            tags=frozenset(tags_of(tags) if tags else ()),
            category=category,
            speaker=speaker,
            about=about,
            as_of=then,
            superseded=include_superseded,
            # Superseded memories include expired ones.
            expired_by=None if include_superseded else asked_at,
        ),
        session=current or services.usage.session,
        **how,
    )
    _check(query)
    # Times in a query are relative to the moment of the query, in the user's time zone.
    phrase = time_of(text[:_LONGEST_QUESTION], moment(query.now).astimezone(services.zone))
    if phrase is None or phrase.confidence < _LEAST_TIME_CONFIDENCE:
        return replace(query, search_text=text)
    search_text, only_time, named = _search_text(text, phrase, profile)
    return replace(
        query,
        search_text=search_text,
        only_time=only_time,
        time=phrase,
        time_words=named,
        span=span_between(phrase.start, phrase.stop),
        next_span=None if phrase.next is None else span_between(*phrase.next),
    )


def kinds_of(given: Collection[str]) -> frozenset[Kind]:
    """Return the kinds of these names; a single name counts as a list of one."""
    words = (given,) if isinstance(given, str) else tuple(given)
    try:
        return frozenset(Kind(word) for word in words)
    except ValueError:
        wrong = ", ".join(repr(str(word)) for word in words if word not in set(Kind))
        raise InvalidInput(f"There is no kind {wrong}; the kinds are: {', '.join(Kind)}.") from None


def _check(query: Query) -> None:
    if isinstance(query.limit, bool) or not isinstance(query.limit, int):
        raise InvalidInput(f"The limit is a whole number, not {query.limit!r}.")
    if not 0 <= query.limit <= MOST_HITS:
        raise InvalidInput(f"The limit is from 0 to {MOST_HITS:,} hits, not {query.limit}.")
    if query.budget_tokens is not None:
        check_budget(query.budget_tokens)
    least: object = query.min_confidence
    if least is not None and (
        isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1
    ):
        raise InvalidInput(f"The minimum confidence is a number from 0 to 1, not {least!r}.")


def check_budget(budget: object) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"The budget is a number of tokens above 0, not {budget!r}.")


def _search_text(text: str, phrase: TimePhrase, profile: Profile) -> tuple[str, bool, tuple[str, ...]]:
    """Return the query without its time, whether nothing else is left, and the time's words to search for.

    `What did Ana say about the boiler last week?` asks for Ana and the boiler, not for weeks.
    """
    if not any(getattr(retriever, "then", False) for retriever in profile.retrieve):
        return text, False, ()
    start, stop = phrase.place
    before, spoken, after = text[:start], text[start:stop], text[stop:]
    # Texts may contain a year or a holiday: "born in 1944", "the lights at Christmas".
    named = [word for word in spoken.split() if word[0].isupper() or any(map(str.isdigit, word))]
    content = [word for word in content_words(f"{before} {after}") if word not in OPEN_WORDS]
    return (" ".join((before, *named, after)), False, tuple(named)) if content else (text, True, ())


def recall(services: Services, asked: Query, profile: Profile) -> Answer:
    """Return the best memories for a query, best first."""
    if asked.limit == 0 or not asked.text.strip():
        return Answer(asked.text, (), "words", profile=profile.name)
    present = asked.where.as_of is None
    # Unrecorded recalls never switch the model.
    model_note = switch_model_if_needed(services, asked.text) if asked.record and present else None
    with open_search(services, asked, profile, baseline_of(services, profile)) as (search, query, note):
        # Only recorded answers are part of a trial.
        recorded = present and (query.record or query.defer_recording)
        rankers = rankers_for(services, search, profile, query.text, tuned=query.tuned, trial=recorded)
        gathered, ranked, rerank_problem = _rank(services, search, query, rankers)
        ids = ranked.ids.tolist()
        wanted = memories_to_read(ranked) if query.with_confidence else ids
        nearest = gathered.nearest_passages
        shown_passages = OneOf("id", [nearest[id_] for id_ in ids if id_ in nearest])
        found_by = RowsQuery("passage", PASSAGE_COLUMNS, (shown_passages,))
        present_memories, (rows,) = memories_and_rows(search.snapshot, wanted, [found_by])
        passages = {each.id: each for each in passages_from(search.snapshot, rows, present_memories)}
        memories = {id_: memory_at(memory, query.where.as_of) for id_, memory in present_memories.items()}
        hit_confidences: Mapping[int, float] = {}
        confidence: float | None = None
        if query.with_confidence:
            hit_confidences, confidence = answer_confidence(search, gathered, ranked, memories)
        hits = _hits(ranked, gathered, memories, passages, hit_confidences)
        now = moment(query.now)
        trace = Trace(
            services.usage.handle(now),
            rankers,
            gathered.candidates,
            query,
            services.trial.bounds,
            tuple(ids),
            services.trial.keeps_text,
            several_scopes=len(search.scopes) > 1,
        )
    # An explicit limit is filled. Without one, weak hits are dropped.
    found = len(hits)
    hits = hits if query.limit_given or confidence is None else hits_worth_reading(hits)
    abstained = query.abstain and confidence is not None and confidence < UNLIKELY
    likely = () if abstained else hits
    least = query.min_confidence
    if least is not None:
        likely = tuple(hit for hit in likely if hit.confidence is None or hit.confidence >= least)
    shown = fit_budget(likely, query.budget_tokens)
    # Queries about the past are not recorded.
    if query.record and present:
        record_shown(services, [hit.memory for hit in shown], now, query.text, profile.name, trace)
    # Hybrid if both meaning and words found something, as in the published pipeline.
    by_meaning = bool(gathered.found.get("meaning"))
    mode: Mode = "words" if not by_meaning else "hybrid" if gathered.found.get("words") else "meaning"
    strategy = None
    if any(isinstance(step, Route) and step.on for step in rankers.shown.steps):
        strategy = strategy_for(query.text, query.limit if query.limit_given else None).value
    return Answer(
        query=query.text,
        hits=shown,
        mode=mode,
        note=" ".join(filter(None, (rankers.note, rerank_problem, note, _cut_note(query), model_note)))
        or None,
        profile=profile.name,
        strategy=strategy,
        time=query.time,
        left_out=len(likely) - len(shown),
        confidence=confidence,
        abstained=abstained,
        withheld=found if abstained else len(hits) - len(likely),
        unread=0 if abstained else found - len(hits),
        trace=trace if services.trial.log and present and not trace.several_scopes else None,
    )


@contextmanager
def open_search(
    services: Services, query: Query, *profiles: Profile
) -> Iterator[tuple[Search, Query, str | None]]:
    """Open one snapshot: yield its searches, the query with its vector, and a note if meaning is incomplete.

    The query is embedded before the snapshot opens, so that no snapshot waits for a model. `profiles` will
    rank the candidates.
    """
    expected = services.store.last_model
    model, embedded, note = _embed_query(services, query, expected)
    # Write pending usage first, so that this answer reads it.
    if not _USAGE_FACTS.isdisjoint(groups_read(*profiles)):
        services.usage.settle(services.usage.patience_seconds)
    while True:
        with services.read() as snapshot:
            search = Search(snapshot, query.where)
            used = services.store.last_model = None if search.model is None else search.model[1]
            # A store without vectors has no model yet.
            fits = used is None or (model is not None and used.name == model.name)
            if fits or (embedded.vector is None and expected in (None, used)):
                waits = used is not None and search.some_pending and has_pending(snapshot, search.scopes)
                yield search, embedded, note or (WAITING if waits else None)
                return
        # Another process switched the model, and vectors of two models cannot be compared.
        former, expected = model, None
        model, embedded, note = _embed_query(services, query)
        if model is not None and model == former:
            embedded = query
            note = "Searched by words only: another model than the installed one made the vectors."


def _embed_query(
    services: Services, query: Query, used: Model | None = None
) -> tuple[Model | None, Query, str | None]:
    """Embed the query with the model `used`, or else the store's; return a note if that fails."""
    try:
        embedder: Embedder = embedder_of(services) if used is None else embedder_for(services, used)
        vector, tokens = embed_query(embedder, query.search_text[:_LONGEST_QUESTION])
    except ModelUnavailable as error:
        # Unrecorded recalls never switch the model.
        changed = replace_missing_model(services) if query.record and query.where.as_of is None else None
        if changed is not None:
            return *_embed_query(services, query)[:2], changed
        return None, query, f"Searched by words only: {error}"
    return embedder.model, replace(query, vector=vector, tokens=tokens), None


def _cut_note(query: Query) -> str | None:
    text = query.search_text
    has_more_terms = len(text) > MOST_TERMS and len(query_terms(text)) > MOST_TERMS
    parts = [f"only its {MOST_TERMS} rarest words were searched for"] if has_more_terms else []
    if len(text) > MOST_TERMS and len(pair_queries(text)) > MOST_TERMS:
        parts.append(f"only its first {MOST_TERMS} pairs of characters were searched for")
    if query.vector is not None and len(text) > _LONGEST_QUESTION:
        parts.append(f"only the meaning of its first {_LONGEST_QUESTION:,} characters was compared")
    return f"The query is long: {'; '.join(parts)}." if parts else None


def _rank(
    services: Services, search: Search, query: Query, rankers: Rankers
) -> tuple[Gathered, Candidates, str | None]:
    """Return the candidates, the best of them, and why they were not re-ranked, if so."""
    profile, others = rankers.shown, (rankers.ours, rankers.baseline)
    reranker, note = reranker_for(services, query)
    if reranker is not None:
        rescorer = Rescorer(reranker, search.snapshot, query)
        try:
            depth = rescorer.step.list_length(query.limit)
            ranked = (gathered := gather(search, profile, query, depth=depth, also_ranked=others)).candidates
            for step in uncut(profile):
                ranked = step(ranked, query)
            return gathered, Cut()(rescorer(ranked, gathered), query), None
        except ModelUnavailable as error:
            note = rerank_note(query, error)
    gathered = gather(search, profile, query, also_ranked=others)
    return gathered, run(profile, gathered.candidates, query), note


def _hits(
    ranked: Candidates,
    gathered: Gathered,
    memories: Mapping[int, Memory],
    passages: Mapping[int, Passage],
    confidence: Mapping[int, float],
) -> tuple[Hit, ...]:
    query, ids = gathered.query, ranked.ids.tolist()
    nearest = gathered.nearest_passages
    scores = ranked.score.tolist()
    by_name = {name: values.tolist() for name, values in ranked.named_values.items()}
    why = reasons(ranked) if query.explain else [()] * len(ids)
    conflicts = conflicts_by_memory(gathered.contradicting)
    found_by = [(name, each.rank.tolist(), each.score.tolist()) for name, each in ranked.sources.items()]
    return tuple(
        Hit(
            memory=memories[id_],
            score=scores[row],
            places={
                name: Place(ranks[row], values[row]) for name, ranks, values in found_by if ranks[row] > 0
            },
            scores={name: values[row] for name, values in by_name.items()},
            reasons=why[row],
            passage=None if (read := passages.get(nearest.get(id_, 0))) is None else read.text,
            piece=piece_of(memories[id_], query.text) if read is None else read.piece,
            confidence=confidence.get(id_),
            conflicts_with=conflicts.get(id_, ()),
        )
        for row, id_ in enumerate(ids)
    )
