"""Every format of other programs, in the order in which a source is compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.transfer.formats import cognis, mcp_memory_service, mcp_memory_v2, mem0, mnemosyne

if TYPE_CHECKING:
    from recollect.transfer.formats import ForeignFormat

FOREIGN: tuple[ForeignFormat, ...] = (
    mcp_memory_v2.FORMAT,
    mnemosyne.FORMAT,
    cognis.FORMAT,
    mcp_memory_service.FORMAT,
    mem0.FORMAT,
)
