"""Models run by other libraries: fastembed, sentence-transformers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.windows import PiecewiseEmbedder, Role, prefixes
from recollect.errors import ModelUnavailable
from recollect.models.loading import import_library
from recollect.models.registry import is_importable, made_once
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.ports import Vectors

_UNSEEN_LIMIT_CHARACTERS = 1_500
"""Where a library hides its tokenizer: some 512 tokens of English."""


class LibraryEmbedder(PiecewiseEmbedder):
    """Loads on first use, which may download the model."""

    library: str
    """As in the model's name."""

    def __init__(self, name: str, command: str, threads: int = 1) -> None:
        super().__init__(f"{self.library}:{name}")
        self._name, self._command, self._threads = name, command, threads
        self._module = self.library.replace("-", "_")
        # Now, so that a missing library is known when the model is chosen, not at the first text.
        if not is_importable(self._module):
            raise ModelUnavailable(f"{self._full_name} needs the library {self.library!r}; run: {command}")
        self._loaded = made_once(self._load)

    @abstractmethod
    def _open(self, library: Any) -> Any:
        """The model, by the library's own means."""

    def _load(self) -> Any:
        library = import_library(self._module, self._command)
        try:
            return self._open(library)
        except Exception as error:
            problem = f"{self._full_name} cannot be loaded ({error})"
            raise ModelUnavailable(
                f"{problem}; check the name, and that its files can be downloaded"
            ) from error


class FastembedEmbedder(LibraryEmbedder):
    """One text at a time, as many of its models are quantised: see `packaged.py`."""

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
        # It cuts at the model's limit, and keeps what it cut off.
        longer = max(prefixes(self._name).values(), key=len)
        return not tokenizer.encode(longer + text).overflowing


class SentenceTransformersEmbedder(LibraryEmbedder):
    """In batches, for those who have a GPU: so in other company a text may differ in the last digit."""

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
        # Less than the limit, for the prompt that the library puts before the text.
        tokens: int = len(model.tokenizer(text, verbose=False)["input_ids"])
        return tokens <= limit - limit // 16


LIBRARIES: Mapping[str, type[LibraryEmbedder]] = {
    each.library: each for each in (FastembedEmbedder, SentenceTransformersEmbedder)
}
