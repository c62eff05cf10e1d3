"""From a profile's searches to candidates: ranks by each search, and what the store knows of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil, log2, sqrt
from typing import TYPE_CHECKING

import numpy as np

from recollect.domain.numbers import sign_bytes
from recollect.domain.records import Found, Kind
from recollect.domain.tables import Compares, Condition, Equals, OneOf
from recollect.ranking.candidates import (
    ByContext,
    ByLinks,
    ByMeaning,
    ByWords,
    Candidates,
    ConversationContext,
    Cooccurrences,
    Facts,
    Floats,
    Ints,
    Profile,
    Source,
)
from recollect.ranking.profiles import groups_read, ignores_marks
from recollect.search.contradictions import ContradictingTexts, contradicting_texts, places_of, stated_times
from recollect.search.entities import linked_entities
from recollect.search.facts import (
    cooccurrences,
    ends_with_question,
    ranking_facts,
    shares_in_time,
    time_sources,
)
from recollect.search.neighbours import neighbours
from recollect.search.rows import MODEL_IN_USE, MemoryRows, PastState, allowed, model_of, narrowing
from recollect.search.texts import messages_at
from recollect.search.words import (
    Analyser,
    IndexSize,
    TermIndex,
    counts_or_stem_counts,
    matched_shares,
    search_words,
)
from recollect.stores.port import RowsQuery, Snapshot, Vector, Vectors

if TYPE_CHECKING:
    from recollect.domain.records import Filter, Query
    from recollect.search.as_of import PastTexts


# Late interaction: each token of the query beside each token of the candidates' passages.

MOST_PASSAGES = 4
"""Passages compared per memory: the nearest by vector, else the first ones."""
_FIRST = 50
"""Of each search; what it found behind them seldom rises to the first places."""
_MOST_PRODUCTS = 262_144
"""In one product of matrices. Above it OpenBLAS takes a second thread, which costs ten times the CPU time
where others use it too; and what is unpacked together stays in the cache."""
_FEWEST_AT_ONCE = 16
_EXACT_BITS = 23
"""Whole numbers below twice the power of two that this names are exact in float32."""


def token_source(
    search: Search, profile: Profile, query: Query, found: Mapping[str, Sequence[Found]], ids: Ints
) -> dict[str, Source]:
    """The token scores of the candidates that the searches by meaning and by words put first."""
    wanted = any(isinstance(retriever, ByMeaning) and retriever.tokens for retriever in profile.retrieve)
    if not wanted or query.tokens is None:
        return {}
    first = {hit.id for name in ("meaning", "words") for hit in found.get(name, ())[:_FIRST]}
    nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
    scores = search.token_scores(query.tokens, sorted(first), nearest)
    column = np.array([scores.get(id_, np.nan) for id_ in ids.tolist()])
    return {"tokens": Source(np.zeros(len(ids), np.int64), column)}


def passages_to_compare(passages: Iterable[tuple[int, int]], nearest: Mapping[int, int]) -> dict[int, int]:
    """Of passages with their memories, those that are compared."""
    every = dict(passages)
    if max(Counter(every.values()).values(), default=0) <= MOST_PASSAGES:
        return every
    by_memory: dict[int, list[int]] = {}
    for passage, memory in sorted(every.items()):
        by_memory.setdefault(memory, []).append(passage)
    for memory, own in by_memory.items():
        if len(own) > MOST_PASSAGES:
            by_memory[memory] = [nearest[memory]] if memory in nearest else own[:MOST_PASSAGES]
    return {passage: memory for memory, own in by_memory.items() for passage in own}


def max_similarities(tokens: Vectors, passages: Sequence[bytes], dims: int) -> Floats:
    """The score of each passage, of which each has a token or more; `tokens` are rows of length one.

    The rows are rounded to whole numbers of a unit so small that every sum of them is exact in float32. So a
    passage's score is the same to the last bit on any machine, whatever passages are scored beside it.
    """
    if not passages or not len(tokens):
        return np.zeros(len(passages))
    # The numbers of a row of length one add up to the root of its width at the most.
    unit = 2.0 ** (ceil(log2(sqrt(dims))) - _EXACT_BITS)
    rows = np.rint(tokens / np.float32(unit)).astype(np.float32)
    width = sign_bytes(dims)
    packed = np.frombuffer(b"".join(passages), np.uint8).reshape(-1, width)
    products = np.empty((len(packed), len(rows)), np.float32)
    at_once = max(_FEWEST_AT_ONCE, _MOST_PRODUCTS // (dims * len(rows)))
    for start in range(0, len(packed), at_once):
        part = slice(start, start + at_once)
        bits = np.unpackbits(packed[part], axis=1, count=dims).astype(np.float32)
        np.matmul(bits, rows.T, out=products[part])
    starts = [0, *accumulate(len(signs) // width for signs in passages[:-1])]
    highest = np.maximum.reduceat(products, starts, axis=0).astype(np.float64)
    # Bits are 0 and 1 where signs are -1 and 1: q · sign = 2 (q · bit) - the sum of q.
    totals = (2 * highest - rows.sum(axis=1, dtype=np.float64)).sum(axis=1)
    scores: Floats = totals * unit / (len(rows) * sqrt(dims))
    return scores


@dataclass(frozen=True, slots=True)
class Gathered:
    candidates: Candidates
    query: Query
    found: Mapping[str, Sequence[Found]]
    """By the name of the search: `meaning`, `words`, `nearby`, `linked`; and `reply`, which has no order."""
    contradicting: tuple[ContradictingTexts, ...] = ()

    @property
    def nearest_passages(self) -> dict[int, int]:
        """Of each memory that the search by meaning found, the passage that was nearest."""
        by_meaning = self.found.get("meaning", ())
        return {hit.id: hit.passage for hit in by_meaning if hit.passage is not None}


def gather(
    search: Search,
    profile: Profile,
    query: Query,
    also: Sequence[int] = (),
    depth: int | None = None,
    also_ranked: Sequence[Profile] = (),
) -> Gathered:
    """Candidates in a constant number of questions, however many there are.

    `also` joins memories that no search has found, to see how they would have fared. With a `depth`, the
    searches are asked for a list of that length; what ranks it knows only the limit that was asked for.
    `also_ranked` are profiles by which the same candidates are ranked as well.
    """
    depth = query.limit if depth is None else depth
    found: dict[str, Sequence[Found]] = {}
    contexts: Sequence[ConversationContext] = ()
    replies: Sequence[Found] = ()
    # The context last, wherever a profile names it: it asks for replies to what was found by meaning.
    for retriever in sorted(profile.retrieve, key=lambda each: isinstance(each, ByContext)):
        if isinstance(retriever, ByContext):
            found["nearby"], contexts = neighbours_of(search, retriever, query, retriever.take(depth))
            search.memories.read(hit.id for hits in found.values() for hit in hits)
            # A reply to a similar question may use other words.
            asked = [hit.id for hit in found.get("meaning", ())]
            replies = [Found(id_, 0.0) for id_ in search.replies(asked)]
        elif isinstance(retriever, ByLinks):
            found["linked"] = search.by_links(query.text, query.now)[: retriever.most]
        else:
            name = "meaning" if isinstance(retriever, ByMeaning) else "words"
            found[name] = _run_retriever(search, retriever, query, retriever.take(depth))
    reached = {hit.id for hits in (*found.values(), replies) for hit in hits}.union(also)
    if any(isinstance(retriever, ByContext) for retriever in profile.retrieve):
        reached.update(search.messages_of_notes(sorted(reached)))
    ids = sorted(reached)
    groups = groups_read((profile, *also_ranked))
    memories = search.memories
    facts = ranking_facts(
        memories, ids, query.text, query.session, query.now, groups, ignore_marks=ignores_marks(profile)
    )
    sources = {name: _source_of(facts.ids, hits) for name, hits in found.items()}
    sources |= _around(sources.get("nearby"), contexts, facts)
    if any(isinstance(retriever, ByWords) and retriever.held for retriever in profile.retrieve):
        # The share of the query that each candidate contains.
        shares = search.matched_shares(query.search_text, facts.ids)
        sources["held"] = Source(np.zeros(len(facts.ids), np.int64), shares)
    sources |= token_source(search, profile, query, found, facts.ids)
    sources |= time_sources(memories, profile, query, facts.ids, sources)
    sources |= stated_times(memories, profile, query, facts)
    by_search = [sources[name] for name in ("meaning", "words") if name in sources]
    contradicting = contradicting_texts(memories, profile, query, facts, by_search)
    candidates = Candidates(
        facts=facts,
        sources=shares_in_time(search, query, sources, facts.ids),
        score=np.zeros(len(facts.ids)),
        cooccurrences=(
            cooccurrences(search.snapshot, ids) if "cooccurrence" in groups else Cooccurrences.none()
        ),
        contradictions=places_of(contradicting, facts),
    )
    return Gathered(candidates, query, found | {"reply": replies} if replies else found, contradicting)


def neighbours_of(
    search: Search, retriever: ByContext, query: Query, k: int
) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
    """Return the best k by their neighbours. The query's own echo in this session is ignored."""
    echo = None if query.session is None else (query.session, query.text)
    return search.by_neighbours(query.search_text, k, retriever.within, echo)


