"""The tables of every store, with their keys and foreign keys.

Times are whole microseconds since 1970, UTC. Truth values are 0 and 1.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from recollect.domain.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


Row: TypeAlias = tuple[Any, ...]
Values: TypeAlias = "Mapping[str, Any]"
"""Columns of one row, by name."""
Swap: TypeAlias = tuple[int, Any, Any]
"""The id of a row, the expected value of one of its columns, and the new value."""

_OfMemories = Literal["scope", "memory", "observation", "relation", "revision", "absence", "tag", "mention"]
_OfSearch = Literal[
    "passage",
    "pending_vector",
    "model",
    "rotation",
    "vector",
    "passage_tokens",
    "term",
    "posting",
    "document",
]
_OfUse = Literal[
    "usage", "usage_day", "cooccurrence", "recall", "recall_hit", "link", "dream", "answer_log", "feedback"
]
_OfStores = Literal["tuning", "calibration", "receipt", "lease", "history_stamp", "setting"]
Table: TypeAlias = _OfMemories | _OfSearch | _OfUse | _OfStores


@dataclass(frozen=True, slots=True)
class TableKeys:
    """The primary key of a table, and its foreign keys."""

    key: tuple[str, ...] = ("id",)
    """With the key `id`, the store assigns the ids and never reuses one."""
    owners: Mapping[str, Table] = field(default_factory=dict)
    """Columns with the id of a row of another table. Deleting that row deletes this one."""
    pointers: Mapping[str, Table] = field(default_factory=dict)
    """Columns with the id of a row of another table. Deleting that row sets them to null."""


TABLES: Mapping[Table, TableKeys] = {
    "scope": TableKeys(),
    "memory": TableKeys(owners={"scope_id": "scope"}, pointers={"similar_to": "memory"}),
    "observation": TableKeys(
        owners={"memory_id": "memory"}, pointers={"superseded_by": "observation", "similar_to": "observation"}
    ),
    "relation": TableKeys(
        owners={"source_id": "memory", "target_id": "memory"}, pointers={"inverse_of": "relation"}
    ),
    "revision": TableKeys(owners={"memory_id": "memory"}),
    "absence": TableKeys(("memory_id", "since", "why"), owners={"memory_id": "memory"}),
    "tag": TableKeys(("memory_id", "folded"), owners={"memory_id": "memory"}),
    "mention": TableKeys(("memory_id", "entity_id"), owners={"memory_id": "memory", "entity_id": "memory"}),
    # Passages and vectors
    "passage": TableKeys(
        owners={"memory_id": "memory", "observation_id": "observation", "revision_id": "revision"}
    ),
    "pending_vector": TableKeys(("passage_id",), owners={"passage_id": "passage"}),
    "model": TableKeys(),
    "rotation": TableKeys(("model_id",), owners={"model_id": "model"}),
    "vector": TableKeys(owners={"model_id": "model", "passage_id": "passage"}),
    "passage_tokens": TableKeys(
        ("passage_id", "model_id"), owners={"passage_id": "passage", "model_id": "model"}
    ),
    # Words
    "term": TableKeys(owners={"scope_id": "scope"}),
    "posting": TableKeys(("term_id", "first_id"), owners={"term_id": "term"}),
    "document": TableKeys(("memory_id",), owners={"scope_id": "scope"}),
    # Usage
    "usage": TableKeys(("memory_id",), owners={"memory_id": "memory"}),
    "usage_day": TableKeys(("memory_id", "day"), owners={"memory_id": "memory"}),
    "cooccurrence": TableKeys(
        ("first_id", "second_id"), owners={"first_id": "memory", "second_id": "memory"}
    ),
    "recall": TableKeys(owners={"scope_id": "scope"}),
    "recall_hit": TableKeys(
        ("memory_id", "recall_id"), owners={"memory_id": "memory", "recall_id": "recall"}
    ),
    "link": TableKeys(("first_id", "second_id"), owners={"first_id": "memory", "second_id": "memory"}),
    # Dreams, the log of answers, tuning
    "dream": TableKeys(owners={"scope_id": "scope"}),
    "answer_log": TableKeys(owners={"scope_id": "scope"}),
    "feedback": TableKeys(owners={"answer_id": "answer_log", "memory_id": "memory"}),
    "tuning": TableKeys(owners={"scope_id": "scope"}),
    "calibration": TableKeys(("scope_id", "model"), owners={"scope_id": "scope"}),
    # The store itself
    "receipt": TableKeys(("key",)),
    "lease": TableKeys(("name",)),
    "history_stamp": TableKeys(("stamp",)),
    "setting": TableKeys(("name",)),
}

OWN_SETTINGS = frozenset({"store_id", "schema_version", "compacting", "lost_changes"})
"""Settings that are not copied: each store has its own."""
COPY_MARK = "copy"
"""The setting with the progress of a copy into the store. It is deleted when the copy is complete."""


# Conditions on stored rows. They only compare columns with values.

Value: TypeAlias = str | int | float | bytes | None

Column: TypeAlias = str | tuple[str, ...]
"""A column, or several: the first that is not null is used."""


@dataclass(frozen=True, slots=True)
class Equals:
    """The column has this value; None matches null."""

    column: Column
    value: Value


@dataclass(frozen=True, slots=True)
class OneOf:
    """The column has one of these values."""

    column: Column
    values: Collection[int] | Collection[str]


@dataclass(frozen=True, slots=True)
class Compares:
    """The column is not null, and the comparison with the value holds."""

    column: Column
    operator: Literal["<", "<=", ">", ">="]
    value: Value


@dataclass(frozen=True, slots=True)
class KeyIn:
    """The columns together have one of these combinations of values, none of them null."""

    columns: tuple[str, ...]
    keys: Sequence[tuple[str | int, ...]]


@dataclass(frozen=True, slots=True)
class HasRow:
    """Another table has a row that meets the conditions and whose `column` is this row's id."""

    table: Table
    column: str
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class BelongsTo:
    """The column is the id of a row of another table that meets the conditions."""

    column: str
    table: Table
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Contains:
    """The column contains this text, ignoring case. No index helps: every row is read."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


@dataclass(frozen=True, slots=True)
class AnyOf:
    """All conditions of at least one group hold."""

    groups: tuple[tuple[Condition, ...], ...]


Condition: TypeAlias = Equals | OneOf | Compares | KeyIn | HasRow | BelongsTo | Contains | Not | AnyOf
Where: TypeAlias = Sequence[Condition]


def is_null(column: Column) -> Equals:
    return Equals(column, None)


def is_set(column: Column) -> Not:
    return Not(Equals(column, None))


def null_or_after(column: str, moment: int) -> AnyOf:
    """The column is null, or later than this moment."""
    return AnyOf(((is_null(column),), (Compares(column, ">", moment),)))


IN_FORCE: tuple[Condition, ...] = (is_null("deleted_at"), is_null("superseded_at"))
"""Neither deleted nor superseded: memories and observations both have these columns."""
