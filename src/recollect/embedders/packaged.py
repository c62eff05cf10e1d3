"""Models of our packages: transformers as ONNX files, and static tables of one vector for each token."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.windows import as_one, readable, windows
from recollect.models.loading import load_onnx, load_tokenizer, stored_model, unreadable_files
from recollect.models.registry import made_once
from recollect.vectors import Rows, normalised

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.models.registry import PackagedModel
    from recollect.ports import Vector, Vectors

Encoder = Callable[[str, str], "Vector"]
"""The vector of a text with a prefix before it."""
_OVERLAP = 64
"""Tokens that two neighbouring windows share, so that a sentence cut by one is whole in the other."""


class PackagedEmbedder:
    """Cheap to make: the weights are read when the first text comes. Safe between threads."""

    def __init__(self, packaged: PackagedModel, threads: int = 1) -> None:
        load = load_table if packaged.architecture == "static" else load_transformer
        self.model = stored_model(packaged)
        self._packaged = packaged
        self._encoder = made_once(lambda: load(packaged, threads))

    def documents(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.model.dims), dtype=np.float32)
        # One text at a time: int8 models scale activations over the whole batch, so in company a text
        # would get another vector than alone (cosine down to .992), and batches are no faster on a CPU.
        for row, text in enumerate(texts):
            rows[row] = self._encoder()(text, self._packaged.document_prefix)
        return rows

    def query(self, text: str) -> Vector:
        return self._encoder()(text, self._packaged.query_prefix)


def load_transformer(packaged: PackagedModel, threads: int) -> Encoder:
    loaded = load_onnx(packaged, threads)

    def pooled(tokens: Vectors) -> Vector:
        return normalised(tokens[0] if packaged.pooling == "cls" else tokens.mean(axis=0))

    def encode(text: str, prefix: str) -> Vector:
        runs = token_windows(loaded.tokenizer, text, prefix, packaged.tokens)
        return as_one(np.stack([pooled(loaded.run(ids)[0]) for ids in runs]))

    return encode


def token_windows(tokenizer: Any, text: str, prefix: str, limit: int | None) -> Sequence[Sequence[int]]:
    """The ids to run: the whole text if it fits; else windows of it, each with the prefix and its frame."""
    ids: list[int] = tokenizer.encode(prefix + readable(text)).ids
    if limit is None or len(ids) <= limit:
        return [ids]
    frame = tokenizer.encode(prefix.rstrip())
    tail = next((n for n, special in enumerate(reversed(frame.special_tokens_mask)) if not special), 1)
    head = len(frame.ids) - tail
    body = ids[head : len(ids) - tail]
    room = limit - head - tail
    return [
        ids[:head] + body[window] + ids[len(ids) - tail :] for window in windows(len(body), room, _OVERLAP)
    ]


def load_table(packaged: PackagedModel, _threads: int) -> Encoder:
    """Needs no onnxruntime, and reads texts of any length whole: a text is the mean of its tokens."""
    tokenizer = load_tokenizer(packaged)
    try:
        table = only_tensor(packaged.weights)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_files(packaged, error) from error
    unknown = tokenizer.token_to_id("[UNK]")

    def encode(text: str, prefix: str) -> Vector:
        tokens = tokenizer.encode(readable(prefix + text), add_special_tokens=False).ids
        known = [token for token in tokens if token != unknown]
        # How much a token weighs is already in the length of its vector. Words the table does
        # not know say nothing, so a text of nothing else stays zero, and is like no other.
        return normalised(table[known].mean(axis=0) if known else np.zeros(packaged.dims))

    return encode


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
