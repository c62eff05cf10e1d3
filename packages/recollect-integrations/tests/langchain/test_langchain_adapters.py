"""Tests beyond LangChain's own suites: exact messages, filters, scores, and other readers of the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

import recollect
from recollect.domain.errors import InvalidInput
from recollect_integrations.langchain import (
    RecollectByteStore,
    RecollectChatMessageHistory,
    RecollectRetriever,
    RecollectVectorStore,
)

MESSAGES: list[BaseMessage] = [
    SystemMessage("Be brief.", id="s1"),
    HumanMessage(
        [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:x"}}],
        name="ana",
    ),
    AIMessage(
        "",
        tool_calls=[{"name": "weather", "args": {"city": "Lisboa", "days": [1, 2]}, "id": "c1"}],
        invalid_tool_calls=[{"name": "x", "args": "{", "id": "c2", "error": "no JSON"}],
        usage_metadata={"input_tokens": 3, "output_tokens": 5, "total_tokens": 8},
        response_metadata={"model": "scripted"},
        additional_kwargs={"refusal": None},
        id="a1",
    ),
    ToolMessage("18 °C", tool_call_id="c1", artifact={"raw": [18.0]}, status="success"),
    AIMessageChunk(content="It is 18 °C"),
    FunctionMessage(content="1", name="f"),
    ChatMessage(content="Objection!", role="lawyer"),
    HumanMessage("\0 "),
    HumanMessage("It is 18 °C"),
    RemoveMessage(id="s1"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[recollect.Engine]:
    with recollect.open(tmp_path / "memory.db", model="hashing") as opened:
        yield opened


def test_messages_come_back_exactly_in_order_and_are_found(memory: recollect.Engine) -> None:
    history = RecollectChatMessageHistory(memory, "today")
    assert history.messages == []
    history.add_messages(MESSAGES[:4])
    asyncio.run(history.aadd_messages(MESSAGES[4:]))
    again = RecollectChatMessageHistory(memory, "today")
    assert again.messages == asyncio.run(again.aget_messages()) == MESSAGES
    assert [type(message) for message in again.messages] == [type(message) for message in MESSAGES]
    roles = [turn.role for turn in memory.sessions.turns("today")]
    assert roles[:7] == ["system", "user", "assistant", "tool", "assistant", "function", "lawyer"]
    assert memory.search("weather in Lisboa").hits[0].memory.text.startswith("(calls weather(")
    # Messages that another client adds belong to the conversation.
    memory.add_messages("today", [{"role": "assistant", "content": "Good night."}])
    assert again.messages[-1] == AIMessage("Good night.")
    assert RecollectChatMessageHistory(memory, "other").messages == []


def test_a_cleared_history_is_empty_and_what_was_learnt_stays(memory: recollect.Engine) -> None:
    history = RecollectChatMessageHistory(memory, "today")
    history.add_user_message("I moved to Lisbon last week and I am allergic to peanuts.")
    notes = memory.list().memories
    assert notes
    history.clear()
    asyncio.run(history.aclear())
    assert history.messages == []
    assert memory.list().memories == notes
    history.add_ai_message("Hello again")
    assert history.messages == [AIMessage("Hello again")]
    quiet = RecollectChatMessageHistory(memory, "quiet", extract=False)
    quiet.add_user_message("I have a dog called Otto.")
    assert memory.list().memories == notes


def test_documents_keep_any_text_and_metadata_and_are_filtered(memory: recollect.Engine) -> None:
    store = RecollectVectorStore(memory)
    documents = [
        Document(
            id="1", page_content="The tram leaves at nine", metadata={"year": 2020, "by": {"name": "ana"}}
        ),
        Document(id="2", page_content="The tram leaves at nine", metadata={"year": 2024, "tags": ["a", "b"]}),
        Document(id="3", page_content="", metadata={"year": 2022}),
        Document(id="4", page_content="\0 horses", metadata={}),
    ]
    assert store.add_documents(documents) == ["1", "2", "3", "4"]
    assert store.get_by_ids(["4", "3", "x", "1"]) == [documents[3], documents[2], documents[0]]

    def ids(found: list[Document]) -> set[str | None]:
        return {document.id for document in found}

    assert ids(store.similarity_search("tram", filter={"year": {"$gt": 2020}})) == {"2", "3"}
    assert ids(store.similarity_search("tram", filter={"by": {"name": "ana"}})) == {"1"}
    assert ids(store.similarity_search("tram", filter=lambda document: document.id == "4")) == {"4"}
    assert ids(store.similarity_search("tram", k=2)) == {"1", "2"}
    with pytest.raises(InvalidInput, match=r"Unknown filter operator '\$in'"):
        store.similarity_search("tram", filter={"year": {"$in": [1]}})
    store.delete()
    assert store.similarity_search("tram") == []


def test_scores_fall_and_confidences_are_shares(memory: recollect.Engine) -> None:
    store = RecollectVectorStore.from_texts(["Ana rides horses", "Bo sings", "the tram"], memory=memory)
    scores = [score for _, score in store.similarity_search_with_score("who rides horses?", k=3)]
    assert scores == sorted(scores, reverse=True)
    sure = store.similarity_search_with_relevance_scores("who rides horses?", k=3)
    assert sure == asyncio.run(store.asimilarity_search_with_relevance_scores("who rides horses?", k=3))
    assert all(0 <= confidence <= 1 for _, confidence in sure)
    assert sure[0][0].page_content == "Ana rides horses"
    best = sure[0][1]
    threshold = store.as_retriever(
        search_type="similarity_score_threshold", search_kwargs={"score_threshold": best, "k": 3}
    )
    assert [document.page_content for document in threshold.invoke("who rides horses?")] == [
        "Ana rides horses"
    ]


def test_collections_are_apart_and_an_embedding_is_not_used_in_silence(memory: recollect.Engine) -> None:
    with pytest.warns(UserWarning, match="this embedding is not used"):
        one = RecollectVectorStore.from_texts(
            ["Ana rides"],
            DeterministicFakeEmbedding(size=6),
            [{"n": 1}],
            ids=["a"],
            memory=memory,
            collection="one",
        )
    other = asyncio.run(
        RecollectVectorStore.afrom_texts(["Bo rides"], ids=["a"], memory=memory, collection="two")
    )
    assert [document.page_content for document in one.similarity_search("rides")] == ["Ana rides"]
    assert [document.page_content for document in other.similarity_search("rides")] == ["Bo rides"]
    # All of it is the owner's memory.
    assert {hit.memory.text for hit in memory.search("rides", limit=5).hits} == {"Ana rides", "Bo rides"}
    wrongs: list[dict[str, Any]] = [{"metadatas": [{}, {}]}, {"ids": ["1", "2"]}]
    for wrong in wrongs:
        with pytest.raises(InvalidInput, match="give one for each"):
            one.add_texts(["x"], **wrong)


def test_values_are_bytes_of_any_sort_by_any_key(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    store = RecollectByteStore(str(path))
    pairs = [("a/1", bytes(range(256))), ("a/2", b""), ("b", b"x" * 100_000), (" ", b"1"), ("Ключ", b"2")]
    store.mset(pairs)
    store.memory.close()
    with recollect.open(path) as memory:
        again = RecollectByteStore(memory)
        assert again.mget([key for key, _ in pairs]) == [value for _, value in pairs]
        assert sorted(again.yield_keys(prefix="a/")) == ["a/1", "a/2"]
        with pytest.raises(InvalidInput, match="must be bytes, not str"):
            again.mset([("c", "text")])  # type: ignore[list-item]


def test_a_retriever_gives_all_kinds_with_what_is_known_of_them(memory: recollect.Engine) -> None:
    when = datetime(2026, 3, 1, tzinfo=UTC)
    note = memory.remember(
        "Ana rides horses", tags=["sport"], category="habits", happened_at=when, metadata={"a": 1}
    )
    memory.create_entities([{"name": "Bo", "type": "person", "observations": ["rides horses, too"]}])
    memory.add_messages(
        "today", [{"role": "user", "speaker": "Ana", "content": "I ride on Sundays"}], extract=False
    )
    retriever = RecollectRetriever(memory=memory, k=5, explain=True)
    found = retriever.invoke("who rides horses?")
    assert {document.metadata["kind"] for document in found} == {"note", "entity", "message"}
    first = next(document for document in found if document.metadata["kind"] == "note")
    assert (first.id, first.page_content) == (str(note.id), "Ana rides horses")
    assert first.metadata["tags"] == ["sport"]
    assert first.metadata["happened_at"] == when.isoformat()
    assert first.metadata["metadata"] == {"a": 1}
    assert 0 <= first.metadata["confidence"] <= 1
    assert first.metadata["why"]
    entity = next(document for document in found if document.metadata["kind"] == "entity")
    assert entity.page_content == "Bo (person)\nrides horses, too"
    assert [
        document.id for document in asyncio.run(retriever.ainvoke("who rides horses?", kinds=["entity"]))
    ] == [entity.id]
    assert RecollectRetriever(memory=memory, memory_tags=["sport"]).invoke("rides")[0].id == first.id
    assert RecollectRetriever(memory=memory, abstain=True).invoke("the price of copper in 1931") == []


def test_a_note_that_superseded_one_of_ours_is_no_document_and_no_value(memory: recollect.Engine) -> None:
    documents, values = RecollectVectorStore(memory), RecollectByteStore(memory)
    documents.add_texts(["Ana rides a horse", "Bo likes tea"], ids=["a", "b"])
    values.mset([("a", b"1"), ("b", b"2")])
    for agent, ref in (("documents", "langchain:a"), ("values", "langchain value:a")):
        (note,) = memory.scoped("", agent).list(refs=[ref]).memories
        memory.supersede(note.id, "Ana rides a bicycle", copies=False)
    assert [each.id for each in documents.similarity_search("Ana rides a bicycle")] == ["b"]
    assert documents.get_by_ids(["a"]) == []
    assert list(values.yield_keys()) == ["b"]
    assert values.mget(["a"]) == [None]


def test_a_document_has_the_text_that_its_note_was_edited_to(memory: recollect.Engine) -> None:
    documents = RecollectVectorStore(memory)
    documents.add_texts(["Ana\0 rides", "Bo\0 rides", " "], ids=["a", "b", "c"])
    (note,) = memory.scoped("", "documents").list(refs=["langchain:a"]).memories
    memory.update(note.id, text="Ana walks")
    found = documents.get_by_ids(["a", "b", "c"])
    assert [document.page_content for document in found] == ["Ana walks", "Bo\0 rides", " "]
