"""Shapes: JSON Schemas as short Python, so that a tool's form can be read at a glance."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Shape = dict[str, Any]


def text(about: str = "", **more: object) -> Shape:
    return _shape("string", about, more)


def number(about: str = "", **more: object) -> Shape:
    return _shape("number", about, more)


def whole(about: str = "", **more: object) -> Shape:
    return _shape("integer", about, more)


def flag(about: str = "", **more: object) -> Shape:
    return _shape("boolean", about, more)


def listed(items: Shape, about: str = "", **more: object) -> Shape:
    return _shape("array", about, {"items": items, **more})


def one_of(*words: str, about: str = "") -> Shape:
    return _shape("string", about, {"enum": list(map(str, words))})


def table(
    odd: Mapping[str, Shape] | None = None, /, *, needs: tuple[str, ...] | None = None, **fields: Shape
) -> Shape:
    """An object; fields that Python cannot name come in `odd`. Without `needs`, every field must be there."""
    properties = {**(odd or {}), **fields}
    required = list(properties if needs is None else needs)
    more: dict[str, object] = {"properties": properties, "additionalProperties": False}
    return _shape("object", "", more | ({"required": required} if required else {}))


def extended(shape: Shape, **fields: Shape) -> Shape:
    """The table with more fields, which must be there."""
    return {
        **shape,
        "properties": {**shape["properties"], **fields},
        "required": [*shape.get("required", ()), *fields],
    }


def maybe(shape: Shape) -> Shape:
    """The same, or null."""
    return {**shape, "type": [shape["type"], "null"]}


def _shape(kind: str, about: str, more: dict[str, object]) -> Shape:
    return {"type": kind, **({"description": about} if about else {}), **more}
