"""The official memory server's format: one entity or relation to a line.

It writes `{"type":"entity","name":…,"entityType":…,"observations":[…]}` and
`{"type":"relation","from":…,"to":…,"relationType":…}`. Further keys are passed over, as it does itself.

Entities are imported first, then relations, wherever they are in the file. That server keeps relations
whose ends do not exist, so its files have them; what only a relation names is created, as when a client
relates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.changes import NewEntity, NewObservation, NewRelation
from recollect.errors import InvalidInput
from recollect.text.limits import clean_name, clean_text, clean_type
from recollect.transfer.json_lines import (
    ParsedLine,
    ignore_line,
    read_object,
    record_batches,
    records,
    refuse_line,
    without_none,
    write_object,
)

if TYPE_CHECKING:
    from recollect.engine.upkeep.transfer import Import
    from recollect.records import Memory, Relation
    from recollect.transfer.files import LineFile
    from recollect.transfer.reports import Tally

OfficialRecord = NewEntity | NewRelation


def import_official(into: Import, source: LineFile, tally: Tally, *, keep_going: bool) -> None:
    source.plan(2 if keep_going else 3)
    if not keep_going:
        for _ in records(source, _parse_record, refuse_line):
            pass
    relations = _import_entities(into, source, tally)
    if relations:
        _import_relations(into, source, tally)
    source.finish()


def _import_entities(into: Import, source: LineFile, tally: Tally) -> int:
    """Write the entities, and count the relations that are to follow."""
    relations = 0
    for batch in record_batches(records(source, _parse_record, tally.bad)):
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


def _import_relations(into: Import, source: LineFile, tally: Tally) -> None:
    for batch in record_batches(without_none(records(source, _parse_relation, ignore_line))):
        for outcome in into.relations(item.record for item in batch):
            tally.counts["relations_created" if outcome.created else "relations_known"] += 1
            tally.also_created(outcome.also_created)


def _parse_record(content: bytes | None) -> ParsedLine[OfficialRecord]:
    plain = read_object(content)
    match plain.get("type"):
        case "entity":
            return _entity(plain)
        case "relation":
            return ParsedLine(_relation(plain))
        case None:
            raise InvalidInput("The line has no `type`; it is entity or relation.")
        case other:
            raise InvalidInput(f"The line's `type` is {str(other)[:40]!a}; it is entity or relation.")


def _parse_relation(content: bytes | None) -> ParsedLine[NewRelation | None]:
    """None for an entity, without a look at what it holds."""
    plain = read_object(content)
    return ParsedLine(_relation(plain) if plain.get("type") == "relation" else None)


def official_entity_line(entity: Memory) -> str:
    return write_object(
        {
            "type": "entity",
            "name": entity.name,
            "entityType": entity.type,
            "observations": [observation.content for observation in entity.in_force],
        }
    )


def official_relation_line(relation: Relation) -> str:
    return write_object(
        {
            "type": "relation",
            "from": relation.source_name,
            "to": relation.target_name,
            "relationType": relation.type,
        }
    )


def _entity(plain: dict[str, Any]) -> ParsedLine[OfficialRecord]:
    """An entity keeps what is good of its observations: without it, its relations would be lost as well."""
    name = clean_name(_given(plain, "name"), "`name`")
    type_ = plain.get("entityType", "")
    # The official server takes an empty type, and we have a word for that.
    empty = isinstance(type_, str) and not type_.strip()
    known = "unknown" if empty else clean_type(type_, "`entityType`")
    contents = plain.get("observations", [])
    if not isinstance(contents, list):
        raise InvalidInput(f"`observations` must be a list, not {type(contents).__name__}.")
    observations: list[NewObservation] = []
    wrong: list[str] = []
    for number, content in enumerate(contents, 1):
        try:
            observations.append(NewObservation(clean_text(content, f"text of observation {number}")))
        except InvalidInput as error:
            wrong.append(str(error))
    return ParsedLine(NewEntity(name, known, tuple(observations)), _left_out(wrong))


def _relation(plain: dict[str, Any]) -> NewRelation:
    return NewRelation(
        source=clean_name(_given(plain, "from"), "`from`"),
        target=clean_name(_given(plain, "to"), "`to`"),
        type=clean_type(_given(plain, "relationType"), "`relationType`"),
    )


def _left_out(wrong: list[str]) -> str | None:
    if not wrong:
        return None
    more = f" So were {len(wrong) - 1} more of its observations." if len(wrong) > 1 else ""
    return f"{wrong[0]} It was left out, the entity was not.{more}"


def _given(plain: dict[str, Any], key: str) -> object:
    if key not in plain:
        raise InvalidInput(f"The line has no `{key}`.")
    return plain[key]
