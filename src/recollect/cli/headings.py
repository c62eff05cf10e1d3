"""How a memory is named in a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from recollect.cli.visible import one_line
from recollect.records import Kind, Status

if TYPE_CHECKING:
    from recollect.records import Memory


def heading(memory: Memory) -> Text:
    if memory.kind is Kind.ENTITY:
        return Text.assemble((one_line(memory.name), "bold cyan"), "  ", (facts(memory), "dim"))
    return Text.assemble(
        (one_line(memory.speaker or memory.kind), "bold magenta"), "  ", (facts(memory), "dim")
    )


def facts(memory: Memory) -> str:
    """`person · paused · #12`: what it is, its status where that is unusual, and its id."""
    what = memory.type if memory.kind is Kind.ENTITY else memory.kind
    status = [] if memory.status is Status.ACTIVE else [str(memory.status)]
    return " · ".join([one_line(what), *status, f"#{memory.id}"])
