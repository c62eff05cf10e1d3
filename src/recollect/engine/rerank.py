"""Re-ranking: a model that reads query and text together looks again at the first places of a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

import numpy as np

from recollect.engine.memory_text import memory_text, piece_of
from recollect.engine.services import Services
from recollect.errors import ModelUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.ports import Reranker, Snapshot
from recollect.ranking.steps.finish import Cut, uncut
from recollect.ranking.steps.rerank import RerankBlend
from recollect.records import Kind, Memory, Passage, as_it_stood
from recollect.retrieval.passages import passages_by_id
from recollect.retrieval.records import memories_by_id

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates
    from recollect.ranking.pipeline import Profile
    from recollect.retrieval.gather import Gathered

# In letters, somewhat less than a model reads: of what is longer, it is given the piece that was found.
_LONGEST = 2_000


def reranker_for(services: Services, query: Query) -> tuple[Reranker | None, str | None]:
    """The one to use, if any; or why the one that the settings name cannot be.

    `ModelUnavailable` where the caller asked for it.
    """
    if query.rerank is False or (query.rerank is None and not services.reranks):
        return None, None
    try:
        return services.reranker(), None
    except ModelUnavailable as error:
        return None, unread_note(query, error)


def unread_note(query: Query, error: ModelUnavailable) -> str:
    if query.rerank:
        raise error
    return f"Not re-ranked: {error}"


@dataclass(frozen=True, slots=True)
class Rescorer:
    """A re-ranker at work on one question. It reads no memory twice, however often the list is made anew."""

    reranker: Reranker
    snapshot: Snapshot
    query: Query
    step: RerankBlend = field(default_factory=RerankBlend)
    _known: dict[int, float] = field(default_factory=dict)

    @property
    def depth(self) -> int:
        """How long a list the answer is cut from."""
        return self.step.listed(self.query.limit)

    def __call__(self, ranked: Candidates, gathered: Gathered) -> Candidates:
        """The whole list again, its first places read."""
        first = ranked.ids[: self.step.read(gathered.query.limit)].tolist()
        unknown = [id_ for id_ in first if id_ not in self._known]
        scores = self.reranker.scores(self.query.text, self._texts(unknown, gathered))
        self._known.update(zip(unknown, scores.tolist(), strict=True))
        readings = np.array([self._known[id_] for id_ in first])
        return self.step(ranked, readings, gathered.query, self.reranker.name)

    def _texts(self, ids: Sequence[int], gathered: Gathered) -> list[str]:
        memories = memories_by_id(self.snapshot, ids)
        stood = [as_it_stood(memories[id_], self.query.where.as_of) for id_ in ids]
        nearest = gathered.nearest_passages
        wanted = [nearest[memory.id] for memory in stood if memory.id in nearest and _is_long(memory)]
        passages = {passage.memory: passage for passage in passages_by_id(self.snapshot, wanted, memories)}
        return [as_read(memory, self.query.text, passages.get(memory.id)) for memory in stood]


def ranked_anew(profile: Profile, gathered: Gathered, rescorer: Rescorer) -> Candidates:
    """By the profile's steps, then by the re-ranker, cut to the limit."""
    ranked = gathered.candidates
    for step in uncut(profile):
        ranked = step(ranked, gathered.query)
    return Cut()(rescorer(ranked, gathered), gathered.query)


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
