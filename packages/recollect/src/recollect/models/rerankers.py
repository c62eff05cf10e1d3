"""Cross-encoders as ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recollect.models.packaged import OnnxModel, load_onnx, readable
from recollect.models.registry import RERANKER, made_once, ready_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.models.registry import PackagedModel
    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Reranker

# A token is a letter at least, and few are longer than this: what is beyond can never be read.
_LETTERS_PER_TOKEN = 32


def reranker_named(name: str, threads: int = 1) -> Reranker:
    """The re-ranker of a short name. Nothing is loaded before the first query."""
    return _cross_encoder(ready_model(name, RERANKER), threads)


class CrossEncoder:
    """Cheap to make: the weights are read when the first query comes. Safe between threads."""

    def __init__(self, packaged: PackagedModel, threads: int = 1) -> None:
        self.name = packaged.full_name
        self._packaged = packaged
        self._loaded = made_once(lambda: _load(packaged, threads))

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """A logit per text. Of a pair that is too long together, the longer one is cut at its end."""
        # One pair at a time: int8 models scale activations over the whole batch, so in company a pair would
        # get another score than alone, and batches are no faster on a CPU.
        return np.array([self._score(query, text) for text in texts], dtype=np.float64)

    def _score(self, query: str, text: str) -> float:
        loaded = self._loaded()
        tokens = self._packaged.tokens
        letters = None if tokens is None else _LETTERS_PER_TOKEN * tokens
        pair = loaded.tokenizer.encode(readable(query[:letters]), readable(text[:letters]))
        return float(loaded.run(pair.ids, pair.type_ids).reshape(-1)[0])


def _load(packaged: PackagedModel, threads: int) -> OnnxModel:
    loaded = load_onnx(packaged, threads)
    if packaged.tokens is not None:
        loaded.tokenizer.enable_truncation(packaged.tokens, strategy="longest_first")
    return loaded


_cross_encoder = made_once(CrossEncoder)
