"""Search a past state: former texts, and memories that were superseded or forgotten since.

The indexes hold only the present. A query about the past searches them for memories that have not
changed since. This module searches the few others. Both use the word statistics of the present index, so that
the two lists can be merged by score.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.domain.numbers import unpack_vector
from recollect.domain.records import Filter, Found, Kind
from recollect.domain.tables import IN_FORCE, Condition, Equals, Not, OneOf
from recollect.search.rows import PastState, narrowing
from recollect.search.texts import documents
from recollect.search.words import K1, Analyser, B, Phrase, TermIndex, idf, pair_phrases
from recollect.text.tokens import letter_pairs, porter_stem, query_terms, words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.ranking.candidates import Floats, Ints
    from recollect.stores.port import Snapshot, Vector, Vectors


# Texts of a past state that differ from the present, cached for further queries

_KINDS = {kind.value: code for code, kind in enumerate(Kind)}
# Cached past states, and the maximum number of memories in each. A vector of 384 numbers takes 1.5 KB.
_KEPT_STATES = 2
_MOST_KEPT = 16_384


class FormerVectors(NamedTuple):
    """The vectors of the passages that the memories had then, by passage."""

    passages: Ints
    rows: Ints
    """The position of each passage's memory in `PastTexts.ids`."""
    vectors: Vectors


