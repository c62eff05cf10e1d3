"""Searching what the present's indexes do not hold: former texts, and what was superseded or forgotten since.

The indexes hold the present alone, so that it is fast and weighs nothing else. A question about another
moment asks them for what has not changed since, and searches the rest, which is little, by itself. Its words
weigh as the present's index weighs them, so that the two lists can be merged by score.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
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


# Texts of a past state that differ from the present, read once for many questions about that state.

_KINDS = {kind.value: code for code, kind in enumerate(Kind)}
# Past states that are cached, and memories in each: a vector of 384 numbers takes 1.5 KB.
_KEPT_STATES = 2
_MOST_KEPT = 16_384


class FormerRows(NamedTuple):
    """The changed memories that were there, by ascending id."""

    ids: Ints
    scopes: Ints
    kinds: Ints
    """Their places among all kinds."""


class FormerVectors(NamedTuple):
    """The vectors of the passages that the memories had, by passage."""

    passages: Ints
    memories: Ints
    rows: Ints
    """The memories' places among the state's rows."""
    vectors: Vectors


class FormerTerms:
    """The texts that contain a term, and how often each contains it."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        numbers: dict[str, int] = {}
        flat = [numbers.setdefault(term, len(numbers)) for term in chain.from_iterable(texts)]
        lengths = np.array([len(text) for text in texts], np.int64)
        self.lengths: Floats = lengths.astype(np.float64)
        self._rows = np.repeat(np.arange(len(texts)), lengths)
        self._flat = np.array(flat, np.int64)
        self._set(numbers, self._flat)

    def stemmed(self) -> FormerTerms:
        """The same texts by the stems of their words."""
        stems: dict[str, int] = {}
        number = [stems.setdefault(porter_stem(term), len(stems)) for term in self._numbers]
        other = object.__new__(FormerTerms)
        other.lengths, other._rows = self.lengths, self._rows
        other._flat = np.array(number, np.int64)[self._flat]
        other._set(stems, other._flat)
        return other

    def times(self, phrase: Phrase) -> tuple[Ints, Ints]:
        """The rows of the texts that contain a phrase, and how often each does."""
        if phrase.prefix:
            first = phrase.terms[0]
            wanted = [number for term, number in self._numbers.items() if term.startswith(first)]
            return self._count_rows(np.flatnonzero(np.isin(self._flat, wanted)))
        numbers = [self._numbers.get(term) for term in phrase.terms]
        if len(numbers) > 1:
            return self._count_rows(self._sequences(numbers))
        if numbers[0] is None:
            return self._keys[:0], self._counts[:0]
        start, stop = self._starts[numbers[0] : numbers[0] + 2]
        return self._keys[start:stop] - numbers[0] * self._size, self._counts[start:stop]

    def _set(self, numbers: dict[str, int], flat: Ints) -> None:
        self._numbers = numbers
        self._size = len(self.lengths)
        # Ascending, so by term and then by text.
        self._keys, self._counts = np.unique(flat * self._size + self._rows, return_counts=True)
        self._starts = np.searchsorted(self._keys, np.arange(len(numbers) + 1) * self._size)

    def _sequences(self, numbers: Sequence[int | None]) -> Ints:
        """Return the rows where terms follow one another in one text."""
        if None in numbers:
            return self._flat[:0]
        last = len(self._flat) - len(numbers) + 1
        at = np.flatnonzero(self._flat[: max(last, 0)] == numbers[0])
        for place, number in enumerate(numbers):
            same_text = self._rows[at + place] == self._rows[at]
            at = at[same_text & (self._flat[at + place] == number)]
        return at

    def _count_rows(self, places: Ints) -> tuple[Ints, Ints]:
        rows, counts = np.unique(self._rows[places], return_counts=True)
        return rows, counts


