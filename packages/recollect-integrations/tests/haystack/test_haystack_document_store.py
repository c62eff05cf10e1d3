"""Haystack's own suites for document stores, all of them, sync and async; and what they leave out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from haystack import Document
from haystack.dataclasses import ByteStream, SparseEmbedding
from haystack.document_stores.errors import DuplicateDocumentError
from haystack.document_stores.types import DocumentStore, DuplicatePolicy
from haystack.testing import document_store as suites
from haystack.testing import document_store_async as async_suites
from haystack.utils import Secret

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.haystack import RecollectDocumentRetriever, RecollectDocumentStore


@pytest.fixture
def document_store() -> Iterator[RecollectDocumentStore]:
    store = RecollectDocumentStore(":memory:", model="none")
    yield store
    store.close()


class TestDocumentStore(
    suites.DocumentStoreBaseExtendedTests,
    suites.CountDocumentsByFilterTest,
    suites.CountUniqueMetadataByFilterTest,
    suites.GetMetadataFieldsInfoTest,
    suites.GetMetadataFieldMinMaxTest,
    suites.GetMetadataFieldUniqueValuesTest,
):
    @pytest.fixture
    def document_store(self) -> Iterator[RecollectDocumentStore]:
        store = RecollectDocumentStore(":memory:", model="none")
        yield store
        store.close()

    def test_write_documents(self, document_store: DocumentStore) -> None:
        """The suite leaves the default to the store: as with `FAIL`."""
        document = Document(content="test doc")
        assert document_store.write_documents([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            document_store.write_documents([document])
        assert document_store.filter_documents() == [document]


class TestDocumentStoreAsync(
    async_suites.CountDocumentsAsyncTest,
    async_suites.WriteDocumentsAsyncTest,
    async_suites.DeleteDocumentsAsyncTest,
    async_suites.DeleteAllAsyncTest,
    async_suites.DeleteByFilterAsyncTest,
    async_suites.UpdateByFilterAsyncTest,
    async_suites.FilterDocumentsAsyncTest,
    async_suites.CountDocumentsByFilterAsyncTest,
    async_suites.CountUniqueMetadataByFilterAsyncTest,
    async_suites.GetMetadataFieldsInfoAsyncTest,
    async_suites.GetMetadataFieldMinMaxAsyncTest,
    async_suites.GetMetadataFieldUniqueValuesAsyncTest,
):
    async def test_write_documents_async(self, document_store: RecollectDocumentStore) -> None:
        """The suite leaves the default to the store: as with `FAIL`."""
        document = Document(content="test doc")
        assert await document_store.write_documents_async([document]) == 1
        with pytest.raises(DuplicateDocumentError):
            await document_store.write_documents_async([document])
        assert await document_store.filter_documents_async() == [document]


def test_every_suite_that_haystack_has_is_among_these() -> None:
    for module, taken in ((suites, TestDocumentStore), (async_suites, TestDocumentStoreAsync)):
        named = {name for name in vars(module) if name.endswith(("Test", "Tests"))}
        assert named - {each.__name__ for each in taken.__mro__} == set()


def test_all_that_a_document_has_comes_back_after_it_was_closed(tmp_path: Path) -> None:
    documents = [
        Document(content="The kettle is in the garden"),
        Document(id=" The same words ", content="The kettle is in the garden", score=0.0),
        Document(content="", meta={"title": "an empty page", "nested": {"of": [1, None, "ä\0"]}}),
        Document(blob=ByteStream(b"\x00\xff", meta={"file": "a.png"}, mime_type="image/png")),
        Document(
            content="vectors", embedding=[0.1, 1e-30], sparse_embedding=SparseEmbedding([1, 9], [0.5, 2.0])
        ),
    ]
    first = RecollectDocumentStore(tmp_path / "memory.db", model="none")
    assert first.write_documents(documents) == 5
    written = first.to_dict()
    first.close()
    second = RecollectDocumentStore.from_dict(written)
    assert second.filter_documents() == documents
    second.engine.remember("What is no document is not counted", category="haystack:documents")
    assert second.count_documents() == 5
    second.close()


def test_collections_are_apart_and_a_batch_is_written_whole_or_not_at_all() -> None:
    with recollect.open(":memory:", model="none") as memory:
        letters = RecollectDocumentStore(memory, collection="letters")
        bills = RecollectDocumentStore(memory, collection="Letters")
        letter = Document(id="1", content="Dear Ana")
        letters.write_documents([letter])
        bills.write_documents([Document(id="1", content="42 euros")])
        with pytest.raises(DuplicateDocumentError):
            letters.write_documents([Document(id="2", content="new"), letter], DuplicatePolicy.FAIL)
        assert letters.filter_documents() == [letter]
        two = [Document(id="2", content="a"), Document(id="2", content="b"), letter]
        assert letters.write_documents(two, DuplicatePolicy.SKIP) == 1
        assert letters.write_documents(two, DuplicatePolicy.OVERWRITE) == 3
        assert [each.content for each in letters.filter_documents()] == ["Dear Ana", "b"]
        letters.delete_all_documents()
        letters.write_documents([letter])
        assert (letters.count_documents(), bills.count_documents()) == (1, 1)


def test_what_would_lose_or_reveal_something_is_refused() -> None:
    with recollect.open(":memory:", model="none") as memory:
        store = RecollectDocumentStore(memory)
        with pytest.raises(InvalidInput, match="path"):
            store.to_dict()
        with pytest.raises(InvalidInput, match="JSON"):
            store.write_documents([Document(content="a", meta={"at": {1}})])
        assert store.count_documents() == 0
        with pytest.raises(InvalidInput, match="leave them out"):
            RecollectDocumentStore(memory, owner="ana")
        # Else the document b:c of the collection a would be the document c of the collection a:b.
        with pytest.raises(InvalidInput, match="colon"):
            RecollectDocumentStore(memory, collection="a:b")
    with pytest.raises(InvalidInput, match="Secret"):
        RecollectDocumentStore("postgresql://ana:password@db.example.org/memory").to_dict()
    secret = RecollectDocumentStore(Secret.from_env_var("MEMORY_URL"), agent="clerk")
    assert RecollectDocumentStore.from_dict(secret.to_dict()).to_dict() == secret.to_dict()


def test_a_note_that_superseded_a_document_is_no_document(document_store: RecollectDocumentStore) -> None:
    first, second = Document(id="a", content="Ana rides a horse"), Document(id="b", content="Bo likes tea")
    document_store.write_documents([first, second])
    (note,) = document_store.engine.list(refs=["haystack:documents:a"]).memories
    document_store.engine.supersede(note.id, "Ana rides a bicycle")
    assert document_store.filter_documents() == [second]
    found = RecollectDocumentRetriever(document_store).run("Ana rides a bicycle")["documents"]
    assert "a" not in [document.id for document in found]
    assert "Ana rides a bicycle" not in [document.content for document in found]


def test_a_document_has_the_content_that_its_note_was_edited_to(
    document_store: RecollectDocumentStore,
) -> None:
    contents = {"a": "Ana\0 rides", "b": "Bo\0 rides", "c": None}
    document_store.write_documents([Document(id=id_, content=text) for id_, text in contents.items()])
    (note,) = document_store.engine.list(refs=["haystack:documents:a"]).memories
    document_store.engine.update(note.id, text="Ana walks")
    assert [each.content for each in document_store.filter_documents()] == ["Ana walks", "Bo\0 rides", None]
