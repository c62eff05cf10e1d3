"""Importing our own format: every memory as it was, then every relation, then the links between them."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from recollect.changes import AdoptLinks
from recollect.records import Kind
from recollect.transfer.full import FULL
from recollect.transfer.reports import Dangling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.upkeep.transfer import Import
    from recollect.records import Memory, Relation
    from recollect.transfer.json_lines import NumberedRecord
    from recollect.transfer.reports import Tally

_LINKS_AT_ONCE = 1_000


class FullImport:
    """Takes in what a full export holds, each thing under its own id where that is free."""

    format = FULL

    def __init__(self, into: Import, tally: Tally) -> None:
        self._into = into
        self._tally = tally
        self._fresh = into.is_fresh()
        self._memories = _IdMap()
        self._relations = _IdMap()
        self._links: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        """By the fields of `AdoptLinks`: an id here, then the id that the file links it to, and so on."""

    def add_memories(self, memories: Sequence[Memory]) -> None:
        for memory, outcome in zip(memories, self._into.adopt(memories, fresh=self._fresh), strict=True):
            here = outcome.ids[0]
            self._memories.add(memory.id, here)
            self._link("superseded", here, memory.superseded_by)
            self._link("drawn", here, memory.drawn_from)
            self._link("similar", here, memory.similar_to)
            for entity in memory.about:
                self._link("about", here, entity)
            created, known = ("texts_created", "texts_known")
            if memory.kind is Kind.ENTITY:
                created, known = ("entities_created", "entities_merged")
            self._tally.counts[created if outcome.created else known] += 1
            self._tally.counts["observations_added"] += outcome.count
            self._tally.counts["types_taken"] += outcome.took_type is not None
            self._tally.counts["forgotten"] += bool(outcome.created) and memory.deleted_at is not None

    def add_relations(self, batch: Sequence[NumberedRecord]) -> None:
        placed = []
        for line, _, relation in batch:
            source, target = self._memories.get(relation.source), self._memories.get(relation.target)
            if source is None or target is None:
                missing = relation.source if source is None else relation.target
                self._dangling(line, relation, f"The file has no memory {missing}.")
            else:
                placed.append((line, relation, replace(relation, source=source, target=target)))
        outcomes = self._into.adopt_relations((here for _, _, here in placed), fresh=self._fresh)
        for (line, relation, _), outcome in zip(placed, outcomes, strict=True):
            if outcome.error is not None:
                self._dangling(line, relation, outcome.error)
                continue
            self._relations.add(relation.id, outcome.relations[0])
            self._link("inverse", outcome.relations[0], relation.inverse_of)
            self._tally.counts["relations_created" if outcome.created else "relations_known"] += 1

    def link(self) -> None:
        """Link what is here to what the file named by the ids of its own."""
        for name, flat in self._links.items():
            ids = self._relations if name == "inverse" else self._memories
            pairs = ((here, ids.get(there)) for here, there in zip(flat[::2], flat[1::2], strict=True))
            known = (pair for pair in pairs if pair[1] is not None)
            while batch := tuple(islice(known, _LINKS_AT_ONCE)):
                named: dict[str, Any] = {name: batch}
                self._into.adopt_links(AdoptLinks(**named))
        self._links.clear()

    def _link(self, name: str, here: int, there: int | None) -> None:
        if there is not None:
            self._links[name].extend((here, there))

    def _dangling(self, line: int, relation: Relation, reason: str) -> None:
        source, target = f"memory {relation.source}", f"memory {relation.target}"
        self._tally.add("dangling", Dangling(line, source, relation.type, target, reason))


class _IdMap:
    """Ids in the file to ids in the store."""

    def __init__(self) -> None:
        self._ids = array("q")
        self._here = array("q")
        self._sorted = True

    def add(self, id_: int, here: int) -> None:
        self._sorted = self._sorted and (not self._ids or id_ > self._ids[-1])
        self._ids.append(id_)
        self._here.append(here)

    def get(self, id_: int) -> int | None:
        """None: the file has no such row."""
        if not self._sorted:  # a file that was put in another order by hand
            rows = sorted(zip(self._ids, self._here, strict=True))
            self._ids, self._here = (array("q", column) for column in zip(*rows, strict=True))
            self._sorted = True
        place = bisect_right(self._ids, id_) - 1
        return self._here[place] if place >= 0 and self._ids[place] == id_ else None
