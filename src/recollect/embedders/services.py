"""How three kinds of embedding service are spoken to: what to send, where the answer holds the vectors."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from recollect.embedders.prefixes import prefixes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Role(StrEnum):
    """Models tell a question from what may answer it."""

    QUERY = "query"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Request:
    """A POST of JSON."""

    path: str
    body: Mapping[str, Any]


class Service(Protocol):
    """One wire protocol. Nothing here does input or output."""

    @property
    def address(self) -> str:
        """Where the service is, if settings do not say."""
        ...

    @property
    def needs_key(self) -> bool:
        """Whether the service at that address refuses to answer without one."""
        ...

    @property
    def batch(self) -> int:
        """How many texts to send at once."""
        ...

    @property
    def characters(self) -> int:
        """How long a text to send in one piece; short enough for the service's limit in any script."""
        ...

    def headers(self, key: str | None) -> Mapping[str, str]: ...

    def request(self, model: str, texts: Sequence[str], role: Role, dims: int | None) -> Request: ...

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        """In the order of the texts. KeyError, TypeError or IndexError where the answer has another form."""
        ...

    def advice(self, status: int, model: str) -> str:
        """What to do about a refusal."""
        ...


@dataclass(frozen=True, slots=True)
class OpenAI:
    """OpenAI, and the many servers that speak its protocol."""

    address: str = "https://api.openai.com/v1"
    needs_key: bool = True
    batch: int = 64
    characters: int = 6_000

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, model: str, texts: Sequence[str], role: Role, dims: int | None) -> Request:
        query, document = prefixes(model)
        prefix = query if role is Role.QUERY else document
        body: dict[str, Any] = {
            "model": model,
            "input": [prefix + text for text in texts],
            "encoding_format": "float",
        }
        return Request("/embeddings", body | ({"dimensions": dims} if dims else {}))

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        return [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]

    def advice(self, status: int, model: str) -> str:
        if status in {401, 403}:
            return "check the key in the settings"
        return f"check the base URL and that it serves a model named {model!r}" if status == 404 else ""


@dataclass(frozen=True, slots=True)
class Gemini:
    """Google's Gemini API. It cuts long texts without a word, so we send only what it surely reads."""

    address: str = "https://generativelanguage.googleapis.com/v1beta"
    needs_key: bool = True
    batch: int = 64
    characters: int = 2_000

    def headers(self, key: str | None) -> Mapping[str, str]:
        # In a header, not in the address, which ends up in logs and error messages.
        return {"x-goog-api-key": key} if key else {}

    def request(self, model: str, texts: Sequence[str], role: Role, dims: int | None) -> Request:
        asked = {
            "model": f"models/{model}",
            "taskType": "RETRIEVAL_QUERY" if role is Role.QUERY else "RETRIEVAL_DOCUMENT",
        } | ({"outputDimensionality": dims} if dims else {})
        requests = [asked | {"content": {"parts": [{"text": text}]}} for text in texts]
        return Request(f"/models/{model}:batchEmbedContents", {"requests": requests})

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        return [item["values"] for item in answer["embeddings"]]

    def advice(self, status: int, model: str) -> str:
        # A wrong key is a 400 here.
        if status in {400, 401, 403}:
            return "check the key in the settings"
        return f"check that there is an embedding model named {model!r}" if status == 404 else ""


@dataclass(frozen=True, slots=True)
class Ollama:
    """A local Ollama."""

    address: str = "http://127.0.0.1:11434"
    needs_key: bool = False
    batch: int = 16
    characters: int = 1_500

    def headers(self, key: str | None) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, model: str, texts: Sequence[str], role: Role, dims: int | None) -> Request:
        query, document = prefixes(model)
        prefix = query if role is Role.QUERY else document
        body: dict[str, Any] = {
            "model": model,
            "input": [prefix + text for text in texts],
            # Better refused than cut: a refused text is halved and sent again.
            "truncate": False,
        }
        return Request("/api/embed", body | ({"dimensions": dims} if dims else {}))

    def vectors(self, answer: Any) -> Sequence[Sequence[float]]:
        vectors: Sequence[Sequence[float]] = answer["embeddings"]
        return vectors

    def advice(self, status: int, model: str) -> str:
        return f"run: ollama pull {model}" if status == 404 else ""


SERVICES: Mapping[str, Service] = {"openai": OpenAI(), "gemini": Gemini(), "ollama": Ollama()}
