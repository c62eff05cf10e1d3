"""Searching what the present's indexes do not hold: former texts, and what was superseded or forgotten since.

The indexes hold the present alone, so that it is fast and weighs nothing else. A question about another
moment asks them for what has not changed since, and reads the rest, which is little, row by row. Its words
weigh as the present's index weighs them, so that the two lists can be merged by score.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw
import numpy as np

from recollect.records import Filter, Found, Kind
from recollect.stores.sqlite import word_index
from recollect.stores.sqlite.rows import many
from recollect.stores.sqlite.standing import allowed
from recollect.stores.sqlite.word_index import Sought
from recollect.text.tokens import letter_pairs, query_terms, words
from recollect.vectors import unpack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from recollect.ports import Vector, WordIndex
    from recollect.stores.sqlite.rows import Row
    from recollect.stores.sqlite.standing import Standing

# As SQLite's bm25() has them.
_K1 = 1.2
_B = 0.75
_LEAST_IDF = 1e-6


@dataclass(frozen=True, slots=True)
class Document:
    """What a memory said at the time."""

    id: int
    body: str


def by_words(
    connection: apsw.Connection, scope: int, text: str, index: WordIndex, where: Filter, standing: Standing
) -> list[Found]:
    """Former documents by BM25, with the statistics of the present's index."""
    documents = _documents(connection, scope, where, standing)
    table = "words" if index == "plain" else "stems"
    stem = _stemmer(connection) if index == "stemmed" else str
    told = [Sought(f'"{word}"', (stem(word),)) for word in query_terms(text)]
    scores: dict[int, float] = {}
    for name, cut, sought in (
        (table, lambda said: [stem(word) for word in words(said)], told),
        ("pairs", letter_pairs, word_index.paired(text)),
    ):
        if sought:
            _add(scores, connection, f"{name}_{scope}", documents, cut, sought)
    return [Found(id_, score) for id_, score in scores.items()]


def holders(
    connection: apsw.Connection, scope: int, telling: Sequence[str], where: Filter, standing: Standing
) -> dict[str, list[int]]:
    """The former messages that held each of these words, by their stems; of all that there were."""
    spoken = Filter(kinds=frozenset({Kind.MESSAGE}), as_of=where.as_of, superseded=where.superseded)
    stem = _stemmer(connection)
    said = [
        (document.id, {stem(word) for word in words(document.body)})
        for document in _documents(connection, scope, spoken, standing)
    ]
    return {word: [id_ for id_, stems in said if stem(word) in stems] for word in telling}


def by_meaning(
    connection: apsw.Connection, query: Vector, scopes: list[int], where: Filter, standing: Standing
) -> list[Found]:
    """Former memories by the best of the passages that they had."""
    ids = [id_ for scope in scopes for id_ in _different(connection, scope, where, standing)]
    rows: list[Row] = connection.execute(
        "SELECT p.memory_id, p.id, v.embedding FROM passage AS p JOIN vector AS v ON v.passage_id = p.id "
        "JOIN model ON model.id = v.model_id AND model.in_use = 1 "
        "LEFT JOIN observation AS o ON o.id = p.observation_id "
        "LEFT JOIN revision AS r ON r.id = p.revision_id "
        "WHERE p.memory_id IN (SELECT value FROM json_each(?)) "
        f"AND (o.id IS NULL OR {standing.observation()}) "
        f"AND {_wording(standing, 'p.memory_id', 'p.revision_id')} ORDER BY p.id",
        (many(ids),),
    ).fetchall()
    if not rows:
        return []
    cosines = np.vecdot(np.stack([unpack(blob) for _, _, blob in rows]), query).tolist()
    best: dict[int, Found] = {}
    for (memory, passage, _), cosine in zip(rows, cosines, strict=True):
        if memory not in best or cosine > best[memory].score:
            best[memory] = Found(memory, cosine, passage)
    return list(best.values())


def _different(connection: apsw.Connection, scope: int, where: Filter, standing: Standing) -> list[int]:
    condition, bindings = allowed(where, [scope])
    rows = connection.execute(
        f"SELECT m.id FROM memory AS m WHERE m.id IN {standing.different()} AND {condition} "
        f"AND {standing.memory()} ORDER BY m.id",
        bindings,
    )
    return [id_ for (id_,) in rows]


def _wording(standing: Standing, memory: str, revision: str) -> str:
    """SQL: of a memory's wordings, the one it had; the present one has no revision."""
    if standing.at is None:
        return f"{revision} IS NULL"
    then = (
        f"(SELECT w.id FROM revision AS w WHERE w.memory_id = {memory} AND w.until > {standing.at} "
        "ORDER BY w.id LIMIT 1)"
    )
    return f"{revision} IS {then}"


def _documents(connection: apsw.Connection, scope: int, where: Filter, standing: Standing) -> list[Document]:
    rows = connection.execute(
        "SELECT m.id, CASE m.kind WHEN 'entity' THEN m.name || ' ' || m.type || ' ' || coalesce(("
        "SELECT group_concat(content, ' | ') FROM (SELECT content FROM observation AS o "
        f"WHERE o.memory_id = m.id AND {standing.observation()} ORDER BY o.id)), '') "
        "ELSE coalesce(m.speaker || ' ', '') || coalesce((SELECT r.text FROM revision AS r "
        f"WHERE r.memory_id = m.id AND {_wording(standing, 'm.id', 'r.id')}), m.text) END "
        "FROM memory AS m WHERE m.id IN (SELECT value FROM json_each(?)) ORDER BY m.id",
        (many(_different(connection, scope, where, standing)),),
    )
    return [Document(*row) for row in rows]


def _add(
    scores: dict[int, float],
    connection: apsw.Connection,
    table: str,
    documents: Iterable[Document],
    cut: Callable[[str], list[str]],
    sought: Sequence[Sought],
) -> None:
    """Add to each document what the words are worth in it: the formula of SQLite's bm25()."""
    rows, length = word_index.size(connection, table)
    usual = length / rows if rows else 1.0
    weights = [_idf(rows, word_index.holding(connection, table, each)) for each in sought]
    for document in documents:
        said = cut(document.body)
        counts = Counter(said)
        rarity = 1 - _B + _B * len(said) / (usual or 1.0)
        worth = 0.0
        for weight, each in zip(weights, sought, strict=True):
            times = _times(said, counts, each)
            worth += weight * times * (_K1 + 1) / (times + _K1 * rarity) if times else 0.0
        if worth:
            scores[document.id] = scores.get(document.id, 0.0) + worth


def _times(said: Sequence[str], counts: Counter[str], sought: Sought) -> int:
    """How often what is sought stands in a document, given also as how often each of its pieces does."""
    first = sought.pieces[0]
    if sought.begins:
        return sum(count for piece, count in counts.items() if piece.startswith(first))
    if len(sought.pieces) == 1 or not counts[first]:
        return counts[first]
    length = len(sought.pieces)
    return sum(tuple(said[at : at + length]) == sought.pieces for at in range(len(said) - length + 1))


def _idf(rows: int, holding: int) -> float:
    ratio = (rows - holding + 0.5) / (holding + 0.5)
    return max(math.log(ratio), _LEAST_IDF) if ratio > 0 else _LEAST_IDF


def _stemmer(connection: apsw.Connection) -> Callable[[str], str]:
    tokenizer = connection.fts5_tokenizer("porter", ["ascii"])

    def stem(word: str) -> str:
        found = tokenizer(
            word.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return str(next(iter(found), word))

    return stem
