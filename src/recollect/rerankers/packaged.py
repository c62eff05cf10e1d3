"""Re-rankers installed as data-only wheels: packages named `recollect_model_rerank_…`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.embedders.packaged import RERANKER
from recollect.errors import ModelUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class PackagedReranker:
    """What the descriptor of a re-ranker says, and where its files are."""

    name: str
    revision: str
    """Changes with anything that changes scores: weights, tokenizer."""
    title: str
    languages: tuple[str, ...]
    tokens: int
    """The most that query and text may have together."""
    weights: Path
    tokenizer: Path

    @property
    def full_name(self) -> str:
        return f"{self.name}@{self.revision}"

    @property
    def distribution(self) -> str:
        return distribution_of(self.name)


def distribution_of(name: str) -> str:
    """What the index calls the wheel of a re-ranker."""
    return f"recollect-model-rerank-{name}"


def packaged_reranker(name: str) -> PackagedReranker | None:
    """The installed re-ranker of this short name."""
    try:
        spec = find_spec(RERANKER + name.replace("-", "_"))
    except (ImportError, ValueError):
        spec = None
    if spec is None or not spec.submodule_search_locations:
        return None
    return described(Path(spec.submodule_search_locations[0]))


def described(folder: Path) -> PackagedReranker:
    """Read `model.json` in the folder. The weights are not touched."""
    path = folder / "model.json"
    try:
        return _parsed(json.loads(path.read_text(encoding="utf-8")), folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"The model package {folder.name} is damaged: {path.name}: {error!r}"
        raise ModelUnavailable(f"{problem}; install it again") from error


def _parsed(fields: Mapping[str, Any], folder: Path) -> PackagedReranker:
    if fields["architecture"] != "cross-encoder":
        raise ValueError(f"unknown architecture: {fields['architecture']}")
    return PackagedReranker(
        name=fields["name"],
        revision=fields["revision"],
        title=fields["title"],
        languages=tuple(fields["languages"]),
        tokens=int(fields["tokens"]),
        weights=folder / fields["weights"],
        tokenizer=folder / "tokenizer.json",
    )
