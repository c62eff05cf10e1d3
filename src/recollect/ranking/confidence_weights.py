"""The numbers of confidence: fitted once by `recollect_bench.fit_confidence`, the same for everyone.

They stand in `confidence.json` with the facts of the run that made them. Reading them takes part of a
millisecond, when the first answer is judged.
"""

from __future__ import annotations

import json
from functools import cache
from pkgutil import get_data
from typing import TYPE_CHECKING, Any

from recollect.lazy_dataclass import dataclass
from recollect.ranking.confidence import SIGNALS, ConfidenceWeights, CosineScale

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "confidence.json"


@dataclass(frozen=True, slots=True)
class FittedConfidence:
    """Weights for what is known: the model's scale, only its cosines, or only words."""

    known: ConfidenceWeights
    unknown: ConfidenceWeights
    words: ConfidenceWeights
    scales: Mapping[str, CosineScale]
    """By the name of the model, in whichever revision."""

    def for_model(self, model: str | None) -> tuple[ConfidenceWeights, CosineScale | None]:
        """None: meaning was not searched."""
        if model is None:
            return self.words, None
        scale = self.scales.get(model.partition("@")[0])
        return (self.unknown if scale is None else self.known), scale


@cache
def fitted_confidence() -> FittedConfidence:
    plain = json.loads(get_data(__package__, FILE) or b"")
    weights = {name: _weights(each) for name, each in plain["weights"].items()}
    scales = {name: CosineScale(**scale) for name, scale in plain["scales"].items()}
    return FittedConfidence(**weights, scales=scales)


def _weights(plain: Mapping[str, Any]) -> ConfidenceWeights:
    hit, answer = plain["hit"], plain["answer"]
    return ConfidenceWeights(
        tuple(hit[name] for name in SIGNALS),
        hit["constant"],
        tuple(answer[name] for name in SIGNALS),
        answer["constant"],
    )