def _around(
    nearby: Source | None, contexts: Sequence[ConversationContext], facts: Facts
) -> dict[str, Source]:
    """Score what is said around the candidates of all searches."""
    if nearby is None:
        return {}
    near, whole = np.zeros(len(facts.ids)), np.zeros(len(facts.ids))
    for scope in contexts:
        more_near, more_whole = scope.for_candidates(facts)
        near, whole = near + more_near, whole + more_whole
    return {
        "nearby": Source(nearby.rank, near),
        "conversation": Source(np.zeros_like(nearby.rank), whole),
    }


def _run_retriever(search: Search, retriever: ByMeaning | ByWords, query: Query, k: int) -> Sequence[Found]:
    def ask(span: tuple[int, int] | None = None) -> Sequence[Found]:
        if isinstance(retriever, ByWords):
            return search.by_words(query.search_text, k, retriever.index, span)
        return (
            () if query.vector is None else search.by_meaning(query.vector, k, retriever.shortlist_size, span)
        )

    if not retriever.then or query.span is None:
        return ask()
    of_that_time = ask(query.span)
    if query.only_time and of_that_time:
        return of_that_time
    found = ask()
    known = {hit.id for hit in found}
    more = [hit for hit in of_that_time if hit.id not in known]
    return sorted((*found, *more), key=lambda hit: (-hit.score, hit.id))