class FormerTexts:
    """What differs between one past state and the present. Each part is read on first use."""

    def __init__(self, snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> None:
        own = (OneOf("id", list(state.changed(snapshot))), OneOf("scope_id", scopes))
        self.changed = frozenset(id_ for (id_,) in snapshot.rows("memory", ("id",), own))
        """All memories of these scopes that read otherwise than now, or are in no index of the present."""
        conditions = (OneOf("id", self.changed), *state.memory())
        rows = snapshot.rows("memory", ("id", "scope_id", "kind"), conditions) if self.changed else []
        ids, scopes, kinds = zip(*rows, strict=True) if rows else ((), (), ())
        self.rows = FormerRows(
            np.array(ids, np.int64),
            np.array(scopes, np.int64),
            np.array([_KINDS[kind] for kind in kinds], np.int64),
        )
        self.state = state
        self._present: tuple[int, ...] | None = None
        self._texts: dict[str, FormerTerms] = {}
        self._vectors: dict[int, FormerVectors] = {}

    @cached_property
    def changed_ids(self) -> Ints:
        """Ascending."""
        return np.array(sorted(self.changed), np.int64)

    def present(self, snapshot: Snapshot) -> tuple[int, ...]:
        """Return the changed memories that the present's indexes hold."""
        if self._present is None:
            there = snapshot.rows("memory", ("id",), (OneOf("id", self.changed), *IN_FORCE))
            self._present = tuple(id_ for (id_,) in there)
        return self._present

    def words(self, snapshot: Snapshot) -> FormerTerms:
        if "words" not in self._texts:
            self._read_texts(snapshot)
        return self._texts["words"]

    def stems(self, snapshot: Snapshot) -> FormerTerms:
        if "stems" not in self._texts:
            self._texts["stems"] = self.words(snapshot).stemmed()
        return self._texts["stems"]

    def pairs(self, snapshot: Snapshot) -> FormerTerms:
        if "pairs" not in self._texts:
            self._read_texts(snapshot)
        return self._texts["pairs"]

    def vectors(self, snapshot: Snapshot, model: int) -> FormerVectors:
        if model not in self._vectors:
            self._vectors[model] = self._read_vectors(snapshot, model)
        return self._vectors[model]

    def _read_texts(self, snapshot: Snapshot) -> None:
        ids = self.rows.ids.tolist()
        former = {memory: text for memory, (_, text) in _wordings(snapshot, self.state, ids).items()}
        # By id, as the rows are.
        read = documents(snapshot, ids, (), self.state.observation(), former) if ids else []
        bodies = [f"{document.name} {document.type} {document.body}" for document in read]
        self._texts["pairs"] = FormerTerms([letter_pairs(body) for body in bodies])
        self._texts["words"] = FormerTerms([words(body) for body in bodies])

    def _read_vectors(self, snapshot: Snapshot, model: int) -> FormerVectors:
        wanted = former_passages(snapshot, self.state, self.rows.ids.tolist())
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
            memories,
            np.searchsorted(self.rows.ids, memories),
            packed.reshape(len(found), -1) if found else packed.reshape(0, 0),
        )


_Key = tuple[tuple[int, ...], tuple[int, ...], "PastState"]
_kept: OrderedDict[_Key, FormerTexts] = OrderedDict()
_keeping = threading.Lock()


