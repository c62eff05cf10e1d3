"""Adding an adapter to a model's int8 weights, as the build of its wheel does."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from merge import DOWN_BITS, SHIFT, UP_BITS, add_product, merge_adapter, read_adapter, tensors_of
from recollect.models.registry import packaged_model

MODELS = Path(__file__).parents[4] / "models"
TUNED = MODELS / "arctic-memory"


def field(number: int, content: bytes | int) -> bytes:
    """One field of protobuf; numbers and lengths under 128 take one byte."""
    if isinstance(content, int):
        return bytes((number << 3, content))
    return bytes((number << 3 | 2, len(content))) + content


def file_with(numbers: list[list[int]]) -> bytes:
    """Version (1), and a graph (7) with a tensor (5): shape (1), type int8 (2), name (8), numbers (9)."""
    rows = np.array(numbers, np.int8)
    shape = b"".join(field(1, size) for size in rows.shape)
    tensor = shape + field(2, 3) + field(8, b"w") + field(9, rows.tobytes())
    return field(1, 8) + field(7, field(5, tensor)) + field(14, 1)


def test_the_product_is_added_in_steps_of_the_grid() -> None:
    # A product of 1 is 128 steps. 1 * 3/128 is 3 steps, 1/2 * 3/128 is 1.5, which is rounded up to 2.
    down = np.array([[1 << DOWN_BITS], [1 << DOWN_BITS - 1], [0]], np.int16)
    up = np.array([[3 << UP_BITS - 7, -(3 << UP_BITS - 7)]], np.int16)
    old = np.array([[10, 10], [10, 10], [10, 10]])
    assert 2.0**-SHIFT * int(down[0, 0]) * int(up[0, 0]) == 3
    # -1.5 is rounded up to -1.
    assert add_product(old, down, up).tolist() == [[13, 7], [12, 9], [10, 10]]


def test_numbers_stay_within_the_range_of_the_file() -> None:
    down = np.array([[1 << DOWN_BITS]], np.int16)
    up = np.array([[1 << UP_BITS - 1, -(1 << UP_BITS - 1)]], np.int16)  # 64 steps
    assert add_product(np.array([[5, -5]]), down, up).tolist() == [[64, -64]]


def test_only_the_numbers_of_the_matrix_change_in_the_file() -> None:
    down = np.array([[1 << DOWN_BITS], [0]], np.int16)
    up = np.array([[1 << UP_BITS - 7, 0, 0]], np.int16)
    made = merge_adapter(file_with([[1, 2, 3], [4, 5, 6]]), {"w/down": down, "w/up": up})
    assert made == file_with([[2, 2, 3], [4, 5, 6]])


def test_the_largest_factors_do_not_overflow() -> None:
    largest = 2**15 - 1
    down, up = np.full((1, 8), largest, np.int16), np.full((8, 1), -largest, np.int16)
    assert add_product(np.array([[0]]), down, up).tolist() == [[-64]]


def test_the_adapter_makes_the_pinned_weights_of_the_base() -> None:
    plain, tuned = packaged_model("arctic-s"), packaged_model("arctic-memory")
    if plain is None or tuned is None:
        pytest.skip("both models must be installed")
    descriptor = json.loads((TUNED / "recollect_model_arctic_memory" / "model.json").read_text())
    made = merge_adapter(plain.weights.read_bytes(), read_adapter(TUNED / "adapter.npz"))
    found = hashlib.sha256(made).hexdigest()
    assert found == descriptor["merged"]["sha256"]
    assert descriptor["revision"] == found[:8]
    assert made == tuned.weights.read_bytes()


def test_the_tuned_multilingual_weights_are_the_pinned_ones() -> None:
    # Made from weights that no other package has; the build itself merges them.
    tuned = packaged_model("e5-memory")
    if tuned is None:
        pytest.skip("the model must be installed")
    descriptor = json.loads((MODELS / "e5-memory/recollect_model_e5_memory/model.json").read_text())
    found = hashlib.sha256(tuned.weights.read_bytes()).hexdigest()
    assert found == descriptor["merged"]["sha256"]
    assert descriptor["revision"] == found[:8] == tuned.revision


def test_the_adapter_changes_matrices_and_nothing_else() -> None:
    plain, tuned = packaged_model("arctic-s"), packaged_model("arctic-memory")
    if plain is None or tuned is None:
        pytest.skip("both models must be installed")
    before, after = plain.weights.read_bytes(), tuned.weights.read_bytes()
    assert len(before) == len(after)
    changed = {
        name
        for name, tensor in tensors_of(before)
        if before[tensor.start : tensor.stop] != after[tensor.start : tensor.stop]
    }
    assert len(changed) == 72
    assert all(name.startswith("onnx::MatMul") for name in changed)
