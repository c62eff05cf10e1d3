"""Models of our packages: embedders and cross-encoders as ONNX files, and static tables of token vectors."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from contextlib import contextmanager, suppress
from enum import StrEnum
from functools import lru_cache
from importlib import import_module
from math import ceil
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from recollect.domain.errors import ModelUnavailable
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.numbers import Rows, normalised, pack_signs, pack_vector
from recollect.domain.records import Model
from recollect.language.words import STOPWORDS
from recollect.models.onnx_graph import mapped_graph
from recollect.models.registry import RERANKER, make_once, ready_model, reinstall_command
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from recollect.models.registry import PackagedModel
    from recollect.ranking.candidates import Floats
    from recollect.stores.port import Reranker, Vector, Vectors


# Embed several texts at once, one per thread. The results are the same as with one thread.

_Result = TypeVar("_Result")


def usable_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class TextThreads:
    """Map a function over texts in the caller's thread and in helper threads.

    No thread outlives a call, so a process can be forked and ended at any time. Helpers stop when a query
    comes in, so that a large write does not take the cores from queries.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        """Maximum number of threads in one call, including the caller's."""
        self._lock = Lock()
        self._questions = 0

    @contextmanager
    def given_way(self) -> Iterator[None]:
        """Let no helper start a text until the end of the block. Helpers that see this end."""
        with self._lock:
            self._questions += 1
        try:
            yield
        finally:
            with self._lock:
                self._questions -= 1

    def map(self, read: Callable[[str], _Result], texts: Sequence[str]) -> list[_Result]:
        """Return `read(text)` for each text, in order. The first error ends the work."""
        if self.most == 1 or len(texts) < 2:
            return [read(text) for text in texts]
        # Start with the longest, so that the call does not end with a long text in one thread.
        left = deque(sorted(range(len(texts)), key=lambda place: -len(texts[place])))
        results: dict[int, _Result] = {}
        errors: list[BaseException] = []

        def work(*, helps: bool = True) -> None:
            while not (helps and self._questions):
                try:
                    place = left.popleft()
                except IndexError:
                    return
                try:
                    results[place] = read(texts[place])
                except BaseException as error:  # noqa: BLE001  # raised by the caller's thread
                    errors.append(error)
                    left.clear()

        helpers = []
        # The system may refuse more threads, or the process may be about to end.
        with suppress(RuntimeError):
            for _ in range(min(self.most, len(texts)) - 1):
                helper = Thread(target=work, name="recollect-embedding", daemon=True)
                helper.start()
                helpers.append(helper)
        try:
            work(helps=False)
        finally:
            left.clear()
            for helper in helpers:
                helper.join()
        if errors:
            raise errors[0]
        return [results[place] for place in range(len(texts))]


# Token vectors for late interaction: which are kept, and relative to which centre.

MOST_DOCUMENT_TOKENS = 256
MOST_QUERY_TOKENS = 128
"""The most tokens of a query that are compared: each is compared with all tokens of every candidate."""
_CACHED_TOKENS = 65_536


def centred_tokens(tokens: Vectors, centre: Vector) -> Vectors:
    """Subtract the mean direction of all tokens, and scale to length one."""
    return normalised(normalised(tokens) - centre)


def document_signs(pieces: Sequence[str], tokens: Vectors, centre: Vector) -> bytes:
    """Return the signs of the informative tokens' numbers as bits; of all tokens if none is informative."""
    informative = np.fromiter(map(tells_something, pieces), bool, len(pieces))
    kept = (tokens[informative] if informative.any() else tokens)[:MOST_DOCUMENT_TOKENS]
    # These have the signs of `centred_tokens`, since scaling to length one changes no sign.
    return pack_signs(normalised(kept) - centre)


@lru_cache(maxsize=_CACHED_TOKENS)
def tells_something(piece: str) -> bool:
    """Whether a token of a vocabulary is more than punctuation or a stopword."""
    word = fold(piece.removeprefix("##").lstrip("▁"))
    return word not in STOPWORDS and any(map(str.isalnum, word))


# Texts longer than a model's limit are read in overlapping pieces, whose vectors are averaged.


def readable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def windows(length: int, size: int, overlap: int) -> Sequence[slice]:
    """Return slices of at most `size` that cover `length`, all of about the same length.

    With equal slices, the mean of their vectors weighs all parts of the text alike.
    """
    if length <= size:
        return [slice(0, length)]
    count = ceil((length - overlap) / (size - overlap))
    even = ceil((length + (count - 1) * overlap) / count)
    starts = [round(i * (length - even) / (count - 1)) for i in range(count)]
    return [slice(start, start + even) for start in starts]


