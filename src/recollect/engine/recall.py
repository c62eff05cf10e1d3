"""Recall: the one way to search, by any profile."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from recollect.engine.confidence import (
    answer_confidence,
    confident_hits,
    hits_worth_reading,
    memories_to_read,
)
from recollect.engine.contradictions import conflicts_by_memory
from recollect.engine.embedding import embed_query, embedder_for, embedder_of
from recollect.engine.inputs import aware, tags_of
from recollect.engine.limits import DEFAULT_LIMIT, MOST_HITS
from recollect.engine.memory_text import fit_budget, piece_of
from recollect.engine.model_change import suit_question
from recollect.engine.rerank import Rescorer, ranked_anew, reranker_for, unread_note
from recollect.engine.results import Answer, Hit, Mode, Place
from recollect.engine.services import Services
from recollect.engine.shadow import Rankers, baseline_of, note_shown, rankers_for, trace_of
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.ports import Embedder
from recollect.query import Filter, Query
from recollect.ranking.candidates import ALWAYS, NEVER, Candidates
from recollect.ranking.confidence_label import UNLIKELY
from recollect.ranking.explain import all_reasons
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.pipeline import Profile, run
from recollect.ranking.reads import FactGroup, groups_read
from recollect.ranking.steps.route import Route, strategy_for
from recollect.records import Kind, Memory, Model, Passage, as_it_stood
from recollect.retrieval.gather import Gathered, gather
from recollect.retrieval.passages import has_pending, passage_rows, passages_from
from recollect.retrieval.records import moment
from recollect.retrieval.search import Search
from recollect.retrieval.term_search import MOST_TERMS
from recollect.text.limits import check_query, name_as_kept
from recollect.text.time_phrases import TimePhrase, time_of
from recollect.text.time_questions import OPEN_WORDS
from recollect.text.tokens import content_words, pair_queries, query_terms

# A time that is doubtful moves nothing.
_SURE_ENOUGH = 0.6
# In letters. Beyond it, a query is no question but a text: times in it are not what is asked for, and its
# meaning is that of its beginning, since a model takes seconds to read it all.
_LONGEST_QUESTION = 2_000
# Facts that are made of what earlier answers showed.
_OF_USE: frozenset[FactGroup] = frozenset({"usage", "cooccurrence"})
WAITING = "Some texts still wait for a vector, so only words find them."
"""What an answer notes. A server makes vectors by itself, so the command is for the command line to add."""


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
    as_of: datetime | None = None,
    tags: Iterable[str] = (),
    category: str | None = None,
    speaker: str | None = None,
    about: int | None = None,
    include_superseded: bool = False,
    **how: Any,
) -> Query:
    """What a caller asks, read once, all but its vector. `how` are further fields of the query.

    The session is the current one, None: the one that the memory was opened with, if any; with `across`,
    messages are those of every session all the same. Times are told from `as_of`, else from `now`.
    """
    check_query(text)
    as_of = aware(as_of, "as_of")
    current = name_as_kept(session or services.session or "") or None
    query = Query(
        text,
        now=microseconds(as_of or now or services.clock()),
        limit=DEFAULT_LIMIT if limit is None else limit,
        limit_given=limit is not None,
        where=Filter(
            services.scope.owner,
            services.scope.agent,
            kinds=kinds_of(kinds),
            current=None if across else current,
            tags=frozenset(tags_of(tags)),
            category=category,
            speaker=speaker,
            about=about,
            as_of=as_of,
            superseded=include_superseded,
            # Who asks for what was corrected sees what has run out, too.
            expired_by=None if include_superseded else microseconds(as_of or now or services.clock()),
        ),
        session=current or services.usage.session,
        **how,
    )
    _check(query)
    # A time that a query speaks of is told from the moment it is asked for, where the user's days begin.
    phrase = time_of(text[:_LONGEST_QUESTION], moment(query.now).astimezone(services.zone))
    if phrase is None or phrase.confidence < _SURE_ENOUGH:
        return replace(query, search_text=text)
    search_text, only_time, named = _search_text(text, phrase, profile)
    return replace(
        query,
        search_text=search_text,
        only_time=only_time,
        time=phrase,
        time_words=named,
        span=_span(phrase.start, phrase.stop),
        next_span=None if phrase.next is None else _span(*phrase.next),
    )


def kinds_of(words: Collection[str]) -> frozenset[Kind]:
    """The kinds that a caller names."""
    try:
        return frozenset(Kind(word) for word in words)
    except ValueError:
        wrong = ", ".join(repr(str(word)) for word in words if word not in set(Kind))
        raise InvalidInput(f"No kind named {wrong}; there are: {', '.join(Kind)}.") from None


def _check(query: Query) -> None:
    if isinstance(query.limit, bool) or not isinstance(query.limit, int):
        raise InvalidInput(f"The limit is a whole number, not {query.limit!r}.")
    if not 0 <= query.limit <= MOST_HITS:
        raise InvalidInput(f"A search gives 0 to {MOST_HITS:,} hits, not {query.limit}.")
    if query.budget_tokens is not None:
        check_budget(query.budget_tokens)
    least: object = query.min_confidence
    if least is not None and (
        isinstance(least, bool) or not isinstance(least, int | float) or not 0 <= least <= 1
    ):
        raise InvalidInput(f"The least confidence is a number from 0 to 1, not {least!r}.")


def check_budget(budget: object) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"The budget is a number of tokens above 0, not {budget!r}.")


def _search_text(text: str, phrase: TimePhrase, profile: Profile) -> tuple[str, bool, tuple[str, ...]]:
    """What a query asks for beside its time, whether it asks for nothing else, and words of the time in it.

    `What did Ana say about the boiler last week?` asks for Ana and the boiler, not for weeks.
    """
    if not any(getattr(retriever, "then", False) for retriever in profile.retrieve):
        return text, False, ()
    start, stop = phrase.place
    before, spoken, after = text[:start], text[start:stop], text[stop:]
    # A year or a feast may stand in the text itself: "born in 1944", "the lights at Christmas".
    named = [word for word in spoken.split() if word[0].isupper() or any(map(str.isdigit, word))]
    content = [word for word in content_words(f"{before} {after}") if word not in OPEN_WORDS]
    return (" ".join((before, *named, after)), False, tuple(named)) if content else (text, True, ())


def _span(start: datetime | None, stop: datetime | None) -> tuple[int, int]:
    return NEVER if start is None else microseconds(start), ALWAYS if stop is None else microseconds(stop)


def recall(services: Services, asked: Query, profile: Profile) -> Answer:
    """The best memories for a query, best first."""
    if asked.limit == 0 or not asked.text.strip():
        return Answer(asked.text, (), "words", profile=profile.name)
    present = asked.where.as_of is None
    # Who leaves no trace changes no model either.
    model_note = suit_question(services, asked.text) if asked.record and present else None
    with open_search(services, asked, profile, baseline_of(services, profile)) as (search, query, note):
        # Nothing is learnt from an answer that nobody notes, so it is part of no trial.
        noted = present and (query.record or query.noted_later)
        rankers = rankers_for(services, search, profile, query.text, tuned=query.tuned, trial=noted)
        gathered, ranked, unread = _ranked(services, search, query, rankers)
        ids = ranked.ids.tolist()
        wanted = memories_to_read(ranked) if query.judge else ids
        nearest = gathered.nearest_passages
        found_by = passage_rows([nearest[id_] for id_ in ids if id_ in nearest])
        present_memories, (rows,) = search.memories.whole_and(wanted, found_by)
        passages = {each.id: each for each in passages_from(search.snapshot, rows, present_memories)}
        memories = {id_: as_it_stood(memory, query.where.as_of) for id_, memory in present_memories.items()}
        sure = answer_confidence(search, gathered, ranked, memories) if query.judge else None
        hits = _hits(ranked, gathered, memories, passages, {} if sure is None else sure.hits)
        now = moment(query.now)
        trace = trace_of(services, rankers, gathered, ids, now, several_scopes=len(search.scopes) > 1)
    # Who names a number wants so many; who does not, what is worth reading.
    found = len(hits)
    hits = hits if query.limit_given or sure is None else hits_worth_reading(hits)
    abstained = query.abstain and sure is not None and sure.answer < UNLIKELY
    likely = () if abstained else confident_hits(hits, query.min_confidence)
    shown = fit_budget(likely, query.budget_tokens)
    # Who asks about the past must not change it.
    if query.record and present:
        note_shown(services, [hit.memory for hit in shown], now, query.text, profile.name, trace)
    return Answer(
        query=query.text,
        hits=shown,
        mode=mode_of(gathered),
        note=" ".join(filter(None, (rankers.note, unread, note, _cut_note(query), model_note))) or None,
        profile=profile.name,
        strategy=_strategy(query, rankers.shown),
        time=query.time,
        left_out=len(likely) - len(shown),
        confidence=None if sure is None else sure.answer,
        abstained=abstained,
        withheld=len(hits) - len(likely),
        unread=found - len(hits),
        trace=trace if services.trial.log and present and not trace.several_scopes else None,
    )


@contextmanager
def open_search(
    services: Services, query: Query, *profiles: Profile
) -> Iterator[tuple[Search, Query, str | None]]:
    """The searches of one snapshot, the query with its vector, and why meaning is not searched, if so.

    The query is embedded before the store is read, so that nothing waits for it. `profiles` do the ranking.
    """
    expected = services.store.last_model
    model, embedded, note = _embedded(services, query, expected)
    # What earlier answers left to be noted is part of the store that this one reads.
    if not _OF_USE.isdisjoint(groups_read(profiles)):
        services.usage.settle(services.usage.patience_seconds)
    while True:
        with services.read() as snapshot:
            search = Search(snapshot, query.where)
            used = services.store.last_model = None if search.model is None else search.model[1]
            # A store without vectors has no model yet.
            fits = used is None or (model is not None and used.name == model.name)
            if fits or (embedded.vector is None and expected in (None, used)):
                waits = used is not None and search.some_wait and has_pending(snapshot, search.scopes)
                yield search, embedded, note or (WAITING if waits else None)
                return
        # Someone changed the model meanwhile, and vectors of two models are never compared.
        former, expected = model, None
        model, embedded, note = _embedded(services, query)
        if model is not None and model == former:
            embedded = query
            note = "The store's vectors are of another model than the one that answers its name."


def _embedded(
    services: Services, query: Query, used: Model | None = None
) -> tuple[Model | None, Query, str | None]:
    """The model, and the query with its vectors; or why it has none. None: the store tells which model."""
    try:
        embedder: Embedder = embedder_of(services) if used is None else embedder_for(services, used)
        vector, tokens = embed_query(embedder, query.search_text[:_LONGEST_QUESTION])
    except ModelUnavailable as error:
        return None, query, f"Searched by words only: {error}"
    return embedder.model, replace(query, vector=vector, tokens=tokens), None


def _cut_note(query: Query) -> str | None:
    """What of a long query was not searched for."""
    text = query.search_text
    has_more_terms = len(text) > MOST_TERMS and len(query_terms(text)) > MOST_TERMS
    parts = [f"only its {MOST_TERMS} rarest words were searched for"] if has_more_terms else []
    if len(text) > MOST_TERMS and len(pair_queries(text)) > MOST_TERMS:
        parts.append(f"of letters that are searched for in pairs, only the first {MOST_TERMS} pairs were")
    if query.vector is not None and len(text) > _LONGEST_QUESTION:
        parts.append(f"the meaning is that of its first {_LONGEST_QUESTION:,} characters")
    return f"The query is long: {'; '.join(parts)}." if parts else None


def _ranked(
    services: Services, search: Search, query: Query, rankers: Rankers
) -> tuple[Gathered, Candidates, str | None]:
    """What was found, the best of it, and why that was not re-ranked though it should have been."""
    profile, others = rankers.shown, (rankers.ours, rankers.baseline)
    reranker, note = reranker_for(services, query)
    if reranker is not None:
        rescorer = Rescorer(reranker, search.snapshot, query)
        try:
            gathered = gather(search, profile, query, depth=rescorer.depth, also_ranked=others)
            return gathered, ranked_anew(profile, gathered, rescorer), None
        except ModelUnavailable as error:
            note = unread_note(query, error)
    gathered = gather(search, profile, query, also_ranked=others)
    return gathered, run(profile, gathered.candidates, query), note


def _strategy(query: Query, profile: Profile) -> str | None:
    if not any(isinstance(step, Route) and step.on for step in profile.steps):
        return None
    return strategy_for(query.text, query.limit if query.limit_given else None).value


def mode_of(gathered: Gathered) -> Mode:
    """Hybrid where words found something beside meaning, as the published pipeline chooses."""
    words, meaning = gathered.found.get("words"), gathered.found.get("meaning")
    if words and meaning:
        return "hybrid"
    return "meaning" if meaning else "words"


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
    why = all_reasons(ranked.score_changes, len(ids)) if query.explain else [()] * len(ids)
    conflicts = conflicts_by_memory(gathered.contradicting)
    found_by = [(name, each.rank.tolist(), each.score.tolist()) for name, each in ranked.sources.items()]
    return tuple(
        Hit(
            memory=memories[id_],
            score=scores[row],
            places=_places(found_by, row),
            scores={name: values[row] for name, values in by_name.items()},
            reasons=why[row],
            passage=None if (read := passages.get(nearest.get(id_, 0))) is None else read.text,
            piece=piece_of(memories[id_], query.text) if read is None else read.piece,
            confidence=confidence.get(id_),
            conflicts_with=conflicts.get(id_, ()),
        )
        for row, id_ in enumerate(ids)
    )


def _places(found_by: Iterable[tuple[str, Sequence[int], Sequence[float]]], row: int) -> dict[str, Place]:
    return {name: Place(ranks[row], scores[row]) for name, ranks, scores in found_by if ranks[row] > 0}
