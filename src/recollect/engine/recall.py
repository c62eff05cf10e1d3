"""Recall: the one way to search, by any profile."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.engine.confidence import answer_confidence, check_confidence, confident_hits, memories_to_read
from recollect.engine.embedding import embedder_of
from recollect.engine.limits import DEFAULT_LIMIT, MOST_HITS
from recollect.engine.memory_text import fit_budget, piece_of
from recollect.engine.rerank import ranked_for
from recollect.engine.results import Answer, Hit, Place
from recollect.engine.shadow import note_shown, rankers_for, trace_of
from recollect.errors import InvalidInput, ModelUnavailable
from recollect.ranking.confidence_label import UNLIKELY
from recollect.ranking.explain import all_reasons
from recollect.ranking.factors.recency import microseconds
from recollect.ranking.steps.route import Route, strategy_for
from recollect.records import Filter, Kind, as_it_stood
from recollect.retrieval.gather import Request
from recollect.retrieval.passages import has_pending, passages_by_id
from recollect.retrieval.records import memories_by_id
from recollect.retrieval.search import Search
from recollect.text.time_phrases import time_of
from recollect.text.tokens import content_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.engine.results import Mode
    from recollect.engine.services import Services as Parts
    from recollect.ports import Snapshot, Vector
    from recollect.ranking.candidates import Candidates
    from recollect.ranking.pipeline import Profile
    from recollect.records import Found, Memory, Model
    from recollect.retrieval.gather import Gathered
    from recollect.text.time_phrases import TimePhrase

# A time that is doubtful moves nothing.
_SURE_ENOUGH = 0.6
# In letters. Beyond it, a query is no question but a text, and times in it are not what is asked for.
_LONGEST_QUESTION = 2_000
WAITING = "Some texts still wait for a vector, so only words find them."
"""What an answer notes. A server makes vectors by itself, so the command is for the command line to add."""
# Words of a question that asks for whatever there is.
_ASKING = """
happen happened happens happening going know known remember recall tell show list note noted notes memory
memories everything anything something things thing stuff news new latest say said says talk talked talking
speak spoke done did do make made discuss discussed mention mentioned paso pasa pasado ocurrio sucedio dije
dijo dijiste dijimos hablamos hice hizo hiciste hicimos cuenta cuentame dime muestra recuerda recuerdas apunte
apunto nota notas cosas cosa todo novedades
"""
_OPEN = frozenset(_ASKING.split())


@dataclass(frozen=True, slots=True)
class Question:
    """What a caller asks."""

    query: str
    profile: Profile
    limit: int | None = None
    """None: the default, which says nothing about the kind of question."""
    kinds: frozenset[Kind] = frozenset(Kind)
    explain: bool = False
    record: bool = True
    """False: the answer leaves no trace in the store."""
    noted_later: bool = False
    """Whoever asks notes what of it was shown, so that it may be part of a trial."""
    session: str | None = None
    """The current one; None: the one that the memory was opened with, if any."""
    across: bool = False
    """Messages of every session, also where there is a current one."""
    as_of: datetime | None = None
    """As the store stood then; times are told from there."""
    tags: frozenset[str] = frozenset()
    category: str | None = None
    speaker: str | None = None
    about: int | None = None
    """An entity that the texts speak of."""
    include_superseded: bool = False
    budget_tokens: int | None = None
    rerank: bool | None = False
    """Let a model read the first places again; None: as the settings say."""
    tuned: bool = True
    """With the numbers that the profile was given since; False: as published, and in no trial."""
    min_confidence: float | None = None
    """Leave out hits that are less likely to be what was asked for."""
    abstain: bool = False
    """Give no hits where nothing seems to answer."""
    judge: bool = True
    """Tell how sure the answer is; False where nobody is shown it, and it need not be paid for."""


def recall(parts: Parts, question: Question) -> Answer:
    """The best memories for a query, best first."""
    now = parts.clock() if question.as_of is None else question.as_of
    limit = _limit(question)
    if question.budget_tokens is not None:
        check_budget(question.budget_tokens)
    if question.min_confidence is not None:
        check_confidence(question.min_confidence)
    if not isinstance(question.query, str):
        raise InvalidInput(f"The query is text, not {type(question.query).__name__}.")
    if limit == 0 or not question.query.strip():
        return Answer(question.query, (), "words", profile=question.profile.name)
    with asking(parts, question, now) as (search, request, note):
        view = search.snapshot
        # Nothing is learnt from an answer that nobody notes, so it is part of no trial.
        noted = question.as_of is None and (question.record or question.noted_later)
        rankers = rankers_for(
            parts, view, question.profile, question.query, tuned=question.tuned, trial=noted
        )
        asked = replace(question, profile=rankers.shown)
        gathered, ranked, unread = ranked_for(parts, search, asked, request)
        ids = ranked.ids.tolist()
        memories = _read(view, memories_to_read(gathered, ids) if question.judge else ids, question)
        hits = _hits(view, ranked, gathered.found, question, memories)
        trace = trace_of(parts, rankers, gathered, ids, now)
        sure = answer_confidence(search, parts.scope, gathered, request, memories) if question.judge else None
    if sure is not None:
        hits = tuple(replace(hit, confidence=sure.hits[hit.memory.id]) for hit in hits)
    abstained = question.abstain and sure is not None and sure.answer < UNLIKELY
    likely = () if abstained else confident_hits(hits, question.min_confidence)
    shown = fit_budget(likely, question.budget_tokens)
    # Who asks about the past must not change it.
    if question.record and question.as_of is None:
        note_shown(parts, [hit.memory.id for hit in shown], now, question.query, question.profile.name, trace)
    return Answer(
        query=question.query,
        hits=shown,
        mode=mode_of(gathered),
        note=" ".join(filter(None, (rankers.note, unread, note))) or None,
        profile=question.profile.name,
        strategy=_strategy(asked),
        time=request.time,
        left_out=len(likely) - len(shown),
        confidence=None if sure is None else sure.answer,
        abstained=abstained,
        withheld=len(hits) - len(likely),
        trace=trace if parts.trial.log and question.as_of is None else None,
    )


@contextmanager
def asking(parts: Parts, question: Question, now: datetime) -> Iterator[tuple[Search, Request, str | None]]:
    """The searches of a snapshot, the request to them, and why meaning is not searched, if it is not.

    The query is embedded before the store is read, so that nothing waits for it.
    """
    phrase = _spoken_of(parts, question, now)
    sought, of_that_time = _sought(question, phrase)
    model, vector, note = _vector(parts, sought)
    # What earlier answers left to be noted is part of the store that this one reads.
    parts.usage.settle(parts.usage.patience_seconds)
    while True:
        with parts.store.read() as view:
            request = _request(parts, question, sought, vector, now)
            search = Search(view, request.where)
            if vector is None or _is_in_use(model, search):
                request = replace(request, time=phrase, of_that_time=of_that_time)
                yield search, request, note or _waiting(search)
                return
        # Someone changed the model meanwhile, and vectors of two models are never compared.
        former = model
        model, vector, note = _vector(parts, sought)
        if model == former:
            vector = None
            note = "The store's vectors are of another model than the one that answers its name."


def _waiting(search: Search) -> str | None:
    """What meaning cannot find yet, if there is something."""
    if search.model is None or not has_pending(search.snapshot, search.scopes):
        return None
    return WAITING


def _strategy(question: Question) -> str | None:
    if not any(isinstance(step, Route) and step.on for step in question.profile.steps):
        return None
    return strategy_for(question.query, question.limit).value


def _limit(question: Question) -> int:
    limit = DEFAULT_LIMIT if question.limit is None else question.limit
    if isinstance(limit, bool) or not isinstance(limit, int):
        raise InvalidInput(f"The limit is a whole number, not {limit!r}.")
    if not 0 <= limit <= MOST_HITS:
        raise InvalidInput(f"A search gives 0 to {MOST_HITS:,} hits, not {limit}.")
    return limit


def _request(parts: Parts, question: Question, sought: str, vector: Vector | None, now: datetime) -> Request:
    session = question.session or parts.session
    return Request(
        query=question.query,
        sought=sought,
        vector=vector,
        where=Filter(
            parts.scope.owner,
            parts.scope.agent,
            kinds=question.kinds,
            current=None if question.across else session,
            tags=question.tags,
            category=question.category,
            speaker=question.speaker,
            about=question.about,
            as_of=question.as_of,
            superseded=question.include_superseded,
        ),
        limit=_limit(question),
        limit_given=question.limit is not None,
        now=microseconds(now),
        session=session or parts.usage.session,
    )


def _spoken_of(parts: Parts, question: Question, now: datetime) -> TimePhrase | None:
    """The time that a query speaks of, told from the moment it is asked for, where the user's days begin."""
    phrase = time_of(question.query[:_LONGEST_QUESTION], now.astimezone(parts.zone))
    return phrase if phrase is not None and phrase.confidence >= _SURE_ENOUGH else None


