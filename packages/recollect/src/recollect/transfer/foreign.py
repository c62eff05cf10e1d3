"""Import the memories of another program. Repeating an import adds no duplicates."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count, islice
from typing import TYPE_CHECKING, Any, TypeVar

from recollect.domain.changes import Adopt, AdoptLinks, AdoptRelation, Amend, NewText, PutText, Supersede
from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import clean_name, clean_ref, clean_share, clean_text, clean_type
from recollect.domain.records import Kind, Memory, Observation, Relation, Revision, Scope
from recollect.transfer.importers import (
    BadRow,
    Conversation,
    ForeignEntity,
    ForeignFormat,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    NotImported,
)
from recollect.transfer.reports import ForeignReport, Tally, Unplaced
from recollect.transfer.turns import storable_text
from recollect.write.inputs import clean_metadata

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from recollect.domain.changes import Outcome
    from recollect.stores.port import Progress
    from recollect.transfer.moved_rows import Import

UNKNOWN = "unknown"
"""The type of an entity of which only the name is known."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A note, with its links to other notes and to entities."""

    memory: Memory
    superseded_by: str | None
    """The mark (the `source`) of the note that replaced it."""
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    scope: Scope
    text: NewText


@dataclass(frozen=True, slots=True)
class PlacedRelation:
    scope: Scope
    relation: Relation


