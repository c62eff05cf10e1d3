"""Lists of memories of any kind, filtered and sorted by the store, a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Literal

from recollect.conditions import (
    IN_FORCE,
    AnyOf,
    Column,
    Compares,
    Condition,
    Contains,
    Equals,
    HasRow,
    Not,
    OneOf,
    Where,
    is_null,
    is_set,
    null_or_after,
)
from recollect.engine.browse.results import BrowsePage
from recollect.engine.limits import MOST_PER_PAGE
from recollect.engine.services import Services
from recollect.errors import InvalidInput
from recollect.lazy_dataclass import dataclass
from recollect.ports import Snapshot
from recollect.ranking.factors.recency import microseconds
from recollect.records import Kind, Status
from recollect.retrieval.filters import EVENT_TIME
from recollect.retrieval.records import memories_by_id, stamp
from recollect.text.tokens import fold

State = Literal["in_force", "forgotten", "superseded", "expired", "all"]
"""`in_force`: what searches find. `all`: whatever became of it."""
Order = Literal["newest", "oldest", "importance", "most_used", "last_shown"]
"""`newest` and `oldest`: by when it was stored."""
TimeOf = Literal["happened", "stored"]
"""`happened`: when it happened or was said; where nobody knows, when it was stored."""
_USES: dict[str, str] = {"most_used": "count", "last_shown": "last_at"}
_NEVER_SHOWN = "Memories that no answer has shown yet are not in this list."
# Memories that are looked at in one go, among those that were ever shown.
_AT_ONCE = 1_000
_GROWTH = 4

_Key = tuple[float, int]
"""What a list is sorted by, and the id of a memory."""


@dataclass(frozen=True, slots=True)
class BrowseFilter:
    """Which memories a list shows; what is None does not matter."""

    kinds: frozenset[Kind] = frozenset(Kind)
    state: State = "in_force"
    category: str | None = None
    tags: frozenset[str] = frozenset()
    """All of these."""
    session: str | None = None
    entity: int | None = None
    """Texts that speak of this entity."""
    status: Status | None = None
    pinned: bool | None = None
    contains: str | None = None
    """The text, an entity's name or one of its observations contains this, letters in any case."""
    since: datetime | None = None
    until: datetime | None = None
    time: TimeOf = "happened"
    """Which time `since` and `until` are compared with."""
    stored_before: datetime | None = None
    """What the memory had learnt by then, whenever it happened."""


def time_column(time: TimeOf) -> Column:
    return EVENT_TIME if time == "happened" else "created_at"


def browse_page(
    services: Services, wanted: BrowseFilter, order: Order, limit: int, after: str | None
) -> BrowsePage:
    if not 1 <= limit <= MOST_PER_PAGE:
        raise InvalidInput(f"A page holds 1 to {MOST_PER_PAGE:,} memories, not {limit}; page with `after`.")
    last = None if after is None else _key_of(after)
    if order in _USES:
        services.usage.settle(services.usage.patience_seconds)
    with services.read() as view:
        conditions = tuple(filter_conditions(wanted, microseconds(services.clock())))
        scopes = services.scope_ids(view)
        if order in _USES:
            keys = list(islice(_used(view, scopes, wanted, conditions, _USES[order], last), limit + 1))
        else:
            keys = _sorted(view, scopes, wanted, conditions, order, last, limit + 1)
        found = memories_by_id(view, [id_ for _, id_ in keys[:limit]])
    more = len(keys) > limit
    value, id_ = keys[limit - 1] if more else (0, 0)
    return BrowsePage(
        tuple(found[id_] for _, id_ in keys[:limit] if id_ in found),
        f"{value!r}:{id_}" if more else None,
        _NEVER_SHOWN if order in _USES else None,
    )


def _key_of(cursor: str) -> _Key:
    value, _, id_ = cursor.partition(":")
    try:
        number = float(value) if "." in value or "e" in value else int(value)
        return number, int(id_)
    except ValueError:
        raise InvalidInput(
            f"There is no page {cursor[:40]!r}; pass on the `cursor` of the last answer, or none."
        ) from None


