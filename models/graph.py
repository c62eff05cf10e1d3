"""Saves a model's network as onnxruntime optimises it, without its large weights: `graph.onnx`.

To optimise it takes longer than all else that loading a model does, and always gives the same. Run with the
models installed, after a change of the weights:

    python models/graph.py arctic-s

It names the weights by their places in the model's own file, as `recollect.models.onnx_graph` does.
Only fusions that every processor can run are made; an onnxruntime that cannot read the file optimises anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from recollect.models.loading import import_library, session_options
from recollect.models.onnx_graph import graph_in_place
from recollect.models.registry import packaged_model

HERE = Path(__file__).parent


def save(name: str) -> None:
    model = packaged_model(name)
    if model is None:
        raise SystemExit(f"{name!r} is not installed.")
    runtime = import_library("onnxruntime", "pip install onnxruntime")
    weights = model.weights.resolve()
    path = HERE / name / f"recollect_model_{name.replace('-', '_')}" / "graph.onnx"
    options = session_options(runtime, weights, threads=1)
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = str(path)
    runtime.InferenceSession(graph_in_place(weights), options, providers=["CPUExecutionProvider"])
    print(f"{path.relative_to(HERE)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    for each in sys.argv[1:]:
        save(each)
