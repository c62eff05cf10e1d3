"""JSON schemas of arguments and results, in the plain form that language models read best."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from datetime import date, datetime
from enum import Enum
from types import NoneType, SimpleNamespace, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import TypeAdapter

from recollect.domain.errors import InvalidInput
from recollect.domain.json_values import JsonField, json_fields
from recollect.domain.limits import NAME_LIMIT, QUERY_LIMIT, TEXT_LIMIT, TYPE_LIMIT

if TYPE_CHECKING:
    from pydantic import ValidationError


Schema = dict[str, Any]

_ORDER = ("type", "description", "enum", "properties", "additionalProperties", "required", "items")


def plain_schema(form: Any) -> Schema:
    """Return the schema of a pydantic model or a typed dictionary.

    It is one piece without references, and every object is closed. Defaults are left out: the description
    of an optional argument says what its absence means.
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
        # Docstrings of classes are for maintainers, not for callers.
        plain.pop("description", None)
    if "items" in schema:
        plain["items"] = _plain(schema["items"], shared)
    if schema.get("type") == "object":
        fields = schema.get("properties", {})
        # Required fields first. Otherwise inherited fields of pages would come first.
        names = sorted(fields, key=lambda name: name not in schema.get("required", ()))
        plain["properties"] = {name: _plain(fields[name], shared) for name in names}
        plain["additionalProperties"] = False
    return _ordered(plain)


def _ordered(schema: Schema) -> Schema:
    names = [name for name in _ORDER if name in schema]
    names += [name for name in schema if name not in {*_ORDER, "title", "default", "$defs", "$ref"}]
    return {name: schema[name] for name in names if schema[name] is not None}


# Schemas of results, from the dataclasses that operations return.

_SIMPLE = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    datetime: "string",
    date: "string",
}
Reference = Callable[[type], Schema]
"""A function that returns a reference to the schema of a dataclass or an enumeration."""


def schema_of(form: Any, reference: Reference | None = None) -> Schema:
    """Return the schema of `to_json(value)` for values of this type."""
    schema = _schema_of(form, reference)
    return schema if reference is not None else _ordered(schema)


def class_schema(form: type, reference: Reference | None = None) -> Schema:
    """Return the schema of a dataclass or an enumeration itself, with references to others."""
    if issubclass(form, Enum):
        return {"type": "string", "enum": [each.value for each in form]}
    shown = list(_flat_fields(form))
    required = [each.key for _, each in shown if not each.omit]
    shown.sort(key=lambda field: field[1].omit)
    properties = {each.key: _field_schema(owner, each, reference) for owner, each in shown}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**schema, "required": required} if required else schema


def _schema_of(form: Any, reference: Reference | None) -> Schema:  # noqa: PLR0911  # one for each kind of type
    origin, inner = get_origin(form), get_args(form)
    if origin is Annotated:
        words = [each for each in inner[1:] if isinstance(each, str)]
        return {**_schema_of(inner[0], reference), **({"description": words[0]} if words else {})}
    if form is Any:
        return {}
    if form in _SIMPLE:
        return {"type": _SIMPLE[form]}
    if origin is Literal:
        return {"type": "string", "enum": list(inner)}
    if origin in (Union, UnionType):
        return _union_schema(inner, reference)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1], reference)}
    if isinstance(origin, type) and issubclass(origin, Sequence | frozenset):
        return {"type": "array", "items": schema_of(inner[0], reference)}
    if is_dataclass(form) or (isinstance(form, type) and issubclass(form, Enum | tuple)):
        found = cast("type", form)
        return class_schema(found) if reference is None else reference(found)
    raise TypeError(f"There is no JSON schema for {form!r}")


def _union_schema(forms: Sequence[Any], reference: Reference | None) -> Schema:
    named = [schema_of(form, reference) for form in forms if form is not NoneType]
    if len(named) == len(forms):
        return {"anyOf": named}
    if len(named) == 1 and reference is None:
        return {**named[0], "type": [named[0]["type"], "null"]}
    return {"anyOf": [*named, {"type": "null"}]}


def _flat_fields(form: type, *, brief: bool = False) -> Iterator[tuple[type, JsonField]]:
    """Yield the fields of a dataclass and of its inline parts, each with the class that declares it."""
    for each in json_fields(form, brief=brief):
        if each.inline or each.brief:
            yield from _flat_fields(_type_of(form, each.name), brief=each.brief)
        else:
            yield form, each


