"""Importing the official server's format: entities first, then relations, wherever they stand in the file.

That server keeps relations whose ends do not exist, so its files have them; what only a relation names is
created, as when a client relates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.changes import NewEntity, PutEntity, Relate
from recollect.transfer.official import parsed, parsed_relation
from recollect.transfer.reading import batches, passed_over, present, records, refuse

if TYPE_CHECKING:
    from datetime import datetime

    from recollect.engine.engine import Engine
    from recollect.transfer.source import Source
    from recollect.transfer.tally import Tally


def import_official(engine: Engine, source: Source, tally: Tally, *, keep_going: bool) -> None:
    source.plan(2 if keep_going else 3)
    if not keep_going:
        for _ in records(source, parsed, refuse):
            pass
    at = engine.parts.clock()
    relations = _entities(engine, source, tally, at)
    if relations:
        _relations(engine, source, tally, at)
    source.finish()


def _entities(engine: Engine, source: Source, tally: Tally, at: datetime) -> int:
    """Write the entities, and count the relations that are to follow."""
    relations = 0
    for batch in batches(records(source, parsed, tally.bad)):
        changes = [
            PutEntity(engine.scope, item.record, counts=False)
            for item in batch
            if isinstance(item.record, NewEntity)
        ]
        relations += len(batch) - len(changes)
        if not changes:
            continue
        for outcome in engine.store.apply(changes, at=at).outcomes:
            tally.counts["entities_created" if outcome.created else "entities_merged"] += 1
            tally.counts["observations_added"] += len(outcome.added)
            tally.counts["types_taken"] += outcome.took_type is not None
            tally.counts["types_kept"] += outcome.kept_type is not None
    tally.lines = source.read
    return relations


def _relations(engine: Engine, source: Source, tally: Tally, at: datetime) -> None:
    for batch in batches(present(records(source, parsed_relation, passed_over))):
        changes = [Relate(engine.scope, item.record, create_missing=True) for item in batch]
        for outcome in engine.store.apply(changes, at=at).outcomes:
            tally.counts["relations_created" if outcome.created else "relations_known"] += 1
            tally.also_created(outcome.also_created)
