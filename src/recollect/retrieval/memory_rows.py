"""The rows of the memories that one question looks at, each read once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from recollect.conditions import OneOf
from recollect.ports import RowsQuery, Snapshot
from recollect.retrieval.records import memories_and

if TYPE_CHECKING:
    from recollect.records import Memory
    from recollect.tables import Row

# What rankings, times and contradictions read; the rest is asked for of those few that are shown.
_COLUMNS = (
    "id", "kind", "scope_id", "created_at", "updated_at", "happened_at", "undated", "status", "importance",
    "strength", "depth", "spread", "stability", "text_key", "text", "name", "session", "position", "speaker",
    "drawn_from", "revisions", "role", "superseded_at", "ref",
)  # fmt: skip
_PLACES = {name: place for place, name in enumerate(_COLUMNS)}
_ID = _PLACES["id"]


class MemoryRows:
    """A snapshot is of one moment, so what was read once is kept."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._rows: dict[int, Row] = {}
        self._asked: set[int] = set()

    def read(self, ids: Iterable[int]) -> None:
        """Have these at hand."""
        unknown = set(ids) - self._asked
        if unknown:
            self._asked |= unknown
            rows = self.snapshot.rows("memory", _COLUMNS, (OneOf("id", sorted(unknown)),))
            self._rows.update(zip(map(itemgetter(_ID), rows), rows, strict=True))

    def select(self, ids: Iterable[int], columns: Sequence[str]) -> list[Any]:
        """These columns of those that exist, in the order of the ids; of one column, its values."""
        ids = list(ids)
        self.read(ids)
        pick = itemgetter(*(_PLACES[column] for column in columns))
        return [pick(row) for id_ in ids if (row := self._rows.get(id_)) is not None]

    def columns(self, ids: Iterable[int]) -> dict[str, Sequence[Any]]:
        """All that was read of those that exist, by column, in the order of the ids."""
        ids = list(ids)
        self.read(ids)
        rows = [row for id_ in ids if (row := self._rows.get(id_)) is not None]
        return dict(zip(_COLUMNS, zip(*rows, strict=True) if rows else [()] * len(_COLUMNS), strict=True))

    def whole(self, ids: Iterable[int]) -> dict[int, Memory]:
        """Those that exist, with all that stands in other tables, by id."""
        return self.whole_and(ids)[0]

    def whole_and(self, ids: Iterable[int], *beside: RowsQuery) -> tuple[dict[int, Memory], list[list[Row]]]:
        """The same; and what else to ask for in the same go."""
        return memories_and(self.snapshot, ids, beside)
