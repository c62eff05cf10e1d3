"""Transformer models as ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.windows import as_one, readable, windows
from recollect.models.loading import OnFirstUse, load_onnx, stored_model
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.models.registry import PackagedModel
    from recollect.ports import Vector, Vectors
    from recollect.records import Model

_OVERLAP = 64
"""Tokens that two neighbouring windows share, so that a sentence cut by one is whole in the other."""


class OnnxEmbedder:
    """Cheap to make: the weights are read when the first text comes. Safe between threads."""

    def __init__(self, packaged: PackagedModel, threads: int = 1) -> None:
        self._packaged = packaged
        self._model = stored_model(packaged)
        self._loaded = OnFirstUse(lambda: load_onnx(packaged, threads))

    @property
    def model(self) -> Model:
        return self._model

    def documents(self, texts: Sequence[str]) -> Vectors:
        prefix = self._packaged.document_prefix
        rows = np.empty((len(texts), self._model.dims), dtype=np.float32)
        # One text at a time: int8 models scale activations over the whole batch, so in company a text
        # would get another vector than alone (cosine down to .992), and batches are no faster on a CPU.
        for row, text in enumerate(texts):
            rows[row] = self._encoded(text, prefix)
        return rows

    def query(self, text: str) -> Vector:
        return self._encoded(text, self._packaged.query_prefix)

    def _encoded(self, text: str, prefix: str) -> Vector:
        loaded = self._loaded()
        runs = token_windows(loaded.tokenizer, text, prefix, self._packaged.tokens)
        return as_one(np.stack([self._pooled(loaded.run(ids)[0]) for ids in runs]))

    def _pooled(self, tokens: Vectors) -> Vector:
        return normalised(tokens[0] if self._packaged.pooling == "cls" else tokens.mean(axis=0))


def token_windows(tokenizer: Any, text: str, prefix: str, limit: int | None) -> Sequence[Sequence[int]]:
    """The ids to run: the whole text if it fits; else windows of it, each with the prefix and its frame."""
    ids: list[int] = tokenizer.encode(prefix + readable(text)).ids
    if limit is None or len(ids) <= limit:
        return [ids]
    frame = tokenizer.encode(prefix.rstrip())
    tail = next((n for n, special in enumerate(reversed(frame.special_tokens_mask)) if not special), 1)
    head = len(frame.ids) - tail
    body = ids[head : len(ids) - tail]
    room = limit - head - tail
    return [
        ids[:head] + body[window] + ids[len(ids) - tail :] for window in windows(len(body), room, _OVERLAP)
    ]
