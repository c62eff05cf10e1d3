"""Recollect: a memory engine for AI agents."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # importing it from `typing` would take a third of a hook's start-up budget
if TYPE_CHECKING:
    from recollect import aio as aio
    from recollect.bootstrap import open  # noqa: A004  # the public name
    from recollect.domain.changes import NewEntity, NewObservation, NewRelation, Turn
    from recollect.domain.errors import (
        Conflict,
        ExtractionFailed,
        InvalidInput,
        MissingExtra,
        ModelUnavailable,
        NotAStore,
        NotFound,
        Outdated,
        RecollectError,
        StoreDamaged,
        StoreUnavailable,
    )
    from recollect.domain.records import Kind, Memory, Observation, RecallOptions, Relation, Scope, Status
    from recollect.domain.results import Answer, Context, Graph, Hit, Remembered
    from recollect.engine import Engine

    __version__: str

# The public names of each module. A name is imported when it is first used: the command line needs few of
# them, and must answer `--help` at once.
_NAMES_IN = {
    "bootstrap": "open",
    "engine": "Engine",
    "domain.results": "Answer Context Graph Hit Remembered",
    "domain.errors": "Conflict ExtractionFailed InvalidInput MissingExtra ModelUnavailable NotAStore "
    "NotFound Outdated RecollectError StoreDamaged StoreUnavailable",
    "domain.changes": "NewEntity NewObservation NewRelation Turn",
    "domain.records": "Kind Memory Observation RecallOptions Relation Scope Status",
}
_MODULE_OF = {name: module for module, names in _NAMES_IN.items() for name in names.split()}

__all__ = [  # a literal list for type checkers, kept equal to _NAMES_IN by a test
    "Answer", "Conflict", "Context", "Engine", "ExtractionFailed", "Graph", "Hit", "InvalidInput", "Kind",
    "Memory", "MissingExtra", "ModelUnavailable", "NewEntity", "NewObservation", "NewRelation",
    "NotAStore", "NotFound", "Observation", "Outdated", "RecallOptions", "RecollectError", "Relation",
    "Remembered", "Scope", "Status", "StoreDamaged", "StoreUnavailable", "Turn", "open",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "aio":
        return import_module("recollect.aio")
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # slow, and rarely used

        return version("recollect-memory")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    return getattr(import_module(f"recollect.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "aio"])
