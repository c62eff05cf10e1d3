"""Recollect: a memory engine for AI agents."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as type checkers know it: `typing` is a third of what a hook may take to start
if TYPE_CHECKING:
    from recollect import aio as aio
    from recollect.bootstrap import open  # noqa: A004  # the library's own verb
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

# Where each public name lives. It is imported when it is first used: the command line needs few of them,
# and must answer `--help` at once.
_HOMES = {
    "bootstrap": "open",
    "engine": "Engine",
    "domain.results": "Answer Context Graph Hit Remembered",
    "domain.errors": "Conflict ExtractionFailed InvalidInput MissingExtra ModelUnavailable NotAStore "
    "NotFound Outdated RecollectError StoreDamaged StoreUnavailable",
    "domain.changes": "NewEntity NewObservation NewRelation Turn",
    "domain.records": "Kind Memory Observation RecallOptions Relation Scope Status",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [  # a literal list for type checkers, kept equal to _HOMES by a test
    "Answer", "Conflict", "Context", "Engine", "ExtractionFailed", "Graph", "Hit", "InvalidInput", "Kind",
    "Memory", "MissingExtra", "ModelUnavailable", "NewEntity", "NewObservation", "NewRelation",
    "NotAStore", "NotFound", "Observation", "Outdated", "RecallOptions", "RecollectError", "Relation",
    "Remembered", "Scope", "Status", "StoreDamaged", "StoreUnavailable", "Turn", "open",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name == "aio":
        return import_module("recollect.aio")
    if name == "__version__":
        from importlib.metadata import version  # noqa: PLC0415  # slow, and rarely asked for

        return version("recollect-memory")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'recollect' has no attribute {name!r}")
    return getattr(import_module(f"recollect.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "aio"])
