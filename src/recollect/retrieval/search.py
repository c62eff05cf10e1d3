"""The searches of one question: by words, by meaning, by what stands beside a message, by relations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.conditions import Compares, Condition, Equals, OneOf
from recollect.ports import RowsQuery, Snapshot, Vector, Vectors
from recollect.records import Found, Kind
from recollect.retrieval.conversations import messages_at
from recollect.retrieval.entities import linked_entities
from recollect.retrieval.facts import ends_with_question
from recollect.retrieval.filters import PastState, allowed, narrowing
from recollect.retrieval.late_interaction import best_token_scores, passages_to_compare
from recollect.retrieval.memory_rows import MemoryRows
from recollect.retrieval.neighbours import neighbours
from recollect.retrieval.passages import MODEL_IN_USE, model_of
from recollect.retrieval.term_index import Analyser, IndexSize, TermIndex
from recollect.retrieval.term_search import counts_or_stem_counts, matched_shares, search_words

if TYPE_CHECKING:
    from recollect.query import Filter
    from recollect.ranking.candidates import ConversationContext, Floats, Ints
    from recollect.retrieval.as_of_search import PastTexts


class Search:
    """Searches what a filter lets through. A snapshot is of one moment, so what was read once is kept."""

    def __init__(self, snapshot: Snapshot, where: Filter) -> None:
        self.snapshot = snapshot
        self.where = where
        self.memories = MemoryRows(snapshot)
        own = (
            Equals("owner", where.owner),
            *(() if where.agent is None else (Equals("agent", where.agent),)),
        )
        expiring = (
            ()
            if where.expired_by is None
            else (RowsQuery("memory", ("id",), (Compares("expires_at", "<=", where.expired_by),), limit=1),)
        )
        scopes, models, due, *expired = snapshot.several(
            (
                RowsQuery("scope", ("id", *IndexSize._fields), own),
                MODEL_IN_USE,
                RowsQuery("due", ("passage_id",), limit=1),
                *expiring,
            )
        )
        if not any(expired):
            # Nothing has, as nearly always: the indexes answer by themselves.
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
            from recollect.retrieval.as_of_search import PastTexts  # noqa: PLC0415  # few ask about the past

            self._past = PastTexts(snapshot, state, self.scopes)
            self._unchanged = (*self._past.unchanged(), *self._past.state.memory())

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
            found += self._past.nearest(vector, k, model[0], self.scopes, where)
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
            changed = [id_ for id_ in ids if id_ in self._past.changed]
            passages += self._past.passages(changed).items()
        unchanged = [id_ for id_ in ids if id_ not in changed] if changed else ids
        passages += self.snapshot.embedded_passages(unchanged)
        compared = passages_to_compare(passages, nearest)
        return best_token_scores(self.snapshot, (model_id, model.dims), tokens, compared)

    def by_neighbours(
        self, text: str, k: int, within: int, echo: tuple[str, str] | None = None
    ) -> tuple[list[Found], list[ConversationContext]]:
        """The messages whose neighbours, up to `within` places away, contain most of a query; ties by id.

        And what there is next to all others, by scope. What neighbours say counts whoever said it, as long
        as it was not forgotten; those that are found are such as the filter lets through. An `echo`, a
        session and a text, is what was just asked there: it says nothing of what stands beside it.
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
            # Whom relations lead to is found in the index, unless the past is asked for.
            if index.sizes.entities or self._past is not None
            for hit in linked_entities(self.snapshot, scope, text, self.where, now)
        )

    def replies(self, ids: Sequence[int]) -> list[int]:
        """The messages that stand right after those of these that end with a question, by id."""
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
        origins = {id_ for id_ in self.memories.select(ids, ("drawn_from",)) if id_ is not None}.difference(
            ids
        )
        if not origins:
            return []
        allowed_messages = (
            OneOf("id", origins),
            Equals("kind", "message"),
            *allowed(self.where, self.scopes),
        )
        return sorted(id_ for (id_,) in self.snapshot.rows("memory", ("id",), allowed_messages))

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
