"""All that is remembered, in pages; and how to be rid of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from recollect.changes import Forget
from recollect.engine.inputs import listed, tags_of
from recollect.engine.limits import MOST_PER_PAGE
from recollect.engine.recall import kinds_of
from recollect.engine.results import MemoryPage
from recollect.engine.services import Services
from recollect.errors import InvalidInput
from recollect.ranking.factors.recency import microseconds
from recollect.retrieval.contents import memory_page
from recollect.text.limits import clean_ref, name_as_kept


def list_memories(
    services: Services,
    *,
    kinds: Collection[str],
    category: str | None,
    tags: Iterable[str],
    session: str | None,
    refs: Iterable[str] | None,
    include_superseded: bool,
    limit: int,
    after: int,
) -> MemoryPage:
    if not 1 <= limit <= MOST_PER_PAGE:
        raise InvalidInput(f"A page holds 1 to {MOST_PER_PAGE:,} memories, not {limit}; page with `after`.")
    where = replace(
        services.where(superseded=include_superseded),
        kinds=kinds_of(kinds),
        category=category,
        tags=frozenset(tags_of(tags)),
        session=None if session is None else name_as_kept(session),
        refs=None if refs is None else frozenset(map(clean_ref, listed(refs, "Refs"))),
        expired_by=None if include_superseded else microseconds(services.clock()),
    )
    with services.read() as view:
        found = memory_page(view, where, after, limit + 1, newest_first=True)
    page = tuple(found[:limit])
    return MemoryPage(page, page[-1].id if len(found) > limit else None)


def forget_all(services: Services) -> int:
    """In batches, so that others need not wait for all of it."""
    count = 0
    while True:
        with services.read() as view:
            ids = tuple(
                memory.id for memory in memory_page(view, services.where(superseded=True), 0, MOST_PER_PAGE)
            )
        wanted = services.by_scope(ids) if ids else {}
        done = services.own.write([Forget(scope, ids=those) for scope, those in wanted.items()])
        gone = sum(len(outcome.ids) for outcome in done)
        if not gone:
            return count
        count += gone
