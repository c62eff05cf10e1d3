"""Is everything in step? And rebuilding what is derived from the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import numpy as np

from recollect.errors import StoreDamaged
from recollect.records import Kind, Problem
from recollect.retrieval.documents import documents
from recollect.retrieval.postings import joined, unpack_block
from recollect.retrieval.term_index import TERM_ID, IndexSize, postings_of
from recollect.stores.sqlite.connection import renew_identity
from recollect.stores.sqlite.vector_queries import SqliteVectorQueries
from recollect.stores.vectors.source import VectorSource
from recollect.text.passages import passage_spans
from recollect.text.stems import porter_stem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from recollect.ports import Progress
    from recollect.retrieval.postings import Postings
    from recollect.stores.sqlite.snapshot import SqliteTransaction
    from recollect.stores.vectors.cache import VectorCache
    from recollect.tables import Row

_SEARCHABLE = "SELECT id FROM memory WHERE scope_id = ? AND deleted_at IS NULL AND superseded_at IS NULL"
_BATCH = 2_000

_BARE_MEMORIES = (
    "FROM memory AS m WHERE NOT EXISTS (SELECT 1 FROM passage WHERE memory_id = m.id "
    "AND observation_id IS NULL AND revision_id IS NULL)"
)
_BARE_OBSERVATIONS = (
    "FROM observation AS o JOIN memory AS m ON m.id = o.memory_id "
    "WHERE NOT EXISTS (SELECT 1 FROM passage WHERE observation_id = o.id)"
)
# Of these tables the rows are derived; of all others they are what the user said.
_DERIVED = {"passage", "due", "vector", "passage_tokens", "term", "posting", "document"}
_ASKEW = {
    "memories without a passage of their own": f"SELECT count(*) {_BARE_MEMORIES}",
    "observations without passages": f"SELECT count(*) {_BARE_OBSERVATIONS}",
    "passages whose life differs from their memory's": (
        "SELECT count(*) FROM passage AS p JOIN memory AS m ON m.id = p.memory_id "
        "LEFT JOIN observation AS o ON o.id = p.observation_id WHERE p.live <> (m.deleted_at IS NULL "
        "AND m.superseded_at IS NULL AND p.revision_id IS NULL "
        "AND (o.id IS NULL OR o.deleted_at IS NULL AND o.superseded_at IS NULL))"
    ),
    "vectors of the wrong length": (
        "SELECT count(*) FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE length(v.embedding) <> 4 * model.dims"
    ),
    "token vectors of the wrong length": (
        "SELECT count(*) FROM passage_tokens AS t JOIN model ON model.id = t.model_id "
        "WHERE length(t.signs) % ((model.dims + 7) / 8) <> 0"
    ),
    "live passages with neither a vector nor a place in the queue for one": (
        "SELECT count(*) FROM passage AS p WHERE NOT EXISTS (SELECT 1 FROM due WHERE passage_id = p.id) "
        "AND NOT EXISTS (SELECT 1 FROM vector AS v JOIN model ON model.id = v.model_id "
        "WHERE v.passage_id = p.id AND model.in_use = 1)"
    ),
}
_SUPERSEDED_BY_NOTHING = (
    "SELECT count(*) FROM memory WHERE superseded_by IS NOT NULL "
    "AND superseded_by NOT IN (SELECT id FROM memory)"
)


def problems(connection: apsw.Connection, cache: VectorCache) -> list[Problem]:
    """Everything that is wrong, from the file's pages up to the cache."""
    parts = {
        "the file": _file_problems(connection),
        "rows": _row_problems(connection),
        "words": _word_problems(connection),
        "vectors": _cache_problems(connection, cache),
    }
    return [problem for where, found in parts.items() for problem in _as_far_as_readable(found, where)]