def _source_of(ids: Ints, hits: Sequence[Found]) -> Source:
    """Ranks and scores beside the candidates' ids, which ascend."""
    rank = np.zeros(len(ids), np.int64)
    score = np.full(len(ids), np.nan)
    places = np.searchsorted(ids, np.array([hit.id for hit in hits], np.int64))
    rank[places] = np.arange(1, len(hits) + 1)
    score[places] = [hit.score for hit in hits]
    return Source(rank, score)


# The searches of one query: by words, by meaning, by neighbouring messages, by relations.


class Search:
    """Searches what a filter lets through. A snapshot is of one moment, so what was read once is kept."""

    def __init__(self, snapshot: Snapshot, where: Filter) -> None:
        self.snapshot = snapshot
        self.where = where
        self.memories = MemoryRows(snapshot)
        own: list[Condition] = [Equals("owner", where.owner)]
        if where.agent is not None:
            own.append(Equals("agent", where.agent))
        asked = [
            RowsQuery("scope", ("id", *IndexSize._fields), own),
            MODEL_IN_USE,
            RowsQuery("due", ("passage_id",), limit=1),
        ]
        if where.expired_by is not None:
            ended = (Compares("expires_at", "<=", where.expired_by),)
            asked.append(RowsQuery("memory", ("id",), ended, limit=1))
        scopes, models, due, *expired = snapshot.several(asked)
        if not any(expired):
            # Usually no memory has expired, and the indexes need no filter.
            self.where = replace(where, expired_by=None)
        sizes = {id_: IndexSize(*size) for id_, *size in sorted(scopes)}
        self.scopes = list(sizes)
        self.model = model_of(models)
        """The row of the model in use, and the model."""
        self.some_wait = bool(due)
        """Whether any text of the store has no vector yet."""
        self._indexes = {scope: TermIndex(snapshot, scope, size) for scope, size in sizes.items()}
        self._past: PastTexts | None = None
        self._unchanged: tuple[Condition, ...] = ()
        state = PastState.of(where)
        if state is not None:
            from recollect.search.as_of import past_texts  # noqa: PLC0415  # few ask about the past

            self._past = past_texts(snapshot, state, self.scopes)
            self._unchanged = self._past.unchanged(snapshot)

    def by_words(
        self, text: str, k: int, index: Analyser = "plain", span: tuple[int, int] | None = None
    ) -> list[Found]:
        """Best BM25 first, ties by id. Any text is a query; no character has a meaning of its own.

        With a `span`, only what is of that time.
        """
        where = self._within(span)
        conditions = (*self._unchanged, *narrowing(where))
        found: list[Found] = []
        for terms in self._indexes.values():
            if self._past is not None:
                found += self._past.search_words(terms, text, k, index, where)
            found += search_words(terms, text, k, index, conditions)
        return _best_first(found)[:k]

    def by_meaning(
        self, vector: Vector, k: int, shortlist: int | None = None, span: tuple[int, int] | None = None
    ) -> list[Found]:
        """Best cosine first, ties by id; the best passage of each memory speaks for it.

        With a `shortlist` of n, the n memories that are nearest by the first third of each vector's width
        (turned by the model's rotation) are compared by the whole of it, and no others are found.
        """
        model = self.model
        if model is None or not self.scopes or k <= 0:
            return []
        where = self._within(span)
        found: list[Found] = []
        if self._past is not None:
            found += self._past.nearest(self.snapshot, vector, k, model[0], self.scopes, where)
        for part in _by_session(where):
            conditions = (*narrowing(part), *self._unchanged)
            found += self.snapshot.nearest(vector, k, self.scopes, conditions, shortlist)
        return _best_first(found)[:k]

    def token_scores(
        self, tokens: Vectors, ids: Sequence[int], nearest: Mapping[int, int]
    ) -> dict[int, float]:
        """By memory, how well the tokens of its best passage match the query's; see `late_interaction`.

        `nearest` are the passages that the search by meaning found. What has no tokens yet is left out.
        """
        if self.model is None:
            return {}
        model_id, model = self.model
        passages: list[tuple[int, int]] = []
        changed: list[int] = []
        if self._past is not None:
            changed = np.intersect1d(ids, self._past.changed_ids).tolist()
            passages += self._past.passages(self.snapshot, changed).items()
        unchanged = [id_ for id_ in ids if id_ not in changed] if changed else ids
        passages += self.snapshot.embedded_passages(unchanged)
        memories = passages_to_compare(passages, nearest)
        own = (Equals("model_id", model_id), OneOf("passage_id", sorted(memories)))
        rows = self.snapshot.rows("passage_tokens", ("passage_id", "signs"), own)
        there = [(passage, signs) for passage, signs in rows if signs]
        scores = max_similarities(tokens, [signs for _, signs in there], model.dims).tolist()
        best: dict[int, float] = {}
        for (passage, _), score in zip(there, scores, strict=True):
            memory = memories[passage]
            best[memory] = max(score, best.get(memory, score))
        return best

    def by_neighbours(
        self, text: str, k: int, within: int, echo: tuple[str, str] | None = None
    ) -> tuple[list[Found], list[ConversationContext]]:
        """Find the messages whose neighbours, up to `within` places away, contain most of a query; ties by
        id.

        Also return the conversations around all other messages, by scope. A neighbour counts unless it was
        forgotten; hits pass the filter. `echo` is a session and a text just asked there, which is ignored.
        """
        if Kind.MESSAGE not in self.where.kinds or k <= 0:
            return [], []
        each = [
            neighbours(index, text, k, within, self.where, self._past, echo)
            for index in self._indexes.values()
            if index.sizes.messages or self._past is not None
        ]
        return _best_first(hit for hits, _ in each for hit in hits)[:k], [context for _, context in each]

    def by_links(self, text: str, now: int) -> list[Found]:
        """Entities one relation away from those that a text names, but not those themselves.

        The score is the share of the relation's type that the text says, and a quarter at the least.
        """
        if Kind.ENTITY not in self.where.kinds:
            return []
        return _best_first(
            hit
            for scope, index in self._indexes.items()
            # Relations are in the index, except for the past.
            if index.sizes.entities or self._past is not None
            for hit in linked_entities(self.snapshot, scope, text, self.where, now)
        )

    def replies(self, ids: Sequence[int]) -> list[int]:
        """Return the messages that directly follow those of `ids` that end with a question, by id."""
        columns = ("kind", "scope_id", "session", "position", "text")
        next_places: dict[int, list[tuple[str, int]]] = {}
        for kind, scope, session, position, text in self.memories.select(ids, columns):
            placed = kind == Kind.MESSAGE and session is not None and position is not None
            if placed and scope in self._indexes and ends_with_question(text):
                next_places.setdefault(scope, []).append((session, position + 1))
        return sorted(
            id_
            for scope, places in next_places.items()
            for (id_,) in self.snapshot.rows("memory", ("id",), messages_at(scope, places, self.where))
        )

    def messages_of_notes(self, ids: Sequence[int]) -> list[int]:
        """The messages that those of these were drawn from which are notes, as far as the filter lets them
        through, by id.
        """
        if Kind.MESSAGE not in self.where.kinds:
            return []
        origins = set(self.memories.select(ids, ("drawn_from",))).difference((None, *ids))
        if not origins:
            return []
        visible = (OneOf("id", origins), Equals("kind", "message"), *allowed(self.where, self.scopes))
        return sorted(id_ for (id_,) in self.snapshot.rows("memory", ("id",), visible))

    def matched_shares(self, text: str, ids: Ints) -> Floats:
        """Of each of these ascending ids, the weighted share of the query's content words it contains."""
        shares = np.zeros(len(ids))
        for index in self._indexes.values():
            shares = np.maximum(shares, matched_shares(index, text, ids))
        return shares

    def document_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """How many texts the scope has, and how many of them contain each word, or else its stem."""
        index = next(iter(self._indexes.values()), None)
        return (0, {}) if index is None else (index.size("plain")[0], counts_or_stem_counts(index, words))

    def _within(self, span: tuple[int, int] | None) -> Filter:
        return self.where if span is None else replace(self.where, span=span)


def _best_first(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda hit: (-hit.score, hit.id))


def _by_session(where: Filter) -> Iterator[Filter]:
    """Where messages are of the current session alone: everything else, and they by themselves."""
    talk = where.kinds & {Kind.MESSAGE} if where.current is not None else frozenset()
    for kinds, session in ((where.kinds - talk, where.session), (talk, where.current)):
        if kinds and (session == where.session or where.session is None):
            yield replace(where, kinds=kinds, session=session, current=None)
