"""Embedding models of HTTP services (OpenAI and compatible, Gemini, Ollama) and of other libraries."""

from __future__ import annotations

import json
import time
from abc import abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import normalised
from recollect.models.packaged import PiecewiseEmbedder, Role, as_one, halves, import_library, prefixes
from recollect.models.registry import is_importable, make_once
from recollect.models.remote import Remote, Unreachable, http_library

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from recollect.models.embedders import ModelOptions
    from recollect.stores.port import Vectors


Body = dict[str, Any]
_CHECK_KEY = "check the key in the settings"
# Words that services use when they refuse a text as too long.
_OF_LENGTH = ("context length", "too long", "too large", "maximum", "tokens")


def _inputs(model: str, texts: Sequence[str], role: Role, options: Body) -> Body:
    prefix = prefixes(model)[role]
    return {"model": model, "input": [prefix + text for text in texts], **options}


def _gemini_requests(model: str, texts: Sequence[str], role: Role, options: Body) -> Body:
    task = "RETRIEVAL_QUERY" if role is Role.QUERY else "RETRIEVAL_DOCUMENT"
    asked = {"model": f"models/{model}", "taskType": task, **options}
    return {"requests": [asked | {"content": {"parts": [{"text": text}]}} for text in texts]}


def _openai_vectors(answer: Any) -> Sequence[Sequence[float]]:
    return [item["embedding"] for item in sorted(answer["data"], key=lambda item: item["index"])]


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """The protocol of a service: how to send texts, and where its answers contain the vectors."""

    address: str
    """The address of the service, unless the settings name another."""
    path: str
    """The path of requests; it may contain the model's name."""
    characters: int
    """The longest text sent in one piece, in characters. It fits the service's limit in any script."""
    vectors: Callable[[Any], Sequence[Sequence[float]]]
    """Return an answer's vectors in the order of the texts; KeyError, TypeError or IndexError for others."""
    advice: Mapping[int, str]
    """Advice for a refusal, by its status."""
    body: Callable[[str, Sequence[str], Role, Body], Body] = _inputs
    options: Body = field(default_factory=dict)
    """Fields of every request besides the texts."""
    width: str = "dimensions"
    """The field of a request that asks for narrower vectors."""
    key_header: str = "Authorization"
    """Keys are sent in a header, not in the address, which ends up in logs and error messages."""
    key_scheme: str = "Bearer "
    needs_key: bool = True
    """Whether the service at that address requires a key."""
    batch: int = 64
    """Maximum number of texts in a request."""


SERVICES: Mapping[str, EmbeddingService] = {
    "openai": EmbeddingService(
        "https://api.openai.com/v1",
        "/embeddings",
        6_000,
        _openai_vectors,
        {
            401: _CHECK_KEY,
            403: _CHECK_KEY,
            404: "check the base URL and that it serves a model named {model!r}",
        },
        options={"encoding_format": "float"},
    ),
    # Gemini truncates long texts silently, so only texts that surely fit are sent. A wrong key gets a 400.
    "gemini": EmbeddingService(
        "https://generativelanguage.googleapis.com/v1beta",
        "/models/{model}:batchEmbedContents",
        2_000,
        lambda answer: [item["values"] for item in answer["embeddings"]],
        {
            **dict.fromkeys((400, 401, 403), _CHECK_KEY),
            404: "check that there is an embedding model named {model!r}",
        },
        body=_gemini_requests,
        width="outputDimensionality",
        key_header="x-goog-api-key",
        key_scheme="",
    ),
    "ollama": EmbeddingService(
        "http://127.0.0.1:11434",
        "/api/embed",
        1_500,
        lambda answer: answer["embeddings"],
        {404: "run: ollama pull {model}"},
        # Refuse instead of truncating: a refused text is halved and sent again.
        options={"truncate": False},
        needs_key=False,
        batch=16,
    ),
}


