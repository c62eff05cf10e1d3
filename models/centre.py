"""Computes where a model's vectors crowd: the mean vector of everyday sentences in English and Spanish.

The store's one-bit codes are taken relative to it. It is a fact of the model, made from sentences that
belong to nobody, so that nothing a user stores can move it. Run with the models installed:

    python models/centre.py arctic-s potion e5-small
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from recollect.embedders.choose import embedder_named

HERE = Path(__file__).parent


def centre(name: str) -> list[float]:
    lines = (HERE / "centre-sentences.txt").read_text(encoding="utf-8").splitlines()
    embedder = embedder_named(name)
    if embedder is None:
        raise SystemExit(f"{name!r} is no model.")
    rows = embedder.documents([line for line in lines if line.strip()])
    # Six digits are far finer than the int8 vectors, and keep the file readable.
    return [round(float(value), 6) for value in rows.mean(axis=0)]


def main() -> None:
    for name in sys.argv[1:]:
        (package,) = (HERE / name).glob("recollect_model_*")
        (package / "centre.json").write_text(json.dumps(centre(name)) + "\n", encoding="utf-8")
        print(f"{package / 'centre.json'}: written; build the wheel again to ship it.")


if __name__ == "__main__":
    main()