def _sought(question: Question, phrase: TimePhrase | None) -> tuple[str, bool]:
    """What a query asks for beside its time, and whether it asks for nothing else.

    `What did Ana say about the boiler last week?` asks for Ana and the boiler, not for weeks.
    """
    asked = question.profile.retrieve
    if phrase is None or not any(getattr(retriever, "then", False) for retriever in asked):
        return question.query, False
    start, stop = phrase.place
    before, spoken, after = question.query[:start], question.query[start:stop], question.query[stop:]
    # A year or a feast may stand in the text itself: "born in 1944", "the lights at Christmas".
    named = [word for word in spoken.split() if word[0].isupper() or any(map(str.isdigit, word))]
    rest = " ".join((before, *named, after))
    telling = [word for word in content_words(f"{before} {after}") if word not in _OPEN]
    return (rest, False) if telling else (question.query, True)


def check_budget(budget: object) -> None:
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 1:
        raise InvalidInput(f"The budget is a number of tokens above 0, not {budget!r}.")


def mode_of(gathered: Gathered) -> Mode:
    """Hybrid where words found something beside meaning, as the published pipeline chooses."""
    words, meaning = gathered.found.get("words"), gathered.found.get("meaning")
    if words and meaning:
        return "hybrid"
    return "meaning" if meaning else "words"