class HostedEmbedder(PiecewiseEmbedder):
    """An embedder on a server. A text that is too long for the server is halved."""

    def __init__(
        self, kind: str, name: str, options: ModelOptions, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        # Vectors of different widths cannot be compared, so a requested width is part of the name.
        super().__init__(f"{kind}:{name}" + (f"@{options.dims}" if options.dims else ""))
        service = self._service = SERVICES[kind]
        self._kind, self._name, self._options = kind, name, options
        if service.needs_key and not options.key and not options.base_url:
            raise ModelUnavailable(f"{kind}:{name} needs a key; give one in the settings")
        headers = {service.key_header: service.key_scheme + options.key} if options.key else {}
        address = options.base_url or service.address
        self._remote = Remote(address, headers, options.timeout_seconds, sleep)
        try:
            http_library()
        except Unreachable as error:
            raise self._failure(str(error)) from error

    def _fits(self, text: str) -> bool:
        return len(text) <= self._service.characters

    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        size = self._service.batch
        parts = [self._halving(texts[start : start + size], role) for start in range(0, len(texts), size)]
        return np.concatenate(parts)

    def _halving(self, texts: Sequence[str], role: Role) -> Vectors:
        """Request vectors. If a batch is too long, send its texts one by one; halve a text if too long."""
        try:
            return self._request_vectors(texts, role)
        except _TooLong:
            if len(texts) > 1:
                return np.concatenate([self._halving([text], role) for text in texts])
            if len(texts[0]) < 64:
                raise
            return as_one(self._halving(halves(texts[0]), role))[np.newaxis]

    def _request_vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        service, dims = self._service, self._options.dims
        options = service.options | ({service.width: dims} if dims else {})
        # A service may refuse an empty text, but not a space.
        body = service.body(self._name, [text or " " for text in texts], role, options)
        try:
            answer = self._remote.post(service.path.format(model=self._name), body)
        except Unreachable as error:
            raise self._failure(str(error)) from error
        if not answer.is_ok:
            if answer.status in {400, 413} and any(words in answer.text.lower() for words in _OF_LENGTH):
                raise _TooLong(f"{self._kind}:{self._name} refuses even a short text as too long")
            advice = service.advice.get(answer.status, "")
            raise self._failure(answer.refusal(advice.format(model=self._name)))
        try:
            rows = np.array(service.vectors(json.loads(answer.text)), dtype=np.float32)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise self._failure("answered, but not with vectors; check the base URL") from error
        if rows.ndim != 2 or len(rows) != len(texts):
            raise self._failure(f"returned {len(rows)} vectors for {len(texts)} texts")
        if not np.isfinite(rows).all():
            raise self._failure("returned a vector with NaN or infinity")
        expected = dims or self._dims
        if expected not in {None, rows.shape[1]}:
            raise self._failure(f"returned vectors of {rows.shape[1]} dimensions instead of {expected}")
        self._dims = rows.shape[1]
        return normalised(rows)

    def _failure(self, what: str) -> ModelUnavailable:
        return ModelUnavailable(f"{self._kind}:{self._name} at {self._remote.address} {what}")


class _TooLong(ModelUnavailable):
    """The server refuses the length of a request."""


# Models run by other libraries: fastembed, sentence-transformers.

_UNSEEN_LIMIT_CHARACTERS = 1_500
"""The longest piece for a library that hides its tokenizer: about 512 tokens of English."""


class LibraryEmbedder(PiecewiseEmbedder):
    """An embedder that a library runs. The first use loads the model, and may download it."""

    library: str
    """The library's name, with which the model's name begins."""

    def __init__(self, name: str, command: str, threads: int = 1) -> None:
        super().__init__(f"{self.library}:{name}")
        self._name, self._threads = name, threads
        module = self.library.replace("-", "_")
        # Check now, so that a missing library is reported when the model is chosen, not at the first text.
        if not is_importable(module):
            raise ModelUnavailable(f"{self._full_name} needs the library {self.library!r}; run: {command}")

        def load() -> Any:
            library = import_library(module, command)
            try:
                return self._open(library)
            except Exception as error:
                problem = f"{self._full_name} cannot be loaded ({error})"
                raise ModelUnavailable(
                    f"{problem}; check the name, and that its files can be downloaded"
                ) from error

        self._loaded = make_once(load)

    @abstractmethod
    def _open(self, library: Any) -> Any:
        """Open the model with the library."""


class FastembedEmbedder(LibraryEmbedder):
    """Runs models with fastembed, one text at a time: many are quantised (see `packaged.py`)."""

    library = "fastembed"

    def _open(self, library: Any) -> Any:
        return library.TextEmbedding(model_name=self._name, threads=self._threads)

    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self._loaded()
        embed = model.query_embed if role is Role.QUERY else model.passage_embed
        prefix = prefixes(self._name)[role]
        return normalised(np.stack(list(embed([prefix + text for text in texts], batch_size=1))))

    def _fits(self, text: str) -> bool:
        tokenizer = getattr(getattr(self._loaded(), "model", None), "tokenizer", None)
        if tokenizer is None:
            return len(text) <= _UNSEEN_LIMIT_CHARACTERS
        # The tokenizer cuts at the model's limit; `overflowing` is what it cut off.
        longer = max(prefixes(self._name).values(), key=len)
        return not tokenizer.encode(longer + text).overflowing


class SentenceTransformersEmbedder(LibraryEmbedder):
    """Runs models in batches, for GPUs. A vector's last digit may depend on other texts of its batch."""

    library = "sentence-transformers"

    def _open(self, library: Any) -> Any:
        return library.SentenceTransformer(self._name)

    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        model = self._loaded()
        encode = model.encode_query if role is Role.QUERY else model.encode_document
        return normalised(encode(list(texts), show_progress_bar=False))

    def _fits(self, text: str) -> bool:
        model = self._loaded()
        limit: int | None = model.max_seq_length
        if limit is None:
            return True
        # Leave room for the prompt that the library puts before the text.
        tokens: int = len(model.tokenizer(text, verbose=False)["input_ids"])
        return tokens <= limit - limit // 16


LIBRARIES: Mapping[str, type[LibraryEmbedder]] = {
    each.library: each for each in (FastembedEmbedder, SentenceTransformersEmbedder)
}
