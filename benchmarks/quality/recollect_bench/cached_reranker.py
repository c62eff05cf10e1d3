"""A re-ranker that reads each pair once: the lists of ten and of twenty begin with much the same texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.factors.candidates import Floats
    from recollect.ports import Reranker


class ReadOnce:
    """Beside another re-ranker, which may not let a text's score depend on the others."""

    def __init__(self, reranker: Reranker) -> None:
        self._reranker = reranker
        self._known: dict[tuple[str, str], float] = {}

    @property
    def name(self) -> str:
        return self._reranker.name

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        lacking = [text for text in dict.fromkeys(texts) if (query, text) not in self._known]
        if lacking:
            read = self._reranker.scores(query, lacking).tolist()
            self._known |= {(query, text): score for text, score in zip(lacking, read, strict=True)}
        return np.array([self._known[query, text] for text in texts], dtype=np.float64)
