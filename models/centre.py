"""Compute the centre of a model's vectors: the mean vector of everyday sentences in English and Spanish.

The store's one-bit codes are taken relative to the centre. If `model.json` names `token_centre`, the codes
of tokens are relative to the mean vector of the tokens of these sentences. The sentences are fixed, so what
users store never moves a centre. Run with the models installed:

    python models/centre.py arctic-memory potion e5-memory
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

from recollect.domain.numbers import Rows, normalised
from recollect.models.packaged import load_table, load_transformer
from recollect.models.registry import ready_model

HERE = Path(__file__).parent


def centres(name: str) -> dict[str, Rows]:
    """Return each centre, by the field of `model.json` that names its file."""
    lines = (HERE / "centre-sentences.txt").read_text(encoding="utf-8").splitlines()
    packaged = ready_model(name)
    encode = (load_table if packaged.architecture == "static" else load_transformer)(packaged, 1)
    encoded = [encode(line, packaged.document_prefix) for line in lines if line.strip()]
    means = {"centre": np.stack([text.vector for text in encoded]).mean(axis=0)}
    tokens = [normalised(text.tokens) for text in encoded if text.tokens is not None]
    if tokens:
        means["token_centre"] = np.concatenate(tokens).mean(axis=0)
    return means


def main() -> None:
    for name in sys.argv[1:]:
        (package,) = (HERE / name).glob("recollect_model_*")
        files = json.loads((package / "model.json").read_text(encoding="utf-8"))
        for field, mean in centres(name).items():
            if field in files:
                # Six digits are far finer than the int8 vectors, and keep the file readable.
                numbers = [round(float(value), 6) for value in mean]
                (package / files[field]).write_text(json.dumps(numbers) + "\n", encoding="utf-8")
                print(f"{package / files[field]}: written; build the wheel again to ship it.")


if __name__ == "__main__":
    main()
