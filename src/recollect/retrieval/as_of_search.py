"""Searching what the present's indexes do not hold: former texts, and what was superseded or forgotten since.

The indexes hold the present alone, so that it is fast and weighs nothing else. A question about another
moment asks them for what has not changed since, and reads the rest, which is little, row by row. Its words
weigh as the present's index weighs them, so that the two lists can be merged by score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from recollect.conditions import Condition, Equals, Not, OneOf
from recollect.ports import Snapshot, Vector
from recollect.query import Filter
from recollect.records import Found, Kind
from recollect.retrieval.documents import Document, documents
from recollect.retrieval.filters import PastState, allowed
from recollect.retrieval.term_index import Analyser, Phrase, TermIndex
from recollect.retrieval.term_search import K1, B, idf, pair_phrases
from recollect.text.stems import porter_stem, stem_beginning
from recollect.text.tokens import letter_pairs, query_terms, words
from recollect.vectors import unpack_vector


class PastTexts:
    """What the memories of one past state said that differ from the present."""

    def __init__(self, snapshot: Snapshot, state: PastState) -> None:
        self.snapshot = snapshot
        self.state = state
        self.changed = state.changed(snapshot)
        """All memories that read otherwise than now, or are in no index of the present."""

    def unchanged(self) -> tuple[Condition, ...]:
        """Conditions on memories: those that read as they do now."""
        return (Not(OneOf("id", self.changed)),)

    def search_words(self, index: TermIndex, text: str, analyser: Analyser, where: Filter) -> list[Found]:
        """Former documents by BM25, with the statistics of the present's index."""
        documents = self._documents(index.scope, where)
        analyse = _stems if analyser == "stemmed" else words
        scores: dict[int, float] = {}
        terms = [Phrase((word,)) for word in query_terms(text)]
        pairs = pair_phrases(text)
        if terms:
            _add_scores(scores, index, analyser, _that_may_have(documents, terms), analyse, terms)
        if pairs:
            _add_scores(scores, index, "pairs", documents, letter_pairs, pairs)
        return [Found(id_, score) for id_, score in scores.items()]

    def messages_with(self, scope: int, terms: Sequence[str], where: Filter) -> dict[str, list[int]]:
        """The former messages that contained each of these words, by their stems; of all that there were."""
        spoken = Filter(kinds=frozenset({Kind.MESSAGE}), as_of=where.as_of, superseded=where.superseded)
        stems = [(document.id, set(_stems(_body(document)))) for document in self._documents(scope, spoken)]
        return {word: [id_ for id_, said in stems if porter_stem(word) in said] for word in terms}

    def nearest(
        self, vector: Vector, k: int, model: int, scopes: Sequence[int], where: Filter
    ) -> list[Found]:
        """The best k of the former memories and those level with the last, by the best of their passages."""
        wanted = self.passages(self._ids(scopes, where))
        vectors = self.snapshot.rows(
            "vector",
            ("passage_id", "embedding"),
            (Equals("model_id", model), OneOf("passage_id", list(wanted))),
            order=("passage_id",),
        )
        if not vectors:
            return []
        rows = unpack_vector(b"".join(blob for _, blob in vectors)).reshape(len(vectors), -1)
        cosines = np.vecdot(rows, vector)
        passages = np.array([passage for passage, _ in vectors], np.int64)
        memories = np.array([wanted[passage] for passage, _ in vectors], np.int64)
        order = np.lexsort((passages, -cosines, memories))
        order = order[np.diff(memories[order], prepend=-1) != 0]
        if len(order) > k:
            order = order[cosines[order] >= np.partition(cosines[order], -k)[-k]]
        columns = (memories[order].tolist(), cosines[order].tolist(), passages[order].tolist())
        return [Found(*hit) for hit in zip(*columns, strict=True)]

    def passages(self, ids: Sequence[int]) -> dict[int, int]:
        """The passages that former memories had, each with its memory."""
        rows = self.snapshot.rows(
            "passage", ("id", "memory_id", "observation_id", "revision_id"), (OneOf("memory_id", ids),)
        )
        observed = {observation for _, _, observation, _ in rows if observation is not None}
        held = {
            id_
            for (id_,) in self.snapshot.rows(
                "observation", ("id",), (OneOf("id", observed), *self.state.observation())
            )
        }
        wordings = self._wordings(ids)
        return {
            passage: memory
            for passage, memory, observation, revision in rows
            if (observation is None or observation in held)
            and revision == wordings.get(memory, (None, ""))[0]
        }

    def _ids(self, scopes: Sequence[int], where: Filter) -> list[int]:
        conditions = (OneOf("id", self.changed), *allowed(where, scopes), *self.state.memory())
        return [id_ for (id_,) in self.snapshot.rows("memory", ("id",), conditions)]

    def _wordings(self, ids: Sequence[int]) -> dict[int, tuple[int, str]]:
        """The revision whose text each memory had then; the present text has none."""
        if self.state.at is None:
            return {}
        rows = self.snapshot.rows(
            "revision", ("memory_id", "id", "text", "until"), (OneOf("memory_id", ids),), order=("id",)
        )
        first: dict[int, tuple[int, str]] = {}
        for memory, revision, text, until in rows:
            if until > self.state.at:
                first.setdefault(memory, (revision, text))
        return first

    def _documents(self, scope: int, where: Filter) -> list[Document]:
        ids = self._ids([scope], where)
        former = {memory: text for memory, (_, text) in self._wordings(ids).items()}
        return documents(self.snapshot, ids, (), self.state.observation(), former) if ids else []


