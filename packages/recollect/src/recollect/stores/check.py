"""Check and repair any store: checksums, and derived rows compared with users' texts."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from recollect.domain.errors import NotAStore, StoreDamaged, StoreUnavailable
from recollect.domain.records import NOTE_FIELDS, Kind, Problem
from recollect.domain.tables import (
    IN_FORCE,
    TABLES,
    AnyOf,
    Compares,
    Equals,
    HasRow,
    Not,
    OneOf,
    is_null,
    is_set,
)
from recollect.search.texts import documents
from recollect.search.words import TERM_ID, IndexSize, index_size, join_postings, postings_of, unpack_block
from recollect.stores.port import RowsQuery
from recollect.text.passages import passage_spans
from recollect.text.tokens import fold, porter_stem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from recollect.domain.tables import Condition, Row, Table, Values, Where
    from recollect.search.words import Postings
    from recollect.stores.port import Progress, Snapshot, Transaction
    from recollect.stores.sql import SqlSnapshot, SqlTransaction


# Checksums of users' texts, which detect a character that changed on the disk

FIXED_WORDS: Mapping[Table, Mapping[str, str | None]] = {
    "scope": {"owner": "", "agent": ""},
    "memory": {
        "name": "",
        "type": "",
        "text": "",
        "category": None,
        "source": None,
        "session": None,
        "role": None,
        "speaker": None,
        "importance_tag": None,
    },
    "observation": {"content": "", "kind": "generic"},
    "relation": {"type": "", "context": ""},
    "revision": {"text": ""},
}
"""The text columns that every checksum covers. Later versions add only columns of `note_field`."""
WORDS: Mapping[Table, Mapping[str, str | None]] = {
    **FIXED_WORDS,
    "memory": {**FIXED_WORDS["memory"], **dict.fromkeys(NOTE_FIELDS)},
}
"""The columns that a row's checksum covers, in this order, with their defaults.

