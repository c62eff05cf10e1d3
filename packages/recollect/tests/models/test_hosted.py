"""Models behind HTTP, against a server that speaks the three protocols."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from json_server import serving

from recollect.domain.errors import ModelUnavailable
from recollect.models.embedders import ModelOptions, embedder_named
from recollect.models.hosted import HostedEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("httpx")


@dataclass
class Server:
    """Answers with (length of the text, 1); `refusals` come first, one per request."""

    address: str = ""
    refusals: list[tuple[int, str]] = field(default_factory=list)
    longest: int = 10**9
    dims: int = 2
    raw: str | None = None
    requests: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, str]:
        if self.refusals:
            return self.refusals.pop(0)
        if self.raw is not None:
            return 200, self.raw
        texts = self.texts(path, body)
        if max(map(len, texts)) > self.longest:
            return 400, '{"error": "the input length exceeds the context length"}'
        rows = [[float(len(text)), 1.0, *[0.0] * (self.dims - 2)] for text in texts]
        return 200, json.dumps(self.shaped(path, rows))

    def texts(self, path: str, body: dict[str, Any]) -> list[str]:
        if path.endswith(":batchEmbedContents"):
            return [request["content"]["parts"][0]["text"] for request in body["requests"]]
        texts: list[str] = body["input"]
        return texts

    def shaped(self, path: str, rows: list[list[float]]) -> dict[str, Any]:
        if path == "/embeddings":
            # Out of order, as the protocol allows.
            return {"data": [{"index": i, "embedding": row} for i, row in enumerate(rows)][::-1]}
        if path == "/api/embed":
            return {"embeddings": rows}
        return {"embeddings": [{"values": row} for row in rows]}


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()
    with serving(state) as state.address:
        yield state


def hosted(
    server: Server, kind: str, name: str = "some-model", pauses: list[float] | None = None, **options: Any
) -> HostedEmbedder:
    asked = ModelOptions(base_url=server.address, key="secret-key", **options)
    return HostedEmbedder(kind, name, asked, sleep=(pauses if pauses is not None else []).append)


KINDS = pytest.mark.parametrize("kind", ["openai", "gemini", "ollama"])


@KINDS
def test_rows_come_in_the_order_of_the_texts_and_of_length_one(server: Server, kind: str) -> None:
    rows = hosted(server, kind).documents(["abc", "a"])
    # (3, 1) of length sqrt(10) and (1, 1) of length sqrt(2)
    assert rows[0] == pytest.approx([3 / 10**0.5, 1 / 10**0.5])
    assert rows[1] == pytest.approx([1 / 2**0.5, 1 / 2**0.5])
    # Many texts go in batches.
    server.requests.clear()
    rows = hosted(server, kind).documents(["x" * n for n in range(1, 151)])
    assert rows.shape == (150, 2)
    # text n points to (n, 1), so the order is kept if the slopes are 1 to 150
    assert (rows[:, 0] / rows[:, 1]) == pytest.approx(np.arange(1, 151), rel=1e-3)
    assert len(server.requests) == {"openai": 3, "gemini": 3, "ollama": 10}[kind]


@KINDS
def test_the_width_is_learned_from_the_server_and_a_narrower_one_asked_for(server: Server, kind: str) -> None:
    server.dims = 5
    model = hosted(server, kind).model
    assert (model.name, model.dims) == (f"{kind}:some-model", 5)
    server.dims = 2
    server.requests.clear()
    embedder = hosted(server, kind, dims=2)
    assert embedder.model.name == f"{kind}:some-model@2"
    body = server.requests[0][2]
    assert 2 in (body.get("dimensions"), body.get("requests", [{}])[0].get("outputDimensionality"))


def test_keys_travel_in_headers_and_models_are_told_queries_from_documents(server: Server) -> None:
    for kind in ("openai", "gemini"):
        hosted(server, kind).query("x")
    (path, openai, _), (gemini_path, gemini, _) = server.requests
    assert openai["authorization"] == "Bearer secret-key"
    assert gemini["x-goog-api-key"] == "secret-key"
    assert "secret" not in path + gemini_path
    # Gemini gets different task types for queries and documents.
    server.requests.clear()
    embedder = hosted(server, "gemini")
    embedder.query("x")
    embedder.documents(["y"])
    tasks = [body["requests"][0]["taskType"] for _, _, body in server.requests]
    assert tasks == ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]
    # Open models get the prefixes they were trained with.
    server.requests.clear()
    embedder = hosted(server, "ollama", "nomic-embed-text:v1.5")
    embedder.query("x")
    embedder.documents(["y"])
    sent = [body["input"] for _, _, body in server.requests]
    assert sent == [["search_query: x"], ["search_document: y"]]
    # An empty text is sent as a space.
    server.requests.clear()
    hosted(server, "openai").documents([""])
    assert server.requests[0][2]["input"] == [" "]
    # No texts are no rows.
    server.requests.clear()
    assert hosted(server, "openai").documents([]).shape == (0, 2)


def test_a_busy_server_is_asked_again_until_it_is_given_up_on(server: Server) -> None:
    pauses: list[float] = []
    server.refusals = [(429, "slow down"), (503, "")]
    assert hosted(server, "openai", pauses=pauses).query("abc").shape == (2,)
    # The server asks for a second, and our own pause of half a second doubles past it.
    assert pauses == [1.0, 2.0]
    # A server that stays busy is given up on.
    server.requests.clear()
    server.refusals = [(429, "slow down")] * 9
    with pytest.raises(ModelUnavailable, match="answered 429; slow down"):
        hosted(server, "openai", pauses=pauses).query("abc")
    assert len(server.requests) == 4


def test_a_refusal_says_what_to_do(server: Server) -> None:
    server.refusals = [(401, "bad key secret-key")]
    with pytest.raises(ModelUnavailable, match="check the key in the settings") as caught:
        hosted(server, "openai").query("abc")
    assert "secret" not in str(caught.value)
    assert len(server.requests) == 1
    # A model that ollama lacks names the command.
    server.requests.clear()
    server.refusals = [(404, "model not found")]
    with pytest.raises(ModelUnavailable, match="run: ollama pull some-model"):
        hosted(server, "ollama").query("abc")


def test_an_answer_of_another_form_is_an_error_of_ours(server: Server) -> None:
    for server.raw in ("not json", "[]", '{"data": [{}]}', '{"data": null}', '{"data": [1]}'):
        with pytest.raises(ModelUnavailable, match="not with vectors"):
            hosted(server, "openai").query("abc")


def test_missing_vectors_and_numbers_that_are_not_finite_are_errors(server: Server) -> None:
    server.raw = '{"embeddings": [[1, 2]]}'
    with pytest.raises(ModelUnavailable, match="returned 1 vectors for 2 texts"):
        hosted(server, "ollama").documents(["a", "b"])
    server.raw = '{"embeddings": [[NaN, 1.0]]}'
    with pytest.raises(ModelUnavailable, match="NaN or infinity"):
        hosted(server, "ollama").query("abc")


def test_vectors_of_another_width_are_an_error(server: Server) -> None:
    embedder = hosted(server, "ollama")
    embedder.query("abc")
    server.dims = 3
    with pytest.raises(ModelUnavailable, match="3 dimensions instead of 2"):
        embedder.query("abc")
    # A width that was not asked for is an error.
    with pytest.raises(ModelUnavailable, match="3 dimensions instead of 512"):
        hosted(server, "openai", dims=512).query("abc")


def test_a_long_text_is_sent_in_pieces(server: Server) -> None:
    hosted(server, "ollama").documents(["x" * 20_000])
    sent = [text for _, _, body in server.requests for text in body["input"]]
    # Every model of Ollama reads pieces of this size.
    assert max(map(len, sent)) <= 1_500
    assert sum(map(len, sent)) >= 20_000
    # A piece that the server refuses as too long is halved.
    server.requests.clear()
    server.longest = 300
    rows = hosted(server, "ollama").documents(["x" * 1000, "short"])
    assert rows.shape == (2, 2)
    assert all(body["truncate"] is False for _, _, body in server.requests)
    # A server for which everything is too long is given up on.
    server.requests.clear()
    server.longest = 0
    with pytest.raises(ModelUnavailable, match="too long"):
        hosted(server, "ollama").query("x" * 100)


def test_a_server_that_is_not_there_is_named() -> None:
    pauses: list[float] = []
    gone = Server(address="http://127.0.0.1:9")
    with pytest.raises(ModelUnavailable, match=r"ollama:some-model at http://127.0.0.1:9 cannot be reached"):
        hosted(gone, "ollama", pauses=pauses).query("abc")
    assert pauses == [0.5, 1.0, 2.0]


def test_a_service_that_needs_a_key_says_so_before_the_first_text() -> None:
    with pytest.raises(ModelUnavailable, match="openai:text-embedding-3-small needs a key"):
        embedder_named("openai:text-embedding-3-small")


def test_a_stored_name_brings_its_width_back(server: Server) -> None:
    embedder = embedder_named("ollama:some-model:latest@2", ModelOptions(base_url=server.address))
    assert embedder is not None
    assert embedder.model.name == "ollama:some-model:latest@2"


def test_the_key_is_not_in_what_options_print() -> None:
    assert "secret" not in repr(ModelOptions(key="secret-key"))
