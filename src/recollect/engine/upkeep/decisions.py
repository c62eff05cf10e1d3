"""What people decided to keep as it is: under which key, and which texts it is about."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

SettleKind = Literal["contradiction", "similar_notes", "similar_observations", "split", "stale"]
_PAIRS = frozenset({"contradiction", "similar_notes", "similar_observations"})


def text_reference(memory: int, observation: int | None = None) -> str:
    """A whole memory, or an observation, as keys name it."""
    return str(memory) if observation is None else f"o{observation}"


def decision_key(kind: SettleKind, *references: str) -> str:
    """By which something is settled: the kind, and whom it is about, the older first."""
    return ":".join((kind, *references))


def is_about_two(kind: str) -> bool:
    return kind in _PAIRS


def kept_together(keys: Iterable[str]) -> frozenset[str]:
    """References to texts of which somebody decided to keep both."""
    parts = (key.split(":") for key in keys)
    return frozenset(
        reference for kind, *references in parts if is_about_two(kind) for reference in references
    )
