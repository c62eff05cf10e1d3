"""Strength: synaptic strength, raised by replay and lowered by downscaling in dreams; 1 until the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Strength:
    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        return candidates.facts.strength**candidates.facts.temper