def as_one(rows: Vectors) -> Vector:
    """Return the mean direction of the vectors of a text's pieces."""
    return rows[0] if len(rows) == 1 else normalised(rows.mean(axis=0))


def halves(text: str) -> tuple[str, str]:
    """Split a text into two parts that share an eighth around the middle."""
    middle, shared = len(text) // 2, len(text) // 16
    return text[: middle + shared], text[middle - shared :]


def in_pieces(text: str, fits: Callable[[str], bool]) -> Sequence[str]:
    """Halve a text until every piece fits, for models whose tokenizer is not available."""
    if len(text) < 2 or fits(text):
        return [text]
    return [piece for half in halves(text) for piece in in_pieces(half, fits)]


class Role(StrEnum):
    """Whether a text is a query or a document; many models treat them differently."""

    QUERY = "query"
    DOCUMENT = "document"


_SEARCHING = "Represent this sentence for searching relevant passages: "
# Prefixes that open models were trained with, for queries and documents, where neither server nor library
# adds them. The first entry whose text is in the model's name applies.
_PREFIXES = (
    ("instruct", "", ""),  # these need an instruction that only the user knows
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("mxbai-embed-large", _SEARCHING, ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    ("snowflake-arctic-embed-l-v2", "query: ", ""),
    ("snowflake-arctic-embed-m-v2", "query: ", ""),
    ("snowflake-arctic-embed", _SEARCHING, ""),
    ("bge-small-en", _SEARCHING, ""),
    ("bge-base-en", _SEARCHING, ""),
    ("bge-large-en", _SEARCHING, ""),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("e5-small", "query: ", "passage: "),
    ("e5-base", "query: ", "passage: "),
    ("e5-large", "query: ", "passage: "),
)


def prefixes(model: str) -> Mapping[Role, str]:
    """Return the prefixes for a model; empty if none is known."""
    plain = model.lower()
    found = next((rest for part, *rest in _PREFIXES if part in plain), ["", ""])
    return {Role.QUERY: found[0], Role.DOCUMENT: found[1]}


class PiecewiseEmbedder(ABC):
    """An embedder that splits long texts into pieces. The first vector shows its width."""

    def __init__(self, full_name: str) -> None:
        self._full_name = full_name
        self._dims: int | None = None

    @property
    def model(self) -> Model:
        if self._dims is None:
            self.query("width")
        return Model(name=self._full_name, dims=self._dims or 0)

    def documents(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.model.dims), dtype=np.float32)
        return self._whole(texts, Role.DOCUMENT)

    def query(self, text: str) -> Vector:
        row: Vector = self._whole([text], Role.QUERY)[0]
        return row

    def _whole(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one row per text: the mean direction of its pieces, if it is too long for the model."""
        pieces = [in_pieces(readable(text), self._fits) for text in texts]
        rows = self._vectors([piece for of_text in pieces for piece in of_text], role)
        ends = np.cumsum([len(of_text) for of_text in pieces])
        self._dims = rows.shape[1]
        return np.stack([as_one(part) for part in np.split(rows, ends[:-1])])

    @abstractmethod
    def _vectors(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return one normalised row for each text; all texts fit."""

    @abstractmethod
    def _fits(self, text: str) -> bool: ...


# Loading: optional libraries, tokenizers and ONNX files.

_FINDS_WEIGHTS = (1, 21)
"""The first version of onnxruntime that looks for weights in the given folder. Version 1.20 read any file of
that name in the working directory."""


@dataclass(frozen=True, slots=True)
class OnnxModel:
    """A network ready to run, with its tokenizer, which neither cuts nor pads."""

    session: Any
    tokenizer: Any
    inputs: tuple[str, ...]

    def run(self, ids: Sequence[int], type_ids: Sequence[int] | None = None) -> Any:
        """Return the network's first output for one text, or for a pair that its type ids separate."""
        tokens = np.array([ids], dtype=np.int64)
        types = np.zeros_like(tokens) if type_ids is None else np.array([type_ids], dtype=np.int64)
        feeds = {"input_ids": tokens, "attention_mask": np.ones_like(tokens), "token_type_ids": types}
        return self.session.run(None, {name: feeds[name] for name in self.inputs})[0]


def load_onnx(packaged: PackagedModel, threads: int) -> OnnxModel:
    runtime = import_library("onnxruntime", "pip install onnxruntime")
    try:
        session = _session(runtime, packaged, threads)
    except Exception as error:
        raise unreadable_files(packaged, error) from error
    inputs = tuple(given.name for given in session.get_inputs())
    return OnnxModel(session, load_tokenizer(packaged), inputs)


def load_tokenizer(packaged: PackagedModel) -> Any:
    """Load the model's tokenizer without truncation and padding."""
    library = import_library("tokenizers", "pip install tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(packaged.tokenizer))
    except Exception as error:
        raise unreadable_files(packaged, error) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def stored_model(packaged: PackagedModel) -> Model:
    centre = rotation = None
    if packaged.centre is not None and packaged.centre.is_file():
        centre = pack_vector(read_centre(packaged.centre))
    if packaged.rotation is not None and packaged.rotation.is_file():
        rotation = packaged.rotation.read_bytes()
    return Model(name=packaged.full_name, dims=packaged.dims, centre=centre, rotation=rotation)


def read_centre(path: Path) -> Rows:
    """Read a vector from a JSON list."""
    return np.array(json.loads(path.read_text(encoding="utf-8")), dtype=np.float32)


def import_library(module: str, command: str) -> Any:
    """Import a module, or raise an error with the command that installs it."""
    # onnxruntime reports its use over the network unless this is set before it is imported, here or by
    # another library. Memories are private.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")  # noqa: TID251  # its only switch
    try:
        return import_module(module)
    except ImportError as error:
        missing = f"This model needs the library {module!r}, which cannot be imported ({error})"
        raise ModelUnavailable(f"{missing}; run: {command}") from error


def unreadable_files(packaged: PackagedModel, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"The files of the model {packaged.name!r} cannot be read ({error}); "
        f"run: {reinstall_command(packaged.distribution)}"
    )


def _session(runtime: Any, packaged: PackagedModel, threads: int) -> Any:
    """Open the model so that processes share its weights, if onnxruntime can do that."""
    # Follow a link first: onnxruntime looks for weights only in the folder of the graph.
    weights = packaged.weights.resolve()

    def session(model: str | bytes, *, optimise: bool = True) -> Any:
        options = runtime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # By default, a waiting thread spins and occupies a core.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.add_session_config_entry(
            "session.model_external_initializers_file_folder_path", str(weights.parent)
        )
        if not optimise:
            options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
        return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])

    if tuple(map(int, runtime.__version__.split(".")[:2])) >= _FINDS_WEIGHTS:
        # Ignore these errors: loading the whole file works or raises its own error.
        with suppress(Exception):
            if packaged.graph is not None:
                return session(packaged.graph.read_bytes(), optimise=False)
        with suppress(Exception):
            return session(mapped_graph(weights))
    return session(str(weights))


