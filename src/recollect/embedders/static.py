"""Static models: a text's vector is the mean of its tokens' vectors, looked up in a table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.windows import readable
from recollect.models.loading import OnFirstUse, load_tokenizer, stored_model, unreadable_files
from recollect.vectors import Rows, normalised

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from recollect.models.registry import PackagedModel
    from recollect.ports import Vector, Vectors
    from recollect.records import Model


class StaticEmbedder:
    """Cheap to make, like every embedder of ours; needs no onnxruntime. Reads texts of any length whole."""

    def __init__(self, packaged: PackagedModel) -> None:
        self._packaged = packaged
        self._model = stored_model(packaged)
        self._loaded = OnFirstUse(lambda: _load(packaged))

    @property
    def model(self) -> Model:
        return self._model

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._rows([self._packaged.document_prefix + text for text in texts])

    def query(self, text: str) -> Vector:
        row: Vector = self._rows([self._packaged.query_prefix + text])[0]
        return row

    def _rows(self, texts: Sequence[str]) -> Vectors:
        loaded = self._loaded()
        rows = np.zeros((len(texts), self._model.dims), dtype=np.float32)
        for row, text in enumerate(texts):
            ids = _known_tokens(loaded, text)
            # How much a token weighs is already in the length of its vector. Words the table does
            # not know say nothing, so a text of nothing else stays zero, and is like no other.
            if ids:
                rows[row] = loaded.table[ids].mean(axis=0)
        return normalised(rows)


@dataclass(frozen=True, slots=True)
class _StaticTable:
    table: Rows
    tokenizer: Any
    unknown: int | None


def _known_tokens(loaded: _StaticTable, text: str) -> Sequence[int]:
    ids = loaded.tokenizer.encode(readable(text), add_special_tokens=False).ids
    return [token for token in ids if token != loaded.unknown]


def _load(packaged: PackagedModel) -> _StaticTable:
    tokenizer = load_tokenizer(packaged)
    try:
        table = only_tensor(packaged.weights)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_files(packaged, error) from error
    return _StaticTable(table, tokenizer, tokenizer.token_to_id("[UNK]"))


def only_tensor(path: Path) -> Rows:
    """The one float32 matrix of a safetensors file: eight bytes of length, a JSON header, the numbers."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > path.stat().st_size:
            raise ValueError("the header is longer than the file")
        header = json.loads(file.read(length))
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    if tensor["dtype"] != "F32":
        raise ValueError(f"expected float32, found {tensor['dtype']}")
    # Mapped, so that processes share it and only the rows in use are read.
    start = 8 + length + tensor["data_offsets"][0]
    return np.memmap(path, dtype="<f4", mode="r", offset=start, shape=tuple(tensor["shape"]))
