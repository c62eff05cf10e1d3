"""Named: 1 for what was said by somebody whom the query names, else 0.

What nobody said, a note or an entity, counts as theirs where it names them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from recollect.factors.candidates import Candidates, Floats, Moment


@dataclass(frozen=True, slots=True)
class Named:
    def __call__(self, candidates: Candidates, moment: Moment) -> Floats:  # noqa: ARG002  # every factor's form
        return candidates.facts.named.astype(np.float64)
