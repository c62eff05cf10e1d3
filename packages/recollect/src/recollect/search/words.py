"""Search by words: postings, a scope's word index, the choice of terms, and BM25."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from math import log
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recollect.domain.errors import StoreDamaged
from recollect.domain.records import Found
from recollect.domain.tables import Compares, Condition, Equals, OneOf
from recollect.ranking.candidates import Ints
from recollect.stores.port import RowsQuery, Snapshot
from recollect.text.tokens import has_unspaced, pair_queries, porter_stem, query_terms

if TYPE_CHECKING:
    from recollect.domain.tables import Where
    from recollect.ranking.candidates import Floats


# Postings: the documents that contain a term, as columns and as packed blocks

BLOCK = 4_096
"""Maximum documents per block. Larger blocks are faster to search, but slower to add a document to."""
_TYPES: dict[int, np.dtype[Any]] = {width: np.dtype(f"<u{width}") for width in (1, 2, 4, 8)}
_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
_COLUMNS = 4
_POSITION_BITS = 32
_NOTHING = np.zeros(0, np.int64)


class Postings(NamedTuple):
    """The documents that contain a term, by ascending id."""

    ids: Ints
    counts: Ints
    """Occurrences in each document."""
    lengths: Ints
    """The number of terms of each document."""
    positions: Ints
    """Positions, document after document; empty if they are not needed."""

    @classmethod
    def none(cls) -> Postings:
        return cls(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def pack_block(postings: Postings) -> bytes:
    """Pack four columns (gaps of ids, counts, lengths, positions), each in as few bytes as it needs."""
    if len(postings.ids) == 1 and not len(postings.positions):
        count, length = int(postings.counts[0]), int(postings.lengths[0])
        if max(count, length) < 1 << 8:
            # Most terms occur in one document; for them, this takes a tenth of the time.
            return bytes((1, 1, 1, 1, 0, count, length))
    gaps = postings.ids - postings.ids[0]
    gaps[1:] -= gaps[:-1].copy()
    columns = (gaps, postings.counts, postings.lengths, postings.positions)
    widths = [
        next(width for width in _TYPES if int(column.max(initial=0)) < 1 << 8 * width) for column in columns
    ]
    packed = [column.astype(_TYPES[width]).tobytes() for column, width in zip(columns, widths, strict=True)]
    return b"".join((bytes(widths), *packed))


def appended_block(first_id: int, count: int, packed: bytes, later: Postings) -> bytes | None:
    """Append later documents to a packed block without unpacking it; None if that is not possible."""
    if count + len(later.ids) > BLOCK:
        return None
    try:
        widths = packed[:_COLUMNS]
        last = first_id + int(np.frombuffer(packed, _TYPES[widths[0]], count, _COLUMNS).sum())
        gaps = [id_ - before for before, id_ in pairwise((last, *later.ids.tolist()))]
        columns = (gaps, later.counts.tolist(), later.lengths.tolist(), later.positions.tolist())
        more = [
            struct.pack(f"<{len(column)}{_LETTERS[width]}", *column)
            for width, column in zip(widths, columns, strict=True)
        ]
    # A number does not fit its column, an id is not later, or the block is damaged.
    except (struct.error, KeyError, ValueError):
        return None
    # Positions are the last column, and take the rest.
    edges = [0, *accumulate((count * width for width in widths[:-1]), initial=_COLUMNS)][2:]
    parts = [packed[start:stop] for start, stop in pairwise((0, *edges, len(packed)))]
    return b"".join(chain.from_iterable(zip(parts, more, strict=True)))


def unpack_block(first_id: int, count: int, packed: bytes) -> Postings:
    start = _COLUMNS
    columns: list[NDArray[Any]] = []
    try:
        for place in range(_COLUMNS):
            kind = _TYPES[packed[place]]
            # Positions are the last column, and take the rest, which may be empty.
            size = -1 if place == _COLUMNS - 1 else count
            there = size >= 0 or start < len(packed)
            columns.append(np.frombuffer(packed, kind, size, start) if there else _NOTHING)
            start += count * kind.itemsize
    except (KeyError, IndexError, ValueError) as error:
        raise StoreDamaged(
            "A part of the word index cannot be read. Rebuild it: recollect doctor --repair"
        ) from error
    return Postings(first_id + np.cumsum(columns[0], dtype=np.int64), *columns[1:])


def join_postings(parts: Sequence[Postings]) -> Postings:
    """Join postings of one term. No document is in two of them."""
    if len(parts) < 2:
        return parts[0] if parts else Postings.none()
    whole = Postings(*map(np.concatenate, zip(*parts, strict=True)))
    if all(one.ids[-1] < next_one.ids[0] for one, next_one in pairwise(parts)):
        return whole
    return select_rows(whole, np.argsort(whole.ids, kind="stable"))


def sum_postings(parts: Sequence[Postings]) -> Postings:
    """Return the postings of several terms that count as one, without positions."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Postings.none()
    ids = np.concatenate([part.ids for part in parts])
    order = np.argsort(ids, kind="stable")
    ids = ids[order]
    starts = np.flatnonzero(np.diff(ids, prepend=-1))
    counts = np.concatenate([part.counts for part in parts], dtype=np.int64)[order]
    lengths = np.concatenate([part.lengths for part in parts])[order]
    return Postings(ids[starts], np.add.reduceat(counts, starts), lengths[starts], _NOTHING)


