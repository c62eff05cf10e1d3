"""What the use cases answer with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.changes import Added
    from recollect.rank.explain import Reason
    from recollect.records import Memory, Model, Relation


Mode = Literal["hybrid", "meaning", "words"]


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row of a batch that was left out."""

    index: int
    """Its place in the batch, from 0."""
    reason: str


@dataclass(frozen=True, slots=True)
class Similar:
    """A new observation that nearly repeats one that was there. Both are kept."""

    observation: int
    content: str
    similar_to: int
    similar_content: str
    similarity: float


@dataclass(frozen=True, slots=True)
class Observed:
    """What happened to one entity: it was created, or it was there and gained observations."""

    id: int
    name: str
    created: bool
    added: tuple[Added, ...]
    similar: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True)
class ObservedBatch:
    entities: tuple[Observed, ...]
    rejected: tuple[Rejected, ...] = ()
    note: str | None = None
    """Why what was written cannot yet be found by meaning, if it cannot."""


@dataclass(frozen=True, slots=True)
class Related:
    source: str
    target: str
    type: str
    created: bool
    """False: it was in force already."""
    inverse: bool
    """The inverse is in force too."""
    also_created: tuple[str, ...]
    """Entities made because the relation named them."""


@dataclass(frozen=True, slots=True)
class RelatedBatch:
    relations: tuple[Related, ...]
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """Entities, and the relations in force that start or end at one of them."""

    entities: tuple[Memory, ...]
    relations: tuple[Relation, ...]
    cursor: int | None = None
    """Pass it as `after` for the next page; None: this was the last."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where one search put a memory."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a search found, and why it stands where it does."""

    memory: Memory
    score: float
    places: Mapping[str, Place] = field(default_factory=dict)
    """By `words` (score: BM25) and by `meaning` (score: cosine)."""
    scores: Mapping[str, float] = field(default_factory=dict)
    """Scores on the way that a profile keeps, such as `limbic_score`."""
    reasons: tuple[Reason, ...] = ()
    """What each step found and did, where it was asked for; recombined, they give the score exactly."""
    passage: str | None = None
    """The piece that was nearest in meaning."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of a search, best first."""

    query: str
    hits: tuple[Hit, ...]
    mode: Mode
    """Which searches found something."""
    note: str | None = None
    """Why meaning was not searched, if it was not."""
    profile: str = ""
    strategy: str | None = None
    """What kind of question the router took it for; None where the profile does not route."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    model: Model
    embedded: int
    switched: bool
    """The store used another model before."""
