"""Other names of arguments: a caller need not know which tool says `at` and which `happened_at`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.serve.operations.schema import Schema

# Names that mean the same wherever they stand. Those of one group never stand in one object.
_GROUPS = (
    ("happened_at", "at"),
    ("entityName", "entity_name"),
    ("entityType", "entity_type", "type"),
    ("relationType", "relation_type", "type"),
    ("from", "source"),
    ("to", "target"),
)


def with_own_names(schema: Schema, given: Any) -> Any:
    """What was given, each argument under the name that the schema has for it."""
    match given:
        case list():
            items = schema.get("items", {})
            return [with_own_names(items, each) for each in given]
        case dict():
            for form in schema.get("anyOf", ()):
                schema = form if form.get("type") == "object" else schema
            own = schema.get("properties", {})
            renamed = {_own_name(name, own, given): value for name, value in given.items()}
            return {name: with_own_names(own.get(name, {}), value) for name, value in renamed.items()}
        case _:
            return given


def _own_name(name: str, own: Schema, given: dict[str, Any]) -> str:
    """The name itself, unless it is unknown and another one of its group is known and not given."""
    if name in own:
        return name
    groups = [group for group in _GROUPS if name in group]
    return next((each for group in groups for each in group if each in own and each not in given), name)
