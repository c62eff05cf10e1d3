"""Computes how to turn a model's vectors so that their first third tells near from far: `rotation.f16`.

A principal component analysis of everyday sentences in which half the words were exchanged for words of the
model's own vocabulary: the sentences alone are too few to know 384 directions. Like the centre, it is a
fact of the model, and nothing a user stores can move it. Run with the models installed:

    python models/rotation.py arctic-memory e5-memory

Models trained or made so that their first numbers weigh the most (Matryoshka; `potion`) need none.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from recollect.models.embedders import embedder_named
from recollect.models.packaged import load_tokenizer
from recollect.models.registry import packaged_model

HERE = Path(__file__).parent
TEXTS = 6_000
STEP = 2.0**-11
"""The store counts in this step, and float16 holds every multiple of it up to one exactly."""


def words(name: str) -> list[str]:
    """The whole words of the model's vocabulary, of at least three letters."""
    model = packaged_model(name)
    if model is None:
        raise SystemExit(f"{name!r} is not installed.")
    vocabulary: list[str] = sorted(load_tokenizer(model).get_vocab())
    # Sentencepiece marks the beginnings of words, and WordPiece what is none.
    marked = [token.removeprefix("▁") for token in vocabulary if token.startswith("▁")]
    return [word for word in marked or vocabulary if word.isalpha() and len(word) > 2]


def mixed(sentences: list[str], vocabulary: list[str], chance: np.random.Generator) -> list[str]:
    """Sentences of which every second word, by chance, is any word of the vocabulary."""

    def one() -> str:
        own = sentences[chance.integers(len(sentences))].split()
        return " ".join(
            vocabulary[chance.integers(len(vocabulary))] if chance.random() < 0.5 else word for word in own
        )

    return [one() for _ in range(TEXTS)]


def rotation(rows: NDArray[np.float32]) -> NDArray[np.float16]:
    """The directions in which the rows differ most, a third of all, the strongest first."""
    spread = np.cov(rows.T.astype(np.float64))
    _, directions = np.linalg.eigh(spread)
    strongest = directions[:, ::-1].T[: rows.shape[1] // 3]
    return (np.rint(strongest / STEP) * STEP).astype("<f2")


def main() -> None:
    lines = (HERE / "centre-sentences.txt").read_text(encoding="utf-8").splitlines()
    sentences = [line for line in lines if line.strip()]
    for name in sys.argv[1:]:
        texts = mixed(sentences, words(name), np.random.default_rng(0))
        embedder = embedder_named(name)
        if embedder is None:
            raise SystemExit(f"{name!r} is no model.")
        (package,) = (HERE / name).glob("recollect_model_*")
        (package / "rotation.f16").write_bytes(rotation(embedder.documents(texts)).tobytes())
        print(f"{package / 'rotation.f16'}: written; build the wheel again to ship it.")


if __name__ == "__main__":
    main()
