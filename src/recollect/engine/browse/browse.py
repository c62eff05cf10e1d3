"""Looking at what is remembered, page by page. Nothing of it counts as having been shown."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from recollect.engine.inputs import aware
from recollect.engine.services import Services, asks_again
from recollect.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from recollect.engine.browse.results import WholeMemory


@dataclass(frozen=True, slots=True)
class Browse:
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""

    services: Services

    @asks_again
    def memory(
        self,
        id: int,  # noqa: A002  # the domain's word
        *,
        showings: int = 20,
        as_of: datetime | None = None,
    ) -> WholeMemory:
        """A memory with all that the store knows of it, forgotten or not; with `as_of`, as it read then.

        `showings` is how many of the last answers that showed it are told.
        """
        from recollect.engine.browse.whole_memory import whole_memory

        return whole_memory(self.services, id, showings, aware(as_of, "as_of"))
