"""Full-text indexes: three for each scope, written by code in the row's own transaction.

words  plain words, case and accents folded
stems  the same, with English endings taken off (Porter)
pairs  overlapping pairs of letters of scripts other than Latin, and symbols

They are contentless: the rows are the text's only home. A scope has tables of its own because BM25 weighs
a word by how many texts hold it, and another owner's texts must not count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.records import Found
from recollect.stores.sqlite.sql import condition_sql, json_list
from recollect.text.tokens import letter_pairs, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.conditions import Where
    from recollect.ports import Analyser, Document, Phrase, TermQuery
    from recollect.tables import Row

# Texts arrive folded and cut by `text.words`, queries too, so that SQLite's own idea of letters, which is
# of an older Unicode and folds less, has no say: this tokenizer parts at the spaces alone.
_TOKENIZERS = {"words": "ascii", "stems": "porter ascii", "pairs": "ascii"}
_NAMES: dict[Analyser, str] = {"plain": "words", "stemmed": "stems", "pairs": "pairs"}


def create(connection: apsw.Connection, scope: int) -> None:
    for table, tokenizer in _TOKENIZERS.items():
        connection.execute(
            f"CREATE VIRTUAL TABLE {table}_{scope} USING fts5(name, type, body, content='', "
            f"contentless_delete=1, tokenize='{tokenizer}')"
        )
    connection.execute(f"CREATE VIRTUAL TABLE word_count_{scope} USING fts5vocab(words_{scope}, row)")


def clean(connection: apsw.Connection, scope: int) -> None:
    """Rewrite the indexes without the words of what was deleted, which otherwise stay until a later merge."""
    for table in _TOKENIZERS:
        connection.execute(f"INSERT INTO {table}_{scope}({table}_{scope}) VALUES ('optimize')")


def drop(connection: apsw.Connection, scope: int) -> None:
    for table in ("word_count", *_TOKENIZERS):
        connection.execute(f"DROP TABLE IF EXISTS {table}_{scope}")


def write(connection: apsw.Connection, scope: int, documents: Sequence[Document]) -> None:
    """Put documents in place of what stood under their ids; writing the same again changes nothing."""
    cut = [(each.id, *(" ".join(words(text)) for text in _texts(each))) for each in documents]
    for table in ("words", "stems"):
        connection.executemany(
            f"INSERT OR REPLACE INTO {table}_{scope}(rowid, name, type, body) VALUES (?, ?, ?, ?)", cut
        )
    paired = [(each.id, *(" ".join(letter_pairs(text)) for text in _texts(each))) for each in documents]
    # Few texts have pairs, and looking for those that had some is cheaper than deleting what is not there.
    had = connection.execute(
        f"SELECT id FROM pairs_{scope}_docsize WHERE id IN (SELECT value FROM json_each(?))",
        (json_list(each.id for each in documents),),
    ).fetchall()
    connection.executemany(f"DELETE FROM pairs_{scope} WHERE rowid = ?", had)
    connection.executemany(
        f"INSERT INTO pairs_{scope}(rowid, name, type, body) VALUES (?, ?, ?, ?)",
        [row for row in paired if any(row[1:])],
    )


def erase(connection: apsw.Connection, scope: int, ids: Sequence[int]) -> None:
    for table in _TOKENIZERS:
        connection.executemany(f"DELETE FROM {table}_{scope} WHERE rowid = ?", [(id_,) for id_ in ids])


def is_empty(connection: apsw.Connection, scope: int) -> bool:
    if (
        connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"words_{scope}",)).fetchone()
        is None
    ):
        return True
    return connection.execute(f"SELECT 1 FROM words_{scope}_docsize LIMIT 1").fetchone() is None


def held_ids(connection: apsw.Connection, scope: int) -> dict[str, set[int] | None]:
    """The ids that each index holds; None for an index that is not there."""
    return {f"{table}_{scope}": _ids_in(connection, f"{table}_{scope}") for table in _TOKENIZERS}


class WordQueries:
    """The port's questions about terms, asked of one connection."""

    connection: apsw.Connection

    def index_size(self, scope: int, analyser: Analyser) -> tuple[int, int]:
        # The index's own record of its averages, in seven bits a byte: the rows, then the terms by column.
        packed = self.connection.execute(
            f"SELECT block FROM {_NAMES[analyser]}_{scope}_data WHERE id = 1"
        ).get
        numbers = _numbers(packed) if isinstance(packed, bytes) else []
        return (numbers[0], sum(numbers[1:])) if numbers else (0, 0)

    def document_counts(self, phrases: Sequence[Phrase], scope: int, analyser: Analyser) -> Sequence[int]:
        if analyser == "plain" and all(len(each.terms) == 1 and not each.prefix for each in phrases):
            rows: list[Row] = self.connection.execute(
                f"SELECT term, doc FROM word_count_{scope} WHERE term IN (SELECT value FROM json_each(?))",
                (json_list(each.terms[0] for each in phrases),),
            ).fetchall()
            counts = {term: count for term, count in rows}  # noqa: C416  # a row is of any length
            return [counts.get(each.terms[0], 0) for each in phrases]
        table = f"{_NAMES[analyser]}_{scope}"
        rows = self.connection.execute(
            f"SELECT (SELECT count(*) FROM {table} WHERE {table} MATCH value) FROM json_each(?) ORDER BY key",
            (json_list(map(_quoted, phrases)),),
        ).fetchall()
        return [count for (count,) in rows]

    def postings(self, phrase: Phrase, scope: int, analyser: Analyser) -> Sequence[int]:
        table = f"{_NAMES[analyser]}_{scope}"
        rows = self.connection.execute(f"SELECT rowid FROM {table} WHERE {table} MATCH ?", (_quoted(phrase),))
        return [id_ for (id_,) in rows]

    def search(self, queries: Sequence[TermQuery], scope: int, k: int, where: Where) -> Sequence[Found]:
        best = self._matches([(each, _any(each.required)) for each in queries], scope, k, where)
        if any(each.optional for each in queries):
            # BM25 counts what stands in the expression: those with an optional phrase are asked for again.
            both = [(each, _required_and_optional(each)) for each in queries]
            for id_, score in self._matches(both, scope, k, where).items():
                best[id_] = max(score, best.get(id_, 0.0))
        found = sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Found(id_, score) for id_, score in found[:k]]

    def _matches(
        self, queries: Sequence[tuple[TermQuery, str]], scope: int, k: int, where: Where
    ) -> dict[int, float]:
        """The best of all queries together: a text's score is the sum over the indexes that found it."""
        asked = [(f"{_NAMES[query.analyser]}_{scope}", match) for query, match in queries if match]
        if not asked:
            return {}
        condition, bindings = condition_sql(where, "m")
        joined = "JOIN memory AS m ON m.id = f.rowid" if where else ""
        each = " UNION ALL ".join(
            f"SELECT f.rowid AS id, -bm25({table}) AS score FROM {table} AS f {joined} "
            f"WHERE {table} MATCH ? AND {condition}"
            for table, _ in asked
        )
        if len(asked) > 1:
            each = f"SELECT id, sum(score) AS score FROM ({each}) GROUP BY id"
        values = [value for _, match in asked for value in (match, *bindings)]
        rows: list[Row] = self.connection.execute(
            f"{each} ORDER BY score DESC, id LIMIT ?", (*values, k)
        ).fetchall()
        return {id_: score for id_, score in rows}  # noqa: C416  # a row is of any length


def _texts(document: Document) -> tuple[str, str, str]:
    return document.name, document.type, document.body


def _numbers(packed: bytes) -> list[int]:
    numbers: list[int] = []
    number = 0
    for byte in packed:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    return numbers


def _quoted(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.terms)}"{" *" if phrase.prefix else ""}'


def _any(phrases: Sequence[Phrase]) -> str:
    return " OR ".join(map(_quoted, phrases))


def _required_and_optional(query: TermQuery) -> str:
    required = _any(query.required)
    return f"({required}) AND ({_any(query.optional)})" if query.optional else required


def _ids_in(connection: apsw.Connection, table: str) -> set[int] | None:
    if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (table,)).fetchone() is None:
        return None
    return {id_ for (id_,) in connection.execute(f"SELECT id FROM {table}_docsize")}
