"""Importing the official server's format: entities first, then relations, wherever they stand in the file.

That server keeps relations whose ends do not exist, so its files have them; what only a relation names is
created, as when a client relates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import NewEntity
from recollect.transfer.official import parsed, parsed_relation
from recollect.transfer.reading import batches, passed_over, present, records, refuse

if TYPE_CHECKING:
    from recollect.engine.upkeep.transfer import Import
    from recollect.transfer.source import Source
    from recollect.transfer.tally import Tally


def import_official(into: Import, source: Source, tally: Tally, *, keep_going: bool) -> None:
    source.plan(2 if keep_going else 3)
    if not keep_going:
        for _ in records(source, parsed, refuse):
            pass
    relations = _entities(into, source, tally)
    if relations:
        _relations(into, source, tally)
    source.finish()


def _entities(into: Import, source: Source, tally: Tally) -> int:
    """Write the entities, and count the relations that are to follow."""
    relations = 0
    for batch in batches(records(source, parsed, tally.bad)):
        entities = [item.record for item in batch if isinstance(item.record, NewEntity)]
        relations += len(batch) - len(entities)
        if not entities:
            continue
        for outcome in into.entities(entities):
            tally.counts["entities_created" if outcome.created else "entities_merged"] += 1
            tally.counts["observations_added"] += len(outcome.added)
            tally.counts["types_taken"] += outcome.took_type is not None
            tally.counts["types_kept"] += outcome.kept_type is not None
    tally.lines = source.read
    return relations


def _relations(into: Import, source: Source, tally: Tally) -> None:
    for batch in batches(present(records(source, parsed_relation, passed_over))):
        for outcome in into.relations(item.record for item in batch):
            tally.counts["relations_created" if outcome.created else "relations_known"] += 1
            tally.also_created(outcome.also_created)