Tags have no checksum: each is stored beside its folded form, and the two must agree.
"""


def words_checksum(table: Table, words: Sequence[str | None]) -> int:
    """Return the CRC-32 of one row's words, which detects every burst of up to 32 changed bits.

    Fields of `note_field` count only if they are set, so that a new one leaves older checksums valid.
    """
    fixed = len(FIXED_WORDS[table])
    named = zip(NOTE_FIELDS, words[fixed:], strict=False)
    own = [f"{name}={word}" for name, word in named if word is not None]
    joined = "\x1f".join(["\0" if word is None else word for word in words[:fixed]] + own)
    return crc32(joined.encode("utf-8", "surrogatepass"))


def with_checksums(table: Table, rows: Sequence[Values]) -> Sequence[Values]:
    """Return new rows with their checksums, if the table has them."""
    defaults = WORDS.get(table)
    if defaults is None:
        return rows
    items = defaults.items()
    return [
        {**row, "checksum": words_checksum(table, [row.get(column, value) for column, value in items])}
        for row in rows
    ]


def rows_to_checksum(rows: Transaction, table: Table, where: Where, values: Values) -> list[int]:
    """Return the ids of rows whose checksums a patch with these values will change."""
    if table not in WORDS or WORDS[table].keys().isdisjoint(values):
        return []
    return sorted(_ids(rows, table, where))


def renew_checksums(rows: Transaction, table: Table, ids: Sequence[int]) -> None:
    """Compute the checksums of these rows again, after their texts were set."""
    if ids:
        for id_, *words in rows.rows(table, ("id", *WORDS[table]), (OneOf("id", ids),)):
            rows.patch(table, (Equals("id", id_),), {"checksum": words_checksum(table, words)})


DERIVED: tuple[Table, ...] = (
    "passage",
    "pending_vector",
    "vector",
    "passage_tokens",
    "term",
    "posting",
    "document",
)
"""Tables that can be rebuilt, each after the tables that own its rows. Others hold what users wrote."""

_BATCH = 2_000
_POSTING = ("term_id", "first_id", "count", "packed")
# Models normalise their vectors with different precision.
_LENGTH_TOLERANCE = 0.01

_GONE = AnyOf(((is_set("deleted_at"),), (is_set("superseded_at"),)))
_BARE_MEMORY = Not(HasRow("passage", "memory_id", (is_null("observation_id"), is_null("revision_id"))))
_BARE_OBSERVATION = Not(HasRow("passage", "observation_id", (is_set("observation_id"),)))
_ALIVE = Equals("live", 1)
_DEAD = (Equals("live", 0), is_null("revision_id"))
# Memories that may have a wrongly live or dead passage.
_SUSPECTS: tuple[Where, ...] = (
    (_GONE, HasRow("passage", "memory_id", (_ALIVE,))),
    (HasRow("passage", "memory_id", (_ALIVE, is_set("revision_id"))),),
    (HasRow("observation", "memory_id", (_GONE, HasRow("passage", "observation_id", (_ALIVE,)))),),
    (*IN_FORCE, HasRow("passage", "memory_id", (*_DEAD, is_null("observation_id")))),
    (*IN_FORCE, HasRow("observation", "memory_id", (*IN_FORCE, HasRow("passage", "observation_id", _DEAD)))),
)


def every_scope_id(rows: Snapshot) -> list[int]:
    return sorted(_ids(rows, "scope"))


# Problems


def row_problems(rows: Snapshot) -> Iterator[Problem]:
    """Find rows that contradict each other."""
    bare = rows.count("memory", (_BARE_MEMORY,))[None]
    yield from count_problem(bare, "memories without a passage of their own")
    yield from count_problem(len(_bare_observations(rows, ())), "observations without passages")
    wrong = sum(map(len, _wrongly_live(rows).values()))
    yield from count_problem(wrong, "passages that are live while their memory is not, or the reverse")
    lost = rows.count("passage", (Not(HasRow("pending_vector", "passage_id")), _without_vector(rows)))[None]
    yield from count_problem(lost, "live passages with neither a vector nor a place in the queue")
    named = [id_ for (id_,) in rows.rows("memory", ("superseded_by",), (is_set("superseded_by"),))]
    there = _existing_ids(rows, "memory", set(named))
    if count := sum(id_ not in there for id_ in named):
        yield Problem(
            f"{count} memories are superseded by a memory that does not exist", "rows", repairable=False
        )


def checksum_problems(rows: Snapshot) -> Iterator[Problem]:
    """Find rows whose texts differ from what was stored."""
    for table, words in WORDS.items():
        missing, damaged = 0, []
        for id_, checksum, *found in _all_rows(rows, table, ("checksum", *words)):
            if checksum is None:
                missing += 1
            elif checksum != words_checksum(table, found):
                damaged.append(id_)
        yield from count_problem(missing, f"rows of {table} without a checksum")
        for id_ in damaged:
            yield Problem(
                f"{table} {id_} has changed on the disk: its checksum differs", "words", repairable=False
            )
    tags = rows.rows("tag", ("memory_id", "folded", "tag"))
    for id_ in sorted({memory for memory, folded, tag in tags if folded != fold(tag)}):
        yield Problem(f"a tag of memory {id_} differs from its folded form", "words", repairable=False)


def _all_rows(rows: Snapshot, table: Table, columns: tuple[str, ...]) -> Iterator[Row]:
    """Yield the id and these columns of every row, read in batches."""
    after = 0
    while page := rows.rows(table, ("id", *columns), (Compares("id", ">", after),), limit=_BATCH):
        yield from page
        after = page[-1][0]


def broken_vectors(rows: Snapshot) -> list[int]:
    """Return vectors that are not of length one: their numbers were changed."""
    broken: list[int] = []
    for id_, packed in _all_rows(rows, "vector", ("embedding",)):
        numbers = np.frombuffer(packed[: len(packed) // 4 * 4], "<f4").astype(np.float64)
        length = float(np.linalg.norm(numbers)) if np.isfinite(numbers).all() else np.inf
        # A text without words has a vector of length zero.
        if not (abs(length - 1) < _LENGTH_TOLERANCE or length == 0):
            broken.append(id_)
    return broken


def number_problems(rows: SqlSnapshot) -> Iterator[Problem]:
    """Find vectors whose width is not that of their model, or whose length is not one."""
    for table, wrong in _wrong_lengths(rows):
        ((count,),) = rows.ask(f"SELECT count(*) FROM {rows.prefix}{table} AS r WHERE {wrong}")
        called = "vectors" if table == "vector" else "token vectors"
        yield from count_problem(count, f"{called} of the wrong length")
    yield from count_problem(len(broken_vectors(rows)), "vectors whose numbers were changed")


def _wrong_lengths(rows: SqlSnapshot) -> tuple[tuple[Table, str], ...]:
    """Return tables, each with a condition for rows `r` of a wrong length. It need not read the bytes."""
    model = f"FROM {rows.prefix}model WHERE id = r.model_id"
    return (
        ("vector", f"length(r.embedding) <> 4 * (SELECT dims {model})"),
        ("passage_tokens", f"length(r.signs) {rows.modulo} (SELECT (dims + 7) / 8 {model}) <> 0"),
    )


def count_problem(count: int, what: str) -> Iterator[Problem]:
    """Yield a repairable problem if the count is not zero."""
    if count:
        yield Problem(f"{count} {what}", "rows", repairable=True)


def orphans(rows: SqlSnapshot) -> Iterator[tuple[Table, str, Table, str]]:
    """Yield tables, a column, the table it points to, and the condition that `r` points to no row of it."""
    for table, form in TABLES.items():
        for column, parent in (*form.owners.items(), *form.pointers.items()):
            there = f"SELECT 1 FROM {rows.prefix}{parent} AS p WHERE p.id = r.{column}"
            condition = f"{there}{rows.same_scope(parent, 'p', 'r')}"
            yield table, column, parent, f"r.{column} IS NOT NULL AND NOT EXISTS ({condition})"


def word_problems(rows: SqlSnapshot) -> Iterator[Problem]:
    """Find differences between each scope's word index and its memories."""
    for scope in every_scope_id(rows):
        with rows.within(scope):
            for problem in _word_problems_of(rows, scope):
                yield Problem(problem, "words", repairable=True)


