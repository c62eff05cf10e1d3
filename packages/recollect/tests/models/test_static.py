"""Static models: the mean of what a table says of each token."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models.embedders import embedder_named
from recollect.models.packaged import PackagedEmbedder, only_tensor
from recollect.models.registry import PackagedModel, availability

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

tokenizers = pytest.importorskip("tokenizers")


def safetensors(path: Path, rows: Sequence[Sequence[float]], dtype: str = "F32") -> Path:
    numbers = np.array(rows, dtype="<f4")
    tensor = {"dtype": dtype, "shape": numbers.shape, "data_offsets": [0, numbers.nbytes]}
    header = json.dumps({"__metadata__": {}, "embeddings": tensor}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + numbers.tobytes())
    return path


@pytest.fixture
def tiny(tmp_path: Path) -> PackagedEmbedder:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({"[UNK]": 0, "tea": 1, "cup": 2}))
    words.model.unk_token = "[UNK]"  # noqa: S105  # no password
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.save(str(tmp_path / "tokenizer.json"))
    weights = safetensors(tmp_path / "model.safetensors", [[9, 9], [2, 0], [0, 1]])
    fields: dict[str, Any] = {
        "name": "tiny",
        "revision": "1",
        "title": "tiny",
        "languages": (),
        "architecture": "static",
        "dims": 2,
        "tokens": None,
        "pooling": "mean",
        "query_prefix": "",
        "document_prefix": "",
        "weights": weights,
        "tokenizer": tmp_path / "tokenizer.json",
        "distribution": "recollect-model-tiny",
    }
    return PackagedEmbedder(PackagedModel(**fields))


def test_a_text_is_the_mean_of_its_known_tokens(tiny: PackagedEmbedder) -> None:
    # (2, 0) and (0, 1) average to (1, .5), of length sqrt(1.25)
    assert tiny.documents(["tea cup"])[0] == pytest.approx([1 / 1.25**0.5, 0.5 / 1.25**0.5])
    assert tiny.query("tea xyzzy") == pytest.approx(tiny.query("tea"))
    assert tiny.documents(["xyzzy", ""]).tolist() == [[0, 0], [0, 0]]


def test_only_float32_tables_are_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected float32, found F16"):
        only_tensor(safetensors(tmp_path / "half.safetensors", [[1]], dtype="F16"))


def test_an_unreadable_table_asks_to_install_again(tiny: PackagedEmbedder, tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"short")
    with pytest.raises(ModelUnavailable, match="pip install --force-reinstall"):
        tiny.query("tea")


POTION = availability("potion")


@pytest.mark.skipif(not POTION.ready, reason=POTION.reason)
def test_potion_knows_what_is_alike() -> None:
    potion = embedder_named("potion")
    assert potion is not None
    cat, kitten, rates = potion.documents(
        ["The cat sat on the mat.", "A kitten was sitting on a rug.", "Interest rates rose by two percent."]
    )
    assert cat @ kitten > cat @ rates + 0.1
    assert np.linalg.norm(cat) == pytest.approx(1)
