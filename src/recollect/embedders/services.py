"""How three kinds of embedding service are spoken to: what to send, where the answer holds the vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.embedders.windows import Role

_SEARCHING = "Represent this sentence for searching relevant passages: "

# What open models were trained to see before a query and before a document, where neither server nor library
# adds it. The first part that a name contains decides.
_PREFIXES = (
    ("instruct", "", ""),  # these want an instruction that only the user knows
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed-large", _SEARCHING, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _SEARCHING, ""),
    ("bge-small-en", _SEARCHING, ""),
    ("bge-base-en", _SEARCHING, ""),
    ("bge-large-en", _SEARCHING, ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("e5-small", "query: ", "passage: "),
    ("e5-base", "query: ", "passage: "),
    ("e5-large", "query: ", "passage: "),
)


def prefixes(model: str) -> Mapping[Role, str]:
    """What stands before a text; nothing where we know of nothing."""
    plain = model.lower()
    found = next((rest for part, *rest in _PREFIXES if part in plain), ["", ""])
    return {Role.QUERY: found[0], Role.DOCUMENT: found[1]}


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """OpenAI, and the many servers that speak its protocol. Nothing here does input or output."""

    address: str = "https://api.openai.com/v1"
    """Where the service is, if settings do not say."""
    needs_key: bool = True
    """Whether the service at that address refuses to answer without one."""
    batch: int = 64
    """How many texts to send at once."""
    characters: int = 6_000
    """How long a text to send in one piece; short enough for the service's limit in any script."""

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(
        self, model: str, texts: Sequence[str], role: Role, dims: int | None
    ) -> tuple[str, Mapping[str, Any]]:
        """The path and the JSON to post to it."""
        more = {"encoding_format": "float"} | ({"dimensions": dims} if dims else {})
        return "/embeddings", _input(model, texts, role) | more

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        """In the order of the texts. KeyError, TypeError or IndexError where the answer has another form."""
        return [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]

    def advice(self, status: int, model: str) -> str:
        """What to do about a refusal."""
        if status in {401, 403}:
            return "check the key in the settings"
        return f"check the base URL and that it serves a model named {model!r}" if status == 404 else ""


@dataclass(frozen=True, slots=True)
class Gemini(EmbeddingService):
    """Google's Gemini API. It cuts long texts without a word, so we send only what it surely reads."""

    address: str = "https://generativelanguage.googleapis.com/v1beta"
    characters: int = 2_000

    def headers(self, key: str | None) -> Mapping[str, str]:
        # In a header, not in the address, which ends up in logs and error messages.
        return {"x-goog-api-key": key} if key else {}

    def request(
        self, model: str, texts: Sequence[str], role: Role, dims: int | None
    ) -> tuple[str, Mapping[str, Any]]:
        asked = {
            "model": f"models/{model}",
            "taskType": "RETRIEVAL_QUERY" if role is Role.QUERY else "RETRIEVAL_DOCUMENT",
        } | ({"outputDimensionality": dims} if dims else {})
        requests = [asked | {"content": {"parts": [{"text": text}]}} for text in texts]
        return f"/models/{model}:batchEmbedContents", {"requests": requests}

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        return [item["values"] for item in answer["embeddings"]]

    def advice(self, status: int, model: str) -> str:
        # A wrong key is a 400 here.
        if status in {400, 401, 403}:
            return "check the key in the settings"
        return f"check that there is an embedding model named {model!r}" if status == 404 else ""


@dataclass(frozen=True, slots=True)
class Ollama(EmbeddingService):
    """A local Ollama."""

    address: str = "http://127.0.0.1:11434"
    needs_key: bool = False
    batch: int = 16
    characters: int = 1_500

    def request(
        self, model: str, texts: Sequence[str], role: Role, dims: int | None
    ) -> tuple[str, Mapping[str, Any]]:
        # Better refused than cut: a refused text is halved and sent again.
        more = {"truncate": False} | ({"dimensions": dims} if dims else {})
        return "/api/embed", _input(model, texts, role) | more

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        vectors: Sequence[Sequence[float]] = answer["embeddings"]
        return vectors

    def advice(self, status: int, model: str) -> str:
        return f"run: ollama pull {model}" if status == 404 else ""


def _input(model: str, texts: Sequence[str], role: Role) -> dict[str, Any]:
    prefix = prefixes(model)[role]
    return {"model": model, "input": [prefix + text for text in texts]}


SERVICES: Mapping[str, EmbeddingService] = {
    "openai": EmbeddingService(),
    "gemini": Gemini(),
    "ollama": Ollama(),
}
