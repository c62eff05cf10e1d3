"""How text becomes runs of a transformer and runs become one vector, shown on a model of a few words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models.packaged import (
    MOST_DOCUMENT_TOKENS,
    MOST_QUERY_TOKENS,
    OnnxModel,
    PackagedEmbedder,
    token_windows,
)
from recollect.models.registry import PackagedModel

if TYPE_CHECKING:
    from collections.abc import Sequence

tokenizers = pytest.importorskip("tokenizers")

WORDS = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2, "ask": 3} | {f"w{n}": 10 + n for n in range(300)}


def tokenizer() -> Any:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))  # noqa: S106  # no password
    words.add_special_tokens(["[CLS]", "[SEP]"])
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 0), ("[SEP]", 1)]
    )
    return words


class Echo:
    """A model of three dimensions: each token answers with its id, one, and how many tokens it saw."""

    def run(self, _outputs: None, feeds: dict[str, Any]) -> Sequence[Any]:
        ids = feeds["input_ids"].astype(np.float32)
        return [np.stack([ids, np.ones_like(ids), np.full_like(ids, ids.shape[1])], axis=-1)]

    def get_inputs(self) -> Sequence[Any]:
        class InputNode:
            name = "input_ids"

        return [InputNode()]


def described(**changes: Any) -> PackagedModel:
    fields: dict[str, Any] = {
        "name": "echo",
        "revision": "1",
        "title": "echo",
        "languages": (),
        "architecture": "onnx",
        "dims": 3,
        "tokens": 200,
        "pooling": "cls",
        "query_prefix": "ask ",
        "document_prefix": "",
        "weights": Path("model.onnx"),
        "tokenizer": Path("tokenizer.json"),
        "distribution": "recollect-model-echo",
    }
    return PackagedModel(**fields | changes)


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch) -> Any:
    def make_embedder(**changes: Any) -> PackagedEmbedder:
        loaded = OnnxModel(Echo(), tokenizer(), ("input_ids",))
        monkeypatch.setattr("recollect.models.packaged.load_onnx", lambda *_: loaded)
        return PackagedEmbedder(described(**changes))

    return make_embedder


def test_pooling_takes_the_first_token_or_averages_all(embedder: Any) -> None:
    # [CLS] w0 [SEP] = 0, 10, 1; the first token answers (0, 1, 3), of length sqrt(10)
    expected = np.array([0, 1, 3]) / 10**0.5
    assert embedder(pooling="cls").documents(["w0"])[0] == pytest.approx(expected)
    # the ids 0, 10 and 1 average to 11/3, and each token answers 1 and 3 besides
    expected = np.array([11 / 3, 1, 3]) / ((11 / 3) ** 2 + 10) ** 0.5
    assert embedder(pooling="mean").documents(["w0"])[0] == pytest.approx(expected)
    # one more token than the document: (0, 1, 4)
    assert embedder().query("w0") == pytest.approx(np.array([0, 1, 4]) / 17**0.5)
    assert embedder().documents([]).shape == (0, 3)


@pytest.fixture
def token_centre(tmp_path: Path) -> Path:
    path = tmp_path / "token_centre.json"
    path.write_text("[0, 0, 0.6]", encoding="utf-8")
    return path


def test_tokens_come_with_the_vector_and_without_prefix_and_frame(embedder: Any, token_centre: Path) -> None:
    vector, tokens = embedder(token_centre=token_centre).query_with_tokens("w2 w5")
    assert vector.tobytes() == embedder().query("w2 w5").tobytes()
    # [CLS] ask w2 w5 [SEP]: w2 answers (12, 1, 5), of length sqrt(170)
    assert tokens.shape == (2, 3)
    first = np.array([12, 1, 5]) / 170**0.5 - [0, 0, 0.6]
    assert tokens[0] == pytest.approx(first / np.linalg.norm(first))
    # Of documents the signs of tokens are kept.
    rows, signs = embedder(token_centre=token_centre).documents_with_tokens(["w2 w5", ""])
    assert rows.tobytes() == embedder().documents(["w2 w5", ""]).tobytes()
    # w2 answers (12, 1, 4) / sqrt(161), w5 (15, 1, 4) / sqrt(242); both less the centre +, +, -
    assert signs == [bytes([0b11000000, 0b11000000]), b""]
    # A model without a token centre gives no tokens.
    assert embedder(token_centre=token_centre).gives_tokens
    assert not embedder().gives_tokens
    assert embedder().query_with_tokens("w2")[1] is None
    assert not embedder(token_centre=token_centre.with_name("missing.json")).gives_tokens
    # A query without words has no tokens.
    assert embedder(token_centre=token_centre).query_with_tokens("")[1] is None
    # Tokens are bounded however long the text.
    tiny = embedder(token_centre=token_centre, tokens=512)
    text = " ".join(f"w{n}" for n in range(300))
    assert len(tiny.documents_with_tokens([text])[1][0]) == MOST_DOCUMENT_TOKENS
    assert len(tiny.query_with_tokens(text)[1]) == MOST_QUERY_TOKENS


def test_what_fits_is_run_once_and_every_window_of_more_has_the_prefix_and_the_frame() -> None:
    assert token_windows(tokenizer(), "w0 w1", "ask ", 200) == [[0, 3, 10, 11, 1]]
    text = " ".join(f"w{n}" for n in range(300))
    runs = token_windows(tokenizer(), text, "ask ", 200)
    assert len(runs) > 1
    assert all(run[:2] == [0, 3] and run[-1] == 1 and len(run) <= 200 for run in runs)
    assert {token for run in runs for token in run[2:-1]} == set(range(10, 310))


def test_the_width_is_known_and_no_file_read_before_the_first_text() -> None:
    assert PackagedEmbedder(described(dims=384)).model.dims == 384


def test_unreadable_weights_ask_to_install_again(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="pip install --force-reinstall"):
        PackagedEmbedder(described(weights=tmp_path / "model.onnx")).query("tea")
