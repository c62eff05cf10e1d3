"""Which memories a filter lets through, as conditions on rows; and the state of a past moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.conditions import (
    IN_FORCE,
    AnyOf,
    Compares,
    Condition,
    Equals,
    HasRow,
    Not,
    OneOf,
    is_null,
    is_set,
    null_or_after,
)
from recollect.ports import Snapshot
from recollect.records import Kind
from recollect.retrieval.records import stamp
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.query import Filter
    from recollect.tables import Table

EVENT_TIME = ("happened_at", "created_at")


@dataclass(frozen=True, slots=True)
class PastState:
    """Another state than the present one: that of a moment, or that with what was superseded, or both."""

    at: int | None
    superseded: bool

    @classmethod
    def of(cls, where: Filter) -> PastState | None:
        """None: the present, which the indexes hold."""
        if where.as_of is None and not where.superseded:
            return None
        return cls(None if where.as_of is None else stamp(where.as_of), where.superseded)

    def memory(self) -> tuple[Condition, ...]:
        """The memory was there."""
        conditions = self.observation()
        if self.at is None:
            return conditions
        why = (Equals("why", "forgotten"),) if self.superseded else ()
        absent = (Compares("since", "<=", self.at), Compares("until", ">", self.at), *why)
        return (*conditions, Not(HasRow("absence", "memory_id", absent)))

    def observation(self) -> tuple[Condition, ...]:
        """The observation was there, given that its memory was."""
        conditions: list[Condition] = [self._not_yet("deleted_at")]
        if self.at is not None:
            conditions.append(Compares("created_at", "<=", self.at))
        if not self.superseded:
            conditions.append(self._not_yet("superseded_at"))
        return tuple(conditions)

    def changed(self, snapshot: Snapshot) -> set[int]:
        """All memories that read otherwise than now, or are in no index of the present.

        Each part has an index of its own, so that the work grows with what has changed, not with the store.
        """
        parts: list[tuple[Table, str, Condition]] = [
            ("memory", "id", is_set("superseded_at")),
            ("observation", "memory_id", is_set("superseded_at")),
        ]
        if self.at is not None:
            parts += [
                ("memory", "id", Compares("deleted_at", ">", self.at)),
                ("revision", "memory_id", Compares("until", ">", self.at)),
                ("observation", "memory_id", Compares("deleted_at", ">", self.at)),
                ("observation", "memory_id", Compares("created_at", ">", self.at)),
            ]
        return {
            id_
            for table, column, condition in parts
            for (id_,) in snapshot.rows(table, (column,), (condition,))
        }

    def _not_yet(self, column: str) -> Condition:
        return is_null(column) if self.at is None else null_or_after(column, self.at)


def allowed(where: Filter, scopes: Sequence[int]) -> tuple[Condition, ...]:
    """All that the filter lets through."""
    return (OneOf("scope_id", scopes), *lifecycle(where), *narrowing(where))


def lifecycle(where: Filter) -> tuple[Condition, ...]:
    """Whether the filter lets a memory through, dead or alive."""
    if where.deleted and where.as_of is None:
        return ()  # all that there ever was, what was superseded included
    past = PastState.of(where)
    return IN_FORCE if past is None else past.memory()


def narrowing(where: Filter) -> tuple[Condition, ...]:
    """The part of a filter that a scope's own indexes do not answer by themselves."""
    return tuple(_narrowing(where))


def _narrowing(where: Filter) -> Iterator[Condition]:
    if where.kinds != frozenset(Kind):
        yield OneOf("kind", where.kinds)
    if where.current is not None:
        others = OneOf("kind", frozenset(Kind) - {Kind.MESSAGE})
        yield AnyOf(((others,), (Equals("session", where.current),)))
    if where.session is not None:
        yield Equals("session", where.session)
    for tag in sorted({fold(tag) for tag in where.tags}):
        yield HasRow("tag", "memory_id", (Equals("folded", tag),))
    if where.refs is not None:
        yield OneOf("ref", where.refs)
    if where.category is not None:
        yield Equals("category", where.category)
    if where.speaker is not None:
        yield Equals("speaker", where.speaker)
    if where.about is not None:
        yield HasRow("mention", "memory_id", (Equals("entity_id", where.about),))
    if where.expired_by is not None:
        yield null_or_after("expires_at", where.expired_by)
    if where.span is not None:
        start, stop = where.span
        yield OneOf("kind", frozenset(Kind) - {Kind.ENTITY})
        yield Compares(EVENT_TIME, ">=", start)
        yield Compares(EVENT_TIME, "<", stop)
