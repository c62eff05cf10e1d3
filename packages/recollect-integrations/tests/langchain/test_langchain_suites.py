"""LangChain's own suites, whole, on Recollect: retriever, vector store and key-value store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_tests.integration_tests import (
    BaseStoreAsyncTests,
    BaseStoreSyncTests,
    RetrieversIntegrationTests,
    VectorStoreIntegrationTests,
)

import recollect
import recollect.aio
from recollect_integrations.langchain import RecollectByteStore, RecollectRetriever, RecollectVectorStore

VALUES = (b"foo", b"\x00\xff", b"")


class TestVectorStore(VectorStoreIntegrationTests):
    @pytest.fixture
    def vectorstore(self, tmp_path: Path) -> Iterator[RecollectVectorStore]:
        with recollect.open(tmp_path / "memory.db", model="hashing") as memory:
            yield RecollectVectorStore(memory)


class TestKeyValueStore(BaseStoreSyncTests[bytes]):
    @pytest.fixture
    def kv_store(self, tmp_path: Path) -> Iterator[RecollectByteStore]:
        with recollect.open(tmp_path / "memory.db", model="hashing") as memory:
            yield RecollectByteStore(memory)

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return VALUES


class TestKeyValueStoreAsync(BaseStoreAsyncTests[bytes]):
    @pytest.fixture
    async def kv_store(self, tmp_path: Path) -> Any:
        async with recollect.aio.open(tmp_path / "memory.db", model="hashing") as memory:
            yield RecollectByteStore(await memory.run(lambda engine: engine))

    @pytest.fixture
    def three_values(self) -> tuple[bytes, bytes, bytes]:
        return VALUES


class TestRetriever(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _memory(self, tmp_path: Path) -> Iterator[None]:
        with recollect.open(tmp_path / "memory.db", model="hashing") as memory:
            memory.remember_many(["Ana takes the tram", "Ana likes horses", "Bo takes the bus", "Bo sings"])
            self.memory = memory
            yield

    @property
    def retriever_constructor(self) -> type[RecollectRetriever]:
        return RecollectRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "what does Ana take?"
