"""Searching what the present's indexes do not hold: former texts, and what was superseded or forgotten since.

The indexes hold the present alone, so that it is fast and weighs nothing else. A question about another
moment asks them for what has not changed since, and searches the rest, which is little, by itself. Its words
weigh as the present's index weighs them, so that the two lists can be merged by score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recollect.conditions import Condition, Not, OneOf
from recollect.query import Filter
from recollect.records import Found, Kind
from recollect.retrieval.filters import PastState, narrowing
from recollect.retrieval.former_texts import former_passages, kept_former_texts
from recollect.retrieval.term_index import Analyser, Phrase, TermIndex
from recollect.retrieval.term_search import K1, B, idf, pair_phrases
from recollect.text.stems import porter_stem
from recollect.text.tokens import query_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recollect.ports import Snapshot, Vector
    from recollect.ranking.candidates import Floats, Ints
    from recollect.retrieval.former_texts import FormerTerms

_PLACES = {kind.value: place for place, kind in enumerate(Kind)}


class PastTexts:
    """What the memories of one past state said that differ from the present."""

    def __init__(self, snapshot: Snapshot, state: PastState, scopes: Sequence[int]) -> None:
        self.snapshot = snapshot
        self.state = state
        self._texts = kept_former_texts(snapshot, state, scopes)
        self.changed = self._texts.changed
        """All memories that read otherwise than now, or are in no index of the present."""

    @property
    def changed_ids(self) -> Ints:
        """Ascending."""
        return self._texts.changed_ids

    def unchanged(self) -> tuple[Condition, ...]:
        """Conditions on memories of the present's indexes: those that read as they do now."""
        present = self._texts.present(self.snapshot)
        return (Not(OneOf("id", present)),) if present else ()

    def search_words(
        self, index: TermIndex, text: str, k: int, analyser: Analyser, where: Filter
    ) -> list[Found]:
        """The best k former documents and those level with the last, with the present index's statistics."""
        texts = self._texts
        if not len(texts.rows.ids):
            return []
        score = np.zeros(len(texts.rows.ids))
        terms = [Phrase((word,)) for word in query_terms(text)]
        if terms:
            former = texts.stems if analyser == "stemmed" else texts.words
            score += _worth(index, analyser, former(self.snapshot), terms)
        pairs = pair_phrases(text)
        if pairs:
            score += _worth(index, "pairs", texts.pairs(self.snapshot), pairs)
        rows = np.flatnonzero(self._allowed([index.scope], where) & (score > 0))
        if len(rows) > k:
            rows = rows[score[rows] >= np.partition(score[rows], -k)[-k]]
        found = zip(texts.rows.ids[rows].tolist(), score[rows].tolist(), strict=True)
        return [Found(id_, worth) for id_, worth in found]

    def messages_with(self, scope: int, terms: Sequence[str], where: Filter) -> dict[str, list[int]]:
        """The former messages that contained each of these words, by their stems; of all that there were."""
        spoken = Filter(kinds=frozenset({Kind.MESSAGE}), as_of=where.as_of, superseded=where.superseded)
        allowed = self._allowed([scope], spoken)
        if not allowed.any():
            return {}
        stems = self._texts.stems(self.snapshot)
        found = {word: stems.times(Phrase((porter_stem(word),)))[0] for word in terms}
        return {word: self._texts.rows.ids[rows[allowed[rows]]].tolist() for word, rows in found.items()}

    def nearest(
        self, vector: Vector, k: int, model: int, scopes: Sequence[int], where: Filter
    ) -> list[Found]:
        """The best k of the former memories and those level with the last, by the best of their passages."""
        former = self._texts.vectors(self.snapshot, model)
        if not len(former.rows):
            return []
        there = self._allowed(scopes, where)[former.rows]
        cosines = np.vecdot(former.vectors, vector)[there]
        passages, memories = former.passages[there], former.memories[there]
        order = np.lexsort((passages, -cosines, memories))
        order = order[np.diff(memories[order], prepend=-1) != 0]
        if len(order) > k:
            order = order[cosines[order] >= np.partition(cosines[order], -k)[-k]]
        columns = (memories[order].tolist(), cosines[order].tolist(), passages[order].tolist())
        return [Found(*hit) for hit in zip(*columns, strict=True)]

    def passages(self, ids: Sequence[int]) -> dict[int, int]:
        """The passages that former memories had, each with its memory."""
        return former_passages(self.snapshot, self.state, ids)

    def _allowed(self, scopes: Sequence[int], where: Filter) -> NDArray[np.bool_]:
        """Which of the state's rows the filter lets through."""
        rows = self._texts.rows
        allowed = np.isin(rows.scopes, scopes)
        others: list[Condition] = []
        for condition in narrowing(where):
            match condition:
                case OneOf("kind", values):
                    allowed &= np.isin(rows.kinds, [_PLACES[str(kind)] for kind in values])
                case _:
                    others.append(condition)
        if others and allowed.any():
            asked = (OneOf("id", rows.ids[allowed].tolist()), *others)
            meet = [id_ for (id_,) in self.snapshot.rows("memory", ("id",), asked)]
            allowed &= np.isin(rows.ids, meet)
        return allowed


def _worth(index: TermIndex, analyser: Analyser, former: FormerTerms, phrases: Sequence[Phrase]) -> Floats:
    """What the phrases are worth in each document: the formula of SQLite's bm25()."""
    documents, length = index.size(analyser)
    usual = length / documents if documents else 1.0
    index.read(phrases, analyser)
    weights = [idf(documents, index.document_count(phrase, analyser)) for phrase in phrases]
    if analyser == "stemmed":
        phrases = [Phrase(tuple(map(porter_stem, phrase.terms)), phrase.prefix) for phrase in phrases]
    worth = np.zeros(len(former.lengths))
    for weight, phrase in zip(weights, phrases, strict=True):
        rows, times = former.times(phrase)
        rarity = 1 - B + B * former.lengths[rows] / (usual or 1.0)
        worth[rows] += weight * times * (K1 + 1) / (times + K1 * rarity)
    return worth
