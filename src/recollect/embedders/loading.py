"""What every packaged model is loaded with: its tokenizer, its place among the records, its failures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from recollect.embedders.optional import imported
from recollect.errors import ModelUnavailable
from recollect.records import Model
from recollect.vectors import pack

if TYPE_CHECKING:
    from recollect.embedders.packaged import Packaged


def load_tokenizer(packaged: Packaged) -> Any:
    """The model's tokenizer, which neither cuts nor pads."""
    library = imported("tokenizers", command="pip install tokenizers")
    try:
        tokenizer = library.Tokenizer.from_file(str(packaged.tokenizer))
    except Exception as error:
        raise damaged(packaged, error) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def damaged(packaged: Packaged, error: Exception) -> ModelUnavailable:
    return ModelUnavailable(
        f"The files of the model {packaged.name!r} cannot be read ({error}); "
        f"run: pip install --force-reinstall --no-deps recollect-model-{packaged.name}"
    )


def described_model(packaged: Packaged) -> Model:
    """The model as stores know it."""
    centre = None
    if packaged.centre is not None and packaged.centre.is_file():
        centre = pack(np.array(json.loads(packaged.centre.read_text(encoding="utf-8")), dtype=np.float32))
    rotation = None
    if packaged.rotation is not None and packaged.rotation.is_file():
        rotation = packaged.rotation.read_bytes()
    return Model(name=packaged.full_name, dims=packaged.dims, centre=centre, rotation=rotation)
