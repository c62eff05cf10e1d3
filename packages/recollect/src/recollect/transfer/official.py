"""The official memory server's format: one entity or relation to a line.

It writes `{"type":"entity","name":…,"entityType":…,"observations":[…]}` and
`{"type":"relation","from":…,"to":…,"relationType":…}`. Further keys are passed over, as it does itself.

Entities are imported first, then relations, wherever they are in the file. That server keeps relations
whose ends do not exist, so its files have them; what only a relation names is created, as when a client
relates it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.domain.changes import NewEntity, NewObservation, NewRelation, PutEntity, Relate
from recollect.domain.errors import InvalidInput
from recollect.domain.limits import clean_name, clean_text, clean_type
from recollect.domain.records import Relation
from recollect.transfer.files import LineFormat, write_object

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.domain.records import Memory
    from recollect.transfer.files import NumberedRecord
    from recollect.transfer.moved_rows import Import
    from recollect.transfer.reports import Tally


def official_line(record: Memory | Relation) -> str:
    if isinstance(record, Relation):
        ends = {"from": record.source_name, "to": record.target_name}
        return write_object({"type": "relation", **ends, "relationType": record.type})
    contents = [observation.content for observation in record.in_force]
    known = {"name": record.name, "entityType": record.type, "observations": contents}
    return write_object({"type": "entity", **known})


def _entity(plain: dict[str, Any]) -> tuple[NewEntity, str | None]:
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
    more = f" So were {len(wrong) - 1} more of its observations." if len(wrong) > 1 else ""
    left_out = f"{wrong[0]} It was left out, the entity was not.{more}" if wrong else None
    return NewEntity(name, known, tuple(observations)), left_out


def _relation(plain: dict[str, Any]) -> tuple[NewRelation, None]:
    relation = NewRelation(
        source=clean_name(_given(plain, "from"), "`from`"),
        target=clean_name(_given(plain, "to"), "`to`"),
        type=clean_type(_given(plain, "relationType"), "`relationType`"),
    )
    return relation, None


def _given(plain: dict[str, Any], key: str) -> object:
    if key not in plain:
        raise InvalidInput(f"The line has no `{key}`.")
    return plain[key]


class OfficialImport:
    """Takes in entities and relations by their names, into the engine's scope."""

    format = LineFormat("type", {"entity": _entity, "relation": _relation})
    memory_kind = "entity"

    def __init__(self, into: Import, tally: Tally) -> None:
        self._into = into
        self._tally = tally

    def add_memories(self, entities: Sequence[NewEntity]) -> None:
        counts = self._tally.counts
        scope = self._into.services.scope
        # Known observations are not counted as said again.
        changes = [PutEntity(scope, entity, counts=False) for entity in entities]
        for outcome in self._into.apply(changes):
            counts["entities_created" if outcome.created else "entities_merged"] += 1
            counts["observations_added"] += len(outcome.added)
            counts["types_taken"] += outcome.took_type is not None
            counts["types_kept"] += outcome.kept_type is not None

    def add_rest(self, batch: Sequence[NumberedRecord]) -> None:
        scope = self._into.services.scope
        changes = [Relate(scope, item.record, create_missing=True) for item in batch]
        for outcome in self._into.apply(changes):
            self._tally.counts["relations_created" if outcome.created else "relations_known"] += 1
            self._tally.add("also_created", *outcome.also_created)

    def link(self) -> None:
        """Names are all the links there are."""
