"""A tool: one operation on offer, as a value that any protocol can serve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from recollect.engine.engine import Engine
    from recollect.ports import Progress
    from recollect.serve.shapes import Shape

Arguments = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What a tool answers with."""

    data: Mapping[str, Any]
    """In the form of the tool's `gives`."""
    text: str | None = None
    """For a model to read; None: the data, as JSON."""
    also: str | None = None
    """Something that the caller should know beside it."""


def _untold(done: int, total: int | None) -> None:
    """Nobody asked how far it is."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool."""

    engine: Engine
    given: Arguments
    progress: Progress = _untold
    """Told after every step of long work. It raises where the caller has given up on an answer."""
    offered: frozenset[str] = frozenset()
    """The names of the tools that the caller can use."""

    def get(self, name: str, otherwise: Any = None) -> Any:
        value = self.given.get(name)
        return otherwise if value is None else value


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    title: str
    about: str
    """When to use it, and what to expect: this is what a model reads."""
    takes: Shape
    gives: Shape
    run: Callable[[Call], Reply] = field(repr=False)
    reads: bool = False
    """It changes nothing that a caller could see."""
    destroys: bool = False
    """What it takes away can come back only by another call."""
    repeats: bool = False
    """Calling it again with the same arguments changes nothing more."""
