"""The tables that every store keeps: which there are, what identifies a row, and what it belongs to.

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
"""The id of a row, the value that one of its columns is expected to hold, and the one to put there."""

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
class TableForm:
    """How the rows of a table are identified, and to which rows of other tables they belong."""

    key: tuple[str, ...] = ("id",)
    """With the key `id`, the store numbers the rows, and uses no number again."""
    owners: Mapping[str, Table] = field(default_factory=dict)
    """Columns that name a row of another table; with it, this row goes."""
    pointers: Mapping[str, Table] = field(default_factory=dict)
    """Columns that name a row of another table; without it, they become null."""


TABLES: Mapping[Table, TableForm] = {
    "scope": TableForm(),
    "memory": TableForm(owners={"scope_id": "scope"}, pointers={"similar_to": "memory"}),
    "observation": TableForm(
        owners={"memory_id": "memory"}, pointers={"superseded_by": "observation", "similar_to": "observation"}
    ),
    "relation": TableForm(
        owners={"source_id": "memory", "target_id": "memory"}, pointers={"inverse_of": "relation"}
    ),
    "revision": TableForm(owners={"memory_id": "memory"}),
    "absence": TableForm(("memory_id", "since", "why"), owners={"memory_id": "memory"}),
    "tag": TableForm(("memory_id", "folded"), owners={"memory_id": "memory"}),
    "mention": TableForm(("memory_id", "entity_id"), owners={"memory_id": "memory", "entity_id": "memory"}),
    # Passages and vectors
    "passage": TableForm(
        owners={"memory_id": "memory", "observation_id": "observation", "revision_id": "revision"}
    ),
    "pending_vector": TableForm(("passage_id",), owners={"passage_id": "passage"}),
    "model": TableForm(),
    "rotation": TableForm(("model_id",), owners={"model_id": "model"}),
    "vector": TableForm(owners={"model_id": "model", "passage_id": "passage"}),
    "passage_tokens": TableForm(
        ("passage_id", "model_id"), owners={"passage_id": "passage", "model_id": "model"}
    ),
    # Words
    "term": TableForm(owners={"scope_id": "scope"}),
    "posting": TableForm(("term_id", "first_id"), owners={"term_id": "term"}),
    "document": TableForm(("memory_id",), owners={"scope_id": "scope"}),
    # Usage
    "usage": TableForm(("memory_id",), owners={"memory_id": "memory"}),
    "usage_day": TableForm(("memory_id", "day"), owners={"memory_id": "memory"}),
    "cooccurrence": TableForm(
        ("first_id", "second_id"), owners={"first_id": "memory", "second_id": "memory"}
    ),
    "recall": TableForm(owners={"scope_id": "scope"}),
    "recall_hit": TableForm(
        ("memory_id", "recall_id"), owners={"memory_id": "memory", "recall_id": "recall"}
    ),
    "link": TableForm(("first_id", "second_id"), owners={"first_id": "memory", "second_id": "memory"}),
    # Dreams, the log of answers, tuning
    "dream": TableForm(owners={"scope_id": "scope"}),
    "answer_log": TableForm(owners={"scope_id": "scope"}),
    "feedback": TableForm(owners={"answer_id": "answer_log", "memory_id": "memory"}),
    "tuning": TableForm(owners={"scope_id": "scope"}),
    "calibration": TableForm(("scope_id", "model"), owners={"scope_id": "scope"}),
    # The store itself
    "receipt": TableForm(("key",)),
    "lease": TableForm(("name",)),
    "history_stamp": TableForm(("stamp",)),
    "setting": TableForm(("name",)),
}

OWN_SETTINGS = frozenset({"store_id", "schema_version", "compacting", "lost_changes"})
"""Settings of one store alone: a copy has its own."""
COPY_MARK = "copy"
"""The setting that says how far a copy into the store has come; gone when the copy is complete."""


# Conditions on stored rows: they compare columns with values, and compute nothing.

Value: TypeAlias = str | int | float | bytes | None

Column: TypeAlias = str | tuple[str, ...]
"""A column, or several of which the first that is not null counts."""


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
    """The column is not null and compares so with the value."""

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
    """Another table has a row whose `column` is this row's id, and which meets the conditions."""

    table: Table
    column: str
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class BelongsTo:
    """The column names a row of another table, by its id, which meets the conditions."""

    column: str
    table: Table
    where: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Contains:
    """The column's text contains this one, letters in any case. No index helps: every row is read."""

    column: str
    text: str


@dataclass(frozen=True, slots=True)
class Not:
    condition: Condition


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of these groups holds, each of them whole."""

    groups: tuple[tuple[Condition, ...], ...]


Condition: TypeAlias = Equals | OneOf | Compares | KeyIn | HasRow | BelongsTo | Contains | Not | AnyOf
Where: TypeAlias = Sequence[Condition]


def is_null(column: Column) -> Equals:
    return Equals(column, None)


def is_set(column: Column) -> Not:
    return Not(Equals(column, None))


def null_or_after(column: str, moment: int) -> AnyOf:
    """The column holds no time yet at this moment: it is null, or a later one."""
    return AnyOf(((is_null(column),), (Compares(column, ">", moment),)))


IN_FORCE: tuple[Condition, ...] = (is_null("deleted_at"), is_null("superseded_at"))
"""Neither deleted nor superseded: memories and observations both have these columns."""
