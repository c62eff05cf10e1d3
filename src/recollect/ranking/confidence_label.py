"""Probabilities as words, and the line below which an answer is no answer."""

from __future__ import annotations

from typing import Literal

ConfidenceLabel = Literal["likely", "possible", "unlikely"]

UNLIKELY = 0.25
"""Below it, nothing here seems to answer: of those that had an answer, about a tenth at most fell below."""
LIKELY = 0.6


def confidence_label(confidence: float) -> ConfidenceLabel:
    if confidence < UNLIKELY:
        return "unlikely"
    return "possible" if confidence < LIKELY else "likely"