_OVERLAP = 64
"""How many tokens neighbouring windows share, so that a sentence cut by one is whole in the other."""
_MOST_AT_ONCE = 4
"""Maximum number of texts embedded at once: an import should not occupy all cores of a large machine."""


class EncodedText(NamedTuple):
    vector: Vector
    pieces: Sequence[str] = ()
    """The text's tokens, as in the vocabulary, without the prefix and special tokens."""
    tokens: Vectors | None = None
    """The model's output for each token; None for a model without token vectors."""


Encoder = Callable[[str, str], EncodedText]
"""A function that encodes a text with a prefix."""


class PackagedEmbedder:
    """An embedder from a model package. Weights are loaded with the first text. Thread-safe.

    `threads` is for one run of the model. `at_once` is the number of texts embedded at a time: by default, as
    many as the cores allow, up to four.
    """

    def __init__(self, packaged: PackagedModel, threads: int = 1, at_once: int | None = None) -> None:
        is_table = packaged.architecture == "static"
        load = load_table if is_table else load_transformer
        self.model: Model = stored_model(packaged)
        self._packaged = packaged
        self._encoder = make_once(lambda: load(packaged, threads))
        # A table is read in microseconds, mostly in Python, so threads would not help.
        usual = 1 if is_table else max(1, min(_MOST_AT_ONCE, usable_cores() // threads))
        self._threads = TextThreads(at_once or usual)
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
        return self._query(text).vector

    def query_with_tokens(self, text: str) -> tuple[Vector, Vectors | None]:
        read = self._query(text)
        if self._token_centre is None or read.tokens is None or not len(read.tokens):
            return read.vector, None
        return read.vector, centred_tokens(read.tokens[:MOST_QUERY_TOKENS], self._token_centre)

    def _document(self, text: str) -> EncodedText:
        # One text per run: int8 models scale activations over the whole batch, so a vector would depend on
        # the batch (cosine down to .992), and batches are no faster on a CPU.
        return self._encoder()(text, self._packaged.document_prefix)

    def _with_signs(self, text: str) -> tuple[Vector, bytes]:
        read = self._document(text)
        if self._token_centre is None or read.tokens is None:
            return read.vector, b""
        return read.vector, document_signs(read.pieces, read.tokens, self._token_centre)

    def _query(self, text: str) -> EncodedText:
        with self._threads.given_way():
            return self._encoder()(text, self._packaged.query_prefix)

    def _rows(self, vectors: Sequence[Vector]) -> Vectors:
        return np.stack(vectors) if vectors else np.empty((0, self.model.dims), dtype=np.float32)


def load_transformer(packaged: PackagedModel, threads: int) -> Encoder:
    loaded = load_onnx(packaged, threads)
    frame_of = lru_cache(maxsize=8)(lambda prefix: _frame(loaded.tokenizer, prefix))

    def pool(tokens: Vectors) -> Vector:
        return normalised(tokens[0] if packaged.pooling == "cls" else tokens.mean(axis=0))

    def encode(text: str, prefix: str) -> EncodedText:
        runs = token_windows(loaded.tokenizer, text, prefix, packaged.tokens)
        outputs = [loaded.run(ids)[0] for ids in runs]
        vector = as_one(np.stack([pool(tokens) for tokens in outputs]))
        # A text longer than the model's limit gets the token vectors of its first window, about as many as
        # are kept.
        head, tail = frame_of(prefix)
        own = slice(head, len(runs[0]) - tail)
        return EncodedText(
            vector, [loaded.tokenizer.id_to_token(id_) for id_ in runs[0][own]], outputs[0][own]
        )

    return encode


def token_windows(tokenizer: Any, text: str, prefix: str, limit: int | None) -> Sequence[Sequence[int]]:
    """Return the token ids to run: the whole text, or windows of it with prefix and special tokens."""
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
    """Return the number of tokens before a text (special ones and the prefix), and after it."""
    frame = tokenizer.encode(prefix.rstrip())
    tail = next((n for n, special in enumerate(reversed(frame.special_tokens_mask)) if not special), 1)
    return len(frame.ids) - tail, tail


def load_table(packaged: PackagedModel, _threads: int) -> Encoder:
    """Load a table of token vectors, without onnxruntime. A text of any length is the mean of its tokens."""
    tokenizer = load_tokenizer(packaged)
    try:
        table = only_tensor(packaged.weights)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unreadable_files(packaged, error) from error
    unknown = tokenizer.token_to_id("[UNK]")

    def encode(text: str, prefix: str) -> EncodedText:
        tokens = tokenizer.encode(readable(prefix + text), add_special_tokens=False).ids
        known = [token for token in tokens if token != unknown]
        # The length of a token's vector is its weight. Unknown words are left out, so a text of unknown words
        # stays zero and is similar to no other.
        return EncodedText(normalised(table[known].mean(axis=0) if known else np.zeros(packaged.dims)))

    return encode


def only_tensor(path: Path) -> Rows:
    """Read the float32 matrix of a safetensors file: eight bytes of length, a JSON header, the numbers."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > path.stat().st_size:
            raise ValueError("the header is longer than the file")
        header = json.loads(file.read(length))
    (tensor,) = (value for name, value in header.items() if name != "__metadata__")
    if tensor["dtype"] != "F32":
        raise ValueError(f"expected float32, found {tensor['dtype']}")
    # Map the file, so that processes share it and only the rows in use are read.
    start = 8 + length + tensor["data_offsets"][0]
    return np.memmap(path, dtype="<f4", mode="r", offset=start, shape=tuple(tensor["shape"]))


# Cross-encoders.

# A token rarely has more characters than this, so text beyond the limit would never be read.
_LETTERS_PER_TOKEN = 32


def reranker_named(name: str, threads: int = 1) -> Reranker:
    """Return the re-ranker for a short name. Nothing is loaded before the first query."""
    return _cross_encoder(ready_model(name, RERANKER), threads)


class CrossEncoder:
    """A re-ranking model. Weights are loaded with the first query. Thread-safe."""

    def __init__(self, packaged: PackagedModel, threads: int = 1) -> None:
        self.name: str = packaged.full_name
        self._letters = None if packaged.tokens is None else _LETTERS_PER_TOKEN * packaged.tokens

        def load() -> OnnxModel:
            loaded = load_onnx(packaged, threads)
            if packaged.tokens is not None:
                loaded.tokenizer.enable_truncation(packaged.tokens, strategy="longest_first")
            return loaded

        self._loaded = make_once(load)

    def scores(self, query: str, texts: Sequence[str]) -> Floats:
        """Return a logit per text. If a pair is too long, the end of its longer text is cut off."""
        scores = []
        # One pair at a time: int8 models scale activations over the whole batch, so a score would depend on
        # the batch, and batches are no faster on a CPU.
        for text in texts:
            loaded = self._loaded()
            asked, read = readable(query[: self._letters]), readable(text[: self._letters])
            pair = loaded.tokenizer.encode(asked, read)
            scores.append(float(loaded.run(pair.ids, pair.type_ids).reshape(-1)[0]))
        return np.array(scores, dtype=np.float64)


_cross_encoder = make_once(CrossEncoder)
