"""What is wrong with a call's arguments, in words that a model can act on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jsonschema import ValidationError

_ARTICLES = {"array": "an array", "object": "an object", "string": "a string", "integer": "a whole number"}
_LONGEST = 400


def mistake(tool: str, error: ValidationError) -> str:
    """One sentence: where, what, and what would be right."""
    nearest = _nearest(error)
    place = ".".join(map(str, nearest.absolute_path))
    where = f"`{place}`: " if place else ""
    return f"{tool}: {where}{_what(nearest)}. Nothing was done."


def _nearest(error: ValidationError) -> ValidationError:
    """Of several forms that none fits, the mistake in the one that the caller meant, if that can be told."""
    if error.validator != "anyOf":
        return error
    meant = [one for one in error.context or () if one.validator != "type" or one.relative_path]
    return meant[0] if meant else error


def _what(error: ValidationError) -> str:
    given: Any = error.instance
    match error.validator:
        case "additionalProperties":
            fields = error.schema["properties"]
            unknown = ", ".join(repr(name)[:80] for name in sorted(set(given) - set(fields))[:5])
            known = f"there are: {', '.join(fields)}" if fields else "it takes none"
            return f"there is no argument {unknown}; {known}"
        case "required":
            missing = next(name for name in error.validator_value if name not in given)
            return f"`{missing}` is missing; it takes {', '.join(error.schema['required'])}"
        case "type" if isinstance(given, str) and error.validator_value in {"array", "object"}:
            kind = error.validator_value
            return f"{_shown(given)} is a string; pass {_ARTICLES[kind]}, not a string that holds one"
        case "anyOf":
            return f"{_shown(given)} is neither {' nor '.join(map(_form, error.validator_value))}"
        case _:
            return _short(error.message)


def _form(schema: dict[str, Any]) -> str:
    if schema["type"] != "object":
        return _ARTICLES.get(schema["type"], f"a {schema['type']}")
    must = schema.get("required", ())
    may = [name for name in schema["properties"] if name not in must]
    return f"an object with {', '.join(must)}" + (f" and perhaps {', '.join(may)}" if may else "")


def _shown(given: object) -> str:
    written = repr(given)
    return written if len(written) <= 80 else f"{written[:80]}…"


def _short(message: str) -> str:
    """What was given stands at the start of a message, what is wrong with it at the end."""
    return message if len(message) <= _LONGEST else f"{message[:200]} … {message[-180:]}"
