"""Importing our own format: every memory as it was, then every relation, then what belongs to what."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from recollect.changes import AdoptLinks
from recollect.errors import InvalidInput
from recollect.records import Kind, Memory
from recollect.transfer.full import check_header, parsed, parsed_relation
from recollect.transfer.places import Pairs, Places
from recollect.transfer.reading import batches, passed_over, present, records, refuse
from recollect.transfer.reports import Dangling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from recollect.changes import Outcome
    from recollect.engine.upkeep.transfer import Import
    from recollect.records import Relation
    from recollect.transfer.full import Record
    from recollect.transfer.reading import Numbered
    from recollect.transfer.source import Source
    from recollect.transfer.tally import Tally

_LINKS = 1_000


def import_full(into: Import, source: Source, tally: Tally, *, keep_going: bool) -> None:
    first = source.first()
    if first is None:
        raise InvalidInput("The file is empty; a full export has at least its first line.")
    check_header(first.content)
    source.plan(2 if keep_going else 3)
    if not keep_going:
        for _ in _records(source, refuse):
            pass
    fresh = into.is_fresh()
    memories = _memories(into, source, tally, fresh=fresh)
    _relations(into, source, tally, memories, fresh=fresh)
    source.finish()


def _records(source: Source, bad: Callable[[int, str], None]) -> Iterator[Numbered[Record]]:
    return records(source, parsed, bad, headed=True)


def _memories(into: Import, source: Source, tally: Tally, *, fresh: bool) -> Places:
    """Write the memories; returns where they are now."""
    places = Places()
    with ExitStack() as stack:
        links = {name: stack.enter_context(Pairs()) for name in ("superseded", "about", "drawn", "similar")}
        for batch in batches(_records(source, tally.bad)):
            memories = [item.record for item in batch if isinstance(item.record, Memory)]
            if not memories:
                continue
            for memory, outcome in zip(memories, into.adopt(memories, fresh=fresh), strict=True):
                places.note(memory.id, outcome.ids[0])
                for name, other in _linked(memory):
                    links[name].note(outcome.ids[0], other)
                _count(tally, memory, outcome)
        tally.lines = source.read
        _link(into, links["superseded"], places, lambda pairs: AdoptLinks(superseded=pairs))
        _link(into, links["about"], places, lambda pairs: AdoptLinks(about=pairs))
        _link(into, links["drawn"], places, lambda pairs: AdoptLinks(drawn=pairs))
        _link(into, links["similar"], places, lambda pairs: AdoptLinks(similar=pairs))
    return places


def _linked(memory: Memory) -> Iterator[tuple[str, int]]:
    """To which others a memory belongs, by the ids of the file."""
    if memory.superseded_by is not None:
        yield "superseded", memory.superseded_by
    if memory.drawn_from is not None:
        yield "drawn", memory.drawn_from
    if memory.similar_to is not None:
        yield "similar", memory.similar_to
    for entity in memory.about:
        yield "about", entity


def _relations(into: Import, source: Source, tally: Tally, memories: Places, *, fresh: bool) -> None:
    places = Places()
    with Pairs() as inverse:
        for batch in batches(present(records(source, parsed_relation, passed_over, headed=True))):
            placed = list(_placed(batch, memories, tally))
            outcomes = into.adopt_relations((relation for _, _, relation in placed), fresh=fresh)
            for (line, told, relation), outcome in zip(placed, outcomes, strict=True):
                if outcome.error is not None:
                    tally.dangling(_dangling(line, told, outcome.error))
                    continue
                here = outcome.relations[0]
                places.note(relation.id, here)
                if relation.inverse_of is not None:
                    inverse.note(here, relation.inverse_of)
                tally.counts["relations_created" if outcome.created else "relations_known"] += 1
        _link(into, inverse, places, lambda pairs: AdoptLinks(inverse=pairs))


def _placed(
    batch: Iterable[Numbered[Relation]], memories: Places, tally: Tally
) -> Iterator[tuple[int, Relation, Relation]]:
    """Each relation as the file has it and with the ids that its ends have here."""
    for line, _, relation in batch:
        source, target = memories.of(relation.source), memories.of(relation.target)
        if source is None or target is None:
            missing = relation.source if source is None else relation.target
            tally.dangling(_dangling(line, relation, f"The file has no memory {missing}."))
        else:
            yield line, relation, replace(relation, source=source, target=target)


def _dangling(line: int, relation: Relation, reason: str) -> Dangling:
    return Dangling(line, f"memory {relation.source}", relation.type, f"memory {relation.target}", reason)


def _link(
    into: Import,
    pairs: Pairs,
    places: Places,
    links_of: Callable[[tuple[tuple[int, int], ...]], AdoptLinks],
) -> None:
    """Link what is here to what the file named by the ids of its own."""
    ready: list[tuple[int, int]] = []
    for here, there in pairs:
        found = places.of(there)
        if found is not None:
            ready.append((here, found))
        if len(ready) >= _LINKS:
            into.adopt_links(links_of(tuple(ready)))
            ready.clear()
    if ready:
        into.adopt_links(links_of(tuple(ready)))


def _count(tally: Tally, memory: Memory, outcome: Outcome) -> None:
    what = "entities" if memory.kind is Kind.ENTITY else "texts"
    known = "entities_merged" if memory.kind is Kind.ENTITY else "texts_known"
    tally.counts[f"{what}_created" if outcome.created else known] += 1
    tally.counts["observations_added"] += outcome.count
    tally.counts["types_taken"] += outcome.took_type is not None
    if outcome.created and memory.deleted_at is not None:
        tally.counts["forgotten"] += 1
