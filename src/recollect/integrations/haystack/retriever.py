"""A Haystack retriever: finds documents by words, meaning and time, and says how sure it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from recollect.engine.limits import MOST_HITS
from recollect.errors import InvalidInput
from recollect.extras import needs_extra
from recollect.integrations.haystack.document_store import Filters, RecollectDocumentStore
from recollect.ranking.default_profile import DEFAULT_PROFILE
from recollect.text.limits import QUERY_LIMIT

with needs_extra("The adapter for Haystack", "haystack"):
    from haystack import Document, component, default_from_dict, default_to_dict
    from haystack.document_stores.types import FilterPolicy, apply_filter_policy
    from haystack.utils.filters import document_matches_filter


@component
class RecollectDocumentRetriever:
    """The documents that answer a query best, each with its score, best first."""

    def __init__(
        self,
        document_store: RecollectDocumentStore,
        *,
        filters: Filters | None = None,
        top_k: int = 10,
        filter_policy: str | FilterPolicy = FilterPolicy.REPLACE,
        profile: str = DEFAULT_PROFILE,
        min_confidence: float | None = None,
        abstain: bool = False,
    ) -> None:
        """`min_confidence` leaves out documents below it; with `abstain` there are none where nothing in the
        store seems to answer. `profile` is what ranks them, as in `recollect.open(…).recall`.
        """
        if not isinstance(document_store, RecollectDocumentStore):
            raise TypeError(
                f"The retriever needs a RecollectDocumentStore, not {type(document_store).__name__}."
            )
        self.document_store = document_store
        self.filters = filters
        self.top_k = _checked(top_k)
        self.filter_policy = FilterPolicy.from_str(str(filter_policy))
        self.profile = profile
        self.min_confidence = min_confidence
        self.abstain = abstain

    def to_dict(self) -> dict[str, Any]:
        return default_to_dict(
            self,
            document_store=self.document_store,
            filters=self.filters,
            top_k=self.top_k,
            filter_policy=self.filter_policy.value,
            profile=self.profile,
            min_confidence=self.min_confidence,
            abstain=self.abstain,
        )

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        return default_from_dict(cls, data)

    @component.output_types(documents=list[Document], confidence=float | None)
    def run(self, query: str, filters: Filters | None = None, top_k: int | None = None) -> dict[str, Any]:
        """Documents, and the `confidence` that the store holds an answer at all, from 0 to 1, or None
        where nobody judged.

        Filters narrow the best 1,000 documents.
        """
        wanted = self.top_k if top_k is None else _checked(top_k)
        narrowed = apply_filter_policy(self.filter_policy, self.filters, filters)
        answer = self.document_store.engine.recall(
            query[:QUERY_LIMIT],
            limit=MOST_HITS if narrowed else wanted,
            profile=self.profile,
            kinds=("note",),
            category=self.document_store.category,
            min_confidence=self.min_confidence,
            abstain=self.abstain,
            record=False,
            noted_later=True,
        )
        found = [
            (document, hit)
            for hit in answer.hits
            if (document := self.document_store.document_of(hit.memory)) is not None
            and (not narrowed or document_matches_filter(narrowed, document))
        ][:wanted]
        # What filters took away was not shown; and what is left is not the beginning of that answer.
        self.document_store.engine.record_shown(
            [hit.memory.id for _, hit in found], None if narrowed else answer
        )
        return {
            "documents": [replace(document, score=hit.score) for document, hit in found],
            "confidence": answer.confidence,
        }

    @component.output_types(documents=list[Document], confidence=float | None)
    async def run_async(
        self, query: str, filters: Filters | None = None, top_k: int | None = None
    ) -> dict[str, Any]:
        return await self.document_store.awaited(self.run, query, filters, top_k)


def _checked(top_k: int) -> int:
    if not 1 <= top_k <= MOST_HITS:
        raise InvalidInput(f"`top_k` must be from 1 to {MOST_HITS:,}, not {top_k}.")
    return top_k
