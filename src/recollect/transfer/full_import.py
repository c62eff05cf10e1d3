"""Importing our own format: every memory as it was, then every relation, then the links between them."""

from __future__ import annotations

import struct
import tempfile
from array import array
from bisect import bisect_right
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Any

from recollect.changes import AdoptLinks
from recollect.errors import InvalidInput
from recollect.records import Kind, Memory
from recollect.transfer.full import check_header, parse_record, parse_relation
from recollect.transfer.json_lines import ignore_line, record_batches, records, refuse_line, without_none
from recollect.transfer.reports import Dangling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from recollect.changes import Outcome
    from recollect.engine.upkeep.transfer import Import
    from recollect.records import Relation
    from recollect.transfer.files import LineFile
    from recollect.transfer.json_lines import NumberedRecord
    from recollect.transfer.reports import Tally

_LINKS_AT_ONCE = 1_000
_PAIR = struct.Struct("<qq")


def import_full(into: Import, source: LineFile, tally: Tally, *, keep_going: bool) -> None:
    first = source.first()
    if first is None:
        raise InvalidInput("The file is empty; a full export has at least its first line.")
    check_header(first.content)
    source.plan(2 if keep_going else 3)
    if not keep_going:
        for _ in records(source, parse_record, refuse_line, headed=True):
            pass
    fresh = into.is_fresh()
    memories = _import_memories(into, source, tally, fresh=fresh)
    _import_relations(into, source, tally, memories, fresh=fresh)
    source.finish()


def _import_memories(into: Import, source: LineFile, tally: Tally, *, fresh: bool) -> _IdMap:
    """Write the memories; returns which ids they have here."""
    ids = _IdMap()
    with ExitStack() as stack:
        links = {name: stack.enter_context(_pairs()) for name in ("superseded", "about", "drawn", "similar")}
        for batch in record_batches(records(source, parse_record, tally.bad, headed=True)):
            memories = [item.record for item in batch if isinstance(item.record, Memory)]
            outcomes = into.adopt(memories, fresh=fresh) if memories else ()
            for memory, outcome in zip(memories, outcomes, strict=True):
                ids.add(memory.id, outcome.ids[0])
                for name, other in _links(memory):
                    links[name].add(outcome.ids[0], other)
                _count(tally, memory, outcome)
        tally.lines = source.read
        for name, pairs in links.items():
            _link(into, name, pairs, ids)
    return ids


def _links(memory: Memory) -> Iterator[tuple[str, int]]:
    """The other memories that it is linked to, by the ids of the file."""
    singles = {
        "superseded": memory.superseded_by,
        "drawn": memory.drawn_from,
        "similar": memory.similar_to,
    }
    yield from ((name, other) for name, other in singles.items() if other is not None)
    yield from (("about", entity) for entity in memory.about)


def _count(tally: Tally, memory: Memory, outcome: Outcome) -> None:
    created, known = (
        ("entities_created", "entities_merged")
        if memory.kind is Kind.ENTITY
        else ("texts_created", "texts_known")
    )
    tally.counts[created if outcome.created else known] += 1
    tally.counts["observations_added"] += outcome.count
    tally.counts["types_taken"] += outcome.took_type is not None
    if outcome.created and memory.deleted_at is not None:
        tally.counts["forgotten"] += 1


def _import_relations(into: Import, source: LineFile, tally: Tally, memories: _IdMap, *, fresh: bool) -> None:
    ids = _IdMap()
    with _pairs() as inverse:
        for batch in record_batches(without_none(records(source, parse_relation, ignore_line, headed=True))):
            placed = list(_with_ids_here(batch, memories, tally))
            outcomes = into.adopt_relations((here for _, _, here in placed), fresh=fresh)
            for (line, relation, _), outcome in zip(placed, outcomes, strict=True):
                if outcome.error is not None:
                    tally.dangling(_dangling(line, relation, outcome.error))
                    continue
                ids.add(relation.id, outcome.relations[0])
                if relation.inverse_of is not None:
                    inverse.add(outcome.relations[0], relation.inverse_of)
                tally.counts["relations_created" if outcome.created else "relations_known"] += 1
        _link(into, "inverse", inverse, ids)


def _with_ids_here(
    batch: Iterable[NumberedRecord[Relation]], memories: _IdMap, tally: Tally
) -> Iterator[tuple[int, Relation, Relation]]:
    """Each relation as the file has it, and with the ids that its ends have here."""
    for line, _, relation in batch:
        source, target = memories.get(relation.source), memories.get(relation.target)
        if source is None or target is None:
            missing = relation.source if source is None else relation.target
            tally.dangling(_dangling(line, relation, f"The file has no memory {missing}."))
        else:
            yield line, relation, replace(relation, source=source, target=target)


def _dangling(line: int, relation: Relation, reason: str) -> Dangling:
    return Dangling(line, f"memory {relation.source}", relation.type, f"memory {relation.target}", reason)


def _link(into: Import, name: str, pairs: _Pairs, ids: _IdMap) -> None:
    """Link what is here to what the file named by the ids of its own."""
    ready: list[tuple[int, int]] = []
    for here, there in pairs:
        other = ids.get(there)
        if other is not None:
            ready.append((here, other))
        if len(ready) >= _LINKS_AT_ONCE:
            into.adopt_links(_links_of(name, ready))
            ready.clear()
    if ready:
        into.adopt_links(_links_of(name, ready))


def _links_of(name: str, pairs: list[tuple[int, int]]) -> AdoptLinks:
    named: dict[str, Any] = {name: tuple(pairs)}
    return AdoptLinks(**named)


class _IdMap:
    """Ids in the file to ids in the store.

    Ids that follow one another mostly stay together, so it keeps runs: a million memories that went into an
    empty store are one.
    """

    def __init__(self) -> None:
        self._first = array("q")
        self._here = array("q")
        self._length = array("q")
        self._sorted = True

    def add(self, id_: int, here: int) -> None:
        if self._first:
            along = id_ - self._first[-1]
            if along == self._length[-1] and here == self._here[-1] + along:
                self._length[-1] += 1
                return
            self._sorted = self._sorted and along >= self._length[-1]
        self._first.append(id_)
        self._here.append(here)
        self._length.append(1)

    def get(self, id_: int) -> int | None:
        """None: the file has no such row."""
        if not self._sorted:
            self._sort()
        run = bisect_right(self._first, id_) - 1
        if run < 0 or id_ - self._first[run] >= self._length[run]:
            return None
        return self._here[run] + id_ - self._first[run]

    def _sort(self) -> None:
        """A file that was put in another order by hand."""
        runs = sorted(zip(self._first, self._here, self._length, strict=True))
        self._first, self._here, self._length = (array("q", column) for column in zip(*runs, strict=True))
        self._sorted = True


class _Pairs:
    """Pairs of ids that wait on disk until all ids are known."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def add(self, one: int, other: int) -> None:
        self._file.write(_PAIR.pack(one, other))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        self._file.seek(0)
        while piece := self._file.read(_PAIR.size * 4096):
            yield from _PAIR.iter_unpack(piece)


@contextmanager
def _pairs() -> Iterator[_Pairs]:
    with tempfile.SpooledTemporaryFile(max_size=1 << 20) as file:
        yield _Pairs(file)
