"""What readers of other programs' memories give, as records that a store takes; or why it would not."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from recollect.changes import NewText
from recollect.engine.inputs import clean_metadata
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.records import Kind, Memory, Observation, Relation, Revision, Scope
from recollect.text.limits import clean_name, clean_ref, clean_share, clean_text, clean_type
from recollect.transfer.chats.conversation import storable_text
from recollect.transfer.formats.items import (
    BadRow,
    ForeignEntity,
    ForeignItem,
    ForeignMessage,
    ForeignNote,
    ForeignObservation,
    ForeignRelation,
    NoPlace,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

UNKNOWN = "unknown"
"""The type of an entity of which nothing but its name is known."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class PlacedNote:
    """A note, with what ties it to others by their keys and names."""

    memory: Memory
    superseded_by: str | None
    """The mark of the note that replaced it."""
    about: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlacedMessage:
    scope: Scope
    text: NewText


@dataclass(frozen=True, slots=True)
class PlacedRelation:
    scope: Scope
    relation: Relation


ForeignRecord = Memory | PlacedNote | PlacedMessage | PlacedRelation | NoPlace | BadRow
"""A memory by itself is an entity. Ids are negative: they are none of ours."""


@dataclass(frozen=True, slots=True)
class Placing:
    """Where imported things go, and what they are marked with."""

    format: str
    scope: Scope
    """Of what names no owner."""
    at: datetime
    """The time of what has none."""
    merge_owners: bool = False
    """Everything goes to `scope`, whoever the source says that it belongs to."""

    def records(self, items: Iterable[ForeignItem]) -> Iterator[ForeignRecord]:
        """Each item as a store takes it; one that it would refuse is a bad row."""
        ids = count(-1, -1)
        seen: dict[tuple[Scope, str | None], str] = {}
        for item in items:
            try:
                for record in self._record(item, ids):
                    yield from _once(record, seen)
            except InvalidInput as error:
                yield BadRow(_place(item), str(error))

    def _record(self, item: ForeignItem, ids: count[int]) -> Iterator[ForeignRecord]:
        match item:
            case ForeignEntity():
                yield from self._entity(item, ids)
            case ForeignNote():
                kept, unplaced = _metadata(item)
                yield self._note(item, next(ids), kept)
                yield from unplaced
            case ForeignMessage():
                kept, unplaced = _metadata(item)
                yield self._message(item, kept)
                yield from unplaced
            case ForeignRelation():
                yield self._relation(item, next(ids))
            case NoPlace(merged=ForeignRelation() as relation) if self.merge_owners:
                yield self._relation(relation, next(ids))
            case _:
                yield item

    def entity_mark(self, name: str) -> str:
        return self._mark(f"entity:{name}")

    def _mark(self, key: str, owner: str = "", agent: str = "") -> str:
        """What an item is known by in its scope, when it is brought again."""
        # Two owners may use the same key; where they are merged, that must not make one memory of two.
        whose = f"{owner}/{agent}:" if self.merge_owners and (owner or agent) else ""
        return f"{self.format}:{storable_text(whose + key)}"

    def _scope(self, owner: str, agent: str) -> Scope:
        if self.merge_owners or not (owner or agent):
            return self.scope
        names = (storable_text(owner).strip() or self.scope.owner, storable_text(agent).strip())
        return Scope(*(clean_name(name, "owner or agent") if name else "" for name in names))

    def _entity(self, item: ForeignEntity, ids: count[int]) -> Iterator[ForeignRecord]:
        """An entity keeps what is good of its observations; what is not is named."""
        name = _name(item.name)
        created = _utc(item.created_at) or self.at
        observations: list[Observation] = []
        for number, each in enumerate(item.observations, 1):
            try:
                observations.append(_observation(each, next(ids), created))
            except InvalidInput as error:
                yield BadRow(f"entity {_short(name)}, observation {number}", str(error))
        places = {observation.content: observation.id for observation in observations}
        linked = tuple(
            replace(observation, superseded_by=places.get(by)) if by and places.get(by) else observation
            for observation, by in _with_successors(observations, item.observations)
        )
        yield Memory(
            id=next(ids),
            kind=Kind.ENTITY,
            scope=self._scope(item.owner, item.agent),
            created_at=created,
            updated_at=max(created, _utc(item.updated_at) or created),
            name=name,
            type=clean_type(storable_text(item.type)) if item.type.strip() else UNKNOWN,
            observations=linked,
            source=self.entity_mark(name),
            tags=_tags(item.tags),
            status=item.status,
            importance=_importance(item.importance),
            pinned=item.pinned,
            deleted_at=_utc(item.forgotten_at),
        )

    def _note(self, item: ForeignNote, id_: int, metadata: dict[str, Any] | None) -> PlacedNote:
        text = clean_text(storable_text(item.text))
        dated = _utc(item.created_at) or _utc(item.updated_at)
        created = dated or self.at
        updated = max(created, _utc(item.updated_at) or created)
        superseded_at = _utc(item.superseded_at) or (updated if item.superseded_by else None)
        memory = Memory(
            id=id_,
            kind=Kind.NOTE,
            scope=self._scope(item.owner, item.agent),
            created_at=created,
            updated_at=updated,
            happened_at=_utc(item.happened_at),
            text=text,
            category=clean_type(storable_text(item.category), "category") if item.category.strip() else None,
            source=self._mark(item.key or _digest(text), item.owner, item.agent),
            session=_name(item.session, "session") if item.session.strip() else None,
            speaker=_name(item.speaker, "speaker") if item.speaker.strip() else None,
            undated=dated is None,
            tags=_tags(item.tags),
            former=tuple(_revision(each) for each in item.former),
            status=item.status,
            importance=_importance(item.importance),
            pinned=item.pinned,
            revisions=len(item.former),
            superseded_at=superseded_at,
            deleted_at=_utc(item.forgotten_at),
            expires_at=_utc(item.expires_at),
            # A ref is unique in its scope, and what comes from several may have it twice.
            ref=clean_ref(storable_text(item.ref)) if item.ref and not self.merge_owners else None,
            metadata=metadata,
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
            role=clean_type(storable_text(item.role), "role") if item.role.strip() else None,
            speaker=_name(item.speaker, "speaker") if item.speaker.strip() else None,
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


def _once(record: ForeignRecord, seen: dict[tuple[Scope, str | None], str]) -> Iterator[ForeignRecord]:
    """A note that the source holds twice is taken once; another one under the same key is a bad row."""
    if isinstance(record, PlacedNote):
        note = record.memory
        known, text = (note.scope, note.source), _digest(note.text)
        if known in seen:
            if seen[known] != text:
                yield BadRow(f"note {note.source}", "An earlier note with the same key was imported instead.")
            return
        seen[known] = text
    yield record


def example_line(record: ForeignRecord) -> str | None:
    """One line for whoever looks before importing; none for what is reported elsewhere."""
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
        kind=clean_type(storable_text(item.kind), "observation's kind") if item.kind.strip() else "generic",
        created_at=created,
        happened_at=_utc(item.happened_at),
        superseded_at=superseded,
        deleted_at=_utc(item.forgotten_at),
    )


