"""How long the arguments of a call may be: in the schemas that clients read, and in what refuses the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.errors import InvalidInput
from recollect.text.limits import NAME_LIMIT, QUERY_LIMIT, TEXT_LIMIT, TYPE_LIMIT

if TYPE_CHECKING:
    from recollect.serve.operations.schema import Schema

MOST_ROWS = 10_000
"""Entries of a list."""
MOST_IDS = 100_000
"""Numbers of a list: what undoes a split names all that it moved."""
MOST_NESTING = 20
"""Objects and lists within each other. The deepest argument has six."""
LARGEST_ID = 2**63 - 1
"""No store could have a larger one."""
TIME_FORMAT = "date-time"
"""Of a text that is a time. A date alone is taken, too."""
_SHOWN_NAMES = frozenset({"name", "entityName"})
# Every other text is a name.
_LONGEST = {
    "query": QUERY_LIMIT,
    **dict.fromkeys(("text", "content", "contents", "observations", "supersedes"), TEXT_LIMIT),
    **dict.fromkeys(("entityType", "relationType", "kind", "tags"), TYPE_LIMIT),
}


def with_limits(schema: Schema, name: str = "") -> Schema:
    """A schema of arguments that says how long each text and each list may be."""
    limited, kind = dict(schema), schema.get("type")
    # Of what may also be null, the type has two names.
    match kind[0] if isinstance(kind, list) else kind:
        case "string" if "enum" not in schema:
            limited.setdefault("maxLength", _LONGEST.get(name, NAME_LIMIT))
        case "array":
            most = MOST_IDS if schema["items"].get("type") == "integer" else MOST_ROWS
            limited.setdefault("maxItems", most)
            limited["items"] = with_limits(schema["items"], name)
        case "object":
            fields = schema.get("properties", {})
            limited["properties"] = {each: with_limits(field, each) for each, field in fields.items()}
    if "anyOf" in schema:
        limited["anyOf"] = [with_limits(form, name) for form in schema["anyOf"]]
    return limited


def shown_limits(schema: Schema, name: str = "", within: int = 0) -> Schema:
    """The same without the limits that no caller meets, ranges of ids and formats of times: every word of a
    schema costs its readers tokens.

    Those of queries, of names and of an argument's list stay. The others stand in the error.
    """
    shown = dict(schema)
    if schema.get("maxLength", QUERY_LIMIT) != QUERY_LIMIT and name not in _SHOWN_NAMES:
        del shown["maxLength"]
    if schema.get("maximum") == LARGEST_ID:
        del shown["minimum"], shown["maximum"]
    if schema.get("format") == TIME_FORMAT:
        del shown["format"]
    if within > 1 and schema.get("maxItems", 0) in {MOST_ROWS, MOST_IDS}:
        del shown["maxItems"]
    if "items" in schema:
        shown["items"] = shown_limits(schema["items"], name, within + 1)
    if "properties" in schema:
        fields = schema["properties"].items()
        shown["properties"] = {each: shown_limits(field, each, within + 1) for each, field in fields}
    if "anyOf" in schema:
        shown["anyOf"] = [shown_limits(form, name, within) for form in schema["anyOf"]]
    return shown


def check_nesting(given: object, within: int = 0) -> None:
    if within > MOST_NESTING:
        raise InvalidInput(
            f"Arguments may be nested {MOST_NESTING} deep; these are deeper. Nothing was done."
        )
    match given:
        case dict():
            for value in given.values():
                check_nesting(value, within + 1)
        case list():
            for value in given:
                check_nesting(value, within + 1)


def check_lengths(operation: str, schema: Schema, given: Any, path: str = "") -> None:
    """Refuse what is longer than a limited schema says; of what is wrong otherwise, others tell."""
    for form in schema.get("anyOf", ()):
        if form.get("type") == ("string" if isinstance(given, str) else "object"):
            check_lengths(operation, form, given, path)
    if isinstance(given, str) and len(given) > (most := schema.get("maxLength", len(given))):
        raise InvalidInput(
            f"{operation}: `{path}`: it has {len(given):,} characters; pass at most {most:,}. "
            "Nothing was done."
        )
    if isinstance(given, list) and "items" in schema:
        if len(given) > schema["maxItems"]:
            raise InvalidInput(
                f"{operation}: `{path}`: there are {len(given):,} entries; pass at most "
                f"{schema['maxItems']:,}. Nothing was done."
            )
        for place, value in enumerate(given):
            check_lengths(operation, schema["items"], value, f"{path}.{place}")
    if isinstance(given, dict):
        for name, field in schema.get("properties", {}).items():
            if name in given:
                check_lengths(operation, field, given[name], f"{path}.{name}" if path else name)