def _field_schema(owner: type, shown: JsonField, reference: Reference | None) -> Schema:
    form = _type_of(owner, shown.name)
    words: list[Any] = []
    if get_origin(form) is Annotated:
        form, *words = get_args(form)
    if shown.omit and not shown.nullable and NoneType in get_args(form):
        form = Union[tuple(each for each in get_args(form) if each is not NoneType)]  # noqa: UP007  # of a list
    return schema_of(Annotated[form, *words] if words else form, reference)


def _type_of(owner: type, name: str) -> Any:
    """Return the type of a field or a property, resolved in the module that declares it."""
    for each in owner.__mro__:
        declared = vars(each).get("__annotations__", {}).get(name)
        if declared is None and isinstance(vars(each).get(name), property):
            declared = vars(each)[name].fget.__annotations__["return"]
        if declared is not None:
            found = SimpleNamespace(__annotations__={name: declared})
            return get_type_hints(found, vars(sys.modules[each.__module__]), include_extras=True)[name]
    raise TypeError(f"{owner.__name__} has no {name}")


# Length limits of arguments: declared in the schemas, and checked at each call.

MOST_ROWS = 10_000
"""Maximum entries of a list."""
MOST_IDS = 100_000
"""Maximum entries of a list of ids. The undo of a split lists every observation that it moved."""
MOST_NESTING = 20
"""Maximum levels of nested objects and lists. The deepest valid argument has six."""
LARGEST_ID = 2**63 - 1
"""The largest id of any store."""
TIME_FORMAT = "date-time"
"""The format of a time. A date alone is accepted, too."""
_SHOWN_NAMES = frozenset({"name", "entityName"})
# Maximum lengths of texts. Every other text has the limit of a name.
_LONGEST = {
    "query": QUERY_LIMIT,
    **dict.fromkeys(("text", "content", "contents", "observations", "supersedes"), TEXT_LIMIT),
    **dict.fromkeys(("entityType", "relationType", "kind", "tags"), TYPE_LIMIT),
}


def with_limits(schema: Schema, name: str = "") -> Schema:
    """Return the schema with length limits for texts and lists."""
    limited, kind = dict(schema), schema.get("type")
    # A type that allows null is a list of two names.
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


def without_rare_limits(schema: Schema, name: str = "", depth: int = 0) -> Schema:
    """Leave out limits that callers hardly ever reach, ranges of ids and formats of times, to save tokens.

    Limits of queries, names and lists of arguments are kept. Errors name the others.
    """
    shown = dict(schema)
    if schema.get("maxLength", QUERY_LIMIT) != QUERY_LIMIT and name not in _SHOWN_NAMES:
        del shown["maxLength"]
    if schema.get("maximum") == LARGEST_ID:
        del shown["minimum"], shown["maximum"]
    if schema.get("format") == TIME_FORMAT:
        del shown["format"]
    if depth > 1 and schema.get("maxItems", 0) in {MOST_ROWS, MOST_IDS}:
        del shown["maxItems"]
    if "items" in schema:
        shown["items"] = without_rare_limits(schema["items"], name, depth + 1)
    if "properties" in schema:
        fields = schema["properties"].items()
        shown["properties"] = {each: without_rare_limits(field, each, depth + 1) for each, field in fields}
    if "anyOf" in schema:
        shown["anyOf"] = [without_rare_limits(form, name, depth) for form in schema["anyOf"]]
    return shown


def check_nesting(given: object, depth: int = 0) -> None:
    if depth > MOST_NESTING:
        raise InvalidInput(f"Arguments may have at most {MOST_NESTING} levels of nesting. Nothing was done.")
    match given:
        case dict():
            for value in given.values():
                check_nesting(value, depth + 1)
        case list():
            for value in given:
                check_nesting(value, depth + 1)


def check_lengths(operation: str, schema: Schema, given: Any, path: str = "") -> None:
    """Reject values longer than the schema allows. Other errors are found by validation."""
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


# Aliases of arguments, so that callers may write `at` or `happened_at` for any tool.

# Each group has names with the same meaning. No object has two names of one group.
_ALIASES = (
    ("happened_at", "at"),
    ("entityName", "entity_name"),
    ("entityType", "entity_type", "type"),
    ("relationType", "relation_type", "type"),
    ("from", "source"),
    ("to", "target"),
)


def with_schema_names(schema: Schema, given: Any) -> Any:
    """Rename the arguments to the names of the schema."""
    match given:
        case list():
            items = schema.get("items", {})
            return [with_schema_names(items, each) for each in given]
        case dict():
            for form in schema.get("anyOf", ()):
                schema = form if form.get("type") == "object" else schema
            own = schema.get("properties", {})
            renamed = {_own_name(name, own, given): value for name, value in given.items()}
            return {name: with_schema_names(own.get(name, {}), value) for name, value in renamed.items()}
        case _:
            return given