def _that_may_have(documents: Sequence[Document], terms: Sequence[Phrase]) -> Iterable[Document]:
    """Without most of those that contain none of the words, which cost far more to be cut into words."""
    beginnings = [stem_beginning(phrase.terms[0]) for phrase in terms]
    if not all(map(str.isascii, beginnings)):
        return documents
    return (
        document
        for document in documents
        if not (body := _body(document)).isascii() or any(map(body.lower().__contains__, beginnings))
    )


def _body(document: Document) -> str:
    return f"{document.name} {document.type} {document.body}"


def _stems(text: str) -> list[str]:
    return [porter_stem(word) for word in words(text)]


def _add_scores(
    scores: dict[int, float],
    index: TermIndex,
    analyser: Analyser,
    documents: Iterable[Document],
    cut: Callable[[str], list[str]],
    phrases: Sequence[Phrase],
) -> None:
    """Add to each document what the phrases are worth in it: the formula of SQLite's bm25()."""
    rows, length = index.size(analyser)
    usual = length / rows if rows else 1.0
    index.read(phrases, analyser)
    weights = [idf(rows, index.document_count(phrase, analyser)) for phrase in phrases]
    if analyser == "stemmed":
        phrases = [Phrase(tuple(map(porter_stem, phrase.terms)), phrase.prefix) for phrase in phrases]
    for document in documents:
        terms = cut(_body(document))
        rarity = 1 - B + B * len(terms) / (usual or 1.0)
        worth = 0.0
        for weight, phrase in zip(weights, phrases, strict=True):
            times = _times(terms, phrase)
            worth += weight * times * (K1 + 1) / (times + K1 * rarity) if times else 0.0
        if worth:
            scores[document.id] = scores.get(document.id, 0.0) + worth


def _times(terms: Sequence[str], phrase: Phrase) -> int:
    """How often a phrase stands in a document."""
    first = phrase.terms[0]
    if phrase.prefix:
        return sum(term.startswith(first) for term in terms)
    if len(phrase.terms) == 1:
        return terms.count(first)
    length = len(phrase.terms)
    return sum(tuple(terms[at : at + length]) == phrase.terms for at in range(len(terms) - length + 1))
