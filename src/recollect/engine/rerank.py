"""Re-ranking: a model that reads query and text together looks again at the first places of a list."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text, piece_of
from recollect.errors import ModelUnavailable
from recollect.ranking.pipeline import run
from recollect.ranking.steps.finish import Cut, uncut
from recollect.ranking.steps.rerank import RerankBlend
from recollect.records import Kind, as_it_stood
from recollect.retrieval.gather import gather
from recollect.retrieval.passages import passages_by_id
from recollect.retrieval.records import memories_by_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.engine.recall import Question
    from recollect.engine.services import Services as Parts
    from recollect.ports import Reranker
    from recollect.ranking.candidates import Candidates
    from recollect.records import Found, Memory, Passage
    from recollect.retrieval.gather import Gathered, Request
    from recollect.retrieval.search import Search

# In letters, somewhat less than a model reads: of what is longer, it is given the piece that was found.
_LONGEST = 2_000


def reranker_for(parts: Parts, question: Question) -> tuple[Reranker | None, str | None]:
    """The one to use, if any; or why the one that the settings name cannot be.

    `ModelUnavailable` where the caller asked for it.
    """
    if question.rerank is False or (question.rerank is None and not parts.reranks):
        return None, None
    try:
        return parts.reranker(), None
    except ModelUnavailable as error:
        return None, _unread(question, error)


def ranked_for(
    parts: Parts, search: Search, question: Question, request: Request
) -> tuple[Gathered, Candidates, str | None]:
    """What was found, the best of it, and why that was not re-ranked though it should have been."""
    reranker, note = reranker_for(parts, question)
    if reranker is not None:
        reader = Reader(reranker, search, question)
        try:
            return *reader.ranked(request), None
        except ModelUnavailable as error:
            note = _unread(question, error)
    gathered = gather(search, question.profile, request)
    return gathered, run(question.profile, gathered.candidates, gathered.moment), note


def _unread(question: Question, error: ModelUnavailable) -> str:
    if question.rerank:
        raise error
    return f"Not re-ranked: {error}"


@dataclass(frozen=True, slots=True)
class Reader:
    """A re-ranker at work on one question. It reads no memory twice, however often the list is made anew."""

    reranker: Reranker
    search: Search
    question: Question
    step: RerankBlend = field(default_factory=RerankBlend)
    _known: dict[int, float] = field(default_factory=dict)

    def ranked(self, request: Request) -> tuple[Gathered, Candidates]:
        gathered = self.gathered(request)
        ranked = gathered.candidates
        for step in uncut(self.question.profile):
            ranked = step(ranked, gathered.moment)
        return gathered, Cut()(self.reread(ranked, gathered), gathered.moment)

    def gathered(self, request: Request, also: Sequence[int] = ()) -> Gathered:
        """Candidates for the longer list. What ranks them knows only the limit that was asked for."""
        gathered = gather(self.search, self.question.profile, self.longer(request), also)
        return replace(gathered, moment=replace(gathered.moment, limit=request.limit))

    def longer(self, request: Request) -> Request:
        return replace(request, limit=self.step.listed(request.limit))

    def reread(self, ranked: Candidates, gathered: Gathered) -> Candidates:
        """The whole list again, its first places read."""
        first = ranked.ids[: self.step.read(gathered.moment.limit)].tolist()
        self._read([id_ for id_ in first if id_ not in self._known], gathered.found)
        readings = np.array([self._known[id_] for id_ in first])
        return self.step(ranked, readings, gathered.moment, self.reranker.name)

    def _read(self, ids: Sequence[int], found: Mapping[str, Sequence[Found]]) -> None:
        texts = self._texts(ids, found)
        self._known.update(zip(ids, self.reranker.scores(self.question.query, texts).tolist(), strict=True))

    def _texts(self, ids: Sequence[int], found: Mapping[str, Sequence[Found]]) -> list[str]:
        memories = memories_by_id(self.search.snapshot, ids)
        stood = [as_it_stood(memories[id_], self.question.as_of) for id_ in ids]
        nearest = {hit.id: hit.passage for hit in found.get("meaning", ()) if hit.passage is not None}
        wanted = [nearest[memory.id] for memory in stood if memory.id in nearest and _is_long(memory)]
        passages = {passage.memory: passage for passage in passages_by_id(self.search.snapshot, wanted)}
        return [as_read(memory, self.question.query, passages.get(memory.id)) for memory in stood]


def as_read(memory: Memory, query: str, passage: Passage | None = None) -> str:
    """A memory as a person would read it: who says it, and what; of a long one, the piece that was found."""
    if memory.kind is Kind.ENTITY:
        return passage.text if passage is not None and _is_long(memory) else memory_text(memory)
    piece = None
    if _is_long(memory):
        piece = passage.piece if passage is not None else piece_of(memory, query)
    text = memory_text(memory, piece)
    return f"{memory.speaker}: {text}" if memory.speaker else text


def _is_long(memory: Memory) -> bool:
    return len(memory_text(memory)) > _LONGEST
