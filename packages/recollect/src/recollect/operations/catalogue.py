"""The operations on offer: their names, the sets that a user may choose from, and their definitions."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from recollect.domain.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from recollect.operations.operation import Operation

FOR_THE_STORE = frozenset({"migrate"})
"""Operations that require the right to the whole store: `migrate` reads any file of the machine."""
DEFINITIONS_FILE = Path(__file__).with_name("definitions.json")
INTERFACES_FILE = Path(__file__).with_name("interfaces.json")
_MODULES = ("memories", "search", "graph", "upkeep", "dreams")
_HTTP_MODULES = ("browse", "quality", "store")
"""Modules whose operations MCP does not offer, so its server does not load them."""


class Definition(TypedDict):
    """The definition of an operation that a protocol gives to its clients."""

    title: str
    description: str
    arguments: dict[str, Any]
    """A JSON schema."""
    result: dict[str, Any]
    """A JSON schema."""
    read_only: bool
    destructive: bool
    idempotent: bool
    tools: str
    """The smallest set that has it."""


class Interfaces(TypedDict):
    """The endpoints of the REST API."""

    endpoints: list[dict[str, Any]]
    """The fields of each `Endpoint`."""


def tools_named(names: str) -> tuple[str, ...]:
    """Return the operations of a set, or of a comma-separated list of names."""
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
    """Load the definitions from the file that `write_definitions` made.

    Deriving them would take most of a server's start, while a client waits.
    """
    found: dict[str, Definition] = json.loads(DEFINITIONS_FILE.read_bytes())
    return found


@cache
def interfaces() -> Interfaces:
    """Load the endpoints from their file, so that help and routes need not load the operations."""
    found: Interfaces = json.loads(INTERFACES_FILE.read_bytes())
    return found


SETS: dict[str, tuple[str, ...]] = {
    "recall-only": ("recall", "context"),
    "default": tuple(name for name, each in definitions().items() if each["tools"] == "default"),
    "all": tuple(definitions()),
}


@cache
def operations() -> Mapping[str, Operation]:
    """Return every operation that MCP offers, by name. This loads the engine."""
    found = _operations_in(_MODULES)
    return {name: found[name] for name in SETS["all"]}


@cache
def http_operations() -> Mapping[str, Operation]:
    """Return every operation by name, including those that only HTTP offers."""
    return {**operations(), **_operations_in((*_MODULES, *_HTTP_MODULES))}


def _operations_in(modules: Sequence[str]) -> dict[str, Operation]:
    from recollect.operations.operation import Operation  # noqa: PLC0415  # loads pydantic

    return {
        value.name: value
        for name in modules
        for value in vars(import_module(f"recollect.operations.{name}")).values()
        if isinstance(value, Operation)
    }


# Both files are generated from the operations. Entries keep their order; new ones are appended.


def definitions_of(found: Iterable[Operation]) -> dict[str, Definition]:
    """Return the definitions of all MCP tools, those of the default set first."""
    tools = [each for each in found if each.tools]
    place = _places(definitions())
    tools.sort(key=lambda each: (each.tools != "default", place(each.name)))
    return {each.name: each.definition() for each in tools}


def interfaces_of(found: Iterable[Operation]) -> Interfaces:
    """Return the endpoints, grouped by tag."""
    found, known = tuple(found), interfaces()["endpoints"]
    tag, route = (_places(dict.fromkeys(each[field] for each in known)) for field in ("tag", "route"))
    endpoints = [endpoint for each in found for endpoint in each.endpoints]
    endpoints.sort(key=lambda each: (tag(each.tag), each.tag, route(each.route)))
    rows = [{name: value for name, value in asdict(each).items() if value} for each in endpoints]
    return {"endpoints": rows}


def _places(names: Iterable[str]) -> Callable[[str], int]:
    places = {name: place for place, name in enumerate(names)}
    return lambda name: places.get(name, len(places))


def write_definitions() -> None:
    """Rewrite the definitions after an operation has changed."""
    offered = definitions_of(_operations_in(_MODULES).values())
    more = interfaces_of(_operations_in((*_MODULES, *_HTTP_MODULES)).values())
    for file, made in ((DEFINITIONS_FILE, offered), (INTERFACES_FILE, more)):
        file.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_definitions()
