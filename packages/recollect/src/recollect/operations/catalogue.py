"""The operations on offer: their names, the sets that a user may choose from, and their definitions."""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from recollect.domain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.operations.operation import Operation

_DEFAULT = (
    "remember recall context update forget history add_messages create_entities create_relations "
    "add_observations delete_entities delete_observations delete_relations read_graph search_nodes "
    "open_nodes search_semantic"
).split()
_MORE = (
    "list_memories restore explain why_not neighbours find_paths end_relation set_status stats "
    "clear_session add_reflection search_reflections migrate "
    "find_duplicate_observations consolidation_report find_split_candidates "
    "analyze_entity_split propose_entity_split execute_entity_split undo_entity_split dream undo_dream "
    "feedback"
).split()
SETS: dict[str, tuple[str, ...]] = {
    "recall-only": ("recall", "context"),
    "default": tuple(_DEFAULT),
    "all": (*_DEFAULT, *_MORE),
}
FOR_THE_STORE = frozenset({"migrate"})
"""It reads any file of the server's machine, and so what other owners keep there."""
DEFINITIONS_FILE = Path(__file__).with_name("definitions.json")
_MODULES = ("memories", "search", "graph", "upkeep", "dreams")
_HTTP_MODULES = ("browse", "quality", "store")
"""Their operations are offered by HTTP alone, so that MCP clients read nothing of them."""


class Definition(TypedDict):
    """What a protocol tells its clients of an operation."""

    title: str
    description: str
    arguments: dict[str, Any]
    """A JSON schema."""
    result: dict[str, Any]
    """A JSON schema."""
    read_only: bool
    destructive: bool
    idempotent: bool


def chosen(names: str) -> tuple[str, ...]:
    """The operations of a set, or of a list of names with commas between."""
    found = SETS.get(names) or tuple(name.strip() for name in names.split(",") if name.strip())
    unknown = [name for name in found if name not in SETS["all"]]
    if unknown or not found:
        wrong = ", ".join(map(repr, unknown or [names]))
        raise InvalidInput(
            f"No tool named {wrong}; there are the sets {', '.join(SETS)} and the tools "
            f"{', '.join(SETS['all'])}."
        )
    return found


@cache
def definitions() -> Mapping[str, Definition]:
    """From the file that `write_definitions` made: a client waits for them, and to derive them takes longer
    than all else that a server does before its first answer."""
    found: dict[str, Definition] = json.loads(DEFINITIONS_FILE.read_bytes())
    return found


@cache
def operations() -> Mapping[str, Operation]:
    """Every operation by name. This loads the engine."""
    found = _operations_in(_MODULES)
    return {name: found[name] for name in SETS["all"]}


@cache
def http_operations() -> Mapping[str, Operation]:
    """The same, and every other one that a module defines: HTTP offers all."""
    return {**operations(), **_operations_in((*_MODULES, *_HTTP_MODULES))}


def _operations_in(modules: Sequence[str]) -> dict[str, Operation]:
    from recollect.operations.operation import Operation  # noqa: PLC0415  # the same

    return {
        value.name: value
        for name in modules
        for value in vars(import_module(f"recollect.operations.{name}")).values()
        if isinstance(value, Operation)
    }


def write_definitions() -> None:
    """Derive the definitions anew, after an operation has changed."""
    made = {name: each.definition() for name, each in operations().items()}
    DEFINITIONS_FILE.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_definitions()