def _with_successors(
    observations: Iterable[Observation], items: Iterable[ForeignObservation]
) -> Iterator[tuple[Observation, str | None]]:
    by = {storable_text(item.content): item.superseded_by for item in items}
    return ((observation, by.get(observation.content)) for observation in observations)


def _revision(revision: Revision) -> Revision:
    since, until = _utc(revision.since), _utc(revision.until)
    assert since is not None  # noqa: S101  # both are times
    assert until is not None  # noqa: S101
    return Revision(clean_text(storable_text(revision.text), "former text"), since, max(since, until))


def _name(name: str, what: str = "name") -> str:
    return clean_name(storable_text(name), what)


def _tags(tags: Iterable[str]) -> tuple[str, ...]:
    return tuple(clean_type(storable_text(tag), "tag") for tag in dict.fromkeys(tags) if tag.strip())


def _metadata(item: ForeignNote | ForeignMessage) -> tuple[dict[str, Any] | None, list[NoPlace]]:
    """What is kept of it, and what is no JSON or too long for that."""
    kept: dict[str, Any] = {}
    unplaced = []
    for key, value in item.metadata.items():
        try:
            kept |= clean_metadata({key: value}) or {}
        except InvalidInput:
            unplaced.append(NoPlace("metadata that is too long or not JSON", _short(f"{key} = {value}")))
    return clean_metadata(kept) if kept else None, unplaced


def _importance(given: float | None) -> float:
    return 0.5 if given is None else clean_share(given, "importance")


def _utc(moment: datetime | None) -> datetime | None:
    """In UTC; a time that names no zone is read as UTC."""
    if moment is None:
        return None
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
    """At most so many characters on one line."""
    line = " ".join(storable_text(text).split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
