"""Puts a model's fetched and checked weights, and what is made of them, into its wheel. For all models."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

# Hatchling is only in the build environment, and carries no types: hence the two ignores.
from hatchling.builders.hooks.plugin.interface import (  # type: ignore[import-not-found,unused-ignore]
    BuildHookInterface,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

# Hatchling runs this file by its path, so its neighbours are not yet importable.
sys.path.insert(0, str(Path(__file__).parent))

from fetch import converted_files, fetched, write


class ModelWeights(BuildHookInterface):  # type: ignore[misc,unused-ignore]
    """Runs once per build, before the wheel's files are listed."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root)
        if self.target_name != "wheel":
            raise SystemExit(f"A model is published as a wheel only: uv build --wheel models/{folder.name}")
        if version == "editable":
            raise SystemExit(f"A model is data, with nothing to edit: pip install models/{folder.name}")
        (package,) = folder.glob("recollect_model_*")
        files = fetched(package / "model.json", folder / "weights")
        files = converted_files(package / "model.json", files)
        files = _merged(package / "model.json", files)
        files = {**files, **_graph(package / "model.json", files)}
        for name, path in files.items():
            build_data["force_include"][str(path)] = f"{package.name}/{name}"


def _merged(descriptor: Path, files: Mapping[str, Path]) -> Mapping[str, Path]:
    """The files with the adapter added to the weights, where the descriptor names one."""
    model = json.loads(descriptor.read_text(encoding="utf-8"))
    if "merged" not in model:
        return files
    from merge import merge_adapter, read_adapter

    plan = model["merged"]
    base = files[plan["base"]]
    made = merge_adapter(base.read_bytes(), read_adapter(descriptor.parents[1] / plan["adapter"]))
    found = hashlib.sha256(made).hexdigest()
    if found != plan["sha256"]:
        raise SystemExit(
            f"The merged weights of {model['name']} have the sha256 {found}, but model.json pins "
            f"{plan['sha256']}. The adapter, the base or models/merge.py is another than when it was pinned."
        )
    path = base.with_name(model["weights"])
    write(path, made)
    return {path.name: path, **{name: kept for name, kept in files.items() if name != plan["base"]}}


def _graph(descriptor: Path, files: Mapping[str, Path]) -> Mapping[str, Path]:
    """The optimised network, where the descriptor names one and onnxruntime runs here."""
    model = json.loads(descriptor.read_text(encoding="utf-8"))
    if "graph" not in model:
        return {}
    from graph import optimised_graph

    weights = files[model["weights"]]
    made = optimised_graph(weights)
    if made is None:
        return {}
    path = weights.with_name(model["graph"])
    write(path, made)
    return {path.name: path}
