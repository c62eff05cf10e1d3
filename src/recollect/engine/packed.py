"""What a ranking read, packed for the log: small, and exact to the last bit, so that it can be ranked again.

A JSON head says what there is; the columns follow, each in the narrowest form that gives back the very same
numbers: one value where all are equal, whole numbers from the lowest up, floats of half the width where
nothing is lost. All of it is compressed. Nothing in it can run: it is read field by field.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import MISSING, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.query import Query
from recollect.ranking.candidates import (
    NOBODY,
    Candidates,
    Contradictions,
    Cooccurrences,
    Facts,
    Source,
)
from recollect.records import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Column = NDArray[Any]


@dataclass(frozen=True, slots=True)
class _Moment:
    """What the log keeps of a query; the pairs that were seen together stand with it there."""

    now: int
    query: str
    limit: int
    limit_given: bool
    together: Cooccurrences
    span: tuple[int, int] | None = None
    parts: tuple[object, ...] = ()


# The tags that the log has for classes and their fields, in the order in which they are written. They stay,
# whatever the classes and fields are called here. None of the classes does anything when it is made.
TAGS: dict[str, type[Any]] = {
    "Candidates": Candidates,
    "Facts": Facts,
    "Source": Source,
    "Together": Cooccurrences,
    "Moment": _Moment,
    "Contradictions": Contradictions,
}
# What the steps add, and what stands elsewhere; before the first step it is empty.
_NOT_STORED = {"score_changes", "removals", "places", "cooccurrences"}
FIELD_TAGS: dict[type[Any], dict[str, str]] = {
    kind: {
        {"named_values": "kept"}.get(each.name, each.name): each.name
        for each in fields(kind)
        if each.name not in _NOT_STORED
    }
    for kind in TAGS.values()
}
_TAG_OF = {kind: tag for tag, kind in TAGS.items()}
_VERSION = 1
_LEVEL = 1
"""Of compression: above it, a log takes a fortieth less room and two to three times the time."""
_NARROW = tuple((int(np.iinfo(kind).max), kind) for kind in (np.uint8, np.uint16, np.uint32))
_HEAD = json.JSONEncoder(separators=(",", ":"))


def pack(candidates: Candidates, query: Query) -> bytes:
    """Of candidates as they were gathered, before any step."""
    columns: list[bytes] = []
    together = candidates.cooccurrences
    moment = _Moment(query.now, query.text, query.limit, query.limit_given, together, query.span)
    with np.errstate(over="ignore"):  # a float that half the width cannot hold keeps all of it
        head = _HEAD.encode([_VERSION, _told(candidates, columns), _told(moment, columns)])
    raw = head.encode()
    return zlib.compress(b"".join((len(raw).to_bytes(4, "little"), raw, *columns)), _LEVEL)


def unpack(packed: bytes) -> tuple[Candidates, Query]:
    """`InvalidInput` for what another version wrote and this one cannot rank."""
    try:
        return _read(zlib.decompress(packed))
    except (InvalidInput, ValueError, KeyError, TypeError, zlib.error) as error:
        raise InvalidInput(f"The log cannot be read: {error}.") from error


def _read(raw: bytes) -> tuple[Candidates, Query]:
    end = 4 + int.from_bytes(raw[:4], "little")
    version, *told = json.loads(raw[4:end])
    if version != _VERSION:
        raise InvalidInput(f"it is of the form {version}, and this program knows {_VERSION}")
    columns = _Columns(raw, end)
    candidates, moment = (_made(one, columns) for one in told)
    query = Query(moment.query, moment.now, moment.limit, moment.limit_given, moment.span)
    return replace(candidates, cooccurrences=moment.together), query


def _told(value: Any, columns: list[bytes]) -> Any:
    """As JSON; columns go to the list, in the order in which they will be read."""
    if isinstance(value, np.ndarray):
        return _column(value, columns)
    if (tag := _TAG_OF.get(type(value))) is not None:
        names = FIELD_TAGS[type(value)]
        told = {name: _told(getattr(value, field), columns) for name, field in names.items()}
        return {"is": tag, "with": told}
    if isinstance(value, Mapping):
        return {"map": {name: _told(one, columns) for name, one in value.items()}}
    if isinstance(value, tuple):
        return {"row": [_told(one, columns) for one in value]}
    return value


def _made(told: Any, columns: _Columns) -> Any:
    match told:
        case {"is": kind, "with": parts}:
            # In the order in which the columns stand; fields that are gone by now are left out.
            made = {tag: _made(one, columns) for tag, one in parts.items()}
            return _built(TAGS[kind], made)
        case {"map": parts}:
            return {name: _made(one, columns) for name, one in parts.items()}
        case {"row": parts}:
            return tuple(_made(one, columns) for one in parts)
        case [str(kind), str(stored), int(count), low]:
            return columns.read(np.dtype(kind), np.dtype(stored), count, low)
        case _:
            return told


# Columns that older logs lack, and what stands in for them: as if each candidate were a note.
_LATER_COLUMNS: dict[str, tuple[type[Any], float]] = {
    "kind": (np.int64, tuple(Kind).index(Kind.NOTE)),
    "role": (np.int64, NOBODY),
    "informativeness": (np.float64, 1.0),
    "length": (np.int64, 0),
}


def _built(kind: type[Any], made: Mapping[str, Any]) -> Any:
    """New fields need a usual value."""
    names = FIELD_TAGS[kind]
    if kind is Facts and "ids" in made:
        usual = {tag: np.full(len(made["ids"]), value, of) for tag, (of, value) in _LATER_COLUMNS.items()}
        made = {**usual, **made}
    needed = {each.name for each in fields(kind) if each.default is each.default_factory is MISSING}
    missing = [name for tag, name in names.items() if tag not in made and name in needed]
    if missing:
        raise InvalidInput(f"it has no {', '.join(missing)}")
    return kind(**{names[tag]: value for tag, value in made.items() if tag in names})


def _column(column: Column, columns: list[bytes]) -> list[Any]:
    """[type, stored type, how many, offset]: an offset for whole numbers; `null` where one value says all."""
    kind, count = column.dtype, len(column)
    stored, low = column, 0
    # Most columns hold one value. As bytes, that is seen in a tenth of the time that arrays take.
    raw = column.tobytes()
    if count and raw == (first := raw[: kind.itemsize]) * count:
        columns.append(first)
        return [kind.str, kind.str, count, None]
    if kind.kind == "i" and count:
        low = int(np.minimum.reduce(column))
        reach = int(np.maximum.reduce(column)) - low
        narrow = next((each for most, each in _NARROW if reach <= most), None)
        low = 0 if narrow is None else low
        stored = column if narrow is None else (column - low).astype(narrow)
    elif kind == np.float64:
        half = column.astype(np.float32)
        stored = half if half.astype(np.float64).tobytes() == raw else column
    columns.append(_by_bytes(stored))
    return [kind.str, stored.dtype.str, count, low]


def _by_bytes(values: Column) -> bytes:
    """The first byte of each, then the second: neighbours are alike, and compress."""
    width = values.dtype.itemsize
    return np.ascontiguousarray(values).view(np.uint8).reshape(-1, width).T.tobytes()


class _Columns:
    """Reads columns one after the other."""

    def __init__(self, raw: bytes, start: int) -> None:
        self._raw = raw
        self._at = start

    def read(self, kind: np.dtype[Any], stored: np.dtype[Any], count: int, low: int | None) -> Column:
        if low is None:
            return np.full(count, np.frombuffer(self._next(stored.itemsize), stored)[0], kind)
        mixed = np.frombuffer(self._next(stored.itemsize * count), np.uint8)
        values = np.ascontiguousarray(mixed.reshape(stored.itemsize, -1).T).view(stored).reshape(-1)
        if kind == stored:
            return values.copy()
        return values.astype(kind) + low if low else values.astype(kind)

    def _next(self, size: int) -> bytes:
        start, self._at = self._at, self._at + size
        if self._at > len(self._raw):
            raise InvalidInput("it ends too early")
        return self._raw[start : self._at]