def rebuild(rows: SqliteTransaction) -> None:
    """Make the derived anew: passages and their lives, the queue for vectors, indexes of words."""
    connection = rows.connection
    _drop_orphans(connection)
    _add_passages(connection)
    connection.execute(
        "UPDATE passage SET live = (SELECT m.deleted_at IS NULL AND m.superseded_at IS NULL FROM memory AS m "
        "WHERE m.id = passage.memory_id) AND revision_id IS NULL AND (observation_id IS NULL OR EXISTS ("
        "SELECT 1 FROM observation AS o WHERE o.id = observation_id AND o.deleted_at IS NULL "
        "AND o.superseded_at IS NULL))"
    )
    connection.execute("DELETE FROM due")
    connection.execute(
        "INSERT INTO due SELECT p.id FROM passage AS p WHERE NOT EXISTS (SELECT 1 FROM vector AS v "
        "JOIN model ON model.id = v.model_id WHERE v.passage_id = p.id AND model.in_use = 1)"
    )
    for scope in _scopes(connection):
        refill_words(rows, scope)
    # Caches learn of changed lives from the log, and this bypassed it.
    renew_identity(connection)


def scopes_without_words(connection: apsw.Connection) -> list[int]:
    """Those that have memories and no words, as after a repair by hand: cheap enough for every start."""
    return [
        scope
        for scope in _scopes(connection)
        if not connection.execute("SELECT documents FROM scope WHERE id = ?", (scope,)).get
        and connection.execute(f"{_SEARCHABLE} LIMIT 1", (scope,)).fetchone() is not None
    ]


def refill_words(rows: SqliteTransaction, scope: int, progress: Progress | None = None) -> None:
    from recollect.engine.writes.word_index import (  # noqa: PLC0415  # who only reads needs no rule of writing
        clear_index,
        write_documents,
    )

    clear_index(rows, scope)
    searchable = [id_ for (id_,) in rows.connection.execute(_SEARCHABLE, (scope,))]
    for start in range(0, len(searchable), _BATCH):
        batch = searchable[start : start + _BATCH]
        write_documents(rows, scope, documents(rows, batch))
        if progress is not None:
            progress(start + len(batch), len(searchable))


def _as_far_as_readable(found: Iterable[Problem], where: str) -> Iterator[Problem]:
    """A damaged file may end a check half way; what is known until then is still worth telling."""
    try:
        yield from found
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        yield Problem(f"the check could not go on: {error}", where, repairable=where == "words")


def _drop_orphans(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM passage WHERE memory_id NOT IN (SELECT id FROM memory) "
        # Asked whether it is there at all, too: of an empty table, even nothing is not in it.
        "OR (observation_id IS NOT NULL AND observation_id NOT IN (SELECT id FROM observation)) "
        "OR (revision_id IS NOT NULL AND revision_id NOT IN (SELECT id FROM revision))"
    )
    connection.execute(
        "DELETE FROM vector WHERE passage_id NOT IN (SELECT id FROM passage) "
        "OR model_id NOT IN (SELECT id FROM model) "
        "OR length(embedding) <> 4 * (SELECT dims FROM model WHERE id = model_id)"
    )
    connection.execute(
        "DELETE FROM passage_tokens WHERE passage_id NOT IN (SELECT id FROM passage) "
        "OR model_id NOT IN (SELECT id FROM model) "
        "OR length(signs) % ((SELECT dims + 7 FROM model WHERE id = model_id) / 8) <> 0"
    )
    # Of all scopes at once: a row may name a scope or a term that is not its own, or not there.
    for table in ("posting", "document", "term"):
        connection.execute(f"DELETE FROM {table}")


def _add_passages(connection: apsw.Connection) -> None:
    memories: list[Row] = list(connection.execute(f"SELECT m.id, m.kind, m.text {_BARE_MEMORIES}"))
    observations: list[Row] = list(
        connection.execute(f"SELECT o.memory_id, o.id, o.content {_BARE_OBSERVATIONS}")
    )
    owners = [
        (memory, None, [(0, 0)] if kind == Kind.ENTITY else passage_spans(text))
        for memory, kind, text in memories
    ]
    owners += [(memory, id_, passage_spans(content)) for memory, id_, content in observations]
    connection.executemany(
        "INSERT INTO passage(memory_id, observation_id, start, stop) VALUES (?, ?, ?, ?)",
        [(memory, observation, *span) for memory, observation, spans in owners for span in spans],
    )


def _file_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for (message,) in connection.execute("PRAGMA integrity_check"):
        if message != "ok":
            yield Problem(str(message), "the file", repairable=False)
    for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
        yield Problem(
            f"row {row} of {table} points to a {parent} that is not there",
            "rows",
            repairable=table in _DERIVED,
        )


