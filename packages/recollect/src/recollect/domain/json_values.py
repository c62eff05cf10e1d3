"""Values as JSON: a dataclass gives its fields, and their metadata say where JSON differs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, NamedTuple

_KEY = "json"


class JsonField(NamedTuple):
    """How JSON shows a field or a property of a dataclass."""

    name: str
    key: str = ""
    """Its name in JSON."""
    omit: bool = False
    """Leave it out where it has its default."""
    nullable: bool = False
    """It may also be null, though it may be left out."""
    hidden: bool = False
    inline: bool = False
    """Its fields are merged into those of the dataclass that holds it."""
    brief: bool = False
    """Inline, but only its `listed` fields, where they differ from their default."""
    listed: bool = False
    digits: int | None = None
    """Decimal places of a number."""
    letters: int | None = None
    """A longer text is cut to this length."""
    most: int | None = None
    """A longer list is cut to this length."""
    default: Any = None


def in_json(**shown: Any) -> Mapping[str, Any]:
    """The metadata of a field of a dataclass: how JSON shows it, in the words of `JsonField`."""
    return {_KEY: shown}


HIDDEN = in_json(hidden=True)
LISTED = in_json(listed=True)
"""A field that lists of hits show as well, where it differs from its default."""


def omitted(default: Any = None, **shown: Any) -> Any:
    """Declare a field that JSON leaves out where it has its default."""
    return field(default=default, metadata=in_json(omit=True, **shown))


def inlined() -> Any:
    """Declare a last field whose own fields take its place."""
    return field(metadata=in_json(inline=True))


def is_inline(declared: Field[Any]) -> bool:
    """Whether the fields of this one's value take its place."""
    return bool(declared.metadata.get(_KEY, {}).get("inline"))


@cache
def json_fields(form: Any, *, brief: bool = False) -> tuple[JsonField, ...]:
    """Return the JSON fields of a dataclass or NamedTuple: its fields, then its `JSON_PROPERTIES`."""
    if brief:
        return tuple(each._replace(omit=True) for each in json_fields(form) if each.listed)
    if not is_dataclass(form):
        return tuple(JsonField(name, name) for name in form._fields)
    own = [
        JsonField(
            each.name,
            **{"key": each.name, **each.metadata.get(_KEY, {})},
            default=None if each.default is MISSING else each.default,
        )
        for each in fields(form)
    ]
    computed = [JsonField(name, name) for name in getattr(form, "JSON_PROPERTIES", ())]
    return tuple(each for each in (*own, *computed) if not each.hidden)


def iso_time(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")


def to_json(value: Any) -> Any:
    """The value as what `json.dumps` takes."""
    match value:
        case None | str() | int() | float():
            return value
        case datetime():
            return iso_time(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(name): to_json(each) for name, each in value.items()}
        case _ if is_dataclass(value) or hasattr(value, "_fields"):
            return dict(_json_items(value))
        case list() | tuple() | frozenset():
            return list(map(to_json, value))
    raise TypeError(f"JSON has no {type(value).__name__}")


def _json_items(record: Any, *, brief: bool = False) -> Iterator[tuple[str, Any]]:
    form: Any = type(record)
    for each in json_fields(form, brief=brief):
        value = getattr(record, each.name)
        if each.inline or each.brief:
            yield from _json_items(value, brief=each.brief)
            continue
        if each.omit and value == each.default:
            continue
        if each.most is not None:
            value = value[: each.most]
        shown = to_json(value)
        if each.digits is not None and shown is not None:
            shown = round(shown, each.digits)
        if each.letters is not None and shown is not None:
            shown = _cut(shown, each.letters)
        yield each.key, shown


def _cut(shown: Any, letters: int) -> Any:
    if isinstance(shown, list):
        return [each[:letters] for each in shown]
    return shown if len(shown) <= letters else f"{shown[:letters]}…"
