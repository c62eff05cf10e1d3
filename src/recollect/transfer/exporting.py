"""Writing a store's memories to a file."""

from __future__ import annotations

from collections import Counter
from typing import IO, TYPE_CHECKING, Literal

from recollect.records import Filter, Kind
from recollect.transfer import full, official
from recollect.transfer.reports import ExportReport
from recollect.transfer.target import open_target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from recollect.engine.engine import Engine
    from recollect.ports import Progress, View
    from recollect.records import Memory, Relation, Scope

ExportFormat = Literal["official", "full"]
_PAGE = 500


def export_file(
    engine: Engine,
    target: str | Path | IO[str] | IO[bytes],
    *,
    format: ExportFormat = "official",  # noqa: A002  # the word a caller expects
    scope_only: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ExportReport:
    """Export to a file, or to a stream that takes text or bytes.

    `official` is what the official memory server reads and writes: the entities of the engine's scope, the
    observations and relations in force, in the order in which they came. `full` keeps everything there is,
    forgotten things too, of every scope, or of the engine's with `scope_only`; imported into an empty store,
    it gives the same store again, ids included.

    All of it is of one moment. A file appears only when it is whole, and one that is there is kept unless
    `overwrite` says otherwise; a name that ends in .gz is packed. `progress` is told memories.
    """
    with engine.store.read() as view, open_target(target, overwrite=overwrite) as write:
        told = _teller(view, progress)
        if format == "full":
            where = _all_of(engine.scope) if scope_only else None
            return _export_full(view, where, write, told)
        return _export_official(view, engine.scope, write, told)


def _export_official(
    view: View, scope: Scope, write: Callable[[str], object], told: Callable[[int], None]
) -> ExportReport:
    where = Filter(scope.owner, scope.agent, kinds=frozenset({Kind.ENTITY}))
    counts: Counter[str] = Counter()
    for entity in _memories(view, where, told):
        write(official.entity_line(entity))
        counts["entities"] += 1
        counts["observations"] += len(entity.in_force)
    for relation in _relations(view, where):
        if relation.until is None:
            write(official.relation_line(relation))
            counts["relations"] += 1
    return ExportReport(
        "official",
        lines=counts["entities"] + counts["relations"],
        entities=counts["entities"],
        observations=counts["observations"],
        relations=counts["relations"],
        note=_left_out(view, scope),
    )


def _export_full(
    view: View, where: Filter | None, write: Callable[[str], object], told: Callable[[int], None]
) -> ExportReport:
    write(full.header())
    counts: Counter[str] = Counter(lines=1)
    for memory in _memories(view, where, told):
        write(full.memory_line(memory))
        counts["lines"] += 1
        counts["entities" if memory.kind is Kind.ENTITY else "texts"] += 1
        counts["observations"] += len(memory.observations)
        counts["forgotten"] += memory.deleted_at is not None
    for relation in _relations(view, where):
        write(full.relation_line(relation))
        counts["lines"] += 1
        counts["relations"] += 1
    return ExportReport(
        "full",
        lines=counts["lines"],
        entities=counts["entities"],
        observations=counts["observations"],
        texts=counts["texts"],
        relations=counts["relations"],
        forgotten=counts["forgotten"],
    )


def _all_of(scope: Scope) -> Filter:
    return Filter(scope.owner, scope.agent, deleted=True)


def _memories(view: View, where: Filter | None, told: Callable[[int], None]) -> Iterator[Memory]:
    after = done = 0
    while page := view.page(where, after, _PAGE):
        yield from page
        after = page[-1].id
        done += len(page)
        told(done)


def _relations(view: View, where: Filter | None) -> Iterator[Relation]:
    after = 0
    while page := view.relation_page(where, after, _PAGE):
        yield from page
        after = page[-1].id


def _left_out(view: View, scope: Scope) -> str | None:
    texts = view.page(Filter(scope.owner, scope.agent, kinds=frozenset(Kind) - {Kind.ENTITY}), 0, 1)
    if not texts:
        return None
    return "Notes and messages were left out: this format has no place for them, and the full one has."


def _teller(view: View, progress: Progress | None) -> Callable[[int], None]:
    if progress is None:
        return lambda _: None
    counts = view.counts()
    total = counts.entities + counts.notes + counts.messages + counts.forgotten
    # Of several scopes, we cannot say beforehand how much each of them holds.
    of_all = total if counts.scopes == 1 else None
    return lambda done: progress(done, of_all)
