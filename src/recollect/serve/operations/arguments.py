"""The parts that the arguments of operations are made of."""

from __future__ import annotations

from typing import Annotated, Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

LARGEST_ID = 2**63 - 1

_Item = TypeVar("_Item")
Many = Annotated[list[_Item], Field(fail_fast=True)]
"""A list that is refused at its first mistake: a million of them take no longer than one."""
RowId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
MemoryId = Annotated[RowId, Field(description="The id of a memory, as `recall` shows it after #")]


class Arguments(BaseModel):
    """What a caller passes: the fields of a subclass, of exactly their types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class PageArguments(Protocol):
    """What every operation with pages takes."""

    @property
    def limit(self) -> int | None: ...
    @property
    def cursor(self) -> str | None: ...
    @property
    def budget_tokens(self) -> int | None: ...


def described(description: str) -> Any:
    """A field that must be given, or one of a row."""
    return Field(description=description)


def optional(
    description: str, *, ge: int | None = None, le: int | None = None, most: int | None = None
) -> Any:
    """A field that may be left out; of a list, `most` is the number of entries that it takes."""
    return Field(default=None, description=description, ge=ge, le=le, max_length=most)


def at_most(most: int, otherwise: int) -> Any:
    """The field `limit`."""
    return optional(f"At most so many; {otherwise} if not given", ge=1, le=most)


def next_page() -> Any:
    """The field `cursor`."""
    return optional("The last answer's `cursor`, to go on")


def budget_from(least: int) -> Any:
    """The field `budget_tokens`, from what one ordinary row takes with little prose."""
    return optional("At most about so many tokens", ge=least)
