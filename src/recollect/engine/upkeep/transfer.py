"""Moving memories between stores: pages of one moment out, and what comes from elsewhere in."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from recollect.changes import (
    Adopt,
    AdoptLinks,
    AdoptRelation,
    Change,
    NewEntity,
    NewRelation,
    NoteImport,
    Outcome,
    PutEntity,
    Relate,
)
from recollect.conditions import Equals, Not, OneOf, is_set
from recollect.engine.services import Services
from recollect.lazy_dataclass import dataclass
from recollect.ports import Snapshot
from recollect.query import Filter
from recollect.records import Kind, Memory, Relation, Scope
from recollect.retrieval.contents import memory_page, relation_page, store_counts, was_imported
from recollect.retrieval.records import memories_by_id, relations_where, scope_id

if TYPE_CHECKING:
    from pathlib import Path

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Export:
    """What there is to export, of one moment, read page by page."""

    view: Snapshot
    services: Services
    everything: Filter | None
    """Forgotten memories too; None: of every scope."""

    def memories(self, after: int = 0) -> Iterator[Memory]:
        """All of them above an id, forgotten ones too."""
        return self._memories(self.everything, after)

    def relations(self, after: int = 0) -> Iterator[Relation]:
        """Of those memories, by id, ended and removed ones too."""
        return self._relations(self.everything, after)

    def entities(self, after: int = 0) -> Iterator[Memory]:
        """The entities in force of the engine's scope, by id."""
        return self._memories(self.services.where(Kind.ENTITY), after)

    def relations_in_force(self, after: int = 0) -> Iterator[Relation]:
        """Between those entities, by id."""
        found = self._relations(self.services.where(Kind.ENTITY), after)
        return (relation for relation in found if relation.until is None)

    def has_texts(self) -> bool:
        """Whether the engine's scope has notes or messages in force."""
        return bool(memory_page(self.view, self.services.where(Kind.NOTE, Kind.MESSAGE), 0, 1))

    def total(self) -> int | None:
        """How many memories the store holds; None where several scopes share it."""
        counts = store_counts(self.view)
        if counts.scopes != 1:
            return None
        return counts.entities + counts.notes + counts.messages + counts.forgotten

    def _memories(self, where: Filter | None, after: int) -> Iterator[Memory]:
        while page := memory_page(self.view, where, after, _PAGE):
            yield from page
            after = page[-1].id

    def _relations(self, where: Filter | None, after: int) -> Iterator[Relation]:
        while page := relation_page(self.view, where, after, _PAGE):
            yield from page
            after = page[-1].id


@contextmanager
def exporting(services: Services, *, everything: bool) -> Iterator[Export]:
    with services.read_everything() if everything else services.read() as view:
        yield Export(view, services, None if everything else services.where(deleted=True))


@dataclass(frozen=True, slots=True)
class Import:
    """Takes in what comes from another memory, all of it at one moment."""

    services: Services
    at: datetime

    def is_fresh(self) -> bool:
        """Whether the store holds nothing at all yet."""
        with self.services.read_everything() as view:
            return not memory_page(view, None, 0, 1)

    def entities(self, entities: Iterable[NewEntity]) -> Sequence[Outcome]:
        """Create entities, or add to those that exist. What is there already is not counted as said again."""
        changes = [PutEntity(self.services.scope, entity, counts=False) for entity in entities]
        return self.services.store.apply(changes, at=self.at).outcomes

    def relations(self, relations: Iterable[NewRelation]) -> Sequence[Outcome]:
        """Connect entities by name; those that are missing are made."""
        changes = [Relate(self.services.scope, relation, create_missing=True) for relation in relations]
        return self.services.store.apply(changes, at=self.at).outcomes

    def adopt(self, memories: Iterable[Memory], *, fresh: bool) -> Sequence[Outcome]:
        """Take in memories as they are, under their own ids where those are free."""
        return self.services.store.apply([Adopt(memory, fresh) for memory in memories], at=self.at).outcomes

    def adopt_relations(self, relations: Iterable[Relation], *, fresh: bool) -> Sequence[Outcome]:
        """Take in relations as they are; one that leads nowhere has an error in its outcome."""
        changes = [AdoptRelation(relation, fresh) for relation in relations]
        return self.services.store.apply(changes, at=self.at, keep_going=True).outcomes

    def adopt_links(self, links: AdoptLinks) -> None:
        """Tie adopted memories to each other, by the ids that they have here."""
        self.services.store.apply([links], at=self.at)

    def apply(self, changes: Sequence[Change], *, keep_going: bool = False) -> Sequence[Outcome]:
        """Write these, in whatever scope each names, as one transaction."""
        if not changes:
            return ()
        return self.services.store.apply(changes, at=self.at, keep_going=keep_going).outcomes

    def marked(self, scope: Scope, prefix: str) -> dict[str, int]:
        """The notes and entities of a scope, forgotten ones too, whose `source` begins so, by that."""
        with self.services.read_everything() as view:
            where = (
                Equals("scope_id", scope_id(view, scope)),
                is_set("source"),
                Not(Equals("kind", "message")),
            )
            rows = view.rows("memory", ("id", "source"), where)
        return {source: id_ for id_, source in rows if source.startswith(prefix)}

    def memories(self, ids: Collection[int]) -> dict[int, Memory]:
        """Those that exist, forgotten ones and others' included."""
        if not ids:
            return {}
        with self.services.read_everything() as view:
            return memories_by_id(view, ids)

    def relations_from(self, entities: Collection[int]) -> list[Relation]:
        """Those that begin at these entities, ended and removed ones too."""
        if not entities:
            return []
        with self.services.read_everything() as view:
            return relations_where(view, (OneOf("source_id", entities),))

    def record_file(self, file: str | Path) -> None:
        """Note that this file was imported."""
        self.services.store.apply([NoteImport(self.services.scope, _whole_path(file))], at=self.at)

    def was_recorded(self, file: str | Path) -> bool:
        """Whether this file was imported before."""
        with self.services.read() as view:
            return was_imported(view, self.services.scope, _whole_path(file))


def _whole_path(file: str | Path) -> str:
    # A name need not be text; a store takes nothing else.
    return os.fsencode(os.path.realpath(file)).decode("utf-8", "backslashreplace")
