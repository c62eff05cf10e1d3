"""Writes a model's network as onnxruntime optimises it, without its large weights, when its wheel is built.

To optimise it takes longer than all else that loading a model does, and always gives the same. The weights
are named by their places in the model's own file, as `recollect.models.onnx_graph` does. Only fusions that
every processor can run are made; an onnxruntime that cannot read the result, or finds none, optimises anew.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

# A build has Recollect beside it, not installed; this module of it needs nothing but Python.
sys.path.append(str(Path(__file__).parents[1] / "packages" / "recollect" / "src"))

from recollect.models.onnx_graph import mapped_graph


def optimised_graph(weights: Path) -> bytes | None:
    """None where no onnxruntime runs: there the model does not run either."""
    # It must be told before it is imported not to report its use over the network.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        onnxruntime = import_module("onnxruntime")
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.add_session_config_entry(
        "session.model_external_initializers_file_folder_path", str(weights.parent)
    )
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder) / "graph.onnx"
        options.optimized_model_filepath = str(made)
        onnxruntime.InferenceSession(mapped_graph(weights), options, providers=["CPUExecutionProvider"])
        return made.read_bytes()
