"""An answer as the log keeps it: what was shown, what else could have been, and what became of it."""

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
    """One logged answer. `candidates` and `context` are all that ranking it again has to read."""

    id: int
    at: int
    """Microseconds since 1970, UTC."""
    query: str
    profile: str
    arm: Arm
    shown: tuple[int, ...]
    """Ids as the caller saw them, best first."""
    ranked: tuple[int, ...]
    """As the profile put them, as many as were asked for: what was shown may be less, by a budget."""
    baseline: tuple[int, ...]
    """As what it is compared with put them, as many."""
    candidates: Candidates
    context: Query
    feedback: Mapping[int, float] = field(default_factory=dict)
    """By memory, how good it proved: from 1 (opened, asked for again, or praised) to -1 (called wrong)."""
    said: Mapping[int, float] = field(default_factory=dict)
    """The explicit part of `feedback`; the rest is implicit."""
    against: str = ""
    """Name of the baseline."""
    version: int = 0
    """Version of the profile's tuned numbers then; 0: as published."""

    @property
    def treated(self) -> bool:
        """Whether the profile had its say in what was shown."""
        return self.arm != "baseline"


@lru_cache(maxsize=1_024)
def normalized_query(query: str) -> str:
    """The same for the same question: for the same words, whatever their case, accents and spaces."""
    return " ".join(fold(query).split())
