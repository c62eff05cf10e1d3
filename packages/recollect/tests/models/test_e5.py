"""The multilingual model, which our build writes from four-bit weights."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.domain.errors import ModelUnavailable
from recollect.models import embedders as choose
from recollect.models.embedders import embedder_named
from recollect.models.packaged import load_tokenizer
from recollect.models.registry import availability, ready_model

if TYPE_CHECKING:
    from recollect.stores.port import Embedder

STATE = availability("e5-memory")
pytestmark = pytest.mark.skipif(not STATE.ready, reason=STATE.reason)

SENTENCES = (
    "The museum is closed on Mondays.",
    "Water boils at a lower temperature in the mountains.",
    "Her brother plays the cello in an orchestra.",
)


@pytest.fixture(scope="module")
def e5() -> Embedder:
    embedder = embedder_named("e5-memory")
    assert embedder is not None
    return embedder


def test_a_question_finds_its_answer_in_another_language(e5: Embedder) -> None:
    answers = {
        "¿Qué día no abre el museo?": 0,
        "¿A qué temperatura hierve el agua en la montaña?": 1,
        "¿Qué instrumento toca su hermano?": 2,
        "Welches Instrument spielt ihr Bruder?": 2,
        "博物馆星期几关门？": 0,
    }
    rows = e5.documents(SENTENCES)
    assert {question: int(np.argmax(rows @ e5.query(question))) for question in answers} == answers


def test_a_store_of_an_earlier_compatible_revision_goes_on(
    e5: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged = replace(ready_model("e5-memory"), compatible=("0ea411e4",))
    monkeypatch.setattr(choose, "ready_model", lambda _: packaged)
    earlier = embedder_named("e5-memory@0ea411e4")
    assert earlier is not None
    assert earlier.model.name == "e5-memory@0ea411e4"
    assert earlier.documents(SENTENCES).tobytes() == e5.documents(SENTENCES).tobytes()
    with pytest.raises(ModelUnavailable, match="recollect reindex"):
        embedder_named("e5-memory@00000000")


def test_a_text_of_rare_words_or_signs_is_read(e5: Embedder) -> None:
    # The vocabulary has lost its rarest pieces: words are read as shorter ones, and no character is unknown.
    packaged = ready_model("e5-memory")
    tokenizer = load_tokenizer(packaged)
    for text in (
        "Donaudampfschifffahrtskapitän",
        "Pneumonoultramicroscopicsilicovolcanoconiosis",
        "蜘蛛の踴り",
        "ấ稣",
    ):
        tokens = tokenizer.encode(text).tokens
        assert "<unk>" not in tokens
        assert "".join(tokens[1:-1]).replace("▁", "") == text
    assert tokenizer.encode("x").ids[0] == tokenizer.token_to_id("<s>") == 0


def test_the_revision_in_the_name_means_these_vectors_in_any_company(e5: Embedder) -> None:
    together = e5.documents(SENTENCES)
    assert e5.documents(SENTENCES[1:2])[0].tobytes() == together[1].tobytes()
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)
    museum, water, _ = e5.documents(SENTENCES)
    assert museum @ water == pytest.approx(0.507, abs=0.01)
