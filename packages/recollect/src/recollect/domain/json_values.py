"""Convert values to JSON. The metadata of a dataclass field says how JSON shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, field, fields, is_dataclass
from datetime import date, datetime
from functools import cache
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar, overload

_KEY = "json"


class JsonField(NamedTuple):
    """How JSON shows a field or a property of a dataclass."""

    name: str
    key: str = ""
    """Its name in JSON."""
    omit: bool = False
    """JSON leaves it out if it has its default."""
    nullable: bool = False
    """The schema allows null, although JSON may leave the field out."""
    hidden: bool = False
    inline: bool = False
    """Its fields are merged into those of the dataclass that holds it."""
    brief: bool = False
    """Like `inline`, but only with `listed` fields that differ from their default."""
    listed: bool = False
    digits: int | None = None
    """Decimal places of a number."""
    letters: int | None = None
    """A longer text is cut to this length."""
    most: int | None = None
    """A longer list is cut to this length."""
    default: Any = None


def in_json(**shown: Any) -> Mapping[str, Any]:
    """Return the metadata of a dataclass field. The arguments are fields of `JsonField`."""
    return {_KEY: shown}


HIDDEN = in_json(hidden=True)
LISTED = in_json(listed=True)
"""A field that lists of hits also show if it differs from its default."""


def omitted(default: Any = None, **shown: Any) -> Any:
    """Declare a field that JSON leaves out if it has its default."""
    return field(default=default, metadata=in_json(omit=True, **shown))


def inlined() -> Any:
    """Declare the last field of a dataclass. JSON shows the fields of its value instead of it."""
    return field(metadata=in_json(inline=True))


def is_inline(declared: Field[Any]) -> bool:
    """Whether JSON shows the fields of its value instead of it."""
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
    """Convert a value for `json.dumps`."""
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
    raise TypeError(f"A value of type {type(value).__name__} cannot be written as JSON")


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


# Results in Python, with a short representation and a conversion to plain values

_Row = TypeVar("_Row")


class Record:
    """A result. It prints as one line, is a table in a notebook, and converts to plain values."""

    __slots__ = ()

    def __repr__(self) -> str:
        from recollect.domain.display import short_text  # noqa: PLC0415  # few results are printed

        return short_text(self)

    def _repr_html_(self) -> str:
        from recollect.domain.display import html_table  # noqa: PLC0415  # for notebooks

        return html_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values for `json.dumps` or pandas; times become ISO 8601 texts."""
        return _plain_fields(self)

    def __cells__(self) -> dict[str, Any]:
        """Return the fields to show: those that differ from their default."""
        return {name: value for name, value, default in _shown_fields(self) if value != default}


class Rows(Record, Generic[_Row]):
    """A result that holds a sequence: it has a length, can be iterated, indexed and sliced."""

    __slots__ = ()
    __rows__: ClassVar[str]
    """The name of the field that holds the sequence."""

    def __iter__(self) -> Iterator[_Row]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    @overload
    def __getitem__(self, place: int) -> _Row: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[_Row, ...]: ...
    def __getitem__(self, place: int | slice) -> _Row | tuple[_Row, ...]:
        return self._items()[place]

    def __str__(self) -> str:
        from recollect.domain.display import text_table  # noqa: PLC0415  # few results are printed

        return text_table(self)

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return one dictionary of plain values for each row, for `json.dumps` or `pandas.DataFrame`."""
        return [_plain(each) for each in self]

    def _items(self) -> tuple[_Row, ...]:
        items: tuple[_Row, ...] = getattr(self, self.__rows__)
        return items

    def __cells__(self) -> dict[str, Any]:
        shown = _shown_fields(self)
        return {name: value for name, value, default in shown if name != self.__rows__ and value != default}


def _shown_fields(record: Any) -> Iterator[tuple[str, Any, Any]]:
    for each in fields(record):
        if each.repr:
            default = None if each.default is MISSING else each.default
            yield each.name, getattr(record, each.name), default


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if is_dataclass(value):
        return _plain_fields(value)
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, list | tuple | frozenset):
        return list(map(_plain, value))
    return str(value) if isinstance(value, str) else to_json(value)


def _plain_fields(record: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for each in fields(record):
        if is_inline(each):
            plain |= _plain_fields(getattr(record, each.name))
        elif each.repr:
            plain[each.name] = _plain(getattr(record, each.name))
    for name in getattr(record, "__merged__", ()):
        plain |= {**plain.pop(name), "text": record.text}
    return plain
