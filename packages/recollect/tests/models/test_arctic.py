"""The default model itself: what it must do for a memory to be found."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import PATIENCE_SECONDS

from recollect.domain.numbers import unpack_vector
from recollect.models.embedders import embedder_named
from recollect.models.registry import availability
from recollect.write.embedding import token_embedder

if TYPE_CHECKING:
    from pathlib import Path

    from recollect.stores.port import Embedder

STATE = availability("arctic-memory")
pytestmark = pytest.mark.skipif(not STATE.ready, reason=STATE.reason)

CAT, KITTEN, RATES = (
    "The cat sat on the mat.",
    "A kitten was sitting on a rug.",
    "Interest rates rose by two percent.",
)


@pytest.fixture(scope="module")
def arctic() -> Embedder:
    embedder = embedder_named("arctic-memory")
    assert embedder is not None
    return embedder


def test_a_paraphrase_is_closer_than_another_subject_and_every_row_has_length_one(arctic: Embedder) -> None:
    cat, kitten, rates = arctic.documents([CAT, KITTEN, RATES])
    assert cat @ kitten > cat @ rates + 0.1
    rows = arctic.documents([CAT, "", "word " * 2000, "\ud800"])
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-6)
    assert rows.dtype == np.float32
    assert rows.shape == (4, arctic.model.dims)


def test_the_revision_in_the_name_still_means_these_vectors(arctic: Embedder) -> None:
    # Should these move, so did tokenizer, pooling or weights: then the revision in model.json must, too.
    cat, kitten, rates = arctic.documents([CAT, KITTEN, RATES])
    assert [cat @ kitten, cat @ rates] == pytest.approx([0.833, 0.459], abs=0.02)
    assert arctic.query("where is the cat?") @ cat == pytest.approx(0.629, abs=0.02)


def test_a_text_gets_the_same_bytes_in_any_company_and_any_thread(arctic: Embedder) -> None:
    alone = arctic.documents([CAT])[0]
    together = arctic.documents([RATES * 20, CAT, KITTEN])[1]
    assert alone.tobytes() == together.tobytes()
    expected = arctic.query(CAT).tobytes()
    with ThreadPoolExecutor(4) as pool:
        assert {row.tobytes() for row in pool.map(arctic.query, [CAT] * 16)} == {expected}


def test_many_texts_get_the_same_bytes_as_one_after_the_other(arctic: Embedder) -> None:
    texts = [CAT, KITTEN, RATES, RATES * 20, "", "word " * 700]
    giving = token_embedder(arctic)
    assert giving is not None
    rows, signs = giving.documents_with_tokens(texts)
    alone = [giving.documents_with_tokens([text]) for text in texts]
    assert rows.tobytes() == b"".join(row.tobytes() for row, _ in alone)
    assert signs == [sign for _, (sign,) in alone]
    assert arctic.documents(texts).tobytes() == rows.tobytes()


def test_a_fact_at_the_end_of_a_long_text_is_still_heard(arctic: Embedder) -> None:
    filler = "The harbour was calm, and the boats lay still in the evening light. " * 100
    assert len(filler.split()) > 1200
    without, within = arctic.documents([filler, filler + "Marta keeps her violin in the blue locker. " * 3])
    question = arctic.query("Where does Marta keep her violin?")
    assert question @ within > question @ without


def test_the_centre_is_shipped_with_the_model(arctic: Embedder) -> None:
    assert arctic.model.centre is not None
    centre = unpack_vector(arctic.model.centre)
    assert centre.shape == (384,)
    # Where texts crowd: closer to an average text than texts are to each other.
    cat, _, rates = arctic.documents([CAT, KITTEN, RATES])
    direction = centre / np.linalg.norm(centre)
    assert min(cat @ direction, rates @ direction) > cat @ rates


def test_nothing_is_reported_to_anyone(tmp_path: Path) -> None:
    # onnxruntime's telemetry first writes what it will send below the user's home.
    script = (
        "from recollect.models.embedders import embedder_named; embedder_named('arctic-memory').query('tea')"
    )
    environ = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([sys.executable, "-c", script], env=environ, check=True, timeout=PATIENCE_SECONDS)
    assert list(tmp_path.rglob("*")) == []
