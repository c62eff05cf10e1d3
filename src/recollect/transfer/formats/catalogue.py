"""Every format of other programs, in the order in which they are tried on a source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.transfer.formats import (
    basic_memory,
    claude_memory,
    cognis,
    graphiti,
    langgraph,
    letta,
    mcp_memory_service,
    mcp_memory_v2,
    mem0,
    mnemosyne,
)

if TYPE_CHECKING:
    from recollect.transfer.formats import ForeignFormat

FOREIGN: tuple[ForeignFormat, ...] = (
    mcp_memory_v2.FORMAT,
    mnemosyne.FORMAT,
    cognis.FORMAT,
    mcp_memory_service.FORMAT,
    langgraph.FORMAT,
    mem0.FORMAT,
    letta.FORMAT,
    graphiti.FORMAT,
    claude_memory.FORMAT,
    basic_memory.FORMAT,
)
