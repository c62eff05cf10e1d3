"""Dreams and forecasts for a pipe: one thing on a line, what it is first."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from recollect.cli.dates import day

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime, tzinfo

    from recollect.cli.dream_story import Story
    from recollect.cli.outlook import Outlook


def dream_fields(story: Story, zone: tzinfo | None) -> Iterator[tuple[str, ...]]:
    at = story.at.astimezone(zone).isoformat(timespec="seconds")
    yield "dream", _state(story), at, str(story.memories), str(story.answers)
    for section in story.sections:
        yield "count", section.word, str(section.total)
    for section in story.sections:
        for item in section.items:
            other = "" if item.other is None else str(item.other)
            yield section.word, str(item.id), item.change, other, item.text
    if story.gate is not None:
        gate = story.gate
        state = "closed" if story.is_closed else "open"
        yield "gate", state, str(gate.questions), repr(gate.before), repr(gate.after), gate.blame or ""
        for loss in gate.lost:
            yield "lost", loss.phase, str(loss.memory), loss.query, loss.text
    yield from (("left", str(item.id), item.text) for item in story.left)
    yield from (("skipped", phase) for phase in story.skipped)
    yield from (("report", line) for line in story.upkeep.splitlines() if line.strip())
    for each in story.changes:
        yield "change", each.what, str(each.id), each.before, each.after, each.text


def _state(story: Story) -> str:
    """Its id, or why it has none."""
    if story.id is not None:
        return str(story.id)
    return "refused" if story.is_closed else "dry run" if story.dry_run else "nothing to do"


def forecast_fields(told: Outlook, at: datetime, zone: tzinfo | None) -> Iterator[tuple[str, ...]]:
    dates = dates_of(told, at, zone)

    def date(days: int | None) -> str:
        return "" if days is None else dates[days]

    for each in told.counts:
        yield "within", str(each.days), each.kind, str(each.total), str(each.faded), str(each.archived)
    for fading in told.soonest:
        yield "memory", str(fading.id), date(fading.fades_on), date(fading.archived_on), fading.text
    for at_, mean, faded, archived in zip(dates, told.mean_strength, told.faded, told.archived, strict=True):
        yield "day", at_, f"{mean:.6g}", str(faded), str(archived)


def dates_of(told: Outlook, at: datetime, zone: tzinfo | None) -> list[str]:
    """Of today, and of each day after it."""
    return [day(at + timedelta(days=days), zone) for days in range(told.days + 1)]
