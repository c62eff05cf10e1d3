"""A cross-encoder: what it is fed, shown on a model of a few words, and the one that we package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models import packaged as cross_encoder
from recollect.models.packaged import CrossEncoder, OnnxModel, reranker_named
from recollect.models.registry import RERANKER, PackagedModel, availability, packaged_model, read_descriptor

if TYPE_CHECKING:
    from recollect.stores.port import Reranker

tokenizers = pytest.importorskip("tokenizers")

ROOT = Path(__file__).parents[4]
STATE = availability("minilm", RERANKER)
needs_minilm = pytest.mark.skipif(not STATE.ready, reason=STATE.reason)
WORDS = {"[CLS]": 0, "[SEP]": 1, "[UNK]": 2} | {f"w{n}": 10 + n for n in range(300)}


class Sums:
    """A model that answers with the sum of the second text's ids: easy to check by hand."""

    def run(self, _outputs: None, feeds: dict[str, Any]) -> list[Any]:
        assert feeds["input_ids"].shape == feeds["token_type_ids"].shape == feeds["attention_mask"].shape
        return [(feeds["input_ids"] * feeds["token_type_ids"]).sum(axis=1, keepdims=True).astype(np.float32)]


def packaged(tokens: int = 12, folder: Path = Path()) -> PackagedModel:
    files = folder / "model.onnx", folder / "tokenizer.json"
    package = "recollect-model-rerank-sums"
    return PackagedModel("sums", "1", "sums", ("en",), "cross-encoder", tokens, *files, package)


@pytest.fixture
def sums(monkeypatch: pytest.MonkeyPatch) -> CrossEncoder:
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))  # noqa: S106  # no password
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 0), ("[SEP]", 1)],
    )
    inputs = ("input_ids", "token_type_ids", "attention_mask")
    monkeypatch.setattr(cross_encoder, "load_onnx", lambda *_: OnnxModel(Sums(), words, inputs))
    return CrossEncoder(packaged())


def test_query_and_text_are_told_apart_and_the_longer_is_cut(sums: CrossEncoder) -> None:
    # the text's tokens only: w1 w2 [SEP] = 11 + 12 + 1, and w3 [SEP] = 13 + 1
    assert sums.scores("w100 w200", ["w1 w2", "w3"]).tolist() == [24.0, 14.0]
    # A pair too long is cut where it is longer.
    # 12 tokens: three for the frame, two for the query, so that seven words of the text remain: 7 * 10 + 1
    assert sums.scores("w9 w9", [" ".join(["w0"] * 100)]).tolist() == [71.0]
    # No texts are no scores.
    assert sums.scores("w1", []).shape == (0,)
    # Half a character is no failure.
    assert np.isfinite(sums.scores("w1 \ud800", ["\udfff w2"])).all()


def test_unreadable_weights_ask_to_install_again(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    (tmp_path / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="--force-reinstall --no-deps recollect-model-rerank-sums"):
        CrossEncoder(packaged(folder=tmp_path)).scores("tea", ["tea"])


def test_a_model_of_another_kind_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "models" / "rerank-minilm")
    assert packaged_model("minilm", RERANKER) is not None
    assert packaged_model("rerank-minilm") is None
    with pytest.raises(ModelUnavailable, match=r"No re-ranker named 'guess' is installed; .* minilm"):
        reranker_named("guess")
    # The committed descriptor is read.
    model = read_descriptor(ROOT / "models" / "rerank-minilm" / "recollect_model_rerank_minilm")
    assert (model.full_name, model.tokens) == ("minilm@1225ccd6", 512)
    assert model.distribution == "recollect-model-rerank-minilm"


# The model that we package


@pytest.fixture(scope="module")
def minilm() -> Reranker:
    return reranker_named("minilm")


@needs_minilm
def test_the_revision_in_the_name_still_means_these_scores_in_any_company(minilm: Reranker) -> None:
    population = "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square km."
    museums = "Berlin is well known for its museums."
    assert minilm.scores("How many people live in Berlin?", [population, museums]) == pytest.approx(
        [8.89, -4.16], abs=0.3
    )
    # A text gets the same bits in any company.
    texts = ["The museum is closed on Mondays.", "tea", "Her brother plays the cello. " * 40]
    together = minilm.scores("When is the museum closed?", texts)
    alone = [minilm.scores("When is the museum closed?", [text])[0] for text in texts]
    assert together.tolist() == alone
    assert together.argmax() == 0


@needs_minilm
@pytest.mark.parametrize(("query", "text"), [("", ""), ("tea " * 3_000, "cup " * 3_000), ("🎉", "\x00")])
def test_no_pair_is_too_long_or_strange(minilm: Reranker, query: str, text: str) -> None:
    assert np.isfinite(minilm.scores(query, [text])).all()
