"""Conditions on stored rows: they compare columns with values, and compute nothing.

A sequence of conditions means all of them. Every store translates these few shapes into its own language.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from recollect.lazy_dataclass import dataclass
from recollect.tables import Table

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
