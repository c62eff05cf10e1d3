"""Conditions of a search by vector: those that the cache of vectors can tell, and those for the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.conditions import Equals, HasRow, Not, OneOf
from recollect.records import Kind
from recollect.stores.vectors.scan import Allowed

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from recollect.conditions import Condition, Where

_EVERY_KIND = frozenset(Kind)
_NONE = frozenset[int]()

MOST_LISTED = 1_000
"""Memories that are listed before a search, where an index finds them; more cost more than a search."""

ROWS_PER_QUESTION = 8
"""To ask the tables of one hit costs about as much as to list so many memories."""


@dataclass(frozen=True, slots=True)
class VectorFilter:
    """Conditions on memories, sorted by who can tell."""

    kinds: frozenset[Kind]
    only: frozenset[int] | None
    without: frozenset[int]
    others: tuple[Condition, ...]

    @classmethod
    def of(cls, where: Where) -> VectorFilter:
        kinds, without = _EVERY_KIND, _NONE
        only: frozenset[int] | None = None
        others: list[Condition] = []
        for condition in where:
            match condition:
                case OneOf("kind", values):
                    kinds &= frozenset(Kind(str(kind)) for kind in values)
                case OneOf("id", ids):
                    only = _numbers(ids) if only is None else only & _numbers(ids)
                case Not(OneOf("id", ids)):
                    without |= _numbers(ids)
                case _:
                    others.append(condition)
        return cls(kinds, only, without, tuple(others))

    @property
    def is_narrow(self) -> bool:
        """Whether an index may find the few that meet the other conditions."""
        return any(
            isinstance(condition, HasRow) or (isinstance(condition, Equals) and condition.column == "session")
            for condition in self.others
        )

    def allowed(self, scopes: Sequence[int], ids: Collection[int] | None = None) -> Allowed:
        """For the cache; `ids` are those of all memories that meet the other conditions."""
        only = self.only if ids is None else frozenset(ids) if self.only is None else self.only & set(ids)
        return Allowed.of(scopes, self.kinds, only, self.without or None)


def _numbers(ids: Collection[int] | Collection[str]) -> frozenset[int]:
    return frozenset(map(int, ids))