ForeignRecord = Memory | PlacedNote | PlacedMessage | PlacedRelation | Conversation | NotImported | BadRow
"""A record to import. A `Memory` is an entity. Ids are negative, unlike those of stored memories."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Where imported items go, and the marks (as `source`) by which the next import recognises them."""

    format: str
    scope: Scope
    """The scope of items without an owner."""
    at: datetime
    """The time for items without a time."""
    merge_owners: bool = False
    """Whether to import everything into `scope`, regardless of the source's owners."""

    def records(self, items: Iterable[ForeignItem]) -> Iterator[ForeignRecord]:
        """Yield each item as a record for the store, or as a bad row if the store would refuse it.

        A repeated note is imported once; a different note with the same key is a bad row.
        """
        ids = count(-1, -1)
        seen: dict[tuple[Scope, str | None], str] = {}
        for item in items:
            try:
                for record in self._records_of(item, ids):
                    if isinstance(record, PlacedNote):
                        note = record.memory
                        key, text = (note.scope, note.source), _digest(note.text)
                        if key in seen and seen[key] != text:
                            reason = "An earlier note with the same key was imported instead."
                            yield BadRow(f"note {note.source}", reason)
                        if key in seen:
                            continue
                        seen[key] = text
                    yield record
            except InvalidInput as error:
                yield BadRow(_place(item), str(error))

    def _records_of(self, item: ForeignItem, ids: count[int]) -> Iterator[ForeignRecord]:
        match item:
            case ForeignEntity():
                yield from self._entity(item, ids)
            case ForeignNote() | ForeignMessage():
                kept: dict[str, Any] = {}
                unplaced = []
                for key, value in item.metadata.items():
                    try:
                        kept |= clean_metadata({key: value}) or {}
                    except InvalidInput:
                        example = _short(f"{key} = {value}")
                        unplaced.append(NotImported("metadata that is too long or not JSON", example))
                metadata = clean_metadata(kept) if kept else None
                if isinstance(item, ForeignNote):
                    yield self._note(item, next(ids), metadata)
                else:
                    yield self._message(item, metadata)
                yield from unplaced
            case ForeignRelation():
                yield self._relation(item, next(ids))
            case NotImported(merged=ForeignRelation() as relation) if self.merge_owners:
                yield self._relation(relation, next(ids))
            case _:
                yield item

    def entity_mark(self, name: str) -> str:
        return self._mark(f"entity:{name}")

    def _mark(self, key: str, owner: str = "", agent: str = "") -> str:
        """Return the mark by which the next import recognises an item in its scope."""
        # Two owners may use the same key. In a merged scope, their memories must stay apart.
        whose = f"{owner}/{agent}:" if self.merge_owners and (owner or agent) else ""
        return f"{self.format}:{storable_text(whose + key)}"

    def _scope(self, owner: str, agent: str) -> Scope:
        if self.merge_owners or not (owner or agent):
            return self.scope
        names = (storable_text(owner).strip() or self.scope.owner, storable_text(agent).strip())
        return Scope(*(clean_name(name, "owner or agent") if name else "" for name in names))

    def _memory_fields(self, item: ForeignEntity | ForeignNote, created: datetime) -> dict[str, Any]:
        return {
            "scope": self._scope(item.owner, item.agent),
            "created_at": created,
            "updated_at": max(created, _utc(item.updated_at) or created),
            "tags": _tags(item.tags),
            "status": item.status,
            "importance": _importance(item.importance),
            "pinned": item.pinned,
            "deleted_at": _utc(item.forgotten_at),
        }

    def _entity(self, item: ForeignEntity, ids: count[int]) -> Iterator[ForeignRecord]:
        """Yield the invalid observations as bad rows, then the entity with the valid ones."""
        name = _name(item.name)
        created = _utc(item.created_at) or self.at
        observations: list[Observation] = []
        successors: dict[int, str | None] = {}
        for number, each in enumerate(item.observations, 1):
            try:
                observations.append(_observation(each, next(ids), created))
                successors[observations[-1].id] = each.superseded_by
            except InvalidInput as error:
                yield BadRow(f"entity {_short(name)}, observation {number}", str(error))
        places = {observation.content: observation.id for observation in observations}
        yield Memory(
            id=next(ids),
            kind=Kind.ENTITY,
            name=name,
            type=_clean(item.type, clean_type, "type") or UNKNOWN,
            observations=tuple(
                replace(each, superseded_by=places.get(successors[each.id] or "")) for each in observations
            ),
            source=self.entity_mark(name),
            **self._memory_fields(item, created),
        )

    def _note(self, item: ForeignNote, id_: int, metadata: dict[str, Any] | None) -> PlacedNote:
        text = clean_text(storable_text(item.text))
        dated = _utc(item.created_at) or _utc(item.updated_at)
        fields = self._memory_fields(item, dated or self.at)
        memory = Memory(
            id=id_,
            kind=Kind.NOTE,
            happened_at=_utc(item.happened_at),
            text=text,
            category=_clean(item.category, clean_type, "category"),
            source=self._mark(item.key or _digest(text), item.owner, item.agent),
            session=_clean(item.session, clean_name, "session"),
            speaker=_clean(item.speaker, clean_name, "speaker"),
            undated=dated is None,
            former=tuple(_revision(each) for each in item.former),
            revisions=len(item.former),
            superseded_at=_utc(item.superseded_at) or (fields["updated_at"] if item.superseded_by else None),
            expires_at=_utc(item.expires_at),
            # A ref is unique in its scope. Drop it in a merged scope: several owners may have the same one.
            ref=clean_ref(storable_text(item.ref)) if item.ref and not self.merge_owners else None,
            metadata=metadata,
            **fields,
        )
        later = item.superseded_by
        by = None if later is None else self._mark(later, item.owner, item.agent)
        return PlacedNote(memory, by, tuple(_name(name) for name in dict.fromkeys(item.about)))

    def _message(self, item: ForeignMessage, metadata: dict[str, Any] | None) -> PlacedMessage:
        text = clean_text(storable_text(item.text))
        new = NewText(
            Kind.MESSAGE,
            text,
            source=self._mark(item.key or _digest(text), item.owner, item.agent),
            session=_name(item.session, "session"),
            role=_clean(item.role, clean_type, "role"),
            speaker=_clean(item.speaker, clean_name, "speaker"),
            importance=_importance(item.importance),
            created_at=_utc(item.created_at) or self.at,
            undated=item.created_at is None,
            tags=_tags(item.tags),
            metadata=metadata,
        )
        return PlacedMessage(self._scope(item.owner, item.agent), new)

    def _relation(self, item: ForeignRelation, id_: int) -> PlacedRelation:
        relation = Relation(
            id=id_,
            source=0,
            target=0,
            source_name=_name(item.source, "name of the relation's source"),
            target_name=_name(item.target, "name of the relation's target"),
            type=clean_type(storable_text(item.type), "relation's type"),
            created_at=_utc(item.created_at) or self.at,
            context=storable_text(item.context),
            since=_utc(item.since),
            until=_utc(item.until),
            deleted_at=_utc(item.forgotten_at),
        )
        return PlacedRelation(self._scope(item.owner, item.agent), relation)


