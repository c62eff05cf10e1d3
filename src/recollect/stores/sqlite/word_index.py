"""Full-text indexes: three for each scope, written by code in the row's own transaction.

words  plain words, case and accents folded
stems  the same, with English endings taken off (Porter)
pairs  overlapping pairs of letters of scripts other than Latin, and symbols

They are contentless: the rows are the text's only home. A scope has tables of its own because BM25 weighs
a word by how many texts hold it, and another owner's texts must not count.
"""

from __future__ import annotations

import json
from math import log
from typing import TYPE_CHECKING, NamedTuple

from recollect.stores.sqlite.rows import many
from recollect.text.tokens import has_unspaced, letter_pairs, pair_queries, query_terms, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from recollect.ports import WordIndex
    from recollect.stores.sqlite.rows import Row

# Texts arrive folded and cut by `text.tokens`, queries too, so that SQLite's own idea of letters, which is
# of an older Unicode and folds less, has no say: this tokenizer parts at the spaces alone.
_TABLES = {"words": "ascii", "stems": "porter ascii", "pairs": "ascii"}
# How many (word, text) meetings one query may start from: some milliseconds' worth. Beyond it the most common
# words only count in texts that a rarer one has found.
_BUDGET = 10_000
_MOST_WORDS = 256


class Document(NamedTuple):
    """What the indexes hold of one memory."""

    id: int
    name: str
    type: str
    body: str


class Sought(NamedTuple):
    """One thing that a query looks for: as the index is asked for it, and as it stands in a text."""

    query: str
    pieces: tuple[str, ...]
    """These, one after the other."""
    begins: bool = False
    """Or what begins with the only one."""


def create(connection: apsw.Connection, scope: int) -> None:
    for table, tokenizer in _TABLES.items():
        connection.execute(
            f"CREATE VIRTUAL TABLE {table}_{scope} USING fts5(name, type, body, content='', "
            f"contentless_delete=1, tokenize='{tokenizer}')"
        )
    connection.execute(f"CREATE VIRTUAL TABLE word_count_{scope} USING fts5vocab(words_{scope}, row)")


def clean(connection: apsw.Connection, scope: int) -> None:
    """Rewrite the indexes without the words of what was deleted, which otherwise stay until a later merge."""
    for table in _TABLES:
        connection.execute(f"INSERT INTO {table}_{scope}({table}_{scope}) VALUES ('optimize')")


def drop(connection: apsw.Connection, scope: int) -> None:
    for table in ("word_count", *_TABLES):
        connection.execute(f"DROP TABLE IF EXISTS {table}_{scope}")


def write(connection: apsw.Connection, scope: int, documents: Iterable[Document]) -> None:
    """Put documents in place of what stood under their ids; writing the same again changes nothing."""
    rows = list(documents)
    cut = [(row.id, *(" ".join(words(text)) for text in row[1:])) for row in rows]
    for table in ("words", "stems"):
        connection.executemany(
            f"INSERT OR REPLACE INTO {table}_{scope}(rowid, name, type, body) VALUES (?, ?, ?, ?)", cut
        )
    paired = [(row.id, *(" ".join(letter_pairs(text)) for text in row[1:])) for row in rows]
    # Few texts have pairs, and looking for those that had some is cheaper than deleting what is not there.
    had = connection.execute(
        f"SELECT id FROM pairs_{scope}_docsize WHERE id IN (SELECT value FROM json_each(?))",
        (many(row.id for row in rows),),
    ).fetchall()
    connection.executemany(f"DELETE FROM pairs_{scope} WHERE rowid = ?", had)
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
    sought = query_terms(text)
    chosen, left_out, fits = _affordable(connection, scope, sought)
    pair_query = " OR ".join(each.query for each in paired(text))

    def found(word_query: str, allowed: str = condition) -> dict[int, float]:
        queries = ((f"{table}_{scope}", word_query), (f"pairs_{scope}", pair_query))
        asked = [pair for pair in queries if pair[1]]
        return dict(_matches(connection, asked, k, allowed, bindings if allowed else ()))

    best = found(_any(chosen))
    if condition and left_out and len(best) < k and len(best) < len(found(_any(chosen), "")):
        # What the filter allows may hold only the words that are common elsewhere.
        best = found(_any((*chosen, *left_out)))
    elif left_out and fits:
        # Common words find nothing by themselves, but they count in what the others found.
        for id_, score in found(f"({_any(chosen)}) AND ({_any(left_out)})").items():
            best[id_] = max(score, best.get(id_, 0.0))
    return sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


def affordable(connection: apsw.Connection, scope: int, text: str, budget: int) -> list[str]:
    """The telling words whose texts can be looked at one by one; none, where all are too common."""
    chosen, _, fits = _affordable(connection, scope, query_terms(text), budget)
    return chosen if fits else []


