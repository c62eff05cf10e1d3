"""The network of an int8 ONNX file in PyTorch, with an adapter that is trained through the rounding."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

sys.path.append(str(Path(__file__).parents[1]))

from merge import DOWN_BITS, MOST, UNIT_BITS, UP_BITS, tensors_of

HEADS = 12
MATRICES = ("query", "key", "value", "attention.output", "intermediate", "output")
"""The matrices of one layer, in the order in which the file has them."""
EPSILON = 1e-12
CONVERTED_LAYERS = 12


class Matrix(nn.Module):  # type: ignore[misc,unused-ignore]  # PyTorch is not in this environment
    """An int8 matrix with a scale for each column and an adapter of low rank."""

    def __init__(self, name: str, numbers: Tensor, scale: Tensor, bias: Tensor, rank: int) -> None:
        super().__init__()
        self.name = name
        self.register_buffer("numbers", numbers)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", bias)
        self.down = nn.Parameter(torch.randn(len(numbers), rank) / math.sqrt(len(numbers)))
        self.up = nn.Parameter(torch.zeros(rank, numbers.shape[1]))

    def tuned_numbers(self) -> Tensor:
        """Return the int8 numbers that will be in the file; gradients pass the rounding unchanged."""
        exact = self.numbers + (self.down @ self.up) * 2**UNIT_BITS
        kept = exact.clamp(-MOST, MOST)
        return (kept + (kept.round() - kept).detach()).bfloat16()

    def forward(self, rows: Tensor, tuned: Tensor) -> Tensor:
        return (rows @ tuned) * self.scale + self.bias

    def factors(self, blend: float = 1.0) -> dict[str, NDArray[np.int16]]:
        """Return the adapter as integers, with a part of its change."""
        return {
            f"{self.name}/down": _fixed(self.down, DOWN_BITS),
            f"{self.name}/up": _fixed(self.up * blend, UP_BITS),
        }


def _fixed(values: Tensor, bits: int) -> NDArray[np.int16]:
    numbers: NDArray[np.float64] = np.rint(values.detach().double().numpy() * 2**bits)
    if abs(numbers).max() >= 2**15:
        raise SystemExit("The adapter's numbers are too large for int16; train with a lower rate.")
    return numbers.astype(np.int16)


class Network(nn.Module):  # type: ignore[misc,unused-ignore]  # as above
    """A BERT encoder. All arithmetic but the adapter's is in bfloat16."""

    words: Tensor
    places: Tensor
    """The vector of each place, with that of the only type of text."""
    first_norm: tuple[Tensor, Tensor]

    def __init__(self, file: Path, rank: int) -> None:
        super().__init__()
        content = file.read_bytes()
        tensors = dict(tensors_of(content))
        self.layers = nn.ModuleList()
        self.norms: list[tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]] = []

        def read(name: str) -> Tensor:
            return torch.from_numpy(np.array(tensors[name].read(content), np.float32))

        if "c0" in tensors:
            self._read_converted(read, rank)
        else:
            self._read_exported(read, list(tensors), rank)

    def _read_converted(self, read: Callable[[str], Tensor], rank: int) -> None:
        """Read the file of `models/convert_e5.py`, whose constants are numbered in order."""
        packed = read("c0").to(torch.int32)
        numbers = torch.cat([packed & 15, packed >> 4], 1) - 8
        blocks = numbers.unflatten(1, (read("c5").shape[1], -1))
        self.words = (blocks * read("c5")).flatten(1).bfloat16()
        self.places = read("c8").bfloat16()
        self.first_norm = read("c9").bfloat16(), read("c10").bfloat16()
        for first in range(11, 11 + 16 * CONVERTED_LAYERS, 16):

            def matrix(place: int, first: int = first) -> Matrix:
                name = f"c{first + place}"
                scale, bias = (read(f"c{first + place + more}").bfloat16() for more in (1, 2))
                return Matrix(name, read(name), scale, bias, rank)

            def norm(place: int, first: int = first) -> tuple[Tensor, Tensor]:
                return read(f"c{first + place}").bfloat16(), read(f"c{first + place + 1}").bfloat16()

            # Query, key and value are one matrix.
            self.layers.append(nn.ModuleList(map(matrix, (0, 3, 8, 11))))
            self.norms.append((norm(6), norm(14)))

    def _read_exported(self, read: Callable[[str], Tensor], tensors: Sequence[str], rank: int) -> None:
        """Read a file that onnxruntime has quantized."""

        def table(name: str) -> Tensor:
            name = f"embeddings.{name}_embeddings.weight"
            return ((read(f"{name}_quantized") - 128) * read(f"{name}_scale")).bfloat16()

        def norm(name: str) -> tuple[Tensor, Tensor]:
            return read(f"{name}.weight").bfloat16(), read(f"{name}.bias").bfloat16()

        self.words, self.places = table("word"), table("position") + table("token_type")[0]
        self.first_norm = norm("embeddings.LayerNorm")
        names = sorted(name for name in tensors if name.startswith("onnx::MatMul"))
        names = [name for name in names if name.endswith("_quantized")]
        for layer in range(len(names) // len(MATRICES)):
            head = f"encoder.layer.{layer}."
            biases = (
                *(f"attention.self.{each}" for each in ("query", "key", "value")),
                "attention.output.dense", "intermediate.dense", "output.dense",
            )  # fmt: skip
            self.layers.append(
                nn.ModuleList(
                    Matrix(
                        name,
                        read(name),
                        read(name.replace("_quantized", "_scale")).bfloat16(),
                        read(f"{head}{bias}.bias").bfloat16(),
                        rank,
                    )
                    for name, bias in zip(names[layer * 6 :], biases, strict=False)
                )
            )
            self.norms.append((norm(f"{head}attention.output.LayerNorm"), norm(f"{head}output.LayerNorm")))

    def tuned_numbers(self) -> list[list[Tensor]]:
        """Return all matrices as they will be in the file; computed once for all texts of a step."""
        return [[matrix.tuned_numbers() for matrix in layer] for layer in self.layers]

    def forward(self, ids: Tensor, mask: Tensor, tuned: list[list[Tensor]]) -> Tensor:
        """Return the vectors of all tokens. `mask` is true for tokens, false for padding."""
        rows = self.words[ids] + self.places[: ids.shape[1]]
        rows = _norm(rows, self.first_norm)
        hidden = torch.where(mask, 0.0, -torch.inf).bfloat16()[:, None, None, :]
        for layer, norms, now in zip(self.layers, self.norms, tuned, strict=True):
            *asking, after, wide, narrow = layer
            asked = torch.cat([each(rows, own) for each, own in zip(asking, now, strict=False)], 2)
            queries, keys, values = map(_split, asked.chunk(3, 2))
            mixed = _attend(queries, keys, values, hidden).transpose(1, 2).flatten(2)
            rows = _norm(rows + after(mixed, now[-3]), norms[0])
            rows = _norm(rows + narrow(functional.gelu(wide(rows, now[-2])), now[-1]), norms[1])
        return rows

    def adapter(self, blend: float = 1.0) -> dict[str, NDArray[np.int16]]:
        return {
            name: numbers
            for layer in self.layers
            for matrix in layer
            for name, numbers in matrix.factors(blend).items()
        }


def _norm(rows: Tensor, weights: tuple[Tensor, Tensor]) -> Tensor:
    return functional.layer_norm(rows, rows.shape[-1:], *weights, eps=EPSILON)


def _split(rows: Tensor) -> Tensor:
    return rows.unflatten(2, (HEADS, -1)).transpose(1, 2)


def _attend(query: Tensor, key: Tensor, value: Tensor, hidden: Tensor) -> Tensor:
    # PyTorch's own function takes five times as long backwards on a processor.
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1]) + hidden
    return functional.softmax(scores, -1) @ value