def example_line(record: ForeignRecord) -> str | None:
    """Describe a record on one line for a preview. None for records that the report lists elsewhere."""
    match record:
        case Memory():
            first = f": {record.observations[0].content}" if record.observations else ""
            return f"entity {_short(record.name)} ({record.type}){_short(first)}"
        case PlacedNote():
            note = record.memory
            tags = f" [{', '.join(note.tags)}]" if note.tags else ""
            day = "" if note.undated else f" of {note.created_at:%Y-%m-%d}"
            return f"note{day}{tags}: {_short(note.text)}"
        case PlacedMessage():
            text = record.text
            who = text.speaker or text.role or "someone"
            return f"message of {text.session}, {_short(who)}: {_short(text.text)}"
        case PlacedRelation():
            link = record.relation
            return f"relation {_short(link.source_name)} {link.type} {_short(link.target_name)}"
        case _:
            return None


def _observation(item: ForeignObservation, id_: int, entity_created: datetime) -> Observation:
    created = _utc(item.created_at) or entity_created
    superseded = _utc(item.superseded_at) or (created if item.superseded_by else None)
    return Observation(
        id=id_,
        content=clean_text(storable_text(item.content), "observation"),
        kind=_clean(item.kind, clean_type, "observation's kind") or "generic",
        created_at=created,
        happened_at=_utc(item.happened_at),
        superseded_at=superseded,
        deleted_at=_utc(item.forgotten_at),
    )


def _revision(revision: Revision) -> Revision:
    text = clean_text(storable_text(revision.text), "former text")
    since, until = (_in_utc(at) for at in (revision.since, revision.until))
    return Revision(text, since, max(since, until))


def _name(name: str, what: str = "name") -> str:
    return clean_name(storable_text(name), what)


def _clean(value: str, clean: Callable[[object, str], str], what: str) -> str | None:
    return clean(storable_text(value), what) if value.strip() else None


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean_type(storable_text(tag), "tag") for tag in dict.fromkeys(tags) if tag.strip())


def _importance(given: float | None) -> float:
    return 0.5 if given is None else clean_share(given, "importance")


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else _in_utc(moment)


def _in_utc(moment: datetime) -> datetime:
    """Convert to UTC; a time without a zone is read as UTC."""
    try:
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (OverflowError, ValueError):
        raise InvalidInput(f"The time {moment} is outside the years 1 to 9999.") from None


def _digest(text: str) -> str:
    return f"text:{hashlib.sha256(text.encode()).hexdigest()[:24]}"


def _place(item: ForeignItem) -> str:
    match item:
        case ForeignEntity():
            return f"entity {_short(item.name)}"
        case ForeignNote():
            return f"note {_short(item.key)}"
        case ForeignMessage():
            return f"message {_short(item.key)} of session {_short(item.session)}"
        case ForeignRelation():
            return f"relation {_short(item.source)} {_short(item.type)} {_short(item.target)}"
        case _:
            return "row"


