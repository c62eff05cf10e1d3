"""Writing what another program remembered into a store: in batches, and once however often it is brought."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.changes import Adopt, AdoptLinks, AdoptRelation, Amend, PutText, Supersede
from recollect.records import Kind, Memory, Relation, Scope
from recollect.transfer.foreign_records import (
    UNKNOWN,
    ForeignRecord,
    PlacedMessage,
    PlacedNote,
    PlacedRelation,
    example_line,
)
from recollect.transfer.formats.items import BadRow, NoPlace
from recollect.transfer.reports import Unplaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from recollect.changes import Outcome
    from recollect.engine.upkeep.transfer import Import
    from recollect.transfer.foreign_records import Placing
    from recollect.transfer.reports import Tally

_T = TypeVar("_T")
_AT_ONCE = 500
_EXAMPLES = 3
"""Of each sort of thing."""


class ForeignTally:
    """Counts what is read, whatever becomes of it."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._unplaced: dict[str, tuple[int, list[str]]] = {}
        self._examples: defaultdict[type, list[str]] = defaultdict(list)
        self.owners: Counter[str] = Counter()

    def count(self, record: ForeignRecord) -> None:
        counts = self._tally.counts
        match record:
            case Memory():
                counts["entities"] += 1
                counts["observations"] += len(record.observations)
                self._state(record)
            case PlacedNote():
                counts["notes"] += 1
                self._state(record.memory)
            case PlacedMessage():
                counts["messages"] += 1
                self.owners[scope_label(record.scope)] += 1
            case PlacedRelation():
                counts["relations"] += 1
            case NoPlace():
                self._no_place(record)
            case BadRow():
                self._tally.add("bad", f"{record.place}: {record.reason}")
        examples = self._examples[type(record)]
        if len(examples) < _EXAMPLES and (line := example_line(record)) is not None:
            examples.append(line)

    def examples(self) -> tuple[str, ...]:
        return tuple(line for lines in self._examples.values() for line in lines)

    def unplaced(self) -> tuple[Unplaced, ...]:
        return tuple(
            Unplaced(what, number, tuple(shown)) for what, (number, shown) in sorted(self._unplaced.items())
        )

    def _state(self, memory: Memory) -> None:
        counts = self._tally.counts
        self.owners[scope_label(memory.scope)] += 1
        counts["forgotten"] += memory.deleted_at is not None
        counts["superseded"] += memory.superseded_at is not None

    def _no_place(self, record: NoPlace) -> None:
        number, shown = self._unplaced.get(record.what, (0, []))
        if record.example and len(shown) < _EXAMPLES:
            shown.append(record.example)
        self._unplaced[record.what] = (number + record.count, shown)


