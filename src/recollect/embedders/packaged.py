"""Models installed as data-only wheels: packages named `recollect_model_…` that hold a descriptor."""

from __future__ import annotations

import json
import pkgutil
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from recollect.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PREFIX = "recollect_model_"
RERANKER = _PREFIX + "rerank_"
"""How the packages of models begin that make no vectors, and so are none of ours here."""


@dataclass(frozen=True, slots=True)
class Packaged:
    """What the descriptor of a model says, and where its files are."""

    name: str
    revision: str
    """Changes with anything that changes vectors: weights, tokenizer, pooling, prefixes."""
    title: str
    languages: tuple[str, ...]
    architecture: Literal["onnx", "static"]
    dims: int
    tokens: int | None
    """The most one run of the model can read; None where there is no limit."""
    pooling: Literal["cls", "mean"]
    query_prefix: str
    document_prefix: str
    weights: Path
    tokenizer: Path
    centre: Path | None
    rotation: Path | None = None
    """None for a model whose first numbers weigh the most as it is, as in Matryoshka training."""

    @property
    def full_name(self) -> str:
        """What a store writes beside its vectors: vectors of two such names are never compared."""
        return f"{self.name}@{self.revision}"

    @property
    def libraries(self) -> tuple[str, ...]:
        """The modules that running this model imports."""
        return ("onnxruntime", "tokenizers") if self.architecture == "onnx" else ("tokenizers",)


def packaged(name: str) -> Packaged | None:
    """The installed model of this short name."""
    module = _PREFIX + name.replace("-", "_")
    try:
        spec = None if module.startswith(RERANKER) else find_spec(module)
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        return None
    return described(Path(spec.submodule_search_locations[0]))


def packaged_names() -> Sequence[str]:
    """The short names of all installed models; also of those made elsewhere under our naming."""
    names = {module.name for module in pkgutil.iter_modules() if module.name.startswith(_PREFIX)}
    ours = (name for name in names if not name.startswith(RERANKER))
    return sorted(name.removeprefix(_PREFIX).replace("_", "-") for name in ours)


def described(folder: Path) -> Packaged:
    """Read `model.json` in the folder. The weights are not touched."""
    path = folder / "model.json"
    try:
        return _parsed(json.loads(path.read_text(encoding="utf-8")), folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"The model package {folder.name} is damaged: {path.name}: {error!r}"
        raise ModelUnavailable(f"{problem}; install it again") from error


def _parsed(fields: Mapping[str, Any], folder: Path) -> Packaged:
    if fields["architecture"] not in {"onnx", "static"} or fields["pooling"] not in {"cls", "mean"}:
        raise ValueError(f"unknown architecture or pooling: {fields['architecture']}, {fields['pooling']}")
    return Packaged(
        name=fields["name"],
        revision=fields["revision"],
        title=fields["title"],
        languages=tuple(fields["languages"]),
        architecture=fields["architecture"],
        dims=int(fields["dims"]),
        tokens=fields["tokens"],
        pooling=fields["pooling"],
        query_prefix=fields["query_prefix"],
        document_prefix=fields["document_prefix"],
        weights=folder / fields["weights"],
        tokenizer=folder / "tokenizer.json",
        centre=folder / fields["centre"] if fields.get("centre") else None,
        rotation=folder / fields["rotation"] if fields.get("rotation") else None,
    )
