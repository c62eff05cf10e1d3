"""Haystack: a document store whose documents are notes, and the retriever that recalls them."""

from recollect.integrations.haystack.document_store import RecollectDocumentStore
from recollect.integrations.haystack.retriever import RecollectDocumentRetriever

__all__ = ["RecollectDocumentRetriever", "RecollectDocumentStore"]
