"""The consolidation report: what could be tidied in a graph, told without touching it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from recollect.conditions import is_set
from recollect.engine.contradictions import open_contradictions
from recollect.engine.graph.observation_vectors import pages
from recollect.engine.memory_text import text_preview
from recollect.engine.services import Services
from recollect.engine.upkeep.decisions import decision_key, text_reference
from recollect.engine.upkeep.results import (
    ConsolidationReport,
    FlaggedNote,
    FlaggedObservation,
    OversizedEntity,
    SplitAnalysis,
    StaleEntity,
)
from recollect.engine.upkeep.split_analysis import analyses, large_ones
from recollect.errors import InvalidInput
from recollect.ports import Progress, Snapshot, Vector
from recollect.ranking.candidates import NEVER
from recollect.ranking.factors.recency import microseconds
from recollect.records import Kind, Memory, Status
from recollect.retrieval.contents import dismissed_keys
from recollect.retrieval.contradictions import texts_of
from recollect.retrieval.facts import ranking_facts
from recollect.retrieval.filters import allowed
from recollect.retrieval.memory_rows import MemoryRows
from recollect.retrieval.records import memories_by_id, moment, scope_id
from recollect.text.untrusted import one_line, quoted

_MOST_DAYS = 36_500
_SHOWN = 10
_MOST_COMPARED = 2_000
"""Texts that are looked at for contradictions: the newest observations, and the newest notes."""


def consolidation_report(
    services: Services, stale_days: float, progress: Progress | None = None
) -> ConsolidationReport:
    """Everything that upkeep could look at, of one moment of the store, but for what somebody decided to
    keep as it is."""
    _check_days(stale_days)
    # What earlier answers left to be noted tells what was seen.
    services.usage.settle(services.usage.patience_seconds)
    now = services.clock()
    counts: Counter[str] = Counter()
    flagged: list[FlaggedObservation] = []
    stale: list[StaleEntity] = []
    large: list[tuple[Memory, Mapping[int, Vector]]] = []
    names: dict[int, str] = {}
    newest: deque[Memory] = deque(maxlen=_MOST_COMPARED)
    with services.read() as view:
        kept = dismissed_keys(view, services.scope)
        for page in pages(services, view, Kind.ENTITY, progress):
            counts["entities"] += len(page)
            counts["observations"] += sum(len(entity.in_force) for entity in page)
            flagged += (flag for entity in page for flag in _flagged(entity, kept))
            large += large_ones(view, page)
            idle = stale_in(view, page, now, timedelta(days=stale_days))
            stale += (each for each in idle if decision_key("stale", str(each.id)) not in kept)
            names |= {entity.id: entity.name for entity in page}
            newest.extend(entity for entity in page if entity.in_force)
        observed = [text for entity in newest for text in texts_of(entity)][-_MOST_COMPARED:]
        in_force = allowed(services.found_now(Kind.NOTE), [scope_id(view, services.scope)])
        counts["notes"] = view.count("memory", in_force)[None]
        similar = [id_ for (id_,) in view.rows("memory", ("id",), (*in_force, is_set("similar_to")))]
        notes = list(_flagged_notes(view, list(memories_by_id(view, similar).values()), kept))
        last = view.rows("memory", ("id",), in_force, newest_first=True, limit=_MOST_COMPARED)
        recent = memories_by_id(view, sorted(id_ for (id_,) in last))
        noted = [text for note in recent.values() for text in texts_of(note)]
    found = [
        each
        for each in analyses(services, large, progress)
        if decision_key("split", str(each.id)) not in kept
    ]
    report = ConsolidationReport(
        at=now,
        stale_days=stale_days,
        entities=counts["entities"],
        observations=counts["observations"],
        notes=counts["notes"],
        split_candidates=tuple(each for each in found if each.needs_split),
        flagged_observations=tuple(flagged),
        flagged_notes=tuple(notes),
        stale=tuple(sorted(stale, key=lambda entity: (-entity.days, entity.id))),
        oversized=tuple(
            OversizedEntity(each.id, each.name, each.type, each.observations, each.limit)
            for each in found
            if not each.needs_split
        ),
        text="",
        contradictions=open_contradictions([*observed, *noted], names, kept),
    )
    return replace(report, text="\n".join(_lines(report)))


def _check_days(days: object) -> None:
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days <= _MOST_DAYS:
        raise InvalidInput(f"`stale_days` is a number of days from 0 to {_MOST_DAYS:,}, not {days!r}.")


def _flagged(entity: Memory, kept: Collection[str]) -> Iterator[FlaggedObservation]:
    """Near-repeats of which both are still in force: of the others, somebody has taken care."""
    standing = {seen.id: seen for seen in entity.in_force}
    for seen in entity.in_force:
        if seen.similar_to not in standing:
            continue
        references = (text_reference(entity.id, id_) for id_ in (seen.similar_to, seen.id))
        if decision_key("similar_observations", *references) not in kept:
            yield FlaggedObservation(entity.id, entity.name, seen, standing[seen.similar_to])


def _flagged_notes(view: Snapshot, page: Sequence[Memory], kept: Collection[str]) -> Iterator[FlaggedNote]:
    others = memories_by_id(view, sorted({note.similar_to for note in page if note.similar_to is not None}))
    for note in page:
        other = others.get(note.similar_to or 0)
        if other is None or other.deleted_at is not None or other.superseded_at is not None:
            continue
        if decision_key("similar_notes", str(other.id), str(note.id)) not in kept:
            yield FlaggedNote(note.id, note.text, other.id, other.text, note.similarity or 0.0)


def stale_in(
    view: Snapshot, page: Sequence[Memory], now: datetime, unseen_for: timedelta
) -> Iterator[StaleEntity]:
    """Entities of a page that nobody has seen or changed for so long."""
    facts = ranking_facts(MemoryRows(view), [entity.id for entity in page], "", None, microseconds(now))
    seen = dict(zip(facts.ids.tolist(), facts.last_access.tolist(), strict=True))
    times = dict(zip(facts.ids.tolist(), facts.access_count.tolist(), strict=True))
    for entity in page:
        last = None if seen[entity.id] == NEVER else moment(seen[entity.id])
        idle = now - max(entity.updated_at, last or entity.updated_at)
        if idle > unseen_for and entity.status is not Status.ARCHIVED:
            yield StaleEntity(
                id=entity.id,
                name=entity.name,
                type=entity.type,
                status=entity.status,
                observations=len(entity.in_force),
                updated_at=entity.updated_at,
                last_seen=last,
                times_seen=times[entity.id],
                days=idle.days,
            )


def _lines(report: ConsolidationReport) -> Iterator[str]:
    yield (
        f"{_many(report.entities, 'entity', 'entities')}, {_many(report.observations, 'observation')}, "
        f"{_many(report.notes, 'note')}."
    )
    sections = (
        (
            "Open contradictions, each with the command that retires the older one",
            [
                f"{_preview(each.older_text)} / {_preview(each.newer_text)}: {one_line(each.command)}"
                for each in report.contradictions
            ],
        ),
        (
            "Too large, with topics to split by",
            [
                f"{_entity(each)}: {each.observations} observations, at most {each.limit}; topics: "
                f"{', '.join(quoted(topic.name) for topic in each.topics)}"
                for each in report.split_candidates
            ],
        ),
        (
            "Too large, and of one piece",
            [
                f"{_entity(each)}: {each.observations} observations, at most {each.limit}"
                for each in report.oversized
            ],
        ),
        (
            "Observations that nearly repeat another",
            [
                f"{quoted(each.entity)}: {_preview(each.observation.content)} ~ "
                f"{_preview(each.similar.content)}"
                for each in report.flagged_observations
            ],
        ),
        (
            "Notes that nearly repeat another",
            [
                f"{each.id}: {_preview(each.text)} ~ {each.similar_to}: {_preview(each.similar_text)}"
                for each in report.flagged_notes
            ],
        ),
        (
            f"Neither seen nor changed for {report.stale_days:g} days",
            [f"{_entity(each)}: {_many(each.days, 'day')}" for each in report.stale],
        ),
    )
    for title, rows in sections:
        if rows:
            yield f"\n{title}: {len(rows)}"
            yield from (f"- {row}" for row in rows[:_SHOWN])
            if len(rows) > _SHOWN:
                yield f"- and {len(rows) - _SHOWN} more"
    if not any(rows for _, rows in sections):
        yield "Nothing to tidy."


def _entity(each: SplitAnalysis | OversizedEntity | StaleEntity) -> str:
    return f"{quoted(each.name)} ({quoted(each.type)})"


def _preview(text: str) -> str:
    return quoted(text_preview(text))


def _many(count: int, one: str, more: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else more or f'{one}s'}"
