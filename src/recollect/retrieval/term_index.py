"""A scope's index of words, as one question reads it: each term's postings once, for all that need them.

Three ways to read a text: `plain`, its words, case and accents folded; `stemmed`, the same without English
endings (Porter); `pairs`, overlapping pairs of letters of scripts other than Latin, and symbols. The first
two are one index: what stands under a stem is what stands under the words that have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from recollect.conditions import Compares, Condition, Equals, OneOf
from recollect.lazy_dataclass import dataclass
from recollect.ports import RowsQuery, Snapshot
from recollect.retrieval.postings import Postings, following, joined, summed, unpack_block
from recollect.text.stems import porter_stem

if TYPE_CHECKING:
    from recollect.ranking.candidates import Ints
    from recollect.retrieval.term_search import AffordableTerms

Analyser = Literal["plain", "stemmed", "pairs"]
TERM_ID = np.dtype("<u4")
"""As documents list their terms."""
_LAST_LETTER = "\U0010ffff"
# Of a store of so few documents, postings are read without asking first how many there are.
_FEW = 20_000


@dataclass(frozen=True, slots=True)
class Phrase:
    """One thing to look for in an index of words: folded terms that follow one another."""

    terms: tuple[str, ...]
    prefix: bool = False
    """The term may also be the beginning of a longer one."""


class IndexSize(NamedTuple):
    documents: int = 0
    words: int = 0
    paired: int = 0
    """Documents that have pairs of letters."""
    pairs: int = 0
    unmerged: int = 0
    """Documents that postings do not hold yet."""
    entities: int = 0
    messages: int = 0


class Tail(NamedTuple):
    """The terms of the documents that postings do not hold yet, one row for each."""

    terms: Ints
    documents: Ints
    positions: Ints
    lengths: Ints
    """Of the row's document."""

    @classmethod
    def of(cls, rows: Sequence[tuple[int, bytes]]) -> Tail:
        """Of documents and their packed terms."""
        terms = np.frombuffer(b"".join(packed for _, packed in rows), TERM_ID).astype(np.int64)
        sizes = np.array([len(packed) // TERM_ID.itemsize for _, packed in rows], np.int64)
        lengths = np.repeat(sizes, sizes)
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        ids = np.repeat(np.array([id_ for id_, _ in rows], np.int64), sizes)
        return cls(terms, ids, np.arange(len(terms)) - starts, lengths)

    def postings(self, wanted: Iterable[int]) -> dict[int, Postings]:
        """Of those of these terms that occur, by term."""
        if not len(self.terms):
            return {}
        highest = int(self.terms.max())
        is_wanted = np.zeros(highest + 1, bool)
        is_wanted[[term for term in wanted if term <= highest]] = True
        return self._grouped(np.flatnonzero(is_wanted[self.terms]))

    def all_postings(self) -> dict[int, Postings]:
        return self._grouped(np.arange(len(self.terms)))

    def _grouped(self, rows: Ints) -> dict[int, Postings]:
        if not len(rows):
            return {}
        rows = rows[np.lexsort((self.positions[rows], self.documents[rows], self.terms[rows]))]
        terms, ids = self.terms[rows], self.documents[rows]
        starts = np.flatnonzero((np.diff(terms, prepend=-1) != 0) | (np.diff(ids, prepend=-1) != 0))
        counts = np.diff(starts, append=len(rows))
        lengths, positions = self.lengths[rows], self.positions[rows]
        edges = np.flatnonzero(np.diff(terms[starts], prepend=-1) != 0).tolist()
        found = {}
        for first, last in zip(edges, [*edges[1:], len(starts)], strict=True):
            part = starts[first:last]
            stop = len(rows) if last == len(starts) else starts[last]
            found[int(terms[part[0]])] = Postings(
                ids[part], counts[first:last], lengths[part], positions[part[0] : stop]
            )
        return found


def postings_of(documents: Sequence[tuple[int, bytes, bytes]]) -> dict[int, Postings]:
    """By term, where it stands among documents, of which the packed words and pairs are given."""
    in_words = Tail.of([(id_, packed) for id_, packed, _ in documents]).all_postings()
    in_pairs = Tail.of([(id_, packed) for id_, _, packed in documents]).all_postings()
    # Only pairs are searched for one after another.
    return {term: each._replace(positions=each.positions[:0]) for term, each in in_words.items()} | in_pairs


class TermIndex:
    """A scope's index. A snapshot is of one moment, so what was read once is kept."""

    def __init__(self, snapshot: Snapshot, scope: int, sizes: IndexSize | None = None) -> None:
        self.snapshot = snapshot
        self.scope = scope
        self.sizes = index_size(snapshot, scope) if sizes is None else sizes
        self._tails: dict[bool, Tail] = {}
        self._ids: dict[bool, dict[str, dict[str, int]]] = {False: {}, True: {}}
        """Whether of pairs; by stem, the terms that have it."""
        self._counts: dict[int, int] = {}
        self._read: dict[int, Postings] = {}
        self._postings: dict[tuple[Phrase, Analyser], Postings] = {}
        self.affordable: dict[tuple[str, int], AffordableTerms] = {}
        """By query and budget; several searches ask for the same."""

    def size(self, analyser: Analyser) -> tuple[int, int]:
        """How many documents there are, and how many terms they have together."""
        sizes = self.sizes
        return (sizes.paired, sizes.pairs) if analyser == "pairs" else (sizes.documents, sizes.words)

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        """How many documents contain each word as it is."""
        self._find(map(porter_stem, terms), pairs=False)
        ids = {word: self._ids[False][porter_stem(word)].get(word) for word in terms}
        self._count([id_ for id_ in ids.values() if id_ is not None])
        return {word: 0 if id_ is None else self._counts[id_] for word, id_ in ids.items()}

    def document_count(self, phrase: Phrase, analyser: Analyser) -> int:
        """How many documents contain a phrase."""
        return len(self.postings(phrase, analyser).ids)

    def read(self, phrases: Iterable[Phrase], analyser: Analyser) -> None:
        """Read the postings of several phrases in one go."""
        pairs = analyser == "pairs"
        stems = [_stem(term, analyser) for phrase in phrases if not phrase.prefix for term in phrase.terms]
        self._find(stems, pairs=pairs)
        self._unpack([id_ for stem in stems for id_ in self._ids[pairs][stem].values()])

    def postings(self, phrase: Phrase, analyser: Analyser) -> Postings:
        """Where a phrase stands; several terms that follow one another are looked for among pairs alone."""
        known = self._postings.get((phrase, analyser))
        if known is None:
            known = self._postings[phrase, analyser] = self._of_phrase(phrase, analyser)
        return known

    def _of_phrase(self, phrase: Phrase, analyser: Analyser) -> Postings:
        if phrase.prefix:
            return summed(self._of_terms(self._beginning_with(phrase.terms[0])))
        self.read([phrase], analyser)
        each = [self._of_term(term, analyser) for term in phrase.terms]
        return each[0] if len(each) == 1 else following(each)

    def _of_term(self, term: str, analyser: Analyser) -> Postings:
        forms = self._ids[analyser == "pairs"][_stem(term, analyser)]
        if analyser == "plain":
            forms = {term: forms[term]} if term in forms else {}
        return summed(self._of_terms(forms.values()))

    def _of_terms(self, ids: Iterable[int]) -> list[Postings]:
        self._unpack(ids := list(ids))
        return [self._read[id_] for id_ in ids if len(self._read[id_].ids)]

    def _beginning_with(self, letter: str) -> list[int]:
        self._find((), pairs=True)
        rows = self.snapshot.rows(
            "term",
            ("id",),
            (
                *self._of_scope(pairs=True),
                Compares("stem", ">=", letter),
                Compares("stem", "<=", letter + _LAST_LETTER),
            ),
        )
        return [id_ for (id_,) in rows]

    def _find(self, stems: Iterable[str], *, pairs: bool) -> None:
        known = self._ids[pairs]
        unknown = [stem for stem in dict.fromkeys(stems) if stem not in known]
        if not unknown and (self._tails or not self.sizes.unmerged):
            return
        known.update((stem, {}) for stem in unknown)
        where = (*self._of_scope(pairs=pairs), OneOf("stem", unknown))
        terms = RowsQuery("term", ("id", "stem", "term"), where)
        if self._tails or not self.sizes.unmerged:
            (found,) = self.snapshot.several([terms])
        else:
            tail = RowsQuery("document", ("memory_id", "words", "pairs"), unmerged(self.scope))
            found, last = self.snapshot.several([terms, tail])
            self._tails[False] = Tail.of([(id_, words) for id_, words, _ in last])
            self._tails[True] = Tail.of([(id_, packed) for id_, _, packed in last if packed])
        for id_, stem, term in found:
            known[stem][term] = id_

    def _count(self, ids: Sequence[int]) -> None:
        unknown = [id_ for id_ in ids if id_ not in self._counts]
        if not unknown:
            return
        if self.sizes.documents <= _FEW:
            self._unpack([id_ for forms in self._ids[False].values() for id_ in forms.values()])
            return
        counts = dict.fromkeys(unknown, 0)
        for id_, count in self.snapshot.rows("posting", ("term_id", "count"), (OneOf("term_id", unknown),)):
            counts[id_] += count
        for tail in self._tails.values():
            for id_, postings in tail.postings(unknown).items():
                counts[id_] += len(postings.ids)
        self._counts |= counts

    def _unpack(self, ids: Sequence[int]) -> None:
        unknown = [id_ for id_ in dict.fromkeys(ids) if id_ not in self._read]
        if not unknown:
            return
        parts: dict[int, list[Postings]] = {id_: [] for id_ in unknown}
        columns = ("term_id", "first_id", "count", "packed")
        for id_, *block in self.snapshot.rows("posting", columns, (OneOf("term_id", unknown),)):
            parts[id_].append(unpack_block(*block))
        for tail in self._tails.values():
            for id_, postings in tail.postings(unknown).items():
                parts[id_].append(postings)
        for id_, found in parts.items():
            self._read[id_] = joined(found)
            self._counts[id_] = len(self._read[id_].ids)

    def _of_scope(self, *, pairs: bool) -> tuple[Condition, ...]:
        return Equals("scope_id", self.scope), Equals("pair", int(pairs))


def index_size(snapshot: Snapshot, scope: int) -> IndexSize:
    rows = snapshot.rows("scope", IndexSize._fields, (Equals("id", scope),))
    return IndexSize(*rows[0]) if rows else IndexSize()


def unmerged(scope: int) -> tuple[Condition, ...]:
    """Conditions: the documents that postings do not hold yet."""
    return Equals("scope_id", scope), Equals("merged", 0)


def _stem(term: str, analyser: Analyser) -> str:
    return term if analyser == "pairs" else porter_stem(term)
