"""The multilingual model, which our build writes from four-bit weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from recollect.models.embedders import embedder_named
from recollect.models.registry import availability

if TYPE_CHECKING:
    from recollect.stores.port import Embedder

STATE = availability("e5-small")
pytestmark = pytest.mark.skipif(not STATE.ready, reason=STATE.reason)

SENTENCES = (
    "The museum is closed on Mondays.",
    "Water boils at a lower temperature in the mountains.",
    "Her brother plays the cello in an orchestra.",
)


@pytest.fixture(scope="module")
def e5() -> Embedder:
    embedder = embedder_named("e5-small")
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


def test_the_revision_in_the_name_means_these_vectors_in_any_company(e5: Embedder) -> None:
    together = e5.documents(SENTENCES)
    assert e5.documents(SENTENCES[1:2])[0].tobytes() == together[1].tobytes()
    assert np.linalg.norm(together, axis=1) == pytest.approx(1)
    museum, water, _ = e5.documents(SENTENCES)
    assert museum @ water == pytest.approx(0.777, abs=0.01)
