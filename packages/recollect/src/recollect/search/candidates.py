"""Find the candidates of a query: run the searches of a profile, and read the facts for ranking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log, log2, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.domain.numbers import MOST_PRODUCTS, distinct, sign_bytes
from recollect.domain.records import Found, Kind
from recollect.domain.tables import Compares, Condition, Equals, OneOf, is_set
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
from recollect.search.contradictions import (
    ContradictingTexts,
    as_columns,
    contradicting_texts,
    looks_for_newer,
    stated_times,
)
from recollect.search.entities import linked_entities
from recollect.search.facts import (
    cooccurrences,
    count_time_words_as_matched,
    ends_with_question,
    ranking_facts,
    time_sources,
)
from recollect.search.rows import MODEL_IN_USE, MemoryRows, PastState, allowed, lifecycle, model_of, narrowing
from recollect.search.texts import conversation, last_positions, messages_at, vectors_of
from recollect.search.words import (
    K1,
    Analyser,
    B,
    IndexSize,
    Phrase,
    TermIndex,
    affordable_terms,
    counts_or_stem_counts,
    matched_shares,
    search_words,
)
from recollect.stores.port import RowsQuery, Snapshot, Vector, Vectors

if TYPE_CHECKING:
    from recollect.domain.records import Filter, Model, Query
    from recollect.domain.tables import Row
    from recollect.search.as_of import PastTexts


# Late interaction: compare each token of the query with each token of a passage

MOST_PASSAGES = 4
"""The maximum number of passages per memory that are compared."""
_MOST_SCORED = 50
"""The number of hits of each search that are compared. Later ones seldom rise to the top."""
_FEWEST_AT_ONCE = 16
_ALL_FOUND = 100
"""A search by meaning with fewer hits than this has found every memory."""
_MOST_NEAR = 10
"""Number of memories nearest to the best hit that may replace it."""
_HALF_WINDOW = 16
"""Tokens. A window has twice as many, and the next one begins in its middle."""
_MOST_FOR_WINDOW = 24
"""A query of more tokens asks for more than one window contains, so whole passages are compared."""
_EXACT_BITS = 23
"""Whole numbers up to 2 ** (this + 1) are exact in float32."""


def token_source(
    search: Search, profile: Profile, query: Query, found: Mapping[str, Sequence[Found]], ids: Ints
) -> dict[str, Source]:
    """Return token scores of the first hits by meaning and by words."""
    wanted = any(isinstance(retriever, ByMeaning) and retriever.tokens for retriever in profile.retrieve)
    if not wanted or query.tokens is None:
        return {}
    first = {hit.id for name in ("meaning", "words") for hit in found.get(name, ())[:_MOST_SCORED]}
    nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
    scores = search.token_scores(query.tokens, sorted(first), nearest)
    column = np.array([scores.get(id_, np.nan) for id_ in ids.tolist()])
    return {"tokens": Source(np.zeros(len(ids), np.int64), column)}


def passages_to_compare(passages: Iterable[tuple[int, int]], nearest: Mapping[int, int]) -> dict[int, int]:
    """Return the passages to compare token by token, each with its memory.

    A memory with more than `MOST_PASSAGES` gets the nearest by meaning, or else the first ones.
    """
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
    """Return the score of each passage. `tokens` are rows of length one; a passage has at least one token.

    For a short query, a passage scores as its best window, so that words spread over a long text do not look
    like one answer.

    Rows are rounded to multiples of a unit for which every sum is exact in float32. A passage's score then
    has the same bits on any machine, whatever other passages are scored with it.
    """
    if not passages or not len(tokens):
        return np.zeros(len(passages))
    # The numbers of a row of length one add up to at most the square root of its width.
    unit = 2.0 ** (ceil(log2(sqrt(dims))) - _EXACT_BITS)
    rows = np.rint(tokens / np.float32(unit)).astype(np.float32)
    width = sign_bytes(dims)
    packed = np.frombuffer(b"".join(passages), np.uint8).reshape(-1, width)
    products = np.empty((len(packed), len(rows)), np.float32)
    at_once = max(_FEWEST_AT_ONCE, MOST_PRODUCTS // (dims * len(rows)))
    for start in range(0, len(packed), at_once):
        part = slice(start, start + at_once)
        bits = np.unpackbits(packed[part], axis=1, count=dims).astype(np.float32)
        np.matmul(bits, rows.T, out=products[part])
    lengths = np.array([len(signs) // width for signs in passages])
    half = _HALF_WINDOW if len(rows) <= _MOST_FOR_WINDOW else lengths.max()
    counts = -(-lengths // half)
    first = np.cumsum(counts) - counts
    place = np.arange(counts.sum()) - np.repeat(first, counts)
    starts = np.repeat(np.cumsum(lengths) - lengths, counts) + half * place
    halves = np.maximum.reduceat(products, starts, axis=0).astype(np.float64)
    # A window is a half and the next one of the same passage, if there is one.
    joined = np.flatnonzero(place[1:])
    windows = halves.copy()
    windows[joined] = np.maximum(halves[joined], halves[joined + 1])
    # Bits are 0 and 1 where signs are -1 and 1: q · sign = 2 (q · bit) - the sum of q.
    totals = (2 * windows - rows.sum(axis=1, dtype=np.float64)).sum(axis=1)
    scores: Floats = np.maximum.reduceat(totals, first) * unit / (len(rows) * sqrt(dims))
    return scores


@dataclass(frozen=True, slots=True)
class Gathered:
    candidates: Candidates
    query: Query
    found: Mapping[str, Sequence[Found]]
    """Hits by name of the search: `meaning`, `words`, `nearby`, `linked`, and the unordered `reply`."""
    contradicting: tuple[ContradictingTexts, ...] = ()

    @property
    def nearest_passages(self) -> dict[int, int]:
        """The nearest passage of each memory that the search by meaning found."""
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
    """Run the profile's searches and read what ranking needs, in a constant number of queries.

    `also` adds memories that no search found, so that why-not can rank them. `depth` replaces the query's
    limit for the searches; ranking steps still see the limit. `also_ranked` names other profiles that will
    rank the same candidates, so that their facts are read, too.
    """
    depth = query.limit if depth is None else depth
    found: dict[str, Sequence[Found]] = {}
    contexts: Sequence[ConversationContext] = ()
    replies: Sequence[Found] = ()
    # Context comes last: it looks for replies to hits by meaning.
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
    brought = _near_the_best(search, query, found.get("meaning", ())) if looks_for_newer(profile) else ()
    if brought:
        found["meaning"] = [*found["meaning"], *brought]
    reached = {hit.id for hits in (*found.values(), replies) for hit in hits}.union(also)
    if any(isinstance(retriever, ByContext) for retriever in profile.retrieve):
        reached.update(search.messages_of_notes(sorted(reached)))
    ids = sorted(reached)
    groups = groups_read(profile, *also_ranked)
    memories = search.memories
    facts = ranking_facts(
        memories, ids, query.text, query.session, query.now, groups, ignore_marks=ignores_marks(profile)
    )
    sources = {name: _source_of(facts.ids, hits) for name, hits in found.items()}
    sources |= _context_sources(sources.get("nearby"), contexts, facts)
    if any(isinstance(retriever, ByWords) and retriever.held for retriever in profile.retrieve):
        # The share of the query that each candidate contains.
        shares = search.matched_shares(query.search_text, facts.ids)
        sources["held"] = Source(np.zeros(len(facts.ids), np.int64), shares)
    sources |= token_source(search, profile, query, found, facts.ids)
    sources |= time_sources(memories, profile, query, facts.ids, sources)
    sources |= stated_times(memories, profile, query, facts)
    by_search = [sources[name] for name in ("meaning", "words") if name in sources]
    also_compared = [hit.id for hit in brought]
    contradicting = contradicting_texts(
        memories, search.model, profile, query, facts, by_search, also_compared
    )
    candidates = Candidates(
        facts=facts,
        sources=count_time_words_as_matched(search, query, sources, facts.ids),
        score=np.zeros(len(facts.ids)),
        cooccurrences=(
            cooccurrences(search.snapshot, ids) if "cooccurrence" in groups else Cooccurrences.none()
        ),
        contradictions=as_columns(contradicting, facts),
    )
    return Gathered(candidates, query, found | {"reply": replies} if replies else found, contradicting)


def _near_the_best(search: Search, query: Query, hits: Sequence[Found]) -> Sequence[Found]:
    """Return memories near the best hit by meaning that are not among the hits.

    One of them may replace it, in words that the query does not share.
    """
    if len(hits) < _ALL_FOUND or query.vector is None or query.where.as_of is not None:
        return ()
    vectors = vectors_of(search.snapshot, [hits[0].passage or 0], search.model)
    known = {hit.id for hit in hits}
    near = [
        hit.id
        for vector in vectors.values()
        for hit in search.by_meaning(vector, _MOST_NEAR)
        if hit.id > hits[0].id and hit.id not in known
    ]
    return _best_first(search.snapshot.cosines(query.vector, near)) if near else ()


def neighbours_of(
    search: Search, retriever: ByContext, query: Query, k: int
) -> tuple[Sequence[Found], Sequence[ConversationContext]]:
    """Return the best `k` messages by their neighbours. A message that is the query itself is ignored."""
    echo = None if query.session is None else (query.session, query.text)
    return search.by_neighbours(query.search_text, k, retriever.within, echo)


def _context_sources(
    nearby: Source | None, contexts: Sequence[ConversationContext], facts: Facts
) -> dict[str, Source]:
    """Score the context of all candidates: their neighbours, and their whole conversations."""
    if nearby is None:
        return {}
    near, whole = np.zeros(len(facts.ids)), np.zeros(len(facts.ids))
    for scope in contexts:
        more_near, more_whole = scope.for_candidates(facts)
        near, whole = near + more_near, whole + more_whole
    return {"nearby": Source(nearby.rank, near), "conversation": Source(np.zeros_like(nearby.rank), whole)}


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
    """Return ranks and scores for the candidates, whose ids ascend."""
    rank = np.zeros(len(ids), np.int64)
    score = np.full(len(ids), np.nan)
    places = np.searchsorted(ids, np.array([hit.id for hit in hits], np.int64))
    rank[places] = np.arange(1, len(hits) + 1)
    score[places] = [hit.score for hit in hits]
    return Source(rank, score)


# The context of messages: the query's words in neighbouring messages and in the whole conversation. It is
# computed from the postings for each query, so that no index has to follow every change of a message.

# Positions in a conversation are below this.
_MAX_POSITIONS = 1 << 40
# The maximum number of (word, message) pairs, which take some milliseconds. Beyond it, the most common words
# are ignored.
_BUDGET = 2_000
# Positions read at a time, as a multiple of `k`: filters and ends of conversations drop some.
_SPARE = 2
# Above this number of positions, ties with the last hit are dropped.
_MOST_TIED = 2_000


class _Word(NamedTuple):
    """A content word of a query, and the messages that contain it."""

    weight: float
    """The inverse document frequency."""
    session: Ints
    position: Ints
    length: Floats
    """The length of each message, relative to the mean."""


class _Messages(NamedTuple):
    """Messages of conversations by ascending id, with their positions and lengths."""

    ids: Ints
    sessions: Sequence[str]
    position: Ints
    length: Ints


def neighbours(
    index: TermIndex,
    text: str,
    k: int,
    within: int,
    where: Filter,
    past: PastTexts | None,
    echo: tuple[str, str] | None,
) -> tuple[list[Found], ConversationContext]:
    """Return the messages whose neighbours contain most of a query, and the context scores of all others."""
    placed, places = _messages_with_terms(index, text, where, past, echo)
    if not places:
        return [], ConversationContext.empty()
    sessions = sorted({placed.sessions[place] for place in distinct(np.concatenate(places)).tolist()})
    number_of = {session: number for number, session in enumerate(sessions)}
    local = np.array([number_of.get(session, 0) for session in placed.sessions], np.int64)
    texts, _ = index.size("stemmed")
    mean = np.concatenate([placed.length[messages] for messages in places]).mean()
    words = [
        _Word(
            weight=log(1 + (texts - len(messages) + 0.5) / (len(messages) + 0.5)),
            session=local[messages],
            position=placed.position[messages],
            length=placed.length[messages].astype(np.float64) / mean,
        )
        for messages in places
    ]
    keys, near = _neighbour_weights(words, within)
    found = _best_places(index.snapshot, index.scope, sessions, keys, near, k, where)
    codes = np.array([conversation(index.scope, session) for session in sessions], np.int64)
    # A conversation is as long as its last position.
    last = last_positions(index.snapshot, index.scope, sessions)
    return found, ConversationContext(
        session=codes[keys // _MAX_POSITIONS],
        position=keys % _MAX_POSITIONS,
        near=near,
        sessions=codes,
        whole=_session_scores(words, np.array([last.get(session, 0) for session in sessions], np.float64)),
    )


def _messages_with_terms(
    index: TermIndex, text: str, where: Filter, past: PastTexts | None, echo: tuple[str, str] | None
) -> tuple[_Messages, list[Ints]]:
    """Return messages that contain a content word of a query, and for each word its rows among them.

    Messages that the filter excludes count too, but not forgotten ones, and not the query itself (`echo`).
    """
    terms = affordable_terms(index, text, _BUDGET)
    if not terms.affordable:
        return _messages_of([]), []
    postings = [index.postings(Phrase((word,)), "stemmed").ids for word in terms.chosen]
    alive = (Equals("kind", "message"), *lifecycle(where))
    if past is None:
        rows = _message_rows(index.snapshot, postings, alive, echo)
    else:
        postings = [ids[~np.isin(ids, past.changed_ids)] for ids in postings]
        former = past.messages_with(index, terms.chosen, where)
        others = [np.array(former.get(word, ()), np.int64) for word in terms.chosen]
        rows = _message_rows(index.snapshot, postings, alive, echo)
        rows = [*rows, *_message_rows(index.snapshot, others, (), None)]
        postings = [np.concatenate(both) for both in zip(postings, others, strict=True)]
    placed = _messages_of(sorted(rows))
    if not len(placed.ids):
        return placed, []
    at = [np.minimum(np.searchsorted(placed.ids, ids), len(placed.ids) - 1) for ids in postings]
    found = [place[placed.ids[place] == ids] for place, ids in zip(at, postings, strict=True)]
    return placed, [places for places in found if len(places)]


def _message_rows(
    snapshot: Snapshot, postings: Sequence[Ints], alive: tuple[Condition, ...], echo: tuple[str, str] | None
) -> list[Row]:
    """Return rows of the current messages among these memories, without the echo."""
    ids = distinct(np.concatenate(postings)).tolist() if postings else []
    if not ids:
        return []
    rows = snapshot.rows(
        "memory",
        ("id", "session", "position", "text_length"),
        (OneOf("id", ids), *alive, is_set("session"), is_set("position")),
    )
    if echo is None:
        return rows
    session, asked = echo
    same = [id_ for id_, where, _, length in rows if where == session and length == len(asked)]
    texts = snapshot.rows("memory", ("id", "text"), (OneOf("id", same),)) if same else ()
    echoes = {id_ for id_, text in texts if text == asked}
    return [row for row in rows if row[0] not in echoes] if echoes else rows


def _messages_of(rows: Sequence[Row]) -> _Messages:
    ids, sessions, positions, lengths = zip(*rows, strict=True) if rows else ((), (), (), ())
    return _Messages(
        np.array(ids, np.int64), sessions, np.array(positions, np.int64), np.array(lengths, np.int64)
    )


def _neighbour_weights(words: Sequence[_Word], within: int) -> tuple[Ints, Floats]:
    """Return positions near a word, by conversation and position, with the weight of the words near them.

    Each word counts once, at the neighbour where it weighs most. As in BM25, it weighs more in a shorter
    message.
    """
    steps = [step for step in range(-within, within + 1) if step]
    beside: list[Ints] = []
    most: list[Floats] = []
    for word in words:
        weight = word.weight * (K1 + 1) / (1 + K1 * (1 - B + B * word.length))
        position = np.concatenate([word.position + step for step in steps])
        there = position > 0
        keys = np.tile(word.session, len(steps))[there] * _MAX_POSITIONS + position[there]
        weights = np.tile(weight, len(steps))[there]
        order = np.lexsort((-weights, keys))
        places, first = np.unique(keys[order], return_index=True)
        beside.append(places)
        most.append(weights[order][first])
    places, place = np.unique(np.concatenate(beside), return_inverse=True)
    near: Floats = np.bincount(place, weights=np.concatenate(most)).astype(np.float64)
    return places, near


def _session_scores(words: Sequence[_Word], lengths: Floats) -> Floats:
    """Return the BM25 of each conversation as one text. A word counts once per message."""
    total = np.zeros(len(lengths))
    norm = K1 * (1 - B + B * lengths / lengths.mean())
    for word in words:
        times = np.bincount(word.session, minlength=len(lengths))
        total += word.weight * times * (K1 + 1) / (times + norm)
    return total


def _best_places(
    snapshot: Snapshot, scope: int, sessions: Sequence[str], keys: Ints, near: Floats, k: int, where: Filter
) -> list[Found]:
    """Return the best `k` messages at these positions; ties by id, unless there are thousands of them."""
    order = np.lexsort((keys, -near))
    found: list[Found] = []
    start, size = 0, _SPARE * k
    while start < len(order):
        score = near[order[start]]
        if len(found) >= k and (score < found[k - 1].score or start >= _MOST_TIED):
            break
        some = order[start : start + size]
        places = [(sessions[key // _MAX_POSITIONS], key % _MAX_POSITIONS) for key in keys[some].tolist()]
        scores = dict(zip(places, near[some].tolist(), strict=True))
        rows = snapshot.rows("memory", ("id", "session", "position"), messages_at(scope, places, where))
        found += [Found(id_, scores[session, position]) for id_, session, position in rows]
        found.sort(key=lambda hit: (-hit.score, hit.id))
        # A strict filter needs more positions.
        start, size = start + size, 2 * size
    return found[:k]


# The searches of one query


class Search:
    """The searches of one query in one snapshot, within a filter. Rows are read once."""

    def __init__(self, snapshot: Snapshot, where: Filter) -> None:
        self.snapshot = snapshot
        self.where: Filter = where
        self.memories: MemoryRows = MemoryRows(snapshot)
        own: list[Condition] = [Equals("owner", where.owner)]
        if where.agent is not None:
            own.append(Equals("agent", where.agent))
        asked = [
            RowsQuery("scope", ("id", *IndexSize._fields), own),
            MODEL_IN_USE,
            RowsQuery("pending_vector", ("passage_id",), limit=1),
        ]
        if where.expired_by is not None:
            ended = (Compares("expires_at", "<=", where.expired_by),)
            asked.append(RowsQuery("memory", ("id",), ended, limit=1))
        scopes, models, pending, *expired = snapshot.rows_batch(asked)
        if not any(expired):
            # Usually no memory has expired, and the indexes need no filter.
            self.where = replace(where, expired_by=None)
        sizes = {id_: IndexSize(*size) for id_, *size in sorted(scopes)}
        self.scopes: list[int] = list(sizes)
        self.model: tuple[int, Model] | None = model_of(models)
        """The row of the model in use, and the model."""
        self.some_pending: bool = bool(pending)
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
        """Return the best `k` by BM25, ties by id. No character of the text is an operator.

        With a `span`, only memories of that time are found.
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
        """Return the best `k` by cosine, ties by id; see `Snapshot.nearest`."""
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
        """Score each memory by its best passage, token by token; see `max_similarities`.

        `nearest` are the passages that the search by meaning found. Memories without token vectors are left
        out.
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
        """Return messages whose neighbours, up to `within` positions away, contain most of a query.

        Also return the context scores of all other messages, by scope. Ties are ordered by id. The filter
        applies to hits, not to neighbours. `echo`, a session and a query just asked there, is ignored.
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
        """Return entities that are one relation away from those that a text names.

        The score is the share of the relation type's words that the text contains, and at least a quarter.
        """
        if Kind.ENTITY not in self.where.kinds:
            return []
        return _best_first(
            hit
            for scope, index in self._indexes.items()
            # Without entities, only a past state can have relations.
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
        """Return the messages from which these notes were made, by id, if the filter allows them."""
        if Kind.MESSAGE not in self.where.kinds:
            return []
        origins = set(self.memories.select(ids, ("drawn_from",))).difference((None, *ids))
        if not origins:
            return []
        visible = (OneOf("id", origins), Equals("kind", "message"), *allowed(self.where, self.scopes))
        return sorted(id_ for (id_,) in self.snapshot.rows("memory", ("id",), visible))

    def matched_shares(self, text: str, ids: Ints) -> Floats:
        """Return the weighted share of the query's content words in each memory, by ascending id."""
        shares = np.zeros(len(ids))
        for index in self._indexes.values():
            shares = np.maximum(shares, matched_shares(index, text, ids))
        return shares

    def document_counts(self, words: Sequence[str]) -> tuple[int, Mapping[str, int]]:
        """Count the first scope's texts, and those that contain each word, or else its stem."""
        index = next(iter(self._indexes.values()), None)
        return (0, {}) if index is None else (index.size("plain")[0], counts_or_stem_counts(index, words))

    def _within(self, span: tuple[int, int] | None) -> Filter:
        return self.where if span is None else replace(self.where, span=span)


def _best_first(found: Iterable[Found]) -> list[Found]:
    return sorted(found, key=lambda hit: (-hit.score, hit.id))


def _by_session(where: Filter) -> Iterator[Filter]:
    """Split a filter with a `current` session in two: other kinds, and messages of that session."""
    talk = where.kinds & {Kind.MESSAGE} if where.current is not None else frozenset()
    for kinds, session in ((where.kinds - talk, where.session), (talk, where.current)):
        if kinds and (session == where.session or where.session is None):
            yield replace(where, kinds=kinds, session=session, current=None)
