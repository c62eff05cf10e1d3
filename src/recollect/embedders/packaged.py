"""Models of our packages: transformers as ONNX files, and static tables of one vector for each token."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from recollect.embedders.several_threads import TextThreads, usable_cores
from recollect.embedders.token_vectors import document_signs, query_tokens
from recollect.embedders.windows import as_one, readable, windows
from recollect.models.loading import load_onnx, load_tokenizer, read_centre, stored_model, unreadable_files
from recollect.models.registry import made_once
from recollect.vectors import Rows, normalised

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.models.registry import PackagedModel
    from recollect.ports import Vector, Vectors

_OVERLAP = 64
"""Tokens that two neighbouring windows share, so that a sentence cut by one is whole in the other."""
_MOST_AT_ONCE = 4
"""Texts that are read at once, on a core each: an import should not take the whole of a large machine."""


class EncodedText(NamedTuple):
    """What a model makes of a text."""

    vector: Vector
    pieces: Sequence[str] = ()
    """The text's own tokens, as the vocabulary writes them: without the prefix and what frames it."""
    tokens: Vectors | None = None
    """The model's output for each of them. None: it has none."""


Encoder = Callable[[str, str], EncodedText]
"""Reads a text with a prefix before it."""


class PackagedEmbedder:
    """Cheap to make: the weights are read when the first text comes. Safe between threads.

    `threads` are those of one run of the model; `at_once` is how many texts are read at a time, by default
    one to a core.
    """

    def __init__(self, packaged: PackagedModel, threads: int = 1, at_once: int | None = None) -> None:
        load = load_table if packaged.architecture == "static" else load_transformer
        self.model = stored_model(packaged)
        self._packaged = packaged
        self._encoder = made_once(lambda: load(packaged, threads))
        self._threads = TextThreads(at_once or _texts_at_once(packaged, threads))
        self._token_centre: Vector | None = None
        if packaged.token_centre is not None and packaged.token_centre.is_file():
            self._token_centre = read_centre(packaged.token_centre)

    @property
    def gives_tokens(self) -> bool:
        return self._token_centre is not None

    def documents(self, texts: Sequence[str]) -> Vectors:
        return self._rows(self._threads.map(lambda text: self._document(text).vector, texts))

    def documents_with_tokens(self, texts: Sequence[str]) -> tuple[Vectors, Sequence[bytes]]:
        read = self._threads.map(self._with_signs, texts)
        return self._rows([vector for vector, _ in read]), [signs for _, signs in read]

    def query(self, text: str) -> Vector:
        with self._threads.given_way():
            return self._query(text).vector

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        with self._threads.given_way():
            read = self._query(text)
        if self._token_centre is None or read.tokens is None:
            return read.vector, None
        return read.vector, query_tokens(read.tokens, self._token_centre)

    def _document(self, text: str) -> EncodedText:
        # One text a run: int8 models scale activations over the whole batch, so in company a text would get
        # another vector than alone (cosine down to .992), and batches are no faster on a CPU.
        return self._encoder()(text, self._packaged.document_prefix)

    def _with_signs(self, text: str) -> tuple[Vector, bytes]:
        read = self._document(text)
        return read.vector, self._signs(read)

    def _query(self, text: str) -> EncodedText:
        return self._encoder()(text, self._packaged.query_prefix)

    def _rows(self, vectors: Sequence[Vector]) -> Vectors:
        return np.stack(vectors) if vectors else np.empty((0, self.model.dims), dtype=np.float32)

    def _signs(self, read: EncodedText) -> bytes:
        if self._token_centre is None or read.tokens is None:
            return b""
        return document_signs(read.pieces, read.tokens, self._token_centre)


def _texts_at_once(packaged: PackagedModel, threads: int) -> int:
    # A table is read in microseconds, most of them Python's own, which no second thread shares.
    return 1 if packaged.architecture == "static" else max(1, min(_MOST_AT_ONCE, usable_cores() // threads))


def load_transformer(packaged: PackagedModel, threads: int) -> Encoder:
    loaded = load_onnx(packaged, threads)
    frame_of = lru_cache(maxsize=8)(lambda prefix: _frame(loaded.tokenizer, prefix))

    def pooled(tokens: Vectors) -> Vector:
        return normalised(tokens[0] if packaged.pooling == "cls" else tokens.mean(axis=0))

    def encode(text: str, prefix: str) -> EncodedText:
        runs = token_windows(loaded.tokenizer, text, prefix, packaged.tokens)
        outputs = [loaded.run(ids)[0] for ids in runs]
        vector = as_one(np.stack([pooled(tokens) for tokens in outputs]))
        # Of a text that is longer than the model reads at once, the tokens of its beginning: as many as are
        # kept, or nearly.
        head, tail = frame_of(prefix)
        own = slice(head, len(runs[0]) - tail)
        return EncodedText(
            vector, [loaded.tokenizer.id_to_token(id_) for id_ in runs[0][own]], outputs[0][own]
        )

    return encode


def token_windows(tokenizer: Any, text: str, prefix: str, limit: int | None) -> Sequence[Sequence[int]]:
    """The ids to run: the whole text if it fits; else windows of it, each with the prefix and its frame."""
    ids: list[int] = tokenizer.encode(prefix + readable(text)).ids
    if limit is None or len(ids) <= limit:
        return [ids]
    head, tail = _frame(tokenizer, prefix)
    body = ids[head : len(ids) - tail]
    room = limit - head - tail
    return [
        ids[:head] + body[window] + ids[len(ids) - tail :] for window in windows(len(body), room, _OVERLAP)
    ]


def _frame(tokenizer: Any, prefix: str) -> tuple[int, int]:
    """How many tokens stand before a text, and how many after it."""
    frame = tokenizer.encode(prefix.rstrip())
    tail = next((n for n, special in enumerate(reversed(frame.special_tokens_mask)) if not special), 1)
    return len(frame.ids) - tail, tail


def load_table(packaged: PackagedModel, _threads: int) -> Encoder:
    """Needs no onnxruntime, and reads texts of any length whole: a text is the mean of its tokens."""
    tokenizer = load_tokenizer(packaged)
    try:
        table = only_tensor(packaged.weights)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_files(packaged, error) from error
    unknown = tokenizer.token_to_id("[UNK]")

    def encode(text: str, prefix: str) -> EncodedText:
        tokens = tokenizer.encode(readable(prefix + text), add_special_tokens=False).ids
        known = [token for token in tokens if token != unknown]
        # How much a token weighs is already in the length of its vector. Words the table does
        # not know say nothing, so a text of nothing else stays zero, and is like no other.
        return EncodedText(normalised(table[known].mean(axis=0) if known else np.zeros(packaged.dims)))

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
