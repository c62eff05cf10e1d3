"""Importing our own format: every memory as it was, then relations and what was learnt, then links."""

from __future__ import annotations

from array import array
from collections import defaultdict
from dataclasses import replace
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from recollect.changes import AdoptLinks
from recollect.learnt import LearntSetting
from recollect.records import Kind, Relation
from recollect.transfer.full import FULL, VERSION
from recollect.transfer.id_map import IdMap
from recollect.transfer.learnt_places import LearntPlaces
from recollect.transfer.reports import BadLine, Dangling

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.engine.upkeep.transfer import Import
    from recollect.records import Memory
    from recollect.transfer.json_lines import NumberedRecord
    from recollect.transfer.reports import Tally

_LINKS_AT_ONCE = 1_000


class FullImport:
    """Takes in what a full export holds, each thing under its own id where that is free."""

    format = FULL
    memory_kind = "memory"

    def __init__(self, into: Import, tally: Tally, *, version: int = VERSION) -> None:
        self._into = into
        self._tally = tally
        self._fresh = into.is_fresh()
        self._keeps_mentions = self._fresh and version == VERSION
        self._memories = IdMap()
        self._relations = IdMap()
        self._learnt = LearntPlaces(self._memories, fresh=self._fresh)
        self._links: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
        """By the fields of `AdoptLinks`: an id here, then the id that the file links it to, and so on."""

    def add_memories(self, memories: Sequence[Memory]) -> None:
        adopted = self._into.adopt(memories, fresh=self._fresh, keeps_mentions=self._keeps_mentions)
        for memory, outcome in zip(memories, adopted, strict=True):
            here = outcome.ids[0]
            self._memories.add(memory.id, here)
            self._link("superseded", here, memory.superseded_by)
            self._link("drawn", here, memory.drawn_from)
            self._link("similar", here, memory.similar_to)
            for entity in memory.about:
                self._link("about", here, entity)
            for entity in memory.mentions if self._keeps_mentions else ():
                self._link("mentions", here, entity)
            created, known = ("texts_created", "texts_known")
            if memory.kind is Kind.ENTITY:
                created, known = ("entities_created", "entities_merged")
            self._tally.counts[created if outcome.created else known] += 1
            self._tally.counts["observations_added"] += outcome.count
            self._tally.counts["types_taken"] += outcome.took_type is not None
            self._tally.counts["forgotten"] += bool(outcome.created) and memory.deleted_at is not None

    def add_rest(self, batch: Sequence[NumberedRecord]) -> None:
        relations = [item for item in batch if isinstance(item.record, Relation)]
        self._add_relations(relations)
        learnt = (item for item in batch if not isinstance(item.record, Relation))
        # One kind after the other: answers name tuned numbers that came before them.
        for _, run in groupby(learnt, key=lambda item: type(item.record)):
            self._add_learnt(list(run))

    def _add_relations(self, batch: Sequence[NumberedRecord]) -> None:
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

    def _add_learnt(self, batch: Sequence[NumberedRecord]) -> None:
        placed = []
        for line, _, learnt in batch:
            here, reason = self._learnt.placed(learnt)
            if reason is not None:
                self._tally.add("learnt_left", BadLine(line, reason))
            if here is not None:
                placed.append((line, learnt, here))
        outcomes = self._into.adopt_learnt((here for _, _, here in placed), fresh=self._fresh)
        for (line, learnt, _), outcome in zip(placed, outcomes, strict=True):
            self._learnt.note(learnt, outcome)
            if isinstance(learnt, LearntSetting):
                continue  # no more than how learning goes about
            if outcome.error is not None:
                self._tally.add("learnt_left", BadLine(line, f"Left out: {outcome.error}."))
            elif not outcome.created:
                self._tally.counts["learnt_known"] += 1
            self._tally.counts["learnt"] += outcome.created

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