def phrase_postings(parts: Sequence[Postings]) -> Postings:
    """Return the postings of terms that follow each other. All parts need positions."""
    if not all(len(part.ids) for part in parts):
        return Postings.none()
    first = parts[0]
    keys = None
    for place, part in enumerate(parts):
        # Rows instead of ids: an id may take 53 bits, too many to shift.
        rows = np.minimum(np.searchsorted(first.ids, part.ids), len(first.ids) - 1)
        ends = (np.repeat(rows, part.counts) << _POSITION_BITS) + part.positions + (len(parts) - place)
        ends = ends[np.repeat(first.ids[rows] == part.ids, part.counts)]
        keys = ends if keys is None else np.intersect1d(keys, ends, assume_unique=True)
    if keys is None:
        return Postings.none()
    rows, counts = np.unique(keys >> _POSITION_BITS, return_counts=True)
    return Postings(first.ids[rows], counts, first.lengths[rows], _NOTHING)


def select_rows(postings: Postings, rows: Ints) -> Postings:
    positions = postings.positions
    if len(positions):
        ends = np.cumsum(postings.counts, dtype=np.int64)
        starts = ends - postings.counts
        positions = np.concatenate([positions[starts[row] : ends[row]] for row in rows.tolist()])
    return Postings(postings.ids[rows], postings.counts[rows], postings.lengths[rows], positions)


def split_into_blocks(postings: Postings) -> list[Postings]:
    """Split into full blocks and the rest. New ids are the highest, so full blocks seldom change."""
    size = len(postings.ids)
    if size <= BLOCK:
        return [postings]
    return [select_rows(postings, np.arange(size)[start : start + BLOCK]) for start in range(0, size, BLOCK)]


# The word index of a scope

Analyser = Literal["plain", "stemmed", "pairs"]
TERM_ID = np.dtype("<u4")
"""The type of term ids in documents."""
_LAST_LETTER = "\U0010ffff"
# With fewer documents, postings are read without counting first.
_SMALL_SCOPE = 20_000


class Phrase(NamedTuple):
    """Folded terms that follow each other."""

    terms: tuple[str, ...]
    prefix: bool = False
    """The term may also be the beginning of a longer one."""


class IndexSize(NamedTuple):
    documents: int = 0
    words: int = 0
    paired: int = 0
    """Documents with pairs of letters."""
    pairs: int = 0
    unmerged: int = 0
    """Documents that are not in the postings yet."""
    entities: int = 0
    messages: int = 0