def _vector(parts: Parts, query: str) -> tuple[Model | None, Vector | None, str | None]:
    """The query's vector and the model that made it, or why there is none."""
    try:
        embedder = embedder_of(parts)
        vector = embedder.query(query)
    except ModelUnavailable as error:
        return None, None, f"Searched by words only: {error}"
    return embedder.model, vector, None


def _is_in_use(model: Model | None, search: Search) -> bool:
    """Or could be: a store without vectors has no model yet."""
    return search.model is None or (model is not None and search.model[1].name == model.name)


def _read(view: Snapshot, ids: Sequence[int], question: Question) -> dict[int, Memory]:
    return {id_: as_it_stood(memory, question.as_of) for id_, memory in memories_by_id(view, ids).items()}


def _hits(
    view: Snapshot,
    ranked: Candidates,
    found: Mapping[str, Sequence[Found]],
    question: Question,
    memories: Mapping[int, Memory],
) -> tuple[Hit, ...]:
    ids = ranked.ids.tolist()
    nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
    wanted = [nearest[id_] for id_ in ids if id_ in nearest]
    known = memories if question.as_of is None else None
    passages = {passage.id: passage for passage in passages_by_id(view, wanted, known)}
    scores = ranked.score.tolist()
    by_name = {name: values.tolist() for name, values in ranked.named_values.items()}
    why = all_reasons(ranked.score_changes, len(ids)) if question.explain else [()] * len(ids)
    return tuple(
        Hit(
            memory=memories[id_],
            score=scores[row],
            places=_places(ranked, row),
            scores={name: values[row] for name, values in by_name.items()},
            reasons=why[row],
            passage=None if (read := passages.get(nearest.get(id_, 0))) is None else read.text,
            piece=piece_of(memories[id_], question.query) if read is None else read.piece,
        )
        for row, id_ in enumerate(ids)
    )


def _places(ranked: Candidates, row: int) -> dict[str, Place]:
    return {
        name: Place(int(source.rank[row]), float(source.score[row]))
        for name, source in ranked.sources.items()
        if source.rank[row] > 0
    }
