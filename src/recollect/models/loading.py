"""Loads what models run on: optional libraries, tokenizers and ONNX files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.errors import ModelUnavailable
from recollect.lazy_dataclass import dataclass
from recollect.models.onnx_graph import graph_in_place
from recollect.models.registry import reinstall_command
from recollect.records import Model
from recollect.vectors import Rows, pack_vector

if TYPE_CHECKING:
    from recollect.models.registry import PackagedModel

_FINDS_WEIGHTS = (1, 21)
"""The onnxruntime that seeks a graph's weights in the folder it is told; 1.20 took any file of that name in
the working directory for them."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A network ready to run, with its tokenizer, which neither cuts nor pads."""

    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]

    def run(self, ids: Sequence[int], type_ids: Sequence[int] | None = None) -> Any:
        """The network's first output for one text, or for a pair whose types tell the two apart."""
        tokens = np.array([ids], dtype=np.int64)
        types = np.zeros_like(tokens) if type_ids is None else np.array([type_ids], dtype=np.int64)
        feeds = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": types}
        return self.session.run(None, {name: feeds[name] for name in self.inputs})[0]


def load_onnx(packaged: PackagedModel, threads: int) -> OnnxModel:
    runtime = import_library("onnxruntime", "pip install onnxruntime")
    try:
        session = _session(runtime, packaged, threads)
    except Exception as error:
        raise unreadable_files(packaged, error) from error
    inputs = tuple(given.name for given in session.get_inputs())
    return OnnxModel(session, load_tokenizer(packaged), inputs)


def load_tokenizer(packaged: PackagedModel) -> Any:
    """The model's tokenizer, which neither cuts nor pads."""
    library = import_library("tokenizers", "pip install tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(packaged.tokenizer))
    except Exception as error:
        raise unreadable_files(packaged, error) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def stored_model(packaged: PackagedModel) -> Model:
    """An embedder as stores know it."""
    centre = rotation = None
    if packaged.centre is not None and packaged.centre.is_file():
        centre = pack_vector(read_centre(packaged.centre))
    if packaged.rotation is not None and packaged.rotation.is_file():
        rotation = packaged.rotation.read_bytes()
    return Model(name=packaged.full_name, dims=packaged.dims, centre=centre, rotation=rotation)


def read_centre(path: Path) -> Rows:
    """A vector, written as a list of numbers."""
    return np.array(json.loads(path.read_text(encoding="utf-8")), dtype=np.float32)


def import_library(module: str, command: str) -> Any:
    """The module, or an error that names the command which installs it."""
    # onnxruntime reports its use over the network unless it is told not to before it is imported, here or by
    # a library that brings it along. What is remembered is nobody else's business.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251  # its only switch
    try:
        return import_module(module)
    except ImportError as error:
        missing = f"This model needs the library {module!r}, which cannot be imported ({error})"
        raise ModelUnavailable(f"{missing}; run: {command}") from error


def unreadable_files(packaged: PackagedModel, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"The files of the model {packaged.name!r} cannot be read ({error}); "
        f"run: {reinstall_command(packaged.distribution)}"
    )


def _session(runtime: Any, packaged: PackagedModel, threads: int) -> Any:
    """The model ready to run, with its weights shared between processes where that works."""
    # A link is followed first: weights are sought beside the graph, and never outside of that folder.
    weights = packaged.weights.resolve()
    providers = ["CPUExecutionProvider"]
    if tuple(map(int, runtime.__version__.split(".")[:2])) >= _FINDS_WEIGHTS:
        # No errors of their own: whole, the file loads, or tells what is wrong.
        if packaged.graph is not None:
            options = session_options(runtime, weights, threads)
            options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
            with suppress(Exception):
                return runtime.InferenceSession(packaged.graph.read_bytes(), options, providers=providers)
        options = session_options(runtime, weights, threads)
        with suppress(Exception):
            return runtime.InferenceSession(graph_in_place(weights), options, providers=providers)
    options = session_options(runtime, weights, threads)
    return runtime.InferenceSession(str(weights), options, providers=providers)


def session_options(runtime: Any, weights: Path, threads: int) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    # A waiting thread would otherwise spin, and take the core from whoever has work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.parent)
    )
    return options