def filter_conditions(wanted: BrowseFilter, now: int) -> Iterator[Condition]:
    """All but the scope and the kind, which the indexes begin with."""
    yield from _state(wanted.state, now)
    if wanted.category is not None:
        yield Equals("category", wanted.category)
    for tag in sorted({fold(tag) for tag in wanted.tags}):
        yield HasRow("tag", "memory_id", (Equals("folded", tag),))
    if wanted.session is not None:
        yield Equals("session", wanted.session)
    if wanted.entity is not None:
        yield HasRow("mention", "memory_id", (Equals("entity_id", wanted.entity),))
    if wanted.status is not None:
        yield Equals("status", str(wanted.status))
    if wanted.pinned is not None:
        yield Equals("pinned", int(wanted.pinned))
    column = time_column(wanted.time)
    if wanted.since is not None:
        yield Compares(column, ">=", stamp(wanted.since))
    if wanted.until is not None:
        yield Compares(column, "<", stamp(wanted.until))
    if wanted.stored_before is not None:
        yield Compares("created_at", "<", stamp(wanted.stored_before))
    if wanted.contains is not None:
        observed = HasRow("observation", "memory_id", (*IN_FORCE, Contains("content", wanted.contains)))
        named = (Equals("kind", "entity"), AnyOf(((Contains("name", wanted.contains),), (observed,))))
        yield AnyOf(((Contains("text", wanted.contains),), named))


def _state(state: State, now: int) -> tuple[Condition, ...]:
    match state:
        case "in_force":
            return (*IN_FORCE, null_or_after("expires_at", now))
        case "forgotten":
            return (is_set("deleted_at"),)
        case "superseded":
            return (is_null("deleted_at"), is_set("superseded_at"))
        case "expired":
            return (*IN_FORCE, Compares("expires_at", "<=", now))
        case "all":
            return ()


def _sorted(
    view: Snapshot,
    scopes: Sequence[int],
    wanted: BrowseFilter,
    conditions: Where,
    order: Order,
    last: _Key | None,
    limit: int,
) -> list[_Key]:
    """By a column of memories: the first of each scope and kind, merged."""
    column = "importance" if order == "importance" else "id"
    falling = order != "oldest"
    beyond = () if last is None else (_beyond(column, "id", last, falling=falling),)
    sort_by = ("id",) if column == "id" else (column, "id")
    # By what finds the fewest: planners would take an index of kinds for as good as one of sessions.
    kinds: list[Condition] = [Equals("kind", kind) for kind in sorted(wanted.kinds)]
    if wanted.session is not None:
        kinds = [Not(OneOf("kind", frozenset(Kind) - wanted.kinds))]
    keys = [
        (value, id_)
        for scope in scopes
        for kind in kinds
        for value, id_ in view.rows(
            "memory",
            (column, "id"),
            (Equals("scope_id", scope), kind, *beyond, *conditions),
            order=sort_by,
            newest_first=falling,
            limit=limit,
        )
    ]
    return sorted(keys, reverse=falling)[:limit]


def _beyond(column: str, key: str, last: _Key, *, falling: bool) -> Condition:
    """What comes after the last one of the page before."""
    value, id_ = last
    operator: Literal["<", ">"] = "<" if falling else ">"
    if column == key:
        return Compares(key, operator, id_)
    return AnyOf(
        ((Compares(column, operator, value),), (Equals(column, value), Compares(key, operator, id_)))
    )


def _used(
    view: Snapshot,
    scopes: Sequence[int],
    wanted: BrowseFilter,
    conditions: Where,
    column: str,
    last: _Key | None,
) -> Iterator[_Key]:
    """By how often or when a memory was shown. Only what was shown has a row, and few memories were."""
    allowed = (OneOf("scope_id", scopes), OneOf("kind", wanted.kinds), *conditions)
    at_once = _AT_ONCE
    while True:
        beyond = () if last is None else (_beyond(column, "memory_id", last, falling=True),)
        rows = view.rows(
            "use",
            (column, "memory_id"),
            beyond,
            order=(column, "memory_id"),
            newest_first=True,
            limit=at_once,
        )
        ids = [id_ for _, id_ in rows]
        seen = {id_ for (id_,) in view.rows("memory", ("id",), (OneOf("id", ids), *allowed))}
        yield from (row for row in rows if row[1] in seen)
        if len(rows) < at_once:
            return
        last, at_once = rows[-1], at_once * _GROWTH