def _row_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for what, question in _ASKEW.items():
        count = connection.execute(question).get
        if count:
            yield Problem(f"{count} {what}", "rows", repairable=True)
    count = connection.execute(_SUPERSEDED_BY_NOTHING).get
    if count:
        yield Problem(
            f"{count} memories said to be superseded by one that is not there", "rows", repairable=False
        )


def _word_problems(connection: apsw.Connection) -> Iterator[Problem]:
    for scope in _scopes(connection):
        searchable = {id_ for (id_,) in connection.execute(_SEARCHABLE, (scope,))}
        rows: list[Row] = connection.execute(
            "SELECT memory_id, kind, merged, words, pairs FROM document WHERE scope_id = ?", (scope,)
        ).fetchall()
        indexed = {id_ for id_, *_ in rows}
        if searchable != indexed:
            yield Problem(
                f"the index of words lacks {len(searchable - indexed)} memories and holds "
                f"{len(indexed - searchable)} too many",
                "words",
                repairable=True,
            )
        elif not _in_step(connection, scope, rows):
            yield Problem("the index of words differs from its documents", "words", repairable=True)
        if _size_of(rows) != _noted_size(connection, scope):
            yield Problem("the index of words counts other documents than it has", "words", repairable=True)


def _in_step(connection: apsw.Connection, scope: int, documents: Sequence[Row]) -> bool:
    """Whether terms and postings are what the documents say."""
    merged = [(id_, words, pairs) for id_, _, is_merged, words, pairs in documents if is_merged]
    try:
        listed = b"".join(packed for *_, words, pairs in documents for packed in (words, pairs))
        used = set(np.unique(np.frombuffer(listed, TERM_ID)).tolist())
        expected, posted = postings_of(merged), _posted(connection, scope)
    except (StoreDamaged, IndexError, ValueError):  # bytes that are none of ours
        return False
    terms: list[Row] = connection.execute(
        "SELECT id, pair, stem, term FROM term WHERE scope_id = ?", (scope,)
    ).fetchall()
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


def _posted(connection: apsw.Connection, scope: int) -> dict[int, Postings]:
    """What the blocks hold of each term."""
    blocks: dict[int, list[Postings]] = {}
    rows: Iterable[Row] = connection.execute(
        "SELECT p.term_id, p.first_id, p.count, p.packed FROM posting AS p "
        "JOIN term AS t ON t.id = p.term_id WHERE t.scope_id = ? ORDER BY p.term_id, p.first_id",
        (scope,),
    )
    for term, *block in rows:
        blocks.setdefault(term, []).append(unpack_block(*block))
    return {term: joined(parts) for term, parts in blocks.items()}


def _size_of(documents: Sequence[Row]) -> IndexSize:
    kinds = [kind for _, kind, *_ in documents]
    pairs = [len(packed) // TERM_ID.itemsize for *_, packed in documents]
    return IndexSize(
        documents=len(documents),
        words=sum(len(packed) // TERM_ID.itemsize for *_, packed, _ in documents),
        paired=sum(map(bool, pairs)),
        pairs=sum(pairs),
        unmerged=sum(not is_merged for _, _, is_merged, *_ in documents),
        entities=kinds.count(Kind.ENTITY),
        messages=kinds.count(Kind.MESSAGE),
    )


def _noted_size(connection: apsw.Connection, scope: int) -> IndexSize:
    noted: Row | None = connection.execute(
        f"SELECT {', '.join(IndexSize._fields)} FROM scope WHERE id = ?", (scope,)
    ).fetchone()
    return IndexSize(*noted or ())


def _cache_problems(connection: apsw.Connection, cache: VectorCache) -> Iterator[Problem]:
    identity: Row | None = connection.execute("SELECT value FROM setting WHERE name = 'store_id'").fetchone()
    if identity is None:
        yield Problem("the store has no identity", "vectors", repairable=True)
        return
    models: list[Row] = list(connection.execute("SELECT id, dims, centre FROM model WHERE in_use = 1"))
    for model in models:
        for trouble in cache.check(SqliteVectorQueries(connection), VectorSource(identity[0], *model)):
            yield Problem(trouble, "vectors", repairable=True)


def _scopes(connection: apsw.Connection) -> list[int]:
    return [id_ for (id_,) in connection.execute("SELECT id FROM scope ORDER BY id")]
