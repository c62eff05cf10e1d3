"""What is wrong with a call's arguments, in words that a language model can act on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from recollect.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic import ValidationError

    from recollect.serve.operations.schema import Schema

_Error = dict[str, Any]
"""As pydantic tells it: `type`, `loc`, `input`."""
# Wrong values first, then unknown names, then what is missing: an unknown name may be a misspelt one.
_MOST_LISTED = 20
_RANKS = {"extra_forbidden": 1, "missing": 2}


class WrongArgument(NamedTuple):
    path: tuple[str | int, ...]
    """Names and places from the arguments down to the one that is wrong."""
    problem: str


class InvalidArguments(InvalidInput):
    """Arguments of an operation that do not fit its schema. Nothing was done."""

    def __init__(self, message: str, wrong: Sequence[WrongArgument]) -> None:
        super().__init__(message)
        self.wrong = wrong


class _Place(NamedTuple):
    path: str
    schema: Schema
    forms: Sequence[Schema]
    """Where the value may have one of several forms: all of them; `schema` is one."""


def validation_message(operation: str, schema: Schema, error: ValidationError) -> str:
    """One sentence about the first mistake: where it is, what it is, and what would be right."""
    errors = cast("list[_Error]", error.errors(include_url=False))
    # Where a value fits no form, the mistake inside the form that the caller meant says most.
    inside = [each for each in errors if _rank(each) or not _place(schema, each).forms]
    first = min(inside or errors, key=lambda each: (*[0] * (len(each["loc"]) - 1), _rank(each)))
    place = _place(schema, first)
    where = f"`{place.path}`: " if place.path else ""
    beside = [each for each in errors if each["loc"][:-1] == first["loc"][:-1]]
    return f"{operation}: {where}{_what(first, place, beside)}. Nothing was done."


def wrong_arguments(error: ValidationError) -> list[WrongArgument]:
    """The first mistakes, for a program to show each beside its field."""
    errors = cast("list[_Error]", error.errors(include_url=False))
    return [
        WrongArgument(each["loc"], each["msg"].removeprefix("Value error, "))
        for each in errors[:_MOST_LISTED]
    ]


def _rank(error: _Error) -> int:
    return _RANKS.get(error["type"], 0)


def _place(schema: Schema, error: _Error) -> _Place:
    """The value that is wrong; of a name that is unknown or missing, the object that it belongs to."""
    path: list[str] = []
    forms: Sequence[Schema] = ()
    for part in error["loc"][:-1] if _rank(error) else error["loc"]:
        forms = schema.get("anyOf", ())
        if forms:
            # Pydantic names the form here, which is no part of what the caller wrote.
            kind = "string" if part == "str" else "object"
            schema = next(form for form in forms if form["type"] == kind)
            continue
        path.append(str(part))
        schema = schema["items"] if isinstance(part, int) else schema["properties"][part]
    return _Place(".".join(path), schema, forms)


def _what(error: _Error, place: _Place, beside: Sequence[_Error]) -> str:
    given, schema = error["input"], place.schema
    match error["type"]:
        case "extra_forbidden":
            unknown = sorted(str(each["loc"][-1]) for each in beside if each["type"] == error["type"])
            known = ", ".join(schema["properties"])
            names = ", ".join(repr(name)[:80] for name in unknown[:5])
            return f"there is no argument {names}; {f'there are: {known}' if known else 'it takes none'}"
        case "missing":
            return f"`{error['loc'][-1]}` is missing; it takes {', '.join(schema['required'])}"
        case "too_long":
            return f"there are {len(given)} entries; pass at most {schema['maxItems']}"
        case _ if place.forms:
            return f"{_shown(given)} is neither {' nor '.join(map(_form, place.forms))}"
        case _ if schema["type"] in {"array", "object"}:
            noun = f"an {schema['type']}"
            is_string = f"is a string; pass {noun}, not a string that holds one"
            return f"{_shown(given)} {is_string if isinstance(given, str) else f'is not {noun}'}"
        case _:
            message = error["msg"].removeprefix("Value error, ")
            return f"{_shown(given)}: {message[0].lower()}{message[1:]}"


def _form(schema: Schema) -> str:
    if schema["type"] != "object":
        return f"a {schema['type']}"
    required = schema.get("required", ())
    optional = [name for name in schema["properties"] if name not in required]
    return f"an object with {', '.join(required)}" + (
        f" and perhaps {', '.join(optional)}" if optional else ""
    )


def _shown(given: object) -> str:
    written = repr(given)
    return written if len(written) <= 80 else f"{written[:80]}…"