def _short(text: str) -> str:
    """Put a text on one line, and shorten it."""
    line = " ".join(storable_text(text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def item_count(record: ForeignRecord) -> int:
    """Return the number of messages of a conversation; 1 for any other record."""
    return len(record.turns) if isinstance(record, Conversation) else 1


_T = TypeVar("_T")
_AT_ONCE = _PROGRESS_EVERY = 500
_EXAMPLES = 3
"""Maximum number of examples of each kind."""


class ForeignTally:
    """Counts of the records that were read, whether they are new to the store or not."""

    def __init__(self) -> None:
        self.tally: Tally = Tally()
        self._sessions: set[str] = set()
        self._unplaced: dict[str, tuple[int, list[str]]] = {}
        self._examples: defaultdict[type, list[str]] = defaultdict(list)
        self._owners: Counter[str] = Counter()

    def count(
        self, found: Iterable[ForeignRecord], progress: Progress | None, total: int | None = None
    ) -> Iterator[ForeignRecord]:
        """Yield the records, and count them."""
        number = reported = 0
        for record in found:
            self._count(record)
            examples = self._examples[type(record)]
            if len(examples) < _EXAMPLES and (line := example_line(record)) is not None:
                examples.append(line)
            number += item_count(record)
            if progress is not None and number - reported >= _PROGRESS_EVERY:
                progress(number, total and max(number, total))
                reported = number
            yield record
        if progress is not None:
            progress(number, number)

    def _count(self, record: ForeignRecord) -> None:
        counts = self.tally.counts
        match record:
            case Memory():
                counts["entities"] += 1
                counts["observations"] += len(record.observations)
                self._count_state(record)
            case PlacedNote():
                counts["notes"] += 1
                self._count_state(record.memory)
            case PlacedMessage():
                counts["messages"] += 1
                self._count_owner(record.scope)
            case PlacedRelation():
                counts["relations"] += 1
            case Conversation():
                counts["messages"] += len(record.turns)
                self.tally.add("bad", *record.bad)
                for what, number in record.left_out.items():
                    self._count_not_imported(NotImported(what, count=number))
                if record.turns:
                    self._sessions.add(record.session)
                    counts["sessions"] = len(self._sessions)
            case NotImported():
                self._count_not_imported(record)
            case BadRow():
                self.tally.add("bad", f"{record.place}: {record.reason}")

    def report(self, of: ForeignFormat, **done: Any) -> ForeignReport:
        unplaced = sorted(self._unplaced.items())
        return ForeignReport(
            of.name,
            of.title,
            owners=tuple(sorted(self._owners.items())),
            no_place=tuple(Unplaced(what, number, tuple(shown)) for what, (number, shown) in unplaced),
            examples=tuple(line for lines in self._examples.values() for line in lines),
            **done,
            **self.tally.fields(),
        )

    def _count_owner(self, scope: Scope) -> None:
        """Count a memory by its scope: `owner`, `owner/agent`, or "" if it has no owner."""
        self._owners[f"{scope.owner}/{scope.agent}" if scope.agent else scope.owner] += 1

    def _count_state(self, memory: Memory) -> None:
        counts = self.tally.counts
        self._count_owner(memory.scope)
        counts["forgotten"] += memory.deleted_at is not None
        counts["superseded"] += memory.superseded_at is not None

    def _count_not_imported(self, record: NotImported) -> None:
        number, shown = self._unplaced.get(record.what, (0, []))
        if record.example and len(shown) < _EXAMPLES:
            shown.append(record.example)
        self._unplaced[record.what] = (number + record.count, shown)


class ForeignImport:
    """A writer of records to the store. Marks show which are stored there already, even as forgotten ones."""

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
        """Write memories now. Relations wait for `finish`, since their entities may come later."""
        source = iter(records)
        while batch := list(islice(source, _AT_ONCE)):
            self._add_entities([each for each in batch if isinstance(each, Memory)])
            self._add_notes([each for each in batch if isinstance(each, PlacedNote)])
            texts = [PutText(each.scope, each.text) for each in batch if isinstance(each, PlacedMessage)]
            self._tally.counts["messages_new"] += sum(each.created for each in self._into.apply(texts))
            self._relations += [each for each in batch if isinstance(each, PlacedRelation)]

    def finish(self) -> None:
        """Write the relations and links between the imported memories."""
        for relations in _batches(self._relations):
            self._add_relations(relations)
        for batch in _batches(self._about):
            self._create_missing((scope, name) for _, scope, name in batch)
            pairs = tuple((note, self._entities[scope, name]) for note, scope, name in batch)
            self._into.apply([AdoptLinks(about=pairs)])
        for replaced in _batches(self._superseded):
            self._link_superseded(replaced)

    def _ids_by_source(self, scope: Scope) -> dict[str, int]:
        if scope not in self._marks:
            self._marks[scope] = self._into.ids_by_source(scope, f"{self._placing.format}:")
        return self._marks[scope]

    def _load_known(self, memories: Sequence[Memory]) -> dict[tuple[Scope, str | None], Memory]:
        """Load those of these memories that are in the store, by scope and mark."""
        ids = [self._ids_by_source(each.scope).get(each.source or "") for each in memories]
        found = self._into.memories([id_ for id_ in ids if id_ is not None])
        return {
            (each.scope, each.source): found[id_]
            for each, id_ in zip(memories, ids, strict=True)
            if id_ is not None and id_ in found
        }

    def _add_entities(self, entities: Sequence[Memory]) -> None:
        here = self._load_known(entities)
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
        here = self._load_known([note.memory for note in notes])
        wanted: list[PlacedNote] = []
        changed: list[Amend] = []
        for note in notes:
            known = here.get((note.memory.scope, note.memory.source))
            if known is None:
                wanted.append(note)
                continue
            if (change := self._changes_since(note.memory, known)) is not None:
                changed.append(change)
            if known.deleted_at is not None:
                continue
            # Add links of notes that the source has superseded, and those that an interrupted import lacks.
            scope, by = note.memory.scope, note.superseded_by
            if by is not None and known.superseded_by is None:
                self._superseded.append((known.id, scope, by, known.superseded_at is None))
            if not known.about:
                self._about += [(known.id, scope, name) for name in note.about]
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

    def _changes_since(self, note: Memory, here: Memory) -> Amend | None:
        """Return what the source has changed since the last import. Changes that were made here stay."""
        if note.deleted_at is not None and here.deleted_at is None:
            self._tally.add("left", f"memory {here.id}: the source has since forgotten it; it stays here.")
        if here.deleted_at is not None or here.superseded_at is not None:
            return None
        # `updated_at` here is a time of the source until the memory is changed here.
        is_newer = note.updated_at > here.updated_at and not note.undated
        is_new = note.text != here.text and all(note.text != former.text for former in here.former)
        # If the source gives no time of change, a text that is new here means a change since the last import.
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

    def _add_relations(self, batch: Sequence[PlacedRelation]) -> None:
        self._create_missing((each.scope, each.relation.source_name) for each in batch)
        self._create_missing((each.scope, each.relation.target_name) for each in batch)
        here = [
            replace(
                each.relation,
                source=self._entities[each.scope, each.relation.source_name],
                target=self._entities[each.scope, each.relation.target_name],
            )
            for each in batch
        ]
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

    def _create_missing(self, wanted: Iterable[tuple[Scope, str]]) -> None:
        """Create the entities that relations or notes name, if they do not exist."""
        at, made = self._placing.at, []
        for scope, name in dict.fromkeys(wanted):
            if (scope, name) in self._entities:
                continue
            mark = self._placing.entity_mark(name)
            if (known := self._ids_by_source(scope).get(mark)) is not None:  # even if forgotten
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
            by = self._ids_by_source(scope).get(mark)
            if by is None or by == id_:
                continue
            if not was_here:
                new.append((id_, by))
            elif by in self._new:  # if not, the user has restored the note
                since.append(Supersede(scope, (id_,), by))
        if new:
            self._into.apply([AdoptLinks(superseded=tuple(new))])
        outcomes = self._into.apply(since, keep_going=True)
        self._tally.counts["notes_changed"] += sum(outcome.error is None for outcome in outcomes)

    def _remember(self, memory: Memory, outcome: Outcome) -> None:
        if memory.source is not None:
            self._ids_by_source(memory.scope)[memory.source] = outcome.ids[0]
        if outcome.created:
            self._new.add(outcome.ids[0])


def _relation_key(relation: Relation) -> tuple[int, int, str, datetime | None]:
    """Return a key that stays the same if the relation ends or is removed here."""
    return relation.source, relation.target, relation.type, relation.since


def _batches(items: Sequence[_T]) -> Iterator[Sequence[_T]]:
    for start in range(0, len(items), _AT_ONCE):
        yield items[start : start + _AT_ONCE]