def shares_held(connection: apsw.Connection, scope: int, text: str, ids: Sequence[int]) -> dict[int, float]:
    """Of what a query's telling words weigh together, the share that each of these texts holds.

    A word weighs ln(1 + (N - n + 0.5) / (n + 0.5)), where n of N texts hold it. Words that are too
    common to be searched for count on neither side.
    """
    texts, _ = size(connection, f"stems_{scope}")
    chosen, _, _ = _affordable(connection, scope, query_terms(text))
    # A run of a script without spaces is no word; its pairs stand for it.
    sought = [(f"stems_{scope}", f'"{word}"') for word in chosen if not has_unspaced(word)]
    sought += [(f"pairs_{scope}", each.query) for each in paired(text)]
    shares: dict[int, float] = {}
    whole = 0.0
    for table, query in sought:
        rows = connection.execute(
            "SELECT count(*), json_group_array(f.rowid) FILTER "
            f"(WHERE f.rowid IN (SELECT value FROM json_each(?2))) FROM {table} AS f WHERE {table} MATCH ?1",
            (query, many(ids)),
        )
        count, holders = next(rows)
        weight = log(1 + (texts - count + 0.5) / (count + 0.5))
        whole += weight
        for id_ in json.loads(holders):
            shares[id_] = shares.get(id_, 0.0) + weight
    return {id_: share / whole for id_, share in shares.items()}


def size(connection: apsw.Connection, table: str) -> tuple[int, int]:
    """How many texts an index holds, and how many words they have together."""
    # The index's own record of its averages: numbers of seven bits a byte, first the rows, then each column.
    packed = connection.execute(f"SELECT block FROM {table}_data WHERE id = 1").get
    numbers = _numbers(packed) if isinstance(packed, bytes) else []
    return (numbers[0], sum(numbers[1:])) if numbers else (0, 0)


def paired(text: str) -> list[Sought]:
    """What a query looks for among pairs; a single letter or symbol is every pair that begins with it."""
    return [
        Sought(f'"{" ".join(pieces)}"{" *" if len(pieces[0]) == 1 else ""}', pieces, len(pieces[0]) == 1)
        for pieces in pair_queries(text)[:_MOST_WORDS]
    ]


def holding(connection: apsw.Connection, table: str, sought: Sought) -> int:
    """How many texts of an index hold what is sought."""
    count = connection.execute(f"SELECT count(*) FROM {table} WHERE {table} MATCH ?", (sought.query,)).get
    assert isinstance(count, int)  # noqa: S101  # what this question gives
    return count


def _numbers(packed: bytes) -> list[int]:
    numbers: list[int] = []
    number = 0
    for byte in packed:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    return numbers


def _any(sought: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in sought)


def _matches(
    connection: apsw.Connection,
    queries: Sequence[tuple[str, str]],
    k: int,
    condition: str,
    bindings: Sequence[object],
) -> list[tuple[int, float]]:
    """The best of all queries together: a text's score is the sum over the indexes that found it."""
    if not queries:
        return []
    joined = "JOIN memory AS m ON m.id = f.rowid" if condition else ""
    allowed = f"AND {condition}" if condition else ""
    each = " UNION ALL ".join(
        f"SELECT f.rowid AS id, -bm25({table}) AS score FROM {table} AS f {joined} "
        f"WHERE {table} MATCH ? {allowed}"
        for table, _ in queries
    )
    if len(queries) > 1:
        each = f"SELECT id, sum(score) AS score FROM ({each}) GROUP BY id"
    values = [value for _, query in queries for value in (query, *bindings)]
    rows: Iterable[Row] = connection.execute(f"{each} ORDER BY score DESC, id LIMIT ?", (*values, k))
    return [(id_, score) for id_, score in rows]


def _affordable(
    connection: apsw.Connection, scope: int, sought: list[str], budget: int = _BUDGET
) -> tuple[list[str], list[str], bool]:
    """The rarest words whose texts fit the budget, the others, and whether even the rarest fits."""
    counts = _texts_with(connection, scope, sought)
    # Words that occur before those that do not, which only their stem could find.
    telling = sorted(sought, key=lambda word: (counts[word] == 0, counts[word], word))[:_MOST_WORDS]
    chosen: list[str] = []
    left_out: list[str] = []
    spent = 0
    for word in sorted(telling, key=lambda word: (counts[word], word)):
        spent += counts[word]
        if spent > budget and any(counts[other] for other in chosen):
            left_out.append(word)
        else:
            chosen.append(word)
    fits = sum(counts[word] for word in chosen) <= budget
    return chosen, left_out, fits


def _ids_in(connection: apsw.Connection, table: str) -> set[int] | None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone() is None:
        return None
    return {id_ for (id_,) in connection.execute(f"SELECT id FROM {table}_docsize")}


def holders(connection: apsw.Connection, scope: int, sought: Sequence[str]) -> dict[str, int]:
    """How many texts hold each word as it is; where none does, how many hold its stem."""
    counts = _texts_with(connection, scope, sought)
    unknown = [word for word in sought if not counts[word]]
    stems: list[Row] = connection.execute(
        f"SELECT value, (SELECT count(*) FROM stems_{scope} WHERE stems_{scope} MATCH '\"' || value || '\"') "
        "FROM json_each(?)",
        (many(unknown),),
    ).fetchall()
    return counts | {word: count for word, count in stems}  # noqa: C416  # as below


def _texts_with(connection: apsw.Connection, scope: int, sought: Sequence[str]) -> dict[str, int]:
    """How many texts hold each word as it is."""
    rows: list[Row] = connection.execute(
        f"SELECT term, doc FROM word_count_{scope} WHERE term IN (SELECT value FROM json_each(?))",
        (many(sought),),
    ).fetchall()
    return dict.fromkeys(sought, 0) | {word: count for word, count in rows}  # noqa: C416  # a row is of any length
