"""Looking at what is remembered, page by page. Nothing of it counts as having been shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from recollect.engine.browse import names, pages
from recollect.engine.browse.pages import BrowseFilter, Order
from recollect.engine.browse.results import BrowsePage, Bucket, EntityCounts, NameCount, WholeMemory
from recollect.engine.browse.timeline import Unit, timeline
from recollect.engine.browse.whole_memory import whole_memory
from recollect.engine.inputs import aware
from recollect.engine.services import Services, asks_again
from recollect.lazy_dataclass import dataclass
from recollect.records import Memory, Session


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
        return whole_memory(self.services, id, showings, aware(as_of, "as_of"))

    @asks_again
    def page(
        self,
        wanted: BrowseFilter | None = None,
        *,
        order: Order = "newest",
        limit: int = 100,
        after: str | None = None,
    ) -> BrowsePage:
        """Memories of any kind, filtered and sorted; pass the page's `cursor` as `after` for the next."""
        return pages.browse_page(self.services, _aware(wanted), order, limit, after)

    @asks_again
    def timeline(self, wanted: BrowseFilter | None = None, unit: Unit = "day") -> Sequence[Bucket]:
        """How many of these memories are of each of the user's days, weeks (from Monday) or months."""
        return timeline(self.services, _aware(wanted), unit)

    @asks_again
    def tags(self) -> Sequence[NameCount]:
        """Every tag that something in force has, the most frequent first."""
        return names.tag_counts(self.services)

    @asks_again
    def categories(self) -> Sequence[NameCount]:
        """Every category that something in force has, the most frequent first."""
        return names.category_counts(self.services)

    @asks_again
    def sessions(self, start: int = 0, limit: int = 50) -> tuple[Sequence[Session], int]:
        """Conversations from this place on, that with the newest turn first, and how many there are."""
        return names.session_page(self.services, start, limit)

    @asks_again
    def turns(
        self, session: str, *, after: int = 0, limit: int = 100, newest_first: bool = False
    ) -> Sequence[Memory]:
        """Messages of a session after this position; with `newest_first`, before it (0: from the end)."""
        return names.session_turns(self.services, session, after, limit, newest_first=newest_first)

    @asks_again
    def entities(
        self,
        *,
        type: str | None = None,  # noqa: A002  # the domain's word
        contains: str | None = None,
        order: names.EntityOrder = "name",
        start: int = 0,
        limit: int = 100,
    ) -> Sequence[EntityCounts]:
        """Live entities with how many observations, relations and mentions each has."""
        return names.entity_page(
            self.services, type_=type, contains=contains, order=order, start=start, limit=limit
        )


def _aware(wanted: BrowseFilter | None) -> BrowseFilter:
    wanted = wanted or BrowseFilter()
    return replace(
        wanted,
        since=aware(wanted.since, "since"),
        until=aware(wanted.until, "until"),
        stored_before=aware(wanted.stored_before, "stored_before"),
    )
