"""Every format of other programs, in the order in which a source is compared with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.transfer.formats import mcp_memory_v2

if TYPE_CHECKING:
    from recollect.transfer.formats import ForeignFormat

FOREIGN: tuple[ForeignFormat, ...] = (mcp_memory_v2.FORMAT,)