class FormerTerms:
    """Postings of former texts: the texts that contain a term, and its count in each."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(term, len(numbers)) for term in chain.from_iterable(texts)]
        lengths = np.array([len(text) for text in texts], np.int64)
        self.lengths: Floats = lengths.astype(np.float64)
        self._rows = np.repeat(np.arange(len(texts)), lengths)
        self._flat = np.array(flat, np.int64)
        self._set(numbers, self._flat)

    def stemmed(self) -> FormerTerms:
        stems: dict[str, int] = {}
        number = [stems.setdefault(porter_stem(term), len(stems)) for term in self._numbers]
        other = object.__new__(FormerTerms)
        other.lengths, other._rows = self.lengths, self._rows
        other._flat = np.array(number, np.int64)[self._flat]
        other._set(stems, other._flat)
        return other

    def times(self, phrase: Phrase) -> tuple[Ints, Ints]:
        """Return the rows of the texts that contain a phrase, and its count in each."""
        if phrase.prefix:
            first = phrase.terms[0]
            wanted = [number for term, number in self._numbers.items() if term.startswith(first)]
            at = np.flatnonzero(np.isin(self._flat, wanted))
            return np.unique(self._rows[at], return_counts=True)
        numbers = [self._numbers.get(term, -1) for term in phrase.terms]
        if -1 in numbers:
            return self._keys[:0], self._counts[:0]
        if len(numbers) == 1:
            start, stop = self._starts[numbers[0] : numbers[0] + 2]
            return self._keys[start:stop] - numbers[0] * self._size, self._counts[start:stop]
        # Positions where the terms follow each other in one text.
        last = len(self._flat) - len(numbers) + 1
        at = np.flatnonzero(self._flat[: max(last, 0)] == numbers[0])
        for place, number in enumerate(numbers):
            same_text = self._rows[at + place] == self._rows[at]
            at = at[same_text & (self._flat[at + place] == number)]
        return np.unique(self._rows[at], return_counts=True)

    def _set(self, numbers: dict[str, int], flat: Ints) -> None:
        self._numbers = numbers
        self._size = len(self.lengths)
        # `np.unique` sorts the keys: by term, then by text.
        self._keys, self._counts = np.unique(flat * self._size + self._rows, return_counts=True)
        self._starts = np.searchsorted(self._keys, np.arange(len(numbers) + 1) * self._size)


class PastTexts:
    """The texts of one past state that differ from the present. Each part is read on first use."""

    def __init__(self, snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> None:
        self.state = state
        own = (OneOf("id", list(state.changed_ids(snapshot))), OneOf("scope_id", scopes))
        changed = snapshot.rows("memory", ("id",), own, order=("id",))
        self.changed_ids: Ints = np.array([id_ for (id_,) in changed], np.int64)
        """Memories of these scopes that were different then, or are not in the present indexes."""
        conditions = (OneOf("id", self.changed_ids.tolist()), *state.memory_conditions())
        rows = snapshot.rows("memory", ("id", "scope_id", "kind"), conditions) if changed else []
        # The changed memories that existed then, by ascending id.
        self.ids: Ints = np.array([row[0] for row in rows], np.int64)
        self._scopes: Ints = np.array([row[1] for row in rows], np.int64)
        self._kinds: Ints = np.array([_KINDS[row[2]] for row in rows], np.int64)
        self._present: tuple[int, ...] | None = None
        self._terms: dict[Analyser, FormerTerms] = {}
        self._vectors: dict[int, FormerVectors] = {}

    def unchanged(self, snapshot: Snapshot) -> tuple[Condition, ...]:
        """Return conditions for memories in the present indexes that have not changed since."""
        if self._present is None:
            there = snapshot.rows("memory", ("id",), (OneOf("id", self.changed_ids.tolist()), *IN_FORCE))
            self._present = tuple(id_ for (id_,) in there)
        return *((Not(OneOf("id", self._present)),) if self._present else ()), *self.state.memory_conditions()

    def search_words(
        self, index: TermIndex, text: str, k: int, analyser: Analyser, where: Filter
    ) -> list[Found]:
        """Return the best `k` former documents, and ties with the last, by the present index's statistics."""
        if not len(self.ids):
            return []
        score = np.zeros(len(self.ids))
        terms = [Phrase((word,)) for word in query_terms(text)]
        if terms:
            score += self._scores(index, analyser, terms)
        pairs = pair_phrases(text)
        if pairs:
            score += self._scores(index, "pairs", pairs)
        rows = np.flatnonzero(self._allowed_mask(index.snapshot, [index.scope], where) & (score > 0))
        if len(rows) > k:
            rows = rows[score[rows] >= np.partition(score[rows], -k)[-k]]
        found = zip(self.ids[rows].tolist(), score[rows].tolist(), strict=True)
        return [Found(id_, worth) for id_, worth in found]

    def messages_with(self, index: TermIndex, terms: Sequence[str], where: Filter) -> dict[str, list[int]]:
        """Return, by word, the former messages with its stem. Of the filter, only the past state counts."""
        messages = Filter(kinds=frozenset({Kind.MESSAGE}), as_of=where.as_of, superseded=where.superseded)
        allowed = self._allowed_mask(index.snapshot, [index.scope], messages)
        if not allowed.any():
            return {}
        stems = self._terms_of(index.snapshot, "stemmed")
        found = {word: stems.times(Phrase((porter_stem(word),)))[0] for word in terms}
        return {word: self.ids[rows[allowed[rows]]].tolist() for word, rows in found.items()}

    def nearest(
        self, snapshot: Snapshot, vector: Vector, k: int, model: int, scopes: Sequence[int], where: Filter
    ) -> list[Found]:
        """Return the best `k` former memories, and ties with the last, by their best passage."""
        if model not in self._vectors:
            self._vectors[model] = self._read_vectors(snapshot, model)
        former = self._vectors[model]
        if not len(former.rows):
            return []
        there = self._allowed_mask(snapshot, scopes, where)[former.rows]
        cosines = np.vecdot(former.vectors, vector)[there]
        passages, memories = former.passages[there], self.ids[former.rows[there]]
        order = np.lexsort((passages, -cosines, memories))
        order = order[np.diff(memories[order], prepend=-1) != 0]
        if len(order) > k:
            order = order[cosines[order] >= np.partition(cosines[order], -k)[-k]]
        columns = (memories[order].tolist(), cosines[order].tolist(), passages[order].tolist())
        return [Found(*hit) for hit in zip(*columns, strict=True)]

    def passages(self, snapshot: Snapshot, ids: Sequence[int]) -> dict[int, int]:
        """Return the passages that these memories had then, each with its memory."""
        rows = snapshot.rows(
            "passage", ("id", "memory_id", "observation_id", "revision_id"), (OneOf("memory_id", ids),)
        )
        observed = {observation for _, _, observation, _ in rows if observation is not None}
        conditions = (OneOf("id", observed), *self.state.observation_conditions())
        held = {id_ for (id_,) in snapshot.rows("observation", ("id",), conditions)}
        former = self._former_texts(snapshot, ids)
        return {
            passage: memory
            for passage, memory, observation, revision in rows
            if (observation is None or observation in held) and revision == former.get(memory, (None, ""))[0]
        }

    def _former_texts(self, snapshot: Snapshot, ids: Sequence[int]) -> dict[int, tuple[int, str]]:
        """Return the former revision and text of each memory whose text has changed since."""
        if self.state.at is None:
            return {}
        rows = snapshot.rows(
            "revision", ("memory_id", "id", "text", "until"), (OneOf("memory_id", ids),), order=("id",)
        )
        first: dict[int, tuple[int, str]] = {}
        for memory, revision, text, until in rows:
            if until > self.state.at:
                first.setdefault(memory, (revision, text))
        return first

    def _terms_of(self, snapshot: Snapshot, analyser: Analyser) -> FormerTerms:
        if "plain" not in self._terms:
            ids = self.ids.tolist()
            former = {memory: text for memory, (_, text) in self._former_texts(snapshot, ids).items()}
            # In the order of `ids`.
            read = documents(snapshot, ids, (), self.state.observation_conditions(), former) if ids else []
            bodies = [f"{document.name} {document.type} {document.body}" for document in read]
            self._terms["pairs"] = FormerTerms([letter_pairs(body) for body in bodies])
            self._terms["plain"] = FormerTerms([words(body) for body in bodies])
        if analyser not in self._terms:
            self._terms[analyser] = self._terms["plain"].stemmed()
        return self._terms[analyser]

    def _read_vectors(self, snapshot: Snapshot, model: int) -> FormerVectors:
        wanted = self.passages(snapshot, self.ids.tolist())
        found = snapshot.rows(
            "vector",
            ("passage_id", "embedding"),
            (Equals("model_id", model), OneOf("passage_id", list(wanted))),
            order=("passage_id",),
        )
        memories = np.array([wanted[passage] for passage, _ in found], np.int64)
        packed = unpack_vector(b"".join(blob for _, blob in found))
        return FormerVectors(
            np.array([passage for passage, _ in found], np.int64),
            np.searchsorted(self.ids, memories),
            packed.reshape(len(found), -1) if found else packed.reshape(0, 0),
        )

    def _allowed_mask(self, snapshot: Snapshot, scopes: Sequence[int], where: Filter) -> NDArray[np.bool_]:
        """Return a mask of the memories that the filter allows."""
        allowed = np.isin(self._scopes, scopes)
        others: list[Condition] = []
        for condition in narrowing(where):
            match condition:
                case OneOf("kind", values):
                    allowed &= np.isin(self._kinds, [_KINDS[str(kind)] for kind in values])
                case _:
                    others.append(condition)
        if others and allowed.any():
            asked = (OneOf("id", self.ids[allowed].tolist()), *others)
            allowed &= np.isin(self.ids, [id_ for (id_,) in snapshot.rows("memory", ("id",), asked)])
        return allowed

    def _scores(self, index: TermIndex, analyser: Analyser, phrases: Sequence[Phrase]) -> Floats:
        """Score the phrases in each document by the formula of SQLite's bm25()."""
        former = self._terms_of(index.snapshot, analyser)
        documents, length = index.size(analyser)
        mean = length / documents if documents else 1.0
        index.read(phrases, analyser)
        weights = [idf(documents, index.document_count(phrase, analyser)) for phrase in phrases]
        if analyser == "stemmed":
            phrases = [Phrase(tuple(map(porter_stem, phrase.terms)), phrase.prefix) for phrase in phrases]
        worth = np.zeros(len(former.lengths))
        for weight, phrase in zip(weights, phrases, strict=True):
            rows, times = former.times(phrase)
            norm = 1 - B + B * former.lengths[rows] / (mean or 1.0)
            worth[rows] += weight * times * (K1 + 1) / (times + K1 * norm)
        return worth


_cached: OrderedDict[tuple[object, ...], PastTexts] = OrderedDict()
_cache_lock = threading.Lock()


def past_texts(snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> PastTexts:
    """Return the former texts of these scopes. They are cached if the store has a history stamp."""
    stamps = snapshot.rows("history_stamp", ("stamp",))
    if not stamps:
        return PastTexts(snapshot, state, scopes)
    key = (tuple(stamp for (stamp,) in stamps), tuple(scopes), state)
    with _cache_lock:
        known = _cached.get(key)
        if known is not None:
            _cached.move_to_end(key)
            return known
    read = PastTexts(snapshot, state, scopes)
    if len(read.changed_ids) <= _MOST_KEPT:
        with _cache_lock:
            _cached[key] = read
            while len(_cached) > _KEPT_STATES:
                _cached.popitem(last=False)
    return read
