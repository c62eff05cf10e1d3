"""Models run by other libraries, with stand-ins for the few calls that we make."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models.embedders import embedder_named
from recollect.models.packaged import Role, prefixes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def module(name: str, **members: Any) -> ModuleType:
    made = ModuleType(name)
    made.__spec__ = SimpleNamespace(name=name)  # type: ignore[assignment]  # a stand-in need not be loadable
    for member, value in members.items():
        setattr(made, member, value)
    return made


class TextEmbedding:
    """fastembed's, with a limit of ten characters."""

    def __init__(self, model_name: str, threads: int) -> None:
        if model_name == "no/such":
            raise ValueError("Model no/such is not supported")
        self.model = SimpleNamespace(tokenizer=self)
        self.said: list[str] = []

    def encode(self, text: str) -> Any:
        return SimpleNamespace(overflowing=[text[10:]] if len(text) > 10 else [])

    def passage_embed(self, texts: Sequence[str], batch_size: int) -> Iterator[Any]:
        assert batch_size == 1
        self.said += texts
        return (np.array([len(text), 1.0, 0.0]) for text in texts)

    def query_embed(self, texts: Sequence[str], batch_size: int) -> Iterator[Any]:
        return (np.array([len(text), 0.0, 1.0]) for text in texts)


class SentenceTransformer:
    """The library's, with a limit of sixteen characters."""

    max_seq_length: int | None = 16

    def __init__(self, name: str) -> None:
        self.said: list[str] = []

    def tokenizer(self, text: str, verbose: bool) -> dict[str, list[int]]:
        return {"input_ids": list(range(len(text)))}

    def encode_document(self, texts: Sequence[str], show_progress_bar: bool) -> Any:
        self.said += texts
        return np.array([[len(text), 1.0] for text in texts])

    def encode_query(self, texts: Sequence[str], show_progress_bar: bool) -> Any:
        return np.array([[len(text), -1.0] for text in texts])


@pytest.fixture(autouse=True)
def libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", module("fastembed", TextEmbedding=TextEmbedding))
    transformers = module("sentence_transformers", SentenceTransformer=SentenceTransformer)
    monkeypatch.setitem(sys.modules, "sentence_transformers", transformers)


NAMES = pytest.mark.parametrize("name", ["fastembed:some/model", "sentence-transformers:some/model"])


@NAMES
def test_rows_have_length_one_and_the_width_is_learned(name: str) -> None:
    embedder: Any = embedder_named(name)
    assert np.linalg.norm(embedder.documents(["abc", "a"]), axis=1) == pytest.approx([1, 1])
    assert embedder.model.name == name
    assert embedder.model.dims == embedder.query("a").shape[0]
    assert embedder.documents([]).shape == (0, embedder.model.dims)
    # Queries and documents take different ways.
    assert embedder.query("abc").tolist() != embedder.documents(["abc"])[0].tolist()


@NAMES
def test_nothing_is_cut_silently(name: str) -> None:
    embedder: Any = embedder_named(name)
    assert embedder.documents(["x" * 100, "y"]).shape[0] == 2
    said = embedder._loaded().said
    assert max(map(len, said)) <= 16
    assert sum(map(len, said)) >= 101


def test_fastembed_is_given_the_prefixes_that_it_does_not_add() -> None:
    plain: Any = embedder_named("fastembed:some/model")
    e5: Any = embedder_named("fastembed:some/e5-large")
    # the stand-in returns the length: 1 for "a", 10 for "passage: a"
    assert plain.documents(["a"])[0][0] < e5.documents(["a"])[0][0]
    assert e5._loaded().said == ["passage: a"]

    expected = {
        "text-embedding-3-small": "",
        "BAAI/bge-small-en-v1.5": "Represent this sentence for searching relevant passages: ",
        "intfloat/multilingual-e5-large-instruct": "",
        "snowflake-arctic-embed2": "query: ",
    }
    assert {name: prefixes(name)[Role.QUERY] for name in expected} == expected


def test_a_model_that_cannot_be_loaded_is_an_error_of_ours() -> None:
    embedder: Any = embedder_named("fastembed:no/such")
    with pytest.raises(ModelUnavailable, match=r"fastembed:no/such cannot be loaded.*check the name"):
        embedder.query("tea")


@pytest.mark.parametrize(
    ("name", "gone", "library"),
    [
        ("fastembed:some/model", "fastembed", "fastembed"),
        ("sentence-transformers:some/model", "sentence_transformers", "sentence-transformers"),
        ("ollama:some-model", "httpx", "httpx"),
    ],
)
def test_a_missing_library_names_the_command(
    name: str, gone: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, gone, None)
    with pytest.raises(ModelUnavailable, match=rf"run: pip install {library}$"):
        embedder_named(name)
