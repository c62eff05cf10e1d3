"""Read an ONNX graph whose large weights stay in the file, where onnxruntime maps them.

Weights inside a graph are copied into each process; weights of an external file are mapped and shared. A
tensor may name a file, an offset and a length. Here each large tensor names the file that it is in already,
so no file is rewritten.
"""

from __future__ import annotations

from mmap import ACCESS_READ, mmap
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# Field numbers of onnx.proto, by message.
_GRAPH = 7  # ModelProto
_INITIALIZER = 5  # GraphProto
_TYPE, _RAW, _EXTERNAL, _DATA_LOCATION = 2, 9, 13, 14  # TensorProto
_KEY, _VALUE = 1, 2  # StringStringEntryProto
_EXTERNAL_FILE = 1
# Integers of a byte or less need no alignment.
_BYTE_TYPES = frozenset({2, 3, 21, 22})  # UINT8, INT8, UINT4, INT4
_MIN_MAPPED_BYTES = 1 << 16

_VARINT, _MESSAGE = 0, 2  # wire types


class Field(NamedTuple):
    number: int
    start: int
    """The start of the field, including its key."""
    content: int
    stop: int


def mapped_graph(path: Path, least: int = _MIN_MAPPED_BYTES) -> bytes:
    """Return the model with its large weights as references into the file.

    Raises ValueError or IndexError for a file that is not ONNX.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        return b"".join(
            _message(_GRAPH, _graph(content, field, path.name, least))
            if field.number == _GRAPH
            else content[field.start : field.stop]
            for field in fields(content, 0, len(content))
        )


def _graph(content: mmap, graph: Field, name: str, least: int) -> bytes:
    return b"".join(
        _message(_INITIALIZER, _tensor(content, field, name, least))
        if field.number == _INITIALIZER and field.stop - field.content >= least
        else content[field.start : field.stop]
        for field in fields(content, graph.content, graph.stop)
    )


def _tensor(content: mmap, tensor: Field, name: str, least: int) -> bytes:
    parts = list(fields(content, tensor.content, tensor.stop))
    kinds = [varint(content, field.content)[0] for field in parts if field.number == _TYPE]
    raw = [field for field in parts if field.number == _RAW and field.stop - field.content >= least]
    if len(raw) != 1 or not _BYTE_TYPES.issuperset(kinds):
        return content[tensor.content : tensor.stop]
    (weights,) = raw
    kept = (content[field.start : field.stop] for field in parts if field.number != _RAW)
    return b"".join(
        (
            *kept,
            _entry("location", name),
            _entry("offset", str(weights.content)),
            _entry("length", str(weights.stop - weights.content)),
            _as_varint(_DATA_LOCATION << 3 | _VARINT),
            _as_varint(_EXTERNAL_FILE),
        )
    )


# The encoding: https://protobuf.dev/programming-guides/encoding/


def fields(content: mmap | bytes, position: int, end: int) -> Iterator[Field]:
    while position < end:
        start = position
        key, position = varint(content, position)
        match key & 7:
            case 0:
                _, stop = varint(content, position)
            case 1:
                stop = position + 8
            case 2:
                size, position = varint(content, position)
                stop = position + size
            case 5:
                stop = position + 4
            case unknown:
                raise ValueError(f"not protobuf at {start}: wire type {unknown}")
        if stop > end:
            raise ValueError(f"cut short: the field at {start} would end at {stop}")
        yield Field(key >> 3, start, position, stop)
        position = stop


def varint(content: mmap | bytes, position: int) -> tuple[int, int]:
    """Return the number and the position after it."""
    value = shift = 0
    while True:
        byte = content[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, position


def _as_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes((*encoded, value))


def _message(number: int, content: bytes) -> bytes:
    return _as_varint(number << 3 | _MESSAGE) + _as_varint(len(content)) + content


def _entry(key: str, value: str) -> bytes:
    return _message(_EXTERNAL, _message(_KEY, key.encode()) + _message(_VALUE, value.encode()))
