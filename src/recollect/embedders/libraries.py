"""Models run by other libraries: fastembed, sentence-transformers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.optional import imported, is_there
from recollect.embedders.prefixes import prefixes
from recollect.embedders.windows import read_whole
from recollect.errors import ModelUnavailable
from recollect.records import Model
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.ports import Vector, Vectors

_UNSEEN_LIMIT_CHARACTERS = 1_500
"""Where a library hides its tokenizer: some 512 tokens of English."""


class _LibraryEmbedder(ABC):
    """Loads on first use, which may download the model; its width is learned then."""

    library: str
    """As in the model's name."""
    module: str

    def __init__(self, name: str, command: str) -> None:
        self._name, self._command = name, command
        # Now, so that a missing library is known when the model is chosen, not at the first text.
        if not is_there(self.module):
            raise ModelUnavailable(
                f"{self.library}:{name} needs the library {self.library!r}; run: {command}"
            )
        self._loading = Lock()
        self._running: Any = None
        self._dims: int | None = None

    @property
    def model(self) -> Model:
        if self._dims is None:
            self.query("width")
        return Model(name=f"{self.library}:{self._name}", dims=self._dims or 0)

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.model.dims), dtype=np.float32)
        running = self._ready()
        return self._kept(read_whole(lambda pieces: self._documents(running, pieces), texts, self._fits))

    def query(self, text: str) -> Vector:
        running = self._ready()
        rows = self._kept(read_whole(lambda pieces: self._queries(running, pieces), [text], self._fits))
        row: Vector = rows[0]
        return row

    @abstractmethod
    def _load(self, library: Any) -> Any: ...

    @abstractmethod
    def _documents(self, running: Any, texts: Sequence[str]) -> Vectors: ...

    @abstractmethod
    def _queries(self, running: Any, texts: Sequence[str]) -> Vectors: ...

    @abstractmethod
    def _fits(self, text: str) -> bool: ...

    def _kept(self, rows: Vectors) -> Vectors:
        self._dims = rows.shape[1]
        return rows

    def _ready(self) -> Any:
        if self._running is None:
            with self._loading:
                if self._running is None:
                    self._running = self._started()
        return self._running

    def _started(self) -> Any:
        library = imported(self.module, command=self._command)
        try:
            return self._load(library)
        except Exception as error:
            name = f"{self.library}:{self._name}"
            raise ModelUnavailable(
                f"{name} cannot be loaded ({error}); check the name, and that its files can be downloaded"
            ) from error


class FastembedEmbedder(_LibraryEmbedder):
    """One text at a time, as many of its models are quantised: see `onnx.py`."""

    library = "fastembed"
    module = "fastembed"

    def __init__(self, name: str, command: str, threads: int = 1) -> None:
        super().__init__(name, command)
        self._threads = threads
        self._query_prefix, self._document_prefix = prefixes(name)

    def _load(self, library: Any) -> Any:
        return library.TextEmbedding(model_name=self._name, threads=self._threads)

    def _documents(self, running: Any, texts: Sequence[str]) -> Vectors:
        prefixed = [self._document_prefix + text for text in texts]
        return normalised(np.stack(list(running.passage_embed(prefixed, batch_size=1))))

    def _queries(self, running: Any, texts: Sequence[str]) -> Vectors:
        prefixed = [self._query_prefix + text for text in texts]
        return normalised(np.stack(list(running.query_embed(prefixed, batch_size=1))))

    def _fits(self, text: str) -> bool:
        tokenizer = getattr(getattr(self._running, "model", None), "tokenizer", None)
        if tokenizer is None:
            return len(text) <= _UNSEEN_LIMIT_CHARACTERS
        # It cuts at the model's limit, and keeps what it cut off.
        longer = max(self._query_prefix, self._document_prefix, key=len)
        return not tokenizer.encode(longer + text).overflowing


class SentenceTransformersEmbedder(_LibraryEmbedder):
    """In batches, for those who have a GPU: so in other company a text may differ in the last digit."""

    library = "sentence-transformers"
    module = "sentence_transformers"

    def _load(self, library: Any) -> Any:
        return library.SentenceTransformer(self._name)

    def _documents(self, running: Any, texts: Sequence[str]) -> Vectors:
        return normalised(running.encode_document(list(texts), show_progress_bar=False))

    def _queries(self, running: Any, texts: Sequence[str]) -> Vectors:
        return normalised(running.encode_query(list(texts), show_progress_bar=False))

    def _fits(self, text: str) -> bool:
        limit: int | None = self._running.max_seq_length
        if limit is None:
            return True
        # Less than the limit, for the prompt that the library puts before the text.
        tokens: int = len(self._running.tokenizer(text, verbose=False)["input_ids"])
        return tokens <= limit - limit // 16