def _word_problems_of(rows: Snapshot, scope: int) -> Iterator[str]:
    known = rows.rows(
        "document", ("memory_id", "kind", "merged", "words", "pairs"), (Equals("scope_id", scope),)
    )
    searchable, indexed = _searchable(rows, scope), {id_ for id_, *_ in known}
    if searchable != indexed:
        lacks, extra = len(searchable - indexed), len(indexed - searchable)
        yield f"the word index lacks {lacks} memories and has {extra} too many"
    elif not _postings_match(rows, scope, known):
        yield "the word index differs from its documents"
    elif wrong := _memories_with_other_words(rows, scope, known):
        yield f"the word index differs from the texts of {len(wrong)} memories (the first is {wrong[0]})"
    kinds = [kind for _, kind, *_ in known]
    pairs = [len(packed) // TERM_ID.itemsize for *_, packed in known]
    counted = IndexSize(
        documents=len(known),
        words=sum(len(packed) // TERM_ID.itemsize for *_, packed, _ in known),
        paired=sum(map(bool, pairs)),
        pairs=sum(pairs),
        unmerged=sum(not is_merged for _, _, is_merged, *_ in known),
        entities=kinds.count(Kind.ENTITY),
        messages=kinds.count(Kind.MESSAGE),
    )
    if counted != index_size(rows, scope):
        yield "the word index has a wrong document count"


def _bare_observations(rows: Snapshot, columns: tuple[str, ...]) -> list[Row]:
    """Return observations without passages: memory, id, and these columns."""
    found = rows.rows("observation", ("memory_id", "id", *columns), (_BARE_OBSERVATION,))
    # An observation without its memory is reported as a different problem.
    there = _existing_ids(rows, "memory", {memory for memory, *_ in found})
    return [row for row in found if row[0] in there]


def _wrongly_live(rows: Snapshot) -> dict[int, list[int]]:
    """Return passages whose `live` is wrong, by the value it should have."""
    asked = rows.rows_batch([RowsQuery("memory", ("id",), where) for where in _SUSPECTS])
    wrong: dict[int, list[int]] = {0: [], 1: []}
    for ids in _batches(sorted({id_ for found in asked for (id_,) in found})):
        in_force = _ids(rows, "memory", (OneOf("id", ids), *IN_FORCE))
        gone = _ids(rows, "observation", (OneOf("memory_id", ids), _GONE))
        columns = ("id", "memory_id", "observation_id", "revision_id", "live")
        for id_, memory, observation, revision, live in rows.rows(
            "passage", columns, (OneOf("memory_id", ids),)
        ):
            should = int(memory in in_force and revision is None and observation not in gone)
            if live != should:
                wrong[should].append(id_)
    return wrong


def _without_vector(rows: Snapshot) -> Condition:
    """Return the condition that a passage has no vector of the model in use."""
    in_use = [id_ for (id_,) in rows.rows("model", ("id",), (Equals("in_use", 1),))]
    return Not(HasRow("vector", "passage_id", (OneOf("model_id", in_use),)))


def _existing_ids(rows: Snapshot, table: Table, ids: set[int]) -> set[int]:
    """Return the ids that exist in the table."""
    return {id_ for some in _batches(sorted(ids)) for id_ in _ids(rows, table, (OneOf("id", some),))}


def _ids(rows: Snapshot, table: Table, where: Where = ()) -> set[int]:
    return {id_ for (id_,) in rows.rows(table, ("id",), where)}


def _searchable(rows: Snapshot, scope: int) -> set[int]:
    return _ids(rows, "memory", (Equals("scope_id", scope), *IN_FORCE))


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]


def _postings_match(rows: Snapshot, scope: int, known: Sequence[Row]) -> bool:
    """Whether terms and postings match the documents."""
    merged = [(id_, words, pairs) for id_, _, is_merged, words, pairs in known if is_merged]
    terms = rows.rows("term", ("id", "pair", "stem", "term"), (Equals("scope_id", scope),))
    try:
        listed = b"".join(packed for *_, words, pairs in known for packed in (words, pairs))
        used = set(np.unique(np.frombuffer(listed, TERM_ID)).tolist())
        expected = postings_of(merged)
        blocks: dict[int, list[Postings]] = {}
        for some in _batches([id_ for id_, *_ in terms]):
            for term, *block in rows.rows("posting", _POSTING, (OneOf("term_id", some),)):
                blocks.setdefault(term, []).append(unpack_block(*block))
        posted = {term: join_postings(parts) for term, parts in blocks.items()}
    except (StoreDamaged, IndexError, ValueError):  # the bytes are damaged
        return False
    return (
        used == {id_ for id_, *_ in terms}
        and all(stem == (term if pair else porter_stem(term)) for _, pair, stem, term in terms)
        and expected.keys() == posted.keys()
        and all(
            np.array_equal(one, other)
            for term, postings in expected.items()
            for one, other in zip(postings, posted[term], strict=True)
        )
    )


def _memories_with_other_words(rows: Snapshot, scope: int, known: Sequence[Row]) -> list[int]:
    """Return memories whose texts have other words than the index."""
    from recollect.write.word_index import document_terms  # noqa: PLC0415  # opening a store needs no index

    terms: dict[int, str] = dict(rows.rows("term", ("id", "term"), (Equals("scope_id", scope),)))
    indexed = {
        id_: tuple(
            [terms[each] for each in np.frombuffer(packed, TERM_ID).tolist()] for packed in (words, pairs)
        )
        for id_, _, _, words, pairs in known
    }
    return [
        document.id
        for some in _batches(sorted(indexed))
        for document in documents(rows, some)
        if document_terms(document) != indexed[document.id]
    ]


# Rebuilding


def drop_broken(rows: SqlTransaction) -> None:
    """Delete derived rows without an owner or with changed bytes, and add missing checksums.

    A wrong checksum stays, since it reports damage.
    """
    derived = [(table, lost) for table, _, _, lost in orphans(rows) if table in DERIVED]
    for table, wrong in (*derived, *_wrong_lengths(rows)):
        rows.change(f"DELETE FROM {rows.prefix}{table} AS r WHERE {wrong}")
    rows.remove("vector", (OneOf("id", broken_vectors(rows)),))
    for named in WORDS:
        for some in _batches(sorted(_ids(rows, named, (is_null("checksum"),)))):
            renew_checksums(rows, named, some)


def rebuild_passages(rows: Transaction) -> None:
    """Add missing passages, correct which are live, and queue those without a vector."""
    owners: list[tuple[int, int | None, Sequence[tuple[int, int]]]] = [
        (memory, None, [(0, 0)] if kind == Kind.ENTITY else passage_spans(text))
        for memory, kind, text in rows.rows("memory", ("id", "kind", "text"), (_BARE_MEMORY,))
    ]
    for memory, id_, content in _bare_observations(rows, ("content",)):
        owners.append((memory, id_, passage_spans(content)))
    rows.put(
        "passage",
        [
            {"memory_id": memory, "observation_id": observation, "start": start, "stop": stop, "live": 1}
            for memory, observation, spans in owners
            for start, stop in spans
        ],
    )
    for live, ids in _wrongly_live(rows).items():
        for some in _batches(ids):
            rows.patch("passage", (OneOf("id", some),), {"live": live})
    rows.remove("pending_vector", ())
    for some in _batches(sorted(_ids(rows, "passage", (_without_vector(rows),)))):
        rows.put("pending_vector", [{"passage_id": id_} for id_ in some])


def refill_words(rows: Transaction, scope: int, progress: Progress | None = None) -> None:
    from recollect.write.word_index import clear_index, write_documents  # noqa: PLC0415  # opening a store needs no index

    clear_index(rows, scope)
    searchable, done = sorted(_searchable(rows, scope)), 0
    for some in _batches(searchable):
        write_documents(rows, scope, documents(rows, some))
        done += len(some)
        if progress is not None:
            progress(done, len(searchable))


def invalidate_caches(rows: Transaction) -> None:
    """Assign a new id to the store, so that no process uses its old caches, in memory or in a file."""
    rows.put("setting", [{"name": "store_id", "value": secrets.token_hex(16)}])
    rows.patch("history_stamp", (), {"stamp": secrets.randbits(62)})


# Errors of stores that cannot be opened


def refuse_newer(version: int, known: int, store: object) -> None:
    if version > known:
        raise NotAStore(
            f"{store} was written by a newer Recollect (schema {version}; this one knows {known}). "
            "It was not changed. Upgrade: pip install --upgrade recollect-memory"
        )


def unfinished_copy(store: object) -> StoreUnavailable:
    return StoreUnavailable(
        f"{store} is an incomplete copy of another memory. Run the same `recollect copy` again: "
        "it continues where it stopped."
    )
