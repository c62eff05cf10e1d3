"""Results of the graph's upkeep: near-copies, splits, and the consolidation report."""

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
    """same: only case, accents, spaces or outer marks differ; else what the similarity is."""


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Observations of one entity that hang together by pairs."""

    entity_id: int
    entity: str
    observations: tuple[Observation, ...]
    """Oldest first."""


@dataclass(frozen=True, slots=True)
class Duplicates(Record):
    pairs: tuple[DuplicatePair, ...]
    """The most alike first."""
    groups: tuple[DuplicateGroup, ...]
    """Of these pairs, by the entity's and then the oldest observation's id."""
    observations: int
    left_out: int = 0
    """Pairs beyond the limit."""
    note: str | None = None
    """Why meanings were not compared, if they were not."""


@dataclass(frozen=True, slots=True)
class Topic:
    """Observations of one entity that belong together."""

    name: str
    """The words that set them apart from the entity's other topics."""
    observations: tuple[Observation, ...]


@dataclass(frozen=True, slots=True)
class OversizedEntity(Record):
    id: int
    name: str
    type: str
    observations: int
    """In force."""
    limit: int
    """The most observations that an entity of this type should have."""


@dataclass(frozen=True, slots=True)
class SplitAnalysis(OversizedEntity):
    """Whether an entity has grown too large, and what it falls apart into."""

    topics: tuple[Topic, ...]
    """Empty, or at least two."""
    rest: tuple[Observation, ...]
    score: float
    """observations / limit + min(topics / observations, 0.5), as published; above 1 it is worth a look."""
    silhouette: float
    """How clearly the topics differ: 0 not at all, 1 completely."""
    compared_by: Literal["meaning", "words"]

    @property
    def needs_split(self) -> bool:
        return self.observations > self.limit and len(self.topics) > 1


@dataclass(frozen=True, slots=True)
class SplitPart:
    """An entity that a split makes, with observations that the original has in force, by their texts."""

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
    """A split to look over; `parts` goes to `execute_split` as it is or changed."""

    analysis: SplitAnalysis
    parts: tuple[SplitPart, ...]
    """Empty where the entity does not fall apart."""
    relations: tuple[ProposedRelation, ...]


@dataclass(frozen=True, slots=True)
class SplitUndo:
    """What `undo_split` needs: ids alone, so that it can be kept anywhere."""

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
    id: int
    name: str
    parts: tuple[CreatedPart, ...]
    moved: int
    remaining: int
    relations: int
    """`contains` and `part_of`, both counted."""
    undo: SplitUndo
    note: str | None = None
    """Concurrent changes, or why the parts cannot be found by meaning yet."""


@dataclass(frozen=True, slots=True)
class UndoSplitResult(Record):
    id: int
    name: str
    restored: int
    forgotten: tuple[int, ...]
    """The parts, of which nothing is left."""
    note: str | None = None
    """Why something cannot be found by meaning yet, if so."""


@dataclass(frozen=True, slots=True)
class FlaggedObservation:
    entity_id: int
    entity: str
    observation: Observation
    similar: Observation
    """The older one, still in force, that it nearly repeats."""


@dataclass(frozen=True, slots=True)
class FlaggedNote:
    id: int
    text: str
    similar_to: int
    similar_text: str
    similarity: float


@dataclass(frozen=True, slots=True)
class OpenContradiction:
    """Two texts in force that seem to contradict each other: notes, or observations of entities."""

    older: int
    older_text: str
    newer: int
    newer_text: str
    command: Annotated[str, "The command that retires the older one"]


@dataclass(frozen=True, slots=True)
class StaleEntity:
    """An entity that was not seen or changed for long."""

    id: int
    name: str
    type: str
    status: Status
    observations: int
    updated_at: datetime
    last_seen: datetime | None
    """Absent if no answer showed it yet."""
    times_seen: int
    days: int
    """Whole days since it was last seen or changed."""


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Record):
    """Things that could be tidied. The report changes nothing."""

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
    """The longest unseen first; archived ones are left in peace."""
    oversized: tuple[OversizedEntity, ...]
    """Too large, and yet of one piece; those that fall apart are split candidates."""
    text: str
    contradictions: tuple[OpenContradiction, ...] = ()
    """The newest first, as far as the newest texts tell; at most a hundred."""


# Decisions to keep something: their keys, and the texts they are about.

SettleKind = Literal["contradiction", "similar_notes", "similar_observations", "split", "stale"]
_PAIRS = frozenset({"contradiction", "similar_notes", "similar_observations"})


def text_reference(memory: int, observation: int | None = None) -> str:
    """A whole memory, or an observation, as keys name it."""
    return str(memory) if observation is None else f"o{observation}"


def decision_key(kind: SettleKind, *references: str) -> str:
    """Return the key of a decision: its kind and its texts, the older first."""
    return ":".join((kind, *references))


def is_about_two(kind: str) -> bool:
    return kind in _PAIRS


def kept_together(keys: Iterable[str]) -> frozenset[str]:
    """Return references to texts that a person decided to keep side by side."""
    parts = (key.split(":") for key in keys)
    return frozenset(
        reference for kind, *references in parts if is_about_two(kind) for reference in references
    )
