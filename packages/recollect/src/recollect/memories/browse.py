"""Looking at what is remembered, page by page. Nothing of it counts as having been shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from itertools import islice
from typing import Literal

from recollect.domain.errors import InvalidInput
from recollect.domain.lazy_dataclass import dataclass
from recollect.domain.limits import MOST_PER_PAGE
from recollect.domain.records import Kind, Status
from recollect.domain.results import BrowsePage, Bucket, EntityCounts, NameCount, WholeMemory
from recollect.domain.tables import (
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
from recollect.memories import whole_memory as names
from recollect.memories.whole_memory import EntityOrder, whole_memory
from recollect.ranking.candidates import DAY
from recollect.ranking.factors import microseconds
from recollect.search.rows import EVENT_TIME, memories_by_id, moment, stamp
from recollect.services import Services, retry_after_failover
from recollect.stores.port import Snapshot
from recollect.text.tokens import fold
from recollect.write.inputs import aware

# Lists of memories of any kind, filtered and sorted by the store, a page at a time.

State = Literal["in_force", "forgotten", "superseded", "expired", "all"]
"""`in_force`: what searches find. `all`: whatever became of it."""
Order = Literal["newest", "oldest", "importance", "most_used", "last_shown"]
"""`newest` and `oldest`: by when it was stored."""
TimeOf = Literal["happened", "stored"]
"""`happened`: when it happened or was said; where that is unknown, when it was stored."""
_USES: dict[str, str] = {"most_used": "count", "last_shown": "last_at"}
_NEVER_SHOWN = "Memories that no answer has shown yet are not in this list."
# Memories that are looked at in one go, among those that were ever shown.
_AT_ONCE = 1_000
_GROWTH = 4

_Key = tuple[float, int]
"""The sort value and the id of a memory."""


@dataclass(frozen=True, slots=True)
class BrowseFilter:
    """Filter of a list of memories; None: any."""

    kinds: frozenset[Kind] = frozenset(Kind)
    state: State = "in_force"
    category: str | None = None
    tags: frozenset[str] = frozenset()
    """All of these."""
    session: str | None = None
    entity: int | None = None
    """Only texts that mention this entity."""
    status: Status | None = None
    pinned: bool | None = None
    contains: str | None = None
    """The text, an entity's name or one of its observations contains this, letters in any case."""
    since: datetime | None = None
    until: datetime | None = None
    time: TimeOf = "happened"
    """Which time `since` and `until` are compared with."""
    stored_before: datetime | None = None
    """Only what was stored before then, whenever it happened."""


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
            keys = list(islice(_by_usage(view, scopes, wanted, conditions, _USES[order], last), limit + 1))
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
    """Match what follows the last row of the previous page."""
    value, id_ = last
    operator: Literal["<", ">"] = "<" if falling else ">"
    if column == key:
        return Compares(key, operator, id_)
    return AnyOf(
        ((Compares(column, operator, value),), (Equals(column, value), Compares(key, operator, id_)))
    )


def _by_usage(
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


# How much happened or was stored in each day, week or month.

Unit = Literal["day", "week", "month"]
# No zone's days begin elsewhere than at a quarter of an hour, so that the store need not know of zones.
_QUARTER_HOUR = 15 * 60 * 1_000_000
_DECEMBER = 12


def timeline(services: Services, wanted: BrowseFilter, unit: Unit) -> list[Bucket]:
    """Those stretches of the user's days that hold something, in order.

    The store counts by the quarter of an hour, or by the day where those are UTC's: no memory is read here.
    """
    per = DAY if services.zone is UTC else _QUARTER_HOUR
    column = time_column(wanted.time)
    now = microseconds(services.clock())
    with services.read() as view:
        own = (OneOf("scope_id", services.scope_ids(view)), OneOf("kind", wanted.kinds))
        counted = view.count("memory", (*own, *filter_conditions(wanted, now)), by=column, per=per)
    return _buckets(
        ((moment(int(str(at)) * per), count) for at, count in counted.items()), unit, services.zone
    )


def coarser(days: Iterable[Bucket], unit: Unit, zone: tzinfo) -> list[Bucket]:
    """The same by week or month, without asking the store again."""
    return _buckets(((each.start, each.count) for each in days), unit, zone)


def _buckets(counted: Iterable[tuple[datetime, int]], unit: Unit, zone: tzinfo) -> list[Bucket]:
    counts: Counter[datetime] = Counter()
    for at, count in counted:
        counts[_start(at.astimezone(zone), unit)] += count
    return [Bucket(start, _next(start, unit, zone), count) for start, count in sorted(counts.items())]


def _start(at: datetime, unit: Unit) -> datetime:
    day = at.date()
    if unit == "week":
        day -= timedelta(days=day.weekday())
    elif unit == "month":
        day = day.replace(day=1)
    return datetime.combine(day, time(), at.tzinfo)


def _next(start: datetime, unit: Unit, zone: tzinfo) -> datetime:
    day = start.date()
    if unit == "month":
        year, month = (day.year + 1, 1) if day.month == _DECEMBER else (day.year, day.month + 1)
        return datetime(year, month, 1, tzinfo=zone)
    return datetime.combine(day + timedelta(days=1 if unit == "day" else 7), time(), zone)


@dataclass(frozen=True, slots=True)
class Browse:
    """`memory.browse`: whole memories, lists of any kind, and a timeline."""

    services: Services

    @retry_after_failover
    def memory(
        self,
        id: int,  # noqa: A002  # the domain's word
        *,
        showings: int = 20,
        as_of: datetime | None = None,
    ) -> WholeMemory:
        """Return a memory with everything that the store knows of it, forgotten or not; with `as_of`, as it
        read then.

        `showings` is the number of recent answers to list that showed it.
        """
        return whole_memory(self.services, id, showings, aware(as_of, "as_of"))

    @retry_after_failover
    def page(
        self,
        wanted: BrowseFilter | None = None,
        *,
        order: Order = "newest",
        limit: int = 100,
        after: str | None = None,
    ) -> BrowsePage:
        """Memories of any kind, filtered and sorted; pass the page's `cursor` as `after` for the next."""
        return browse_page(self.services, _aware(wanted), order, limit, after)

    @retry_after_failover
    def timeline(self, wanted: BrowseFilter | None = None, unit: Unit = "day") -> Sequence[Bucket]:
        """How many of these memories are of each of the user's days, weeks (from Monday) or months."""
        return timeline(self.services, _aware(wanted), unit)

    @retry_after_failover
    def tags(self) -> Sequence[NameCount]:
        """Every tag that something in force has, the most frequent first."""
        return names.tag_counts(self.services)

    @retry_after_failover
    def categories(self) -> Sequence[NameCount]:
        """Every category that something in force has, the most frequent first."""
        return names.category_counts(self.services)

    @retry_after_failover
    def entities(
        self,
        *,
        type: str | None = None,  # noqa: A002  # the domain's word
        contains: str | None = None,
        order: EntityOrder = "name",
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
