"""A profile is a value: which searches to ask, and the steps that make one list of what they found."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Literal, Protocol

from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.query import Query
    from recollect.ranking.candidates import Candidates


class Step(Protocol):
    """A frozen value that one can call: it prints, compares, serialises and runs."""

    def __call__(self, candidates: Candidates, query: Query) -> Candidates: ...


class _Deep:
    """A search that is asked for `times` the limit, and for `least` at the least."""

    __slots__ = ()
    times: float
    least: int

    def take(self, limit: int) -> int:
        return max(self.least, ceil(self.times * limit))


@dataclass(frozen=True, slots=True)
class ByMeaning(_Deep):
    """Ask for the nearest in meaning: `times` the limit, and `least` at the least.

    With a `shortlist_size`, the search goes in two stages: by a third of each vector's width to a shortlist
    of that size, then by the whole width. With `then`, a query that speaks of a time also asks for the
    nearest among the texts of that time. With `tokens`, the first ones are also compared token by token.
    """

    times: float = 3.0
    least: int = 0
    shortlist_size: int | None = None
    then: bool = False
    tokens: bool = False


@dataclass(frozen=True, slots=True)
class ByWords(_Deep):
    """Ask for the best by BM25: `times` the limit, and `least` at the least; `then` as by meaning.

    With `held`, also tell how much of the query each candidate holds, whichever search has found it.
    """

    index: Literal["plain", "stemmed"] = "plain"
    times: float = 3.0
    least: int = 0
    then: bool = False
    held: bool = False


@dataclass(frozen=True, slots=True)
class ByContext(_Deep):
    """Ask for the messages whose neighbours hold the query's words, and for replies to questions like it.

    Neighbours stand up to `within` places away; `times` and `least` as by meaning.
    """

    times: float = 3.0
    least: int = 0
    within: int = 2


@dataclass(frozen=True, slots=True)
class ByLinks:
    """Ask for the entities that are tied by a relation to one that the query names, at most so many."""

    most: int = 50

    def take(self, limit: int) -> int:
        return self.most


Retriever = ByMeaning | ByWords | ByContext | ByLinks


@dataclass(frozen=True, slots=True)
class Profile:
    """One way to remember."""

    name: str
    about: str
    retrieve: tuple[Retriever, ...]
    steps: tuple[Step, ...]

    def __hash__(self) -> int:
        # What is known of a profile is looked up by it several times in every recall, and it has many steps.
        return hash(self.name)


def run(profile: Profile, candidates: Candidates, query: Query) -> Candidates:
    """Best first, cut to the limit; each candidate carries what every step did."""
    for step in profile.steps:
        candidates = step(candidates, query)
    return candidates
