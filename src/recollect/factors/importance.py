"""Importance: what the writer said a memory is worth, from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Importance:
    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        return candidates.facts.importance
