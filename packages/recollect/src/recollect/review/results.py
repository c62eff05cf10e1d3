"""Results of the graph's upkeep: duplicates, splits, and the consolidation report."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Literal

from recollect.domain.json_values import Record
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.records import Observation, Status

Match = Literal["same", "cosine", "containment"]


@dataclass(frozen=True, slots=True)
class DuplicatePair:
    entity_id: int
    entity: str
    older: Observation
    newer: Observation
    similarity: float
    match: Match
    """same: only case, accents, spaces or outer punctuation differ. Otherwise the measure of `similarity`."""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Observations of one entity that are connected by pairs."""

    entity_id: int
    entity: str
    observations: tuple[Observation, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class Duplicates(Record):
    """Observations that say nearly the same."""

    pairs: tuple[DuplicatePair, ...]
    """The most similar first."""
    groups: tuple[DuplicateGroup, ...]
    """Groups of these pairs, ordered by entity and oldest observation."""
    observations: int
    left_out: int = 0
    """Pairs beyond the limit."""
    note: str | None = None
    """Why meanings were not compared, if they were not."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Observations of one entity that belong together."""

    name: str
    """Words that distinguish this topic from the others."""
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class OversizedEntity(Record):
    id: int
    name: str
    type: str
    observations: int
    """Number of current observations."""
    limit: int
    """Maximum number of observations that an entity of this type should have."""


@dataclass(frozen=True, slots=True)
class SplitAnalysis(OversizedEntity):
    """An entity's topics, and whether it should be split."""

    topics: tuple[Topic, ...]
    """Empty, or at least two."""
    rest: tuple[Observation, ...]
    score: float
    """observations / limit + min(topics / observations, 0.5); above 1, consider a split."""
    silhouette: float
    """Separation of the topics, from 0 (none) to 1 (complete)."""
    compared_by: Literal["meaning", "words"]

    @property
    def needs_split(self) -> bool:
        return self.observations > self.limit and len(self.topics) > 1


@dataclass(frozen=True, slots=True)
class SplitPart:
    """A new entity of a split, with the texts of the observations that move to it."""

    name: str
    observations: tuple[str, ...]
    type: str | None = None


@dataclass(frozen=True, slots=True)
class ProposedRelation:
    source: str
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class SplitProposal(Record):
    """A proposed split. Pass `parts`, changed or not, to `execute_split`."""

    analysis: SplitAnalysis
    parts: tuple[SplitPart, ...]
    """Empty if the entity has one topic only."""
    relations: tuple[ProposedRelation, ...]


@dataclass(frozen=True, slots=True)
class SplitUndo:
    """The argument of `undo_split`. It holds ids only."""

    original: int
    parts: tuple[int, ...]
    observations: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CreatedPart:
    id: int
    name: str
    type: str
    observations: int


@dataclass(frozen=True, slots=True)
class SplitResult(Record):
    """The entities that a split created. Pass `undo` to `undo_split`."""

    id: int
    name: str
    parts: tuple[CreatedPart, ...]
    moved: int
    remaining: int
    relations: int
    """Created relations, both `contains` and `part_of`."""
    undo: SplitUndo
    note: str | None = None
    """A note on concurrent changes, or on vectors that are still missing."""


@dataclass(frozen=True, slots=True)
class UndoSplitResult(Record):
    """The entity that has its observations again, and the parts that were forgotten."""

    id: int
    name: str
    restored: int
    forgotten: tuple[int, ...]
    """The ids of the parts that were forgotten."""
    note: str | None = None
    """A note on vectors that are still missing."""


@dataclass(frozen=True, slots=True)
class FlaggedObservation:
    entity_id: int
    entity: str
    observation: Observation
    similar: Observation
    """The older current observation that it is similar to."""


@dataclass(frozen=True, slots=True)
class FlaggedNote:
    id: int
    text: str
    similar_to: int
    similar_text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class OpenContradiction:
    """Two current texts that seem to contradict each other: notes, or observations of entities."""

    older: int
    older_text: str
    newer: int
    newer_text: str
    command: Annotated[str, "The command that retires the older one"]


@dataclass(frozen=True, slots=True)
class StaleEntity:
    """An entity that was not shown or changed for a long time."""

    id: int
    name: str
    type: str
    status: Status
    observations: int
    updated_at: datetime
    last_seen: datetime | None
    """None if no answer has shown it yet."""
    times_seen: int
    days: int
    """Whole days since it was last seen or changed."""


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Record):
    """Suggestions for tidying. The report changes nothing."""

    at: datetime
    stale_days: float
    entities: int
    observations: int
    notes: int
    split_candidates: tuple[SplitAnalysis, ...]
    """The highest score first."""
    flagged_observations: tuple[FlaggedObservation, ...]
    flagged_notes: tuple[FlaggedNote, ...]
    stale: tuple[StaleEntity, ...]
    """The longest unseen first, without archived ones."""
    oversized: tuple[OversizedEntity, ...]
    """Entities that are too large but have only one topic."""
    text: str
    contradictions: tuple[OpenContradiction, ...] = ()
    """Contradictions among the newest texts, newest first; at most a hundred."""


# Keys of the decisions to keep texts as they are, and the texts that they name.

SettleKind = Literal["contradiction", "similar_notes", "similar_observations", "split", "stale"]
_PAIRS = frozenset({"contradiction", "similar_notes", "similar_observations"})


def text_reference(memory: int, observation: int | None = None) -> str:
    """Return the reference of a memory or an observation in a key."""
    return str(memory) if observation is None else f"o{observation}"


def decision_key(kind: SettleKind, *references: str) -> str:
    """Return the key of a decision: its kind and its texts, the older first."""
    return ":".join((kind, *references))


def is_pair(kind: str) -> bool:
    return kind in _PAIRS


def kept_together(keys: Iterable[str]) -> frozenset[str]:
    """Return references to texts that a person decided to keep side by side."""
    parts = (key.split(":") for key in keys)
    return frozenset(reference for kind, *references in parts if is_pair(kind) for reference in references)