class Tail(NamedTuple):
    """The terms of unmerged documents, one row per occurrence."""

    terms: Ints
    documents: Ints
    positions: Ints
    lengths: Ints
    """Length of each row's document."""

    @classmethod
    def of(cls, rows: Sequence[tuple[int, bytes]]) -> Tail:
        """Make a tail of documents and their packed terms."""
        terms = np.frombuffer(b"".join(packed for _, packed in rows), TERM_ID).astype(np.int64)
        sizes = np.array([len(packed) // TERM_ID.itemsize for _, packed in rows], np.int64)
        lengths = np.repeat(sizes, sizes)
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        ids = np.repeat(np.array([id_ for id_, _ in rows], np.int64), sizes)
        return cls(terms, ids, np.arange(len(terms)) - starts, lengths)

    def postings(self, wanted: Iterable[int]) -> dict[int, Postings]:
        """Return the postings of these terms, by term. Terms that do not occur are left out."""
        if not len(self.terms):
            return {}
        highest = int(self.terms.max())
        is_wanted = np.zeros(highest + 1, bool)
        is_wanted[[term for term in wanted if term <= highest]] = True
        return self._group_rows(np.flatnonzero(is_wanted[self.terms]))

    def all_postings(self) -> dict[int, Postings]:
        return self._group_rows(np.arange(len(self.terms)))

    def _group_rows(self, rows: Ints) -> dict[int, Postings]:
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
    """Return the postings of each term of documents given as packed words and pairs."""
    in_words = Tail.of([(id_, packed) for id_, packed, _ in documents]).all_postings()
    in_pairs = Tail.of([(id_, packed) for id_, _, packed in documents]).all_postings()
    # Only pairs are searched as phrases, and need positions.
    return {term: each._replace(positions=each.positions[:0]) for term, each in in_words.items()} | in_pairs


class TermIndex:
    """The word index of a scope in one snapshot. Postings are read once."""

    def __init__(self, snapshot: Snapshot, scope: int, sizes: IndexSize | None = None) -> None:
        self.snapshot = snapshot
        self.scope = scope
        self.sizes: IndexSize = index_size(snapshot, scope) if sizes is None else sizes
        self._tails: dict[bool, Tail] = {}
        self._ids: dict[bool, dict[str, dict[str, int]]] = {False: {}, True: {}}
        """Ids of terms by stem; the outer key says whether the terms are pairs."""
        self._counts: dict[int, int] = {}
        self._read: dict[int, Postings] = {}
        self._postings: dict[tuple[Phrase, Analyser], Postings] = {}
        self.affordable: dict[tuple[str, int], AffordableTerms] = {}
        """Cached by query and budget, because several searches need the same."""

    def size(self, analyser: Analyser) -> tuple[int, int]:
        """Return the number of documents, and of all their terms."""
        sizes = self.sizes
        return (sizes.paired, sizes.pairs) if analyser == "pairs" else (sizes.documents, sizes.words)

    def counts(self, terms: Sequence[str]) -> Mapping[str, int]:
        self._find(map(porter_stem, terms), pairs=False)
        ids = {word: self._ids[False][porter_stem(word)].get(word) for word in terms}
        self._count([id_ for id_ in ids.values() if id_ is not None])
        return {word: 0 if id_ is None else self._counts[id_] for word, id_ in ids.items()}

    def document_count(self, phrase: Phrase, analyser: Analyser) -> int:
        return len(self.postings(phrase, analyser).ids)

    def read(self, phrases: Iterable[Phrase], analyser: Analyser) -> None:
        """Read the postings of several phrases with one query."""
        pairs = analyser == "pairs"
        stems = [_stem(term, analyser) for phrase in phrases if not phrase.prefix for term in phrase.terms]
        self._find(stems, pairs=pairs)
        self._unpack([id_ for stem in stems for id_ in self._ids[pairs][stem].values()])

    def postings(self, phrase: Phrase, analyser: Analyser) -> Postings:
        """Return the postings of a phrase. Only a phrase of pairs has several terms."""
        known = self._postings.get((phrase, analyser))
        if known is not None:
            return known
        if phrase.prefix:
            self._find((), pairs=True)
            letter = phrase.terms[0]
            beginning = (Compares("stem", ">=", letter), Compares("stem", "<=", letter + _LAST_LETTER))
            rows = self.snapshot.rows("term", ("id",), (*self._of_scope(pairs=True), *beginning))
            found = self._sum_terms([id_ for (id_,) in rows])
        else:
            self.read([phrase], analyser)
            each = []
            for term in phrase.terms:
                forms = self._ids[analyser == "pairs"][_stem(term, analyser)]
                if analyser == "plain":
                    forms = {term: forms[term]} if term in forms else {}
                each.append(self._sum_terms(list(forms.values())))
            found = each[0] if len(each) == 1 else phrase_postings(each)
        self._postings[phrase, analyser] = found
        return found

    def _sum_terms(self, ids: Sequence[int]) -> Postings:
        self._unpack(ids)
        return sum_postings([self._read[id_] for id_ in ids if len(self._read[id_].ids)])

    def _find(self, stems: Iterable[str], *, pairs: bool) -> None:
        known = self._ids[pairs]
        unknown = [stem for stem in dict.fromkeys(stems) if stem not in known]
        if not unknown and (self._tails or not self.sizes.unmerged):
            return
        known.update((stem, {}) for stem in unknown)
        where = (*self._of_scope(pairs=pairs), OneOf("stem", unknown))
        terms = RowsQuery("term", ("id", "stem", "term"), where)
        if self._tails or not self.sizes.unmerged:
            (found,) = self.snapshot.rows_batch([terms])
        else:
            tail = RowsQuery("document", ("memory_id", "words", "pairs"), unmerged(self.scope))
            found, last = self.snapshot.rows_batch([terms, tail])
            self._tails[False] = Tail.of([(id_, words) for id_, words, _ in last])
            self._tails[True] = Tail.of([(id_, packed) for id_, _, packed in last if packed])
        for id_, stem, term in found:
            known[stem][term] = id_

    def _count(self, ids: Sequence[int]) -> None:
        unknown = [id_ for id_ in ids if id_ not in self._counts]
        if not unknown:
            return
        if self.sizes.documents <= _SMALL_SCOPE:
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
            self._read[id_] = join_postings(found)
            self._counts[id_] = len(self._read[id_].ids)

    def _of_scope(self, *, pairs: bool) -> tuple[Condition, ...]:
        return Equals("scope_id", self.scope), Equals("pair", int(pairs))


def index_size(snapshot: Snapshot, scope: int) -> IndexSize:
    rows = snapshot.rows("scope", IndexSize._fields, (Equals("id", scope),))
    return IndexSize(*rows[0]) if rows else IndexSize()


def unmerged(scope: int) -> tuple[Condition, ...]:
    """Return the conditions for documents that are not in the postings yet."""
    return Equals("scope_id", scope), Equals("merged", 0)


def _stem(term: str, analyser: Analyser) -> str:
    return term if analyser == "pairs" else porter_stem(term)


# The maximum number of (word, text) pairs of a query, which take some milliseconds. Beyond it, the most
# common words count only in texts that a rarer word has found.
_BUDGET = 10_000
MOST_TERMS = 256
"""The maximum number of words of a query that are searched: the rarest."""
# The values of SQLite's bm25().
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
# Hits read at a time, as a multiple of `k`: a filter drops some.
_SPARE = 2


class AffordableTerms(NamedTuple):
    """The content words of a query, split by how common they are in a scope."""

    chosen: list[str]
    """The rarest first."""
    too_common: list[str]
    affordable: bool
    """Whether the chosen ones fit the budget; otherwise even the rarest is too common."""


class Scores(NamedTuple):
    """Documents by ascending id, and their scores."""

    ids: Ints
    score: Floats


def affordable_terms(index: TermIndex, text: str, budget: int = _BUDGET) -> AffordableTerms:
    """Return the rarest content words whose texts fit the budget, and the others."""
    if (text, budget) in index.affordable:
        return index.affordable[text, budget]
    distinct = query_terms(text)
    counts = index.counts(distinct)
    # Words that occur come first. Of the others, the stem may occur.
    kept = sorted(distinct, key=lambda word: (counts[word] == 0, counts[word], word))[:MOST_TERMS]
    chosen: list[str] = []
    too_common: list[str] = []
    spent = 0
    for word in sorted(kept, key=lambda word: (counts[word], word)):
        spent += counts[word]
        if spent > budget and any(counts[other] for other in chosen):
            too_common.append(word)
        else:
            chosen.append(word)
    affordable = sum(counts[word] for word in chosen) <= budget
    index.affordable[text, budget] = terms = AffordableTerms(chosen, too_common, affordable)
    return terms


def pair_phrases(text: str) -> tuple[Phrase, ...]:
    """Return the phrases of a query among pairs. One character matches all pairs that begin with it."""
    return tuple(Phrase(pieces, prefix=len(pieces[0]) == 1) for pieces in pair_queries(text)[:MOST_TERMS])


def search_words(index: TermIndex, text: str, k: int, analyser: Analyser, where: Where) -> Sequence[Found]:
    """Return the best by BM25, ties by id; `where` are conditions on the rows of memories.

    k1 is 1.2, b is 0.75, and a term weighs ln((N - n + 0.5) / (n + 0.5)), at least 1e-6. Formula and order of
    operations are those of SQLite's FTS5, so that scores are bit for bit the same.
    """
    terms = affordable_terms(index, text)
    pairs = bm25(index, pair_phrases(text), (), "pairs")

    def score(required: Sequence[str], optional: Sequence[str] = ()) -> Scores:
        return _add_scores(bm25(index, _phrases(required), _phrases(optional), analyser), pairs)

    if terms.too_common and where:
        scores = score(terms.chosen)
        if len(_best(index.snapshot, scores, k, where)) < min(k, len(scores.ids)):
            # The filter may allow only texts with words that are common elsewhere.
            return _best(index.snapshot, score((*terms.chosen, *terms.too_common)), k, where)
    # Common words find no text by themselves, but count in texts that rarer words found.
    return _best(index.snapshot, score(terms.chosen, terms.too_common if terms.affordable else ()), k, where)


def bm25(
    index: TermIndex, required: Sequence[Phrase], optional: Sequence[Phrase], analyser: Analyser
) -> Scores:
    """Score documents that contain a required phrase. Optional phrases only add to these."""
    documents, length = index.size(analyser)
    if not required or not documents:
        return Scores(np.zeros(0, np.int64), np.zeros(0))
    phrases = (*required, *optional)
    index.read(phrases, analyser)
    each = [index.postings(phrase, analyser) for phrase in phrases]
    ids = _union([postings.ids for postings in each[: len(required)]])
    score = np.zeros(len(ids))
    mean = length / documents
    for place, (found, counts, lengths, _) in enumerate(each):
        if not len(found):
            continue
        weight = idf(documents, len(found))
        times = counts.astype(np.float64)
        worth = weight * ((times * (K1 + 1.0)) / (times + K1 * (1 - B + B * lengths / mean)))
        at = np.searchsorted(ids, found)
        if place >= len(required):
            there = ids[np.minimum(at, len(ids) - 1)] == found if len(ids) else np.zeros(len(found), bool)
            at, worth = at[there], worth[there]
        score[at] += worth
    return Scores(ids, score)


def idf(documents: int, containing: int) -> float:
    ratio = (documents - containing + 0.5) / (containing + 0.5)
    return max(log(ratio), LEAST_IDF) if ratio > 1 else LEAST_IDF


def matched_shares(index: TermIndex, text: str, ids: Ints) -> Floats:
    """Return the weighted share of the query's content words in each text, for ascending ids.

    A word weighs ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N texts contain it. Words that are too common
    to be searched are ignored.
    """
    texts, _ = index.size("stemmed")
    # Text in a script without spaces is searched by its pairs.
    spaced = _phrases([word for word in affordable_terms(index, text).chosen if not has_unspaced(word)])
    pairs = pair_phrases(text)
    index.read(spaced, "stemmed")
    each = chain(
        (index.postings(phrase, "stemmed") for phrase in spaced),
        (index.postings(phrase, "pairs") for phrase in pairs),
    )
    shares = np.zeros(len(ids))
    whole = 0.0
    for postings in each:
        count = len(postings.ids)
        weight = log(1 + (texts - count + 0.5) / (count + 0.5))
        whole += weight
        if count:
            at = np.minimum(np.searchsorted(postings.ids, ids), count - 1)
            shares[postings.ids[at] == ids] += weight
    return shares / whole if whole else shares


def counts_or_stem_counts(index: TermIndex, terms: Sequence[str]) -> dict[str, int]:
    """Count the texts that contain each word; if no text does, those that contain its stem."""
    counts = dict(index.counts(terms))
    unknown = [word for word in terms if not counts[word]]
    index.read(_phrases(unknown), "stemmed")
    return counts | {word: index.document_count(Phrase((word,)), "stemmed") for word in unknown}


def _phrases(terms: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(Phrase((word,)) for word in terms)


def _union(each: Sequence[Ints]) -> Ints:
    there = [ids for ids in each if len(ids)]
    if len(there) < 2:
        return there[0] if there else np.zeros(0, np.int64)
    # A stable sort merges the sorted parts.
    ids: Ints = np.sort(np.concatenate(there), kind="stable")
    distinct: Ints = ids[np.diff(ids, prepend=-1) != 0]
    return distinct


def _add_scores(one: Scores, other: Scores) -> Scores:
    if not len(other.ids):
        return one
    ids = _union([one.ids, other.ids])
    score = np.zeros(len(ids))
    for part in (one, other):
        score[np.searchsorted(ids, part.ids)] += part.score
    return Scores(ids, score)


def _best(snapshot: Snapshot, scores: Scores, k: int, where: Where) -> list[Found]:
    """Return the best that meet the conditions, ties by id."""
    found: list[Found] = []
    if k <= 0:
        return found
    start, size = 0, _SPARE * k if where else k
    order = _first(scores, size)
    while start < len(order) and len(found) < k:
        some = order[start:]
        ids = scores.ids[some].tolist()
        if where:
            allowed = {id_ for (id_,) in snapshot.rows("memory", ("id",), (OneOf("id", ids), *where))}
        found += [
            Found(id_, score)
            for id_, score in zip(ids, scores.score[some].tolist(), strict=True)
            if not where or id_ in allowed
        ]
        # A strict filter needs more hits.
        start, size = len(order), 4 * size
        order = _first(scores, start + size)
    return found[:k]


def _first(scores: Scores, k: int) -> Ints:
    """Return the rows of the best `k`, best first, ties by id."""
    rows = np.arange(len(scores.ids))
    if len(rows) > k:
        least = np.partition(scores.score, len(rows) - k)[len(rows) - k]
        rows = np.flatnonzero(scores.score >= least)
    order: Ints = rows[np.argsort(-scores.score[rows], kind="stable")][:k]
    return order
