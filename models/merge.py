"""Add an adapter to the int8 weights of an ONNX file, so that every machine writes the same bytes.

A matrix of the network is int8 numbers and a scale for each column. The adapter has two thin int16 matrices
for it, `down` and `up`. The new numbers are `old + down @ up / 2**SHIFT`, rounded and kept within the range
of the old ones. All arithmetic is on integers. Scales stay, so the file keeps its length and its network.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

# A build has Recollect beside it, not installed; this module of it needs nothing but Python.
sys.path.append(str(Path(__file__).parents[1] / "packages" / "recollect" / "src"))

from recollect.models.onnx_graph import fields, varint

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

MOST = 64
"""The file's numbers are within ±64: some processors add two products of bytes in 16 bits."""
DOWN_BITS, UP_BITS = 14, 12
"""Fraction bits of the two thin matrices."""
UNIT_BITS = 7
"""A product of 1 is 128 steps, so that both matrices have numbers of the usual size of an adapter."""
SHIFT = DOWN_BITS + UP_BITS - UNIT_BITS

# Field numbers of onnx.proto, by message.
_GRAPH = 7  # ModelProto
_INITIALIZER = 5  # GraphProto
_DIMS, _TYPE, _FLOATS, _NAME, _RAW = 1, 2, 4, 8, 9  # TensorProto
TYPES = {1: "<f4", 2: "u1", 3: "i1", 10: "<f2"}
"""NumPy's names of the types of numbers that are read."""


class Tensor(NamedTuple):
    type: int
    shape: tuple[int, ...]
    start: int
    """The start of the numbers in the file."""
    stop: int

    def read(self, content: bytes) -> NDArray[np.int8 | np.uint8 | np.float32]:
        numbers: NDArray[np.int8 | np.uint8 | np.float32] = np.frombuffer(
            content[self.start : self.stop], TYPES[self.type]
        )
        return numbers.reshape(self.shape)


def merge_adapter(content: bytes, adapter: Mapping[str, NDArray[np.int16]]) -> bytes:
    """Return the file with the adapter added. The adapter has `NAME/down` and `NAME/up` for tensors."""
    tensors = dict(tensors_of(content))
    made = bytearray(content)
    for name in sorted({key.rpartition("/")[0] for key in adapter}):
        tensor = tensors[name]
        numbers = tensor.read(content).astype(np.int64)
        tuned = add_product(numbers, adapter[f"{name}/down"], adapter[f"{name}/up"])
        made[tensor.start : tensor.stop] = tuned.astype(np.int8).tobytes()
    return bytes(made)


def add_product(numbers: Integers, down: NDArray[np.int16], up: NDArray[np.int16]) -> Integers:
    """Add the product of the two matrices, rounded half up."""
    product = down.astype(np.int64) @ up.astype(np.int64)
    change = (product + (1 << (SHIFT - 1))) >> SHIFT
    return np.clip(numbers + change, -MOST, MOST)


def read_adapter(path: Path) -> Mapping[str, NDArray[np.int16]]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def tensors_of(content: bytes) -> Iterator[tuple[str, Tensor]]:
    """Yield the weights of an ONNX file by name, with the places of their numbers."""
    for part in fields(content, 0, len(content)):
        if part.number != _GRAPH:
            continue
        for tensor in fields(content, part.content, part.stop):
            if tensor.number == _INITIALIZER:
                yield _tensor(content, tensor.content, tensor.stop)


def _tensor(content: bytes, start: int, stop: int) -> tuple[str, Tensor]:
    parts = {field.number: field for field in fields(content, start, stop) if field.number != _DIMS}
    numbers = parts.get(_RAW) or parts.get(_FLOATS)
    name = parts[_NAME]
    return content[name.content : name.stop].decode(), Tensor(
        varint(content, parts[_TYPE].content)[0],
        tuple(_shape(content, start, stop)),
        *((numbers.content, numbers.stop) if numbers else (0, 0)),
    )


def _shape(content: bytes, start: int, stop: int) -> Iterator[int]:
    for field in fields(content, start, stop):
        if field.number == _DIMS:
            position = field.content
            while position < field.stop:
                size, position = varint(content, position)
                yield size
