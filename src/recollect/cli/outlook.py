"""A forecast as numbers to show: how many fade by when, and which ones first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.cli.dream_story import label
from recollect.records import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from recollect.dream.forecast import Forecast
    from recollect.records import Memory

_MONTH = 30
PLURALS = {Kind.ENTITY: "entities", Kind.NOTE: "notes", Kind.MESSAGE: "messages"}


@dataclass(frozen=True, slots=True)
class ByThen:
    """How many of a kind, within so many days."""

    kind: str
    days: int
    total: int
    """Of the kind, today."""
    faded: int
    archived: int


@dataclass(frozen=True, slots=True)
class Fading:
    """A memory that falls below a threshold."""

    id: int
    kind: str
    text: str
    fades_on: int | None
    """Days from now; None: not within the forecast."""
    archived_on: int | None
    strength: float
    """At the end."""
    retrievable: float


@dataclass(frozen=True, slots=True)
class Outlook:
    days: int
    memories: int
    kept: int
    """Pinned or marked, so that they do not fade."""
    counts: tuple[ByThen, ...]
    soonest: tuple[Fading, ...]
    more: int
    """How many more there are to fade or to be archived."""
    mean_strength: tuple[float, ...]
    """Day by day, today first; so are the others."""
    faded: tuple[int, ...]
    archived: tuple[int, ...]

    @property
    def horizons(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(each.days for each in self.counts))


def soonest(found: Forecast, limit: int) -> list[int]:
    """Ids of what falls below a threshold, the first ones first."""
    return [int(found.ids[row]) for row in _rows(found)[:limit]]


def outlook(found: Forecast, memories: Mapping[int, Memory]) -> Outlook:
    """`memories` are those to be named."""
    rows = _rows(found)
    named = [row for row in rows if int(found.ids[row]) in memories]
    return Outlook(
        days=found.days,
        memories=len(found.ids),
        kept=int(found.kept.sum()),
        counts=tuple(_counts(found)),
        soonest=tuple(_fading(found, row, memories[int(found.ids[row])]) for row in named),
        more=len(rows) - len(named),
        mean_strength=found.mean_strength,
        faded=_cumulated(found.fades_on.tolist(), found.days),
        archived=_cumulated(found.archived_on.tolist(), found.days),
    )


def _rows(found: Forecast) -> list[int]:
    days = {
        row: min(reached)
        for row, crossed in enumerate(zip(found.fades_on.tolist(), found.archived_on.tolist(), strict=True))
        if (reached := [day for day in crossed if day >= 0])
    }
    return sorted(days, key=lambda row: (days[row], float(found.strength[row]), row))


def _counts(found: Forecast) -> list[ByThen]:
    horizons = [_MONTH, found.days] if found.days > _MONTH else [found.days]
    counts = []
    for days in horizons:
        faded = (found.fades_on >= 0) & (found.fades_on <= days)
        archived = (found.archived_on >= 0) & (found.archived_on <= days)
        for place, kind in enumerate(Kind):
            of_kind = found.kind == place
            if of_kind.any():
                counts.append(
                    ByThen(
                        PLURALS[kind],
                        days,
                        int(of_kind.sum()),
                        int((faded & of_kind).sum()),
                        int((archived & of_kind).sum()),
                    )
                )
    return counts


def _fading(found: Forecast, row: int, memory: Memory) -> Fading:
    fades_on, archived_on = int(found.fades_on[row]), int(found.archived_on[row])
    return Fading(
        memory.id,
        str(memory.kind),
        label(memory),
        fades_on if fades_on >= 0 else None,
        archived_on if archived_on >= 0 else None,
        float(found.strength[row]),
        float(found.retrievable[row]),
    )


def _cumulated(days: Sequence[int], last: int) -> tuple[int, ...]:
    """By the end of each day, today first."""
    new = [0] * (last + 1)
    for day in days:
        if day >= 0:
            new[day] += 1
    total, sums = 0, []
    for count in new:
        total += count
        sums.append(total)
    return tuple(sums)


def outlook_data(told: Outlook, dates: Sequence[str]) -> dict[str, Any]:
    """`dates` are those of today and each day after it."""

    def date(day: int | None) -> str | None:
        return None if day is None else dates[day]

    return {
        "days": told.days,
        "memories": told.memories,
        "kept": told.kept,
        "by_then": [
            {
                "days": each.days,
                "date": date(each.days),
                "kind": each.kind,
                "total": each.total,
                "prunable": each.faded,
                "archived": each.archived,
            }
            for each in told.counts
        ],
        "soonest": [
            {
                "id": each.id,
                "kind": each.kind,
                "text": each.text,
                "prunable_on": date(each.fades_on),
                "prunable_in_days": each.fades_on,
                "archived_on": date(each.archived_on),
                "archived_in_days": each.archived_on,
                "strength_at_the_end": each.strength,
                "retrievable_at_the_end": each.retrievable,
            }
            for each in told.soonest
        ],
        "more": told.more,
        "by_day": [
            {"date": at, "mean_strength": mean, "prunable": faded, "archived": archived}
            for at, mean, faded, archived in zip(
                dates, told.mean_strength, told.faded, told.archived, strict=True
            )
        ],
    }
