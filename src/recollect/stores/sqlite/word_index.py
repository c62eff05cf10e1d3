"""Full-text indexes: three for each scope, written by code in the row's own transaction.

words  plain words, case and accents folded
stems  the same, with English endings taken off (Porter)
pairs  overlapping pairs of letters of scripts other than Latin, and symbols

They are contentless: the rows are the text's only home. A scope has tables of its own because BM25 weighs
a word by how many texts hold it, and another owner's texts must not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from recollect.text.stopwords import STOPWORDS
from recollect.text.words import pairs, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from recollect.ports import WordIndex

_TABLES = {
    "words": "unicode61 remove_diacritics 2",
    "stems": "porter unicode61 remove_diacritics 2",
    "pairs": "unicode61 remove_diacritics 0 categories ''L* M* N* Co So''",
}
# How many (word, text) meetings one query may score: some milliseconds' worth. Beyond it the most common
# words are left out; they would hardly move the order.
_BUDGET = 10_000
_MOST_WORDS = 256


class Document(NamedTuple):
    """What the indexes hold of one memory."""

    id: int
    name: str
    type: str
    body: str


def create(connection: apsw.Connection, scope: int) -> None:
    for table, tokenizer in _TABLES.items():
        connection.execute(
            f"CREATE VIRTUAL TABLE {table}_{scope} USING fts5(name, type, body, content='', "
            f"contentless_delete=1, tokenize='{tokenizer}')"
        )
    connection.execute(f"CREATE VIRTUAL TABLE word_count_{scope} USING fts5vocab(words_{scope}, row)")


def drop(connection: apsw.Connection, scope: int) -> None:
    for table in ("word_count", *_TABLES):
        connection.execute(f"DROP TABLE IF EXISTS {table}_{scope}")


def write(connection: apsw.Connection, scope: int, documents: Iterable[Document]) -> None:
    """Put documents in place of what stood under their ids; writing the same again changes nothing."""
    rows = list(documents)
    for table in ("words", "stems"):
        connection.executemany(
            f"INSERT OR REPLACE INTO {table}_{scope}(rowid, name, type, body) VALUES (?, ?, ?, ?)", rows
        )
    paired = [(row.id, *(" ".join(pairs(text)) for text in row[1:])) for row in rows]
    connection.executemany(f"DELETE FROM pairs_{scope} WHERE rowid = ?", [(row.id,) for row in rows])
    connection.executemany(
        f"INSERT INTO pairs_{scope}(rowid, name, type, body) VALUES (?, ?, ?, ?)",
        [row for row in paired if any(row[1:])],
    )


def erase(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    for table in _TABLES:
        connection.executemany(f"DELETE FROM {table}_{scope} WHERE rowid = ?", [(id_,) for id_ in ids])


def is_empty(connection: apsw.Connection, scope: int) -> bool:
    if (
        connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"words_{scope}",)).fetchone()
        is None
    ):
        return True
    return connection.execute(f"SELECT 1 FROM words_{scope}_docsize LIMIT 1").fetchone() is None


def held(connection: apsw.Connection, scope: int) -> dict[str, set[int] | None]:
    """The ids that each index holds; None for an index that is not there."""
    return {f"{table}_{scope}": _ids_in(connection, f"{table}_{scope}") for table in _TABLES}


def search(
    connection: apsw.Connection,
    scope: int,
    text: str,
    k: int,
    index: WordIndex,
    condition: str,
    bindings: Sequence[object],
) -> list[tuple[int, float]]:
    """Ids and BM25 scores, best first, ties by id; `condition` is SQL on the memory's row `m`, or empty."""
    table = "words" if index == "plain" else "stems"
    scores: dict[int, float] = {}
    for name, query in ((table, _word_query(connection, scope, text)), ("pairs", _pair_query(text))):
        if query:
            for id_, score in _matches(connection, f"{name}_{scope}", query, k, condition, bindings):
                scores[id_] = scores.get(id_, 0.0) + score
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def _matches(
    connection: apsw.Connection,
    table: str,
    query: str,
    k: int,
    condition: str,
    bindings: Sequence[object],
) -> list[tuple[int, float]]:
    joined = f"JOIN memory AS m ON m.id = f.rowid WHERE {table} MATCH ? AND {condition}"
    rows = connection.execute(
        f"SELECT f.rowid, -bm25({table}) AS score FROM {table} AS f "
        f"{joined if condition else f'WHERE {table} MATCH ?'} ORDER BY score DESC, f.rowid LIMIT ?",
        (query, *bindings, k),
    )
    return [(id_, score) for id_, score in rows]


def _word_query(connection: apsw.Connection, scope: int, text: str) -> str:
    """Any of the words, as quoted strings, so that nothing in them is syntax."""
    distinct = list(dict.fromkeys(words(text)))
    telling = [word for word in distinct if word not in STOPWORDS] or distinct
    return " OR ".join(f'"{word}"' for word in _affordable(connection, scope, telling[:_MOST_WORDS]))


def _affordable(connection: apsw.Connection, scope: int, sought: list[str]) -> list[str]:
    """The rarest words whose texts fit the budget, and at least one of those that occur."""
    counts = {word: _texts_with(connection, scope, word) for word in sought}
    chosen: list[str] = []
    spent = 0
    for word in sorted(sought, key=lambda word: (counts[word], word)):
        spent += counts[word]
        if spent > _BUDGET and any(counts[other] for other in chosen):
            break
        chosen.append(word)
    return chosen


def _ids_in(connection: apsw.Connection, table: str) -> set[int] | None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone() is None:
        return None
    return {id_ for (id_,) in connection.execute(f"SELECT id FROM {table}_docsize")}


def _texts_with(connection: apsw.Connection, scope: int, word: str) -> int:
    rows = connection.execute(f"SELECT doc FROM word_count_{scope} WHERE term = ?", (word,))
    return int(next((count for (count,) in rows), 0))


def _pair_query(text: str) -> str:
    """Any of the pairs; a letter or symbol by itself seeks every pair that begins with it."""
    pieces = list(dict.fromkeys(pairs(text)))
    whole = [piece for piece in pieces if len(piece) > 1]
    sought = [f'"{piece}"' for piece in whole] or [f'"{piece}" *' for piece in pieces]
    # A symbol stands alone also beside pairs.
    sought += [f'"{piece}"' for piece in pieces if len(piece) == 1 and not piece.isalpha() and whole]
    return " OR ".join(sought[:_MOST_WORDS])