def _own_name(name: str, own: Schema, given: dict[str, Any]) -> str:
    """Return the name, or its known alias if the name is unknown and the alias is not given."""
    if name in own:
        return name
    groups = [group for group in _ALIASES if name in group]
    return next((each for group in groups for each in group if each in own and each not in given), name)


# Errors in a call's arguments, in words that a language model can act on.

_Error = dict[str, Any]
"""An error of pydantic: `type`, `loc`, `input`."""
_MOST_LISTED = 20
# Wrong values first, then unknown names, then missing ones: an unknown name may be a misspelt missing one.
_RANKS = {"extra_forbidden": 1, "missing": 2}


class WrongArgument(NamedTuple):
    path: tuple[str | int, ...]
    """The path from the arguments to the invalid value."""
    problem: str


class InvalidArguments(InvalidInput):
    """Arguments of an operation that do not fit its schema. Nothing was done."""

    def __init__(self, message: str, wrong: Sequence[WrongArgument]) -> None:
        super().__init__(message)
        self.wrong = wrong


class _Location(NamedTuple):
    path: str
    schema: Schema
    forms: Sequence[Schema]
    """All forms that the value may have, if there are several; `schema` is one of them."""


def validation_message(operation: str, schema: Schema, error: ValidationError) -> str:
    """Return a sentence about the first mistake: where it is, what it is, and how to correct it."""
    errors = cast("list[_Error]", error.errors(include_url=False))
    # If a value fits no form, report the mistake inside the form that the caller probably meant.
    inside = [each for each in errors if _rank(each) or not _locate(schema, each).forms]
    first = min(inside or errors, key=lambda each: (*[0] * (len(each["loc"]) - 1), _rank(each)))
    place = _locate(schema, first)
    where = f"`{place.path}`: " if place.path else ""
    siblings = [each for each in errors if each["loc"][:-1] == first["loc"][:-1]]
    return f"{operation}: {where}{_problem_text(first, place, siblings)}. Nothing was done."


def wrong_arguments(error: ValidationError) -> list[WrongArgument]:
    """Return the first mistakes, so that a program can show each beside its field."""
    errors = cast("list[_Error]", error.errors(include_url=False))
    return [
        WrongArgument(each["loc"], each["msg"].removeprefix("Value error, "))
        for each in errors[:_MOST_LISTED]
    ]


def _rank(error: _Error) -> int:
    return _RANKS.get(error["type"], 0)


def _locate(schema: Schema, error: _Error) -> _Location:
    """Locate the invalid value, or the object with an unknown or missing name."""
    path: list[str] = []
    forms: Sequence[Schema] = ()
    for part in error["loc"][:-1] if _rank(error) else error["loc"]:
        forms = schema.get("anyOf", ())
        if forms:
            # Pydantic names the form here, which the caller did not write.
            kind = "string" if part == "str" else "object"
            schema = next(form for form in forms if form["type"] == kind)
            continue
        path.append(str(part))
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
    return _Location(".".join(path), schema, forms)


def _problem_text(error: _Error, place: _Location, siblings: Sequence[_Error]) -> str:
    given, schema = error["input"], place.schema
    match error["type"]:
        case "extra_forbidden":
            unknown = sorted(str(each["loc"][-1]) for each in siblings if each["type"] == error["type"])
            known = ", ".join(schema["properties"])
            names = ", ".join(repr(name)[:80] for name in unknown[:5])
            return f"there is no argument {names}; {f'there are: {known}' if known else 'it takes none'}"
        case "missing":
            return f"`{error['loc'][-1]}` is missing; it takes {', '.join(schema['required'])}"
        case "too_long":
            return f"there are {len(given)} entries; pass at most {schema['maxItems']}"
        case _ if place.forms:
            return f"{_quoted(given)} is neither {' nor '.join(map(_form_text, place.forms))}"
        case _ if schema["type"] in {"array", "object"}:
            noun = f"an {schema['type']}"
            string_problem = f"is a string; pass {noun}, not a string that holds one"
            return f"{_quoted(given)} {string_problem if isinstance(given, str) else f'is not {noun}'}"
        case _:
            message = error["msg"].removeprefix("Value error, ")
            return f"{_quoted(given)}: {message[0].lower()}{message[1:]}"


def _form_text(schema: Schema) -> str:
    if schema["type"] != "object":
        return f"a {schema['type']}"
    required = schema.get("required", ())
    optional = [name for name in schema["properties"] if name not in required]
    return f"an object with {', '.join(required)}" + (
        f" and perhaps {', '.join(optional)}" if optional else ""
    )


def _quoted(given: object) -> str:
    written = repr(given)
    return written if len(written) <= 80 else f"{written[:80]}…"