class ForeignImport:
    """Takes records in; what was brought before is known by its mark, whatever has become of it here."""

    def __init__(self, into: Import, placing: Placing, tally: Tally) -> None:
        self._into = into
        self._placing = placing
        self._tally = tally
        self._marks: dict[Scope, dict[str, int]] = {}
        self._entities: dict[tuple[Scope, str], int] = {}
        self._about: list[tuple[int, Scope, str]] = []
        self._superseded: list[tuple[int, Scope, str, bool]] = []
        self._new: set[int] = set()
        self._relations: list[PlacedRelation] = []
        self._new_relations: set[int] = set()

    def add(self, records: Iterable[ForeignRecord]) -> None:
        """Write memories as they come. Relations wait for `finish`, since their ends may come later."""
        source = iter(records)
        while batch := list(islice(source, _AT_ONCE)):
            self._add_entities([each for each in batch if isinstance(each, Memory)])
            self._add_notes([each for each in batch if isinstance(each, PlacedNote)])
            self._add_messages([each for each in batch if isinstance(each, PlacedMessage)])
            self._relations += [each for each in batch if isinstance(each, PlacedRelation)]

    def finish(self) -> None:
        """Tie what was written together."""
        for relations in _batches(self._relations):
            self._add_relations(relations)
        for batch in _batches(self._about):
            self._make_missing((scope, name) for _, scope, name in batch)
            pairs = tuple((note, self._entities[scope, name]) for note, scope, name in batch)
            self._into.adopt_links(AdoptLinks(about=pairs))
        for replaced in _batches(self._superseded):
            self._link_superseded(replaced)

    def _known(self, scope: Scope) -> dict[str, int]:
        if scope not in self._marks:
            self._marks[scope] = self._into.marked(scope, f"{self._placing.format}:")
        return self._marks[scope]

    def _here(self, memories: Sequence[Memory]) -> dict[tuple[Scope, str | None], Memory]:
        """Those that were imported before, as they are here by now, by their scopes and marks."""
        ids = [self._known(each.scope).get(each.source or "") for each in memories]
        found = self._into.memories([id_ for id_ in ids if id_ is not None])
        return {
            (each.scope, each.source): found[id_]
            for each, id_ in zip(memories, ids, strict=True)
            if id_ is not None and id_ in found
        }

    def _add_entities(self, entities: Sequence[Memory]) -> None:
        here = self._here(entities)
        wanted = []
        for entity in entities:
            known = here.get((entity.scope, entity.source))
            if known is None:
                wanted.append(entity)
                continue
            self._entities[entity.scope, entity.name] = known.id
            if known.deleted_at is None:
                contents = {observation.content for observation in known.observations}
                new = tuple(each for each in entity.observations if each.content not in contents)
                is_typed = known.type == UNKNOWN and entity.type != UNKNOWN
                if (new or is_typed) and entity.deleted_at is None:
                    wanted.append(replace(entity, name=known.name, observations=new))
        outcomes = self._into.apply([Adopt(entity, fresh=True) for entity in wanted])
        for entity, outcome in zip(wanted, outcomes, strict=True):
            self._remember(entity, outcome)
            self._entities.setdefault((entity.scope, entity.name), outcome.ids[0])
            self._tally.counts["entities_new"] += outcome.created
            self._tally.counts["observations_new"] += outcome.count

    def _add_notes(self, notes: Sequence[PlacedNote]) -> None:
        here = self._here([note.memory for note in notes])
        wanted: list[PlacedNote] = []
        changed: list[Amend] = []
        for note in notes:
            known = here.get((note.memory.scope, note.memory.source))
            if known is None:
                wanted.append(note)
                continue
            if (change := self._revised(note.memory, known)) is not None:
                changed.append(change)
            if known.deleted_at is None:
                self._link_known(note, known)
        outcomes = self._into.apply([Adopt(note.memory, fresh=True) for note in wanted])
        for note, outcome in zip(wanted, outcomes, strict=True):
            id_, scope = outcome.ids[0], note.memory.scope
            self._remember(note.memory, outcome)
            self._tally.counts["notes_new"] += outcome.created
            if note.memory.ref is not None and not outcome.created:
                self._tally.add("left", f"memory {id_}: {note.memory.ref} already exists here.")
            self._about += [(id_, scope, name) for name in note.about]
            if note.superseded_by is not None:
                self._superseded.append((id_, scope, note.superseded_by, False))
        self._tally.counts["notes_changed"] += len(changed)
        self._into.apply(changed)

    def _link_known(self, note: PlacedNote, here: Memory) -> None:
        """What the source has superseded since; and what an import that was stopped did not come to."""
        scope = note.memory.scope
        if note.superseded_by is not None and here.superseded_by is None:
            self._superseded.append((here.id, scope, note.superseded_by, here.superseded_at is None))
        if not here.about:
            self._about += [(here.id, scope, name) for name in note.about]

    def _revised(self, note: Memory, here: Memory) -> Amend | None:
        """What the source has changed since; what was changed or forgotten here stays so."""
        if note.deleted_at is not None and here.deleted_at is None:
            self._tally.add("left", f"memory {here.id}: the source has since forgotten it; it stays here.")
        if here.deleted_at is not None or here.superseded_at is not None:
            return None
        # It was stored with the source's own time, and has that until it is changed here.
        is_newer = note.updated_at > here.updated_at and not note.undated
        is_new = note.text != here.text and all(note.text != former.text for former in here.former)
        # A source that dates no changes words a note otherwise only since it was last imported.
        is_dated = note.updated_at > note.created_at
        if is_new and is_dated and not is_newer and here.revisions > len(note.former):
            self._tally.add("left", f"memory {here.id}: it changed here later than in the source.")
            return None
        changes: dict[str, Any] = {"text": note.text, "metadata": note.metadata} if is_new else {}
        if is_newer:
            fields = ("category", "tags", "importance", "pinned", "metadata")
            changes |= {
                name: getattr(note, name) for name in fields if getattr(note, name) != getattr(here, name)
            }
        if note.expires_at and here.expires_at and note.expires_at > here.expires_at:
            changes["expires_at"] = note.expires_at
        kept = {name: value for name, value in changes.items() if value is not None}
        return Amend(here.scope, here.id, **kept) if kept else None

    def _add_messages(self, messages: Sequence[PlacedMessage]) -> None:
        for outcome in self._into.apply([PutText(each.scope, each.text) for each in messages]):
            self._tally.counts["messages_new"] += outcome.created

    def _add_relations(self, batch: Sequence[PlacedRelation]) -> None:
        self._make_missing((each.scope, each.relation.source_name) for each in batch)
        self._make_missing((each.scope, each.relation.target_name) for each in batch)
        here = [self._placed(each) for each in batch]
        before = self._into.relations_from({relation.source for relation in here} - self._new)
        known = {_relation_key(old): old for old in before if old.id not in self._new_relations}
        wanted: list[Relation] = []
        for relation in here:
            old = known.get(_relation_key(relation))
            if old is None:
                wanted.append(relation)
            elif relation.until and old.until is None and old.deleted_at is None:
                names = f"{old.source_name} {old.type} {old.target_name}"
                self._tally.add("left", f"relation {names}: the source has since ended it; it stays here.")
        outcomes = self._into.apply([AdoptRelation(relation) for relation in wanted], keep_going=True)
        for relation, outcome in zip(wanted, outcomes, strict=True):
            if outcome.error is not None:
                names = f"{relation.source_name} {relation.type} {relation.target_name}"
                self._tally.add("bad", f"relation {names}: {outcome.error}")
            elif outcome.created:
                self._new_relations.update(outcome.relations)
                self._tally.counts["relations_new"] += 1

    def _placed(self, each: PlacedRelation) -> Relation:
        return replace(
            each.relation,
            source=self._entities[each.scope, each.relation.source_name],
            target=self._entities[each.scope, each.relation.target_name],
        )

    def _make_missing(self, wanted: Iterable[tuple[Scope, str]]) -> None:
        """Entities that only a relation or a note names."""
        at, made = self._placing.at, []
        for scope, name in dict.fromkeys(wanted):
            if (scope, name) in self._entities:
                continue
            mark = self._placing.entity_mark(name)
            if (known := self._known(scope).get(mark)) is not None:  # also if it was forgotten here since
                self._entities[scope, name] = known
            else:
                made.append(Memory(-1, Kind.ENTITY, scope, at, at, name=name, type=UNKNOWN, source=mark))
        for entity, outcome in zip(made, self._into.apply([Adopt(each) for each in made]), strict=True):
            self._entities[entity.scope, entity.name] = outcome.ids[0]
            if outcome.created:
                self._remember(entity, outcome)
                self._tally.add("also_created", entity.name)

    def _link_superseded(self, batch: Sequence[tuple[int, Scope, str, bool]]) -> None:
        new, since = [], []
        for id_, scope, mark, was_here in batch:
            by = self._known(scope).get(mark)
            if by is None or by == id_:
                continue
            if not was_here:
                new.append((id_, by))
            elif by in self._new:  # else somebody has brought it back here
                since.append(Supersede(scope, (id_,), by))
        if new:
            self._into.adopt_links(AdoptLinks(superseded=tuple(new)))
        outcomes = self._into.apply(since, keep_going=True)
        self._tally.counts["notes_changed"] += sum(outcome.error is None for outcome in outcomes)

    def _remember(self, memory: Memory, outcome: Outcome) -> None:
        if memory.source is not None:
            self._known(memory.scope)[memory.source] = outcome.ids[0]
        if outcome.created:
            self._new.add(outcome.ids[0])


def scope_label(scope: Scope) -> str:
    """`ana`, or `ana/bot` for an agent of hers; empty for nobody's."""
    return f"{scope.owner}/{scope.agent}" if scope.agent else scope.owner


def _relation_key(relation: Relation) -> tuple[int, int, str, datetime | None]:
    """What stays the same when a relation ends, or is removed here."""
    return relation.source, relation.target, relation.type, relation.since


def _batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
