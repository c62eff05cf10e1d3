"""JSON schemas of arguments and results, in the plain form that language models read best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]

_ORDER = ("type", "description", "enum", "properties", "additionalProperties", "required", "items")


def plain_schema(form: Any) -> Schema:
    """The schema of a pydantic model or a typed dictionary.

    It is one piece without references, and every object is closed. It names no defaults: an argument that
    may be left out is not required, and the description says what then holds.
    """
    schema = TypeAdapter(form).json_schema()
    return _plain(schema, schema.get("$defs", {}), is_class=True)


def _plain(schema: Schema, shared: Mapping[str, Schema], *, is_class: bool = False) -> Schema:
    if "$ref" in schema:
        target = _plain(shared[schema["$ref"].rpartition("/")[2]], shared, is_class=True)
        return _ordered({**target, **schema})
    match schema.get("anyOf"):
        case [inner, {"type": "null"}]:
            plain = _plain(inner, shared)
            kind = plain["type"] if "default" in schema else [plain["type"], "null"]
            return _ordered({**plain, **schema, "type": kind, "anyOf": None})
        case list(forms):
            return _ordered({**schema, "anyOf": [_plain(form, shared) for form in forms]})
    plain = dict(schema)
    if is_class:
        # The docstring of a class is for those who read the code.
        plain.pop("description", None)
    if "items" in schema:
        plain["items"] = _plain(schema["items"], shared)
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        # What must be there first; what every page has beside its rows is inherited, and would lead.
        names = sorted(fields, key=lambda name: name not in schema.get("required", ()))
        plain["properties"] = {name: _plain(fields[name], shared) for name in names}
        plain["additionalProperties"] = False
    return _ordered(plain)


def _ordered(schema: Schema) -> Schema:
    names = [name for name in _ORDER if name in schema]
    names += [name for name in schema if name not in {*_ORDER, "title", "default", "$defs", "$ref"}]
    return {name: schema[name] for name in names if schema[name] is not None}