def kept_former_texts(snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> FormerTexts:
    """Return what differs from the present in these scopes; cached where the store numbers its changes."""
    stamps = snapshot.rows("past", ("stamp",))
    if not stamps:
        return FormerTexts(snapshot, state, scopes)
    key = (tuple(stamp for (stamp,) in stamps), tuple(scopes), state)
    with _keeping:
        known = _kept.get(key)
        if known is not None:
            _kept.move_to_end(key)
            return known
    read = FormerTexts(snapshot, state, scopes)
    if len(read.changed) <= _MOST_KEPT:
        with _keeping:
            _kept[key] = read
            while len(_kept) > _KEPT_STATES:
                _kept.popitem(last=False)
    return read


def former_passages(snapshot: Snapshot, state: PastState, ids: Sequence[int]) -> dict[int, int]:
    """The passages that former memories had, each with its memory."""
    rows = snapshot.rows(
        "passage", ("id", "memory_id", "observation_id", "revision_id"), (OneOf("memory_id", ids),)
    )
    observed = {observation for _, _, observation, _ in rows if observation is not None}
    held = {
        id_ for (id_,) in snapshot.rows("observation", ("id",), (OneOf("id", observed), *state.observation()))
    }
    wordings = _wordings(snapshot, state, ids)
    return {
        passage: memory
        for passage, memory, observation, revision in rows
        if (observation is None or observation in held) and revision == wordings.get(memory, (None, ""))[0]
    }


def _wordings(snapshot: Snapshot, state: PastState, ids: Sequence[int]) -> dict[int, tuple[int, str]]:
    """The revision whose text each memory had then; the present text has none."""
    if state.at is None:
        return {}
    rows = snapshot.rows(
        "revision", ("memory_id", "id", "text", "until"), (OneOf("memory_id", ids),), order=("id",)
    )
    first: dict[int, tuple[int, str]] = {}
    for memory, revision, text, until in rows:
        if until > state.at:
            first.setdefault(memory, (revision, text))
    return first


_PLACES = {kind.value: place for place, kind in enumerate(Kind)}


class PastTexts:
    """The texts of one past state that differ from the present."""

    def __init__(self, snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> None:
        self.snapshot = snapshot
        self.state = state
        self._texts = kept_former_texts(snapshot, state, scopes)
        self.changed = self._texts.changed
        """All memories that read otherwise than now, or are in no index of the present."""

    @property
    def changed_ids(self) -> Ints:
        """Ascending."""
        return self._texts.changed_ids

    def unchanged(self) -> tuple[Condition, ...]:
        """Conditions on memories of the present's indexes: those that read as they do now."""
        present = self._texts.present(self.snapshot)
        return (Not(OneOf("id", present)),) if present else ()

    def search_words(
        self, index: TermIndex, text: str, k: int, analyser: Analyser, where: Filter
    ) -> list[Found]:
        """The best k former documents and those level with the last, with the present index's statistics."""
        texts = self._texts
        if not len(texts.rows.ids):
            return []
        score = np.zeros(len(texts.rows.ids))
        terms = [Phrase((word,)) for word in query_terms(text)]
        if terms:
            former = texts.stems if analyser == "stemmed" else texts.words
            score += _worth(index, analyser, former(self.snapshot), terms)
        pairs = pair_phrases(text)
        if pairs:
            score += _worth(index, "pairs", texts.pairs(self.snapshot), pairs)
        rows = np.flatnonzero(self._allowed([index.scope], where) & (score > 0))
        if len(rows) > k:
            rows = rows[score[rows] >= np.partition(score[rows], -k)[-k]]
        found = zip(texts.rows.ids[rows].tolist(), score[rows].tolist(), strict=True)
        return [Found(id_, worth) for id_, worth in found]

    def messages_with(self, scope: int, terms: Sequence[str], where: Filter) -> dict[str, list[int]]:
        """The former messages that contained each of these words, by their stems; of all that there were."""
        spoken = Filter(kinds=frozenset({Kind.MESSAGE}), as_of=where.as_of, superseded=where.superseded)
        allowed = self._allowed([scope], spoken)
        if not allowed.any():
            return {}
        stems = self._texts.stems(self.snapshot)
        found = {word: stems.times(Phrase((porter_stem(word),)))[0] for word in terms}
        return {word: self._texts.rows.ids[rows[allowed[rows]]].tolist() for word, rows in found.items()}

    def nearest(
        self, vector: Vector, k: int, model: int, scopes: Sequence[int], where: Filter
    ) -> list[Found]:
        """The best k of the former memories and those level with the last, by the best of their passages."""
        former = self._texts.vectors(self.snapshot, model)
        if not len(former.rows):
            return []
        there = self._allowed(scopes, where)[former.rows]
        cosines = np.vecdot(former.vectors, vector)[there]
        passages, memories = former.passages[there], former.memories[there]
        order = np.lexsort((passages, -cosines, memories))
        order = order[np.diff(memories[order], prepend=-1) != 0]
        if len(order) > k:
            order = order[cosines[order] >= np.partition(cosines[order], -k)[-k]]
        columns = (memories[order].tolist(), cosines[order].tolist(), passages[order].tolist())
        return [Found(*hit) for hit in zip(*columns, strict=True)]

    def passages(self, ids: Sequence[int]) -> dict[int, int]:
        """The passages that former memories had, each with its memory."""
        return former_passages(self.snapshot, self.state, ids)

    def _allowed(self, scopes: Sequence[int], where: Filter) -> NDArray[np.bool_]:
        """Which of the state's rows the filter lets through."""
        rows = self._texts.rows
        allowed = np.isin(rows.scopes, scopes)
        others: list[Condition] = []
        for condition in narrowing(where):
            match condition:
                case OneOf("kind", values):
                    allowed &= np.isin(rows.kinds, [_PLACES[str(kind)] for kind in values])
                case _:
                    others.append(condition)
        if others and allowed.any():
            asked = (OneOf("id", rows.ids[allowed].tolist()), *others)
            meet = [id_ for (id_,) in self.snapshot.rows("memory", ("id",), asked)]
            allowed &= np.isin(rows.ids, meet)
        return allowed


def _worth(index: TermIndex, analyser: Analyser, former: FormerTerms, phrases: Sequence[Phrase]) -> Floats:
    """Score the phrases in each document by the formula of SQLite's bm25()."""
    documents, length = index.size(analyser)
    usual = length / documents if documents else 1.0
    index.read(phrases, analyser)
    weights = [idf(documents, index.document_count(phrase, analyser)) for phrase in phrases]
    if analyser == "stemmed":
        phrases = [Phrase(tuple(map(porter_stem, phrase.terms)), phrase.prefix) for phrase in phrases]
    worth = np.zeros(len(former.lengths))
    for weight, phrase in zip(weights, phrases, strict=True):
        rows, times = former.times(phrase)
        rarity = 1 - B + B * former.lengths[rows] / (usual or 1.0)
        worth[rows] += weight * times * (K1 + 1) / (times + K1 * rarity)
    return worth
