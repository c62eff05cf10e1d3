"""The official memory server's format: one entity or relation to a line.

It writes `{"type":"entity","name":…,"entityType":…,"observations":[…]}` and
`{"type":"relation","from":…,"to":…,"relationType":…}`. Further keys are passed over, as it does itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.changes import NewEntity, NewObservation, NewRelation
from recollect.errors import InvalidInput
from recollect.text.limits import clean_name, clean_text, clean_type
from recollect.transfer.plain import line_of, object_of
from recollect.transfer.reading import Read

if TYPE_CHECKING:
    from recollect.records import Memory, Relation


Record = NewEntity | NewRelation


def parsed(content: bytes | None) -> Read[Record]:
    plain = object_of(content)
    match plain.get("type"):
        case "entity":
            return _entity(plain)
        case "relation":
            return Read(_relation(plain))
        case None:
            raise InvalidInput("The line has no `type`; it is entity or relation.")
        case other:
            raise InvalidInput(f"The line's `type` is {str(other)[:40]!a}; it is entity or relation.")


def parsed_relation(content: bytes | None) -> Read[NewRelation | None]:
    """None for an entity, without a look at what it holds."""
    plain = object_of(content)
    return Read(_relation(plain) if plain.get("type") == "relation" else None)


def entity_line(entity: Memory) -> str:
    return line_of(
        {
            "type": "entity",
            "name": entity.name,
            "entityType": entity.type,
            "observations": [observation.content for observation in entity.in_force],
        }
    )


def relation_line(relation: Relation) -> str:
    return line_of(
        {
            "type": "relation",
            "from": relation.source_name,
            "to": relation.target_name,
            "relationType": relation.type,
        }
    )


def _entity(plain: dict[str, Any]) -> Read[Record]:
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
    return Read(NewEntity(name, known, tuple(observations)), _left_out(wrong))


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
