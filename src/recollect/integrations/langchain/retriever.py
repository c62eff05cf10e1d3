"""A retriever over everything in a memory: notes, messages and entities, each with its confidence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from typing import Any

from recollect.aio import AsyncEngine
from recollect.engine.engine import Engine
from recollect.engine.memory_text import memory_text
from recollect.engine.results import Hit
from recollect.extras import needs_extra
from recollect.ranking.explain import effect_text
from recollect.records import Kind
from recollect.text.limits import QUERY_LIMIT

with needs_extra("The adapter for LangChain", "langchain"):
    from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import ConfigDict


class RecollectRetriever(BaseRetriever):
    """What a memory recalls for a query, as documents, best first.

    Each field is an argument of `Engine.recall`, and may be given to `invoke` as well. Without `k`, the
    documents are those that are worth reading, one to ten.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, ignored_types=(cached_property,))

    memory: Engine
    k: int | None = None
    kinds: Sequence[str] = tuple(Kind)
    profile: str | None = None
    session: str | None = None
    category: str | None = None
    memory_tags: Sequence[str] = ()
    """The tags that memories must have; `tags` are LangChain's, of its traces."""
    as_of: datetime | None = None
    min_confidence: float | None = None
    abstain: bool = False
    """Give no documents where nothing seems to answer."""
    explain: bool = False
    """Say in the metadata, under `why`, how each score came about."""

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # LangChain's
        **asked: Any,
    ) -> list[Document]:
        return _recalled(self.memory, query, self._arguments(asked))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # LangChain's
        **asked: Any,
    ) -> list[Document]:
        return await self._calls.run(_recalled, query, self._arguments(asked))

    @cached_property
    def _calls(self) -> AsyncEngine:
        return AsyncEngine(self.memory)

    def _arguments(self, asked: dict[str, Any]) -> dict[str, Any]:
        own = {
            "limit": self.k,
            "kinds": self.kinds,
            "session": self.session,
            "category": self.category,
            "tags": self.memory_tags,
            "as_of": self.as_of,
            "min_confidence": self.min_confidence,
            "abstain": self.abstain,
            "explain": self.explain,
        }
        if self.profile is not None:
            own["profile"] = self.profile
        names = {"k": "limit", "memory_tags": "tags"}
        return own | {names.get(name, name): value for name, value in asked.items()}


def _recalled(memory: Engine, query: str, asked: dict[str, Any]) -> list[Document]:
    return [_document(hit) for hit in memory.recall(query[:QUERY_LIMIT], **asked).hits]


def _document(hit: Hit) -> Document:
    """What the caller kept with a memory comes first; what Recollect knows of it has names of its own."""
    memory = hit.memory
    about = {
        "score": hit.score,
        "confidence": hit.confidence,
        "kind": memory.kind.value,
        "created_at": memory.created_at.isoformat(),
        "happened_at": None if memory.happened_at is None else memory.happened_at.isoformat(),
        "category": memory.category,
        "tags": list(memory.tags) or None,
        "source": memory.source,
        "session": memory.session,
        "role": memory.role,
        "speaker": memory.speaker,
        "metadata": None if memory.metadata is None else dict(memory.metadata),
        "outdated_by": None if hit.outdated_by is None else hit.outdated_by.text,
        "why": [f"{reason.step} {effect_text(reason)}" for reason in hit.reasons] or None,
    }
    known = {name: value for name, value in about.items() if value is not None}
    return Document(id=str(memory.id), page_content=memory_text(memory), metadata=known)
