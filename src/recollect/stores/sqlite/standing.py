"""Which rows a filter lets through, as SQL; and how the store stood at another moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollect.records import Kind
from recollect.stores.sqlite.rows import many, stamp
from recollect.text.tokens import fold

if TYPE_CHECKING:
    from recollect.records import Filter

TIME = "coalesce({row}.happened_at, {row}.created_at)"


@dataclass(frozen=True, slots=True)
class Standing:
    """Another state than the present one: that of a moment, or that with what was superseded, or both."""

    at: int | None
    superseded: bool

    @classmethod
    def of(cls, where: Filter) -> Standing | None:
        """None: the present, which the indexes hold."""
        if where.as_of is None and not where.superseded:
            return None
        return cls(None if where.as_of is None else stamp(where.as_of), where.superseded)

    def memory(self, row: str = "m") -> str:
        """The memory was there."""
        parts = [self._not_yet(f"{row}.deleted_at")]
        if self.at is not None:
            parts.append(f"{row}.created_at <= {self.at}")
        if not self.superseded:
            parts.append(self._not_yet(f"{row}.superseded_at"))
        if self.at is not None:
            why = " AND why = 'forgotten'" if self.superseded else ""
            parts.append(
                f"NOT EXISTS (SELECT 1 FROM absence WHERE absence.memory_id = {row}.id "
                f"AND since <= {self.at} AND {self.at} < until{why})"
            )
        return f"({' AND '.join(parts)})"

    def observation(self, row: str = "o") -> str:
        """The observation was there, given that its memory was."""
        parts = [self._not_yet(f"{row}.deleted_at")]
        if self.at is not None:
            parts.append(f"{row}.created_at <= {self.at}")
        if not self.superseded:
            parts.append(self._not_yet(f"{row}.superseded_at"))
        return f"({' AND '.join(parts)})"

    def different(self) -> str:
        """SQL for the ids of all memories that read otherwise than now, or are in no index of the present.

        Each part has an index of its own, so that the work grows with what has changed, not with the store.
        """
        parts = [
            "SELECT id FROM memory WHERE superseded_at IS NOT NULL",
            "SELECT memory_id FROM observation WHERE superseded_at IS NOT NULL",
        ]
        if self.at is not None:
            parts += [
                f"SELECT id FROM memory WHERE deleted_at > {self.at}",
                f"SELECT memory_id FROM revision WHERE until > {self.at}",
                f"SELECT memory_id FROM observation WHERE deleted_at > {self.at}",
                f"SELECT memory_id FROM observation WHERE created_at > {self.at}",
            ]
        return f"({' UNION '.join(parts)})"

    def _not_yet(self, column: str) -> str:
        return f"{column} IS NULL" if self.at is None else f"({column} IS NULL OR {column} > {self.at})"


def allowed(where: Filter, scopes: list[int], row: str = "m") -> tuple[str, list[object]]:
    """SQL on a memory's row that says all that the filter lets through."""
    narrow, bindings = narrowing(where, row)
    parts = [f"{row}.scope_id IN (SELECT value FROM json_each(?))", life(where, row)]
    if narrow:
        parts.append(narrow)
    return " AND ".join(parts), [many(scopes), *bindings]


def life(where: Filter, row: str = "m") -> str:
    """SQL on a memory's row: whether the filter lets it through, dead or alive."""
    if where.deleted and where.as_of is None:
        return "1"  # all that there ever was, what was superseded included
    standing = Standing.of(where) or Standing(None, superseded=False)
    return standing.memory(row)


def narrowing(where: Filter, row: str = "m") -> tuple[str, list[object]]:
    """The part of a filter that a scope's own index does not answer by itself; empty if there is none."""
    parts: list[str] = []
    bindings: list[object] = []
    if where.kinds != frozenset(Kind):
        parts.append(f"{row}.kind IN ({', '.join('?' * len(where.kinds))})")
        bindings.extend(sorted(where.kinds))
    if where.current is not None:
        parts.append(f"({row}.kind <> 'message' OR {row}.session = ?)")
        bindings.append(where.current)
    listed, more = _listed(where, row)
    return " AND ".join((*parts, *listed)), [*bindings, *more]


def members(where: Filter, row: str = "m") -> tuple[str, list[object]] | None:
    """What a cache of vectors cannot tell by its own columns; None if there is nothing."""
    parts, bindings = _listed(where, row)
    return (" AND ".join(parts), bindings) if parts else None


def _listed(where: Filter, row: str) -> tuple[list[str], list[object]]:
    parts: list[str] = []
    bindings: list[object] = []
    if where.session is not None:
        parts.append(f"{row}.session = ?")
        bindings.append(where.session)
    if where.tags:
        folded = sorted({fold(tag) for tag in where.tags})
        parts.append(
            f"{row}.id IN (SELECT memory_id FROM tag WHERE folded IN (SELECT value FROM json_each(?)) "
            "GROUP BY memory_id HAVING count(*) = ?)"
        )
        bindings += [many(folded), len(folded)]
    for column, wanted in (("category", where.category), ("speaker", where.speaker)):
        if wanted is not None:
            parts.append(f"{row}.{column} = ?")
            bindings.append(wanted)
    if where.about is not None:
        parts.append(f"{row}.id IN (SELECT memory_id FROM mention WHERE entity_id = ?)")
        bindings.append(where.about)
    if where.span is not None:
        parts.append(
            f"({row}.kind <> 'entity' AND {TIME.format(row=row)} >= ? AND {TIME.format(row=row)} < ?)"
        )
        bindings += where.span
    return parts, bindings
