"""Peers that are search engines (Chroma, txtai and LanceDB), called by their own public API."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from peer import GivenVectors, Vectors

DIMS = 384


class Chroma:
    def __init__(self, folder: Path) -> None:
        chromadb, config = import_module("chromadb"), import_module("chromadb.config")
        client = chromadb.PersistentClient(str(folder), config.Settings(anonymized_telemetry=False))
        self._notes = client.create_collection(
            "notes", embedding_function=None, metadata={"hnsw:space": "cosine"}
        )

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        self._notes.add(ids=[str(id_) for id_ in ids], documents=list(texts), embeddings=vectors)

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        del text  # Chroma has no hybrid search
        found = self._notes.query(query_embeddings=[vector], n_results=limit, include=["documents"])
        return [int(id_) for id_ in found["ids"][0]]

    def close(self) -> None:
        """Do nothing; Chroma needs no closing."""


class Txtai:
    """Hybrid search: faiss and txtai's BM25, fused; texts in SQLite."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._given = folder, GivenVectors()

        def transform(texts: Sequence[str]) -> Vectors:  # txtai requires a plain function
            return self._given(texts)

        self._index: Any = import_module("txtai").Embeddings(
            method="external", transform=transform, hybrid=True, content=True
        )
        self._filled = False

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        self._given.add(texts, vectors)
        rows = [(id_, text, None) for id_, text in zip(ids, texts, strict=True)]
        if self._filled:
            self._index.upsert(rows)
        else:
            self._index.index(rows)
        self._filled = True

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        self._given.add([text], vector[None])
        return [int(hit["id"]) for hit in self._index.search(text, limit)]

    def close(self) -> None:
        self._index.save(str(self._folder / "index"))


class Lance:
    """Hybrid search: a flat scan of the vectors and LanceDB's full-text index, fused by rank."""

    def __init__(self, folder: Path) -> None:
        arrow, self._lancedb = import_module("pyarrow"), import_module("lancedb")
        schema = arrow.schema(
            [
                ("id", arrow.int64()),
                ("text", arrow.string()),
                ("vector", arrow.list_(arrow.float32(), DIMS)),
            ]
        )
        self._table = self._lancedb.connect(str(folder)).create_table("notes", schema=schema)
        self._reranker = import_module("lancedb.rerankers").RRFReranker()
        self._indexed = False

    def add(self, ids: Sequence[int], texts: Sequence[str], vectors: Vectors) -> None:
        self._table.add(
            [
                {"id": id_, "text": text, "vector": vector}
                for id_, text, vector in zip(ids, texts, vectors, strict=True)
            ]
        )

    def search(self, text: str, vector: Vectors, limit: int) -> Sequence[int]:
        if not self._indexed:
            self._table.create_fts_index("text")
            self._indexed = True
        words = "".join(sign if sign.isalnum() else " " for sign in text)
        asked = self._table.search(query_type="hybrid").vector(vector).text(words)
        return [int(row["id"]) for row in asked.rerank(self._reranker).limit(limit).to_list()]

    def close(self) -> None:
        """Do nothing; LanceDB needs no closing."""
