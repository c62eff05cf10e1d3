"""Transformer models as ONNX files, run by onnxruntime on the CPU."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.in_place import graph_in_place
from recollect.embedders.loading import damaged, described_model, load_tokenizer
from recollect.embedders.optional import imported
from recollect.embedders.windows import as_one, readable, windows
from recollect.vectors import normalised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect.embedders.packaged import Packaged
    from recollect.ports import Vector, Vectors
    from recollect.records import Model

_OVERLAP = 64
"""Tokens that two neighbouring windows share, so that a sentence cut by one is whole in the other."""
_FINDS_WEIGHTS = (1, 21)
"""The onnxruntime that seeks a graph's weights in the folder it is told; 1.20 took any file of that name in
the working directory for them."""


class OnnxEmbedder:
    """Cheap to make: the weights are read when the first text comes, or on `warm`. Safe between threads."""

    def __init__(self, packaged: Packaged, threads: int = 1) -> None:
        self._packaged = packaged
        self._threads = threads
        self._model = described_model(packaged)
        self._loading = Lock()
        self._loaded: _Loaded | None = None

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
        loaded = self._ready()
        runs = token_windows(loaded.tokenizer, text, prefix, self._packaged.tokens)
        return as_one(np.stack([self._run(loaded, ids) for ids in runs]))

    def _run(self, loaded: _Loaded, ids: Sequence[int]) -> Vector:
        tokens = np.array([ids], dtype=np.int64)
        feeds = {
            "input_ids": tokens,
            "attention_mask": np.ones_like(tokens),
            "token_type_ids": np.zeros_like(tokens),
        }
        output = loaded.session.run(None, {name: feeds[name] for name in loaded.inputs})[0]
        return normalised(output[0, 0] if self._packaged.pooling == "cls" else output[0].mean(axis=0))

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


def _load(packaged: Packaged, threads: int) -> _Loaded:
    runtime = imported("onnxruntime", command="pip install onnxruntime")
    try:
        session = session_of(runtime, packaged.weights, threads)
    except Exception as error:
        raise damaged(packaged, error) from error
    inputs = tuple(given.name for given in session.get_inputs())
    return _Loaded(session, load_tokenizer(packaged), inputs)


def session_of(runtime: Any, file: Path, threads: int) -> Any:
    """The file ready to run, with its weights shared between processes where that works."""
    # A link is followed first: weights are sought beside the graph, and never outside of that folder.
    weights = file.resolve()
    return _sharing(runtime, weights, threads) or _session(runtime, str(weights), weights, threads)


def _sharing(runtime: Any, weights: Path, threads: int) -> Any | None:
    """A session that maps its weights, as other processes do; None where the file must be loaded whole."""
    if tuple(map(int, runtime.__version__.split(".")[:2])) < _FINDS_WEIGHTS:
        return None
    try:
        return _session(runtime, graph_in_place(weights), weights, threads)
    except Exception:  # noqa: BLE001  # no error of its own: whole, the file loads, or tells what is wrong
        return None


def _session(runtime: Any, graph: bytes | str, weights: Path, threads: int) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A waiting thread would otherwise spin, and take the core from whoever has work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.parent)
    )
    return runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


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
