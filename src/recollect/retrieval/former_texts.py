"""What the memories of another state than the present one said, read once for many questions about it."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recollect.conditions import IN_FORCE, Equals, OneOf
from recollect.records import Kind
from recollect.retrieval.documents import documents
from recollect.text.stems import porter_stem
from recollect.text.tokens import letter_pairs, words
from recollect.vectors import unpack_vector

if TYPE_CHECKING:
    from recollect.ports import Snapshot, Vectors
    from recollect.ranking.candidates import Floats, Ints
    from recollect.retrieval.filters import PastState
    from recollect.retrieval.term_index import Phrase

_KINDS = {kind.value: code for code, kind in enumerate(Kind)}
# As many states are kept, of at most so many memories each: a vector of 384 numbers takes 1.5 KB.
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
    """In which of some texts a term stands, and how often."""

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
            return self._counted(np.flatnonzero(np.isin(self._flat, wanted)))
        numbers = [self._numbers.get(term) for term in phrase.terms]
        if len(numbers) > 1:
            return self._counted(self._sequences(numbers))
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
        """Where terms stand that follow one another in one text."""
        if None in numbers:
            return self._flat[:0]
        last = len(self._flat) - len(numbers) + 1
        at = np.flatnonzero(self._flat[: max(last, 0)] == numbers[0])
        for place, number in enumerate(numbers):
            same_text = self._rows[at + place] == self._rows[at]
            at = at[same_text & (self._flat[at + place] == number)]
        return at

    def _counted(self, places: Ints) -> tuple[Ints, Ints]:
        rows, counts = np.unique(self._rows[places], return_counts=True)
        return rows, counts


class FormerTexts:
    """What one past state holds that differs from the present; each part is read when it is first needed."""

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
        """Of the changed memories, those that the present's indexes hold."""
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
    """What differs from the present in these scopes; kept where a store says when that changes."""
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
