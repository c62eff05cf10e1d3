"""The same documents in SQLite's own full-text index, as a measure of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from recollect.domain.records import Found
from recollect.text.tokens import letter_pairs, pair_queries, query_terms, words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.search.texts import Document
    from recollect.search.words import Analyser

_TOKENIZERS: dict[Analyser, str] = {"plain": "ascii", "stemmed": "porter ascii", "pairs": "ascii"}


class Fts5Twin:
    """Three contentless tables: words, words by their stems, and pairs of letters."""

    def __init__(self) -> None:
        self._connection = apsw.Connection(":memory:")
        for table, tokenizer in _TOKENIZERS.items():
            self._connection.execute(
                f"CREATE VIRTUAL TABLE {table} USING fts5(name, type, body, content='', "
                f"contentless_delete=1, tokenize='{tokenizer}')"
            )

    def close(self) -> None:
        self._connection.close()

    def write(self, documents: Sequence[Document]) -> None:
        self.erase([document.id for document in documents])
        for document in documents:
            texts = (document.name, document.type, document.body)
            in_words = [" ".join(words(text)) for text in texts]
            in_pairs = [" ".join(letter_pairs(text)) for text in texts]
            for table in ("plain", "stemmed"):
                self._insert(table, document.id, in_words)
            if any(in_pairs):
                self._insert("pairs", document.id, in_pairs)

    def erase(self, ids: Sequence[int]) -> None:
        for table in _TOKENIZERS:
            self._connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(id_,) for id_ in ids])

    def search(self, text: str, analyser: Analyser) -> list[Found]:
        """Hits of the whole query, best first, ties by id."""
        terms = sorted(query_terms(text), key=lambda word: (self.count(word), word))
        pairs = [
            f'"{" ".join(pieces)}"' + (" *" if len(pieces[0]) == 1 else "") for pieces in pair_queries(text)
        ]
        scores = self.scores([f'"{word}"' for word in terms], (), analyser)
        for id_, score in self.scores(pairs, (), "pairs").items():
            scores[id_] = scores.get(id_, 0.0) + score
        found = sorted(scores.items(), key=lambda each: (-each[1], each[0]))
        return [Found(id_, score) for id_, score in found]

    def scores(
        self, required: Sequence[str], optional: Sequence[str], analyser: Analyser
    ) -> dict[int, float]:
        """By BM25, what each document is worth that contains one of the required expressions."""
        if not required:
            return {}
        scores = self._matches(" OR ".join(required), analyser)
        if optional:
            scores |= self._matches(f"({' OR '.join(required)}) AND ({' OR '.join(optional)})", analyser)
        return scores

    def count(self, word: str, analyser: Analyser = "plain") -> int:
        return len(self._matches(f'"{word}"', analyser))

    def _insert(self, table: str, id_: int, texts: Sequence[str]) -> None:
        self._connection.execute(
            f"INSERT INTO {table}(rowid, name, type, body) VALUES (?, ?, ?, ?)", (id_, *texts)
        )

    def _matches(self, expression: str, analyser: Analyser) -> dict[int, float]:
        rows = self._connection.execute(
            f"SELECT rowid, -bm25({analyser}) FROM {analyser} WHERE {analyser} MATCH ?", (expression,)
        )
        return {int(id_): float(score) for id_, score in rows}
