"""A logged answer: the memories shown, the other candidates, and feedback."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING

from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Arm
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.domain.records import Query
    from recollect.ranking.candidates import Candidates


@dataclass(frozen=True, slots=True)
class Event:
    """One logged answer. `candidates` and `context` suffice to rank it again."""

    id: int
    at: int
    """Microseconds since 1970, UTC."""
    query: str
    profile: str
    arm: Arm
    shown: tuple[int, ...]
    """Ids that the caller saw, best first."""
    ranked: tuple[int, ...]
    """Ids ranked by the profile, up to the limit. A budget may have shortened `shown`."""
    baseline: tuple[int, ...]
    """Ids ranked by the baseline, up to the same limit."""
    candidates: Candidates
    context: Query
    feedback: Mapping[int, float] = field(default_factory=dict)
    """Grades by memory: 1 if opened, 0.5 if found again, or the caller's rating from -1 (wrong) to 1."""
    said: Mapping[int, float] = field(default_factory=dict)
    """The part of `feedback` that callers gave; the rest follows from what they opened and found."""
    against: str = ""
    """Name of the baseline."""
    version: int = 0
    """Version of the tuned parameters that the profile had then; 0 for the published ones."""

    @property
    def treated(self) -> bool:
        """Whether the profile ranked at least a part of the shown hits."""
        return self.arm != "baseline"


@lru_cache(maxsize=1_024)
def normalized_query(query: str) -> str:
    """Return the question in lower case, without accents and extra spaces."""
    return " ".join(fold(query).split())
